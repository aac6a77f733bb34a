/* SPDX-License-Identifier: PostgreSQL */
/*
 * subquery_rows.c
 *		Corrects the number of rows that conditions are expected to leave of a query in WITH or FROM.
 */
#include "plan/rows/subquery_rows.h"

#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "plan/cost/indexes.h"
#include "plan/cost/leaves.h"
#include "plan/rows/group_count.h"
#include "plan/rows/join_rows.h"
#include "settings.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* The fraction of rows is not known. */
#define UNKNOWN		(-1.0)

/* Rows of several branches of a UNION. */
typedef struct Tally
{
	double		rows;			/* number of rows; less than 0: a branch has an unknown fraction */
	double		left;			/* number of rows that satisfy the condition */
	double		distinct;		/* number of distinct values, if no value is in two branches */
} Tally;

/* A condition "column = value". */
typedef struct Equality
{
	const OpExpr *clause;		/* the clause; NULL: the value may be any value of the column */
	bool		on_left;		/* the column is the left operand */
} Equality;

static set_rel_pathlist_hook_type previous_hook;

static double fraction_of(PlannerInfo *root, const Equality *equality, Node *expression);

/* ---------------------------------------------------------------- fractions */

static Node *
without_relabels(Node *node)
{
	while (node && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return node;
}

static double
rows_of_query(PlannerInfo *root)
{
	const Path *path = fetch_upper_rel(root, UPPERREL_FINAL, NULL)->cheapest_total_path;

	return path ? Max(path->rows, 1) : 1;
}

/* Return the fraction of rows that satisfy the condition if the column is a constant. */
static double
fraction_of_constant(PlannerInfo *root, const Equality *equality, Node *constant)
{
	OpExpr	   *clause = copyObject(unconstify(OpExpr *, equality->clause));
	Node	   *result;

	if (equality->clause == NULL)
		return 1;
	*(equality->on_left ? &linitial(clause->args) : &lsecond(clause->args)) = constant;
	if (contain_mutable_functions((Node *) clause))
		return UNKNOWN;
	result = eval_const_expressions(root, (Node *) clause);
	if (!IsA(result, Const))
		return UNKNOWN;
	return !((Const *) result)->constisnull && DatumGetBool(((Const *) result)->constvalue);
}

/* Return the fraction of a query's rows in which its column "number", from 1, satisfies the condition. */
static double fraction_of_column(PlannerInfo *root, const Equality *equality, AttrNumber number);

static void
add_branch(Tally *tally, double rows, double fraction)
{
	tally->rows = fraction == UNKNOWN || tally->rows < 0 ? -1 : tally->rows + rows;
	tally->left += rows * fraction;
	tally->distinct += fraction > 0 ? 1 / fraction : 0;
}

static double
total_fraction(const Tally *tally, const Equality *equality)
{
	if (tally->rows <= 0)
		return UNKNOWN;
	return equality->clause ? tally->left / tally->rows : 1 / Max(tally->distinct, 1);
}

/* Add the queries below a UNION, INTERSECT or EXCEPT. */
static void
add_operands(Tally *tally, PlannerInfo *root, const Equality *equality, Node *operation, AttrNumber number)
{
	check_stack_depth();
	if (IsA(operation, SetOperationStmt))
	{
		add_operands(tally, root, equality, ((SetOperationStmt *) operation)->larg, number);
		add_operands(tally, root, equality, ((SetOperationStmt *) operation)->rarg, number);
	}
	else
	{
		RelOptInfo *rel = find_base_rel(root, castNode(RangeTblRef, operation)->rtindex);

		add_branch(tally, rel->subroot ? rows_of_query(rel->subroot) : 1,
				   rel->subroot ? fraction_of_column(rel->subroot, equality, number) : UNKNOWN);
	}
}

static double
fraction_of_column(PlannerInfo *root, const Equality *equality, AttrNumber number)
{
	const TargetEntry *column = get_tle_by_resno(root->parse->targetList, number);
	Tally		tally = {0};

	check_stack_depth();
	if (column == NULL)
		return UNKNOWN;
	if (root->parse->setOperations == NULL)
		return fraction_of(root, equality, (Node *) column->expr);
	add_operands(&tally, root, equality, root->parse->setOperations, number);
	return total_fraction(&tally, equality);
}

/* The same for a column of a UNION ALL, whose branches are the children of a relation. */
static double
fraction_of_children(PlannerInfo *root, const Equality *equality, const Var *column)
{
	Tally		tally = {0};
	ListCell   *cell;

	foreach(cell, root->append_rel_list)
	{
		const AppendRelInfo *info = lfirst_node(AppendRelInfo, cell);
		RelOptInfo *child = root->simple_rel_array[info->child_relid];

		if (info->parent_relid != (Index) column->varno || child == NULL || IS_DUMMY_REL(child))
			continue;
		add_branch(&tally, child->rows,
				   fraction_of(root, equality, list_nth(info->translated_vars, column->varattno - 1)));
	}
	return total_fraction(&tally, equality);
}

/* Return the fraction of a query's rows in which an expression of its tables satisfies the condition. */
static double
fraction_of(PlannerInfo *root, const Equality *equality, Node *expression)
{
	check_stack_depth();
	expression = without_relabels(expression);
	if (expression == NULL || contain_agg_clause(expression) || contain_window_function(expression))
		return UNKNOWN;
	if (IsA(expression, Const))
		return fraction_of_constant(root, equality, expression);
	if (IsA(expression, Var) && ((Var *) expression)->varattno > 0 && ((Var *) expression)->varlevelsup == 0)
	{
		const Var  *column = (const Var *) expression;
		RelOptInfo *rel = find_base_rel(root, column->varno);
		PlannerInfo *subroot = rtscan_subroot_of(root, rel);

		if (root->simple_rte_array[column->varno]->inh && rel->rtekind == RTE_SUBQUERY)
			return fraction_of_children(root, equality, column);
		if (subroot)
			return fraction_of_column(subroot, equality, column->varattno);
	}
	return 1 / rtscan_estimate_groups(root, list_make1(expression), NIL, rows_of_query(root));
}

/* ---------------------------------------------------------------- conditions */

/* Read a clause as "column = value"; NULL, if it is none, else the column of the relation. */
static const Var *
read_equality(const RelOptInfo *rel, Node *clause, Equality *equality)
{
	*equality = (Equality) {.clause = (OpExpr *) clause};
	if (!is_opclause(clause) || list_length(((OpExpr *) clause)->args) != 2 ||
		get_oprrest(((OpExpr *) clause)->opno) != F_EQSEL)
		return NULL;
	for (int i = 0; i < 2; i++)
	{
		const Var  *column = (const Var *) without_relabels(list_nth(((OpExpr *) clause)->args, i));

		equality->on_left = i == 0;
		if (IsA(column, Var) && (Index) column->varno == rel->relid && column->varattno > 0 &&
			!contain_var_clause(list_nth(((OpExpr *) clause)->args, 1 - i)))
			return column;
	}
	return NULL;
}

/*
 * Set the remembered selectivity of each equality among the clauses, also of those in OR; true if any has been set.
 * The selectivity of clauses with such parts is forgotten.
 */
static bool
set_selectivities(const RelOptInfo *rel, PlannerInfo *subroot, List *clauses)
{
	bool		any = false;
	ListCell   *cell;

	check_stack_depth();
	foreach(cell, clauses)
	{
		RestrictInfo *info = lfirst(cell);
		Equality	equality;
		const Var  *column;
		double		fraction;

		if (IsA(info, BoolExpr))
			any |= set_selectivities(rel, subroot, ((BoolExpr *) info)->args);
		if (!IsA(info, RestrictInfo))
			continue;
		if (info->orclause && set_selectivities(rel, subroot, ((BoolExpr *) info->orclause)->args))
		{
			info->norm_selec = -1;
			any = true;
		}
		column = read_equality(rel, (Node *) info->clause, &equality);
		fraction = column ? fraction_of_column(subroot, &equality, column->varattno) : UNKNOWN;
		if (fraction == UNKNOWN)
			continue;
		info->norm_selec = fraction;
		any = true;
	}
	return any;
}

/* ---------------------------------------------------------------- joins */

/* Return the column that a relation has in an equivalence class, or NULL. */
static Node *
member_of(PlannerInfo *root, const EquivalenceClass *class, RelOptInfo *rel)
{
	ListCell   *cell;

	foreach(cell, rtscan_members_of(root, class, rel))
		if (IsA(without_relabels(lfirst(cell)), Var))
			return without_relabels(lfirst(cell));
	return NULL;
}

/* Return the number of distinct values of a relation's column; 0 if it is not known. */
static double
distinct_values(PlannerInfo *root, Node *column)
{
	static const Equality any = {NULL};
	RelOptInfo *rel = find_base_rel(root, ((Var *) column)->varno);
	double		fraction;

	if (rel->rtekind == RTE_RELATION)
		return rtscan_estimate_groups(root, list_make1(column), NIL, rel->rows);
	fraction = rel->rtekind == RTE_SUBQUERY || rel->rtekind == RTE_CTE ? fraction_of(root, &any, column) : UNKNOWN;
	return fraction == UNKNOWN ? 0 : Min(1 / fraction, Max(rel->rows, 1));
}

/*
 * Set the remembered selectivity of the equalities that join a query's result with another relation: each value of one
 * side is expected to be on the other side, too, which has more values.
 */
static void
set_join_selectivities(PlannerInfo *root, RelOptInfo *rel, RelOptInfo *other)
{
	Bitmapset  *common = bms_intersect(rel->eclass_indexes, other->eclass_indexes);

	for (int i = -1; (i = bms_next_member(common, i)) >= 0;)
	{
		const EquivalenceClass *class = list_nth(root->eq_classes, i);
		Node	   *own = class->ec_has_const || class->ec_has_volatile ? NULL : member_of(root, class, rel);
		Node	   *of_other = own ? member_of(root, class, other) : NULL;
		double		distinct = of_other ? distinct_values(root, own) : 0;
		double		distinct_of_other = distinct > 0 ? distinct_values(root, of_other) : 0;
		ListCell   *cell;

		if (distinct_of_other <= 0)
			continue;
		foreach(cell, rtscan_join_equalities(root, class, rel, other))
			lfirst_node(RestrictInfo, cell)->norm_selec = 1 / Max(distinct, distinct_of_other);
	}
}

/* ---------------------------------------------------------------- the hook */

/* Set the rows of paths that return all rows of a relation. */
static void
set_rows(List *paths, double factor)
{
	ListCell   *cell;

	foreach(cell, paths)
		if (((Path *) lfirst(cell))->param_info == NULL)
			((Path *) lfirst(cell))->rows = clamp_row_est(((Path *) lfirst(cell))->rows * factor);
}

/* Correct the number of rows that conditions leave of a query's result. */
static void
correct_rows(RelOptInfo *rel, PlannerInfo *root, PlannerInfo *subroot)
{
	double		before = rel->rows;

	if (!set_selectivities(rel, subroot, rel->baserestrictinfo))
		return;
	rel->rows = clamp_row_est(rel->tuples * clauselist_selectivity(root, rel->baserestrictinfo, 0, JOIN_INNER, NULL));
	set_rows(rel->pathlist, rel->rows / before);
	set_rows(rel->partial_pathlist, rel->rows / before);
}

/*
 * set_rel_pathlist_hook.  PostgreSQL calls it when it has estimated the rows of all tables, but of no joins.  Joins of
 * two queries' results are corrected when the hook is called for the second one.
 */
static void
consider_subquery(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	PlannerInfo *subroot;

	if (previous_hook)
		previous_hook(root, rel, rti, rte);
	if ((!rtscan_enable_scan && !rtscan_enable_aggregate) || rel->reloptkind != RELOPT_BASEREL || IS_DUMMY_REL(rel))
		return;
	subroot = rtscan_subroot_of(root, rel);
	if (subroot == NULL || !rtscan_reads_index(subroot))
		return;
	if (rel->baserestrictinfo != NIL)
		correct_rows(rel, root, subroot);
	for (int i = 1; i < root->simple_rel_array_size && rel->has_eclass_joins; i++)
	{
		RelOptInfo *other = root->simple_rel_array[i];

		if (other && other != rel && other->reloptkind == RELOPT_BASEREL && !IS_DUMMY_REL(other) &&
			other->has_eclass_joins && (!rtscan_subroot_of(root, other) || (Index) i < rti))
		{
			set_join_selectivities(root, rel, other);
			rtscan_damp_selectivities(root, rel, other);
		}
	}
}

void
rtscan_init_subquery_rows(void)
{
	previous_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = consider_subquery;
}
