/*
 * maintain.h
 *		Keep an index in shape: flush, merge and recycle.
 *
 * VACUUM does that, and rtscan_merge(), an SQL function.  Between vacuums insertions flush, and so
 * add segments; when these fill a tier (merge.h), a background worker merges them, if
 * rtscan.merge_worker is on and there is a free one (max_worker_processes); else they wait for
 * VACUUM.  Pages of what VACUUM merges can be used again when it is done, at the earliest: it has a worker see to that.
 */
#ifndef RTSCAN_MAINTAIN_H
#define RTSCAN_MAINTAIN_H

#include "rtscan.h"

/* Define settings. */
extern void rtscan_init_maintenance(void);

/* Flush, free what was written before and cut short, merge, recycle.  Needs the merge lock. */
extern void rtscan_maintain(Relation index);

/*
 * After a flush: have a background worker merge, if there is something to merge and nobody does.  One
 * worker at a time merges in a database, and a backend asks at most once a second.
 */
extern void rtscan_request_merge(Relation index);

/* After a vacuum: have a background worker recycle pages, if some were retired and no standby may need them. */
extern void rtscan_request_recycling(Relation index);

#endif							/* RTSCAN_MAINTAIN_H */
