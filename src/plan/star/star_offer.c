/* SPDX-License-Identifier: PostgreSQL */
/*
 * star_offer.c
 *		Finds stars, remembers them, and offers the planner paths in which RtscanScan returns their rows.
 */
#include "plan/star/star.h"

#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "plan/cost/indexes.h"
#include "plan/cost/leaves.h"
#include "plan/quals/planning_run.h"
#include "settings.h"

/* At most this many stars of a join relation and a fact are remembered: with different indexes or dimensions. */
#define MAX_STARS	8

/*
 * No stars are made if the number of a fact's leaves times the number of a dimension's tables exceeds this limit.  Each
 * leaf has its own plan of the dimension.  Only one of these plans is executed, but the scans of all of them have to be
 * planned and initialized.
 */
#define MAX_SCANS	5000

/* The remembered stars of a join relation. */
typedef struct JoinStars
{
	const RelOptInfo *rel;		/* hash key */
	List	   *stars;			/* RtscanStar * */
	Relids		cores;			/* tables that are cores of the relation (star.h) */
} JoinStars;

/* The data of the planning run; its entries are JoinStars, by RelOptInfo. */
static RtscanPlanningRun *memory;
static set_join_pathlist_hook_type previous_hook;

/* ---------------------------------------------------------------- memory */

static RtscanPlanningRun *
this_run(PlannerInfo *root)
{
	return rtscan_planning_run(root, &memory, sizeof(RtscanPlanningRun), sizeof(JoinStars));
}

static JoinStars *
remembered(PlannerInfo *root, const RelOptInfo *rel)
{
	bool		found;
	JoinStars  *stars = hash_search(this_run(root)->entries, &rel, HASH_ENTER, &found);

	if (!found)
		*stars = (JoinStars) {.rel = rel};
	return stars;
}

/* Return the entry of a relation, or NULL. */
static const JoinStars *
recall(PlannerInfo *root, const RelOptInfo *rel)
{
	return memory && memory->run == root->glob ? hash_search(memory->entries, &rel, HASH_FIND, NULL) : NULL;
}

List *
rtscan_stars_of(PlannerInfo *root, const RelOptInfo *rel)
{
	const JoinStars *stars = recall(root, rel);

	return stars ? stars->stars : NIL;
}

/* Return the tables that are cores of a relation. */
static Relids
cores_of(PlannerInfo *root, const RelOptInfo *rel)
{
	const JoinStars *stars = IS_SIMPLE_REL(rel) ? NULL : recall(root, rel);

	return IS_SIMPLE_REL(rel) ? rel->relids : stars ? stars->cores : NULL;
}

List *
rtscan_facts_of_leaves(PlannerInfo *root, const RelOptInfo *rel)
{
	List	   *facts = NIL;
	ListCell   *cell;

	foreach(cell, rtscan_stars_of(root, rel))
		if (((RtscanStar *) lfirst(cell))->table)
			facts = list_append_unique_ptr(facts, ((RtscanStar *) lfirst(cell))->table);
	return facts;
}

static bool
has_dimension(const RtscanStar *star, const RelOptInfo *rel)
{
	ListCell   *cell;

	foreach(cell, star->dimensions)
		if (((RtscanStarDimension *) lfirst(cell))->rel == rel)
			return true;
	return false;
}

/*
 * Does "star" have the index and the dimensions of "before", in any order, and "inner" as its only further dimension?
 */
static bool
is_extended(const RtscanStar *star, const RtscanStar *before, const RelOptInfo *inner)
{
	ListCell   *cell;

	if (star->index != before->index || list_length(star->dimensions) != list_length(before->dimensions) + 1 ||
		!has_dimension(star, inner))
		return false;
	foreach(cell, before->dimensions)
		if (!has_dimension(star, ((RtscanStarDimension *) lfirst(cell))->rel))
			return false;
	return true;
}

/* Return the known star that "before" becomes with "inner" as a further dimension; NULL if it is not known. */
static RtscanStar *
find_extended(const JoinStars *known, const RtscanStar *before, const RelOptInfo *inner)
{
	ListCell   *cell;

	foreach(cell, known->stars)
		if (is_extended(lfirst(cell), before, inner))
			return lfirst(cell);
	return NULL;
}

/* Have MAX_STARS stars of a join relation been remembered whose fact is "table"? */
static bool
has_enough(const JoinStars *known, const RelOptInfo *table)
{
	int			others = 0;
	ListCell   *cell;

	foreach(cell, known->stars)
		others += ((RtscanStar *) lfirst(cell))->index->rel == table;
	return others >= MAX_STARS;
}

/* ---------------------------------------------------------------- paths */

/*
 * May EvalPlanQual() recheck rows of the query?  A node that executes a join could not tell which rows to return then.
 */
static bool
may_be_rechecked(PlannerInfo *root)
{
	return root->rowMarks != NIL || root->parse->resultRelation != 0;
}

static void
offer_rows(PlannerInfo *root, const RtscanStar *star)
{
	RelOptInfo *fact = star->index->rel;
	Path	   *path = rtscan_join_scan_path(root, star, 0, false);
	int			workers;

	if (path == NULL)
		return;
	workers = star->rel->consider_parallel && fact->consider_parallel ? rtscan_workers(fact, path->total_cost, 0) : 0;
	add_path(star->rel, rtscan_compat_name_relations(root, path));
	path = workers > 0 ? rtscan_join_scan_path(root, star, workers, true) : NULL;
	if (path)
		add_partial_path(star->rel, rtscan_compat_name_relations(root, path));
}

/* Return the cheapest path of a leaf's stars, with the leaf as its parent; or NULL. */
static Path *
leaf_path(PlannerInfo *root, const RelOptInfo *joinrel, RelOptInfo *leaf, bool in_worker)
{
	Path	   *cheapest = NULL;
	ListCell   *cell;

	foreach(cell, rtscan_stars_of(root, joinrel))
	{
		const RtscanStar *star = lfirst(cell);
		Path	   *path = star->index->rel == leaf ? rtscan_join_scan_path(root, star, 0, in_worker) : NULL;

		if (path && rtscan_compat_is_cheaper(path, cheapest))
			cheapest = path;
	}
	if (cheapest)
		cheapest->parent = leaf;
	return cheapest;
}

/*
 * Return an Append of the join's rows, by one process or in parallel.  NULL if there are no leaves, if a leaf has no
 * path, or if a parallel Append may use no workers.  The Append's parent is the fact, because the planner has the data
 * to exclude leaves only for the fact.
 */
static Path *
append_rows(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *fact, bool parallel)
{
	List	   *paths = NIL;
	ListCell   *cell;

	foreach(cell, rtscan_leaves_of(root, fact))
	{
		Path	   *path = leaf_path(root, joinrel, lfirst(cell), parallel);

		if (path == NULL)
			return NULL;
		paths = lappend(paths, path);
	}
	if (paths == NIL || (parallel && rtscan_workers_for_leaves(paths) == 0))
		return NULL;
	return (Path *) create_projection_path(root, joinrel,
										   rtscan_append_leaves(root, fact, joinrel->reltarget, paths, parallel),
										   joinrel->reltarget);
}

static void
offer_rows_of_leaves(PlannerInfo *root, RelOptInfo *joinrel)
{
	ListCell   *cell;

	foreach(cell, rtscan_facts_of_leaves(root, joinrel))
	{
		Path	   *path = append_rows(root, joinrel, lfirst(cell), false);

		if (path == NULL)
			continue;
		add_path(joinrel, path);
		path = joinrel->consider_parallel ? append_rows(root, joinrel, lfirst(cell), true) : NULL;
		if (path && path->parallel_safe)
			add_partial_path(joinrel, path);
	}
}

/* ---------------------------------------------------------------- the hook */

/*
 * Return a star without dimensions for each index of the table "rel".  If "rel" is a leaf, "table" is the table that
 * has the leaf, and "leaves" is the number of leaves of "table".
 */
static List *
stars_of_table(PlannerInfo *root, RelOptInfo *rel, RelOptInfo *table, int leaves)
{
	List	   *stars = NIL;
	ListCell   *cell;

	if (!rtscan_can_answer(root, rel) || !bms_is_empty(rel->lateral_relids))
		return NIL;
	foreach(cell, rtscan_usable_indexes(rel))
	{
		RtscanStar *star = palloc(sizeof(RtscanStar));

		*star = (RtscanStar) {.rel = rel, .index = lfirst_node(IndexOptInfo, cell), .table = table, .leaves = leaves};
		stars = lappend(stars, star);
	}
	return stars;
}

/*
 * Return the stars of a relation to which a dimension can be added: those remembered for a join, or stars without
 * dimensions of a table, or of all its leaves.  NIL if a leaf has no star.
 */
static List *
stars_to_begin_with(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *stars = NIL,
			   *leaves;
	ListCell   *cell;

	if (!IS_SIMPLE_REL(rel))
		return rtscan_stars_of(root, rel);
	if (!rtscan_has_leaves(root, rel))
		return stars_of_table(root, rel, NULL, 1);
	leaves = rtscan_leaves_of(root, rel);
	foreach(cell, leaves)
	{
		List	   *more = stars_of_table(root, lfirst(cell), rel, list_length(leaves));

		if (more == NIL)
			return NIL;
		stars = list_concat(stars, more);
	}
	return stars;
}

static void
offer_rows_of_star(PlannerInfo *root, const RtscanStar *star)
{
	if (star->table == NULL && rtscan_enable_scan && !may_be_rechecked(root))
		offer_rows(root, star);
}

static void
add_star(PlannerInfo *root, RelOptInfo *joinrel, RtscanStar *star)
{
	JoinStars  *known = remembered(root, joinrel);

	known->stars = lappend(known->stars, star);
	offer_rows_of_star(root, star);
}

/* A join that the planner considers: of the relations of a star with another relation, which may become a dimension. */
typedef struct Joining
{
	PlannerInfo *root;
	RelOptInfo *joinrel;		/* the join relation */
	RelOptInfo *inner;			/* the other relation */
	Relids		cores;			/* the cores of "inner" (star.h) */
	/* number of tables in the plan of "inner", with each leaf counted; 0: not counted yet */
	int			tables;
	JoinType	type;			/* the join type */
	const JoinPathExtraData *extra; /* the planner's data about the join, with its clauses */
} Joining;

/* Would the leaves of a star's table have too many scans in their plans of the dimension? */
static bool
has_too_many_scans(Joining *joining, const RtscanStar *before)
{
	if (before->table == NULL)
		return false;
	if (joining->tables == 0)
		joining->tables = rtscan_count_tables(joining->root, joining->inner->relids);
	return (double) before->leaves * joining->tables > MAX_SCANS;
}

/*
 * Count the joins against advice: those of "before", and the join with the new dimension.  The count is 0 if advice
 * demands an Append for the join relation: this advice means the star, whose path has an Append for this purpose
 * (rtscan_compat_name_relations()).
 */
static int
count_disabled(const Joining *joining, const RtscanStar *before)
{
	return rtscan_compat_advises_append(joining->root, joining->joinrel) ? 0 :
		before->disabled + rtscan_compat_advises_other_join(joining->root, joining->extra);
}

/*
 * The planner has joined the relations of a known star in another order.  If this order has fewer joins against advice
 * than the best one so far, update the star and return true.
 */
static bool
improve_star(const Joining *joining, RtscanStar *star, const RtscanStar *before)
{
	int			disabled = count_disabled(joining, before);

	if (disabled >= star->disabled)
		return false;
	star->disabled = disabled;
	offer_rows_of_star(joining->root, star);
	return true;
}

/* Return the star that "before" becomes with the inner relation as a dimension; NULL if it cannot be a dimension. */
static RtscanStar *
extend_star(const Joining *joining, const RtscanStar *before)
{
	RtscanStar *star = (before->table ? rtscan_add_dimension_to_leaf : rtscan_add_dimension)
		(joining->root, before, joining->joinrel, joining->inner, joining->cores, joining->type, joining->extra);

	if (star)
		star->disabled = count_disabled(joining, before);
	return star;
}

/*
 * Add new stars of leaves, if they can be used together.  Offer the rows of all leaves if there are new stars, or if
 * known stars of leaves have "improved".
 */
static void
add_stars_of_leaves(const Joining *joining, const List *stars, bool improved)
{
	PlannerInfo *root = joining->root;
	ListCell   *cell;

	if (!rtscan_leaves_agree(root, stars, joining->inner))
		return;
	foreach(cell, stars)
		add_star(root, joining->joinrel, lfirst(cell));
	if ((stars != NIL || improved) && rtscan_enable_scan && !may_be_rechecked(root))
		offer_rows_of_leaves(root, joining->joinrel);
}

/* Extend each star of the outer relation by the inner relation as a dimension, and add the resulting stars. */
static void
add_stars(Joining *joining, RelOptInfo *outer)
{
	const JoinStars *known = remembered(joining->root, joining->joinrel);
	List	   *of_leaves = NIL;
	bool		improved = false;
	ListCell   *cell;

	foreach(cell, stars_to_begin_with(joining->root, outer))
	{
		const RtscanStar *before = lfirst(cell);
		RtscanStar *star;

		if (has_too_many_scans(joining, before))
			continue;
		star = find_extended(known, before, joining->inner);
		if (star)
		{
			improved |= improve_star(joining, star, before) && star->table != NULL;
			continue;
		}
		star = has_enough(known, before->index->rel) ? NULL : extend_star(joining, before);
		if (star && star->table)
			of_leaves = lappend(of_leaves, star);
		else if (star)
			add_star(joining->root, joining->joinrel, star);
	}
	add_stars_of_leaves(joining, of_leaves, improved);
}

/*
 * Offer joins for which a scan returns only those rows of one table that have a match.  The join must not need the
 * table's other rows.
 */
static void
offer_filtered(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer, RelOptInfo *inner, JoinType type,
			   JoinPathExtraData *extra)
{
	if (!rtscan_enable_scan || may_be_rechecked(root))
		return;
	if (IS_SIMPLE_REL(outer) && (type == JOIN_INNER || type == JOIN_RIGHT))
		rtscan_offer_filtered(root, outer, stars_to_begin_with(root, outer), joinrel, inner, true, type, extra);
	if (IS_SIMPLE_REL(inner) && (type == JOIN_INNER || type == JOIN_LEFT || type == JOIN_SEMI || type == JOIN_ANTI))
		rtscan_offer_filtered(root, inner, stars_to_begin_with(root, inner), joinrel, outer, false, type, extra);
}

/* set_join_pathlist_hook.  Does nothing if GEQO plans, which frees relations and their data while it searches. */
static void
consider_join(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer, RelOptInfo *inner, JoinType type,
			  JoinPathExtraData *extra)
{
	MemoryContext old;

	if (previous_hook)
		previous_hook(root, joinrel, outer, inner, type, extra);
	if (!rtscan_enable_star || rtscan_compat_is_genetic(root) || !bms_is_empty(joinrel->lateral_relids) ||
		rtscan_compat_is_grouped(joinrel))
		return;
	old = MemoryContextSwitchTo(this_run(root)->context);
	offer_filtered(root, joinrel, outer, inner, type, extra);
	if (rtscan_meets_one(type, extra))
		remembered(root, joinrel)->cores = bms_union(remembered(root, joinrel)->cores, cores_of(root, outer));
	if (type == JOIN_INNER || type == JOIN_LEFT || type == JOIN_SEMI || type == JOIN_ANTI)
	{
		Joining		joining = {root, joinrel, inner, cores_of(root, inner), 0, type, extra};

		add_stars(&joining, outer);
	}
	MemoryContextSwitchTo(old);
}

void
rtscan_init_star(void)
{
	previous_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = consider_join;
}
