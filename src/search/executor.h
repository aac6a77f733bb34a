/*
 * executor.h
 *		The one interface of all executors: regions in, row bits out; and the combination of regions.  Which one is asked: choice.h.
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

#include "search/row_bits.h"
#include "search/segment_scan.h"
#include "settings.h"

/* What evaluating regions took; added up over segments. */
typedef struct RtscanCounters
{
	uint64		segments;
	uint64		skipped_segments;	/* of these: not opened, for the directory says that no row matches */
	uint64		cpu_segments;	/* of these: the CPU evaluated them or a part of what was asked of them */
	uint64		chunks_read;	/* chunks whose rows were looked at */
	uint64		chunks_skipped; /* chunks that the sieve's constant pages excluded */
	uint64		refined_rows;	/* rows whose bit was decided by an exact value */
	uint64		pages_read;
	uint64		rays;			/* rays cast */
	uint64		tallied_rows;	/* rows that are in a tally */
	uint64		device_time;	/* nanoseconds */
} RtscanCounters;

/* Row bits that evaluating takes: made when they are first needed, and used again for the next segment. */
typedef struct RtscanScratch
{
	MemoryContext context;
	uint32		chunks;			/* of the largest segment */
	List	   *all;			/* RtscanRowBits * */
	int			used;
} RtscanScratch;

/*
 * Segments of a search that are evaluated together.  An executor may leave their bits in memory that there is once, until they are asked
 * for.  Whoever needs that memory next has as many of them saved before as fit into work_mem; the rest is lost, and evaluated again when it
 * is asked for.
 */
typedef struct RtscanRound
{
	RtscanSegmentScan *scans;
	int			nscans;
	int			next;			/* the first that has not been asked for */
	RtscanExecutor executor;	/* that was asked */
	RtscanScratch scratch;
	MemoryContext saved;		/* what becomes of its answer, or NULL */
	MemoryContextCallback forget;
} RtscanRound;

/* For the rounds of a search of segments of at most so many chunks, in the current memory context, which is the search's. */
extern RtscanRound *rtscan_create_round(uint32 chunks);

/*
 * Begin to evaluate a round of a search's segments: a device does what it can now.  Returns the
 * executor that answers, or most of it: rt only if it cast a ray.
 */
extern RtscanExecutor rtscan_begin_round(RtscanRound *round, RtscanExecutor executor, Relation index, const pg_uuid_t *uuid,
										 RtscanSegmentScan *scans, int nscans, RtscanCounters *counters);

/* Has another executor evaluated all of a segment of the round? */
extern bool rtscan_is_evaluated(const RtscanSegmentScan *scan);

/* The bits of a segment of the round, in the order of these; they hold until the next call.  NULL: none are set. */
extern RtscanRowBits *rtscan_evaluate(RtscanRound *round, RtscanSegmentScan *scan, RtscanCounters *counters);

/*
 * Which rows of some bits of a segment, the one at hand, match another filter as well, by the CPU.  They hold until the next
 * call; the filter is not empty.
 */
extern RtscanRowBits *rtscan_evaluate_filter(RtscanRound *round, RtscanSegmentScan *scan, RtscanSegmentFilter *filter,
											 const RtscanRowBits *bits, RtscanCounters *counters);

/*
 * cpu.c: set the bits of a segment's rows that the region matches; it is not empty.  If there are others, only rows within them
 * matter: whether the rest is set does not.
 */
extern void rtscan_cpu_evaluate(RtscanReader *reader, const RtscanRegion *region, const RtscanRowBits *within,
								RtscanRowBits *bits, RtscanCounters *counters);

/*
 * What that takes where so many rows matter, or all: nanoseconds if all pages are in memory; pages read in the order of the file, or
 * else at random.
 */
extern void rtscan_cpu_estimate(RtscanReader *reader, const RtscanRegion *region, double within,
								double *nanoseconds, double *pages, double *random_pages);

/* Nanoseconds to test all rows of the narrowest column, found in no time, or infinity. */
extern double rtscan_cpu_most(const RtscanSegment *segment, const RtscanRegion *region);

/*
 * What an executor is; a new one is one of these, and a name in settings.h.  All can be asked for any segments.  The CPU
 * evaluates what an executor leaves, so it does all that others cannot.
 */
typedef struct RtscanExecutorMethods
{
	/* Is it there, for "auto" to choose?  "auto" asks it nothing else if not; what else it is asked it answers with its reason then. */
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
							 RtscanRound *round, RtscanCounters *counters);
} RtscanExecutorMethods;

extern const char rtscan_not_yet[];

/* Why the CPU answers where what an executor has said cannot be.  With rtscan.debug_compare_executors that is an error. */
extern const char *rtscan_wrong_answer(void);

extern const RtscanExecutorMethods rtscan_cpu_methods;	/* cpu.c */
extern const RtscanExecutorMethods rtscan_device_methods;	/* device.c */
extern const RtscanExecutorMethods rtscan_job_methods;	/* likewise, of the executor rtcudb */
extern const RtscanExecutorMethods *const rtscan_executors[RTSCAN_EXECUTORS];

/*
 * prewarm.c: put on the device what scans of these key columns need.  Returns NULL, or why that
 * could not be done; how many segments it was done for.
 */
extern const char *rtscan_prewarm_columns(Relation index, List *columns, RtscanExecutor executor,
										  int64 *segments);

/*
 * Where segments have been built, which need not be in the directory yet: the same for all key columns, as far as the device is expected
 * to evaluate scans and has the memory for so many times as much, which is what all processes build; and give back memory that only the
 * build needed.
 */
extern void rtscan_prewarm_built(Relation index, const RtscanEntry *entries, uint32 n, double times);

/*
 * cpu_rows.c: is a row in a region?  Row after row, in any order; without one of its columns, or -1.  And what a test takes, in nanoseconds.
 */
typedef struct RtscanRowTest RtscanRowTest;

extern RtscanRowTest *rtscan_create_row_test(RtscanReader *reader, const RtscanRegion *region, int but_for);
extern bool rtscan_row_passes(RtscanRowTest *test, uint32 row);
extern double rtscan_row_test_time(const RtscanRegion *region);

#endif							/* RTSCAN_EXECUTOR_H */
