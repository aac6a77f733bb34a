/* SPDX-License-Identifier: PostgreSQL */
/*
 * collection_sort.c
 *		Move the keys of collections to sorts of PostgreSQL's (tuplesort.h) if they do not fit into memory.
 */
#include "run/aggregate/collection_parts.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"

static Tuplesortstate *
begin_sort(const RtscanCollecting *collecting)
{
	return tuplesort_begin_datum(INT8OID, Int8LessOperator, InvalidOid, false, work_mem, NULL,
								 collecting->sorts_twice ? TUPLESORT_RANDOMACCESS : TUPLESORT_NONE);
}

void
rtscan_move_to_sort(RtscanCollecting *collecting, RtscanCollection *collection, MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);

	if (collection->sort == NULL)
	{
		collection->sort = begin_sort(collecting);
		collection->next = collecting->sorts;
		collecting->sorts = collection;
	}
	for (uint64 i = 0; i < collection->n; i++)
		tuplesort_putdatum(collection->sort, Int64GetDatum(collection->keys[i]), false);
	collecting->spilled += collection->n;
	collection->n = collection->nsorted = 0;
	MemoryContextSwitchTo(old);
}

void
rtscan_read_sort(RtscanCollecting *collecting, RtscanCollection *collection)
{
	if (collection->sorted)
	{
		tuplesort_rescan(collection->sort);
		return;
	}
	rtscan_move_to_sort(collecting, collection, CurrentMemoryContext);
	tuplesort_performsort(collection->sort);
	collection->sorted = true;
}

bool
rtscan_next_of_sort(RtscanCollection *collection, int64 *key)
{
	Datum		value;
	bool		isnull;

	CHECK_FOR_INTERRUPTS();
	if (!tuplesort_getdatum(collection->sort, true, false, &value, &isnull, NULL))
		return false;
	*key = DatumGetInt64(value);
	return true;
}

void
rtscan_end_collection(RtscanCollecting *collecting, RtscanCollection *collection)
{
	RtscanCollection **place = &collecting->sorts;

	if (collection->sort == NULL)
		return;
	while (*place != collection)
		place = &(*place)->next;
	*place = collection->next;
	tuplesort_end(collection->sort);
	collection->sort = NULL;
}

void
rtscan_end_collecting(RtscanCollecting *collecting)
{
	while (collecting->sorts)
		rtscan_end_collection(collecting, collecting->sorts);
	collecting->spilled = 0;
}
