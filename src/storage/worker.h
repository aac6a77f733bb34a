/* SPDX-License-Identifier: PostgreSQL */
/*
 * worker.h
 *		Functions that background workers share.
 */
#ifndef RTSCAN_STORAGE_WORKER_H
#define RTSCAN_STORAGE_WORKER_H

#include "rtscan.h"

/*
 * Set PROC_IN_VACUUM for the current transaction, as VACUUM does, so that it keeps no dead rows of tables from being
 * removed.  It must not have a snapshot or an xid yet.
 */
extern void rtscan_set_in_vacuum(void);

#endif							/* RTSCAN_STORAGE_WORKER_H */
