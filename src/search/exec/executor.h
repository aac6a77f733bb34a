/* SPDX-License-Identifier: PostgreSQL */
/*
 * executor.h
 *		The one interface of all executors: regions in, row bits out.
 *
 * choice.h chooses the executor, and round.h combines the bits that the executor finds.
 *
 * All executors find the same bits for a region.  The bits of dead rows are included; rtscan_bits_remove_dead() clears
 * them.
 *
 * The executor cpu is always available.  The executors compute, rt and rtcudb run in the device programs: they evaluate
 * several segments at once, and leave small segments to the cpu.  If they fail, the cpu evaluates their segments, too,
 * unless rtscan_fall_back() raises an error.
 */
#ifndef RTSCAN_EXECUTOR_H
#define RTSCAN_EXECUTOR_H

#include "rtscan.h"

#include "search/exec/stats.h"
#include "search/filter/segment_scan.h"
#include "settings.h"

struct RtscanRound;

/*
 * The methods of an executor.  A new executor needs these methods, an element of rtscan_executors[], a member of
 * RtscanExecutor in settings.h, and a name in settings.c.  The methods accept any segments: the CPU evaluates the
 * segments that an executor cannot evaluate.
 */
typedef struct RtscanExecutorMethods
{
	/*
	 * Can "auto" choose this executor?  If not, "auto" calls none of its other methods, and prepare() and evaluate()
	 * return the reason.
	 */
	bool		(*is_ready) (void);

	/* Can the executor evaluate at least some of a segment's regions? */
	bool		(*can) (const RtscanSegmentScan *scan);

	/* Return the number of devices that work for the executor at the same time. */
	int			(*devices) (void);

	/*
	 * Does the executor's memory have room for "times" times the columns of all segments that it can evaluate?
	 * "times" is more than 1 if the segments are only a part of the data that must have room.
	 */
	bool		(*fits) (const RtscanSegmentScan *scans, int nscans, double times);

	/*
	 * Return the expected nanoseconds to evaluate the segments that the executor can evaluate, and to add up "added"
	 * columns of the rows found.  The CPU does not have this method, since choice.c estimates its time.
	 */
	double		(*estimate) (RtscanExecutor executor, const RtscanSegmentScan *scans, int nscans, int added);

	/* Record that "auto" has not chosen the executor for these segments, because it was expected to be too slow. */
	void		(*pass_over) (RtscanExecutor executor, const RtscanSegmentScan *scans, int nscans, bool adding);

	/* see rtscan_test_time(); infinity if the executor cannot test rows */
	double		(*test_time) (const RtscanSegmentScan *scan);

	/* see rtscan_time_of_adding() */
	double		(*time_of_adding) (RtscanExecutor executor, double searched, double added, double bytes);

	/*
	 * Load into the executor's memory what it needs to evaluate regions of the scans' columns.  Returns NULL, or the
	 * reason for a failure.
	 */
	const char *(*prepare) (RtscanExecutor executor, Relation index, const pg_uuid_t *uuid,
							RtscanSegmentScan *scans, int nscans);

	/*
	 * Evaluate as much of a round as the executor can.  Returns NULL, or the reason for a failure.  With "auto", the
	 * reason is rtscan_not_yet if a column is not on the device, and an upload of the column does not pay yet.
	 */
	const char *(*evaluate) (RtscanExecutor executor, Relation index, const pg_uuid_t *uuid,
							 struct RtscanRound *round, RtscanCounters *counters);
} RtscanExecutorMethods;

/* The reason that evaluate() returns if an upload does not pay yet, which is no failure. */
extern const char rtscan_not_yet[];

/*
 * Return the reason for leaving a scan to the CPU after an executor's answer has contradicted itself.  Raises an error
 * instead if rtscan.debug_compare_executors is on.
 */
extern const char *rtscan_wrong_answer(void);

extern const RtscanExecutorMethods rtscan_cpu_methods;	/* cpu.c */
extern const RtscanExecutorMethods rtscan_device_methods;	/* search/gpu/device.c */
extern const RtscanExecutorMethods rtscan_job_methods;	/* search/gpu/device.c: the executor rtcudb */
extern const RtscanExecutorMethods *const rtscan_executors[RTSCAN_EXECUTORS];

#endif							/* RTSCAN_EXECUTOR_H */
