/* SPDX-License-Identifier: PostgreSQL */
/*
 * cursor_tallies.c
 *		Tallies that a cursor passes to its caller, instead of the rows that are in them.
 */
#include "search/scan/cursor_parts.h"

#include "miscadmin.h"
#include "utils/memutils.h"

/* If processes share a segment's chunks, no process can take a tally of the whole segment. */
bool
rtscan_cursor_choose_for_tallies(RtscanCursor *cursor, const RtscanAdding *adding)
{
	if (cursor->search.asked.shares_chunks || cursor->asked.unchecked)
		return false;
	cursor->tallies.adding = *adding;
	if (adding->row > 0)
		rtscan_search_for_tallies(&cursor->search, adding);
	return cursor->search.choice.executor != RTSCAN_EXECUTOR_CPU;
}

/* Let the caller create a tally for each segment that may have matching rows. */
static void
create_tallies(RtscanCursor *cursor)
{
	const RtscanTallier *tallier = &cursor->tallies.tallier;

	for (int i = 0; i < cursor->search.nsegments; i++)
	{
		RtscanSegmentScan *segment = &cursor->search.segments[i];
		RtscanTally *tally = segment->filter.region.empty ? NULL : tallier->make(segment, tallier->arg);

		CHECK_FOR_INTERRUPTS();
		if (tally)
			tally->cpu_time = rtscan_time_of_adding_by_cpu(segment, &cursor->tallies.adding);
		segment->asked.tally = tally;
	}
}

/* Settle all tallies together.  Segments whose tallies have too many cells keep none. */
static void
settle_tallies(RtscanCursor *cursor)
{
	RtscanSearch *search = &cursor->search;
	RtscanSegmentScan **segments = palloc(Max(search->nsegments, 1) * sizeof(RtscanSegmentScan *));
	RtscanTally **tallies = palloc(Max(search->nsegments, 1) * sizeof(RtscanTally *));
	int			n = 0;

	for (int i = 0; i < search->nsegments; i++)
		if (search->segments[i].asked.tally)
		{
			segments[n] = &search->segments[i];
			tallies[n++] = search->segments[i].asked.tally;
		}
	rtscan_settle_tallies(tallies, n);
	for (int i = 0; i < n; i++)
	{
		segments[i]->asked.tally = tallies[i];
		cursor->tallies.too_many_cells |= tallies[i] == NULL;
	}
	pfree(segments);
	pfree(tallies);
}

/* Restrict a segment's tally to the segment's certain rows; drop it if there are none. */
static void
leave_out_uncertain(const RtscanCursor *cursor, RtscanSegmentScan *segment)
{
	RtscanTally *tally = segment->asked.tally;

	if (tally && !rtscan_find_certain_rows(&cursor->visibility, segment, &tally->certain))
		segment->asked.tally = NULL;
}

/*
 * Restrict the tallies to certain rows.  A segment that keeps its tally lists a region even if all of its rows match.
 * Returns false if no tally is left.
 */
static bool
restrict_tallies(RtscanCursor *cursor)
{
	bool		any = false;

	for (int i = 0; i < cursor->search.nsegments; i++)
	{
		RtscanSegmentScan *segment = &cursor->search.segments[i];

		leave_out_uncertain(cursor, segment);
		rtscan_list_everything(segment, segment->asked.tally != NULL);
		any |= segment->asked.tally != NULL;
	}
	return any;
}

void
rtscan_cursor_offer_tallies(RtscanCursor *cursor, const RtscanTallier *tallier)
{
	MemoryContext old = MemoryContextSwitchTo(cursor->search.context);

	cursor->tallies.tallier = *tallier;
	create_tallies(cursor);
	settle_tallies(cursor);
	if (!restrict_tallies(cursor))
		rtscan_search_without_tallies(&cursor->search);
	MemoryContextSwitchTo(old);
}

/*
 * Drop the tallies that are not made yet and do not have room for all cells.  A tally has had more entries than room,
 * and those of later rounds would have, too.
 */
static void
drop_tallies_without_room(RtscanCursor *cursor)
{
	for (int i = 0; i < cursor->search.nsegments; i++)
	{
		RtscanSegmentScan *segment = &cursor->search.segments[i];
		const RtscanTally *tally = segment->asked.tally;

		if (tally == NULL || tally->made || rtscan_tally_has_room_for_all_cells(tally))
			continue;
		segment->asked.tally = NULL;
		rtscan_list_everything(segment, false);
	}
	cursor->tallies.too_many_cells = true;
}

void
rtscan_cursor_give_tally(RtscanCursor *cursor)
{
	RtscanTally *tally = cursor->segment.scan->asked.tally;

	cursor->search.stats.rows += cursor->segment.bits->tallied;
	if (tally && tally->overflowed)
	{
		drop_tallies_without_room(cursor);
		return;
	}
	if (tally == NULL || !tally->made || tally->head != tally || tally->given)
		return;
	tally->given = true;
	cursor->tallies.tallier.take(tally, cursor->tallies.tallier.arg);
}

bool
rtscan_cursor_has_too_many_cells(const RtscanCursor *cursor)
{
	return cursor->tallies.too_many_cells;
}
