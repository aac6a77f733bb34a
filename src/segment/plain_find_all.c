/* SPDX-License-Identifier: PostgreSQL */
/*
 * plain_find_all.c
 *		Look up many values of a plain column together.
 */
#include "segment/plain.h"

#include "miscadmin.h"
#include "segment/frames.h"

/* Number of values that are looked up together.  While one search waits for memory, the other searches go on. */
#define LOT		64

/* The search for a value falls back from interpolation to halving after more than this many steps. */
#define MOST_LOOKS	8

/*
 * The search for one value.  Ranks before "low" have smaller values.  Ranks from "high" on have the value or greater
 * values.  Ranks from "above" on have greater values.
 */
typedef struct Pursuit
{
	RtscanProbe probe;			/* the value */
	uint32		low;			/* the value's first rank is not before this rank */
	uint32		high;			/* the value's first rank is not behind this rank */
	uint32		above;			/* the first rank that is known to have a greater value */
	uint32		equal_end;		/* rank behind the last rank that is known to have the value; 0: no such rank is
								 * known */
	uint64		low_key;		/* key of the rank before "low" */
	uint64		high_key;		/* key of the rank "high", if knows_high is true */
	bool		knows_high;		/* high_key is known */
	int			looks;			/* number of ranks chosen so far */
	uint32		rank;			/* rank chosen last, whose value is read next */
	uint32		row;			/* row at the rank "rank" */
} Pursuit;

static Pursuit
begin_pursuit(const RtscanProbe *probe, const RtscanCandidate *candidate)
{
	bool		equal = candidate->equal;

	return (Pursuit) {
		.probe = *probe,
		.low = equal ? candidate->first : candidate->first + 1,
		.high = equal ? candidate->first : candidate->end,
		.above = candidate->end,
		.equal_end = equal ? candidate->first + 1 : 0,
		.low_key = candidate->key,
		.high_key = candidate->next_key,
		.knows_high = candidate->has_next,
	};
}

/*
 * Return the rank where the value would be if keys were evenly distributed between "low" and "high".  Returns the
 * middle rank if a key is not known, if the result would be elsewhere (on damaged pages), or after more than
 * MOST_LOOKS steps.
 */
static uint32
expected_place(const Pursuit *pursuit)
{
	uint32		middle = pursuit->low + (pursuit->high - pursuit->low) / 2;
	double		place;

	if (!pursuit->probe.has_key || !pursuit->knows_high || pursuit->looks > MOST_LOOKS ||
		pursuit->high_key <= pursuit->low_key)
		return middle;
	place = (double) (pursuit->probe.key - pursuit->low_key) / (double) (pursuit->high_key - pursuit->low_key) *
		(pursuit->high - pursuit->low + 1) + pursuit->low - 1;
	return place >= pursuit->low && place < pursuit->high ? (uint32) place : middle;
}

/*
 * Choose the rank whose value is read next.  First find where the value begins, then where it ends, which is mostly
 * near the beginning.  Returns false if both ends are known.
 */
static bool
choose_rank(Pursuit *pursuit)
{
	uint32		behind = pursuit->equal_end;

	if (pursuit->low < pursuit->high)
		pursuit->rank = expected_place(pursuit);
	else if (behind > 0 && behind < pursuit->above)
		pursuit->rank = Min(behind + (behind - pursuit->high - 1), behind + (pursuit->above - behind) / 2);
	else
		return false;
	pursuit->looks++;
	return true;
}

/* Narrow the search by the key at the chosen rank. */
static void
note_key(Pursuit *pursuit, uint64 key)
{
	uint32		rank = pursuit->rank;

	if (rank < pursuit->high && rtscan_key_is_before(&pursuit->probe, false, key))
	{
		pursuit->low = rank + 1;
		pursuit->low_key = key;
		return;
	}
	if (rank < pursuit->high)
	{
		pursuit->high = rank;
		pursuit->high_key = key;
		pursuit->knows_high = true;
	}
	/* On a damaged page the key may be less than the value.  That does no harm, since the search still ends. */
	if (rtscan_key_is_before(&pursuit->probe, true, key))
		pursuit->equal_end = Max(pursuit->equal_end, rank + 1);
	else
		pursuit->above = Min(pursuit->above, rank);
}

/* Read the rows at the chosen ranks.  The ranks mostly ascend, so that few pages of the order are read twice. */
static bool
look_rows_up(RtscanReader *reader, const RtscanSegmentColumn *stored, Pursuit **pursuits, int n)
{
	const RtscanArea *order = &stored->header.order;
	uint32		per_page = rtscan_per_page(3);

	for (int i = 0; i < n;)
	{
		uint32		page = pursuits[i]->rank / per_page;
		Buffer		buffer;
		const char *payload = rtscan_get_page(reader, order, page, &buffer, NULL);
		bool		sane = true;

		if (payload == NULL)
			return false;
		for (; i < n && pursuits[i]->rank / per_page == page; i++)
		{
			pursuits[i]->row = rtscan_load_packed(payload + (Size) (pursuits[i]->rank % per_page) * 3, 3);
			sane &= pursuits[i]->row < reader->segment->header.rows;
		}
		rtscan_release(reader, buffer);
		if (!sane)
		{
			rtscan_fault(reader, order, page, "A row number is too large.");
			return false;
		}
	}
	return true;
}

/* Read the values at the chosen ranks, and narrow the searches. */
static bool
look(RtscanReader *reader, int column, Pursuit **pursuits, int n)
{
	const RtscanSegmentColumn *stored = &reader->segment->columns[column];
	uint32		per_page = rtscan_per_page(3);

	for (int i = 0; i < n; i++)
		rtscan_prefetch_place(reader, &stored->header.order, pursuits[i]->rank / per_page,
							  (Size) (pursuits[i]->rank % per_page) * 3);
	if (!look_rows_up(reader, stored, pursuits, n))
		return false;
	for (int i = 0; i < n; i++)
		rtscan_prefetch_frame_row(reader, &stored->values.frames, pursuits[i]->row);
	for (int i = 0; i < n; i++)
	{
		int64		exact;

		if (!rtscan_get_frame_row(reader, &stored->values.frames, pursuits[i]->row, &exact))
			return false;
		note_key(pursuits[i], rtscan_plain_key(pursuits[i]->probe.column, stored->values.header.exact, exact));
	}
	return true;
}

/* Search until the first and last ranks of all values are known. */
static bool
pursue(RtscanReader *reader, int column, Pursuit *pursuits, int n)
{
	Pursuit    *looking[LOT];
	int			left;

	do
	{
		left = 0;
		for (int i = 0; i < n; i++)
			if (choose_rank(&pursuits[i]))
				looking[left++] = &pursuits[i];
		if (!look(reader, column, looking, left))
			return false;
	} while (left > 0);
	return true;
}

bool
rtscan_plain_find_all(RtscanReader *reader, int column, const RtscanProbes *probes, const RtscanCandidate *candidates,
					  int n, RtscanFoundVisitor visitor, void *arg)
{
	Pursuit		pursuits[LOT];

	for (int first = 0; first < n; first += LOT)
	{
		int			now = Min(n - first, LOT);

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < now; i++)
		{
			RtscanProbe probe = rtscan_probe_of(probes, candidates[first + i].probe);

			pursuits[i] = begin_pursuit(&probe, &candidates[first + i]);
		}
		if (!pursue(reader, column, pursuits, now))
			return false;
		for (int i = 0; i < now; i++)
			if (pursuits[i].equal_end > 0)
				visitor(&(RtscanFound) {
					.value = candidates[first + i].probe,
					.place = {pursuits[i].high, pursuits[i].high},
					.behind = {pursuits[i].equal_end, pursuits[i].equal_end},
				}, 1, arg);
	}
	return true;
}
