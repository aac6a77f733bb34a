/*
 * aggregate.c
 *		What the ways to answer aggregates share.
 */
#include "run/aggregate.h"

#include "run/shared.h"

void
rtscan_add_totals(const RtscanQuestion *question, const RtscanSearch *search, uint64 heap_fetches)
{
	RtscanTotals *totals = question->shared ? &question->shared->totals : question->totals;

	if (question->shared)
		SpinLockAcquire(&question->shared->mutex);
	totals->executor = search->executor;
	totals->searched = true;
	totals->segments += search->stats.counters.segments;
	totals->chunks_skipped += search->stats.counters.chunks_skipped;
	totals->pending_rows += search->stats.pending_rows;
	totals->heap_fetches += heap_fetches;
	if (question->shared)
		SpinLockRelease(&question->shared->mutex);
}
