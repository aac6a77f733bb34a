/* SPDX-License-Identifier: PostgreSQL */
/*
 * scan_path.h
 *		Makes and prices paths in which an index returns a table's rows (RtscanScan).
 *
 * Beside PostgreSQL's paths, each index gets one path for each set of other tables from which its quals may take
 * values.  Without values from other tables, there is also a path whose work parallel processes share.
 */
#ifndef RTSCAN_SCAN_PATH_H
#define RTSCAN_SCAN_PATH_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "plan/quals/quals.h"
#include "plan/scan/scan_groups.h"
#include "plan/star/star.h"
#include "search/order/order_stream.h"

/* A path, with the data that its plan needs. */
typedef struct RtscanScanPath
{
	CustomPath	path;
	IndexOptInfo *index;		/* the index; for a star, a copy with the star's attributes */
	const RtscanJoin *join;		/* the star that is scanned; NULL: a table alone */
	ParamPathInfo *parameters;	/* the parameters for which part_quals() has divided the quals */
	RtscanQuals *quals;			/* quals that the index answers */
	List	   *clauses;		/* the clauses of "quals" (RestrictInfo) */

	/*
	 * in an order: cost of the part of the search that follows the first row; if rows are skipped, this part
	 * precedes the first row
	 */
	Cost		unsearched;
	List	   *row_clauses;	/* clauses that are evaluated on the index's rows */
	List	   *row_quals;		/* row expressions: tests of a star's marks (star.h), then those of "row_clauses" */
	List	   *others;			/* clauses that are evaluated on the table's rows, in the order of evaluation */
	List	   *wanted;			/* the relation's columns that the query needs, whatever it computes from them */
	bool		from_heap;		/* rows are fetched from the heap, since the index does not have all that is needed */
	RtscanOrder *order;			/* the order of the rows, as the path's keys say; NULL: none */
	Expr	   *skip;			/* the number of rows to skip for OFFSET; NULL: none */
} RtscanScanPath;

/* scan_offer.c: install the planner hooks. */
extern void rtscan_init_scan(void);

/*
 * scan_path.c: return a path with parameters from the tables "required_outer", which "workers" workers and the leader
 * share.  NULL if the index can do nothing that a sequential scan cannot.
 */
extern Path *rtscan_scan_path(PlannerInfo *root, IndexOptInfo *index, Relids required_outer, int workers);

/* scan_path.c: return a path in the order of a path key; NULL if the index does not have that order. */
extern Path *rtscan_ordered_path(PlannerInfo *root, IndexOptInfo *index, PathKey *key);

/* scan_path.c: return a path for a LIMIT, in the order of all of these path keys; NULL if that is impossible. */
extern Path *rtscan_first_rows_path(PlannerInfo *root, IndexOptInfo *index, List *keys);

/*
 * scan_path.c: return a path that has only the first rows of each group, in order; NULL if the index cannot find them.
 */
extern Path *rtscan_first_of_groups_path(PlannerInfo *root, IndexOptInfo *index, const RtscanFirstOf *first);

/* scan_cost.c: set the path's costs and rows. */
extern void rtscan_cost_scan(RtscanScanPath *path, PlannerInfo *root);

/* scan_path.c: copy a path, so that the copy stays when the planner frees the path. */
extern Path *rtscan_copy_scan_path(const Path *path);

/*
 * scan_path.c: return a copy of a path, in the order of a key column, that skips the first rows for OFFSET.  "skip" is
 * the number of rows to skip, and "rows" is an estimate of this number.  NULL if the path cannot skip rows.
 */
extern Path *rtscan_skipping_path(PlannerInfo *root, const Path *path, Expr *skip, double rows);

/*
 * scan_path.c: return the RtscanScanPath of a path that the planner has chosen.  In a partitionwise join, the planner
 * makes a path's parameters refer to a partition of the outer table: in a copy of the CustomPath or, since PostgreSQL
 * 17, in the path itself.  If the parameters have changed, the quals are divided anew.
 */
extern const RtscanScanPath *rtscan_whole_scan_path(PlannerInfo *root, const CustomPath *copy);

/* make_scan.c: the PlanCustomPath callback. */
extern Plan *rtscan_plan_scan(PlannerInfo *root, RelOptInfo *rel, CustomPath *custom_path, List *tlist,
							  List *clauses, List *custom_plans);

#endif							/* RTSCAN_SCAN_PATH_H */
