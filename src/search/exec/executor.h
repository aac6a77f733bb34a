/*
 * executor.h
 *		The one interface of all executors: regions in, row bits out.
 *
 * choice.h says which one is asked, round.h what is made of its bits.
 *
 * Whatever executor evaluates a region, the bits are the same.  They do not know of dead
 * rows; rtscan_bits_remove_dead() takes those out.
 *
 * The cpu executor is always there.  The others (compute, rt, rtcudb) run in the device programs;
 * they take several segments at once, leave small ones to the cpu, and can fail, in which
 * case the cpu answers too.
 */
#ifndef RTSCAN_EXECUTOR_H
#define RTSCAN_EXECUTOR_H

#include "rtscan.h"

#include "search/exec/stats.h"
#include "search/filter/segment_scan.h"
#include "settings.h"

struct RtscanRound;

/*
 * What an executor is; a new one is one of these, and a name in settings.h.  All can be asked for any segments.  The CPU
 * evaluates what an executor leaves, so it does all that others cannot.
 */
typedef struct RtscanExecutorMethods
{
	/*
	 * Is it there, for "auto" to choose?  If not, "auto" calls no other function of it; prepare() and evaluate() return the reason.
	 */
	bool		(*is_ready) (void);

	/* Can it evaluate a segment's regions, or some of them? */
	bool		(*can) (const RtscanSegmentScan *scan);

	/* So many work for it at the same time. */
	int			(*devices) (void);

	/*
	 * Can it have the columns of all segments that it can evaluate in its own memory at the same time?  Or of so many times as much, of
	 * which these are a part.
	 */
	bool		(*fits) (const RtscanSegmentScan *scans, int nscans, double times);

	/*
	 * Of others than the CPU (choice.h): nanoseconds for the segments that it can evaluate, and to add up so many columns; and it has
	 * been passed over, for that was too slow.
	 */
	double		(*estimate) (RtscanExecutor executor, const RtscanSegmentScan *scans, int nscans, int added);
	void		(*pass_over) (RtscanExecutor executor, const RtscanSegmentScan *scans, int nscans, bool adding);

	/* rtscan_test_time(); infinity: it does not */
	double		(*test_time) (const RtscanSegmentScan *scan);

	/* rtscan_time_of_adding() */
	double		(*time_of_adding) (RtscanExecutor executor, double searched, double added, double bytes);

	/* Put into its memory what it needs for regions of such columns.  Returns NULL, or why that could not be done. */
	const char *(*prepare) (RtscanExecutor executor, Relation index, const pg_uuid_t *uuid,
							RtscanSegmentScan *scans, int nscans);

	/*
	 * Evaluate what it can of a round.  Returns NULL, or why it could not; rtscan_not_yet where it would take an upload
	 * that does not pay yet, which only the executor "auto" minds.
	 */
	const char *(*evaluate) (RtscanExecutor executor, Relation index, const pg_uuid_t *uuid,
							 struct RtscanRound *round, RtscanCounters *counters);
} RtscanExecutorMethods;

extern const char rtscan_not_yet[];

/* Why the CPU answers where what an executor has said cannot be.  With rtscan.debug_compare_executors that is an error. */
extern const char *rtscan_wrong_answer(void);

extern const RtscanExecutorMethods rtscan_cpu_methods;	/* cpu.c */
extern const RtscanExecutorMethods rtscan_device_methods;	/* device.c */
extern const RtscanExecutorMethods rtscan_job_methods;	/* likewise, of the executor rtcudb */
extern const RtscanExecutorMethods *const rtscan_executors[RTSCAN_EXECUTORS];

#endif							/* RTSCAN_EXECUTOR_H */
