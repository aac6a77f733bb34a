/* SPDX-License-Identifier: PostgreSQL */
/*
 * region.c
 *		Narrow the regions of a segment, multiply out alternatives, and estimate the rows that remain.
 */
#include "search/filter/region.h"

#include "miscadmin.h"

void
rtscan_narrow_region(RtscanRegion *region, const RtscanRegionColumn *by)
{
	for (int i = 0; i < region->ncolumns; i++)
		if (region->columns[i].column == by->column)
		{
			RtscanRegionColumn *column = &region->columns[i];

			column->intervals = rtscan_intervals_intersect(&column->intervals, &by->intervals);
			column->stands_for = Max(column->stands_for, by->stands_for);
			column->traces = list_concat(column->traces, by->traces);
			return;
		}
	region->columns = region->columns ? repalloc(region->columns, (region->ncolumns + 1) * sizeof(RtscanRegionColumn))
		: palloc(sizeof(RtscanRegionColumn));
	region->columns[region->ncolumns++] = *by;
}

static int
compare_region_rows(const void *a, const void *b)
{
	uint32		left = ((const RtscanRegionColumn *) a)->rows;
	uint32		right = ((const RtscanRegionColumn *) b)->rows;

	return left < right ? -1 : left > right;
}

void
rtscan_sort_region(RtscanRegion *region)
{
	if (region->ncolumns > 1)
		qsort(region->columns, region->ncolumns, sizeof(RtscanRegionColumn), compare_region_rows);
}

void
rtscan_finish_region(RtscanRegion *region, uint32 rows)
{
	int			kept = 0;

	for (int i = 0; i < region->ncolumns; i++)
	{
		region->columns[i].rows = rtscan_intervals_rows(&region->columns[i].intervals);
		if (region->columns[i].rows == 0)
			region->empty = true;
		if (region->columns[i].rows < rows)
			region->columns[kept++] = region->columns[i];
		else
			region->needless = list_concat(region->needless, region->columns[i].traces);
	}
	region->ncolumns = kept;
	rtscan_sort_region(region);
}

void
rtscan_and_region(RtscanRegion *region, const RtscanRegion *other)
{
	region->empty |= other->empty;
	for (int i = 0; i < other->ncolumns; i++)
		rtscan_narrow_region(region, &other->columns[i]);
}

/* ---------------------------------------------------------------- alternatives */

static int	count_of_disjunction(const RtscanDisjunction *disjunction, int limit);

static int
count_of_alternative(const RtscanSegmentFilter *filter, int limit)
{
	int			n = 1;

	for (int i = 0; i < filter->ndisjunctions && n <= limit; i++)
		n *= count_of_disjunction(&filter->disjunctions[i], limit);
	return n;
}

static int
count_of_disjunction(const RtscanDisjunction *disjunction, int limit)
{
	int			n = 0;

	check_stack_depth();
	for (int i = 0; i < disjunction->n && n <= limit; i++)
		n += count_of_alternative(&disjunction->filters[i], limit);
	return Min(n, limit + 1);
}

int
rtscan_count_alternatives(const RtscanSegmentFilter *filter, int limit)
{
	int			n = 0;

	for (int i = 0; i < filter->ndisjunctions && n <= limit; i++)
		n += count_of_disjunction(&filter->disjunctions[i], limit);
	return n;
}

/* Copy a region's columns and members, without traces: only the original is traced. */
static RtscanRegion *
copy_region(const RtscanRegion *region)
{
	RtscanRegion *copy = palloc0(sizeof(RtscanRegion));

	copy->empty = region->empty;
	copy->ncolumns = region->ncolumns;
	copy->columns = palloc(Max(region->ncolumns, 1) * sizeof(RtscanRegionColumn));
	for (int i = 0; i < region->ncolumns; i++)
	{
		copy->columns[i] = region->columns[i];
		copy->columns[i].traces = NIL;
	}
	copy->members = list_copy(region->members);
	return copy;
}

/* Return the intersections of each region of a list with each region of another list, except empty ones. */
static List *
multiply_regions(const List *regions, const List *others, uint32 rows)
{
	List	   *products = NIL;
	ListCell   *cell,
			   *other;

	foreach(cell, regions)
		foreach(other, others)
		{
			RtscanRegion *product = copy_region(lfirst(cell));
			const RtscanRegion *by = lfirst(other);

			rtscan_and_region(product, by);
			product->members = list_concat(product->members, by->members);
			rtscan_finish_region(product, rows);
			if (!product->empty)
				products = lappend(products, product);
		}
	return products;
}

List *
rtscan_list_alternatives(const RtscanDisjunction *disjunction, uint32 rows)
{
	List	   *all = NIL;

	check_stack_depth();
	for (int i = 0; i < disjunction->n; i++)
	{
		const RtscanSegmentFilter *filter = &disjunction->filters[i];
		List	   *regions = list_make1(copy_region(&filter->region));

		for (int k = 0; k < filter->ndisjunctions; k++)
			regions = multiply_regions(regions, rtscan_list_alternatives(&filter->disjunctions[k], rows), rows);
		all = list_concat(all, regions);
	}
	return all;
}

/* ---------------------------------------------------------------- remaining rows */

double
rtscan_region_fraction(const RtscanRegion *region, uint32 rows)
{
	double		fraction = region->empty ? 0 : 1;

	for (int i = 0; i < region->ncolumns; i++)
	{
		const RtscanRegionColumn *column = &region->columns[i];

		fraction *= Min(column->stands_for * column->rows / rows, 1);
	}
	return fraction;
}

double
rtscan_filter_fraction(const RtscanSegmentFilter *filter, uint32 rows)
{
	double		fraction = rtscan_region_fraction(&filter->region, rows);

	if (filter->region.members != NIL)
		fraction *= filter->region.passing;
	for (int i = 0; i < filter->ndisjunctions; i++)
	{
		double		none = 1;

		for (int k = 0; k < filter->disjunctions[i].n; k++)
			none *= 1 - rtscan_filter_fraction(&filter->disjunctions[i].filters[k], rows);
		fraction *= 1 - none;
	}
	return fraction;
}

bool
rtscan_filter_asks_included(const RtscanSegmentFilter *filter)
{
	for (int i = 0; i < filter->nresiduals; i++)
		if (!filter->residuals[i]->implied && rtscan_is_included(filter->residuals[i]))
			return true;
	for (int i = 0; i < filter->ndisjunctions; i++)
		for (int k = 0; k < filter->disjunctions[i].n; k++)
			if (rtscan_filter_asks_included(&filter->disjunctions[i].filters[k]))
				return true;
	return false;
}

int
rtscan_filter_regions(RtscanSegmentFilter *filter, RtscanRegion **regions)
{
	int			n = 0;

	if (!filter->region.empty && (filter->region.ncolumns > 0 || filter->region.members != NIL))
	{
		if (regions)
			regions[n] = &filter->region;
		n++;
	}
	for (int i = 0; i < filter->ndisjunctions; i++)
		for (int k = 0; k < filter->disjunctions[i].n; k++)
			n += rtscan_filter_regions(&filter->disjunctions[i].filters[k], regions ? regions + n : NULL);
	return n;
}
