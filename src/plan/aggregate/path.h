/* SPDX-License-Identifier: PostgreSQL */
/*
 * path.h
 *		Matches and prices the paths in which an index computes aggregates (RtscanAggregate).
 *
 * For each index of a table, match.c finds out whether and how the index can compute the aggregates.  price.c estimates
 * the cost on the CPU, and also on a device if device_match.c finds that a device can add up the rows.  make_node.c
 * makes the plan of the path that the planner has chosen.
 */
#ifndef RTSCAN_PATH_H
#define RTSCAN_PATH_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "plan/quals/quals.h"
#include "plan/rows/group_count.h"
#include "plan/star/star.h"
#include "run/plan/node_plan.h"
#include "segment/totals.h"

/* An aggregation that a query needs: of the rows of one table, or of a join of which that table is the fact. */
typedef struct RtscanRequest
{
	PlannerInfo *root;			/* the planner's data about the query */
	RelOptInfo *table;			/* the table; for a star, its fact */
	RelOptInfo *input;			/* the relation whose rows are aggregated: the table or a join */
	/* the star whose rows are aggregated; NULL: a table, or a join whose fact has leaves, each with its own request */
	const RtscanStar *star;
	RelOptInfo *output;			/* the parent of the path: an upper relation, or a leaf (leaves.h) */
	PathTarget *target;			/* the target that the path computes */
	List	   *group_clauses;	/* for each key, its clause of GROUP BY or DISTINCT: SortGroupClause */
	List	   *keys;			/* the grouping expressions, as evaluated on rows */
	/* numbers of keys that the other keys determine, such as other columns of a table whose primary key is a key */
	Bitmapset  *dependent;
	List	   *output_keys;	/* the keys as they appear in results, where grouping sets may make them NULL */
	List	   *sets;			/* grouping sets: Bitmapset * of numbers of keys; one empty set without GROUP BY */
	List	   *groupings;		/* GroupingFunc */
	List	   *aggrefs;		/* Aggref */
	List	   *having;			/* clauses of HAVING */
	Node	   *distinct_key;	/* the last key, if it is one only to count its values (distinct_key.c); else NULL */
	bool		distinct;		/* the aggregation is SELECT DISTINCT, not GROUP BY */
	bool		parallel_safe;	/* keys, aggregates and WHERE may be computed in a worker */
	bool		partial;		/* results are the aggregates' transition states */
	int			workers;		/* workers that share the work with the leader; more than 0 only if partial */
	bool		in_worker;		/* a parallel worker may execute the path, by itself or with other processes */
} RtscanRequest;

/* An aggregate, as the index computes it from bits or from rows. */
typedef struct RtscanPathAggregate
{
	Aggref	   *aggref;			/* the planner's aggregate */
	List	   *arguments;		/* its arguments, without PlaceHolderVars; NIL if it counts all rows */
	bool		counts_rows;	/* it counts all rows, as count(*) or count(x) of values that are never NULL */
	int			kind;			/* from bits: RtscanAccumulation */
	int			column;			/* from bits: the key column, from 0; -1: none */
	RtscanQuals filter;			/* from bits: FILTER and, for an argument, "IS NOT NULL" */
	int			line;			/* from rows: the line in the table of aggregates.c */
	List	   *row_arguments;	/* from rows: the arguments as row expressions */
	/* on a device: the argument is evaluated on entries, as device aggregates have no total of it (entries.h) */
	bool		of_entries;
	/* on a device: arms of a CASE argument whose results are summed up (RtscanCaseArm *, case_arms.h) */
	List	   *arms;
	Expr	   *row_filter;		/* from rows: FILTER as a row expression; NULL: none */
	Oid			fold;			/* the transition function, if it only combines two values to one; else InvalidOid */
	bool		of_groups;		/* it counts the parent's groups: count(DISTINCT x) of request->distinct_key */
	RtscanCollected collected;	/* how values are collected; not at all if collected.purpose is RTSCAN_NO_COLLECTION */
	Expr	   *fractions;		/* fractions of percentiles; NULL: none */
} RtscanPathAggregate;

/*
 * Rows are assumed to have at most this fraction of groups, if they are grouped by several columns of dimensions, or by
 * a process that returns partial groups.  PostgreSQL's estimate assumes that columns are independent, and may expect a
 * group for nearly every row: for example, if only cities of one nation are selected.  A process would then send all
 * its rows to another one, and a plan that sorts the rows would seem to be as good as one that groups them first.
 */
#define RTSCAN_MOST_GROUPS_PART		0.5

/* A grouping set, and how its groups are made. */
typedef struct RtscanPathSet
{
	Bitmapset  *keys;			/* numbers of keys */
	double		groups;			/* number of groups */
	double		bytes;			/* memory of the groups and their collections */
	double		windows;		/* how many times rows are read for the set (run/group/row_groups.h) */
	int			parent;			/* number of the earlier set from whose groups its groups are made; -1: from rows */
	bool		asked;			/* the set belongs to the result; otherwise it exists only as a parent */
} RtscanPathSet;

/* A path, with the data that its plan needs. */
typedef struct RtscanPath
{
	CustomPath	path;
	const RtscanRequest *request;	/* the aggregation */
	IndexOptInfo *index;		/* the index; for a star, a copy with the star's attributes */
	const RtscanJoin *join;		/* the star; NULL: a table alone */
	bool		by_rows;		/* aggregates are computed from rows, not from bits */
	const Node *unmatched;		/* the first expression that the index cannot compute; NULL if there is none */
	RtscanQuals *quals;			/* quals that the index answers */
	List	   *clauses;		/* the clauses of "quals" */
	List	   *residual;		/* the clauses of WHERE that are evaluated on rows */
	List	   *row_quals;		/* row expressions: tests of a star's marks (star.h), then those of "residual" */
	List	   *row_keys;		/* row expressions of GROUP BY */
	List	   *aggregates;		/* RtscanPathAggregate * */
	List	   *sets;			/* from rows: RtscanPathSet *, each after its parent */
	int			most_parts;		/* the most sets with a parent whose groups are in memory at once */
	double		groups;			/* number of results, before HAVING */
	bool		on_device;		/* a device is expected to add up the rows; false if processes share them */
	Cost		cpu_cost;		/* cost if the CPU adds up the rows */
} RtscanPath;

/* offer.c: install the planner hook. */
extern void rtscan_init_aggregate(void);

/* offer.c: return the number, from 0, of the key with a reference (SortGroupClause.tleSortGroupRef). */
extern int	rtscan_number_of_key(const RtscanRequest *request, Index reference);

/* path.c: return the cheapest path by any index of a request's table, or NULL. */
extern Path *rtscan_cheapest_path(const RtscanRequest *request);

/* path.c: is a path an RtscanPath? */
extern bool rtscan_is_aggregate_path(const Path *path);

/*
 * match.c: can the path's index compute the request's aggregates?  It computes them from rows if "by_rows" is true or
 * bits do not suffice, otherwise from bits; path->by_rows tells which.  Processes can share only an aggregation from
 * rows.
 */
extern bool rtscan_match_path(RtscanPath *path, bool by_rows);

/* total.c: install the planner hook for pages with the number of all rows. */
extern void rtscan_init_total(void);

/* top.c: set *top to the first groups in the order of an aggregate, if the query wants only these. */
extern void rtscan_find_top(const RtscanPath *path, RtscanPlanTop *top);

/* match.c: return expressions with each PlaceHolderVar replaced by its expression, for evaluation on rows. */
extern List *rtscan_expressions_of_rows(PlannerInfo *root, List *expressions);

/*
 * match_collected.c: is an aggregate computed from collected values, and can its values be collected?  Sets the
 * aggregate's collected, arguments and row_arguments; also fractions of a percentile, or line and fold for DISTINCT.
 */
extern bool rtscan_match_collected(RtscanPathAggregate *aggregate, const RtscanPath *path);

/*
 * price.c: is a percentile of a key column the only result, so that not all values of the column need to be collected
 * (run/answer/sampled_quantile.h, run/device_aggregate/histogram_quantile.h)?
 */
extern bool rtscan_is_single_quantile(const RtscanPath *path);

/*
 * match.c: set an aggregate's line in the table of aggregates.c and, if the line needs it, its fold function; false if
 * it has no line, or lacks the function.
 */
extern bool rtscan_match_line(RtscanPathAggregate *aggregate);

/*
 * device_cost.c: can a device add up "rows" rows (search/exec/device_aggregate.h), as far as that is known without
 * opening segments?  If so, add to *cost the cost of finding and adding them up, and the part of *of_cpu that remains
 * for rows that the CPU processes.
 */
extern bool rtscan_device_agg_cost(const RtscanPath *path, double rows, const RtscanCost *of_cpu, RtscanCost *cost);

/*
 * device_match.c: return the kind of total, of a chunk or a device aggregate, that an aggregate is made from
 * (segment/totals.h), or RTSCAN_NO_TOTAL.
 */
extern RtscanTotalKind rtscan_total_kind_of(const RtscanPathAggregate *aggregate);

/*
 * distinct_key.c: return a request that counts distinct values by groups; NULL if there is nothing to count so, or if
 * that is impossible.
 */
extern const RtscanRequest *rtscan_with_distinct_key(const RtscanRequest *request);

/* distinct_key.c: does an aggregate count the values of the request's distinct_key? */
extern bool rtscan_counts_distinct_key(const Aggref *aggref, const RtscanRequest *request);

/* price.c: set the path's costs and rows. */
extern void rtscan_cost_path(RtscanPath *path);

/* correlated.c: does the path's node memoize its results by parameters (run/node/memoize.h)? */
extern bool rtscan_is_memoized(const RtscanPath *path);

/*
 * correlated.c: return the fraction of a subquery's executions whose parameters are new.  In the other executions a
 * memoized result may be returned.  1 if the subquery is not executed for the rows of the query around it.
 */
extern double rtscan_new_parameters(const PlannerInfo *root);

/* memoize.c: install the planner hook that memoizes results of correlated subqueries. */
extern void rtscan_init_memoize(void);

/* price.c: return the memory of a group in bytes, without its collections. */
extern double rtscan_group_bytes(const RtscanPath *path);

/*
 * sets.c: set path->sets to the request's grouping sets and their parents, and set path->most_parts, for an aggregation
 * of "rows" rows.
 */
extern void rtscan_arrange_sets(RtscanPath *path, double rows);

/* sets.c: return the elements of "keys" whose numbers are in a set. */
extern List *rtscan_keys_of_set(List *keys, const Bitmapset *set);

/* Does the request have grouping keys? */
static inline bool
rtscan_is_grouped(const RtscanRequest *request)
{
	return request->keys != NIL;
}

/* Return the number of the index's own columns, which precede those of dimensions. */
static inline int
rtscan_own_columns(const RtscanPath *path)
{
	return path->join ? path->join->star->index->ncolumns : path->index->ncolumns;
}

/* Are the distinct values of an aggregate's argument collected? */
static inline bool
rtscan_collects_distinct(const RtscanPathAggregate *aggregate)
{
	return aggregate->collected.purpose == RTSCAN_FOR_DISTINCT;
}

/* make_node.c: the PlanCustomPath callback. */
extern Plan *rtscan_plan_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *custom_path, List *tlist,
							  List *clauses, List *custom_plans);

#endif							/* RTSCAN_PATH_H */
