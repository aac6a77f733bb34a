/* SPDX-License-Identifier: PostgreSQL */
/*
 * executor.h
 *		The one interface of all executors: regions in, row bits out.
 *
 * choice.h chooses the executor, and round.h combines the bits that it finds.
 *
 * All executors find the same bits for a region.  These include dead rows; rtscan_bits_remove_dead() clears them.
 *
 * The cpu executor is always available.  The others (compute, rt, rtcudb) run in the device programs: they
 * evaluate several segments at once, leave small ones to the cpu, and can fail, in which case the cpu answers too.
 */
#ifndef RTSCAN_EXECUTOR_H
#define RTSCAN_EXECUTOR_H

#include "rtscan.h"

#include "search/exec/stats.h"
#include "search/filter/segment_scan.h"
#include "settings.h"

struct RtscanRound;

/*
 * The methods of an executor.  A new executor needs one of these, and a name in settings.h.  All executors accept
 * any segments: the CPU evaluates those that another executor cannot.
 */
typedef struct RtscanExecutorMethods
{
	/*
	 * Can "auto" choose this executor?  If not, "auto" calls no other of its functions; prepare() and evaluate()
	 * return the reason.
	 */
	bool		(*is_ready) (void);

	/* Can it evaluate at least some of a segment's regions? */
	bool		(*can) (const RtscanSegmentScan *scan);

	/* Return the number of devices that work for it at the same time. */
	int			(*devices) (void);

	/*
	 * Does its memory have room for the columns of all segments that it can evaluate?  "times" is at least 1: these
	 * segments are a part of that many times as much data, all of which must have room.
	 */
	bool		(*fits) (const RtscanSegmentScan *scans, int nscans, double times);

	/*
	 * Return the expected nanoseconds to evaluate the segments that it can, and to add up "added" columns of the
	 * rows found.  The CPU has no such function; choice.c knows its costs.
	 */
	double		(*estimate) (RtscanExecutor executor, const RtscanSegmentScan *scans, int nscans, int added);

	/* Note that "auto" has not chosen it for these segments, because it was expected to be too slow. */
	void		(*pass_over) (RtscanExecutor executor, const RtscanSegmentScan *scans, int nscans, bool adding);

	/* rtscan_test_time(); infinity if it cannot test rows */
	double		(*test_time) (const RtscanSegmentScan *scan);

	/* rtscan_time_of_adding() */
	double		(*time_of_adding) (RtscanExecutor executor, double searched, double added, double bytes);

	/*
	 * Put into its memory what it needs to evaluate regions of the scans' columns.  Returns NULL, or the reason why
	 * that could not be done.
	 */
	const char *(*prepare) (RtscanExecutor executor, Relation index, const pg_uuid_t *uuid,
							RtscanSegmentScan *scans, int nscans);

	/*
	 * Evaluate as much of a round as it can.  Returns NULL, or the reason why it could not.  With "auto", that is
	 * rtscan_not_yet if a column is not on the device, and uploading it does not pay yet.
	 */
	const char *(*evaluate) (RtscanExecutor executor, Relation index, const pg_uuid_t *uuid,
							 struct RtscanRound *round, RtscanCounters *counters);
} RtscanExecutorMethods;

/* The reason that evaluate() returns if an upload does not pay yet, which is no failure. */
extern const char rtscan_not_yet[];

/*
 * Return the reason to give if an executor's answer contradicts itself, so that the CPU answers.  Raises an error
 * with rtscan.debug_compare_executors.
 */
extern const char *rtscan_wrong_answer(void);

extern const RtscanExecutorMethods rtscan_cpu_methods;	/* cpu.c */
extern const RtscanExecutorMethods rtscan_device_methods;	/* device.c */
extern const RtscanExecutorMethods rtscan_job_methods;	/* device.c: the executor rtcudb */
extern const RtscanExecutorMethods *const rtscan_executors[RTSCAN_EXECUTORS];

#endif							/* RTSCAN_EXECUTOR_H */
