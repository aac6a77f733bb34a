/*
 * search.c
 *		Find the rows of an index that match a filter, segments first, then pending lists.
 */
#include "search/search.h"

#include "storage/dead.h"
#include "storage/pending.h"
#include "utils/memutils.h"

/* ---------------------------------------------------------------- segments */

/* The rows of a segment of the round at hand. */
static void
search_segment(RtscanSearch *search, RtscanSegmentScan *segment)
{
	RtscanRowBits *bits;
	instr_time	start,
				middle,
				end;

	INSTR_TIME_SET_CURRENT(start);
	bits = rtscan_evaluate(segment, &search->stats.counters);
	if (bits)
		rtscan_bits_remove_dead(search->index, segment->entry, search->snapshot, bits);
	INSTR_TIME_SET_CURRENT(middle);
	if (bits)
		search->take_segment(segment, bits, search->arg);
	INSTR_TIME_SET_CURRENT(end);

	search->stats.counters.segments++;
	search->stats.counters.cpu_segments += segment->left_to_cpu;
	search->stats.counters.pages_read += segment->reader.pages_read;
	INSTR_TIME_ACCUM_DIFF(search->stats.bits_time, middle, start);
	INSTR_TIME_ACCUM_DIFF(search->stats.tids_time, end, middle);
}

/* What the filter means for each segment.  Here, and not later, a user's functions may be called. */
static void
prepare_segments(RtscanSearch *search)
{
	const RtscanImage *image = search->image;

	search->segments = palloc0(Max(image->nentries, 1) * sizeof(RtscanSegmentScan));
	for (uint32 i = 0; i < image->nentries; i++)
	{
		RtscanSegmentScan *segment = &search->segments[search->nsegments];

		if (!rtscan_entry_is_live(&image->entries[i]))
			continue;
		segment->entry = &image->entries[i];
		rtscan_reader_open(&segment->reader, search->index, segment->entry, false);
		rtscan_segment_filter(search->filter, &segment->reader, &segment->filter);
		segment->want_bits = !segment->filter.region.empty && search->prepare_segment(segment, search->arg);
		search->nsegments++;
	}
}

void
rtscan_begin_search(RtscanSearch *search, const RtscanImage *image)
{
	instr_time	start,
				end;

	search->executor = RTSCAN_EXECUTOR_CPU;
	memset(&search->stats, 0, sizeof(search->stats));
	search->image = image;
	search->nsegments = 0;
	search->next_segment = 0;
	if (search->filter->predicate->impossible)
		return;
	INSTR_TIME_SET_CURRENT(start);
	prepare_segments(search);
	search->chosen = rtscan_choose_executor(search->segments, search->nsegments);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_ACCUM_DIFF(search->stats.bits_time, end, start);
}

/* Let a device evaluate segments together, as far as it can. */
static void
begin_round(RtscanSearch *search, RtscanSegmentScan *segments, int count)
{
	RtscanExecutor executor;
	instr_time	start,
				end;

	INSTR_TIME_SET_CURRENT(start);
	executor = rtscan_begin_round(search->chosen, search->index, &search->image->meta.uuid, segments, count,
								  &search->stats.counters);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_ACCUM_DIFF(search->stats.bits_time, end, start);
	search->executor = Max(search->executor, executor);
}

/* Take the next segments, so many at most: returns how many. */
static int
take_segments(RtscanSearch *search, int limit)
{
	if (search->shared)
	{
		uint32		next = pg_atomic_fetch_add_u32(&search->shared->next_segment, limit);

		search->next_segment = Min(next, (uint32) search->nsegments);
	}
	return Min(search->nsegments - search->next_segment, limit);
}

bool
rtscan_search_some(RtscanSearch *search)
{
	int			count = take_segments(search, search->chosen == RTSCAN_EXECUTOR_CPU ? 1 : RTSCAN_ROUND_SEGMENTS);
	RtscanSegmentScan *segments = search->segments + search->next_segment;

	if (count == 0)
		return false;
	begin_round(search, segments, count);
	for (int i = 0; i < count; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(search->short_context);

		search_segment(search, &segments[i]);
		MemoryContextSwitchTo(old);
		MemoryContextReset(search->short_context);
	}
	search->next_segment += count;
	return true;
}

/* ---------------------------------------------------------------- pending lists */

/* Does a row match that the pretest has not decided about? */
static bool
pending_row_matches(const RtscanSearch *search, IndexTuple tuple)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	rtscan_deform_pending(search->index, search->schema, tuple, values, isnull);
	return rtscan_filter_matches(search->filter, values, isnull);
}

/* RtscanPendingVisitor */
static void
check_pending_row(IndexTuple tuple, void *arg)
{
	RtscanSearch *search = (RtscanSearch *) arg;
	RtscanVerdict verdict = rtscan_pretest(&search->pretest, tuple);
	MemoryContext old;

	search->stats.pending_rows++;
	if (verdict == RTSCAN_REJECTED)
		return;
	old = MemoryContextSwitchTo(search->short_context);
	if (verdict == RTSCAN_ACCEPTED || pending_row_matches(search, tuple))
	{
		rtscan_check_pending_tid(search->index, tuple);
		search->take_row(tuple, search->arg);
	}
	MemoryContextSwitchTo(old);
	if (++search->taken_apart % 256 == 0)
		MemoryContextReset(search->short_context);
}

static void
search_list(RtscanSearch *search, RtscanListRef list)
{
	instr_time	start,
				end;

	if (list.head == InvalidBlockNumber)
		return;
	INSTR_TIME_SET_CURRENT(start);
	rtscan_pending_visit(search->index, &list, check_pending_row, search);
	MemoryContextReset(search->short_context);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_ACCUM_DIFF(search->stats.bits_time, end, start);
}

void
rtscan_search_pending(RtscanSearch *search)
{
	const RtscanImage *image = search->image;

	if (search->filter->predicate->impossible ||
		(search->shared && pg_atomic_fetch_add_u32(&search->shared->pending, 1) > 0))
		return;
	rtscan_pretest_init(&search->pretest, search->schema, search->filter);
	for (uint32 i = 0; i < image->nentries; i++)
		if (rtscan_entry_is_sealed_list(&image->entries[i]))
			search_list(search, rtscan_entry_list(&image->entries[i]));
	search_list(search, image->meta.open);
}

/* ---------------------------------------------------------------- all */

void
rtscan_search(RtscanSearch *search, const RtscanImage *image)
{
	rtscan_begin_search(search, image);
	while (rtscan_search_some(search))
		continue;
	rtscan_search_pending(search);
}
