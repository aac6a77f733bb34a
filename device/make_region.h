/* SPDX-License-Identifier: PostgreSQL */
/*
 * make_region.h
 *		Make the tasks that find the rows of a region, for the executors compute and rt.
 *
 * A region has one or several intervals of each of its columns.  Both executors AND the vectors of the sieve
 * first.  Then compute clears the rows that are only in the superset, and rt traces rays through the difference.
 */
#ifndef RTSCAN_DEVICE_MAKE_REGION_H
#define RTSCAN_DEVICE_MAKE_REGION_H

#include "add_tasks.h"

/* Add a region for the executor compute. */
extern DeviceResult add_compute(Work *work);

/*
 * Add a region for the executor rt, or only build its BVHs if the request is to prepare.  The columns are divided into
 * as few groups as possible, of nearly equal size, whose number is stored in *groups.  Columns are sorted, so that the
 * groups do not depend on the order in the query.
 */
extern DeviceResult add_rt(Work *work, uint32_t *groups);

#endif							/* RTSCAN_DEVICE_MAKE_REGION_H */
