/* SPDX-License-Identifier: PostgreSQL */
/*
 * cursor_device_aggregates.c
 *		Device aggregates that a cursor passes to its caller, instead of returning the rows that are in them.
 */
#include "search/scan/cursor_parts.h"

#include "miscadmin.h"
#include "utils/memutils.h"

/*
 * If processes share the chunks of a segment, none of them can take a device aggregate, which has rows of all chunks.
 */
bool
rtscan_cursor_shares_chunks(const RtscanCursor *cursor)
{
	return cursor->search.asked.shares_chunks;
}

bool
rtscan_cursor_choose_for_device_aggs(RtscanCursor *cursor, const RtscanAdding *adding)
{
	if (rtscan_cursor_shares_chunks(cursor) || cursor->asked.unchecked)
		return false;
	cursor->aggs.adding = *adding;
	if (adding->row > 0)
		rtscan_search_for_device_aggs(&cursor->search, adding);
	return cursor->search.choice.executor != RTSCAN_EXECUTOR_CPU;
}

/* Let the caller create a device aggregate for each segment that may have matching rows. */
static void
create_aggs(RtscanCursor *cursor)
{
	const RtscanDeviceAggCallbacks *callbacks = &cursor->aggs.callbacks;

	for (int i = 0; i < cursor->search.nsegments; i++)
	{
		RtscanSegmentScan *segment = &cursor->search.segments[i];
		RtscanDeviceAgg *agg = segment->filter.region.empty ? NULL : callbacks->make(segment, callbacks->arg);

		CHECK_FOR_INTERRUPTS();
		if (agg)
			agg->cpu_time = rtscan_time_of_adding_by_cpu(segment, &cursor->aggs.adding);
		segment->asked.agg = agg;
	}
}

/*
 * Settle all device aggregates together (rtscan_settle_device_aggs()).  A segment whose aggregate has too many cells
 * keeps no aggregate.
 */
static void
settle_aggs(RtscanCursor *cursor)
{
	RtscanSearch *search = &cursor->search;
	RtscanSegmentScan **segments = palloc(Max(search->nsegments, 1) * sizeof(RtscanSegmentScan *));
	RtscanDeviceAgg **aggs = palloc(Max(search->nsegments, 1) * sizeof(RtscanDeviceAgg *));
	int			n = 0;

	for (int i = 0; i < search->nsegments; i++)
		if (search->segments[i].asked.agg)
		{
			segments[n] = &search->segments[i];
			aggs[n++] = search->segments[i].asked.agg;
		}
	rtscan_settle_device_aggs(aggs, n);
	for (int i = 0; i < n; i++)
	{
		segments[i]->asked.agg = aggs[i];
		cursor->aggs.too_many_cells |= aggs[i] == NULL;
	}
	pfree(segments);
	pfree(aggs);
}

/* Restrict a segment's device aggregate to the segment's certain rows (visibility.h); drop it if no row is certain. */
static void
leave_out_uncertain(RtscanCursor *cursor, RtscanSegmentScan *segment)
{
	RtscanDeviceAgg *agg = segment->asked.agg;

	if (agg && !rtscan_find_certain_rows(&cursor->visibility, segment, &agg->certain))
		segment->asked.agg = NULL;
}

/*
 * Restrict all device aggregates to certain rows.  A segment that keeps its aggregate gets a region to evaluate even
 * if all of its rows match (rtscan_list_everything()).  Returns false if no aggregate is left.
 */
static bool
restrict_aggs(RtscanCursor *cursor)
{
	bool		any = false;

	for (int i = 0; i < cursor->search.nsegments; i++)
	{
		RtscanSegmentScan *segment = &cursor->search.segments[i];

		leave_out_uncertain(cursor, segment);
		rtscan_list_everything(segment, segment->asked.agg != NULL);
		any |= segment->asked.agg != NULL;
	}
	return any;
}

void
rtscan_cursor_offer_device_aggs(RtscanCursor *cursor, const RtscanDeviceAggCallbacks *callbacks)
{
	MemoryContext old = MemoryContextSwitchTo(cursor->search.context);

	cursor->aggs.callbacks = *callbacks;
	create_aggs(cursor);
	settle_aggs(cursor);
	if (!restrict_aggs(cursor))
		rtscan_search_without_device_aggs(&cursor->search);
	MemoryContextSwitchTo(old);
}

/*
 * Drop the device aggregates that have not been made yet and do not have room for all cells.  An earlier aggregate
 * had more entries than room, and aggregates of later rounds probably would, too.
 */
static void
drop_aggs_without_room(RtscanCursor *cursor)
{
	for (int i = 0; i < cursor->search.nsegments; i++)
	{
		RtscanSegmentScan *segment = &cursor->search.segments[i];
		const RtscanDeviceAgg *agg = segment->asked.agg;

		if (agg == NULL || agg->made || rtscan_device_agg_has_room_for_all_cells(agg))
			continue;
		segment->asked.agg = NULL;
		rtscan_list_everything(segment, false);
	}
	cursor->aggs.too_many_cells = true;
}

void
rtscan_cursor_give_device_agg(RtscanCursor *cursor)
{
	RtscanDeviceAgg *agg = cursor->segment.scan->asked.agg;

	cursor->search.stats.rows += cursor->segment.bits->aggregated;
	if (agg && agg->overflowed)
	{
		drop_aggs_without_room(cursor);
		return;
	}
	if (agg == NULL || !agg->made || agg->head != agg || agg->given)
		return;
	agg->given = true;
	cursor->aggs.callbacks.take(agg, cursor->aggs.callbacks.arg);
}

bool
rtscan_cursor_has_too_many_cells(const RtscanCursor *cursor)
{
	return cursor->aggs.too_many_cells;
}
