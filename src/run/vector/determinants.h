/* SPDX-License-Identifier: PostgreSQL */
/*
 * determinants.h
 *		Find what determines the value of an expression: columns, or integers that are calculated from them.
 *
 * Rows in which all determinants of a key have the same values are in the same group.  So a key need not be evaluated
 * for each row, and determinants have fewer and denser values than the columns of the key:
 *
 *		date_trunc('day', t)			the number of the day, in local time
 *		to_char(t, 'YYYY-MM')			the same
 *		extract(hour FROM t)			itself
 *		left(status, 2)					status
 */
#ifndef RTSCAN_DETERMINANTS_H
#define RTSCAN_DETERMINANTS_H

#include "rtscan.h"

#include "run/star/composite.h"
#include "run/vector/arithmetic.h"

/* A determinant. */
typedef struct RtscanDeterminant
{
	RtscanArithmetic *arithmetic;	/* its integers; NULL: it is a column without integers, or a composite */
	int			column;			/* number of the column; -1: it is no column */
	RtscanComposite *composite; /* the composite of attributes; NULL: it is none */
} RtscanDeterminant;

/*
 * Add the determinants of a row expression, which is not volatile, to a list of RtscanDeterminant *, without
 * duplicates.  *known is that of rtscan_arithmetic().
 */
extern List *rtscan_add_determinants(List *determinants, const Expr *row_expression, List **known);

#endif							/* RTSCAN_DETERMINANTS_H */
