/*
 * path.h
 *		How an index would answer a request for aggregates, and what that costs.
 *
 * For each index of a table: match.c finds out whether it can answer, and how; price.c says what that
 * costs; and make_node.c makes a plan of the path that the planner has chosen.
 */
#ifndef RTSCAN_PATH_H
#define RTSCAN_PATH_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "plan/quals/quals.h"
#include "plan/star/star.h"
#include "run/plan/node_plan.h"
#include "segment/totals.h"

/* What is asked of a table. */
typedef struct RtscanRequest
{
	PlannerInfo *root;
	RelOptInfo *table;
	RelOptInfo *input;			/* of whose rows: the table, or a join */
	const RtscanStar *star;		/* which this is, whose fact the table is; NULL: none, or one of leaves (leaves.h) */
	RelOptInfo *output;			/* what the path is one of, */
	PathTarget *target;			/* and what it computes */
	List	   *group_clauses;	/* SortGroupClause, */
	List	   *keys;			/* and their expressions, of rows; */
	List	   *output_keys;	/* as they are in results, where grouping sets may make them NULL */
	List	   *sets;			/* Bitmapset *: grouping sets, of numbers of keys; an empty one if there is no GROUP BY */
	List	   *groupings;		/* GroupingFunc */
	List	   *aggrefs;
	List	   *having;
	bool		distinct;		/* the groups of DISTINCT are asked for */
	bool		parallel_safe;	/* a worker may compute them, as far as keys, aggregates and WHERE go */
	bool		partial;		/* the aggregates' transition states are asked for */
	int			workers;		/* processes that share the work, besides the leader; then it is partial */
	bool		in_worker;		/* one of several processes does it, or they share it */
} RtscanRequest;

/* An aggregate, as the index computes it: from bits, */
typedef struct RtscanPathAggregate
{
	Aggref	   *aggref;
	List	   *arguments;
	int			kind;			/* of RtscanAccumulation */
	int			column;			/* -1: it has none */
	RtscanQuals filter;
	int			line;			/* or from rows: of aggregates.c; */
	List	   *row_arguments;	/* row expressions, */
	bool		of_entries;		/* of which tallies have no total (run/tally/entries.h), */
	List	   *choices;		/* or choices, which have totals (run/tally/choices.h): RtscanChoice *; */
	Expr	   *row_filter;		/* this one is NULL if there is none */
	Oid			fold;			/* the function that makes one value of two, if that is all that it does */
	RtscanCollected collected;	/* values are collected for this, */
	Expr	   *fractions;		/* and of percentiles, these are asked for */
} RtscanPathAggregate;

/* A grouping set: how its groups are made. */
typedef struct RtscanPathSet
{
	Bitmapset  *keys;			/* numbers of keys */
	double		groups;
	double		bytes;			/* of these in memory, and their collections */
	int			parent;			/* the set before it that its groups are made of; -1: of rows */
	bool		asked;			/* or is it there for others? */
} RtscanPathSet;

/* A path, with what it hands to its plan. */
typedef struct RtscanPath
{
	CustomPath	path;
	const RtscanRequest *request;
	IndexOptInfo *index;		/* of a star with its attributes, */
	const RtscanJoin *join;		/* which this is, or NULL */
	bool		by_rows;
	RtscanQuals *quals;			/* that the index answers, */
	List	   *clauses;		/* which are these of WHERE's */
	List	   *residual;		/* the others, */
	List	   *row_quals;		/* as row expressions, behind a star's own (star.h) */
	List	   *row_keys;		/* of GROUP BY */
	List	   *aggregates;		/* RtscanPathAggregate * */
	List	   *sets;			/* by rows: RtscanPathSet *, each after its parent, */
	int			most_parts;		/* of which so many are made at once of others' groups */
	double		groups;			/* results, before HAVING */
	bool		tallied;		/* another executor than the CPU is expected to add rows up, which processes that share segments do without; */
	Cost		cpu_cost;		/* without that */
} RtscanPath;

/* offer.c: hook into the planner. */
extern void rtscan_init_aggregate(void);

/* The number, from 0, of the key with a reference (SortGroupClause.tleSortGroupRef). */
extern int	rtscan_number_of_key(const RtscanRequest *request, Index reference);

/* path.c: the cheapest path of all indexes of a request's table, or NULL. */
extern Path *rtscan_cheapest_path(const RtscanRequest *request);

/*
 * match.c: can the path's index answer, from bits, or from rows where that is wanted or bits are not enough?  Only the latter can be shared among
 * processes.
 */
extern bool rtscan_match_path(RtscanPath *path, bool by_rows);

/* match.c: expressions without the placeholders of what comes from a subquery: below grouping sets, of a table's rows, these mean nothing. */
extern List *rtscan_expressions_of_rows(PlannerInfo *root, List *expressions);

/* match_collected.c: can values be collected for an aggregate, and is it one that wants that?  Finds all but its FILTER. */
extern bool rtscan_match_collected(RtscanPathAggregate *aggregate, const RtscanPath *path);

/* price.c: is a percentile the only result, of a key column whose values need not all be collected (run/answer/narrowed.h, run/tally/binned.h)? */
extern bool rtscan_is_narrowed(const RtscanPath *path);

/* match.c: find the line of an aggregate whose values are added as they come. */
extern bool rtscan_match_line(RtscanPathAggregate *aggregate);

/*
 * tally_cost.c: can an executor add up so many rows itself (search/exec/tally.h), as far as is known without its segments?  Then add what finding and
 * adding them takes, with what is left of the CPU's work.
 */
extern bool rtscan_tally_cost(const RtscanPath *path, double rows, const RtscanCost *of_cpu, RtscanCost *cost);

/* Likewise: what a chunk's, or a tally's, total is of that the aggregate is made of (segment/totals.h); RTSCAN_NO_TOTAL: there is none. */
extern RtscanTotalKind rtscan_total_kind_of(const RtscanPathAggregate *aggregate);

/* price.c: cost the path, and estimate its rows. */
extern void rtscan_cost_path(RtscanPath *path);

/*
 * correlated.c: which part of the executions of a subquery that has one result has parameters that did not come before?  The others give
 * the result that is remembered (run/node/remembered.h).
 */
extern double rtscan_new_parameters(const RtscanPath *path);

/* A group's memory, without its collections. */
extern double rtscan_group_bytes(const RtscanPath *path);

/* Do its groups of rows fit hash_mem?  If not, PostgreSQL's own aggregation, which spills rows before it has states for them, is better. */
extern bool rtscan_path_groups_fit(const RtscanPath *path);

/* sets.c: arrange the request's sets for so many rows; those that a set has, of a list of all keys. */
extern void rtscan_arrange_sets(RtscanPath *path, double rows);
extern List *rtscan_keys_of_set(List *keys, const Bitmapset *set);

/* Is there a set with keys? */
static inline bool
rtscan_is_grouped(const RtscanRequest *request)
{
	return request->keys != NIL;
}

/* make_node.c: a CustomPath's PlanCustomPath. */
extern Plan *rtscan_plan_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *custom_path, List *tlist,
							  List *clauses, List *custom_plans);

#endif							/* RTSCAN_PATH_H */
