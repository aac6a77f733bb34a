/* SPDX-License-Identifier: PostgreSQL */
/*
 * worker.h
 *		Functions that background workers share.
 */
#ifndef RTSCAN_STORAGE_WORKER_H
#define RTSCAN_STORAGE_WORKER_H

#include "rtscan.h"

#include "storage/lockdefs.h"
#include "utils/relcache.h"

/* Override settings of the database, as autovacuum does.  Above all, no timeout may limit the time of the work. */
extern void rtscan_configure_worker(void);

/* Open a relation without waiting for a lock.  Returns NULL if the relation is gone, or locked by another process. */
extern Relation rtscan_open_if_free(Oid relid, LOCKMODE mode);

/*
 * Set PROC_IN_VACUUM for the current transaction, as VACUUM does, so that it keeps no dead rows of tables from being
 * removed.  It must not have a snapshot or an xid yet.
 */
extern void rtscan_set_in_vacuum(void);

#endif							/* RTSCAN_STORAGE_WORKER_H */
