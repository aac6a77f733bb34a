/* SPDX-License-Identifier: PostgreSQL */
/*
 * join_rows.c
 *		Corrects the number of rows that a join is expected to return when a dimension's conditions correlate with its
 *		key.
 *
 * PostgreSQL remembers the selectivity of a join clause in its RestrictInfo.  The corrected estimate is stored there
 * before any tables are joined, so that it applies to all joins by that clause, whatever executes them.
 */
#include "plan/rows/join_rows.h"

#include <math.h>

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "plan/cost/heap_order.h"
#include "plan/cost/indexes.h"
#include "plan/cost/leaves.h"
#include "plan/cost/resolve.h"
#include "plan/cost/sample.h"
#include "row/keys.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"

/* Two columns count as correlated if each has at least this correlation with the heap's order. */
#define IN_ORDER		0.9

/* If a list has more elements than this, only a sample of this many elements is looked up. */
#define MAX_ELEMENTS	100

/* A range of a dimension's rows in the order of a column, from 0 to 1. */
typedef struct Part
{
	double		from;			/* fraction of the rows that precede the range */
	double		to;				/* fraction of the rows up to the end of the range */
} Part;

/* A column, and the operators that compare it. */
typedef struct Comparison
{
	Node	   *column;			/* the compared column */
	Oid			family;			/* the btree operator family */
	Oid			lefttype;		/* the operators' left type */
	Oid			righttype;		/* the operators' right type */
	Oid			collation;		/* the collation */
} Comparison;

/* A condition "column op value", or "column = ANY (value)". */
typedef struct Condition
{
	Comparison	comparison;		/* the column and its operators */
	int			strategy;		/* the btree strategy of "op" */
	Const	   *value;			/* the value, or array of values */
	bool		any;			/* the condition is "column = ANY (value)" */
	bool		backwards;		/* the column descends where the key ascends */
} Condition;

/* The key of a dimension. */
typedef struct Key
{
	Expr	   *column;			/* the key column */
	double		correlation;	/* its correlation with the heap's order */
	Part		part;			/* the dimension's rows between the table's least and greatest key */
} Key;

static set_rel_pathlist_hook_type previous_hook;

/* ---------------------------------------------------------------- parts */

/* Return the fraction of a column's values that are below a value or, with "or_equal", below or equal to it. */
static double
part_below(PlannerInfo *root, const Comparison *by, const Const *value, bool or_equal)
{
	Oid			operator = get_opfamily_member(by->family, by->lefttype, by->righttype,
											   or_equal ? BTLessEqualStrategyNumber : BTLessStrategyNumber);
	Expr	   *clause = make_opclause(operator, BOOLOID, false, (Expr *) by->column, (Expr *) value, InvalidOid,
									   by->collation);

	return clause_selectivity(root, (Node *) clause, 0, JOIN_INNER, NULL);
}

/* Does the family have the operators that part_below() and resize() need? */
static bool
has_order(const Comparison *by)
{
	return OidIsValid(by->family) &&
		OidIsValid(get_opfamily_member(by->family, by->lefttype, by->righttype, BTLessStrategyNumber)) &&
		OidIsValid(get_opfamily_member(by->family, by->lefttype, by->righttype, BTLessEqualStrategyNumber)) &&
		OidIsValid(get_opfamily_member(by->family, by->lefttype, by->righttype, BTEqualStrategyNumber));
}

static Part
intersect(Part a, Part b)
{
	return (Part) {Max(a.from, b.from), Min(a.to, b.to)};
}

static double
size_of(Part part)
{
	return Max(part.to - part.from, 0);
}

/*
 * Resize a part, around its middle, to the number of rows that equal a value.  Histograms tell where these rows are,
 * but not how many: PostgreSQL's estimates of "<= value" and "< value" often differ by twice the rows of the value.
 */
static Part
resize(PlannerInfo *root, const Comparison *by, const Const *value, Part part)
{
	Oid			operator = get_opfamily_member(by->family, by->lefttype, by->righttype, BTEqualStrategyNumber);
	Expr	   *clause = make_opclause(operator, BOOLOID, false, (Expr *) by->column, (Expr *) value, InvalidOid,
									   by->collation);
	double		size = clause_selectivity(root, (Node *) clause, 0, JOIN_INNER, NULL);
	double		from = Max(Min((part.from + part.to - size) / 2, 1 - size), 0);

	return (Part) {from, from + size};
}

/* Return the part of the dimension, in the order of the key, in which a condition with one value holds. */
static Part
part_of_value(PlannerInfo *root, const Condition *condition, const Const *value)
{
	Part		part = {0, 1};

	if (condition->strategy >= BTEqualStrategyNumber)
		part.from = part_below(root, &condition->comparison, value, condition->strategy == BTGreaterStrategyNumber);
	if (condition->strategy <= BTEqualStrategyNumber)
		part.to = part_below(root, &condition->comparison, value, condition->strategy != BTLessStrategyNumber);
	if (condition->strategy == BTEqualStrategyNumber)
		part = resize(root, &condition->comparison, value, part);
	return condition->backwards ? (Part) {1 - part.to, 1 - part.from} : part;
}

/* Return the fraction of the dimension's rows that are in "within" and equal any value of the condition's list. */
static double
size_of_any(PlannerInfo *root, const Condition *condition, Part within)
{
	ArrayType  *array = DatumGetArrayTypeP(condition->value->constvalue);
	int			n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	double		scale,
				size = 0;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	Datum	   *values;
	bool	   *nulls;
	Const		value = *makeNullConst(ARR_ELEMTYPE(array), -1, condition->comparison.collation);

	value.constisnull = false;
	if (n == 0)
		return 0;
	array = DatumGetArrayTypeP(rtscan_sample_array(PointerGetDatum(array), Min(n, MAX_ELEMENTS), &scale));
	get_typlenbyvalalign(value.consttype, &typlen, &typbyval, &typalign);
	deconstruct_array(array, value.consttype, typlen, typbyval, typalign, &values, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		value.constvalue = values[i];
		size += scale * size_of(intersect(within, part_of_value(root, condition, &value)));
	}
	return Min(size, size_of(within));
}

/* ---------------------------------------------------------------- conditions */

/*
 * Return the two arguments of a clause "a op b" or "a op ANY (b)"; NIL for any other clause.  Sets *operator and
 * *collation, and *any to whether the clause has ANY.
 */
static List *
take_apart(Node *clause, Oid *operator, Oid *collation, bool *any)
{
	*any = IsA(clause, ScalarArrayOpExpr);
	if (*any)
	{
		*operator = ((ScalarArrayOpExpr *) clause)->opno;
		*collation = ((ScalarArrayOpExpr *) clause)->inputcollid;
		return ((ScalarArrayOpExpr *) clause)->useOr ? ((ScalarArrayOpExpr *) clause)->args : NIL;
	}
	if (!IsA(clause, OpExpr))
		return NIL;
	*operator = ((OpExpr *) clause)->opno;
	*collation = ((OpExpr *) clause)->inputcollid;
	return list_length(((OpExpr *) clause)->args) == 2 ? ((OpExpr *) clause)->args : NIL;
}

/*
 * Is a column the key, or does it correlate with the key?  Sets *backwards to whether the column descends where the key
 * ascends.
 */
static bool
goes_with(const Key *key, const VariableStatData *variable, bool *backwards)
{
	double		correlation = rtscan_correlation_of(variable);

	*backwards = correlation * key->correlation < 0 && !equal(variable->var, key->column);
	return equal(variable->var, key->column) || Min(fabs(correlation), fabs(key->correlation)) >= IN_ORDER;
}

/* Find the btree operators of a condition's column; false if there are none. */
static bool
find_order(Condition *condition, Oid operator)
{
	Comparison *by = &condition->comparison;

	by->family = lookup_type_cache(exprType(by->column), TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	condition->strategy = OidIsValid(operator) && OidIsValid(by->family) ?
		get_op_opfamily_strategy(operator, by->family) : 0;
	if (condition->strategy == 0 || (condition->any && condition->strategy != BTEqualStrategyNumber))
		return false;
	op_input_types(operator, &by->lefttype, &by->righttype);
	return has_order(by);
}

/*
 * Read a clause as a condition that compares a column with a constant; the column must correlate with the key.  False
 * for any other clause.
 */
static bool
read_condition(PlannerInfo *root, const RelOptInfo *dimension, const Key *key, Node *clause, Condition *condition)
{
	Oid			operator;
	List	   *args = take_apart(clause, &operator, &condition->comparison.collation, &condition->any);
	VariableStatData variable;
	Node	   *other;
	bool		on_left,
				together;

	if (args == NIL || !get_restriction_variable(root, args, dimension->relid, &variable, &other, &on_left))
		return false;
	together = goes_with(key, &variable, &condition->backwards);
	ReleaseVariableStats(variable);
	if (!together || !IsA(other, Const) || ((Const *) other)->constisnull || (condition->any && !on_left))
		return false;
	condition->comparison.column = on_left ? linitial(args) : lsecond(args);
	condition->value = (Const *) other;
	return find_order(condition, on_left ? operator : get_commutator(operator));
}

/*
 * Is a clause an equality of a column, which goes with the key, and a value that is not known yet, such as the result
 * of a subquery?
 */
static bool
equals_unknown_value(PlannerInfo *root, const RelOptInfo *dimension, const Key *key, Node *clause)
{
	Oid			operator,
				collation;
	bool		any,
				on_left,
				together,
				backwards;
	List	   *args = take_apart(clause, &operator, &collation, &any);
	VariableStatData variable;
	Node	   *other;

	if (args == NIL || any || get_oprrest(operator) != F_EQSEL ||
		!get_restriction_variable(root, args, dimension->relid, &variable, &other, &on_left))
		return false;
	together = goes_with(key, &variable, &backwards);
	ReleaseVariableStats(variable);
	return together && !IsA(other, Const);
}

/* Return the conditions of an arm of OR: RestrictInfo *. */
static List *
conditions_of_arm(Node *arm)
{
	return is_andclause(arm) ? ((BoolExpr *) arm)->args : list_make1(arm);
}

/*
 * Return the fraction of the dimension's rows that are in "within" and satisfy any arm of an OR.  Conditions of an arm
 * on columns that do not go with the key are taken as independent.  -1 if no arm has a condition on a column that does.
 */
static double
size_of_or(PlannerInfo *root, const RelOptInfo *dimension, const Key *key, Part within, const BoolExpr *or)
{
	bool		any = false;
	double		size = 0;
	ListCell   *arm,
			   *cell;

	foreach(arm, or->args)
	{
		Part		part = within;
		List	   *others = NIL;

		foreach(cell, conditions_of_arm(lfirst(arm)))
		{
			const RestrictInfo *info = lfirst(cell);
			Condition	condition;

			if (IsA(info, RestrictInfo) && read_condition(root, dimension, key, (Node *) info->clause, &condition) &&
				!condition.any)
				part = intersect(part, part_of_value(root, &condition, condition.value));
			else
				others = lappend(others, lfirst(cell));
		}
		any |= list_length(others) < list_length(conditions_of_arm(lfirst(arm)));
		size += size_of(part) * clauselist_selectivity(root, others, 0, JOIN_INNER, NULL);
	}
	return any ? Min(size, size_of(within)) : -1;
}

/*
 * Return the factor by which the dimension's conditions hold more often for its rows between the table's least and
 * greatest key than for all its rows.  If several conditions have lists, OR or unknown values, only one of them is
 * assumed to correlate with the key.  Unknown values are assumed to be those of such rows.
 */
static double
gain(PlannerInfo *root, const RelOptInfo *dimension, const Key *key)
{
	Condition	condition,
				list = {.any = false};
	const RestrictInfo *or = NULL;
	RestrictInfo *unknown = NULL;
	List	   *together = NIL;
	Part		met = key->part;
	double		size = -1;
	ListCell   *cell;

	foreach(cell, dimension->baserestrictinfo)
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, cell);

		if (info->orclause)
			or = or ? or : info;
		if (equals_unknown_value(root, dimension, key, (Node *) info->clause))
			unknown = info;
		if (!read_condition(root, dimension, key, (Node *) info->clause, &condition) || (condition.any && list.any))
			continue;
		together = lappend(together, info);
		if (condition.any)
			list = condition;
		else
			met = intersect(met, part_of_value(root, &condition, condition.value));
	}
	if (or && !list.any)
		size = size_of_or(root, dimension, key, met, (const BoolExpr *) or->orclause);
	if (size >= 0)
		together = lappend(together, unconstify(RestrictInfo *, or));
	else if (unknown && !list.any)
	{
		size = Min(clause_selectivity(root, (Node *) unknown, 0, JOIN_INNER, NULL), size_of(met));
		together = lappend(together, unknown);
	}
	if (together == NIL)
		return 1;
	if (size < 0)
		size = list.any ? size_of_any(root, &list, met) : size_of(met);
	return size / size_of(key->part) / Max(clauselist_selectivity(root, together, 0, JOIN_INNER, NULL), 1e-10);
}

/* ---------------------------------------------------------------- keys */

/* The bounds of a column's values. */
typedef struct Bounds
{
	RtscanKeyBounds keys;		/* the least and the greatest value, as keys */
	RtscanKeyKind kind;			/* the kind of the keys in "keys" */
	Oid			type;			/* the type of the values */
} Bounds;

static RtscanKeyKind
key_kind(const IndexOptInfo *index, int column)
{
	Oid			type = index->opcintype[column];

	return rtscan_key_kind(get_opfamily_proc(index->opfamily[column], type, type, RTSCAN_COMPARE_PROC));
}

/* Get the bounds of a table's column from an index of which it is a key column. */
static bool
bounds_of_column(PlannerInfo *root, const RelOptInfo *table, const Var *column, Bounds *bounds)
{
	ListCell   *cell;

	foreach(cell, rtscan_usable_indexes(table))
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, cell);

		for (int i = 0; i < index->nkeycolumns && index->indpred == NIL; i++)
		{
			bounds->kind = index->indexkeys[i] == column->varattno ? key_kind(index, i) : RTSCAN_KEY_NONE;
			bounds->type = index->opcintype[i];
			if (bounds->kind != RTSCAN_KEY_NONE && rtscan_index_bounds(root, index, i, &bounds->keys))
				return true;
		}
	}
	return false;
}

/* Return the column of a table in an equivalence class, or NULL. */
static Var *
column_of(PlannerInfo *root, const EquivalenceClass *class, RelOptInfo *table)
{
	ListCell   *cell;

	foreach(cell, rtscan_members_of(root, class, table))
	{
		Node	   *member = lfirst(cell);

		while (IsA(member, RelabelType))
			member = (Node *) ((RelabelType *) member)->arg;
		if (IsA(member, Var) && ((Var *) member)->varattno > 0)
			return (Var *) member;
	}
	return NULL;
}

/*
 * Get the bounds of the column that a table, or each of its leaves, has in an equivalence class.  False if the bounds
 * of a leaf are not known, or if the columns of leaves differ in type.
 */
static bool
find_bounds(PlannerInfo *root, const EquivalenceClass *class, RelOptInfo *table, Bounds *bounds)
{
	List	   *tables = rtscan_has_leaves(root, table) ? rtscan_leaves_of(root, table) : list_make1(table);
	ListCell   *cell;

	*bounds = (Bounds) {.keys = {PG_UINT64_MAX, 0}};
	foreach(cell, tables)
	{
		Var		   *column = column_of(root, class, lfirst(cell));
		Bounds		more;

		if (column == NULL || !bounds_of_column(root, lfirst(cell), column, &more) ||
			(cell != list_head(tables) && more.type != bounds->type))
			return false;
		more.keys.least = Min(more.keys.least, bounds->keys.least);
		more.keys.greatest = Max(more.keys.greatest, bounds->keys.greatest);
		*bounds = more;
	}
	return tables != NIL;
}

static Const *
make_value(const Bounds *bounds, uint64 key)
{
	Const	   *value = makeNullConst(bounds->type, -1, InvalidOid);

	value->constisnull = false;
	value->constvalue = rtscan_key_decode(bounds->kind, key);
	return value;
}

/*
 * Get the key that a dimension has in an equivalence class, and the part of the dimension that is within the table's
 * bounds.  False if that part is the whole dimension, or if there are no statistics to estimate it.
 */
static bool
find_key(PlannerInfo *root, const EquivalenceClass *class, RelOptInfo *table, RelOptInfo *dimension, Key *key)
{
	Var		   *column = column_of(root, class, dimension);
	Comparison	by = {.column = (Node *) column, .collation = class->ec_collation};
	Bounds		bounds;

	if (column == NULL || !find_bounds(root, class, table, &bounds))
		return false;
	by.lefttype = exprType(by.column);
	by.righttype = bounds.type;
	by.family = lookup_type_cache(by.lefttype, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	if (!has_order(&by))
		return false;
	key->column = (Expr *) column;
	key->correlation = rtscan_heap_correlation(root, by.column);
	if (key->correlation == 0)
		return false;
	key->part.from = part_below(root, &by, make_value(&bounds, bounds.keys.least), false);
	key->part.to = Max(part_below(root, &by, make_value(&bounds, bounds.keys.greatest), true),
					   key->part.from + 1 / Max(dimension->tuples, 1));
	return size_of(key->part) < 1;
}

/* ---------------------------------------------------------------- joins */

/*
 * Make the planner ignore a foreign key from the table to the dimension.  The foreign key says only that each row of
 * the table has a match, but PostgreSQL would assume that all rows of the dimension match equally often.
 */
static void
forget_foreign_key(PlannerInfo *root, const EquivalenceClass *class, const RelOptInfo *table,
				   const RelOptInfo *dimension)
{
	ListCell   *cell;

	foreach(cell, root->fkey_list)
	{
		const ForeignKeyOptInfo *key = lfirst_node(ForeignKeyOptInfo, cell);

		if (key->con_relid == table->relid && key->ref_relid == dimension->relid && key->nkeys == 1 &&
			key->eclass[0] == class)
			root->fkey_list = foreach_delete_current(root->fkey_list, cell);
	}
}

List *
rtscan_join_equalities(PlannerInfo *root, const EquivalenceClass *class, RelOptInfo *table, RelOptInfo *dimension)
{
	List	   *all = list_union_ptr(rtscan_compat_equalities(root, table, dimension),
									 rtscan_compat_equalities(root, dimension, table));
	List	   *clauses = NIL;
	ListCell   *cell;

	foreach(cell, all)
		if (lfirst_node(RestrictInfo, cell)->parent_ec == class)
			clauses = lappend(clauses, lfirst(cell));
	return clauses;
}

SpecialJoinInfo *
rtscan_semi_join(const RelOptInfo *table, const RelOptInfo *other)
{
	SpecialJoinInfo *join = makeNode(SpecialJoinInfo);

	join->min_lefthand = join->syn_lefthand = table->relids;
	join->min_righthand = join->syn_righthand = other->relids;
	join->jointype = JOIN_SEMI;
	return join;
}

/*
 * Multiply a clause's selectivity by "factor", but not beyond the selectivity of one match for each row of the table.
 */
static void
raise_selectivity(PlannerInfo *root, RestrictInfo *clause, const RelOptInfo *table, const RelOptInfo *dimension,
				  double factor)
{
	SpecialJoinInfo *join = rtscan_semi_join(table, dimension);
	Selectivity selectivity;

	join->jointype = JOIN_INNER;
	selectivity = clause_selectivity(root, (Node *) clause, 0, JOIN_INNER, join);
	clause->norm_selec = Min(selectivity * factor, Max(selectivity, 1 / Max(dimension->rows, 1)));
}

/*
 * Correct the estimate of the join of a table with a dimension.  If several keys join the two, use the key with the
 * largest correction.
 */
static void
consider_dimension(PlannerInfo *root, RelOptInfo *table, RelOptInfo *dimension)
{
	Bitmapset  *common = bms_intersect(table->eclass_indexes, dimension->eclass_indexes);
	const EquivalenceClass *best = NULL;
	double		most = 1;
	ListCell   *cell;

	for (int i = -1; (i = bms_next_member(common, i)) >= 0;)
	{
		const EquivalenceClass *class = list_nth(root->eq_classes, i);
		Key			key;
		double		factor;

		if (class->ec_has_const || class->ec_has_volatile || class->ec_broken ||
			!find_key(root, class, table, dimension, &key))
			continue;
		factor = gain(root, dimension, &key);
		best = factor > most ? class : best;
		most = Max(factor, most);
	}
	if (best == NULL)
		return;
	foreach(cell, rtscan_join_equalities(root, best, table, dimension))
		raise_selectivity(root, lfirst(cell), table, dimension, most);
	forget_foreign_key(root, best, table, dimension);
}

/* The equalities of two relations by one equivalence class. */
typedef struct Equalities
{
	List	   *clauses;		/* RestrictInfo * */
	Selectivity selectivity;	/* the selectivity of each */
} Equalities;

/* qsort comparator */
static int
compare_selectivities(const void *a, const void *b)
{
	Selectivity one = ((const Equalities *) a)->selectivity,
				other = ((const Equalities *) b)->selectivity;

	return one < other ? -1 : one > other;
}

void
rtscan_damp_selectivities(PlannerInfo *root, RelOptInfo *one, RelOptInfo *other)
{
	Bitmapset  *common = bms_intersect(one->eclass_indexes, other->eclass_indexes);
	Equalities *all = palloc(Max(bms_num_members(common), 1) * sizeof(Equalities));
	SpecialJoinInfo *join = rtscan_semi_join(one, other);
	double		exponent = 1;
	int			n = 0;
	ListCell   *cell;

	join->jointype = JOIN_INNER;
	for (int i = -1; (i = bms_next_member(common, i)) >= 0;)
	{
		const EquivalenceClass *class = list_nth(root->eq_classes, i);
		List	   *clauses = class->ec_has_const || class->ec_has_volatile ? NIL :
			rtscan_join_equalities(root, class, one, other);

		if (clauses != NIL)
			all[n++] = (Equalities) {clauses, clause_selectivity(root, linitial(clauses), 0, JOIN_INNER, join)};
	}
	qsort(all, n, sizeof(Equalities), compare_selectivities);
	for (int i = 1; i < n; i++)
	{
		exponent /= 2;
		foreach(cell, all[i].clauses)
			lfirst_node(RestrictInfo, cell)->norm_selec = pow(all[i].selectivity, exponent);
	}
}

/*
 * Return how many of the "distinct" values of a dimension's column are in the rows that a table may match: at most one
 * for each of these rows, and if the column goes with the key, as large a part of the values as of the keys.
 */
static double
values_met_by_table(PlannerInfo *root, RelOptInfo *table, RelOptInfo *dimension, const VariableStatData *column,
					double distinct)
{
	Bitmapset  *common = bms_intersect(table->eclass_indexes, dimension->eclass_indexes);
	double		met = distinct;
	bool		backwards;

	for (int i = -1; (i = bms_next_member(common, i)) >= 0;)
	{
		const EquivalenceClass *class = list_nth(root->eq_classes, i);
		Key			key;
		double		part;

		if (class->ec_has_const || class->ec_has_volatile || class->ec_broken ||
			!find_key(root, class, table, dimension, &key))
			continue;
		part = size_of(key.part);
		met = Min(met, (goes_with(&key, column, &backwards) ? distinct : dimension->tuples) * part + 1);
	}
	return met;
}

static bool
is_table(PlannerInfo *root, RelOptInfo *rel)
{
	return rel && rel->reloptkind == RELOPT_BASEREL && rel->rtekind == RTE_RELATION && !IS_DUMMY_REL(rel) &&
		rel->has_eclass_joins;
}

/* Has a relation an index that knows the bounds of its columns, or have its leaves? */
static bool
has_bounds(PlannerInfo *root, RelOptInfo *rel)
{
	return is_table(root, rel) && (rtscan_usable_indexes(rel) != NIL || rtscan_has_leaves(root, rel));
}

double
rtscan_values_met(PlannerInfo *root, Var *column, double distinct)
{
	RelOptInfo *dimension = column->varno > 0 && column->varno < root->simple_rel_array_size ?
		root->simple_rel_array[column->varno] : NULL;
	VariableStatData variable;
	double		met = distinct;

	if (!is_table(root, dimension) || rtscan_has_leaves(root, dimension))
		return distinct;
	examine_variable(root, (Node *) column, 0, &variable);
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		RelOptInfo *table = root->simple_rel_array[i];

		if (table != dimension && has_bounds(root, table))
			met = Min(met, values_met_by_table(root, table, dimension, &variable, distinct));
	}
	ReleaseVariableStats(variable);
	return met;
}

/* set_rel_pathlist_hook.  PostgreSQL calls it when it has estimated the rows of all tables, but of no joins. */
static void
consider_table(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	if (previous_hook)
		previous_hook(root, rel, rti, rte);
	if (!has_bounds(root, rel))
		return;
	for (int i = 1; i < root->simple_rel_array_size; i++)
	{
		RelOptInfo *other = root->simple_rel_array[i];

		if (other == rel || !is_table(root, other))
			continue;
		if (!rtscan_has_leaves(root, other) && other->baserestrictinfo != NIL)
			consider_dimension(root, rel, other);
		if ((Index) i < rti && has_bounds(root, other))
			rtscan_damp_selectivities(root, rel, other);
	}
}

void
rtscan_init_join_rows(void)
{
	previous_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = consider_table;
}
