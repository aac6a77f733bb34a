/* SPDX-License-Identifier: PostgreSQL */
/*
 * asked_tables.c
 *		The tables that queries have asked lately, and the databases whose page workers run, in shared memory.
 */
#include "search/visible/asked_tables.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

void
rtscan_init_asked_tables(RtscanAskedTables *asked)
{
	for (int i = 0; i < RTSCAN_ASKED_TABLES; i++)
	{
		pg_atomic_init_u64(&asked->tables[i].table, 0);
		pg_atomic_init_u64(&asked->tables[i].last, 0);
	}
	for (int i = 0; i < RTSCAN_SERVED_DATABASES; i++)
		pg_atomic_init_u32(&asked->served[i], InvalidOid);
}

/* ---------------------------------------------------------------- tables */

static uint64
key_of(Oid table)
{
	return (uint64) MyDatabaseId << 32 | table;
}

/* Return the note of a table, or, if there is none, the oldest note. */
static RtscanAskedTable *
find_note(RtscanAskedTables *asked, uint64 key)
{
	RtscanAskedTable *oldest = &asked->tables[0];

	for (int i = 0; i < RTSCAN_ASKED_TABLES; i++)
	{
		RtscanAskedTable *note = &asked->tables[i];

		if (pg_atomic_read_u64(&note->table) == key)
			return note;
		if (pg_atomic_read_u64(&note->last) < pg_atomic_read_u64(&oldest->last))
			oldest = note;
	}
	return oldest;
}

void
rtscan_note_asked_table(RtscanAskedTables *asked, Oid table, TimestampTz now)
{
	RtscanAskedTable *note = find_note(asked, key_of(table));

	pg_atomic_write_u64(&note->table, key_of(table));
	pg_atomic_write_u64(&note->last, (uint64) now);
}

List *
rtscan_asked_tables_since(RtscanAskedTables *asked, TimestampTz now, int milliseconds)
{
	List	   *tables = NIL;

	for (int i = 0; i < RTSCAN_ASKED_TABLES; i++)
	{
		uint64		key = pg_atomic_read_u64(&asked->tables[i].table);
		TimestampTz last = (TimestampTz) pg_atomic_read_u64(&asked->tables[i].last);

		if (key >> 32 == MyDatabaseId && !TimestampDifferenceExceeds(last, now, milliseconds))
			tables = list_append_unique_oid(tables, (Oid) key);
	}
	return tables;
}

/* ---------------------------------------------------------------- databases */

/* Return the first place of the current database, or -1. */
static int
place_of_database(RtscanAskedTables *asked)
{
	for (int i = 0; i < RTSCAN_SERVED_DATABASES; i++)
		if (pg_atomic_read_u32(&asked->served[i]) == MyDatabaseId)
			return i;
	return -1;
}

/*
 * Return the number of databases that can have a page worker at a time: others need background workers, too, which the
 * page workers keep for a minute after the last question.
 */
static int
served_databases(void)
{
	return Max(1, Min(RTSCAN_SERVED_DATABASES, max_worker_processes / 4));
}

bool
rtscan_lacks_worker(RtscanAskedTables *asked)
{
	bool		has_room = false;

	for (int i = 0; i < served_databases(); i++)
		has_room |= pg_atomic_read_u32(&asked->served[i]) == InvalidOid;
	return has_room && place_of_database(asked) < 0;
}

/* Take a free place for the current database; returns -1 if there is none. */
static int
take_place(RtscanAskedTables *asked)
{
	for (int i = 0; i < served_databases(); i++)
	{
		uint32		none = InvalidOid;

		if (pg_atomic_compare_exchange_u32(&asked->served[i], &none, MyDatabaseId))
			return i;
	}
	return -1;
}

/* Two workers may take a place at the same time: the one with the first place stays. */
bool
rtscan_serve_database(RtscanAskedTables *asked)
{
	int			place = place_of_database(asked) < 0 ? take_place(asked) : -1;

	if (place < 0)
		return false;
	if (place_of_database(asked) == place)
		return true;
	pg_atomic_write_u32(&asked->served[place], InvalidOid);
	return false;
}

void
rtscan_leave_database(RtscanAskedTables *asked)
{
	int			place = place_of_database(asked);

	if (place >= 0)
		pg_atomic_write_u32(&asked->served[place], InvalidOid);
}
