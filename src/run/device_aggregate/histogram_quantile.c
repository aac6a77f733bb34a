/* SPDX-License-Identifier: PostgreSQL */
/*
 * histogram_quantile.c
 *		Computes percentiles of a key column of many rows from counts of its values that a device makes.
 */
#include "run/device_aggregate/histogram_quantile.h"

#include "run/aggregate/collection.h"
#include "run/answer/sampled_quantile.h"
#include "run/device_aggregate/by_device.h"
#include "run/device_aggregate/histogram.h"
#include "settings.h"

/* Bits of a bin's number, unless the range has few values.  With 2^13 bins, a device counts fast. */
#define BITS_OF_BIN			13

/* Bits of a bin's number in a range with at most FEW_VALUES values.  With more bins, fewer searches are needed. */
#define MANY_BITS_OF_BIN	18
#define FEW_VALUES			131072

/* Most ranks of percentiles, each of which may need ranges of its own. */
#define MOST_RANKS			16

/* Least time that the CPU takes to sample a row, in nanoseconds. */
#define SAMPLED_ROW			0.5

/* A range of values that contains some of the ranks. */
typedef struct Range
{
	int64		first;			/* least value */
	int64		last;			/* greatest value */
	uint64		below;			/* number of values less than first */
	uint64		count;			/* number of values in the range */
	int			rank;			/* number of the first rank in the range */
	int			nranks;			/* number of ranks in the range; 0: not known yet */
} Range;

struct RtscanHistogramQuantile
{
	bool		failed;			/* the percentiles cannot be found from counts of bins */
	int			nranks;
	uint64	   *ranks;			/* ranks of the values that the percentiles need, ascending */
	int64	   *keys;			/* for each rank, its value, once it has been found */
	uint64		all;			/* number of all values */
	List	   *ranges;			/* Range *: ranges to be entered */

	/* The current range: at first the range of all values, later a range that has been entered. */
	bool		any;			/* a segment with values has been found: range and bins are set */
	Range		range;
	RtscanDeviceAggBins bins;	/* bins of the range */
	uint64		counted;		/* number of rows that device aggregates have counted in all ranges so far */
	RtscanHistogram *counts;	/* number of values in each bin; NULL: no values have been counted */
	uint64		above;			/* in the range of all values: number of collected values greater than range.last */
};

/* ---------------------------------------------------------------- bins */

/* Divide the current range into bins whose numbers have the given number of bits. */
static void
lay_out_bins(RtscanHistogramQuantile *quantile, int bits)
{
	uint64		distance = (uint64) quantile->range.last - (uint64) quantile->range.first;
	int			dropped = 0;

	while (distance >> dropped >> bits != 0)
		dropped++;
	quantile->bins = (RtscanDeviceAggBins) {quantile->range.first, dropped, (distance >> dropped) + 1};
}

/* Extend the range of all values by the values of a segment. */
static void
widen_range(RtscanHistogramQuantile *quantile, const RtscanDeviceAggColumn *of)
{
	int64		greatest = (int64) ((uint64) of->least + of->largest);

	if (of->empty)
		return;
	quantile->range.first = quantile->any ? Min(quantile->range.first, of->least) : of->least;
	quantile->range.last = quantile->any ? Max(quantile->range.last, greatest) : greatest;
	quantile->any = true;
	lay_out_bins(quantile, BITS_OF_BIN);
}

static bool
ask_for_bins(RtscanDeviceAgg *agg, RtscanReader *reader, const RtscanRowsAnswer *answer)
{
	RtscanHistogramQuantile *quantile = answer->histogram_quantile;

	if (!rtscan_add_device_agg_binned_digit(agg, reader, answer->question->schema,
											answer->task->aggregates[0].columns[0], &quantile->bins))
		return false;
	if (quantile->range.nranks == 0)
		widen_range(quantile, &agg->digits[0].of);
	return true;
}

/* RtscanDeviceAggCallbacks.make: request counts of a segment's values by bin, or return NULL. */
static RtscanDeviceAgg *
make_bins(RtscanSegmentScan *segment, void *arg)
{
	const RtscanRowsAnswer *answer = (const RtscanRowsAnswer *) arg;
	RtscanDeviceAgg *agg = rtscan_create_device_agg(segment->reader.segment);
	RtscanNotOnDevice why = RTSCAN_NOT_ON_DEVICE_COMBINED;

	if (rtscan_may_aggregate_on_device(segment))
		why = ask_for_bins(agg, &segment->reader, answer) ? RTSCAN_ON_DEVICE : RTSCAN_NOT_ON_DEVICE_VALUES;
	if (why == RTSCAN_ON_DEVICE)
		return agg;
	rtscan_note_not_on_device(answer->task, answer->question, why);
	pfree(agg);
	return NULL;
}

/* Is it known that the current range has at most FEW_VALUES values? */
static bool
has_few(const RtscanHistogramQuantile *quantile)
{
	return quantile->range.nranks > 0 && quantile->range.count <= FEW_VALUES;
}

/* Return the counts of the current range; if there are none yet, create them in the answer's memory context. */
static RtscanHistogram *
get_counts(RtscanHistogramQuantile *quantile, MemoryContext context)
{
	MemoryContext old;

	if (quantile->counts)
		return quantile->counts;
	old = MemoryContextSwitchTo(context);
	quantile->counts = rtscan_create_histogram(quantile->bins.highest, has_few(quantile));
	MemoryContextSwitchTo(old);
	return quantile->counts;
}

/* RtscanDeviceAggCallbacks.take: add a device aggregate's counts.  NULL is in no bin. */
static void
take_bins(const RtscanDeviceAgg *agg, void *arg)
{
	const RtscanRowsAnswer *answer = (const RtscanRowsAnswer *) arg;
	RtscanHistogramQuantile *quantile = answer->histogram_quantile;
	RtscanHistogram *counts = get_counts(quantile, answer->context);

	for (uint32 entry = 0; entry < agg->n; entry++)
	{
		uint32		number = rtscan_device_agg_number(agg, &agg->digits[0], entry);
		uint64		rows = rtscan_device_agg_rows(agg, entry);

		quantile->counted += rows;
		if (number < quantile->bins.highest)
			rtscan_count_bin(counts, number, rows);
	}
}

void
rtscan_ask_for_bins(RtscanRowsAnswer *answer)
{
	RtscanDeviceAggCallbacks callbacks = {.make = make_bins, .take = take_bins, .arg = answer};
	RtscanAdding adding = {.row = SAMPLED_ROW, .columns = 1};

	if (answer->histogram_quantile == NULL)
		answer->histogram_quantile = MemoryContextAllocZero(answer->context, sizeof(RtscanHistogramQuantile));
	if (rtscan_cursor_choose_for_device_aggs(answer->cursor, &adding))
		rtscan_cursor_offer_device_aggs(answer->cursor, &callbacks);
	else if (rtscan_cursor_shares_chunks(answer->cursor))
		rtscan_note_not_on_device(answer->task, answer->question, RTSCAN_NOT_ON_DEVICE_SHARED);
}

bool
rtscan_sample_not_counted(const RtscanCursorChunk *chunk, void *arg)
{
	const RtscanRowsAnswer *answer = (const RtscanRowsAnswer *) arg;
	const RtscanSegmentScan *scan = rtscan_cursor_segment(answer->cursor);
	const RtscanDeviceAgg *agg = scan->asked.agg;
	bool		few = agg ? agg->made : scan->reader.segment->header.rows < RTSCAN_CHUNK_ROWS;

	if (answer->histogram_quantile && answer->histogram_quantile->any && few)
		return false;
	return rtscan_sample_chunk(chunk, arg);
}

bool
rtscan_has_histogram(const RtscanHistogramQuantile *quantile)
{
	return quantile && quantile->counted > 0;
}

/* ---------------------------------------------------------------- ranges */

/*
 * Count the collected values, which the device has not counted.  In the range of all values, some of the collected
 * values may be outside the range, since only values of segments have widened it.
 */
static void
count_collected(RtscanHistogramQuantile *quantile, const RtscanCurrentSet *current, RtscanHistogram *counts)
{
	RtscanKeys	keys;
	int64		key;

	if (!current->only[0].has_value)
		return;
	rtscan_begin_keys(&keys, current->transitions[0].collecting, rtscan_collection(&current->only[0]));
	while (rtscan_next_key(&keys, &key))
	{
		if (key < quantile->range.first)
			quantile->range.below++;
		else if (key > quantile->range.last)
			quantile->above++;
		else
			rtscan_count_bin(counts, ((uint64) key - (uint64) quantile->bins.first) >> quantile->bins.dropped, 1);
	}
}

/*
 * Find the ranks that the percentiles need, when all rows have been counted.  False if a rank is outside of the bins,
 * or if there are no ranks, or more than MOST_RANKS.
 */
static bool
begin_ranges(const RtscanRowsAnswer *answer)
{
	RtscanHistogramQuantile *quantile = answer->histogram_quantile;

	quantile->range.count = rtscan_sum_bins(quantile->counts);
	quantile->all = quantile->range.below + quantile->range.count + quantile->above;
	if (quantile->range.count == 0)
		return false;
	quantile->nranks = rtscan_find_ranks(answer, quantile->all, &quantile->ranks);
	quantile->keys = palloc(Max(quantile->nranks, 1) * sizeof(int64));
	quantile->range.nranks = quantile->nranks;
	return quantile->nranks > 0 && quantile->nranks <= MOST_RANKS && quantile->ranks[0] >= quantile->range.below &&
		quantile->ranks[quantile->nranks - 1] < quantile->range.below + quantile->range.count;
}

/*
 * Add the range of a bin that contains ranks to the ranges to be entered.  "part" has the range's counts and ranks.  If
 * the bin is a single value, no range is added: the value is stored as the key of these ranks.
 */
static void
add_range(RtscanHistogramQuantile *quantile, uint32 bin, Range part)
{
	Range	   *range;

	part.first = (int64) ((uint64) quantile->bins.first + ((uint64) bin << quantile->bins.dropped));
	if (quantile->bins.dropped == 0)
	{
		for (int i = 0; i < part.nranks; i++)
			quantile->keys[part.rank + i] = part.first;
		return;
	}
	part.last = bin + 1 == quantile->bins.highest ? quantile->range.last
		: (int64) ((uint64) part.first + (UINT64CONST(1) << quantile->bins.dropped) - 1);
	range = palloc(sizeof(Range));
	*range = part;
	quantile->ranges = lappend(quantile->ranges, range);
}

/*
 * Add ranges for the bins of a block that contain ranks, from number "rank" to "end" - 1.  "below" is the number of
 * values below the block.  Return the number of the first rank behind the block.
 */
static int
divide_block(RtscanHistogramQuantile *quantile, uint32 block, uint64 below, int rank, int end)
{
	uint64		counts[RTSCAN_BLOCK_BINS];

	rtscan_bins_of_block(quantile->counts, block, counts);
	for (uint32 i = 0; i < RTSCAN_BLOCK_BINS && rank < end; i++)
	{
		Range		part = {.below = below, .count = counts[i], .rank = rank};

		below += counts[i];
		while (rank < end && quantile->ranks[rank] < below)
			rank++;
		part.nranks = rank - part.rank;
		if (part.nranks > 0)
			add_range(quantile, block * RTSCAN_BLOCK_BINS + i, part);
	}
	return rank;
}

/* Add ranges for the bins that contain the ranks of the current range. */
static void
divide_range(RtscanHistogramQuantile *quantile)
{
	uint64		below = quantile->range.below;
	int			rank = quantile->range.rank;
	int			end = rank + quantile->range.nranks;

	for (uint32 block = 0; block < rtscan_blocks_of_bins(quantile->counts) && rank < end; block++)
	{
		uint64		sum = rtscan_sum_block(quantile->counts, block);

		if (quantile->ranks[rank] < below + sum)
			rank = divide_block(quantile, block, below, rank, end);
		below += sum;
	}
}

/* Have as many values been counted in the current range as when the range was a bin? */
static bool
has_all(const RtscanHistogramQuantile *quantile)
{
	uint64		sum = rtscan_sum_bins(quantile->counts);

	if (sum != quantile->range.count && rtscan_debug_compare_executors)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg_internal("executors differ: " UINT64_FORMAT " values of a range instead of " UINT64_FORMAT,
								 sum, quantile->range.count)));
	return sum == quantile->range.count;
}

/* Divide the current range, which has been counted.  False if the percentiles cannot be found. */
static bool
take_range(const RtscanRowsAnswer *answer)
{
	RtscanHistogramQuantile *quantile = answer->histogram_quantile;

	if (!quantile->any || rtscan_is_sampled(answer->sample))
		return false;
	count_collected(quantile, &answer->current, get_counts(quantile, answer->context));
	if (quantile->range.nranks == 0 ? !begin_ranges(answer) : !has_all(quantile))
		return false;
	divide_range(quantile);
	return true;
}

static void
enter_range(RtscanHistogramQuantile *quantile)
{
	Range	   *range = linitial(quantile->ranges);

	quantile->ranges = list_delete_first(quantile->ranges);
	quantile->range = *range;
	pfree(range);
	rtscan_free_histogram(quantile->counts);
	quantile->counts = NULL;
	lay_out_bins(quantile, has_few(quantile) ? MANY_BITS_OF_BIN : BITS_OF_BIN);
}

bool
rtscan_enter_next_range(const RtscanRowsAnswer *answer, RtscanFilter *filter)
{
	RtscanHistogramQuantile *quantile = answer->histogram_quantile;

	quantile->failed = quantile->failed || !take_range(answer);
	if (quantile->failed || quantile->ranges == NIL)
		return false;
	enter_range(quantile);
	*filter = rtscan_filter_between(answer, quantile->range.first, quantile->range.last);
	return true;
}

bool
rtscan_take_from_bins(const RtscanHistogramQuantile *quantile, const RtscanCurrentSet *current)
{
	RtscanState *state = &current->only[0];

	rtscan_forget_collected(current);
	if (quantile->failed)
		return false;
	for (int i = 0; i < quantile->nranks; i++)
		rtscan_collect_key(&current->transitions[0], state, quantile->keys[i], current->state_context);
	state->count = quantile->all;
	rtscan_collection(state)->ranks = quantile->ranks;
	return true;
}
