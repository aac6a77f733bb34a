/*
 * maintain.h
 *		Keep an index in shape: flush, merge and recycle.
 *
 * VACUUM does that, rtscan_merge(), an SQL function, and between vacuums a background worker (maintain/worker.h).
 */
#ifndef RTSCAN_MAINTAIN_H
#define RTSCAN_MAINTAIN_H

#include "rtscan.h"

/* Flush, free what was written before and cut short, merge, recycle.  Needs the merge lock. */
extern void rtscan_maintain(Relation index);

#endif							/* RTSCAN_MAINTAIN_H */
