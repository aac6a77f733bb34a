/* SPDX-License-Identifier: PostgreSQL */
/*
 * maintain.h
 *		Maintain an index: flush, merge and recycle.
 *
 * VACUUM does this, the SQL function rtscan_merge(), and between vacuums a background worker
 * (maintain/worker.h).
 */
#ifndef RTSCAN_MAINTAIN_H
#define RTSCAN_MAINTAIN_H

#include "rtscan.h"

/* Flush all lists, free what interrupted attempts have left, merge, and recycle.  Needs the merge lock. */
extern void rtscan_maintain(Relation index);

#endif							/* RTSCAN_MAINTAIN_H */
