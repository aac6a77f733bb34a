/*
 * binned.c
 *		Computes percentiles of a key column of many rows from counts of its values that a device makes.
 */
#include "run/tally/binned.h"

#include "run/aggregate/collection.h"
#include "run/answer/narrowed.h"
#include "run/tally/bin_counts.h"
#include "run/tally/by_tally.h"
#include "settings.h"

/* Bits of a bin's number: few enough bins to be counted fast. */
#define BITS_OF_BIN			13

/* Bits of a bin's number in a range with no more than FEW_VALUES values: fewer searches with more bins. */
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

struct RtscanBinned
{
	bool		failed;			/* the percentiles cannot be found in this way */
	int			nranks;
	uint64	   *ranks;			/* ranks of the values that the percentiles need, ascending */
	int64	   *keys;			/* for each rank, its value, once it has been found */
	uint64		all;			/* number of all values */
	List	   *ranges;			/* Range *: ranges to be entered */

	/* The current range: at first that of all values, then one that has been entered. */
	bool		any;			/* a segment with values has been found: range and bins are set */
	Range		range;
	RtscanTallyBins bins;		/* bins of the range */
	uint64		counted;		/* number of rows that tallies have counted in all ranges so far */
	RtscanBinCounts *counts;	/* values in each bin; NULL: none have been counted */
	uint64		above;			/* in the range of all values: number of values greater than all bins */
};

/* ---------------------------------------------------------------- bins */

/* Divide the current range into bins whose numbers have the given number of bits. */
static void
lay_out_bins(RtscanBinned *binned, int bits)
{
	uint64		distance = (uint64) binned->range.last - (uint64) binned->range.first;
	int			dropped = 0;

	while (distance >> dropped >> bits != 0)
		dropped++;
	binned->bins = (RtscanTallyBins) {binned->range.first, dropped, (distance >> dropped) + 1};
}

/* Extend the range of all values by those of a segment. */
static void
widen_range(RtscanBinned *binned, const RtscanTallyColumn *of)
{
	int64		greatest = (int64) ((uint64) of->least + of->largest);

	if (of->empty)
		return;
	binned->range.first = binned->any ? Min(binned->range.first, of->least) : of->least;
	binned->range.last = binned->any ? Max(binned->range.last, greatest) : greatest;
	binned->any = true;
	lay_out_bins(binned, BITS_OF_BIN);
}

static bool
ask_for_bins(RtscanTally *tally, RtscanReader *reader, RtscanRowsAnswer *answer)
{
	RtscanBinned *binned = answer->binned;

	if (!rtscan_tally_binned_digit(tally, reader, answer->question->schema, answer->task->aggregates[0].columns[0],
								   &binned->bins))
		return false;
	if (binned->range.nranks == 0)
		widen_range(binned, &tally->digits[0].of);
	return true;
}

/* RtscanTallier.make: request counts of a segment's values by bin, or return NULL. */
static RtscanTally *
make_bins(RtscanSegmentScan *segment, void *arg)
{
	RtscanRowsAnswer *answer = (RtscanRowsAnswer *) arg;
	RtscanTally *tally = rtscan_create_tally(segment->reader.segment);
	RtscanNotTallied why = RTSCAN_NOT_TALLIED_COMBINED;

	if (rtscan_may_be_tallied(segment))
		why = ask_for_bins(tally, &segment->reader, answer) ? RTSCAN_TALLIED : RTSCAN_NOT_TALLIED_VALUES;
	if (why == RTSCAN_TALLIED)
		return tally;
	rtscan_note_not_tallied(answer, why);
	pfree(tally);
	return NULL;
}

/* Is it known that the current range has few values? */
static bool
has_few(const RtscanBinned *binned)
{
	return binned->range.nranks > 0 && binned->range.count <= FEW_VALUES;
}

static RtscanBinCounts *
get_counts(const RtscanRowsAnswer *answer)
{
	RtscanBinned *binned = answer->binned;
	MemoryContext old;

	if (binned->counts)
		return binned->counts;
	old = MemoryContextSwitchTo(answer->context);
	binned->counts = rtscan_create_bin_counts(binned->bins.highest, has_few(binned));
	MemoryContextSwitchTo(old);
	return binned->counts;
}

/* RtscanTallier.take: add a tally's counts.  NULL is in no bin. */
static void
take_bins(const RtscanTally *tally, void *arg)
{
	RtscanRowsAnswer *answer = (RtscanRowsAnswer *) arg;
	RtscanBinned *binned = answer->binned;
	RtscanBinCounts *counts = get_counts(answer);

	for (uint32 entry = 0; entry < tally->n; entry++)
	{
		uint32		number = rtscan_tally_number(tally, &tally->digits[0], entry);
		uint64		rows = rtscan_tally_rows(tally, entry);

		binned->counted += rows;
		if (number < binned->bins.highest)
			rtscan_count_bin(counts, number, rows);
	}
}

void
rtscan_ask_for_bins(RtscanRowsAnswer *answer)
{
	RtscanTallier tallier = {.make = make_bins, .take = take_bins, .arg = answer};
	RtscanAdding adding = {.row = SAMPLED_ROW, .columns = 1};

	if (answer->binned == NULL)
		answer->binned = MemoryContextAllocZero(answer->context, sizeof(RtscanBinned));
	if (rtscan_cursor_choose_for_tallies(answer->cursor, &adding))
		rtscan_cursor_offer_tallies(answer->cursor, &tallier);
	else
		rtscan_note_not_tallied(answer, RTSCAN_NOT_TALLIED_SHARED);
}

bool
rtscan_sample_not_binned(const RtscanCursorChunk *chunk, void *arg)
{
	RtscanRowsAnswer *answer = (RtscanRowsAnswer *) arg;
	const RtscanSegmentScan *scan = rtscan_cursor_segment(answer->cursor);
	bool		few = scan->tally ? scan->tally->made : scan->reader.segment->header.rows < RTSCAN_CHUNK_ROWS;

	if (answer->binned && answer->binned->any && few)
		return false;
	return rtscan_sample_chunk(chunk, arg);
}

bool
rtscan_is_binned(const RtscanRowsAnswer *answer)
{
	return answer->binned && answer->binned->counted > 0;
}

/* ---------------------------------------------------------------- ranges */

/* Count the values that tallies have not counted.  In the first range, some may be outside of the segments' values. */
static void
count_collected(RtscanRowsAnswer *answer)
{
	RtscanBinned *binned = answer->binned;
	RtscanCollecting *collecting = answer->transitions[0].collecting;
	RtscanBinCounts *counts = get_counts(answer);
	RtscanKeys	keys;
	int64		key;

	if (!answer->only[0].has_value)
		return;
	rtscan_begin_keys(&keys, collecting, rtscan_collection(&answer->only[0]));
	while (rtscan_next_key(&keys, &key))
	{
		if (key < binned->range.first)
			binned->range.below++;
		else if (key > binned->range.last)
			binned->above++;
		else
			rtscan_count_bin(counts, ((uint64) key - (uint64) binned->bins.first) >> binned->bins.dropped, 1);
	}
}

/*
 * All rows have been counted: find the ranks that the percentiles need.  False if a rank is outside of the bins, or if
 * ranks are too many.
 */
static bool
begin_ranges(RtscanRowsAnswer *answer)
{
	RtscanBinned *binned = answer->binned;

	binned->range.count = rtscan_sum_bins(binned->counts);
	binned->all = binned->range.below + binned->range.count + binned->above;
	if (binned->range.count == 0)
		return false;
	binned->nranks = rtscan_find_ranks(answer, binned->all, &binned->ranks);
	binned->keys = palloc(Max(binned->nranks, 1) * sizeof(int64));
	binned->range.nranks = binned->nranks;
	return binned->nranks > 0 && binned->nranks <= MOST_RANKS && binned->ranks[0] >= binned->range.below &&
		binned->ranks[binned->nranks - 1] < binned->range.below + binned->range.count;
}

/*
 * Add the range of a bin that contains ranks, to be entered later.  part has the range's counts and ranks.  If the bin
 * is a single value, it is the value of these ranks.
 */
static void
add_range(RtscanBinned *binned, uint32 bin, Range part)
{
	Range	   *range;

	part.first = (int64) ((uint64) binned->bins.first + ((uint64) bin << binned->bins.dropped));
	if (binned->bins.dropped == 0)
	{
		for (int i = 0; i < part.nranks; i++)
			binned->keys[part.rank + i] = part.first;
		return;
	}
	part.last = bin + 1 == binned->bins.highest ? binned->range.last
		: (int64) ((uint64) part.first + (UINT64CONST(1) << binned->bins.dropped) - 1);
	range = palloc(sizeof(Range));
	*range = part;
	binned->ranges = lappend(binned->ranges, range);
}

/*
 * Add ranges for the bins of a block that contain ranks, from rank to end - 1.  below is the number of values below the
 * block.  Return the first rank behind the block.
 */
static int
divide_block(RtscanBinned *binned, uint32 block, uint64 below, int rank, int end)
{
	uint64		counts[RTSCAN_BLOCK_BINS];

	rtscan_bins_of_block(binned->counts, block, counts);
	for (uint32 i = 0; i < RTSCAN_BLOCK_BINS && rank < end; i++)
	{
		Range		part = {.below = below, .count = counts[i], .rank = rank};

		below += counts[i];
		while (rank < end && binned->ranks[rank] < below)
			rank++;
		part.nranks = rank - part.rank;
		if (part.nranks > 0)
			add_range(binned, block * RTSCAN_BLOCK_BINS + i, part);
	}
	return rank;
}

/* Add ranges for the bins that contain the ranks of the current range. */
static void
divide_range(RtscanBinned *binned)
{
	uint64		below = binned->range.below;
	int			rank = binned->range.rank;
	int			end = rank + binned->range.nranks;

	for (uint32 block = 0; block < rtscan_blocks_of_bins(binned->counts) && rank < end; block++)
	{
		uint64		sum = rtscan_sum_block(binned->counts, block);

		if (binned->ranks[rank] < below + sum)
			rank = divide_block(binned, block, below, rank, end);
		below += sum;
	}
}

/* Are the values of the current range as many as were counted when the range was a bin? */
static bool
has_all(const RtscanBinned *binned)
{
	uint64		sum = rtscan_sum_bins(binned->counts);

	if (sum != binned->range.count && rtscan_debug_compare_executors)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg_internal("executors differ: a range of " UINT64_FORMAT " values instead of " UINT64_FORMAT,
								 sum, binned->range.count)));
	return sum == binned->range.count;
}

/* Divide the current range, which has been counted.  False if the percentiles cannot be found. */
static bool
take_range(RtscanRowsAnswer *answer)
{
	RtscanBinned *binned = answer->binned;

	if (!binned->any || rtscan_is_sampled(answer))
		return false;
	count_collected(answer);
	if (binned->range.nranks == 0 ? !begin_ranges(answer) : !has_all(binned))
		return false;
	divide_range(binned);
	return true;
}

static void
enter_range(RtscanBinned *binned)
{
	Range	   *range = linitial(binned->ranges);

	binned->ranges = list_delete_first(binned->ranges);
	binned->range = *range;
	pfree(range);
	rtscan_free_bin_counts(binned->counts);
	binned->counts = NULL;
	lay_out_bins(binned, has_few(binned) ? MANY_BITS_OF_BIN : BITS_OF_BIN);
}

bool
rtscan_enter_next_range(RtscanRowsAnswer *answer, RtscanFilter *filter)
{
	RtscanBinned *binned = answer->binned;

	binned->failed = binned->failed || !take_range(answer);
	if (binned->failed || binned->ranges == NIL)
		return false;
	enter_range(binned);
	*filter = rtscan_filter_between(answer, binned->range.first, binned->range.last);
	return true;
}

bool
rtscan_take_from_bins(RtscanRowsAnswer *answer)
{
	RtscanBinned *binned = answer->binned;
	RtscanTransition *transition = &answer->transitions[0];
	RtscanState *state = &answer->only[0];

	rtscan_forget_collected(answer);
	if (binned->failed)
		return false;
	for (int i = 0; i < binned->nranks; i++)
		rtscan_collect_key(transition, state, binned->keys[i], answer->state_context);
	state->count = binned->all;
	rtscan_collection(state)->ranks = binned->ranks;
	return true;
}
