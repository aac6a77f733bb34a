/* SPDX-License-Identifier: PostgreSQL */
/*
 * case_arms.h
 *		Takes apart a CASE that is the argument of a sum from device aggregates (search/exec/device_aggregate.h).
 *
 * Its conditions are evaluated on entries (entries.h), and its results are sums that device aggregates have
 * (device_sums.h):
 *
 *		sum(CASE WHEN status = 'open' THEN amount ELSE 0 END)		amount may have any number of values
 */
#ifndef RTSCAN_CASE_ARMS_H
#define RTSCAN_CASE_ARMS_H

#include "rtscan.h"

#include "nodes/primnodes.h"

typedef struct RtscanCaseArm
{
	Expr	   *condition;		/* row expression; NULL: ELSE */
	Expr	   *result;			/* row expression; NULL: the result is NULL */
} RtscanCaseArm;

/*
 * Return the arms (RtscanCaseArm *) of an argument, of which ELSE is the last.  NIL if it is no CASE, if a result is
 * no sum that device aggregates have, or if all results are constants: then the whole argument is evaluated on
 * entries.  own_columns is the number of the index's columns; columns of dimensions, which follow, have no sums.
 */
extern List *rtscan_case_arms_of(const Expr *argument, int own_columns);

/* Return the conditions of arms, without ELSE. */
extern List *rtscan_conditions_of_arms(const List *arms);

/* Return the results of arms that are not NULL. */
extern List *rtscan_results_of_arms(const List *arms);

#endif							/* RTSCAN_CASE_ARMS_H */
