/* SPDX-License-Identifier: PostgreSQL */
/*
 * dimension_sort.c
 *		Sorts a dimension's rows by key.
 */
#include "run/star/dimension.h"

#include "bits/multiversion.h"
#include "miscadmin.h"
#include "row/key_order.h"

/* Number of keys that are encoded between two checks that the keys ascend. */
#define ENCODED_TOGETHER	256

static int
compare_rows(const void *a, const void *b, void *arg)
{
	RtscanDimension *dimension = (RtscanDimension *) arg;

	CHECK_FOR_INTERRUPTS();
	return DatumGetInt32(FunctionCall2Coll(&dimension->compare, dimension->plan->collation,
										   dimension->keys[*(const uint32 *) a], dimension->keys[*(const uint32 *) b]));
}

/*
 * Remove the rows whose key equals that of the row before.  Return how many rows are left.  See rtscan_sort_rows()
 * for places.
 */
static uint32
leave_out_equal(RtscanDimension *dimension, uint32 *order, uint32 *places)
{
	uint32		kept = 0;

	for (uint32 i = 0; i < dimension->n; i++)
	{
		bool		same = kept > 0 &&
			(dimension->encoded ? dimension->encoded[i] == dimension->encoded[kept - 1] :
			 compare_rows(&order[i], &order[kept - 1], dimension) == 0);

		if (places)
			places[order[i]] = same ? kept - 1 : kept;
		if (same)
		{
			if (!dimension->key_type.typbyval)
				pfree(DatumGetPointer(dimension->keys[order[i]]));
			continue;
		}
		if (dimension->encoded)
			dimension->encoded[kept] = dimension->encoded[i];
		order[kept++] = order[i];
	}
	return kept;
}

/* Store each key once, and set first_rows if any key has several rows.  Return the number of keys. */
static uint32
note_first_rows(RtscanDimension *dimension)
{
	uint32	   *firsts = palloc_extended(((Size) dimension->n + 2) * sizeof(uint32), MCXT_ALLOC_HUGE);
	uint32		kept = 0;

	for (uint32 row = 0; row < dimension->n; row++)
	{
		uint32		before = kept > 0 ? firsts[kept - 1] : 0;

		if (kept > 0 && (dimension->encoded ? dimension->encoded[row] == dimension->encoded[before] :
						 compare_rows(&row, &before, dimension) == 0))
			continue;
		firsts[kept++] = row;
	}
	firsts[kept] = dimension->n;
	firsts[kept + 1] = dimension->n + 1;
	for (uint32 key = 0; key < kept; key++)
	{
		dimension->keys[key] = dimension->keys[firsts[key]];
		if (dimension->encoded)
			dimension->encoded[key] = dimension->encoded[firsts[key]];
	}
	if (kept < dimension->n)
		dimension->first_rows = firsts;
	else
		pfree(firsts);
	return kept;
}

RTSCAN_MULTIVERSION static bool
ascend(const uint64 *keys, uint32 n)
{
	bool		ascending = true;

	for (uint32 i = 1; i < n; i++)
		ascending &= keys[i] > keys[i - 1];
	return ascending;
}

/*
 * Encode the keys if they ascend already, as in a table that is read in order of insertion.  Return false if they do
 * not ascend, are pairs, or have no 64-bit keys.
 */
static bool
encode_ascending(RtscanDimension *dimension)
{
	RtscanKeyKind kind = dimension->key_type.key_kind;
	uint64	   *encoded;

	if (kind == RTSCAN_KEY_NONE || dimension->parts[0])
		return false;
	encoded = palloc_extended(Max(dimension->n, 1) * sizeof(uint64), MCXT_ALLOC_HUGE);
	for (uint32 first = 0; first < dimension->n; first += ENCODED_TOGETHER)
	{
		uint32		n = Min(ENCODED_TOGETHER, dimension->n - first);

		rtscan_key_encode_all(kind, dimension->keys + first, n, encoded + first);
		if (!ascend(encoded + first, n) || (first > 0 && encoded[first] <= encoded[first - 1]))
		{
			pfree(encoded);
			return false;
		}
	}
	dimension->encoded = encoded;
	return true;
}

static void
sort_by_encoded(RtscanDimension *dimension, uint32 *order)
{
	RtscanKeyed *room = palloc_extended(Max(dimension->n, 1) * 2 * sizeof(RtscanKeyed), MCXT_ALLOC_HUGE);
	RtscanKeyed *keyed = room;

	for (uint32 i = 0; i < dimension->n; i++)
		keyed[i] = (RtscanKeyed) {rtscan_key_encode(dimension->key_type.key_kind, dimension->keys[i]), i};
	keyed = rtscan_sort_keyed(keyed, dimension->n, room + dimension->n);
	dimension->encoded = palloc_extended(Max(dimension->n, 1) * sizeof(uint64), MCXT_ALLOC_HUGE);
	for (uint32 i = 0; i < dimension->n; i++)
	{
		dimension->encoded[i] = keyed[i].key;
		order[i] = keyed[i].row;
	}
	pfree(room);
}

static void
reorder_datums(Datum *values, const uint32 *order, uint32 n, Datum *scratch)
{
	for (uint32 i = 0; i < n; i++)
		scratch[i] = values[order[i]];
	/* Without rows there is no array. */
	if (n > 0)
		memcpy(values, scratch, n * sizeof(Datum));
}

static void
reorder_flags(bool *flags, const uint32 *order, uint32 n, Datum *scratch)
{
	bool	   *reordered = (bool *) scratch;

	for (uint32 i = 0; i < n; i++)
		reordered[i] = flags[order[i]];
	if (n > 0)
		memcpy(flags, reordered, n * sizeof(bool));
}

/* Sort the parts, and replace the numbers of keys in the pairs by those after the sort. */
static void
sort_parts(RtscanDimension *dimension)
{
	uint32	   *places[2];

	for (int i = 0; i < 2; i++)
	{
		places[i] = palloc_extended(Max(dimension->parts[i]->n, 1) * sizeof(uint32), MCXT_ALLOC_HUGE);
		rtscan_sort_rows(dimension->parts[i], places[i]);
	}
	for (uint32 i = 0; i < dimension->n; i++)
	{
		uint64		key = DatumGetUInt64(dimension->keys[i]);

		dimension->keys[i] = UInt64GetDatum(rtscan_pair(places[0][key >> 32], places[1][(uint32) key]));
	}
	pfree(places[0]);
	pfree(places[1]);
}

/* Sort rows whose keys may not ascend. */
static void
move_rows(RtscanDimension *dimension, uint32 *places)
{
	uint32	   *order = palloc_extended(Max(dimension->n, 1) * sizeof(uint32), MCXT_ALLOC_HUGE);
	Datum	   *scratch = palloc_extended(Max(dimension->n, 1) * sizeof(Datum), MCXT_ALLOC_HUGE);

	if (dimension->parts[0])
		sort_parts(dimension);
	for (uint32 i = 0; i < dimension->n; i++)
		order[i] = i;
	if (dimension->key_type.key_kind != RTSCAN_KEY_NONE)
		sort_by_encoded(dimension, order);
	else if (dimension->n > 1)
		qsort_arg(order, dimension->n, sizeof(uint32), compare_rows, dimension);
	if (!dimension->plan->repeats)
		dimension->n = leave_out_equal(dimension, order, places);
	dimension->nrows = dimension->n;
	reorder_datums(dimension->keys, order, dimension->nrows, scratch);
	for (int i = 0; i < dimension->plan->attributes; i++)
	{
		reorder_datums(dimension->attributes[i].values, order, dimension->nrows, scratch);
		reorder_flags(dimension->attributes[i].isnull, order, dimension->nrows, scratch);
	}
	if (dimension->plan->repeats)
		dimension->n = note_first_rows(dimension);
	pfree(order);
	pfree(scratch);
}

void
rtscan_sort_rows(RtscanDimension *dimension, uint32 *places)
{
	if (dimension->encoded)
		pfree(dimension->encoded);
	dimension->encoded = NULL;
	if (!encode_ascending(dimension))
	{
		move_rows(dimension, places);
		return;
	}
	dimension->nrows = dimension->n;
	for (uint32 i = 0; places && i < dimension->n; i++)
		places[i] = i;
}
