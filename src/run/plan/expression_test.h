/* SPDX-License-Identifier: PostgreSQL */
/*
 * expression_test.h
 *		Tests the values of a column (search/filter/value_test.h) by an expression.
 */
#ifndef RTSCAN_EXPRESSION_TEST_H
#define RTSCAN_EXPRESSION_TEST_H

#include "rtscan.h"

#include "nodes/execnodes.h"
#include "run/plan/written.h"
#include "search/filter/value_test.h"

/* A test by an expression. */
typedef struct RtscanExpressionTest
{
	RtscanValueTest test;		/* its interface */
	Expr	   *expression;		/* a boolean; a CaseTestExpr stands for the column; it has no other column, and no
								 * parameter */
	ExprState  *state;			/* the expression, prepared; NULL before the first test */
	ExprContext *context;		/* for its evaluation; has the placeholder's value */
} RtscanExpressionTest;

/* Describe a test as part of a plan (written.h).  A test that is read can be made. */
extern RtscanExpressionTest *rtscan_describe_test(RtscanWritten *written, RtscanExpressionTest *test);

#endif							/* RTSCAN_EXPRESSION_TEST_H */
