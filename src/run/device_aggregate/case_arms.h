/* SPDX-License-Identifier: PostgreSQL */
/*
 * case_arms.h
 *		Divides a CASE, the argument of a sum, into arms that can be computed from device aggregates
 *		(search/exec/device_aggregate.h).
 *
 * The conditions of the CASE are evaluated on entries (entries.h).  Its results are sums that device aggregates have
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
 * Return the arms (RtscanCaseArm *) of an argument; the last arm is ELSE.  NIL if the argument is no CASE, if a
 * condition cannot be evaluated outside of the CASE, or if a result is no sum that device aggregates have.  NIL, too,
 * if all results are constants: then the whole argument is evaluated on entries.
 *
 * own_columns is the number of the index's columns.  Columns of dimensions, which follow them, have no sums.
 */
extern List *rtscan_case_arms_of(const Expr *argument, int own_columns);

/* Return the conditions of arms, without ELSE. */
extern List *rtscan_conditions_of_arms(const List *arms);

/* Return the results of arms, without results that are NULL. */
extern List *rtscan_results_of_arms(const List *arms);

#endif							/* RTSCAN_CASE_ARMS_H */
