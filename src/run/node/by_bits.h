/*
 * by_bits.h
 *		Aggregates from bits of rows: counts, and minima and maxima of key columns.
 */
#ifndef RTSCAN_BY_BITS_H
#define RTSCAN_BY_BITS_H

#include "rtscan.h"

#include "run/node/node.h"
#include "run/plan/node_plan.h"

/*
 * How FILTERs are made.  Where preparing them may raise an error, that is run a subplan, it is done
 * only if there is a row to ask them of: nobody would evaluate what is in FILTER otherwise.
 */
typedef struct RtscanBitsFilters
{
	bool		may_fail;
	void		(*prepare) (void *arg);
	void		(*make) (const RtscanPlanFilter *plan, RtscanFilter *filter, void *arg);
	void	   *arg;
} RtscanBitsFilters;

/* Some aggregates (RtscanPlanAggregate *); memory is taken from the current context. */
extern void rtscan_answer_by_bits(List *aggregates, const RtscanQuestion *question, const RtscanBitsFilters *filters,
								  Datum *values, bool *isnull);

#endif							/* RTSCAN_BY_BITS_H */
