/*
 * scan_path.h
 *		How an index would return a table's rows (RtscanScan), and what that costs.
 *
 * For each index, and for each set of other tables that its quals may take values from, one path: offered beside those of PostgreSQL, and
 * for processes that share the work where nothing comes from other tables.
 */
#ifndef RTSCAN_SCAN_PATH_H
#define RTSCAN_SCAN_PATH_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "plan/quals/quals.h"
#include "plan/star/star.h"
#include "search/order/order_stream.h"

/* A path, with what it hands to its plan. */
typedef struct RtscanScanPath
{
	CustomPath	path;
	IndexOptInfo *index;		/* of a star with its attributes, */
	const RtscanJoin *join;		/* which this is; NULL: it is of a table alone */
	ParamPathInfo *parameters;	/* for which the quals have been parted: */
	RtscanQuals *quals;			/* that the index answers, */
	List	   *clauses;		/* which are these of WHERE's (RestrictInfo); */
	Cost		unsearched;		/* what is left of a search where rows are tested: an offset takes it at once */
	List	   *row_clauses;	/* those that are evaluated on its rows, */
	List	   *row_quals;		/* as row expressions, behind a star's own (star.h); */
	List	   *others;			/* and on the table's, in the order of evaluation */
	List	   *wanted;			/* the relation's columns, before the planner makes of them what the query selects */
	bool		from_heap;		/* the index has not all that is wanted */
	RtscanOrder *order;			/* of the rows, which is the path's keys; NULL: they have none */
	Expr	   *skip;			/* how many of the first rows are skipped; NULL: none */
} RtscanScanPath;

/* scan_offer.c: hook into the planner. */
extern void rtscan_init_scan(void);

/*
 * scan_path.c: a path with these outer tables for parameters, shared by so many workers besides the leader; or NULL if the index looks
 * nothing up, and has not what is wanted either.  Or a path in the order of a path key; or in that of all of some, for a LIMIT;
 * NULL if the index has not that.
 */
extern Path *rtscan_scan_path(PlannerInfo *root, IndexOptInfo *index, Relids required_outer, int workers);
extern Path *rtscan_ordered_path(PlannerInfo *root, IndexOptInfo *index, PathKey *key);
extern Path *rtscan_first_rows_path(PlannerInfo *root, IndexOptInfo *index, List *keys);

/* A path that stays when the planner frees the other. */
extern Path *rtscan_copy_scan_path(const Path *path);

/* The path of a scan in the order of a key column that skips as many rows as an OFFSET says; NULL: it cannot. */
extern Path *rtscan_skipping_path(PlannerInfo *root, const Path *path, Expr *skip, double rows);

/*
 * The whole of a path that the planner has chosen.  Where partitions are joined one by one it has a path's parameters come
 * from a partition of the outer table: of a copy of the CustomPath, or since PostgreSQL 17 of the path itself.
 */
extern const RtscanScanPath *rtscan_whole_scan_path(PlannerInfo *root, const CustomPath *copy);

/* make_scan.c: a CustomPath's PlanCustomPath. */
extern Plan *rtscan_plan_scan(PlannerInfo *root, RelOptInfo *rel, CustomPath *custom_path, List *tlist,
							  List *clauses, List *custom_plans);

#endif							/* RTSCAN_SCAN_PATH_H */
