/* SPDX-License-Identifier: PostgreSQL */
/*
 * expression_test.c
 *		Tests the values of a column by an expression.
 */
#include "run/plan/expression_test.h"

#include "executor/executor.h"
#include "utils/memutils.h"

/* Prepare the expression, in the memory context of the test. */
static void
prepare(RtscanExpressionTest *test)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(test));

	test->state = ExecInitExpr(test->expression, NULL);
	test->context = CreateStandaloneExprContext();
	MemoryContextSwitchTo(old);
}

/* RtscanValueTest.passes */
static bool
passes(RtscanValueTest *of, Datum value, bool isnull)
{
	RtscanExpressionTest *test = (RtscanExpressionTest *) of;
	Datum		result;
	bool		result_isnull;

	if (test->state == NULL)
		prepare(test);
	ResetExprContext(test->context);
	test->context->caseValue_datum = value;
	test->context->caseValue_isNull = isnull;
	result = ExecEvalExprSwitchContext(test->state, test->context, &result_isnull);
	return !result_isnull && DatumGetBool(result);
}

RtscanExpressionTest *
rtscan_describe_test(RtscanWritten *written, RtscanExpressionTest *test)
{
	test = rtscan_written_struct(written, test, sizeof(RtscanExpressionTest));
	test->test.column = rtscan_written_int(written, test->test.column);
	test->expression = rtscan_written_node(written, test->expression);
	if (written->reads)
		test->test.passes = passes;
	return test;
}
