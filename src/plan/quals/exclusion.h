/*
 * exclusion.h
 *		Do a table's conditions exclude each other, whatever rows it has?
 *
 *	v < 1059 AND v BETWEEN 7336 AND 7337
 *
 * PostgreSQL asks that of partitions, of other tables only with constraint_exclusion = on, and expects some part of all rows to pass: the first
 * soon, so that EXISTS or LIMIT reads all of the table in vain.
 */
#ifndef RTSCAN_EXCLUSION_H
#define RTSCAN_EXCLUSION_H

#include "rtscan.h"

#include "nodes/pathnodes.h"

/*
 * Do conditions with constants exclude each other?  Conditions on the same column are compared, so that tables with one condition a column cost
 * nothing, and only the first ones of a column, so that very many cost little.  False with constraint_exclusion = off.
 */
extern bool rtscan_excludes_all(const RelOptInfo *table);

#endif							/* RTSCAN_EXCLUSION_H */
