/* SPDX-License-Identifier: PostgreSQL */
/*
 * exclusion.h
 *		Detects that a table's conditions exclude each other, whatever rows it has.
 *
 *	v < 1059 AND v BETWEEN 7336 AND 7337
 *
 * PostgreSQL detects this for partitions, but for other tables only with constraint_exclusion = on.  Otherwise it
 * expects some fraction of the rows to pass, and the first of them soon.  Then EXISTS or LIMIT reads the whole table in
 * vain.
 */
#ifndef RTSCAN_EXCLUSION_H
#define RTSCAN_EXCLUSION_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/*
 * Do a table's conditions with constants exclude each other?  Only conditions on the same column are compared, so
 * tables with one condition on each column cost nothing.  Only the first MAX_COMPARED conditions on a column are
 * compared, so thousands of them cost little.  False with constraint_exclusion = off.
 */
extern bool rtscan_excludes_all(const RelOptInfo *table);

#endif							/* RTSCAN_EXCLUSION_H */
