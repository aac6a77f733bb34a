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
	if (cursor->search.shares_chunks || cursor->asked.unchecked)
		return false;
	cursor->tallies.adding = *adding;
	if (adding->row > 0)
		rtscan_search_for_tallies(&cursor->search, adding);
	return cursor->search.chosen != RTSCAN_EXECUTOR_CPU;
}

/* Restrict a segment's tally to the segment's certain rows; drop it if there are none. */
static void
leave_out_uncertain(const RtscanCursor *cursor, RtscanSegmentScan *segment)
{
	if (segment->asked.tally && !rtscan_find_certain_rows(&cursor->visibility, segment, &segment->asked.tally->certain))
		segment->asked.tally = NULL;
}

void
rtscan_cursor_offer_tallies(RtscanCursor *cursor, const RtscanTallier *tallier)
{
	RtscanSearch *search = &cursor->search;
	MemoryContext old = MemoryContextSwitchTo(search->context);
	RtscanTally **tallies = palloc(Max(search->nsegments, 1) * sizeof(RtscanTally *));
	int			n = 0;
	bool		wanted = false;

	cursor->tallies.tallier = *tallier;
	for (int i = 0; i < search->nsegments; i++)
	{
		RtscanSegmentScan *segment = &search->segments[i];

		CHECK_FOR_INTERRUPTS();
		segment->asked.tally = segment->filter.region.empty ? NULL : tallier->make(segment, tallier->arg);
		if (segment->asked.tally == NULL)
			continue;
		segment->asked.tally->cpu_time = rtscan_time_of_adding_by_cpu(segment, &cursor->tallies.adding);
		tallies[n++] = segment->asked.tally;
	}
	rtscan_settle_tallies(tallies, n);
	for (int i = 0, k = 0; i < search->nsegments; i++)
	{
		if (search->segments[i].asked.tally)
		{
			search->segments[i].asked.tally = tallies[k++];
			cursor->tallies.too_many_cells |= search->segments[i].asked.tally == NULL;
			leave_out_uncertain(cursor, &search->segments[i]);
		}
		wanted |= search->segments[i].asked.tally != NULL;
		rtscan_list_everything(&search->segments[i], search->segments[i].asked.tally != NULL);
	}
	if (!wanted)
		rtscan_search_without_tallies(search);
	pfree(tallies);
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
