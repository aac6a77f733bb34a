/*
 * plain_find_all.c
 *		Find many values of a plain column together.
 */
#include "segment/plain.h"

#include "miscadmin.h"
#include "segment/frames.h"

/* So many values are looked for together: while one's page comes from memory, the others are looked at. */
#define LOT		64

/* So often a value's place is guessed, before what is left is halved. */
#define MOST_LOOKS	8

/* One of them: ranks before low are below it, those from high on are not, and those from above on are above it. */
typedef struct Pursuit
{
	RtscanProbe probe;
	uint32		low;
	uint32		high;
	uint32		above;
	uint32		equal_end;		/* behind the last rank that is known to equal it; 0: none is */
	uint64		low_key;		/* of the rank before low, */
	uint64		high_key;		/* and of high, if that is known */
	bool		knows_high;
	int			looks;
	uint32		rank;			/* to be looked at, */
	uint32		row;			/* which this row has */
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

/* Where the value is expected if those between are evenly far from each other, or in the middle. */
static uint32
expected_place(const Pursuit *pursuit)
{
	uint32		middle = pursuit->low + (pursuit->high - pursuit->low) / 2;
	double		place;

	if (!pursuit->probe.has_key || !pursuit->knows_high || pursuit->looks > MOST_LOOKS || pursuit->high_key <= pursuit->low_key)
		return middle;
	place = (double) (pursuit->probe.key - pursuit->low_key) / (double) (pursuit->high_key - pursuit->low_key) *
		(pursuit->high - pursuit->low + 1) + pursuit->low - 1;
	return place >= pursuit->low && place < pursuit->high ? (uint32) place : middle;
}

/* Choose the next rank to look at: where the value begins, then where it ends, which is mostly soon; false if both are known. */
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
	/* On a damaged page it may be below: no matter, as long as this ends. */
	if (rtscan_key_is_before(&pursuit->probe, true, key))
		pursuit->equal_end = Max(pursuit->equal_end, rank + 1);
	else
		pursuit->above = Min(pursuit->above, rank);
}

/* Find the rows of their ranks, which mostly ascend. */
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

/* Look at the rank of each that one has been chosen of. */
static bool
look(RtscanReader *reader, int column, Pursuit **pursuits, int n)
{
	const RtscanSegmentColumn *stored = &reader->segment->columns[column];
	uint32		per_page = rtscan_per_page(3);

	for (int i = 0; i < n; i++)
		rtscan_prefetch_place(reader, &stored->header.order, pursuits[i]->rank / per_page, (Size) (pursuits[i]->rank % per_page) * 3);
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
rtscan_plain_find_all(RtscanReader *reader, int column, const RtscanProbes *probes, const RtscanCandidate *candidates, int n,
					  RtscanFoundVisitor visitor, void *arg)
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
