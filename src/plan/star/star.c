/* SPDX-License-Identifier: PostgreSQL */
/*
 * star.c
 *		Recognizes relations that can be dimensions of a star.
 */
#include "plan/star/star.h"

#include "access/stratnum.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/restrictinfo.h"
#include "plan/cost/leaves.h"
#include "run/star/ranges.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* ---------------------------------------------------------------- keys */

/* Do comparisons depend on the session's time zone?  Then keys may ascend in another order than the column's values. */
static bool
depends_on_clock(Oid family, Oid type, Oid subtype)
{
	Oid			function = get_opfamily_proc(family, type, subtype, RTSCAN_COMPARE_PROC);

	return function == F_TIMESTAMP_CMP_TIMESTAMPTZ || function == F_DATE_CMP_TIMESTAMPTZ ||
		function == F_TIMESTAMPTZ_CMP_TIMESTAMP || function == F_TIMESTAMPTZ_CMP_DATE;
}

/* Can keys of a type be sorted as the index sorts, and be processed in ranges if they do not fit in memory? */
static bool
has_order(IndexOptInfo *index, const RtscanAsked *asked, Oid type)
{
	Oid			family = OidIsValid(asked->family) ? asked->family : index->opfamily[asked->column];
	Oid			lefttype = OidIsValid(asked->family) ? asked->lefttype : index->opcintype[asked->column];

	return OidIsValid(get_opfamily_proc(family, type, type, RTSCAN_COMPARE_PROC)) &&
		!depends_on_clock(family, lefttype, type) && rtscan_can_have_ranges(family, lefttype, type);
}

/*
 * Match "column = key" as a condition "column = ANY (keys)".  The key must be an expression of the relations "relids".
 * NULL if the index cannot answer the condition.
 */
static RtscanQual *
match_key(PlannerInfo *root, IndexOptInfo *index, Expr *clause, Relids relids)
{
	RtscanQual *qual = rtscan_match_qual(index, clause);
	Oid			type;

	if (qual == NULL || qual->kind != RTSCAN_FILTER_CONDITION || qual->asked.kind != RTSCAN_CONDITION_ANY ||
		qual->asked.array || qual->asked.strategy != BTEqualStrategyNumber || qual->argument == NULL)
		return NULL;
	type = OidIsValid(qual->asked.subtype) ? qual->asked.subtype : index->opcintype[qual->asked.column];
	if (!bms_is_subset(pull_varnos(root, (Node *) qual->argument), relids) ||
		!contain_var_clause((Node *) qual->argument) ||
		!has_order(index, &qual->asked, type))
		return NULL;
	qual->asked.array = true;
	return qual;
}

/* ---------------------------------------------------------------- equivalence classes */

/*
 * Make the clause "column = key" of an index's column and a key, which are in one equivalence class; NULL if the
 * class's operator families have no operator for their types.
 */
static Expr *
make_equality(IndexOptInfo *index, const EquivalenceClass *class, Expr *column, Expr *key)
{
	ListCell   *cell;

	foreach(cell, class->ec_opfamilies)
	{
		Oid			operator = get_opfamily_member(lfirst_oid(cell), exprType((Node *) column), exprType((Node *) key),
												   BTEqualStrategyNumber);

		if (OidIsValid(operator))
			return make_opclause(operator, BOOLOID, false, column, key, InvalidOid, class->ec_collation);
	}
	return NULL;
}

/* Does a clause compare an expression of the star with one of the relations "relids"? */
static bool
has_sides(const RtscanStar *star, const RestrictInfo *info, Relids relids)
{
	if (!info->can_join)
		return false;
	return bms_is_subset(info->left_relids, relids) ? bms_is_subset(info->right_relids, star->rel->relids) :
		bms_is_subset(info->right_relids, relids) && bms_is_subset(info->left_relids, star->rel->relids);
}

/*
 * Match a clause's key with an index column that equals the clause's other side: given "e.k = d.k" and "f.x = e.k",
 * match "f.x = d.k".  The star's rows satisfy "f.x = e.k" already, if one equivalence class has f.x, e.k and d.k.  NULL
 * if none has, if the class does not ensure that (it is volatile, broken for lack of an operator, or below an outer
 * join), or if the index cannot answer such a condition.
 */
static RtscanQual *
match_equal_column(PlannerInfo *root, const RtscanStar *star, const RestrictInfo *info, Relids relids)
{
	Expr	   *key = bms_is_subset(info->left_relids, relids) ? (Expr *) get_leftop(info->clause) :
		(Expr *) get_rightop(info->clause);
	IndexOptInfo *index = star->index;
	const EquivalenceClass *class = info->left_ec;
	ListCell   *cell;

	if (class == NULL || class != info->right_ec || class->ec_has_volatile || class->ec_broken ||
		rtscan_compat_is_below_outer_join(class) || !has_sides(star, info, relids))
		return NULL;
	foreach(cell, rtscan_members_of(root, class, index->rel))
	{
		Expr	   *clause = make_equality(index, class, lfirst(cell), key);
		RtscanQual *qual = clause ? match_key(root, index, clause, relids) : NULL;

		if (qual)
			return qual;
	}
	return NULL;
}

/* ---------------------------------------------------------------- dimensions */

/*
 * Return the fraction of the fact's rows that remain after the join.  With several keys, the product of their
 * selectivities assumes that the keys are independent; for an inner join that does not repeat rows, the planner's own
 * estimate is used if it is larger.
 */
static Selectivity
selectivity_of(PlannerInfo *root, const RtscanStar *star, const RelOptInfo *joinrel, const RelOptInfo *inner,
			   List *infos, JoinType type, bool repeats, const JoinPathExtraData *extra)
{
	/*
	 * Use bare clauses except for inner joins.  A RestrictInfo caches one selectivity for all other types of joins,
	 * and final_cost_hashjoin() may have cached that of a semi join, which it estimates even for an inner join.
	 */
	List	   *clauses = type == JOIN_INNER ? infos : get_actual_clauses(infos);
	Selectivity selectivity;

	if (type == JOIN_INNER && repeats)
		return clauselist_selectivity(root, get_actual_clauses(infos), 0, JOIN_SEMI,
									  rtscan_semi_join(star->rel, inner));
	selectivity = clauselist_selectivity(root, clauses, 0, type, extra->sjinfo);
	if (type == JOIN_INNER)
		selectivity *= inner->rows;
	if (type == JOIN_INNER && list_length(infos) > 1)
		selectivity = Max(selectivity, joinrel->rows / Max(star->rel->rows, 1));
	CLAMP_PROBABILITY(selectivity);
	return type == JOIN_LEFT ? 1 : type == JOIN_ANTI ? 1 - selectivity : selectivity;
}

/*
 * Match a join clause with the index.  The condition is evaluated before quals that protect the fact's rows, so it must
 * not leak these rows.
 */
static RtscanQual *
match_clause(PlannerInfo *root, const RtscanStar *star, const RelOptInfo *joinrel, const RelOptInfo *inner,
			 JoinType type, RestrictInfo *info)
{
	RtscanQual *qual;

	if (info->pseudoconstant || !restriction_is_securely_promotable(info, star->index->rel) ||
		contain_volatile_functions((Node *) info->clause))
		return NULL;
	/* A clause that is evaluated above an outer join is not one of its join clauses. */
	if (IS_OUTER_JOIN(type) && RINFO_IS_PUSHED_DOWN(info, joinrel->relids))
		return NULL;
	qual = match_key(root, star->index, info->clause, inner->relids);
	return qual || !is_opclause(info->clause) || IS_OUTER_JOIN(type) ? qual :
		match_equal_column(root, star, info, inner->relids);
}

bool
rtscan_meets_one(JoinType type, const JoinPathExtraData *extra)
{
	return type == JOIN_SEMI || type == JOIN_ANTI || ((type == JOIN_INNER || type == JOIN_LEFT) && extra->inner_unique);
}

/*
 * Are all clauses equalities with keys of the relation "inner", and are these keys together unique in one of its cores?
 */
static bool
has_unique_core(PlannerInfo *root, const RelOptInfo *inner, Relids cores, List *infos)
{
	int			core = -1;
	ListCell   *cell;

	foreach(cell, infos)
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, cell);

		if (!info->can_join)
			return false;
		info->outer_is_left = !bms_is_subset(info->left_relids, inner->relids);
	}
	while ((core = bms_next_member(cores, core)) >= 0)
		if (rtscan_compat_is_unique(root, find_base_rel(root, core), infos))
			return true;
	return false;
}

/*
 * Do the clauses "infos" suffice to join a dimension without repeating rows of the fact?  The planner's own proof that
 * a row has one match may need any clause of the join, so it counts only if "infos" are all clauses.
 */
static bool
join_dimension(PlannerInfo *root, const RelOptInfo *inner, Relids cores, JoinType type, const JoinPathExtraData *extra,
			   List *infos)
{
	bool		are_all = list_length(infos) == list_length(extra->restrictlist);

	return (are_all && rtscan_meets_one(type, extra)) ||
		((type == JOIN_INNER || (type == JOIN_LEFT && are_all)) && has_unique_core(root, inner, cores, infos));
}

/* Return the join clauses that give conditions on the index.  Sets *quals to the conditions, in the same order. */
static List *
match_clauses(PlannerInfo *root, const RtscanStar *star, const RelOptInfo *joinrel, const RelOptInfo *inner,
			  JoinType type, const JoinPathExtraData *extra, List **quals)
{
	List	   *infos = NIL;
	ListCell   *cell;

	*quals = NIL;
	foreach(cell, extra->restrictlist)
	{
		RtscanQual *qual = match_clause(root, star, joinrel, inner, type, lfirst_node(RestrictInfo, cell));

		if (qual == NULL)
			continue;
		infos = lappend(infos, lfirst(cell));
		*quals = lappend(*quals, qual);
	}
	return infos;
}

/*
 * Is a join supported that repeats rows of the fact?  An inner join is.  A left join is only if "infos" are all its
 * clauses: any other clause would decide whether a row has a match at all.
 */
static bool
may_repeat(JoinType type, const JoinPathExtraData *extra, const List *infos)
{
	return type == JOIN_INNER || (type == JOIN_LEFT && list_length(infos) == list_length(extra->restrictlist));
}

/*
 * Return the clauses that join a relation to a star; NIL if there are none, or if they would repeat rows of the fact in
 * a join for which may_repeat() is false.  Sets *quals to the conditions that the clauses give, and *repeats to whether
 * the join repeats rows of the fact.  If one clause alone determines the matching row, only this clause is returned.
 */
static List *
find_clauses(PlannerInfo *root, const RtscanStar *star, const RelOptInfo *joinrel, const RelOptInfo *inner,
			 Relids cores, JoinType type, const JoinPathExtraData *extra, List **quals, bool *repeats)
{
	List	   *infos = match_clauses(root, star, joinrel, inner, type, extra, quals);

	*repeats = false;
	for (int i = 0; i < list_length(infos); i++)
	{
		List	   *one = list_make1(list_nth(infos, i));

		if (!join_dimension(root, inner, cores, type, extra, one))
			continue;
		*quals = list_make1(list_nth(*quals, i));
		return one;
	}
	if (infos == NIL)
		return NIL;
	*repeats = !join_dimension(root, inner, cores, type, extra, infos);
	return !*repeats || may_repeat(type, extra, infos) ? infos : NIL;
}

static bool
has_path(const RelOptInfo *inner)
{
	const Path *path = inner->cheapest_total_path;

	return path && path->param_info == NULL && bms_is_empty(inner->lateral_relids);
}

/* Make a key; "number" counts the star's keys from 1. */
static RtscanStarKey *
make_key(JoinType type, RtscanQual *qual, int number)
{
	RtscanStarKey *key = palloc(sizeof(RtscanStarKey));

	*key = (RtscanStarKey) {.clause = qual->clause, .key = qual->argument, .qual = qual};
	qual->argument = NULL;
	qual->dimension = number;
	/* An anti join also returns rows with NULL, which have no match either. */
	if (type == JOIN_ANTI)
		qual->asked.kind = RTSCAN_CONDITION_DISTINCT;
	return key;
}

static int
count_keys(const RtscanStar *star)
{
	int			n = 0;
	ListCell   *cell;

	foreach(cell, star->dimensions)
		n += list_length(((RtscanStarDimension *) lfirst(cell))->keys);
	return n;
}

static RtscanStarDimension *
make_dimension(const RtscanStar *star, RelOptInfo *inner, JoinType type, List *quals)
{
	RtscanStarDimension *dimension = palloc0(sizeof(RtscanStarDimension));
	int			number = count_keys(star);
	ListCell   *cell;

	dimension->rel = inner;
	dimension->type = type;
	foreach(cell, quals)
		dimension->keys = lappend(dimension->keys, make_key(type, lfirst(cell), ++number));
	return dimension;
}

int
rtscan_count_tables(PlannerInfo *root, Relids relids)
{
	int			tables = 0,
				relid = -1;

	while ((relid = bms_next_member(relids, relid)) >= 0)
	{
		RelOptInfo *table = root->simple_rel_array[relid];

		if (table && table->subroot)
			tables += rtscan_count_tables(table->subroot, table->subroot->all_baserels);
		else if (table)
			tables += rtscan_has_leaves(root, table) ? list_length(rtscan_leaves_of(root, table)) : 1;
	}
	return tables;
}

RtscanStar *
rtscan_add_dimension(PlannerInfo *root, const RtscanStar *star, RelOptInfo *joinrel, RelOptInfo *inner, Relids cores,
					 JoinType type, const JoinPathExtraData *extra)
{
	List	   *quals;
	bool		repeats;
	List	   *infos = has_path(inner) ?
		find_clauses(root, star, joinrel, inner, cores, type, extra, &quals, &repeats) : NIL;
	RtscanStarDimension *dimension;
	RtscanStar *result;

	if (infos == NIL)
		return NULL;
	dimension = make_dimension(star, inner, type, quals);
	dimension->repeats = repeats;
	dimension->selectivity = selectivity_of(root, star, joinrel, inner, infos, type, repeats, extra);
	dimension->residual = list_difference_ptr(extra->restrictlist, infos);
	dimension->tables = rtscan_count_tables(root, inner->relids);
	result = palloc(sizeof(RtscanStar));
	*result = *star;
	result->rel = joinrel;
	result->dimensions = lappend(list_copy(star->dimensions), dimension);
	return result;
}
