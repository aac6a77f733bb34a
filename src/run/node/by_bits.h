/* SPDX-License-Identifier: PostgreSQL */
/*
 * by_bits.h
 *		Computes aggregates from bits of rows: counts, and minima and maxima of key columns.
 */
#ifndef RTSCAN_BY_BITS_H
#define RTSCAN_BY_BITS_H

#include "rtscan.h"

#include "run/answer/question.h"

/*
 * Compute the aggregates of the question's node, in the current memory context, and store them in values and isnull.
 * filters_may_raise tells whether evaluating the arguments of FILTERs may raise an error.  If so, the arguments are
 * evaluated only if a row matches, because PostgreSQL evaluates a FILTER only when there is a row.
 */
extern void rtscan_answer_by_bits(const RtscanQuestion *question, bool filters_may_raise, Datum *values, bool *isnull);

#endif							/* RTSCAN_BY_BITS_H */
