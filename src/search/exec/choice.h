/* SPDX-License-Identifier: PostgreSQL */
/*
 * choice.h
 *		Choose the executor of a scan: the one that is set or, with "auto", the one that should be the fastest.
 *
 * The CPU evaluates what the chosen executor cannot.
 *
 * "auto" compares the CPU's cost estimate (cpu_parts.h), scaled by how slow its memory has been, with the times that
 * devices have needed for similar requests (device/adaptive_cost.h).  Each time that an executor is not chosen, what
 * has been learnt about its speed fades a little, so that one slow request does not exclude it for long.
 */
#ifndef RTSCAN_CHOICE_H
#define RTSCAN_CHOICE_H

#include "search/exec/executor.h"

/*
 * Choose the executor for all segments of a scan, which "processes" processes share.  If its memory has no room for the
 * scan, the CPU is chosen instead.  That is an error if the executor was set by name and rtscan.fallback is off.
 */
extern RtscanExecutor rtscan_choose_executor(RtscanSegmentScan *scans, int nscans, int processes);

/* Return about how many nanoseconds the CPU needs to evaluate a segment's filter, given how fast it has been. */
extern double rtscan_time_of_cpu(const RtscanSegmentScan *scan);

/*
 * Return the nanoseconds that an executor other than the CPU needs to test a segment's rows for a condition; 0 if no
 * executor that tests rows can be chosen.
 */
extern double rtscan_test_time(const RtscanSegmentScan *scan);

/* The work of adding up the rows that are found. */
typedef struct RtscanAdding
{
	double		row;			/* the CPU's nanoseconds a row, without reading values */
	int			read;			/* columns whose values the CPU reads */
	int			columns;		/* columns that an executor other than the CPU has to read */
} RtscanAdding;

/* Return about how many rows of a segment match its filter. */
extern double rtscan_expected_rows(const RtscanSegmentScan *scan);

/* Return the nanoseconds that the CPU needs to add up the matching rows of a segment. */
extern double rtscan_time_of_adding_by_cpu(const RtscanSegmentScan *scan, const RtscanAdding *adding);

/* Return the executor that "auto" chooses to find rows and add them up. */
extern RtscanExecutor rtscan_choose_adder(RtscanSegmentScan *scans, int nscans, int processes,
										  const RtscanAdding *adding);

/*
 * Return, for the planner, the nanoseconds that the fastest executor other than the CPU needs to search "searched"
 * chunks (counted once for each region) and to add up "added" chunks (counted once for each column).  Infinite if
 * there is no such executor, or none has memory for this many bytes.
 */
extern double rtscan_time_of_adding(double searched, double added, double bytes);

/* Is the CPU the only executor that can be chosen, whatever the scan? */
extern bool rtscan_executor_is_cpu(void);

/*
 * Note that the CPU is about to do what no other executor can.  Raises an error with this reason if rtscan.fallback is
 * off and rtscan.executor names another executor than the CPU.
 */
extern void rtscan_leave_to_cpu(const char *why);

#define RTSCAN_FILTER_IS_CPUS		"An aggregate has a FILTER, which only the CPU evaluates."
#define RTSCAN_ROW_FILTER_IS_CPUS	"The scan has conditions on its rows that the index does not look up."

/*
 * Note that an executor has failed for this reason, and the CPU takes over.  Raises an error as rtscan_leave_to_cpu()
 * does, or else logs the reason and counts the fallback.
 */
extern void rtscan_fall_back(RtscanExecutor executor, const char *why);

#endif							/* RTSCAN_CHOICE_H */
