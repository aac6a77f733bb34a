/* SPDX-License-Identifier: PostgreSQL */
/*
 * planner.h
 *		Differences between PostgreSQL's versions: relations, joins and paths in the planner; operators.
 *
 * Only compat.h includes this file, after PostgreSQL's headers.
 */
#ifndef RTSCAN_COMPAT_PLANNER_H
#define RTSCAN_COMPAT_PLANNER_H

#if PG_VERSION_NUM < 160000
/* From PostgreSQL 16 on, these functions have relations as arguments, not their relids. */
#define adjust_appendrel_attrs_multilevel(root, node, child, parent) \
	adjust_appendrel_attrs_multilevel(root, node, (child)->relids, (parent)->relids)
#define adjust_child_relids_multilevel(root, relids, child, parent) \
	adjust_child_relids_multilevel(root, relids, (child)->relids, (parent)->relids)

/* Before PostgreSQL 16, an argument tells whether to create a PlaceHolderInfo; later, the state of planning does. */
#define find_placeholder_info(root, placeholder) find_placeholder_info(root, placeholder, false)
#endif

#if PG_VERSION_NUM < 170000
/*
 * From PostgreSQL 17 on, the function needs root to find statistics, from which it estimates the length if the array
 * is no constant.
 */
#define estimate_array_length(root, array) estimate_array_length(array)
#endif

/*
 * The hook in which indexes are added to a relation that is being planned, its parameters, and these as arguments; the
 * relation's OID (InvalidOid: it is no table), and whether it is the parent of an inheritance tree.  From PostgreSQL 19
 * on, the hook is called for relations of all kinds.
 */
#if PG_VERSION_NUM >= 190000
typedef build_simple_rel_hook_type rtscan_compat_relation_hook_type;
#define rtscan_compat_relation_hook	build_simple_rel_hook
#define RTSCAN_COMPAT_RELATION_PARAMETERS PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte
#define RTSCAN_COMPAT_RELATION_ARGUMENTS root, rel, rte
#define RTSCAN_COMPAT_RELATION_OID (rte->rtekind == RTE_RELATION ? rte->relid : InvalidOid)
#define RTSCAN_COMPAT_RELATION_IS_PARENT rte->inh
#else
typedef get_relation_info_hook_type rtscan_compat_relation_hook_type;
#define rtscan_compat_relation_hook	get_relation_info_hook
#define RTSCAN_COMPAT_RELATION_PARAMETERS PlannerInfo *root, Oid relid, bool inhparent, RelOptInfo *rel
#define RTSCAN_COMPAT_RELATION_ARGUMENTS root, relid, inhparent, rel
#define RTSCAN_COMPAT_RELATION_OID relid
#define RTSCAN_COMPAT_RELATION_IS_PARENT inhparent
#endif

/* Return the ON condition of MERGE.  Before PostgreSQL 17 it is a condition of FROM, and the result is NULL. */
static inline Node *
rtscan_compat_merge_condition(const Query *query)
{
#if PG_VERSION_NUM >= 170000
	return query->mergeJoinCondition;
#else
	return NULL;
#endif
}

#ifndef ATTRIBUTE_GENERATED_VIRTUAL
/* Columns that are computed when they are read exist from PostgreSQL 18 on. */
#define ATTRIBUTE_GENERATED_VIRTUAL	'v'
#endif

/*
 * Return the expression of GROUP BY that a column of a range table entry stands for; NULL if the entry is of another
 * kind.  From PostgreSQL 18 on, the keys of GROUP BY are an entry of their own.
 */
static inline Node *
rtscan_compat_grouped_expression(const RangeTblEntry *entry, AttrNumber column)
{
#if PG_VERSION_NUM >= 180000
	if (entry->rtekind == RTE_GROUP)
		return list_nth(entry->groupexprs, column - 1);
#endif
	return NULL;
}

/*
 * Does a path key sort in descending order?  From PostgreSQL 18 on, it has a comparison type in place of btree's
 * strategy.
 */
static inline bool
rtscan_compat_is_descending(const PathKey *key)
{
#if PG_VERSION_NUM >= 180000
	return key->pk_cmptype == COMPARE_GT;
#else
	return key->pk_strategy == BTGreaterStrategyNumber;
#endif
}

/* Is a column of a table declared NOT NULL?  From PostgreSQL 17 on, the planner knows which constraints are valid. */
static inline bool
rtscan_compat_is_not_null(const RelOptInfo *rel, Oid table, AttrNumber column)
{
#if PG_VERSION_NUM >= 170000
	return bms_is_member(column, rel->notnullattnums);
#else
	HeapTuple	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(table), Int16GetDatum(column));
	bool		is_not_null = HeapTupleIsValid(tuple) && ((Form_pg_attribute) GETSTRUCT(tuple))->attnotnull;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return is_not_null;
#endif
}

/*
 * Set the number of disabled nodes of a path: its own, and those of the paths below.  Before PostgreSQL 18 they are
 * not counted; a disabled path has a high cost instead.
 */
static inline void
rtscan_compat_count_disabled(Path *path, int own, List *below)
{
#if PG_VERSION_NUM >= 180000
	ListCell   *cell;

	path->disabled_nodes = own;
	foreach(cell, below)
		path->disabled_nodes += ((Path *) lfirst(cell))->disabled_nodes;
#endif
}

/*
 * Is a path better than "other", which may be NULL?  A path is better if it has fewer disabled nodes, or as many as
 * the other path and a lower cost.
 */
static inline bool
rtscan_compat_is_cheaper(const Path *path, const Path *other)
{
	if (other == NULL)
		return true;
#if PG_VERSION_NUM >= 180000
	if (path->disabled_nodes != other->disabled_nodes)
		return path->disabled_nodes < other->disabled_nodes;
#endif
	return path->total_cost < other->total_cost;
}

/*
 * Return the conditions (OpExpr *) at whose first failure a window's partition ends.  From PostgreSQL 17 on, its
 * functions have them in parts, not the window itself.
 */
static inline List *
rtscan_compat_run_conditions(const WindowClause *window, List *functions)
{
#if PG_VERSION_NUM >= 170000
	List	   *conditions = NIL;
	ListCell   *of_function,
			   *cell;

	foreach(of_function, functions)
		foreach(cell, lfirst_node(WindowFunc, of_function)->runCondition)
		{
			WindowFuncRunCondition *condition = lfirst_node(WindowFuncRunCondition, cell);
			Expr	   *function = lfirst(of_function);

			conditions = lappend(conditions, make_opclause(condition->opno, BOOLOID, false,
														   condition->wfunc_left ? function : condition->arg,
														   condition->wfunc_left ? condition->arg : function,
														   InvalidOid, condition->inputcollid));
		}
	return conditions;
#else
	return window->runCondition;
#endif
}

/*
 * Is GEQO searching for the join order?  From PostgreSQL 19 on, GEQO keeps its state under an extension ID, which it
 * gets when it first runs.
 */
static inline bool
rtscan_compat_is_genetic(PlannerInfo *root)
{
#if PG_VERSION_NUM >= 190000
	return Geqo_planner_extension_id >= 0 && GetPlannerInfoExtensionState(root, Geqo_planner_extension_id) != NULL;
#else
	return root->join_search_private != NULL;
#endif
}

/*
 * Return the equalities that equivalence classes imply for an inner join of two relations.  From PostgreSQL 16 on,
 * the function has an argument for an outer join, which is NULL here.
 */
static inline List *
rtscan_compat_equalities(PlannerInfo *root, const RelOptInfo *outer, RelOptInfo *inner)
{
	Relids		both = bms_union(outer->relids, inner->relids);

#if PG_VERSION_NUM >= 160000
	return generate_join_implied_equalities(root, both, outer->relids, inner, NULL);
#else
	return generate_join_implied_equalities(root, both, outer->relids, inner);
#endif
}

/*
 * Can the members of an equivalence class differ, because an outer join makes some of them NULL?  From PostgreSQL 16
 * on, they cannot: nulling relids distinguish a column that may be NULL from the same column below the outer join.
 */
static inline bool
rtscan_compat_is_below_outer_join(const EquivalenceClass *class)
{
#if PG_VERSION_NUM >= 160000
	return false;
#else
	return class->ec_below_outer_join;
#endif
}

/*
 * Return the Var by which expressions within "rel" refer to the column "var".  From PostgreSQL 16 on, a Var is marked
 * with the outer joins that may make it NULL.  Only the marks of outer joins within "rel" are kept.
 */
static inline Var *
rtscan_compat_within(const Var *var, const RelOptInfo *rel)
{
	Var		   *within = copyObject(unconstify(Var *, var));

#if PG_VERSION_NUM >= 160000
	within->varnullingrels = bms_intersect(within->varnullingrels, rel->relids);
#endif
	return within;
}

/* Is a column marked with outer joins that may make it NULL?  Before PostgreSQL 16, columns have no such marks. */
static inline bool
rtscan_compat_is_nulled(const Var *var)
{
#if PG_VERSION_NUM >= 160000
	return !bms_is_empty(var->varnullingrels);
#else
	return false;
#endif
}

/*
 * Does a relation consist of groups of another relation's rows?  From PostgreSQL 19 on, rows can be grouped before
 * they are joined.
 */
static inline bool
rtscan_compat_is_grouped(const RelOptInfo *rel)
{
#if PG_VERSION_NUM >= 190000
	return IS_GROUPED_REL(rel);
#else
	return false;
#endif
}

/*
 * Does a unique index prove that at most one row of a table satisfies the clauses, which are equalities?  PostgreSQL
 * adds clauses to the list, so it gets a copy.  Before PostgreSQL 19, there is also a list of expressions, which is
 * empty here.
 */
static inline bool
rtscan_compat_is_unique(PlannerInfo *root, RelOptInfo *table, List *clauses)
{
#if PG_VERSION_NUM >= 190000
	return relation_has_unique_index_for(root, table, list_copy(clauses), NULL);
#else
	return relation_has_unique_index_for(root, table, list_copy(clauses), NIL, NIL);
#endif
}

/* Create an Append of non-partial paths.  From PostgreSQL 19 on, a structure holds the paths. */
static inline AppendPath *
rtscan_compat_create_append_path(PlannerInfo *root, RelOptInfo *rel, List *paths, int workers)
{
#if PG_VERSION_NUM >= 190000
	AppendPathInput input = {.subpaths = paths};

	return create_append_path(root, rel, input, NIL, NULL, workers, workers > 0, -1);
#else
	return create_append_path(root, rel, paths, NIL, NIL, NULL, workers, workers > 0, -1);
#endif
}

/*
 * Put an Append above a path of rtscan that is a join, if PostgreSQL 19's pg_plan_advice reads the plan.
 *
 * pg_plan_advice cannot find out which relations a custom scan joins, and raises an error if the custom scan is
 * joined with another relation.  It can find out the relations of an Append.  PostgreSQL removes an Append with one
 * path from the plan.  But an Append cannot evaluate expressions, as rtscan's scans do, so none is created without
 * pg_plan_advice.
 */
static inline Path *
rtscan_compat_name_relations(PlannerInfo *root, Path *path)
{
#if PG_VERSION_NUM >= 190000
	AppendPathInput input = {0};

	if (GetPlannerGlobalExtensionState(root->glob, GetPlannerExtensionId("pg_plan_advice")) == NULL)
		return path;
	if (path->parallel_aware)
		input.partial_subpaths = list_make1(path);
	else
		input.subpaths = list_make1(path);
	return (Path *) create_append_path(root, path->parent, input, NIL, NULL, path->parallel_workers,
									   path->parallel_aware, -1);
#else
	return path;
#endif
}

/*
 * Remove from expressions the marks which say that grouping sets may make them NULL.  The result is used below the
 * grouping, where the expressions are not NULL yet.  Expressions have these marks from PostgreSQL 18 on.
 */
static inline List *
rtscan_compat_below_grouping(PlannerInfo *root, List *expressions)
{
#if PG_VERSION_NUM >= 180000
	if (root->group_rtindex > 0)
		return (List *) remove_nulling_relids((Node *) expressions, bms_make_singleton(root->group_rtindex), NULL);
#endif
	return expressions;
}

/*
 * An "interpretation" is an operator's meaning in an operator family that sorts.  From PostgreSQL 18 on, access
 * methods other than btree can sort, and comparison types replace strategies.  Comparison types have the numbers of
 * btree's strategies.
 */
#if PG_VERSION_NUM >= 180000
#define OpBtreeInterpretation OpIndexInterpretation
#define get_op_btree_interpretation get_op_index_interpretation
#endif

/* Return the btree strategy of an interpretation. */
static inline int
rtscan_compat_strategy(const OpBtreeInterpretation *interpretation)
{
#if PG_VERSION_NUM >= 180000
	return interpretation->cmptype;
#else
	return interpretation->strategy;
#endif
}

/* Do strings of a collation sort as their bytes do? */
static inline bool
rtscan_compat_sorts_by_bytes(Oid collation)
{
#if PG_VERSION_NUM >= 180000
	return OidIsValid(collation) && pg_newlocale_from_collation(collation)->collate_is_c;
#else
	return lc_collate_is_c(collation);
#endif
}

#endif							/* RTSCAN_COMPAT_PLANNER_H */
