/* SPDX-License-Identifier: PostgreSQL */
/*
 * exclusion.h
 *		Detects that a table's conditions exclude each other, whatever rows it has.
 *
 *	v < 1059 AND v BETWEEN 7336 AND 7337
 *
 * PostgreSQL checks that for partitions; for other tables it does so only with constraint_exclusion = on.  Otherwise it
 * expects some fraction of the rows to pass, and the first of them soon, so that EXISTS or LIMIT reads the whole table
 * in vain.
 */
#ifndef RTSCAN_EXCLUSION_H
#define RTSCAN_EXCLUSION_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/*
 * Do conditions with constants exclude each other?  Only conditions on the same column are compared, so that tables
 * with one condition on each column cost nothing; and only the first few on a column, so that very many cost little.
 * Returns false with constraint_exclusion = off.
 */
extern bool rtscan_excludes_all(const RelOptInfo *table);

#endif							/* RTSCAN_EXCLUSION_H */
