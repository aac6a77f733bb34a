/* SPDX-License-Identifier: PostgreSQL */
/*
 * search_pending.c
 *		Find the rows of the pending lists that match a search's filter.
 */
#include "search/scan/search_parts.h"

/* Does a pending row match the filter, given its values? */
static bool
values_match(const RtscanSearch *search, IndexTuple tuple)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	rtscan_deform_pending(search->asked.index, search->asked.schema, tuple, values, isnull);
	return rtscan_filter_matches(search->asked.filter, values, isnull);
}

/* Does a pending row match the filter?  Its keys are compared first and, if they do not decide, its values. */
static bool
pending_row_matches(RtscanSearch *search, IndexTuple tuple)
{
	RtscanVerdict verdict = rtscan_key_prefilter(&search->pending.prefilter, tuple);
	MemoryContext old;
	bool		matches;

	search->stats.pending_rows++;
	if (verdict == RTSCAN_REJECTED)
		return false;
	if (++search->pending.taken_apart % 256 == 0)
		MemoryContextReset(search->short_context);
	old = MemoryContextSwitchTo(search->short_context);
	matches = verdict == RTSCAN_ACCEPTED || values_match(search, tuple);
	if (matches)
		rtscan_check_pending_tid(search->asked.index, tuple);
	MemoryContextSwitchTo(old);
	return matches;
}

/*
 * Open the next pending list of the image: first the sealed lists, then the open list.  Returns false if none is
 * left.
 */
static bool
open_next_list(RtscanSearch *search)
{
	const RtscanImage *image = search->image;
	RtscanSearchPending *pending = &search->pending;

	for (; pending->next_list < (int) image->nentries; pending->next_list++)
		if (rtscan_entry_is_sealed_list(&image->entries[pending->next_list]))
		{
			RtscanListRef list = rtscan_entry_list(&image->entries[pending->next_list++]);

			rtscan_pending_open(pending->reader, search->asked.index, &list);
			return true;
		}
	if (pending->next_list++ > (int) image->nentries)
		return false;
	rtscan_pending_open(pending->reader, search->asked.index, &image->meta.open);
	return true;
}

/* Begin to read the pending lists.  If another process has taken them, no list is left to open. */
static void
begin_pending(RtscanSearch *search)
{
	const RtscanListRef none = {.head = InvalidBlockNumber};

	search->pending.reader = MemoryContextAlloc(search->context, sizeof(RtscanPendingReader));
	rtscan_pending_open(search->pending.reader, search->asked.index, &none);
	rtscan_key_prefilter_init(&search->pending.prefilter, search->asked.schema, search->asked.filter);
	if (rtscan_filter_is_never(search->asked.filter) || (search->asked.shared && !rtscan_take_pending(search)))
		search->pending.next_list = (int) search->image->nentries + 1;
}

IndexTuple
rtscan_next_pending(RtscanSearch *search)
{
	IndexTuple	tuple;

	if (search->pending.reader == NULL)
		begin_pending(search);
	do
	{
		tuple = rtscan_pending_next(search->pending.reader);
	} while (tuple ? !pending_row_matches(search, tuple) : open_next_list(search));
	return tuple;
}
