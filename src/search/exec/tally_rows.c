/* SPDX-License-Identifier: PostgreSQL */
/*
 * tally_rows.c
 *		Tell which rows of a segment are in its tally.
 */
#include "search/exec/tally.h"

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

/* Can all conditions of a filter and of its alternatives be evaluated as parts of a combined filter? */
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
rtscan_may_be_tallied(const RtscanSegmentScan *scan)
{
	const RtscanSegmentFilter *filter = &scan->filter;

	if (filter->ndisjunctions == 0)
		return !rtscan_filter_asks_rows(filter);
	return has_few_questions(filter) && 1 + rtscan_count_alternatives(filter, DEVICE_MAX_PARTS) <= DEVICE_MAX_PARTS;
}

void
rtscan_reset_tally(RtscanTally *tally)
{
	if (tally->made && tally->head->given)
		return;
	tally->made = tally->given = tally->overflowed = false;
	tally->words = NULL;
}

const uint64 *
rtscan_not_tallied(const RtscanTally *tally, uint32 chunk)
{
	if ((tally->certain.chunks[chunk / 32] >> (chunk % 32) & 1) == 0)
		return rtscan_ones();
	return tally->certain.others[chunk] ? tally->certain.others[chunk] : rtscan_zeros();
}

/* If a device has only counted the rows, the bits have no words.  Then all rows are in the tally. */
void
rtscan_leave_out_tallied(const RtscanTally *tally, RtscanRowBits *bits)
{
	uint64		found = rtscan_bits_count(bits);

	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
	{
		const uint64 *left = rtscan_not_tallied(tally, chunk);

		if (left == rtscan_zeros())
			bits->filled[chunk] = false;
		else if (bits->filled[chunk] && left != rtscan_ones())
			rtscan_and(rtscan_bits_chunk(bits, chunk), left);
	}
	bits->counted = false;
	bits->tallied += found - rtscan_bits_count(bits);
}
