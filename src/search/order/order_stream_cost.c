/* SPDX-License-Identifier: PostgreSQL */
/*
 * order_stream_cost.c
 *		Decide in which way a stream finds its rows.
 */
#include "search/order/order_stream_parts.h"

/* Nanoseconds to walk a rank. */
#define WALK_NANOSECONDS	5.0
/* Nanoseconds to walk a rank of a column in heap order, whose rows have their bits in the same order. */
#define WALK_HEAP_ORDER_NANOSECONDS	0.03
/* Nanoseconds to sort a row. */
#define SORT_NANOSECONDS	100.0
/* Nanoseconds to sort a row by a column in heap order, which stores no codes: the dictionary is searched for them. */
#define SORT_HEAP_ORDER_NANOSECONDS	500.0

RtscanRankRange
rtscan_filtered_ranks(const RtscanSegmentScan *segment, int column)
{
	const RtscanRegion *region = &segment->filter.region;

	for (int i = 0; i < region->ncolumns; i++)
	{
		const RtscanIntervals *intervals = &region->columns[i].intervals;

		if (region->columns[i].column == column && intervals->n > 0)
			return (RtscanRankRange) {intervals->items[0].low.rank, intervals->items[intervals->n - 1].high.rank};
	}
	return (RtscanRankRange) {0, segment->reader.segment->header.rows};
}

bool
rtscan_sorting_is_cheaper(const RtscanOrderStream *stream, uint64 rows, uint32 ranks)
{
	bool		in_heap_order = (stream->header->flags & RTSCAN_COLUMN_HEAP_ORDER) != 0;
	double		sort = in_heap_order ? SORT_HEAP_ORDER_NANOSECONDS : SORT_NANOSECONDS;
	double		walk = in_heap_order ? WALK_HEAP_ORDER_NANOSECONDS : WALK_NANOSECONDS;

	return rows * sort < Min(stream->wanted / rows, 1) * ranks * walk;
}

bool
rtscan_column_has_order(const RtscanColumnHeader *header)
{
	return header->bins > 0 || (header->flags & RTSCAN_COLUMN_HEAP_ORDER);
}

/* Do the conditions on a column accept all values in one range of ranks, without NULLs, and no other values? */
static bool
asks_for_range(const RtscanSegment *segment, const RtscanRegionColumn *column)
{
	return column->intervals.n == 1 &&
		column->intervals.items[0].high.rank <= segment->columns[column->column].header.nonnull;
}

int
rtscan_column_of_ranks(const RtscanSegmentScan *segment, int column)
{
	const RtscanRegion *region = &segment->filter.region;

	for (int i = 0; i < region->ncolumns; i++)
		if (region->columns[i].column == column && asks_for_range(segment->reader.segment, &region->columns[i]))
			return column;
	return -1;
}

double
rtscan_tests_for_bits(const RtscanSegmentScan *segment)
{
	RtscanReader reader = segment->reader;
	double		nanoseconds,
				pages,
				random_pages;

	rtscan_cpu_estimate(&reader, &segment->filter.region, reader.segment->header.rows, &nanoseconds, &pages,
						&random_pages);
	return nanoseconds / rtscan_row_test_time(&segment->filter.region);
}

double
rtscan_passing_part(const RtscanSegmentScan *segment, const RtscanOrder *order)
{
	const RtscanRegion *region = &segment->filter.region;
	double		part = 1;

	for (int i = 0; i < region->ncolumns; i++)
		if (region->columns[i].column != order->columns[0].column)
			part *= region->columns[i].stands_for * region->columns[i].rows / segment->reader.segment->header.rows;
	return part;
}

/*
 * Is testing row after row, until the wanted rows are found, cheaper than finding the bits?  Assumes that all wanted
 * rows are in this segment.
 */
static bool
testing_is_cheaper(const RtscanSegmentScan *segment, const RtscanOrder *order)
{
	return order->wanted < segment->reader.segment->header.rows &&
		order->wanted + 1 < rtscan_passing_part(segment, order) * rtscan_tests_for_bits(segment);
}

bool
rtscan_filter_leaves_ranks(const RtscanSegmentScan *segment, int column)
{
	const RtscanRegion *region = &segment->filter.region;

	return region->ncolumns == 0 || (region->ncolumns == 1 && rtscan_column_of_ranks(segment, column) >= 0);
}

bool
rtscan_stream_needs_no_bits(const RtscanSegmentScan *segment, const RtscanOrder *order)
{
	const RtscanSegmentFilter *filter = &segment->filter;
	int			column = order->columns[0].column;
	const RtscanColumnHeader *header;

	if (order->by_heap || segment->entry->dead != InvalidBlockNumber || filter->region.empty ||
		filter->nresiduals > 0 || filter->ndisjunctions > 0)
		return false;
	header = &segment->reader.segment->columns[column].header;
	return rtscan_column_has_order(header) && !(header->flags & RTSCAN_COLUMN_EXACT) &&
		(rtscan_filter_leaves_ranks(segment, column) || testing_is_cheaper(segment, order));
}

uint64
rtscan_filtered_rows(const RtscanSegmentScan *segment, const RtscanOrder *order)
{
	RtscanRankRange ranks = rtscan_filtered_ranks(segment, order->columns[0].column);

	return ranks.end - ranks.first;
}
