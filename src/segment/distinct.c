/* SPDX-License-Identifier: PostgreSQL */
/*
 * distinct.c
 *		Find the distinct values of a column.
 */
#include "segment/distinct.h"

#include "common/hashfn.h"
#include "miscadmin.h"

/* Number of slots of the hash table; at most half of them are used. */
#define SLOTS	(2 * RTSCAN_MOST_CODES)

/* A hash table of codes, with open addressing. */
typedef struct Table
{
	const RtscanColumn *type;	/* the column */
	bool		whole;			/* values are Datums, not exact integers */
	uint32		most;			/* the most values that may get codes */
	uint32		n;				/* number of values that have codes */
	uint64	   *values;			/* the values, by code */
	uint64	   *hashes;			/* hash of each value, by code */
	uint32	   *slots;			/* in each slot: code + 1; 0: the slot is free */
} Table;

static uint64
hash_value(const Table *table, uint64 value)
{
	if (table->whole)
		return hash_bytes_extended((unsigned char *) DatumGetPointer((Datum) value),
								   rtscan_value_size(table->type, (Datum) value), 0);
	value = (value ^ (value >> 32)) * UINT64CONST(0xD6E8FEB86659FD93);
	return value ^ (value >> 32);
}

static bool
looks_alike(const Table *table, uint64 a, uint64 b)
{
	Size		size;

	if (!table->whole)
		return a == b;
	size = rtscan_value_size(table->type, (Datum) a);
	return size == rtscan_value_size(table->type, (Datum) b) &&
		memcmp(DatumGetPointer((Datum) a), DatumGetPointer((Datum) b), size) == 0;
}

/* Return the code of a value, and give it the next code if it has none.  Returns table->most if no code is left. */
static uint32
find_code(Table *table, uint64 value)
{
	uint64		hash = hash_value(table, value);
	uint32		slot = hash % SLOTS;

	for (; table->slots[slot] != 0; slot = (slot + 1) % SLOTS)
	{
		uint32		code = table->slots[slot] - 1;

		if (table->hashes[code] == hash && looks_alike(table, table->values[code], value))
			return code;
	}
	if (table->n == table->most)
		return table->most;
	table->values[table->n] = value;
	table->hashes[table->n] = hash;
	table->slots[slot] = table->n + 1;
	return table->n++;
}

/* Rows that are numbered at a time. */
#define ROWS_AT_ONCE	4096

/*
 * Set the code of each row, from the values or, if there are any, from their integers.  Returns false if there are more
 * values than table->most.
 */
static bool
number_values(Table *table, const RtscanColumnRows *column, const RtscanIntegers *integers, uint32 rows, uint32 *codes)
{
	int64		room[ROWS_AT_ONCE];

	for (uint32 first = 0; first < rows; first += ROWS_AT_ONCE)
	{
		uint32		n = Min(rows - first, ROWS_AT_ONCE);
		const uint64 *values = integers ? (const uint64 *) integers->read(integers, first, n, room)
			: column->values + first;

		CHECK_FOR_INTERRUPTS();
		for (uint32 i = 0; i < n; i++)
		{
			uint32		code = rtscan_row_is_null(column, first + i) ? 0 : find_code(table, values[i]);

			if (code == table->most)
				return false;
			codes[first + i] = code;
		}
	}
	return true;
}

/* ---------------------------------------------------------------- sorting codes */

/* A value and its code. */
typedef struct Numbered
{
	int64		value;
	uint32		code;
} Numbered;

static int
compare_numbered(const void *a, const void *b)
{
	int64		left = ((const Numbered *) a)->value,
				right = ((const Numbered *) b)->value;

	return left < right ? -1 : left > right;
}

/* Sort the integers, and renumber the codes accordingly. */
static void
sort_codes(RtscanDistinct *distinct, uint32 rows)
{
	Numbered   *numbered = palloc(Max(distinct->n, 1) * sizeof(Numbered));
	uint32	   *places = palloc0(Max(distinct->n, 1) * sizeof(uint32));

	for (uint32 code = 0; code < distinct->n; code++)
		numbered[code] = (Numbered) {(int64) distinct->values[code], code};
	qsort(numbered, distinct->n, sizeof(Numbered), compare_numbered);
	for (uint32 place = 0; place < distinct->n; place++)
	{
		distinct->values[place] = (uint64) numbered[place].value;
		places[numbered[place].code] = place;
	}
	for (uint32 row = 0; row < rows; row++)
		distinct->codes[row] = places[distinct->codes[row]];
	pfree(numbered);
	pfree(places);
}

RtscanDistinct *
rtscan_find_distinct(const RtscanColumn *type, const RtscanColumnRows *column, const RtscanIntegers *integers,
					 uint32 rows)
{
	RtscanDistinct *distinct = palloc(sizeof(RtscanDistinct));
	Table		table = {
		.type = type,
		.whole = integers == NULL,
		.most = RTSCAN_MOST_CODES - (column->null_count > 0 ? 1 : 0),
		.values = palloc(RTSCAN_MOST_CODES * sizeof(uint64)),
		.hashes = palloc(RTSCAN_MOST_CODES * sizeof(uint64)),
		.slots = palloc0(SLOTS * sizeof(uint32)),
	};
	bool		few;

	distinct->codes = palloc_extended((Size) rows * sizeof(uint32), MCXT_ALLOC_HUGE);
	few = number_values(&table, column, integers, rows, distinct->codes);
	distinct->n = table.n;
	distinct->values = table.values;
	pfree(table.hashes);
	pfree(table.slots);
	if (!few)
	{
		pfree(distinct->codes);
		pfree(distinct->values);
		return NULL;
	}
	if (integers)
		sort_codes(distinct, rows);
	return distinct;
}
