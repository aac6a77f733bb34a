/*
 * choice.h
 *		Which executor is asked: the one that is set, or of "auto" the one that is expected to be the fastest; and the CPU for what it cannot.
 *
 * "auto" compares what the CPU takes by its costs (cpu_parts.h), times how slow its memory has been, with what devices have taken for such requests
 * (device/device.h).  What it does not choose it forgets a little of, so that a bad moment does not last.
 */
#ifndef RTSCAN_CHOICE_H
#define RTSCAN_CHOICE_H

#include "search/exec/executor.h"

/*
 * Choose the executor for all segments of a scan, which so many processes share.  With rtscan.fallback off, an error where the
 * one that is set cannot be used.
 */
extern RtscanExecutor rtscan_choose_executor(RtscanSegmentScan *scans, int nscans, int processes);

/* What the CPU takes to evaluate a segment's filter, in nanoseconds, about, as experience has it. */
extern double rtscan_time_of_cpu(const RtscanSegmentScan *scan);

/* What another executor than the CPU takes to test a segment's rows for a condition, in nanoseconds; 0 if none may be chosen that does. */
extern double rtscan_test_time(const RtscanSegmentScan *scan);

/* Rows that are found are to be added up. */
typedef struct RtscanAdding
{
	double		row;			/* what that takes the CPU, nanoseconds a row, */
	int			read;			/* beside reading values of so many columns; */
	int			columns;		/* another executor looks at so many columns of them */
} RtscanAdding;

/* So many rows of a segment are found, about. */
extern double rtscan_expected_rows(const RtscanSegmentScan *scan);

/* What it takes the CPU to add up those of a segment, in nanoseconds. */
extern double rtscan_time_of_adding_by_cpu(const RtscanSegmentScan *scan, const RtscanAdding *adding);

/* The one that "auto" chooses for that. */
extern RtscanExecutor rtscan_choose_adder(RtscanSegmentScan *scans, int nscans, int processes, const RtscanAdding *adding);

/*
 * For the planner: nanoseconds that executors other than the CPU take to search so many regions' chunks, and to add up so many columns'
 * chunks; infinite, if there is none, or none that has memory for so many bytes.
 */
extern double rtscan_time_of_adding(double searched, double added, double bytes);

/* Can no other than the CPU be chosen, whatever the scan? */
extern bool rtscan_executor_is_cpu(void);

/*
 * The CPU is about to do what no other executor does: an error with this reason, where rtscan.fallback
 * is off and another executor than the CPU is set.
 */
extern void rtscan_leave_to_cpu(const char *why);

#define RTSCAN_FILTER_IS_CPUS		"An aggregate has a FILTER, which only the CPU evaluates."
#define RTSCAN_ROW_FILTER_IS_CPUS	"It has conditions on its rows that the index does not look up."

/* The executor cannot do it for this reason: the same, or a line in the server's log, and the CPU will. */
extern void rtscan_fall_back(RtscanExecutor executor, const char *why);

#endif							/* RTSCAN_CHOICE_H */
