/* SPDX-License-Identifier: PostgreSQL */
/*
 * dimension_rows.c
 *		Adds rows to a dimension.  Values passed by reference are copied, because the plan's next row overwrites them.
 */
#include "run/star/dimension.h"

#include "bits/key_hash.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "run/star/scan_rows.h"
#include "utils/datum.h"
#include "utils/memutils.h"

/*
 * If each key is needed only once, and there are at least this many rows, duplicates are removed before the arrays
 * grow.
 */
#define DISTINCT_CAPACITY	65536

/*
 * Number of entries in an attribute's table of values copied recently.  It saves copying a frequent value for each
 * row.
 */
#define RECENT_VALUES	256

/*
 * The most rows that are added between two checks of memory.  After a value passed by reference has been copied, memory
 * is checked before another row is added.
 */
#define ROWS_TOGETHER	64

/*
 * Initial room, in rows.  find_room() leaves the arrays at most half full, which is room for ROWS_TOGETHER more rows.
 */
#define FIRST_CAPACITY	(2 * ROWS_TOGETHER)

/* Initial room relative to the rows that the planner expects: somewhat more, so that arrays need not be copied. */
#define MORE_ROWS		1.1

/* Greatest initial room, in rows, whatever the planner expects. */
#define MOST_EXPECTED	(1 << 20)

/*
 * Maximum number of rows in memory, even if memory allows more.  Numbers of twice as many rows still fit into 32
 * bits.
 */
#define MOST_ROWS		(1 << 29)

/*
 * Number of entries in a cache from a column's Datums to their copies.  Rows with the same value mostly have the same
 * pointer.
 */
#define KNOWN_VALUES	64

/* Maximum number of attributes of rows that are added column by column. */
#define MAX_ATTRIBUTES_AT_HAND	8

/* ---------------------------------------------------------------- memory */

static void *
enlarge_array_of_rows(void *array, Size bytes)
{
	return array ? repalloc_huge(array, bytes) : MemoryContextAllocHuge(CurrentMemoryContext, bytes);
}

/*
 * Is each key needed only once?  True without attributes, unless plan->repeats.  True for semi and anti joins, too:
 * their only attribute is the mark, which is the same for all rows.
 */
static bool
needs_keys_once(const RtscanDimension *dimension)
{
	return !dimension->plan->repeats &&
		(dimension->plan->attributes == 0 || dimension->plan->type == JOIN_SEMI || dimension->plan->type == JOIN_ANTI);
}

/*
 * Return the initial room, in rows, for "expected" rows, the row of NULLs, and the rows that are added before memory
 * is checked.  Return 0 if "expected" is 0 (unknown).
 */
static uint32
initial_capacity(const RtscanDimension *dimension, double expected)
{
	double		most = needs_keys_once(dimension) ? 2 * DISTINCT_CAPACITY : MOST_EXPECTED;

	if (expected == 0)
		return 0;
	return (uint32) Min(Min(expected * MORE_ROWS, most), (double) dimension->most_bytes / dimension->row_bytes + 1) +
		ROWS_TOGETHER + 1;
}

void
rtscan_make_room_for_rows(RtscanDimension *dimension, double expected)
{
	if (dimension->capacity >= PG_INT32_MAX / 2)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many rows of a joined table have the same key"),
				 errhint("Set rtscan.enable_star to off.")));
	dimension->capacity = Max(Max(dimension->capacity * 2, FIRST_CAPACITY), initial_capacity(dimension, expected));
	dimension->keys = enlarge_array_of_rows(dimension->keys, dimension->capacity * sizeof(Datum));
	for (int i = 0; i < dimension->plan->attributes; i++)
	{
		RtscanAttribute *attribute = &dimension->attributes[i];

		attribute->values = enlarge_array_of_rows(attribute->values, dimension->capacity * sizeof(Datum));
		attribute->isnull = enlarge_array_of_rows(attribute->isnull, dimension->capacity * sizeof(bool));
	}
}

static Datum
keep_value(RtscanDimension *dimension, const RtscanColumn *type, Datum value)
{
	MemoryContext old;
	Datum		copy;

	if (type->typbyval)
		return value;
	dimension->copies++;
	old = MemoryContextSwitchTo(dimension->values);
	copy = type->typlen == -1 ? PointerGetDatum(PG_DETOAST_DATUM_COPY(value)) : datumCopy(value, false, type->typlen);
	MemoryContextSwitchTo(old);
	return copy;
}

/* Does a copy have the same bytes as "value", which is neither compressed nor external? */
static bool
is_same(Datum kept, struct varlena *value)
{
	struct varlena *other = (struct varlena *) DatumGetPointer(kept);
	Size		size = VARSIZE_ANY_EXHDR(value);

	return other && VARSIZE(other) - VARHDRSZ == size && memcmp(VARDATA(other), VARDATA_ANY(value), size) == 0;
}

/*
 * Return a copy of a value.  If the value is of variable length, and has been copied recently, return this copy again,
 * to save time and memory if many rows have the same value.  Compressed and external values are always copied.
 */
static Datum
copy_attribute(RtscanDimension *dimension, RtscanAttribute *attribute, Datum value)
{
	struct varlena *bytes = (struct varlena *) DatumGetPointer(value);
	Datum	   *recent;

	if (attribute->type.typlen != -1 || VARATT_IS_COMPRESSED(bytes) || VARATT_IS_EXTERNAL(bytes))
		return keep_value(dimension, &attribute->type, value);
	if (attribute->recent == NULL)
		attribute->recent = MemoryContextAllocZero(dimension->context, RECENT_VALUES * sizeof(Datum));
	recent = &attribute->recent[hash_bytes((unsigned char *) VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes)) %
								RECENT_VALUES];
	if (!is_same(*recent, bytes))
		*recent = keep_value(dimension, &attribute->type, value);
	return *recent;
}

/*
 * Add the key of a row, which begins at *column of the slot.  For a pair, add a key to each part.  Return the key's
 * number.
 */
static uint32
add_key(RtscanDimension *dimension, TupleTableSlot *slot, int *column)
{
	if (dimension->n + 1 >= dimension->capacity)
		rtscan_make_room_for_rows(dimension, 0);
	if (dimension->parts[0] == NULL)
		dimension->keys[dimension->n] = keep_value(dimension, &dimension->key_type, slot->tts_values[(*column)++]);
	else
	{
		uint32		first = add_key(dimension->parts[0], slot, column);
		uint32		second = add_key(dimension->parts[1], slot, column);

		dimension->keys[dimension->n] = UInt64GetDatum(rtscan_pair(first, second));
	}
	return dimension->n++;
}

static void
add_slot(RtscanDimension *dimension, TupleTableSlot *slot)
{
	int			column = 0;
	uint32		row = add_key(dimension, slot, &column);

	for (int i = 0; i < dimension->plan->attributes; i++, column++)
	{
		RtscanAttribute *attribute = &dimension->attributes[i];

		attribute->isnull[row] = slot->tts_isnull[column];
		attribute->values[row] = attribute->isnull[row] ? (Datum) 0 :
			copy_attribute(dimension, attribute, slot->tts_values[column]);
	}
}

/*
 * Make room for at least ROWS_TOGETHER rows.  If each key is needed only once, and there are at least
 * DISTINCT_CAPACITY rows, remove duplicates first.  If the arrays are still at least half full, enlarge them.
 */
static void
find_room(RtscanDimension *dimension)
{
	if (needs_keys_once(dimension) && dimension->n >= DISTINCT_CAPACITY)
		rtscan_sort_rows(dimension, NULL);
	if (dimension->n >= dimension->capacity / 2)
		rtscan_make_room_for_rows(dimension, 0);
}

bool
rtscan_dimension_takes_more(const RtscanDimension *dimension, int shares)
{
	return dimension->n >= (uint32) MOST_ROWS / shares ||
		dimension->n * dimension->row_bytes + MemoryContextMemAllocated(dimension->values, false) >=
		dimension->most_bytes / shares;
}

bool
rtscan_dimension_is_full(RtscanDimension *dimension)
{
	if (!rtscan_dimension_takes_more(dimension, 1))
		return false;
	if (needs_keys_once(dimension))
		rtscan_sort_rows(dimension, NULL);
	return rtscan_dimension_takes_more(dimension, 2);
}

void
rtscan_take_row(RtscanDimension *dimension, TupleTableSlot *slot)
{
	if (dimension->n + 1 >= dimension->capacity)
		find_room(dimension);
	slot_getallattrs(slot);
	add_slot(dimension, slot);
}

/* ---------------------------------------------------------------- rows by column */

typedef struct KnownValue
{
	Datum		value;
	Datum		copy;
} KnownValue;

/* The next rows of the plan by column: the key, then attributes (scan_rows.h). */
typedef struct ColumnsAtHand
{
	uint32		n;				/* number of rows */
	const uint16 *places;		/* places of the rows in the arrays of columns */
	const Datum *values[1 + MAX_ATTRIBUTES_AT_HAND];
	const bool *isnull[1 + MAX_ATTRIBUTES_AT_HAND];
	KnownValue	known[MAX_ATTRIBUTES_AT_HAND][KNOWN_VALUES];	/* by attribute: a cache from Datums to copies */
} ColumnsAtHand;

static bool
has_columns_at_hand(const RtscanDimension *dimension)
{
	return dimension->parts[0] == NULL && dimension->plan->attributes <= MAX_ATTRIBUTES_AT_HAND &&
		rtscan_has_rows_at_hand(dimension->state);
}

static bool
next_columns(const RtscanDimension *dimension, ColumnsAtHand *columns)
{
	MemoryContext old = MemoryContextSwitchTo(dimension->state->state->es_query_cxt);

	columns->n = rtscan_rows_at_hand(dimension->state, &columns->places);
	MemoryContextSwitchTo(old);
	for (int i = 0; columns->n > 0 && i <= dimension->plan->attributes; i++)
		rtscan_column_at_hand(dimension->state, i, &columns->values[i], &columns->isnull[i]);
	memset(columns->known, 0, dimension->plan->attributes * sizeof(columns->known[0]));
	return columns->n > 0;
}

static Datum
copy_at_hand(RtscanDimension *dimension, RtscanAttribute *attribute, Datum value, KnownValue *known)
{
	KnownValue *one = &known[rtscan_hash_key(value) % KNOWN_VALUES];

	if (one->value != value)
		*one = (KnownValue) {value, copy_attribute(dimension, attribute, value)};
	return one->copy;
}

/* Add the keys of n rows.  If keys are passed by reference, n must be at most 1. */
static void
add_keys_at_hand(RtscanDimension *dimension, const Datum *values, const uint16 *places, uint32 n)
{
	Datum	   *keys = dimension->keys + dimension->n;

	if (dimension->key_type.typbyval)
		for (uint32 i = 0; i < n; i++)
			keys[i] = values[places[i]];
	else if (n > 0)
		keys[0] = keep_value(dimension, &dimension->key_type, values[places[0]]);
}

/*
 * Add an attribute of n rows, but stop after a value that had to be copied.  Return for how many rows it has been
 * added.
 */
static uint32
add_attribute(RtscanDimension *dimension, ColumnsAtHand *columns, int number, const uint16 *places, uint32 n)
{
	RtscanAttribute *attribute = &dimension->attributes[number];
	const Datum *at_hand = columns->values[number + 1];
	const bool *null_at_hand = columns->isnull[number + 1];
	Datum	   *values = attribute->values + dimension->n;
	bool	   *isnull = attribute->isnull + dimension->n;
	uint64		copies = dimension->copies;

	for (uint32 i = 0; i < n; i++)
		isnull[i] = null_at_hand[places[i]];
	if (attribute->type.typbyval)
		for (uint32 i = 0; i < n; i++)
			values[i] = null_at_hand[places[i]] ? (Datum) 0 : at_hand[places[i]];
	else
		for (uint32 i = 0; i < n; i++)
		{
			values[i] = isnull[i] ? (Datum) 0 :
				copy_at_hand(dimension, attribute, at_hand[places[i]], columns->known[number]);
			if (dimension->copies > copies)
				return i + 1;
		}
	return n;
}

/*
 * Add "rows" rows from row "first" on, for which there is room.  Skip rows whose key is NULL, and stop after a value
 * that had to be copied.  Return how many rows have been added or skipped.
 */
static uint32
add_columns(RtscanDimension *dimension, ColumnsAtHand *columns, uint32 first, uint32 rows)
{
	uint16		places[ROWS_TOGETHER];
	uint16		numbers[ROWS_TOGETHER];
	uint32		n = 0,
				added;

	for (uint32 i = 0; i < rows; i++)
	{
		places[n] = columns->places[first + i];
		numbers[n] = i;
		n += !columns->isnull[0][places[n]];
	}
	add_keys_at_hand(dimension, columns->values[0], places, n);
	added = n;
	for (int i = 0; i < dimension->plan->attributes; i++)
		added = add_attribute(dimension, columns, i, places, added);
	dimension->n += added;
	return added < n ? numbers[added] : rows;
}

/* Add the rows in *columns as long as there is memory.  Return how many rows have been added or skipped. */
static uint32
take_columns(RtscanDimension *dimension, ColumnsAtHand *columns)
{
	uint32		together = dimension->key_type.typbyval ? ROWS_TOGETHER : 1,
				taken = 0;

	while (taken < columns->n)
	{
		uint32		rows = Min(together, columns->n - taken);

		if (rtscan_dimension_is_full(dimension))
			return taken;
		if (dimension->n + rows >= dimension->capacity)
			find_room(dimension);
		taken += add_columns(dimension, columns, taken, rows);
	}
	return columns->n;
}

void
rtscan_take_rows_at_hand(RtscanDimension *dimension)
{
	ColumnsAtHand columns;

	while (has_columns_at_hand(dimension) && next_columns(dimension, &columns))
	{
		uint32		taken = take_columns(dimension, &columns);

		rtscan_pass_rows(dimension->state, taken);
		if (taken < columns.n)
			return;
	}
}
