/*
 * star_offer.c
 *		Find stars, remember them, and offer the planner to have their rows returned by RtscanScan.
 */
#include "plan/star.h"

#include "optimizer/cost.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "plan/path.h"
#include "plan/planning_run.h"
#include "settings.h"

/* Stars of a relation that are remembered, at most: one an index and way to join. */
#define MAX_STARS	8

/* What is remembered of a join relation. */
typedef struct JoinStars
{
	const RelOptInfo *rel;		/* hash key */
	List	   *stars;			/* RtscanStar *; */
	Relids		cores;			/* of the relation */
} JoinStars;

/* All that is remembered of a planning run: JoinStars by RelOptInfo. */
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

/* If there is anything. */
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

Relids
rtscan_cores_of(PlannerInfo *root, const RelOptInfo *rel)
{
	const JoinStars *stars = IS_SIMPLE_REL(rel) ? NULL : recall(root, rel);

	return IS_SIMPLE_REL(rel) ? rel->relids : stars ? stars->cores : NULL;
}

/* Have two stars of a relation the same dimensions, in any order? */
static bool
are_alike(const RtscanStar *a, const RtscanStar *b)
{
	ListCell   *cell,
			   *other;
	int			same = 0;

	if (a->index != b->index || list_length(a->dimensions) != list_length(b->dimensions))
		return false;
	foreach(cell, a->dimensions)
		foreach(other, b->dimensions)
			same += ((RtscanStarDimension *) lfirst(cell))->rel == ((RtscanStarDimension *) lfirst(other))->rel;
	return same == list_length(a->dimensions);
}

static bool
is_known(const JoinStars *known, const RtscanStar *star)
{
	ListCell   *cell;

	foreach(cell, known->stars)
		if (are_alike(lfirst(cell), star))
			return true;
	return false;
}

/* ---------------------------------------------------------------- paths */

/* In EvalPlanQual() a node above relations would have to know which of their rows is asked about. */
static bool
may_be_rechecked(PlannerInfo *root)
{
	return root->rowMarks != NIL || root->parse->resultRelation != 0;
}

static void
offer_rows(PlannerInfo *root, const RtscanStar *star)
{
	RelOptInfo *fact = star->index->rel;
	Path	   *path = rtscan_join_scan_path(root, star, 0);
	int			workers;

	if (path)
		add_path(star->rel, path);
	if (path == NULL || !star->rel->consider_parallel || !fact->consider_parallel)
		return;
	workers = compute_parallel_worker(fact, fact->pages, -1, max_parallel_workers_per_gather);
	path = workers > 0 ? rtscan_join_scan_path(root, star, workers) : NULL;
	if (path)
		add_partial_path(star->rel, path);
}

/* ---------------------------------------------------------------- the hook */

/* A table with each of its indexes, or the stars that a join is. */
static List *
stars_to_begin_with(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *stars = NIL;
	ListCell   *cell;

	if (!IS_SIMPLE_REL(rel))
		return rtscan_stars_of(root, rel);
	if (!rtscan_can_answer(root, rel) || !bms_is_empty(rel->lateral_relids))
		return NIL;
	foreach(cell, rel->indexlist)
		if (rtscan_is_usable(lfirst_node(IndexOptInfo, cell)))
		{
			RtscanStar *star = palloc(sizeof(RtscanStar));

			*star = (RtscanStar) {rel, lfirst_node(IndexOptInfo, cell), NIL};
			stars = lappend(stars, star);
		}
	return stars;
}

static void
add_stars(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer, RelOptInfo *inner, JoinType type,
		  const JoinPathExtraData *extra)
{
	Relids		cores = rtscan_cores_of(root, inner);
	JoinStars  *known = NULL;
	ListCell   *cell;

	foreach(cell, stars_to_begin_with(root, outer))
	{
		RtscanStar *star = rtscan_add_dimension(root, lfirst(cell), joinrel, inner, cores, type, extra);

		if (star == NULL)
			continue;
		known = remembered(root, joinrel);
		if (is_known(known, star) || list_length(known->stars) == MAX_STARS)
			continue;
		known->stars = lappend(known->stars, star);
		if (rtscan_enable_scan && !may_be_rechecked(root))
			offer_rows(root, star);
	}
}

/* Joins that want no more of a table than what meets the other relation. */
static void
offer_filtered(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer, RelOptInfo *inner, JoinType type, JoinPathExtraData *extra)
{
	if (!rtscan_enable_scan || may_be_rechecked(root))
		return;
	if (IS_SIMPLE_REL(outer) && (type == JOIN_INNER || type == JOIN_RIGHT))
		rtscan_offer_filtered(root, stars_to_begin_with(root, outer), joinrel, inner, true, type, extra);
	if (IS_SIMPLE_REL(inner) && (type == JOIN_INNER || type == JOIN_LEFT || type == JOIN_SEMI || type == JOIN_ANTI))
		rtscan_offer_filtered(root, stars_to_begin_with(root, inner), joinrel, outer, false, type, extra);
}

/* Under GEQO relations and what is about them come and go. */
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
		remembered(root, joinrel)->cores = bms_union(remembered(root, joinrel)->cores, rtscan_cores_of(root, outer));
	if (type == JOIN_INNER || type == JOIN_LEFT || type == JOIN_SEMI || type == JOIN_ANTI)
		add_stars(root, joinrel, outer, inner, type, extra);
	MemoryContextSwitchTo(old);
}

void
rtscan_init_star(void)
{
	previous_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = consider_join;
}
