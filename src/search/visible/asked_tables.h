/* SPDX-License-Identifier: PostgreSQL */
/*
 * asked_tables.h
 *		The tables that queries have asked lately, and the databases whose page workers run, in shared memory.
 *
 * Queries note their tables, and the page worker of a database (page_worker.h) reads which ones were noted.  No process
 * waits: a note that is lost in a race is repeated by the next query.
 */
#ifndef RTSCAN_ASKED_TABLES_H
#define RTSCAN_ASKED_TABLES_H

#include "rtscan.h"

#include "datatype/timestamp.h"
#include "nodes/pg_list.h"
#include "port/atomics.h"

/* Number of tables that are noted; another one replaces the one that was asked the longest time ago. */
#define RTSCAN_ASKED_TABLES		64

/* The most databases that have a page worker at a time; see served_databases(). */
#define RTSCAN_SERVED_DATABASES	16

/* A table that was asked. */
typedef struct RtscanAskedTable
{
	pg_atomic_uint64 table;		/* OID of its database, times 2^32, plus its OID; 0: none */
	pg_atomic_uint64 last;		/* time of the last question */
} RtscanAskedTable;

typedef struct RtscanAskedTables
{
	RtscanAskedTable tables[RTSCAN_ASKED_TABLES];
	pg_atomic_uint32 served[RTSCAN_SERVED_DATABASES];	/* OIDs of databases whose page workers run; InvalidOid: none */
} RtscanAskedTables;

/* Make the notes empty. */
extern void rtscan_init_asked_tables(RtscanAskedTables *asked);

/* Note that a table of the current database is asked now. */
extern void rtscan_note_asked_table(RtscanAskedTables *asked, Oid table, TimestampTz now);

/* List the tables of the current database that were asked in the last "milliseconds", in the current memory context. */
extern List *rtscan_asked_tables_since(RtscanAskedTables *asked, TimestampTz now, int milliseconds);

/* Can the current database have a page worker, and has it none? */
extern bool rtscan_lacks_worker(RtscanAskedTables *asked);

/* Claim the current database for this worker; returns false if another one has it, or there are too many. */
extern bool rtscan_serve_database(RtscanAskedTables *asked);

/* Give the current database up. */
extern void rtscan_leave_database(RtscanAskedTables *asked);

#endif							/* RTSCAN_ASKED_TABLES_H */
