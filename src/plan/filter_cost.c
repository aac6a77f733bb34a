/*
 * filter_cost.c
 *		What a filter leaves of a segment, and what evaluating it takes.
 */
#include "plan/filter_cost.h"

#include "search/executor.h"

/* What a region leaves of a segment, columns taken to be independent; *scale: some values stand for so many. */
static double
fraction_of_region(const RtscanRegion *region, uint32 rows, double *scale)
{
	double		fraction = region->empty ? 0 : 1;

	for (int i = 0; i < region->ncolumns; i++)
	{
		const RtscanRegionColumn *column = &region->columns[i];

		*scale = Max(*scale, column->stands_for);
		fraction *= Min(column->stands_for * column->rows / rows, 1);
	}
	return fraction;
}

double
rtscan_filter_fraction(const RtscanSegmentFilter *filter, uint32 rows, double *scale)
{
	double		fraction = fraction_of_region(&filter->region, rows, scale);

	for (int i = 0; i < filter->ndisjunctions; i++)
	{
		double		none = 1;

		for (int k = 0; k < filter->disjunctions[i].n; k++)
			none *= 1 - rtscan_filter_fraction(&filter->disjunctions[i].filters[k], rows, scale);
		fraction *= 1 - none;
	}
	return fraction;
}

/* Add what evaluating a region takes, of which so many rows matter. */
static void
add_region(RtscanResolved *resolved, RtscanReader *reader, const RtscanRegion *region, double within, double scale)
{
	double		nanoseconds,
				pages,
				random_pages;

	rtscan_cpu_estimate(reader, region, within, &nanoseconds, &pages, &random_pages);
	resolved->nanoseconds += scale * nanoseconds;
	resolved->pages += scale * pages;
	/* the first of them is somewhere else, too */
	resolved->random_pages += scale * random_pages + (pages > 0 ? 1 : 0);
}

/* Add what a filter takes: alternatives, of the rows that its region leaves. */
static void
add_filter(RtscanResolved *resolved, RtscanReader *reader, const RtscanSegmentFilter *filter, double within, double scale)
{
	uint32		rows = reader->segment->header.rows;
	double		ignored = 1;

	if (filter->region.empty)
		return;
	if (filter->region.ncolumns > 0)
		add_region(resolved, reader, &filter->region, within, scale);
	within = Min(within, rows * fraction_of_region(&filter->region, rows, &ignored));
	for (int i = 0; i < filter->ndisjunctions; i++)
		for (int k = 0; k < filter->disjunctions[i].n; k++)
			add_filter(resolved, reader, &filter->disjunctions[i].filters[k], within, scale);
}

void
rtscan_add_filter_cost(RtscanResolved *resolved, RtscanReader *reader, const RtscanSegmentFilter *filter, double scale)
{
	add_filter(resolved, reader, filter, reader->segment->header.rows, scale);
}
