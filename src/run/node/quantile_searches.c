/* SPDX-License-Identifier: PostgreSQL */
/*
 * quantile_searches.c
 *		Finds percentiles over many rows by further searches, after the search for all rows.
 */
#include "run/node/quantile_searches.h"

#include "run/answer/sampled_quantile.h"
#include "run/device_aggregate/histogram_quantile.h"
#include "run/node/add_rows.h"

/* ---------------------------------------------------------------- by samples */

static uint64
count_matching(RtscanRowsAnswer *answer, const RtscanFilter *filter)
{
	uint64		count;

	rtscan_open_further_rows(answer, filter);
	count = rtscan_count_matching(answer->cursor);
	rtscan_close_further_rows(answer);
	return count;
}

/*
 * Collect the values of the rows that match a filter.  If "sampled" is true, only a sample is taken from chunks for
 * which that pays (is_of_use() in sampled_quantile.c).
 */
static void
collect_rows(RtscanRowsAnswer *answer, const RtscanFilter *filter, bool sampled)
{
	rtscan_forget_collected(&answer->current);
	rtscan_open_further_rows(answer, filter);
	if (sampled)
		rtscan_cursor_offer_chunks(answer->cursor, rtscan_sample_chunk, answer);
	rtscan_add_rows(answer);
	rtscan_close_further_rows(answer);
}

/*
 * Narrow the range of values, count the rows below and above it, and collect or sample the values in it.  Return
 * false if the range cannot be narrowed any more.
 */
static bool
take_rows_between(RtscanRowsAnswer *answer, RtscanSampledQuantile *quantile)
{
	uint64		others = quantile->rows_below + quantile->rows_above;

	if (!rtscan_narrow(answer, quantile))
		return false;
	quantile->rows_below = count_matching(answer, &quantile->below);
	if (!quantile->counted)
		quantile->rows_above = count_matching(answer, &quantile->above);
	rtscan_sample_within(answer->sample);
	collect_rows(answer, &quantile->between, quantile->many);
	if (quantile->counted)
		quantile->rows_above = others + quantile->all - quantile->rows_below -
			rtscan_sampled_rows(answer->sample, &answer->current.only[0]);
	quantile->counted = true;
	return true;
}

/*
 * Find the percentiles after chunks have been sampled: narrow the range until all values in it are collected.  Return
 * false if the range cannot be narrowed at all, or does not contain all percentiles.
 */
static bool
take_sampled_quantile(RtscanRowsAnswer *answer)
{
	RtscanSampledQuantile quantile;

	rtscan_begin_to_narrow(&quantile, answer->sample);
	if (!take_rows_between(answer, &quantile))
		return false;
	while (rtscan_is_sampled(answer->sample))
		if (!take_rows_between(answer, &quantile))
		{
			rtscan_sample_within(answer->sample);
			collect_rows(answer, &quantile.between, false);
		}
	return rtscan_add_uncollected(answer, quantile.rows_below, quantile.rows_above);
}

static void
take_sampled_rows(RtscanRowsAnswer *answer)
{
	MemoryContext old = MemoryContextSwitchTo(answer->context);

	if (!take_sampled_quantile(answer))
		collect_rows(answer, answer->question->filter, false);
	MemoryContextSwitchTo(old);
}

/* Start over with samples, because the percentiles have not been found by bins. */
static void
sample_anew(RtscanRowsAnswer *answer)
{
	rtscan_sample_all(answer->sample);
	collect_rows(answer, answer->question->filter, true);
	if (rtscan_is_sampled(answer->sample))
		take_sampled_rows(answer);
}

/* ---------------------------------------------------------------- by histograms */

/* Count the values of all ranges that contain percentiles.  Return false if the percentiles have not been found. */
static bool
take_ranges(RtscanRowsAnswer *answer)
{
	RtscanFilter filter;

	while (rtscan_enter_next_range(answer, &filter))
	{
		rtscan_forget_collected(&answer->current);
		rtscan_open_further_rows(answer, &filter);
		rtscan_ask_for_bins(answer);
		rtscan_add_rows(answer);
		rtscan_close_further_rows(answer);
	}
	return rtscan_take_from_bins(answer->histogram_quantile, &answer->current);
}

/* Find the percentiles by bins (histogram_quantile.h).  If that fails, find them by samples. */
static void
take_histogram_quantile(RtscanRowsAnswer *answer)
{
	MemoryContext old = MemoryContextSwitchTo(answer->context);

	if (!take_ranges(answer))
		sample_anew(answer);
	MemoryContextSwitchTo(old);
}

void
rtscan_search_for_quantile(RtscanRowsAnswer *answer)
{
	if (rtscan_has_histogram(answer->histogram_quantile))
		take_histogram_quantile(answer);
	else if (rtscan_is_sampled(answer->sample))
		take_sampled_rows(answer);
}
