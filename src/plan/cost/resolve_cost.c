/* SPDX-License-Identifier: PostgreSQL */
/*
 * resolve_cost.c
 *		Estimates the cost of evaluating a filter in a segment.
 */
#include "plan/cost/resolve_parts.h"

#include "search/exec/cpu.h"
#include "search/filter/lookup.h"

/*
 * Return a copy of a region in which RtscanRegionColumn.rows counts the rows of all array elements, even if only a
 * sample of the elements was looked up.
 */
static RtscanRegion
whole_region(const RtscanRegion *region, uint32 rows)
{
	RtscanRegion whole = *region;

	whole.columns = palloc(region->ncolumns * sizeof(RtscanRegionColumn));
	for (int i = 0; i < region->ncolumns; i++)
	{
		whole.columns[i] = region->columns[i];
		whole.columns[i].rows = Min(region->columns[i].stands_for * region->columns[i].rows, rows);
	}
	rtscan_sort_region(&whole);
	return whole;
}

/* Add the cost of evaluating a region, if the bits of only "within" rows of the segment are needed. */
static void
add_region(RtscanResolved *resolved, RtscanReader *reader, const RtscanRegion *region, double within)
{
	RtscanRegion whole = whole_region(region, reader->segment->header.rows);
	double		nanoseconds,
				pages,
				random_pages;

	rtscan_cpu_estimate(reader, &whole, within, &nanoseconds, &pages, &random_pages);
	resolved->nanoseconds += nanoseconds;
	resolved->pages += pages;
	/* the first of the pages in the order of the file needs a random access as well */
	resolved->random_pages += random_pages + (pages > 0 ? 1 : 0);
}

/* Add the cost of a filter: its region, then its alternatives on the rows that the region leaves. */
static void
add_filter(RtscanResolved *resolved, RtscanReader *reader, const RtscanSegmentFilter *filter, double within)
{
	uint32		rows = reader->segment->header.rows;

	if (filter->region.empty)
		return;
	if (filter->region.ncolumns > 0)
		add_region(resolved, reader, &filter->region, within);
	within = Min(within, rows * rtscan_region_fraction(&filter->region, rows));
	for (int i = 0; i < filter->ndisjunctions; i++)
		for (int k = 0; k < filter->disjunctions[i].n; k++)
			add_filter(resolved, reader, &filter->disjunctions[i].filters[k], within);
}

void
rtscan_add_filter_cost(RtscanResolved *resolved, RtscanReader *reader, const RtscanSegmentFilter *filter)
{
	add_filter(resolved, reader, filter, reader->segment->header.rows);
}

/*
 * Estimate how many rows match the region's conditions on all columns other than "column".  The segment has "rows"
 * rows.
 */
static double
rows_left_by_others(const RtscanRegion *region, int column, uint32 rows)
{
	double		left = rows;

	for (int i = 0; i < region->ncolumns; i++)
		if (region->columns[i].column != column)
			left *= Min(region->columns[i].stands_for * region->columns[i].rows / rows, 1);
	return left;
}

void
rtscan_add_lists_cost(RtscanResolved *resolved, const RtscanFilter *filter, const RtscanReader *reader,
					  const RtscanSegmentFilter *of_segment)
{
	const RtscanCondition *condition = &filter->condition;

	for (int i = 0; i < filter->n; i++)
		rtscan_add_lists_cost(resolved, &filter->parts[i], reader, of_segment);
	if (filter->kind == RTSCAN_FILTER_CONDITION && condition->stands_for > 1)
		resolved->lookup_nanoseconds +=
			rtscan_list_nanoseconds(condition, reader, rows_left_by_others(&of_segment->region, condition->column,
																		   reader->segment->header.rows));
}
