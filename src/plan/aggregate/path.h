/* SPDX-License-Identifier: PostgreSQL */
/*
 * path.h
 *		Matches and prices the paths in which an index computes aggregates (RtscanAggregate).
 *
 * For each index of a table, match.c finds out whether and how it can compute them, and price.c estimates the cost: on
 * the CPU, or on a device if device_match.c finds that it can add up the rows.  make_node.c makes the plan of the
 * path that the planner has chosen.
 */
#ifndef RTSCAN_PATH_H
#define RTSCAN_PATH_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "plan/quals/quals.h"
#include "plan/star/star.h"
#include "run/plan/node_plan.h"
#include "segment/totals.h"

/* The aggregation of rows of one table, or of a join with it, that a query needs. */
typedef struct RtscanRequest
{
	PlannerInfo *root;			/* the planner's data about the query */
	RelOptInfo *table;			/* the table; for a star, its fact */
	RelOptInfo *input;			/* the relation whose rows are aggregated: the table or a join */
	const RtscanStar *star;		/* the star that the input is; NULL: it is none, or one of leaves (leaves.h) */
	RelOptInfo *output;			/* the upper relation that gets the path */
	PathTarget *target;			/* the target that the path computes */
	List	   *group_clauses;	/* clauses of GROUP BY or DISTINCT: SortGroupClause */
	List	   *keys;			/* the grouping expressions, as evaluated on rows */
	List	   *output_keys;	/* the keys as they appear in results, where grouping sets may make them NULL */
	List	   *sets;			/* grouping sets: Bitmapset * of numbers of keys; one empty set without GROUP BY */
	List	   *groupings;		/* GroupingFunc */
	List	   *aggrefs;		/* Aggref */
	List	   *having;			/* clauses of HAVING */
	bool		distinct;		/* the groups are those of DISTINCT */
	bool		parallel_safe;	/* keys, aggregates and WHERE may be computed in a worker */
	bool		partial;		/* results are the aggregates' transition states */
	int			workers;		/* workers that share the work with the leader; more than 0 only if partial */
	bool		in_worker;		/* a worker may execute the path, alone or sharing the work */
} RtscanRequest;

/* An aggregate, as the index computes it from bits or from rows. */
typedef struct RtscanPathAggregate
{
	Aggref	   *aggref;			/* the planner's aggregate */
	List	   *arguments;		/* its arguments, without PlaceHolderVars */
	int			kind;			/* from bits: RtscanAccumulation */
	int			column;			/* from bits: the key column, from 0; -1: none */
	RtscanQuals filter;			/* from bits: FILTER, and that the argument is not NULL */
	int			line;			/* from rows: the line in the table of aggregates.c */
	List	   *row_arguments;	/* from rows: the arguments as row expressions */
	bool		of_entries;		/* the argument is evaluated on entries, as device aggregates have no total of it */
	List	   *arms;			/* RtscanCaseArm *: arms of a CASE argument that have totals (case_arms.h) */
	Expr	   *row_filter;		/* from rows: FILTER as a row expression; NULL: none */
	Oid			fold;			/* the transition function, if it only combines two values to one; else InvalidOid */
	RtscanCollected collected;	/* how and why values are collected, if they are */
	Expr	   *fractions;		/* fractions of percentiles; NULL: none */
} RtscanPathAggregate;

/* A grouping set, and how its groups are made. */
typedef struct RtscanPathSet
{
	Bitmapset  *keys;			/* numbers of keys */
	double		groups;			/* number of groups */
	double		bytes;			/* memory of the groups and their collections */
	int			parent;			/* the set, before it, from whose groups its groups are made; -1: from rows */
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
	RtscanQuals *quals;			/* quals that the index answers */
	List	   *clauses;		/* the clauses of these quals */
	List	   *residual;		/* the other clauses of WHERE */
	List	   *row_quals;		/* row expressions of the other clauses, after a star's own (star.h) */
	List	   *row_keys;		/* row expressions of GROUP BY */
	List	   *aggregates;		/* RtscanPathAggregate * */
	List	   *sets;			/* from rows: RtscanPathSet *, each after its parent */
	int			most_parts;		/* how many sets are made from groups of others at the same time, at most */
	double		groups;			/* number of results, before HAVING */
	bool		on_device;		/* a device is expected to add up the rows; not if processes share segments */
	Cost		cpu_cost;		/* cost if the CPU adds up the rows */
} RtscanPath;

/* offer.c: install the planner hook. */
extern void rtscan_init_aggregate(void);

/* offer.c: return the number, from 0, of the key with a reference (SortGroupClause.tleSortGroupRef). */
extern int	rtscan_number_of_key(const RtscanRequest *request, Index reference);

/* path.c: return the cheapest path by any index of a request's table, or NULL. */
extern Path *rtscan_cheapest_path(const RtscanRequest *request);

/*
 * match.c: can the path's index compute the aggregates?  From bits, or from rows if by_rows is true or bits do not
 * suffice.  Only the latter can be shared among processes.
 */
extern bool rtscan_match_path(RtscanPath *path, bool by_rows);

/* match.c: return expressions without PlaceHolderVars, which have no meaning on a table's rows, below grouping sets. */
extern List *rtscan_expressions_of_rows(PlannerInfo *root, List *expressions);

/*
 * match_collected.c: can the values of an aggregate be collected, and does it need that?  Fills in everything but its
 * FILTER.
 */
extern bool rtscan_match_collected(RtscanPathAggregate *aggregate, const RtscanPath *path);

/*
 * price.c: is a percentile of a key column the only result, so that not all its values need to be collected
 * (run/answer/sampled_quantile.h, run/device_aggregate/histogram_quantile.h)?
 */
extern bool rtscan_is_single_quantile(const RtscanPath *path);

/* match.c: find the line of an aggregate that adds up values as they come. */
extern bool rtscan_match_line(RtscanPathAggregate *aggregate);

/*
 * device_cost.c: can a device add up this many rows (search/exec/device_aggregate.h), as far as that is known without
 * opening segments?  If so, add the cost of finding and adding them, and of the part of the CPU's work that remains.
 */
extern bool rtscan_device_agg_cost(const RtscanPath *path, double rows, const RtscanCost *of_cpu, RtscanCost *cost);

/*
 * device_match.c: return the kind of total, of a chunk or a device aggregate, that an aggregate is made from
 * (segment/totals.h), or RTSCAN_NO_TOTAL.
 */
extern RtscanTotalKind rtscan_total_kind_of(const RtscanPathAggregate *aggregate);

/* price.c: set the path's costs and rows. */
extern void rtscan_cost_path(RtscanPath *path);

/*
 * correlated.c: return the fraction of a subquery's executions, if it has a single result, whose parameters are new.
 * The others return a memoized result (run/node/memoize.h).
 */
extern double rtscan_new_parameters(const RtscanPath *path);

/* price.c: return the memory of a group in bytes, without its collections. */
extern double rtscan_group_bytes(const RtscanPath *path);

/*
 * price.c: do the groups that are made from rows fit in hash_mem?  If not, PostgreSQL's aggregation is better, which
 * spills rows before they have states.
 */
extern bool rtscan_path_groups_fit(const RtscanPath *path);

/* sets.c: arrange the request's grouping sets, for this many rows. */
extern void rtscan_arrange_sets(RtscanPath *path, double rows);

/* sets.c: return those of all keys that belong to a set. */
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
