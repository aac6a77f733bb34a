/*
 * am.h
 *		The access method's callbacks, one file of this folder a family.
 */
#ifndef RTSCAN_AM_H
#define RTSCAN_AM_H

#include "rtscan.h"

#include "access/amapi.h"
#include "access/genam.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "storage/schema.h"

/* build.c */
extern IndexBuildResult *rtscan_build(Relation heap, Relation index, IndexInfo *info);
extern void rtscan_build_empty(Relation index);
extern char *rtscan_build_phase_name(int64 phase);

/* insert.c */
extern bool rtscan_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
						  Relation heap, IndexUniqueCheck check_unique,
						  bool index_unchanged, IndexInfo *info);

/* vacuum.c */
extern IndexBulkDeleteResult *rtscan_bulk_delete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
												 IndexBulkDeleteCallback callback, void *state);
extern IndexBulkDeleteResult *rtscan_vacuum_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats);

/* scan.c */
extern IndexScanDesc rtscan_begin_scan(Relation index, int nkeys, int norderbys);
extern void rtscan_rescan(IndexScanDesc scan, ScanKey keys, int nkeys,
						  ScanKey orderbys, int norderbys);
extern int64 rtscan_get_bitmap(IndexScanDesc scan, TIDBitmap *bitmap);
extern bool rtscan_get_tuple(IndexScanDesc scan, ScanDirection direction);
extern void rtscan_end_scan(IndexScanDesc scan);

/*
 * As rtscan_get_bitmap(), but only count the rows: what a scan takes up to row bits, or
 * without want_bits up to counts.  Says which executor answered, and the device's time in
 * milliseconds.
 */
extern uint64 rtscan_count_bits(IndexScanDesc scan, bool want_bits, const char **executor,
								double *device_time);

/*
 * tuple.c: what amgettuple and amcanreturn do.  Tuples take their memory beside the scan's, and give it
 * back in the end; until then, the next tuple is asked for until there is none.
 */
typedef struct RtscanTuples RtscanTuples;

extern RtscanTuples *rtscan_begin_tuples(IndexScanDesc scan, const RtscanSchema *schema);
extern bool rtscan_next_tuple(RtscanTuples *tuples, IndexScanDesc scan);
extern void rtscan_end_tuples(RtscanTuples *tuples);
extern bool rtscan_can_return(Relation index, int attno);

/* cost.c */

/* Looking at a block's bits in a copy of the visibility map. */
#define RTSCAN_MAP_BLOCK_COST	(0.001 * cpu_operator_cost)

/* Reading a value of many, or adding it to an aggregate; looking at a row's code. */
#define RTSCAN_VALUE_COST		(0.4 * cpu_operator_cost)
#define RTSCAN_CODE_COST		(0.3 * cpu_operator_cost)

extern void rtscan_cost_estimate(PlannerInfo *root, IndexPath *path,
								 double loop_count, Cost *startup_cost, Cost *total_cost,
								 Selectivity *selectivity, double *correlation, double *pages);

/*
 * A cost in its parts.  Of processes that share a search, each has the first; they share the work; and pages do
 * not come faster to several.
 */
typedef struct RtscanCost
{
	Cost		startup;
	Cost		work;
	Cost		pages;
} RtscanCost;

static inline Cost
rtscan_total_cost(const RtscanCost *cost)
{
	return cost->startup + cost->work + cost->pages;
}

static inline void
rtscan_add_cost(RtscanCost *cost, RtscanCost more)
{
	cost->startup += more.startup;
	cost->work += more.work;
	cost->pages += more.pages;
}

/*
 * What it takes to evaluate a conjunction of clauses, each "column op expression" or the like,
 * on the index's columns (from 0), and how many rows that finds.
 */
extern RtscanCost rtscan_conjunction_cost(PlannerInfo *root, IndexOptInfo *info, List *columns, List *clauses,
										  double *rows);

/* Reading the values of a column, from 0, of so many rows. */
extern RtscanCost rtscan_column_cost(PlannerInfo *root, IndexOptInfo *info, int column, double rows);

/* Is an index ours? */
static inline bool
rtscan_owns(const IndexOptInfo *info)
{
	return (amcostestimate_function) info->amcostestimate == rtscan_cost_estimate;
}

/* options.c */
extern void rtscan_init_options(void);
extern bytea *rtscan_options(Datum reloptions, bool validate);

/* validate.c */
extern bool rtscan_validate(Oid opclass);
extern void rtscan_adjust_members(Oid opfamily, Oid opclass, List *operators, List *functions);

#endif							/* RTSCAN_AM_H */
