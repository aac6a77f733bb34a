/* SPDX-License-Identifier: PostgreSQL */
/*
 * star_leaf.c
 *		Makes stars of leaves, which are partitions or children of a fact: turns the fact's joins into joins of one
 *		leaf, and shares dimensions among the leaves.
 */
#include "plan/star/star.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "plan/quals/planning_run.h"
#include "plan/quals/volatile.h"

/* ---------------------------------------------------------------- stars */

/* A leaf, and its topmost parent. */
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

/*
 * Make a RelOptInfo for the part of a join relation that has the leaf's rows.  The planner itself has no such relation,
 * and only the members that stars use are correct.
 */
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

/* Does a query or an expression contain a TABLESAMPLE without REPEATABLE, which returns other rows each time? */
static bool
is_unsteady(Node *node, void *unused)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		const TableSampleClause *sample = ((const RangeTblEntry *) node)->tablesample;

		return sample && sample->repeatable == NULL;
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, is_unsteady, NULL, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, is_unsteady, NULL);
}

/* Do any of the clauses that refer only to these relations call volatile functions? */
static bool
are_volatile(PlannerInfo *root, List *clauses, Relids relids)
{
	ListCell   *cell;

	foreach(cell, clauses)
	{
		const RestrictInfo *info = lfirst_node(RestrictInfo, cell);

		if (bms_is_subset(info->clause_relids, relids) && rtscan_is_volatile(root, info->clause))
			return true;
	}
	return false;
}

/*
 * Does a query or an expression have one of the parameters "outside" (a Bitmapset of numbers of PARAM_EXEC parameters)?
 */
static bool
has_parameter(Node *node, void *outside)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return ((const Param *) node)->paramkind == PARAM_EXEC &&
			bms_is_member(((const Param *) node)->paramid, (const Bitmapset *) outside);
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, has_parameter, outside, QTW_IGNORE_RT_SUBQUERIES);
	return expression_tree_walker(node, has_parameter, outside);
}

/*
 * A subquery has been planned on its own.  Can a plan of it be made for each leaf, although only one of the plans is
 * executed?  Making a plan changes the planner's data about the subquery: set_plan_references() renumbers children and
 * row marks in place, and create_plan() adds an InitPlan for each min() or max() by an index, and sets the columns of
 * grouping sets.  Nor may the subquery depend on the query around it: it would have to be executed for each leaf.
 */
static bool
subquery_can_come_again(PlannerInfo *root, Relids outside)
{
	const Query *query = root->parse;

	if (root->append_rel_list != NIL || root->rowMarks != NIL || query->groupingSets != NIL ||
		(query->hasAggs && query->groupClause == NIL) || has_parameter((Node *) query, outside))
		return false;
	for (int relid = 1; relid < root->simple_rel_array_size; relid++)
	{
		const RelOptInfo *table = root->simple_rel_array[relid];

		if (table && table->rtekind == RTE_SUBQUERY &&
			!(table->subroot && subquery_can_come_again(table->subroot, outside)))
			return false;
	}
	return true;
}

/* Are there volatile functions among the expressions that make an entry's rows? */
static bool
is_volatile_entry(PlannerInfo *root, const RangeTblEntry *entry)
{
	return rtscan_is_volatile(root, entry->subquery) || rtscan_is_volatile(root, entry->functions) ||
		rtscan_is_volatile(root, entry->values_lists) || rtscan_is_volatile(root, entry->tablefunc) ||
		rtscan_is_volatile(root, entry->tablesample);
}

/*
 * Can a table be in the plans of a dimension that are made for each leaf?  The table must return the same rows for all
 * leaves.  The working table of a recursive query can have only one reader.
 */
static bool
table_can_come_again(PlannerInfo *root, const RelOptInfo *table, Relids relids)
{
	RangeTblEntry *entry = planner_rt_fetch(table->relid, root);

	if (are_volatile(root, table->baserestrictinfo, relids) || are_volatile(root, table->joininfo, relids) ||
		is_unsteady((Node *) entry, NULL) || is_volatile_entry(root, entry))
		return false;
	if (entry->rtekind == RTE_SUBQUERY)
		return !is_unsteady((Node *) entry->subquery, NULL) && table->subroot &&
			subquery_can_come_again(table->subroot, table->subroot->outer_params);
	return entry->rtekind != RTE_CTE || !entry->self_reference;
}

static bool
can_come_again(PlannerInfo *root, const RelOptInfo *rel)
{
	int			relid = -1;

	while ((relid = bms_next_member(rel->relids, relid)) >= 0)
	{
		const RelOptInfo *table = root->simple_rel_array[relid];

		if (table && !table_can_come_again(root, table, rel->relids))
			return false;
	}
	return true;
}

RtscanStar *
rtscan_add_dimension_to_leaf(PlannerInfo *root, const RtscanStar *star, RelOptInfo *joinrel, RelOptInfo *inner,
							 Relids cores, JoinType type, const JoinPathExtraData *extra)
{
	Leaf		leaf = {root, star->index->rel, star->table};
	JoinPathExtraData translated = *extra;

	if (!can_come_again(root, inner))
		return NULL;
	translated.restrictlist = translate_list(&leaf, extra->restrictlist);
	translated.sjinfo = translate_special(&leaf, extra->sjinfo);
	return rtscan_add_dimension(root, star, translate_join(&leaf, joinrel), inner, cores, type, &translated);
}

static bool
has_subquery(PlannerInfo *root, const RelOptInfo *rel)
{
	int			relid = -1;

	while ((relid = bms_next_member(rel->relids, relid)) >= 0)
		if (root->simple_rel_array[relid] && root->simple_rel_array[relid]->rtekind == RTE_SUBQUERY)
			return true;
	return false;
}

/* Do two stars look their last dimensions up by the same columns? */
static bool
looks_up_alike(const RtscanStar *a, const RtscanStar *b)
{
	const List *keys = ((const RtscanStarDimension *) llast(a->dimensions))->keys,
			   *others = ((const RtscanStarDimension *) llast(b->dimensions))->keys;
	ListCell   *cell,
			   *other;

	if (list_length(keys) != list_length(others))
		return false;
	forboth(cell, keys, other, others)
	{
		const RtscanAsked *asked = &((RtscanStarKey *) lfirst(cell))->qual->asked,
				   *asked_other = &((RtscanStarKey *) lfirst(other))->qual->asked;

		if (asked->column != asked_other->column || asked->subtype != asked_other->subtype ||
			asked->function != asked_other->function || asked->collation != asked_other->collation)
			return false;
	}
	return true;
}

bool
rtscan_leaves_agree(PlannerInfo *root, const List *stars, const RelOptInfo *inner)
{
	ListCell   *cell;

	if (stars == NIL || !has_subquery(root, inner))
		return true;
	foreach(cell, stars)
		if (!looks_up_alike(linitial(stars), lfirst(cell)))
			return false;
	return true;
}

/* ---------------------------------------------------------------- shared dimensions */

/* A dimension that the leaves of a table share. */
typedef struct Common
{
	const RelOptInfo *table;	/* the table */
	List	   *columns;		/* the dimension's columns that are returned */
	int			number;			/* a number that no other shared dimension of the query's plans has */
} Common;

/* The shared dimensions of a relation: an entry of the planning run's data, by RelOptInfo. */
typedef struct CommonEntry
{
	const RelOptInfo *rel;		/* hash key */
	List	   *all;			/* Common * */
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
