/* SPDX-License-Identifier: PostgreSQL */
/*
 * page_worker.h
 *		The background worker that looks into changed pages of tables that are asked, between their queries.
 *
 * So the first query after many updates does not have to look into all pages.  A query requests the worker of its
 * database where page memory is shared.  The worker passes over the tables that were asked in the last ASKED_FOR ms,
 * again and again, and ends when there are none.  It looks into at most rtscan.page_worker_rate pages a second, and
 * reads none from disk.
 *
 * No process waits for the worker for long: it holds a table's lock, which it takes only if it is free, for a
 * transaction of at most PART_BLOCKS blocks; it keeps no dead rows from being removed; and it leaves its database at
 * once if another process wants to drop, rename or copy it.
 */
#ifndef RTSCAN_PAGE_WORKER_H
#define RTSCAN_PAGE_WORKER_H

#include "rtscan.h"

#include "utils/relcache.h"

/* Note that a query asks a table, and request the worker if none runs. */
extern void rtscan_note_question(Relation heap);

/* Main function of the worker's process; the argument is the OID of its database. */
PGDLLEXPORT extern void rtscan_page_worker_main(Datum arg);

#endif							/* RTSCAN_PAGE_WORKER_H */
