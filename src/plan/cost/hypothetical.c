/* SPDX-License-Identifier: PostgreSQL */
/*
 * hypothetical.c
 *		Indexes that do not exist: the planner plans queries as if they did.
 */
#include "plan/cost/hypothetical.h"

#include <math.h>

#include "access/amapi.h"
#include "catalog/partition.h"
#include "commands/defrem.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/plancat.h"
#include "optimizer/planner.h"
#include "utils/lsyscache.h"

static rtscan_compat_relation_hook_type previous_hook;
static planner_hook_type previous_planner;

/* The indexes of rtscan_pretend_next(), until its query is planned. */
static List *of_next = NIL;

/* The indexes of the query that is being planned. */
static List *pretended = NIL;

void
rtscan_pretend_next(List *indexes)
{
	of_next = indexes;
}

/* planner_hook: the first query to be planned has the indexes, but not those that are planned meanwhile. */
static PlannedStmt *
plan_pretending(RTSCAN_COMPAT_PLANNER_PARAMETERS)
{
	List	   *outer = pretended;
	PlannedStmt *statement;

	if (of_next == NIL && pretended == NIL)
		return RTSCAN_COMPAT_CALL_PLANNER(previous_planner);
	pretended = of_next;
	of_next = NIL;
	PG_TRY();
	{
		statement = RTSCAN_COMPAT_CALL_PLANNER(previous_planner);
	}
	PG_FINALLY();
	{
		pretended = outer;
	}
	PG_END_TRY();
	return statement;
}

static const RtscanHypothetical *
find_pretended(const IndexOptInfo *info)
{
	ListCell   *cell;

	if (!info->hypothetical)
		return NULL;
	foreach(cell, pretended)
	{
		const RtscanHypothetical *index = lfirst(cell);

		if (index->oid == info->indexoid)
			return index;
	}
	return NULL;
}

bool
rtscan_is_pretended(const IndexOptInfo *info)
{
	return find_pretended(info) != NULL;
}

RtscanIndexSize *
rtscan_pretended_size(const IndexOptInfo *info)
{
	const RtscanHypothetical *index = find_pretended(info);
	Size		bytes = offsetof(RtscanIndexSize, columns) + index->size->ncolumns * sizeof(RtscanColumnSize);
	RtscanIndexSize *size = memcpy(palloc(bytes), index->size, bytes);
	double		share = Min(info->rel->tuples / Max(size->rows, 1), 1);

	size->rows = Max(info->rel->tuples, 1);
	size->segments = Max(ceil(size->segments * share), 1);
	size->largest = size->rows / size->segments;
	size->heap_blocks = info->rel->pages;
	for (int i = 0; i < size->ncolumns; i++)
	{
		RtscanColumnSize *column = &size->columns[i];

		column->value_pages *= share;
		column->dictionary_pages *= share;
		column->dictionary_values *= share;
		column->framed_rows *= share;
	}
	return size;
}

/* ---------------------------------------------------------------- columns */

/* The table of an expression, and the table for which it is needed. */
typedef struct Target
{
	Oid			from;			/* the table whose columns the expression has, as varno 1 */
	Oid			to;				/* the table itself, or a partition of it, whose columns have other numbers */
	Index		relid;			/* number of "to" in the query */
	bool		failed;			/* does "to" lack a column? */
} Target;

static Node *
retarget(Node *node, void *arg)
{
	Target	   *target = (Target *) arg;

	if (node && IsA(node, Var))
	{
		Var		   *var = copyObject((Var *) node);

		if (target->from != target->to)
			var->varattno = get_attnum(target->to, get_attname(target->from, var->varattno, false));
		target->failed |= var->varattno <= 0;
		var->varno = target->relid;
		var->varnosyn = 0;
		var->varattnosyn = 0;
		return (Node *) var;
	}
	return expression_tree_mutator(node, retarget, arg);
}

/* Set what the index has about a key column. */
static void
set_key(IndexOptInfo *info, int i, const Node *expression)
{
	Oid			class = GetDefaultOpClass(exprType(expression), info->relam);

	info->opfamily[i] = get_opclass_family(class);
	info->opcintype[i] = get_opclass_input_type(class);
	info->indexcollations[i] = exprCollation(expression);
}

/* Set the columns of an index; returns false if the table lacks one. */
static bool
set_columns(IndexOptInfo *info, const RtscanHypothetical *index, Target *target)
{
	for (int i = 0; i < info->ncolumns; i++)
	{
		Node	   *expression = retarget(list_nth(index->columns, i), target);
		TargetEntry *entry = makeTargetEntry((Expr *) expression, i + 1, NULL, false);

		info->indexkeys[i] = IsA(expression, Var) ? ((Var *) expression)->varattno : 0;
		if (!IsA(expression, Var))
			info->indexprs = lappend(info->indexprs, expression);
		info->indextlist = lappend(info->indextlist, entry);
		info->canreturn[i] = true;
		if (i < info->nkeycolumns)
			set_key(info, i, expression);
	}
	return !target->failed;
}

static void
set_abilities(IndexOptInfo *info)
{
	const IndexAmRoutine *routine = GetIndexAmRoutineByAmId(info->relam, false);

	info->amcanorderbyop = routine->amcanorderbyop;
	info->amoptionalkey = routine->amoptionalkey;
	info->amsearcharray = routine->amsearcharray;
	info->amsearchnulls = routine->amsearchnulls;
	info->amcanparallel = routine->amcanparallel;
	info->amhasgettuple = routine->amgettuple != NULL;
	info->amhasgetbitmap = routine->amgetbitmap != NULL;
	info->amcostestimate = (void *) routine->amcostestimate;
}

/* Describe an index as get_relation_info() does; returns NULL if the table cannot have it. */
static IndexOptInfo *
make_info(const RtscanHypothetical *index, Oid table, RelOptInfo *rel)
{
	IndexOptInfo *info = makeNode(IndexOptInfo);
	Target		target = {.from = index->table, .to = table, .relid = rel->relid};
	int			ncolumns = list_length(index->columns);

	info->indexoid = index->oid;
	info->reltablespace = rel->reltablespace;
	info->rel = rel;
	info->relam = get_index_am_oid("rtscan", false);
	info->ncolumns = ncolumns;
	info->nkeycolumns = index->nkeys;
	info->indexkeys = palloc(ncolumns * sizeof(int));
	info->indexcollations = palloc(index->nkeys * sizeof(Oid));
	info->opfamily = palloc(index->nkeys * sizeof(Oid));
	info->opcintype = palloc(index->nkeys * sizeof(Oid));
	info->opclassoptions = palloc0(ncolumns * sizeof(bytea *));
	info->canreturn = palloc(ncolumns * sizeof(bool));
	info->tree_height = -1;
	info->immediate = true;
	info->hypothetical = true;
	info->tuples = rel->tuples;
	info->pages = index->bytes / BLCKSZ * Min(rel->tuples / Max(index->size->rows, 1), 1) + 1;
	set_abilities(info);
	return set_columns(info, index, &target) ? info : NULL;
}

/* ---------------------------------------------------------------- tables */

/* Does a table have an index of another one?  It does if it is this table, or a partition of it. */
static bool
has_index_of(Oid table, Oid other)
{
	return table == other || (get_rel_relispartition(table) && list_member_oid(get_partition_ancestors(table), other));
}

/* Add the pretended indexes of a table. */
static void
add_pretended(Oid table, RelOptInfo *rel)
{
	ListCell   *cell;

	foreach(cell, pretended)
	{
		const RtscanHypothetical *index = lfirst(cell);
		IndexOptInfo *info = has_index_of(table, index->table) ? make_info(index, table, rel) : NULL;

		if (info)
			rel->indexlist = lappend(rel->indexlist, info);
	}
}

/* The planner's hook for relations: only tables that have rows of their own have indexes. */
static void
add_to_relation(RTSCAN_COMPAT_RELATION_PARAMETERS)
{
	Oid			table = RTSCAN_COMPAT_RELATION_OID;

	if (previous_hook)
		previous_hook(RTSCAN_COMPAT_RELATION_ARGUMENTS);
	if (pretended != NIL && OidIsValid(table) && !RTSCAN_COMPAT_RELATION_IS_PARENT)
		add_pretended(table, rel);
}

void
rtscan_init_hypothetical(void)
{
	previous_hook = rtscan_compat_relation_hook;
	rtscan_compat_relation_hook = add_to_relation;
	previous_planner = planner_hook;
	planner_hook = plan_pretending;
}
