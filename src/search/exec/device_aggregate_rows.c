/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_aggregate_rows.c
 *		Tell which rows of a segment are in its device aggregate.
 */
#include "search/exec/device_aggregate.h"

#include "bits/bits.h"
#include "miscadmin.h"

bool
rtscan_has_few_intervals(const RtscanRegion *region)
{
	for (int i = 0; i < region->ncolumns; i++)
		if (region->columns[i].intervals.n > DEVICE_MAX_RUNS)
			return false;
	return true;
}

/* Can a filter, with all of its alternatives, be evaluated as parts of a combined filter? */
static bool
has_few_questions(const RtscanSegmentFilter *filter)
{
	bool		few = !rtscan_filter_asks_rows(filter) && rtscan_has_few_intervals(&filter->region);

	check_stack_depth();
	for (int i = 0; i < filter->ndisjunctions; i++)
		for (int k = 0; k < filter->disjunctions[i].n && few; k++)
			few = has_few_questions(&filter->disjunctions[i].filters[k]);
	return few;
}

bool
rtscan_may_aggregate_on_device(const RtscanSegmentScan *scan)
{
	const RtscanSegmentFilter *filter = &scan->filter;

	if (filter->ndisjunctions == 0)
		return !rtscan_filter_asks_rows(filter);
	return has_few_questions(filter) && 1 + rtscan_count_alternatives(filter, DEVICE_MAX_PARTS) <= DEVICE_MAX_PARTS;
}

void
rtscan_reset_device_agg(RtscanDeviceAgg *agg)
{
	if (agg->made && agg->head->given)
		return;
	agg->made = agg->given = agg->overflowed = false;
	agg->words = NULL;
}

const uint64 *
rtscan_not_in_device_agg(const RtscanDeviceAgg *agg, uint32 chunk)
{
	if ((agg->certain.chunks[chunk / 32] >> (chunk % 32) & 1) == 0)
		return rtscan_ones();
	return agg->certain.others[chunk] ? agg->certain.others[chunk] : rtscan_zeros();
}

/* If a device has only counted the rows, the bits have no words.  Then all rows are in the device aggregate. */
void
rtscan_leave_out_aggregated(const RtscanDeviceAgg *agg, RtscanRowBits *bits)
{
	uint64		found = rtscan_bits_count(bits);

	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
	{
		const uint64 *left = rtscan_not_in_device_agg(agg, chunk);

		if (left == rtscan_zeros())
			bits->filled[chunk] = false;
		else if (bits->filled[chunk] && left != rtscan_ones())
			rtscan_and(rtscan_bits_chunk(bits, chunk), left);
	}
	bits->counted = false;
	bits->aggregated += found - rtscan_bits_count(bits);
}
