/*
 * star.h
 *		Stars: an index of a table, the fact, joined with others, the dimensions, by what the index looks up.
 *
 * A dimension is any relation that is joined by "fact.column = key", with an operator of the column's family.  It is planned as it would
 * be for PostgreSQL's own joins, and executed once: its keys are a condition of the filter, "column = ANY (keys)".  It may be joined by
 * several such equalities, where one alone does not say which row is met.  Then each gives such a condition, but of pairs that are
 * none: so its rows are looked up by all keys together, for a column that tells which rows of the fact meet one, its *mark*.
 *
 *	inner		rows of the fact that meet any, as often as they do; it may have attributes, columns that the query wants
 *	left		likewise; rows of the fact that meet none stay, with attributes that are NULL: its keys are no condition
 *	semi		rows of the fact that meet any
 *	anti		rows that meet none; of several keys there is no condition, as each of them may be met
 *
 * To all that finds out what an index can do, and what that costs, the attributes are columns of the index, behind its own: a star
 * that is asked for some has a copy of the IndexOptInfo with them.
 *
 * Where the planner has proved that the dimension has a key only once, a row of the fact meets one of its rows, or none.  Else the dimension
 * *repeats* rows of the fact, and what is known of these together, as how many they are, is of no use.
 *
 * A dimension may be a join itself, as of a snowflake, or a partition.  Then the planner has no proof that its key is unique; but where each
 * row of it comes from another row of one of its tables, its *core*, the key is unique if it is in the core.
 *
 * Where rows come from the heap together with what they meet, PostgreSQL joins them; but it is given only the rows of the fact that meet any.
 *
 * A fact may have partitions, or children: leaves (leaves.h).  Each of them is a fact of stars of its own, with the same dimensions, whose
 * results are appended.
 *
 * The planner joins two relations at a time; so a star of some relations is made of that of fewer, and is remembered with its join
 * relation until the planner is done, whatever paths that keeps.
 */
#ifndef RTSCAN_STAR_H
#define RTSCAN_STAR_H

#include "rtscan.h"

#include "nodes/pathnodes.h"
#include "plan/cost/cost.h"
#include "plan/quals/quals.h"

/* What a relation is joined by. */
typedef struct RtscanStarKey
{
	Expr	   *clause;			/* column = key, or the like */
	Expr	   *key;
	RtscanQual *qual;			/* of the index: it takes its values from the dimension; or what it would be, if it is no condition */
} RtscanStarKey;

/* A relation joined. */
typedef struct RtscanStarDimension
{
	RelOptInfo *rel;
	JoinType	type;			/* JOIN_INNER, JOIN_LEFT, JOIN_SEMI or JOIN_ANTI */
	List	   *keys;			/* RtscanStarKey * */
	List	   *residual;		/* of JOIN_INNER: what else joins it, asked of rows with attributes (RestrictInfo) */
	Selectivity selectivity;	/* of the fact's rows, by all keys */
	bool		repeats;		/* a row of the fact may meet several */
	int			tables;			/* that its plan is about, leaves counted each */
} RtscanStarDimension;

typedef struct RtscanStar
{
	RelOptInfo *rel;			/* the join; or the fact, without dimensions; of a leaf, the part of the join that has the leaf's rows */
	IndexOptInfo *index;		/* of the fact, */
	RelOptInfo *table;			/* which is a leaf of this, */
	int			leaves;			/* one of so many; or NULL, and 1 */
	List	   *dimensions;		/* RtscanStarDimension *, */
	int			disabled;		/* of which so many are joined against advice (advice.h), in the best order */
} RtscanStar;

/* A star that is asked for some expressions. */
typedef struct RtscanJoin
{
	const RtscanStar *star;
	IndexOptInfo *index;		/* with the attributes that these have as its last columns */
	List	   *paths;			/* by dimension: its keys, then its attributes, the mark last; */
	List	   *common;			/* its number, if leaves have it in common, or 0 */
	List	   *row_quals;		/* row expressions that ask for marks, before anything else is asked of rows */
	bool		parallel_safe;
} RtscanJoin;

/* star_offer.c: hook into the planner. */
extern void rtscan_init_star(void);

/* The stars that a join relation is (RtscanStar *), and those that are its parts, of leaves. */
extern List *rtscan_stars_of(PlannerInfo *root, const RelOptInfo *rel);

/* The tables of a join relation that these are leaves of (RelOptInfo *). */
extern List *rtscan_facts_of_leaves(PlannerInfo *root, const RelOptInfo *rel);

/*
 * star.c: the star that a relation, with these cores, makes of another star; NULL: it is no dimension of it.  Does a row of an outer relation
 * meet no more than one of an inner one?
 */
extern RtscanStar *rtscan_add_dimension(PlannerInfo *root, const RtscanStar *star, RelOptInfo *joinrel, RelOptInfo *inner,
										Relids cores, JoinType type, const JoinPathExtraData *extra);
extern bool rtscan_meets_one(JoinType type, const JoinPathExtraData *extra);

/* star.c: tables that the plan of a relation is about, leaves counted each. */
extern int	rtscan_count_tables(PlannerInfo *root, Relids relids);

/* star_leaf.c: likewise, where the star is a leaf's, and the join that of the whole fact. */
extern RtscanStar *rtscan_add_dimension_to_leaf(PlannerInfo *root, const RtscanStar *star, RelOptInfo *joinrel, RelOptInfo *inner,
												Relids cores, JoinType type, const JoinPathExtraData *extra);

/*
 * star_leaf.c: may leaves' stars, made by adding one dimension, be used?  What a subquery that is planned on its own returns may differ from time to
 * time, as of LIMIT: then all must have it in common, and so look it up by the same columns.
 */
extern bool rtscan_leaves_agree(PlannerInfo *root, const List *stars, const RelOptInfo *inner);

/* star_leaf.c: the number of what leaves of a table have in common, a dimension of which a path's columns are asked for. */
extern int	rtscan_number_of_common(PlannerInfo *root, const RelOptInfo *table, const Path *path);

/* star.c: the join of a relation with another one, as if any of its rows would do: for an estimate. */
extern SpecialJoinInfo *rtscan_semi_join(const RelOptInfo *table, const RelOptInfo *other);

/* Do rows of the fact come as often as they meet one of a dimension's? */
extern bool rtscan_repeats_rows(const RtscanStar *star);

/* Are its rows other ones than the fact's: with attributes, or more often? */
extern bool rtscan_changes_rows(const RtscanJoin *join);

/* star_path.c: ask a star for expressions; NULL if it has not all of them, or takes too much memory. */
extern RtscanJoin *rtscan_join_star(PlannerInfo *root, const RtscanStar *star, List *expressions, bool parallel);

/* What is asked of rows with attributes (RestrictInfo). */
extern List *rtscan_join_residual(const RtscanJoin *join);

/* The dimensions' keys as conditions, added to those of the fact; and their clauses, as they are shown. */
extern RtscanQuals rtscan_join_quals(const RtscanJoin *join, const RtscanQuals *quals);
extern List *rtscan_join_clauses(const RtscanJoin *join);

/* The dimensions for a plan (RtscanPlanDimension *). */
extern List *rtscan_plan_dimensions(const RtscanJoin *join);

/* May EXPLAIN tell what of a dimension the index has? */
extern bool rtscan_join_may_tell(PlannerInfo *root, const RtscanJoin *join);

/* What the dimensions and their conditions take, and how many rows of the fact they leave. */
extern RtscanCost rtscan_join_cost(const RtscanJoin *join, PlannerInfo *root, double *rows);

/*
 * star_filter.c: offer a join of a table, that is the stars of its indexes without dimensions, or those of its leaves, with another relation, of
 * whose rows each may meet several: by PostgreSQL's hash join, of the table's rows that meet any.  The table's others must not matter to it.
 */
extern void rtscan_offer_filtered(PlannerInfo *root, RelOptInfo *table, List *stars, RelOptInfo *joinrel, RelOptInfo *other,
								  bool table_is_outer, JoinType type, JoinPathExtraData *extra);

/* scan_path.c: the path that returns a star's rows, shared by so many workers, or by one of several; NULL: it has not all that is wanted. */
extern Path *rtscan_join_scan_path(PlannerInfo *root, const RtscanStar *star, int workers, bool in_worker);

#endif							/* RTSCAN_STAR_H */
