/* SPDX-License-Identifier: PostgreSQL */
/*
 * star.h
 *		Stars: joins of an indexed table, the fact, with other relations, the dimensions, by keys that the index has.
 *
 * A dimension is any relation that is joined by "fact.column = key", with an operator of the column's family.  It is
 * planned as for PostgreSQL's own joins, and executed once: its keys become a condition of the filter, "column = ANY
 * (keys)".  It may be joined by several such equalities, none of which determines the matching row alone.  Then each
 * of them gives a condition, but rows may satisfy all of these with keys of different rows of the dimension.  So each
 * row is looked up by all keys together, for a boolean column, the *mark*, that says whether it matches.
 *
 *	inner		returns matching rows of the fact, once for each match, and columns of the dimension, the attributes
 *	left		the same, but rows without a match stay, with attributes that are NULL; its keys are no condition
 *	semi		returns matching rows of the fact, once
 *	anti		returns rows of the fact without a match; several keys are no condition, as each may match alone
 *
 * Attributes look like columns of the index, after its own, to all code that matches queries with the index and prices
 * them: a star with attributes has a copy of the IndexOptInfo with these columns.
 *
 * If the planner has proved that a key is unique in the dimension, a row of the fact matches one of its rows or none.
 * Otherwise the dimension *repeats* rows of the fact, and results for whole sets of its rows, such as their count,
 * cannot be used.
 *
 * A dimension may itself be a join, as in a snowflake schema, or a partition.  Then the planner has no proof that its
 * key is unique.  But if each of its rows stems from a different row of one of its tables, its *core*, then a key that
 * is unique in the core is unique in the dimension.
 *
 * If columns have to be fetched from the heap together with attributes, PostgreSQL executes the join; but the scan
 * below it returns only those rows of the fact that have a match (star_filter.c).
 *
 * A fact may have partitions or children, its leaves (leaves.h).  Each leaf is the fact of stars of its own, with the
 * same dimensions, and their results are appended.
 *
 * The planner joins two relations at a time.  So a star of some relations is made from one of fewer relations; it is
 * remembered by its join relation until planning ends, whichever paths the planner keeps.
 */
#ifndef RTSCAN_STAR_H
#define RTSCAN_STAR_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "plan/cost/cost.h"
#include "plan/quals/quals.h"

/* An equality by which a dimension is joined. */
typedef struct RtscanStarKey
{
	Expr	   *clause;			/* "column = key" or a clause equivalent to it */
	Expr	   *key;			/* the key, an expression of the dimension */
	/* the condition on the column, with the dimension's keys as values; unused by joins without one */
	RtscanQual *qual;
} RtscanStarKey;

/* A dimension of a star. */
typedef struct RtscanStarDimension
{
	RelOptInfo *rel;			/* the dimension */
	JoinType	type;			/* JOIN_INNER, JOIN_LEFT, JOIN_SEMI or JOIN_ANTI */
	List	   *keys;			/* RtscanStarKey * */
	/* the other join clauses of JOIN_INNER, evaluated on rows with attributes (RestrictInfo) */
	List	   *residual;
	Selectivity selectivity;	/* fraction of the fact's rows that remain, by all keys together */
	bool		repeats;		/* a row of the fact may match several rows */
	int			tables;			/* number of tables in the dimension's plan, with each leaf counted */
} RtscanStarDimension;

/* A fact with its dimensions. */
typedef struct RtscanStar
{
	/* the join relation; the fact itself without dimensions; for a leaf, the part of the join with the leaf's rows */
	RelOptInfo *rel;
	IndexOptInfo *index;		/* the index of the fact or leaf */
	RelOptInfo *table;			/* the table whose leaf the fact is; NULL: the fact is no leaf */
	int			leaves;			/* number of leaves of that table; 1 if the fact is no leaf */
	List	   *dimensions;		/* RtscanStarDimension * */
	int			disabled;		/* number of joins against advice (advice.h), in the best join order so far */
} RtscanStar;

/* A star that returns certain expressions. */
typedef struct RtscanJoin
{
	const RtscanStar *star;		/* the star */
	IndexOptInfo *index;		/* the index, with the attributes as its last columns */
	/* a path for each dimension, which returns its keys, then its attributes, then the mark */
	List	   *paths;
	List	   *common;			/* for each dimension, the number under which leaves share its rows, or 0 */
	List	   *row_quals;		/* row expressions that test marks, evaluated before all other quals of rows */
	bool		parallel_safe;	/* a parallel worker may execute all paths */
} RtscanJoin;

/* star_offer.c: install the planner hook. */
extern void rtscan_init_star(void);

/*
 * star_offer.c: return the stars that a join relation is (RtscanStar *), and those of leaves that make up parts of it.
 */
extern List *rtscan_stars_of(PlannerInfo *root, const RelOptInfo *rel);

/* star_offer.c: return the tables whose leaves are facts of a join relation's stars (RelOptInfo *). */
extern List *rtscan_facts_of_leaves(PlannerInfo *root, const RelOptInfo *rel);

/*
 * star.c: return the star that another star becomes with a relation, which has these cores, as a further dimension;
 * NULL if it cannot be one.
 */
extern RtscanStar *rtscan_add_dimension(PlannerInfo *root, const RtscanStar *star, RelOptInfo *joinrel,
										RelOptInfo *inner, Relids cores, JoinType type, const JoinPathExtraData *extra);

/* star.c: does the join return each row of the outer relation at most once? */
extern bool rtscan_meets_one(JoinType type, const JoinPathExtraData *extra);

/* star.c: return the number of tables among these relations, with each leaf counted. */
extern int	rtscan_count_tables(PlannerInfo *root, Relids relids);

/* star_leaf.c: the same as rtscan_add_dimension(), for a leaf's star, where the join is that of the whole fact. */
extern RtscanStar *rtscan_add_dimension_to_leaf(PlannerInfo *root, const RtscanStar *star, RelOptInfo *joinrel,
												RelOptInfo *inner, Relids cores, JoinType type,
												const JoinPathExtraData *extra);

/*
 * star_leaf.c: may these stars of leaves, to each of which one dimension has been added, be used?  A subquery that is
 * planned on its own may return other rows each time, for instance with LIMIT.  Then all leaves must share its rows,
 * and so look them up by the same columns.
 */
extern bool rtscan_leaves_agree(PlannerInfo *root, const List *stars, const RelOptInfo *inner);

/*
 * star_leaf.c: return the number under which the leaves of a table share the rows of a dimension with a path's
 * columns.
 */
extern int	rtscan_number_of_common(PlannerInfo *root, const RelOptInfo *table, const Path *path);

/* star.c: make the SpecialJoinInfo of a semi join of two relations, for selectivity estimates. */
extern SpecialJoinInfo *rtscan_semi_join(const RelOptInfo *table, const RelOptInfo *other);

/* Does a star return rows of the fact once for each match? */
extern bool rtscan_repeats_rows(const RtscanStar *star);

/* Do a star's rows differ from the fact's: do they have attributes, or are they repeated? */
extern bool rtscan_changes_rows(const RtscanJoin *join);

/* star_path.c: make a star return expressions; NULL if it does not have all of them, or needs too much memory. */
extern RtscanJoin *rtscan_join_star(PlannerInfo *root, const RtscanStar *star, List *expressions, bool parallel);

/* Does it take several keys to determine the matching row? */
static inline bool
rtscan_has_several_keys(const RtscanStarDimension *dimension)
{
	return list_length(dimension->keys) > 1;
}

/* Return the number of attributes, with the mark, that a dimension's path returns besides the keys. */
extern int	rtscan_count_attributes(const RtscanStarDimension *dimension, const Path *path);

/* Return the clauses that are evaluated on rows with attributes (RestrictInfo). */
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
 * star_cost.c: return the cost of the dimensions and their conditions, and reduce *rows to those rows of the fact that
 * remain.
 */
extern RtscanCost rtscan_join_cost(const RtscanJoin *join, PlannerInfo *root, double *rows);

/*
 * star_filter.c: offer PostgreSQL's hash join of a table with another relation, in which the table's scan returns only
 * rows that have a match.  The stars are those of the table's indexes, or of its leaves', without dimensions.  The
 * join must not need the table's other rows.
 */
extern void rtscan_offer_filtered(PlannerInfo *root, RelOptInfo *table, List *stars, RelOptInfo *joinrel,
								  RelOptInfo *other, bool table_is_outer, JoinType type, JoinPathExtraData *extra);

/*
 * scan_path.c: return a path of a star's rows, shared by this many workers, or executed by one of several; NULL if the
 * star does not have all that is needed.
 */
extern Path *rtscan_join_scan_path(PlannerInfo *root, const RtscanStar *star, int workers, bool in_worker);

#endif							/* RTSCAN_STAR_H */
