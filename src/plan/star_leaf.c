/*
 * star_leaf.c
 *		Stars of leaves: what joins a fact, said of one of its partitions or children; and what these have in common.
 */
#include "plan/star.h"

#include "optimizer/appendinfo.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "plan/leaves.h"
#include "plan/planning_run.h"

/* ---------------------------------------------------------------- stars */

/* Which rows of a join are about one leaf of a table. */
typedef struct Leaf
{
	PlannerInfo *root;
	RelOptInfo *leaf;
	RelOptInfo *top;
} Leaf;

static Relids
translate_relids(const Leaf *leaf, Relids relids)
{
	return adjust_child_relids_multilevel(leaf->root, relids, leaf->leaf, leaf->top);
}

static List *
translate_list(const Leaf *leaf, List *list)
{
	return (List *) adjust_appendrel_attrs_multilevel(leaf->root, (Node *) list, leaf->leaf, leaf->top);
}

/* The part of a join relation that has the leaf's rows.  The planner has none: it is not in its lists, and only what stars want is true of it. */
static RelOptInfo *
translate_join(const Leaf *leaf, const RelOptInfo *joinrel)
{
	RelOptInfo *part = makeNode(RelOptInfo);

	*part = *joinrel;
	part->relids = translate_relids(leaf, joinrel->relids);
	part->reltarget = copy_pathtarget(joinrel->reltarget);
	part->reltarget->exprs = translate_list(leaf, joinrel->reltarget->exprs);
	part->consider_parallel &= leaf->leaf->consider_parallel;
	part->rows = clamp_row_est(joinrel->rows * leaf->leaf->rows / Max(leaf->top->rows, 1));
	part->pathlist = part->partial_pathlist = part->ppilist = NIL;
	return part;
}

static SpecialJoinInfo *
translate_special(const Leaf *leaf, const SpecialJoinInfo *special)
{
	SpecialJoinInfo *translated = makeNode(SpecialJoinInfo);

	*translated = *special;
	translated->min_lefthand = translate_relids(leaf, special->min_lefthand);
	translated->syn_lefthand = translate_relids(leaf, special->syn_lefthand);
	return translated;
}

/* Has a query no such table, or subquery (below)? */
static bool query_can_come_again(PlannerInfo *root);

/*
 * Can a plan of a table be made for each leaf?  A recursion's working table has only one reader.
 */
static bool
table_can_come_again(PlannerInfo *root, int relid)
{
	const RelOptInfo *table = root->simple_rel_array[relid];

	if (table == NULL)
		return true;
	if (table->rtekind == RTE_CTE)
		return !planner_rt_fetch(relid, root)->self_reference;
	return table->rtekind != RTE_SUBQUERY || (table->subroot && query_can_come_again(table->subroot));
}

/*
 * What is remembered of a subquery that is planned on its own is changed when a plan of it is made: set_plan_references() renumbers children and
 * row marks in place, and create_plan() adds an InitPlan for each maximum from an index.
 */
static bool
query_can_come_again(PlannerInfo *root)
{
	bool		one_row = root->parse->hasAggs && root->parse->groupClause == NIL && root->parse->groupingSets == NIL;

	if (root->append_rel_list != NIL || root->rowMarks != NIL || one_row)
		return false;
	for (int relid = 1; relid < root->simple_rel_array_size; relid++)
		if (!table_can_come_again(root, relid))
			return false;
	return true;
}

static bool
can_come_again(PlannerInfo *root, const RelOptInfo *rel)
{
	int			relid = -1;

	while ((relid = bms_next_member(rel->relids, relid)) >= 0)
		if (!table_can_come_again(root, relid))
			return false;
	return true;
}

RtscanStar *
rtscan_add_dimension_to_leaf(PlannerInfo *root, const RtscanStar *star, RelOptInfo *joinrel, RelOptInfo *inner, Relids cores,
							 JoinType type, const JoinPathExtraData *extra)
{
	Leaf		leaf = {root, star->index->rel, star->table};
	JoinPathExtraData translated = *extra;

	if (!can_come_again(root, inner))
		return NULL;
	translated.restrictlist = translate_list(&leaf, extra->restrictlist);
	translated.sjinfo = translate_special(&leaf, extra->sjinfo);
	return rtscan_add_dimension(root, star, translate_join(&leaf, joinrel), inner, cores, type, &translated);
}

/* ---------------------------------------------------------------- dimensions in common */

/* What has been asked of a relation, on behalf of leaves of a table. */
typedef struct Common
{
	const RelOptInfo *table;
	List	   *columns;
	int			number;			/* of this one only, in all plans that a query can have */
} Common;

/* All that is remembered of a planning run: List * of Common * by RelOptInfo. */
typedef struct CommonEntry
{
	const RelOptInfo *rel;		/* hash key */
	List	   *all;
} CommonEntry;

static RtscanPlanningRun *memory;

static CommonEntry *
remembered(PlannerInfo *root, const RelOptInfo *rel)
{
	RtscanPlanningRun *run = rtscan_planning_run(root, &memory, sizeof(RtscanPlanningRun), sizeof(CommonEntry));
	bool		found;
	CommonEntry *entry = hash_search(run->entries, &rel, HASH_ENTER, &found);

	if (!found)
		*entry = (CommonEntry) {.rel = rel};
	return entry;
}

static int
next_number(void)
{
	static int	last;

	last = last == PG_INT32_MAX ? 1 : last + 1;
	return last;
}

int
rtscan_number_of_common(PlannerInfo *root, const RelOptInfo *table, const Path *path)
{
	CommonEntry *entry = remembered(root, path->parent);
	MemoryContext old;
	Common	   *common;
	ListCell   *cell;

	foreach(cell, entry->all)
	{
		common = lfirst(cell);
		if (common->table == table && equal(common->columns, path->pathtarget->exprs))
			return common->number;
	}
	old = MemoryContextSwitchTo(memory->context);
	common = palloc(sizeof(Common));
	*common = (Common) {table, path->pathtarget->exprs, next_number()};
	entry->all = lappend(entry->all, common);
	MemoryContextSwitchTo(old);
	return common->number;
}
