/* SPDX-License-Identifier: PostgreSQL */
/*
 * choice.h
 *		Choose the executor of a scan: the one that rtscan.executor names or, with "auto", the one with the shortest
 *		expected time.
 *
 * The CPU evaluates the segments that the chosen executor cannot evaluate.
 *
 * "auto" compares two times.  The CPU's time is its cost estimate (cpu_parts.h), scaled by how slow its memory has been
 * (rtscan_cpu_slowness()).  A device's time is estimated from the times of similar requests (device/adaptive_cost.h).
 * If an executor is passed over because it seems too slow, its measured speed returns a little towards the initial
 * value, so that one slow request does not exclude it for long.
 */
#ifndef RTSCAN_CHOICE_H
#define RTSCAN_CHOICE_H

#include "search/exec/executor.h"

/*
 * Choose the executor for all segments of a scan that "processes" processes share.  Returns the CPU if the memory of
 * the chosen executor has no room for the scan.  Raises an error instead if rtscan.executor names the chosen executor
 * and rtscan.fallback is off.
 */
extern RtscanExecutor rtscan_choose_executor(RtscanSegmentScan *scans, int nscans, int processes);

/*
 * Estimate the nanoseconds that the CPU needs to evaluate a segment's filter, given the speed that has been measured.
 */
extern double rtscan_time_of_cpu(const RtscanSegmentScan *scan);

/*
 * Estimate the nanoseconds that the fastest executor other than the CPU needs to test all rows of a segment for one
 * condition.  Returns 0 if no executor that can test them can be chosen.
 */
extern double rtscan_test_time(const RtscanSegmentScan *scan);

/* The work of adding up the rows that are found. */
typedef struct RtscanAdding
{
	double		row;			/* nanoseconds for the CPU to add up a row, apart from reading its values */
	int			read;			/* number of columns whose values the CPU reads */
	int			columns;		/* number of columns that another executor has to read */
} RtscanAdding;

/* Return about how many rows of a segment match its filter. */
extern double rtscan_expected_rows(const RtscanSegmentScan *scan);

/* Return the nanoseconds that the CPU needs to add up the matching rows of a segment. */
extern double rtscan_time_of_adding_by_cpu(const RtscanSegmentScan *scan, const RtscanAdding *adding);

/* Return the executor that "auto" chooses to find rows and add them up. */
extern RtscanExecutor rtscan_choose_adder(RtscanSegmentScan *scans, int nscans, int processes,
										  const RtscanAdding *adding);

/*
 * Estimate for the planner how many nanoseconds the fastest executor other than the CPU needs to search "searched"
 * chunks (each counted once for every region) and to add up "added" chunks (each counted once for every column).
 * Returns infinity if only the CPU can be chosen, if no device is ready, or if the devices do not have "bytes" bytes of
 * memory.
 */
extern double rtscan_time_of_adding(double searched, double added, double bytes);

/* For any scan, is the CPU the only executor that can be chosen? */
extern bool rtscan_executor_is_cpu(void);

/*
 * Call this before the CPU does work that only the CPU can do.  Raises an error with the reason "why" if
 * rtscan.fallback is off and rtscan.executor names another executor than the CPU.
 */
extern void rtscan_leave_to_cpu(const char *why);

#define RTSCAN_FILTER_IS_CPUS		"An aggregate has a FILTER, which only the CPU evaluates."
#define RTSCAN_ROW_FILTER_IS_CPUS	"The scan has conditions on its rows that the index does not look up."

/*
 * Call this when an executor has failed for the reason "why" and the CPU takes over.  Raises an error under the same
 * conditions as rtscan_leave_to_cpu(); otherwise logs the reason and counts a fallback of the executor.
 */
extern void rtscan_fall_back(RtscanExecutor executor, const char *why);

#endif							/* RTSCAN_CHOICE_H */
