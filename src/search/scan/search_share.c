/* SPDX-License-Identifier: PostgreSQL */
/*
 * search_share.c
 *		Divide a search among the processes of a parallel query.
 */
#include "search/scan/search_parts.h"

#include "access/parallel.h"
#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/wait_event.h"

/* A segment of another process is shared only if at least this many of its chunks are left. */
#define LEAST_CHUNKS	2

int
rtscan_count_processes(const RtscanSearch *search)
{
	return search->asked.shared ? search->asked.shared->processes : 1;
}

/* ---------------------------------------------------------------- segments and lists */

/* May rows of a segment match, given its bounds and, if the filter has been looked up in it, its dictionaries? */
static bool
has_work(const RtscanSegmentScan *segment)
{
	return !segment->skipped && !segment->filter.region.empty;
}

/* Return the number of segments whose rows may match, divided by the number of processes and rounded up. */
static int
size_of_part(const RtscanSearch *search)
{
	int			processes = rtscan_count_processes(search);
	int			work = 0;

	for (int i = 0; i < search->nsegments; i++)
		work += has_work(&search->segments[i]);
	return (work + processes - 1) / processes;
}

/*
 * Return the end of the segments that a process takes if it begins at "first": as many as are evaluated together, but
 * at most sharing.part segments whose rows may match.
 */
static int
end_of_part(const RtscanSearch *search, int first)
{
	int			limit = Min(search->nsegments, first + search->choice.round_segments);
	int			work = 0;

	for (int i = first; i < limit; i++)
	{
		if (has_work(&search->segments[i]) && ++work > search->sharing.part)
			return i;
	}
	return limit;
}

/* Take the next segments, *first .. end - 1, which no process has taken, and return "end". */
static int
take_part(RtscanSearch *search, int *first)
{
	pg_atomic_uint32 *next_segment = &search->asked.shared->next_segment;
	uint32		next = pg_atomic_read_u32(next_segment);
	int			end;

	if (search->sharing.part == 0)
		search->sharing.part = Max(size_of_part(search), 1);
	do
	{
		if (next >= (uint32) search->nsegments)
		{
			search->sharing.first_to_share = pg_atomic_fetch_add_u32(next_segment, 1) % search->nsegments;
			return *first = search->nsegments;
		}
		end = end_of_part(search, next);
	} while (!pg_atomic_compare_exchange_u32(next_segment, &next, end));
	*first = search->sharing.first_to_share = next;
	return end;
}

int
rtscan_take_segments(RtscanSearch *search)
{
	RtscanClaim *claim = search->asked.claim;
	MemoryContext old;
	int			end;

	if (claim && claim->again)
	{
		int			member = bms_next_member(claim->segments, search->progress.next_segment - 1);

		search->progress.next_segment = member < 0 ? search->nsegments : member;
		return 1;
	}
	end = take_part(search, &search->progress.next_segment);
	if (claim == NULL)
		return end - search->progress.next_segment;
	old = MemoryContextSwitchTo(claim->context);
	for (int i = search->progress.next_segment; i < end; i++)
		claim->segments = bms_add_member(claim->segments, i);
	MemoryContextSwitchTo(old);
	return end - search->progress.next_segment;
}

bool
rtscan_take_pending(RtscanSearch *search)
{
	RtscanClaim *claim = search->asked.claim;

	if (claim && claim->again)
		return claim->pending;
	if (pg_atomic_fetch_add_u32(&search->asked.shared->pending, 1) > 0)
		return false;
	if (claim)
		claim->pending = true;
	return true;
}

/* ---------------------------------------------------------------- chunks */

/* Return a pointer to the shared number of a segment's first chunk that no process has taken. */
static pg_atomic_uint32 *
next_chunk(const RtscanSearch *search, int segment)
{
	return (pg_atomic_uint32 *) ((char *) search->asked.shared + search->asked.shared->next_chunks) + segment;
}

uint32
rtscan_take_chunk(RtscanSearch *search, const RtscanSegmentScan *segment)
{
	return pg_atomic_fetch_add_u32(next_chunk(search, segment - search->segments), 1);
}

void
rtscan_take_all_chunks(RtscanSearch *search, const RtscanSegmentScan *segment)
{
	pg_atomic_write_u32(next_chunk(search, segment - search->segments), RTSCAN_SEGMENT_CHUNKS);
}

static double
seconds_since(instr_time start)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, start);
	return INSTR_TIME_GET_DOUBLE(now);
}

/*
 * Return the average number of seconds that this process has needed to find the bits of a segment.  Returns 0 if it
 * has spent more time on processing rows than on finding bits, or if it has not evaluated any segment.
 */
static double
bits_seconds(const RtscanSearch *search)
{
	const RtscanSearchProgress *progress = &search->progress;
	double		bits = INSTR_TIME_GET_DOUBLE(search->stats.bits_time);

	return progress->evaluated == 0 || seconds_since(progress->began) > 2 * bits ? 0 : bits / progress->evaluated;
}

/* Does a segment of another process have enough chunks left to share? */
static bool
has_chunks(const RtscanSearch *search, int i)
{
	return !search->segments[i].sharing.other &&
		pg_atomic_read_u32(next_chunk(search, i)) + LEAST_CHUNKS <= rtscan_chunks(search->segments[i].entry->rows);
}

/*
 * Has another process been processing a segment's rows for at least "seconds" seconds, counted from the time when
 * this process first noticed it?  Always true if "seconds" is 0.  False while the other process still finds the
 * segment's bits: if this process began to find them, too, its help would come too late.
 */
static bool
takes_long(const RtscanSearch *search, int i, double seconds)
{
	RtscanSegmentScan *segment = &search->segments[i];

	if (seconds == 0)
		return true;
	if (pg_atomic_read_u32(next_chunk(search, i)) == 0)
		return false;
	if (INSTR_TIME_IS_ZERO(segment->sharing.seen))
		INSTR_TIME_SET_CURRENT(segment->sharing.seen);
	return seconds_since(segment->sharing.seen) >= seconds;
}

/*
 * Return the number of a segment whose remaining chunks this process should share, or -1 if no segment should be
 * shared yet.  *any tells whether any segment has enough chunks left to share.
 */
static int
find_segment_to_share(const RtscanSearch *search, double seconds, bool *any)
{
	*any = false;
	for (int k = 0; k < search->nsegments; k++)
	{
		int			i = (search->sharing.first_to_share + k) % search->nsegments;

		if (!has_chunks(search, i))
			continue;
		*any = true;
		if (takes_long(search, i, seconds))
			return i;
	}
	return -1;
}

static void
wait_for_others(void)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 1, WAIT_EVENT_EXECUTE_GATHER);
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

int
rtscan_wait_for_segment(RtscanSearch *search)
{
	double		bits = bits_seconds(search),
				worked = seconds_since(search->progress.began);
	bool		any;
	int			i;

	do
	{
		if (pg_atomic_read_u32(&search->asked.shared->kept) > 0)
			return -1;
		i = find_segment_to_share(search, bits, &any);
		if (i < 0 && (!any || !IsParallelWorker() || seconds_since(search->progress.began) > 2 * worked))
			return -1;
		if (i < 0)
			wait_for_others();
	} while (i < 0);
	return i;
}
