/* SPDX-License-Identifier: PostgreSQL */
/*
 * comparison_plan.c
 *		Writes and reads conditions, and comparisons, as parts of a plan.
 */
#include "run/plan/comparison_plan.h"

#include "run/plan/expression_test.h"

void
rtscan_describe_asked(RtscanWritten *written, RtscanAsked *asked)
{
	asked->kind = rtscan_written_int(written, asked->kind);
	asked->column = rtscan_written_int(written, asked->column);
	asked->array = rtscan_written_int(written, asked->array);
	asked->strategy = rtscan_written_int(written, asked->strategy);
	asked->subtype = rtscan_written_int(written, asked->subtype);
	asked->collation = rtscan_written_int(written, asked->collation);
	asked->function = rtscan_written_int(written, asked->function);
	asked->family = rtscan_written_int(written, asked->family);
	asked->lefttype = rtscan_written_int(written, asked->lefttype);
}

static void
describe_term(RtscanWritten *written, RtscanTerm *term)
{
	term->kind = rtscan_written_int(written, term->kind);
	term->number = rtscan_written_int(written, term->number);
	term->place = rtscan_written_int(written, term->place);
	term->operation = rtscan_written_int(written, term->operation);
	term->left = rtscan_written_int(written, term->left);
	term->right = rtscan_written_int(written, term->right);
}

RtscanComparison *
rtscan_describe_comparison(RtscanWritten *written, RtscanComparison *comparison)
{
	comparison = rtscan_written_struct(written, comparison, sizeof(RtscanComparison));
	comparison->strategy = rtscan_written_int(written, comparison->strategy);
	comparison->left = rtscan_written_int(written, comparison->left);
	comparison->right = rtscan_written_int(written, comparison->right);
	comparison->n = rtscan_written_int(written, comparison->n);
	comparison->terms = rtscan_written_struct(written, comparison->terms, Max(comparison->n, 1) * sizeof(RtscanTerm));
	for (int i = 0; i < comparison->n; i++)
		describe_term(written, &comparison->terms[i]);
	comparison->nranges = rtscan_written_int(written, comparison->nranges);
	comparison->ranges = rtscan_written_struct(written, comparison->ranges,
											   Max(comparison->nranges, 1) * sizeof(RtscanAskedRange));
	for (int i = 0; i < comparison->nranges; i++)
	{
		rtscan_describe_asked(written, &comparison->ranges[i].not_less);
		rtscan_describe_asked(written, &comparison->ranges[i].not_more);
	}
	if (rtscan_written_int(written, comparison->test != NULL))
		comparison->test = &rtscan_describe_test(written, (RtscanExpressionTest *) comparison->test)->test;
	return comparison;
}
