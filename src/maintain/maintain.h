/* SPDX-License-Identifier: PostgreSQL */
/*
 * maintain.h
 *		Maintain an index: flush, merge and recycle.
 *
 * VACUUM and the SQL function rtscan_merge() call rtscan_maintain().  Between vacuums, a background worker does the
 * same work in pieces (maintain/worker.h).
 */
#ifndef RTSCAN_MAINTAIN_H
#define RTSCAN_MAINTAIN_H

#include "rtscan.h"

/* Flush all lists, free the pages that interrupted attempts have left, merge, and recycle.  Needs the merge lock. */
extern void rtscan_maintain(Relation index);

#endif							/* RTSCAN_MAINTAIN_H */
