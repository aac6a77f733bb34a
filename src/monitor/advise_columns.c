/* SPDX-License-Identifier: PostgreSQL */
/*
 * advise_columns.c
 *		Find the columns of tables that a query uses, and what for.
 *
 * The query has been analyzed and rewritten, but not planned.  A column of a subquery or a join is followed to the
 * table's column that it stands for, so that a condition on a view counts for the tables below.
 */
#include "monitor/advise_columns.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

/* How a part of a query uses its columns. */
typedef enum Use
{
	RETURNED,					/* nothing that an index is needed for */
	COMPUTED,					/* groups, aggregates and windows */
	FOUND						/* conditions, and orders of rows */
} Use;

/* The state of a walk through a query. */
typedef struct Walk
{
	List	   *queries;		/* Query *: the innermost query that is being walked, then those around it */
	Use			use;
	List	   *used;			/* RtscanUsedColumn * */
	List	   *followed;		/* Followed *: results of queries that have been walked */
} Walk;

/* A result column of a query that has been followed to the tables' columns. */
typedef struct Followed
{
	const Query *query;
	AttrNumber	column;
	Use			use;
} Followed;

static bool walk_expression(Node *node, void *arg);
static void walk_query(Query *query, Walk *walk);

List *
rtscan_add_used_column(List *columns, const RtscanUsedColumn *column)
{
	RtscanUsedColumn *added;
	ListCell   *cell;

	foreach(cell, columns)
	{
		RtscanUsedColumn *known = lfirst(cell);

		if (known->table != column->table || !equal(known->expression, column->expression))
			continue;
		known->is_key |= column->is_key;
		known->weight += column->weight;
		return columns;
	}
	added = palloc(sizeof(RtscanUsedColumn));
	*added = *column;
	return lappend(columns, added);
}

/* ---------------------------------------------------------------- columns */

/* Can a relation have an rtscan index, and is it a user's table? */
static bool
is_users_table(Oid relid)
{
	char		kind = get_rel_relkind(relid);

	return relid >= FirstNormalObjectId &&
		(kind == RELKIND_RELATION || kind == RELKIND_MATVIEW || kind == RELKIND_PARTITIONED_TABLE);
}

/* Return a column of a table as an index's column: without marks of the place in the query. */
static Node *
plain_column(const Var *var)
{
	return (Node *) makeVar(1, var->varattno, var->vartype, var->vartypmod, var->varcollid, 0);
}

static Node *
plain_columns(Node *node, void *arg)
{
	if (node && IsA(node, Var))
		return plain_column((Var *) node);
	return expression_tree_mutator(node, plain_columns, arg);
}

/* Add a column of a table, or an expression over one.  An index cannot have what the table computes when it is read. */
static void
add_column(Walk *walk, Oid table, AttrNumber attribute, Node *expression)
{
	RtscanUsedColumn column = {.table = table, .expression = expression, .is_key = walk->use == FOUND};

	if (is_users_table(table) && get_attgenerated(table, attribute) != ATTRIBUTE_GENERATED_VIRTUAL)
		walk->used = rtscan_add_used_column(walk->used, &column);
}

/* Walk an expression that belongs to one of the queries around the innermost one, or to a subquery of it. */
static void
walk_elsewhere(Walk *walk, List *queries, Node *expression)
{
	List	   *here = walk->queries;

	walk->queries = queries;
	(void) walk_expression(expression, walk);
	walk->queries = here;
}

/*
 * Has a result column been followed before, for the same use?  Notes that it is followed now.  A query may refer to a
 * result many times, which itself refers to others many times.
 */
static bool
is_followed(Walk *walk, const Query *query, AttrNumber column)
{
	Followed   *followed;
	ListCell   *cell;

	foreach(cell, walk->followed)
	{
		followed = lfirst(cell);
		if (followed->query == query && followed->column == column && followed->use == walk->use)
			return true;
	}
	followed = palloc(sizeof(Followed));
	*followed = (Followed) {query, column, walk->use};
	walk->followed = lappend(walk->followed, followed);
	return false;
}

/* Follow a result column of a query, "around" which are others; of UNION and the like, of each of its queries. */
static void
walk_result(Walk *walk, Query *query, List *around, AttrNumber column)
{
	List	   *queries = lcons(query, list_copy(around));
	List	   *results = query->commandType == CMD_SELECT ? query->targetList : query->returningList;
	ListCell   *cell;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (column > list_length(results) || is_followed(walk, query, column))
		return;
	if (query->setOperations == NULL)
	{
		walk_elsewhere(walk, queries, (Node *) list_nth_node(TargetEntry, results, column - 1)->expr);
		return;
	}
	foreach(cell, query->rtable)
		if (lfirst_node(RangeTblEntry, cell)->rtekind == RTE_SUBQUERY)
			walk_result(walk, lfirst_node(RangeTblEntry, cell)->subquery, queries, column);
}

/* Follow a column of a query in WITH, if the entry does not refer to the very query that it is in. */
static void
walk_with(Walk *walk, List *queries, const RangeTblEntry *entry, AttrNumber column)
{
	List	   *around = list_copy_tail(queries, entry->ctelevelsup);
	ListCell   *cell;

	foreach(cell, entry->self_reference ? NIL : ((Query *) linitial(around))->cteList)
	{
		const CommonTableExpr *with = lfirst_node(CommonTableExpr, cell);

		if (strcmp(with->ctename, entry->ctename) == 0)
			walk_result(walk, castNode(Query, with->ctequery), around, column);
	}
}

/* Follow a column to what it stands for. */
static void
walk_column(Walk *walk, const Var *var)
{
	List	   *queries = list_copy_tail(walk->queries, var->varlevelsup);
	const RangeTblEntry *entry = rt_fetch(var->varno, ((Query *) linitial(queries))->rtable);
	Node	   *grouped;

	if (var->varattno <= 0)
		return;
	grouped = rtscan_compat_grouped_expression(entry, var->varattno);
	if (grouped)
		walk_elsewhere(walk, queries, grouped);
	else if (entry->rtekind == RTE_RELATION)
		add_column(walk, entry->relid, var->varattno, plain_column(var));
	else if (entry->rtekind == RTE_JOIN)
		walk_elsewhere(walk, queries, list_nth(entry->joinaliasvars, var->varattno - 1));
	else if (entry->rtekind == RTE_SUBQUERY)
		walk_result(walk, entry->subquery, queries, var->varattno);
	else if (entry->rtekind == RTE_CTE)
		walk_with(walk, queries, entry, var->varattno);
}

/* ---------------------------------------------------------------- expressions over jsonb */

/* The parts of an expression that decide whether an index can have it. */
typedef struct Parts
{
	Var		   *column;			/* its column; NULL: it has none */
	bool		others;			/* does it have several columns, parameters, or parts that an index cannot have? */
} Parts;

static bool
find_parts(Node *node, void *arg)
{
	Parts	   *parts = (Parts *) arg;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		parts->others |= parts->column != NULL || ((Var *) node)->varlevelsup > 0 || ((Var *) node)->varattno <= 0;
		parts->column = (Var *) node;
	}
	else if (IsA(node, Param) || IsA(node, Aggref) || IsA(node, WindowFunc) || IsA(node, SubLink) ||
			 IsA(node, GroupingFunc) || IsA(node, Query))
		parts->others = true;
	return !parts->others && expression_tree_walker(node, find_parts, arg);
}

/* Return the jsonb column from which an expression computes a value that an index can have as its key, or NULL. */
static Var *
extracted_from(Node *node)
{
	Parts		parts = {0};
	Oid			type = getBaseType(exprType(node));

	if (IsA(node, Var) || type == BOOLOID || type == JSONBOID || get_typtype(type) == TYPTYPE_PSEUDO ||
		expression_returns_set(node))
		return NULL;
	(void) find_parts(node, &parts);
	return parts.column && !parts.others && getBaseType(parts.column->vartype) == JSONBOID &&
		!contain_mutable_functions(node) &&
		OidIsValid(GetDefaultOpClass(type, get_index_am_oid("rtscan", false))) ? parts.column : NULL;
}

/* If an expression is a value of a jsonb column, use the expression and not the column. */
static bool
walk_extracted(Walk *walk, Node *node)
{
	Var		   *column = NULL;
	const RangeTblEntry *entry;

	if (IsA(node, OpExpr) || IsA(node, FuncExpr) || IsA(node, CoerceViaIO))
		column = extracted_from(node);
	if (column == NULL)
		return false;
	entry = rt_fetch(column->varno, ((Query *) linitial(walk->queries))->rtable);
	if (entry->rtekind != RTE_RELATION)
		return false;
	add_column(walk, entry->relid, column->varattno, plain_columns(node, NULL));
	return true;
}

/* ---------------------------------------------------------------- queries */

/* expression_tree_walker: walk an expression of the innermost query. */
static bool
walk_expression(Node *node, void *arg)
{
	Walk	   *walk = (Walk *) arg;

	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		walk_query((Query *) node, walk);
		return false;
	}
	if (walk->use != RETURNED && walk_extracted(walk, node))
		return false;
	if (IsA(node, Var))
	{
		if (walk->use != RETURNED)
			walk_column(walk, (Var *) node);
		return false;
	}
	return expression_tree_walker(node, walk_expression, arg);
}

static void
walk_as(Walk *walk, Node *node, Use use)
{
	Use			before = walk->use;

	walk->use = use;
	(void) walk_expression(node, walk);
	walk->use = before;
}

/* Walk the conditions of FROM and WHERE. */
static void
walk_conditions(Walk *walk, Node *node)
{
	ListCell   *cell;

	if (node == NULL)
		return;
	if (IsA(node, JoinExpr))
	{
		walk_conditions(walk, ((JoinExpr *) node)->larg);
		walk_conditions(walk, ((JoinExpr *) node)->rarg);
		walk_as(walk, ((JoinExpr *) node)->quals, FOUND);
	}
	else if (IsA(node, FromExpr))
	{
		foreach(cell, ((FromExpr *) node)->fromlist)
			walk_conditions(walk, lfirst(cell));
		walk_as(walk, ((FromExpr *) node)->quals, FOUND);
	}
}

/* Does a query compute something from many rows? */
static bool
computes(const Query *query)
{
	return query->hasAggs || query->hasWindowFuncs || query->groupClause != NIL || query->groupingSets != NIL ||
		query->distinctClause != NIL;
}

/* Walk the result columns of a query: those that order its rows may be found by an index. */
static void
walk_results(Walk *walk, const Query *query)
{
	bool		computed = computes(query);
	ListCell   *cell;

	foreach(cell, query->targetList)
	{
		TargetEntry *target = lfirst_node(TargetEntry, cell);
		bool		orders = get_sortgroupref_clause_noerr(target->ressortgroupref, query->sortClause) != NULL;

		walk_as(walk, (Node *) target->expr, computed ? COMPUTED : orders ? FOUND : RETURNED);
	}
}

/* Walk the queries in the FROM and WITH of a query. */
static void
walk_subqueries(Walk *walk, const Query *query)
{
	ListCell   *cell;

	foreach(cell, query->rtable)
		if (lfirst_node(RangeTblEntry, cell)->rtekind == RTE_SUBQUERY)
			walk_query(lfirst_node(RangeTblEntry, cell)->subquery, walk);
	foreach(cell, query->cteList)
		walk_query(castNode(Query, lfirst_node(CommonTableExpr, cell)->ctequery), walk);
}

static void
walk_query(Query *query, Walk *walk)
{
	List	   *around = walk->queries;
	Use			use = walk->use;

	check_stack_depth();
	walk->queries = lcons(query, list_copy(around));
	walk->use = RETURNED;
	walk_conditions(walk, (Node *) query->jointree);
	walk_as(walk, rtscan_compat_merge_condition(query), FOUND);
	walk_results(walk, query);
	walk_as(walk, query->havingQual, COMPUTED);
	walk_subqueries(walk, query);
	walk->queries = around;
	walk->use = use;
}

List *
rtscan_used_columns(Query *query)
{
	Walk		walk = {.use = RETURNED};

	walk_query(query, &walk);
	return walk.used;
}
