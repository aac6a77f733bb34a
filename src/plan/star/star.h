/* SPDX-License-Identifier: PostgreSQL */
/*
 * star.h
 *		Stars: joins of an indexed table, the fact, with other relations, the dimensions, by keys that the index has.
 *
 * A dimension is any relation that is joined by "fact.column = key", with an operator of the column's family.  It is
 * planned as for PostgreSQL's own joins, and executed once: its keys become a condition of the filter, "column = ANY
 * (keys)".
 *
 * A dimension may be joined by several equalities, none of which determines the matching row alone.  Each equality
 * gives a condition, but a row of the fact may satisfy all conditions with keys of different rows of the dimension.  So
 * each row of the fact is looked up by all keys together.  The result is a boolean column, the *mark*, which says
 * whether the row has a match.
 *
 *	inner		returns matching rows of the fact, once for each match, and columns of the dimension, the attributes
 *	left		as inner, but rows without a match stay, with attributes that are NULL; the keys give no condition
 *	semi		returns matching rows of the fact, once
 *	anti		returns rows of the fact without a match; a single key gives a condition; several keys give none, since
 *				each of them may match a different row of the dimension
 *
 * A star with attributes has a copy of the IndexOptInfo, in which the attributes are columns after the index's own.  So
 * all code that matches queries with an index, and prices them, treats attributes as columns of the index.
 *
 * If the planner has proved that a key is unique in the dimension, a row of the fact matches one row of the dimension
 * or none.  Otherwise the dimension *repeats* rows of the fact.  Then results for whole sets of the fact's rows, such
 * as counts of bits, cannot be used.
 *
 * A dimension may itself be a join, as in a snowflake schema, or a partition.  Then the planner has no proof that its
 * key is unique.  But a table of the dimension is a *core* if each row of the dimension stems from a different row of
 * this table.  A key that is unique in a core is unique in the dimension.
 *
 * If columns have to be fetched from the heap together with attributes, PostgreSQL executes the join.  But the scan
 * below the join returns only those rows of the fact that have a match (star_filter.c).
 *
 * A fact may have partitions or children, its leaves (leaves.h).  Each leaf is the fact of stars of its own, with the
 * same dimensions, and their results are appended.
 *
 * The planner joins two relations at a time.  So a star is made by adding a dimension to a smaller star.  Each
 * star is remembered by its join relation until planning ends, whichever paths the planner keeps.
 */
#ifndef RTSCAN_STAR_H
#define RTSCAN_STAR_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "plan/cost/cost.h"
#include "plan/quals/quals.h"
#include "plan/rows/join_rows.h"

/* An equality by which a dimension is joined. */
typedef struct RtscanStarKey
{
	Expr	   *clause;			/* "column = key" or a clause equivalent to it */
	Expr	   *key;			/* the key, an expression of the dimension */

	/*
	 * the condition "column = ANY (keys)"; for JOIN_ANTI, the condition that the column's value, which may be NULL,
	 * is none of the keys; has_conditions() in star_path.c tells whether the filter has the condition
	 */
	RtscanQual *qual;
} RtscanStarKey;

/* A dimension of a star. */
typedef struct RtscanStarDimension
{
	RelOptInfo *rel;			/* the dimension */
	JoinType	type;			/* JOIN_INNER, JOIN_LEFT, JOIN_SEMI or JOIN_ANTI */
	List	   *keys;			/* RtscanStarKey * */
	/* JOIN_INNER: the join clauses besides those of "keys", evaluated on rows with attributes (RestrictInfo) */
	List	   *residual;
	Selectivity selectivity;	/* fraction of the fact's rows that remain after the join by all keys */
	bool		repeats;		/* a row of the fact may match several rows of the dimension */
	int			tables;			/* number of tables in the dimension's plan, with each leaf counted */
} RtscanStarDimension;

/* A fact with its dimensions. */
typedef struct RtscanStar
{
	/* the join relation; without dimensions, the fact; for a leaf, the part of the join with the leaf's rows */
	RelOptInfo *rel;
	IndexOptInfo *index;		/* the index of the fact or leaf */
	RelOptInfo *table;			/* the table whose leaf the fact is; NULL: the fact is no leaf */
	int			leaves;			/* number of leaves of "table"; 1 if the fact is no leaf */
	List	   *dimensions;		/* RtscanStarDimension * */
	int			disabled;		/* number of joins against advice (advice.h), in the best join order so far */
} RtscanStar;

/* A star with paths of its dimensions, which returns certain expressions. */
typedef struct RtscanJoin
{
	const RtscanStar *star;		/* the star */
	IndexOptInfo *index;		/* the index, with the attributes as its last columns */
	/* a path for each dimension, which returns its keys, then its attributes, then the mark */
	List	   *paths;
	List	   *common;			/* for each dimension, the number under which leaves share its rows, or 0 */
	List	   *row_quals;		/* row expressions that test marks, evaluated before all other quals of rows */
	bool		parallel_safe;	/* a parallel worker may execute all paths */
	double		passes;			/* how many times the fact is searched: once for each combination of ranges of keys */
} RtscanJoin;

/* star_offer.c: install the planner hook. */
extern void rtscan_init_star(void);

/*
 * star_offer.c: return the remembered stars of a join relation (RtscanStar *): those that return all of its rows, and
 * those of leaves, each of which returns a part of its rows.
 */
extern List *rtscan_stars_of(PlannerInfo *root, const RelOptInfo *rel);

/* star_offer.c: return the tables whose leaves are facts of a join relation's stars (RelOptInfo *). */
extern List *rtscan_facts_of_leaves(PlannerInfo *root, const RelOptInfo *rel);

/*
 * star.c: return the star that "star" becomes with "inner", whose cores are "cores", as a further dimension; NULL if
 * "inner" cannot be a dimension.
 */
extern RtscanStar *rtscan_add_dimension(PlannerInfo *root, const RtscanStar *star, RelOptInfo *joinrel,
										RelOptInfo *inner, Relids cores, JoinType type, const JoinPathExtraData *extra);

/* star.c: does the join return each row of the outer relation at most once? */
extern bool rtscan_meets_one(JoinType type, const JoinPathExtraData *extra);

/* star.c: return the number of tables in "relids", with each leaf of a table and each table of a subquery counted. */
extern int	rtscan_count_tables(PlannerInfo *root, Relids relids);

/*
 * star_leaf.c: the same as rtscan_add_dimension() for a leaf's star; "joinrel" and "extra" are about the join of the
 * whole fact.
 */
extern RtscanStar *rtscan_add_dimension_to_leaf(PlannerInfo *root, const RtscanStar *star, RelOptInfo *joinrel,
												RelOptInfo *inner, Relids cores, JoinType type,
												const JoinPathExtraData *extra);

/*
 * star_leaf.c: may "stars" be used together?  They are stars of leaves, and "inner" has been added to each of them as a
 * dimension.  If "inner" has a subquery, it may return other rows each time it is executed, for instance with LIMIT.
 * Then all leaves must share its rows, and must look them up by the same columns.
 */
extern bool rtscan_leaves_agree(PlannerInfo *root, const List *stars, const RelOptInfo *inner);

/*
 * star_leaf.c: return the number under which the leaves of "table" share the rows of the dimension that "path" returns.
 * Each combination of table, dimension and columns of the path has its own number.
 */
extern int	rtscan_number_of_common(PlannerInfo *root, const RelOptInfo *table, const Path *path);

/* May a star return a row of the fact several times, once for each match? */
extern bool rtscan_repeats_rows(const RtscanStar *star);

/* Do a star's rows differ from the fact's?  They do if they have attributes or marks, or may be repeated. */
extern bool rtscan_changes_rows(const RtscanJoin *join);

/*
 * star_path.c: make the RtscanJoin in which a star returns "expressions"; "parallel": only by parallel-safe paths.
 * NULL if the star cannot return all expressions, or if the fact would be searched too often.
 */
extern RtscanJoin *rtscan_join_star(PlannerInfo *root, const RtscanStar *star, List *expressions, bool parallel);

/* Does a dimension have several keys, which determine the matching row only together? */
static inline bool
rtscan_has_several_keys(const RtscanStarDimension *dimension)
{
	return list_length(dimension->keys) > 1;
}

/* Return how many columns besides the keys a dimension's path returns: the attributes, and the mark if there is one. */
extern int	rtscan_count_attributes(const RtscanStarDimension *dimension, const Path *path);

/* Return the join clauses that are evaluated on rows with attributes (RestrictInfo). */
extern List *rtscan_join_residual(const RtscanJoin *join);

/* Return the fact's quals with the dimensions' keys as further conditions. */
extern RtscanQuals rtscan_join_quals(const RtscanJoin *join, const RtscanQuals *quals);

/* Return the join clauses of each dimension, for EXPLAIN. */
extern List *rtscan_join_clauses(const RtscanJoin *join);

/* Make the dimensions of a plan (RtscanPlanDimension *). */
extern List *rtscan_plan_dimensions(const RtscanJoin *join);

/* May EXPLAIN show how many of a dimension's keys the index has? */
extern bool rtscan_join_may_tell(PlannerInfo *root, const RtscanJoin *join);

/*
 * star_cost.c: return the cost of loading the dimensions and applying their conditions.  *rows is the number of rows of
 * the fact before the join, and becomes the number of rows of the star.
 */
extern RtscanCost rtscan_join_cost(const RtscanJoin *join, PlannerInfo *root, double *rows);

/*
 * star_filter.c: offer PostgreSQL's hash join of a table with another relation, in which the table's scan returns only
 * rows that have a match.  "stars" are stars without dimensions, of the table's indexes or of its leaves' indexes.  The
 * join must not need the table's rows without a match.
 */
extern void rtscan_offer_filtered(PlannerInfo *root, RelOptInfo *table, List *stars, RelOptInfo *joinrel,
								  RelOptInfo *other, bool table_is_outer, JoinType type, JoinPathExtraData *extra);

/*
 * scan_path.c: return a path of a star's rows, which "workers" workers and the leader share.  "in_worker": a worker may
 * execute it, by itself or with others.  NULL if the star does not have all that the path has to return.
 */
extern Path *rtscan_join_scan_path(PlannerInfo *root, const RtscanStar *star, int workers, bool in_worker);

#endif							/* RTSCAN_STAR_H */
