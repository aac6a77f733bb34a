/*
 * by_bits.h
 *		Aggregates from bits of rows: counts, and minima and maxima of key columns.
 */
#ifndef RTSCAN_BY_BITS_H
#define RTSCAN_BY_BITS_H

#include "rtscan.h"

#include "run/answer/question.h"

/*
 * Answer with the aggregates of the question's node; memory is taken from the current context.  If evaluating arguments of FILTERs may fail, that is
 * done only if there is a row to evaluate them for: PostgreSQL would not evaluate FILTER otherwise.
 */
extern void rtscan_answer_by_bits(const RtscanQuestion *question, bool filters_may_fail, Datum *values, bool *isnull);

#endif							/* RTSCAN_BY_BITS_H */
