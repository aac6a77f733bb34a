/* SPDX-License-Identifier: PostgreSQL */
/*
 * advise_query.c
 *		Plan the queries for which indexes are proposed, with and without the indexes.
 */
#include "monitor/advise_query.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "monitor/advise_columns.h"
#include "nodes/plannodes.h"
#include "plan/cost/hypothetical.h"
#include "plan/offers/offers.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

/* ---------------------------------------------------------------- attempts */

/* Something that may raise an error because of a query. */
typedef void (*Attempt) (RtscanAdvisedQuery *query, void *arg);

/* Is an error a query's problem?  Else it is the server's, or somebody wants the call to end. */
static bool
is_of_query(const ErrorData *error)
{
	if (error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE)
		return false;
	switch (ERRCODE_TO_CATEGORY(error->sqlerrcode))
	{
		case ERRCODE_TO_CATEGORY(ERRCODE_TRANSACTION_ROLLBACK):
		case ERRCODE_TO_CATEGORY(ERRCODE_INSUFFICIENT_RESOURCES):
		case ERRCODE_TO_CATEGORY(ERRCODE_OPERATOR_INTERVENTION):
		case ERRCODE_TO_CATEGORY(ERRCODE_SYSTEM_ERROR):
		case ERRCODE_TO_CATEGORY(ERRCODE_INTERNAL_ERROR):
			return false;
		default:
			return true;
	}
}

/* Become the user of a query, until the subtransaction ends. */
static void
become_user(const RtscanAdvisedQuery *query)
{
	Oid			caller;
	int			security;

	GetUserIdAndSecContext(&caller, &security);
	if (query->user == caller)
		return;
	if (!has_privs_of_role(caller, query->user))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to plan queries of role \"%s\"", GetUserNameFromId(query->user, false))));
	SetUserIdAndSecContext(query->user, security | SECURITY_RESTRICTED_OPERATION);
}

/* Try to do something; returns the error, if one was raised, in the caller's memory context. */
static ErrorData *
try(Attempt what, RtscanAdvisedQuery *query, void *arg, MemoryContext caller)
{
	ErrorData  *volatile error = NULL;

	PG_TRY();
	{
		become_user(query);
		what(query, arg);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(caller);
		error = CopyErrorData();
		FlushErrorState();
	}
	PG_END_TRY();
	return error;
}

/* Do something in a subtransaction that is rolled back.  An error of the query becomes the query's problem. */
static void
attempt(Attempt what, RtscanAdvisedQuery *query, void *arg)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(caller, "rtscan advice", ALLOCSET_DEFAULT_SIZES);
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *error;

	CHECK_FOR_INTERRUPTS();
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	error = try(what, query, arg, caller);
	RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(caller);
	CurrentResourceOwner = owner;
	MemoryContextDelete(context);
	if (error && !is_of_query(error))
		ReThrowError(error);
	if (error)
		query->problem = error->message;
}

/* ---------------------------------------------------------------- texts */

/* Return the text of a statement. */
static char *
text_of(const RawStmt *statement, const char *text)
{
	const char *start = text + statement->stmt_location;
	const char *end = statement->stmt_len > 0 ? start + statement->stmt_len : start + strlen(start);

	while (start < end && isspace((unsigned char) *start))
		start++;
	return pnstrdup(start, end - start);
}

/* Attempt: append the texts of a query's statements to the list at "arg". */
static void
split(RtscanAdvisedQuery *query, void *arg)
{
	List	  **texts = (List **) arg;
	List	   *statements = pg_parse_query(query->text);
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(query));
	ListCell   *cell;

	foreach(cell, statements)
		*texts = lappend(*texts, text_of(lfirst_node(RawStmt, cell), query->text));
	MemoryContextSwitchTo(old);
}

static RtscanAdvisedQuery *
make_query(const char *text, int64 calls, Oid user)
{
	RtscanAdvisedQuery *query = palloc0(sizeof(RtscanAdvisedQuery));

	query->text = text;
	query->calls = calls;
	query->user = user;
	return query;
}

List *
rtscan_add_queries(List *queries, const char *text, int64 calls, Oid user)
{
	RtscanAdvisedQuery *whole = make_query(text, calls, user);
	List	   *texts = NIL;
	ListCell   *cell;

	attempt(split, whole, &texts);
	if (texts == NIL && whole->problem == NULL)
		whole->problem = "this text has no query";
	if (whole->problem)
		return lappend(queries, whole);
	foreach(cell, texts)
		queries = lappend(queries, make_query(lfirst(cell), calls, user));
	return queries;
}

/* ---------------------------------------------------------------- plans */

/* Analyze and rewrite a query.  Its parameters have the types that the context implies. */
static List *
analyze(const RtscanAdvisedQuery *query)
{
	RawStmt    *statement = linitial_node(RawStmt, pg_parse_query(query->text));
	Oid		   *types = NULL;
	int			n = 0;
	List	   *queries = pg_analyze_and_rewrite_varparams(statement, query->text, &types, &n, NULL);

	if (queries == NIL || linitial_node(Query, queries)->commandType == CMD_UTILITY)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("this is not a query that can be planned")));
	return queries;
}

/* Note the indexes that a plan uses. */
static void
note_indexes(RtscanAdvisedQuery *query, const PlannedStmt *statement)
{
	List	   *indexes = rtscan_indexes_of_plan(statement);
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(query));

	query->indexes = list_concat_unique_oid(query->indexes, indexes);
	MemoryContextSwitchTo(old);
}

/* Note the columns that a query uses. */
static void
note_columns(RtscanAdvisedQuery *query, Query *analyzed)
{
	List	   *columns = rtscan_used_columns(analyzed);
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(query));
	ListCell   *cell;

	foreach(cell, columns)
	{
		RtscanUsedColumn column = *(RtscanUsedColumn *) lfirst(cell);

		column.expression = copyObject(column.expression);
		query->columns = rtscan_add_used_column(query->columns, &column);
	}
	MemoryContextSwitchTo(old);
}

/* Attempt: plan a query; rules may have made several of it.  "arg" is a list of indexes that it is planned with. */
static void
plan(RtscanAdvisedQuery *query, void *arg)
{
	List	   *indexes = (List *) arg;
	Cost		cost = 0;
	ListCell   *cell;

	foreach(cell, analyze(query))
	{
		PlannedStmt *statement;

		if (indexes == NIL)
			note_columns(query, copyObject(lfirst_node(Query, cell)));
		rtscan_pretend_next(indexes);
		statement = rtscan_compat_plan_query(lfirst_node(Query, cell), query->text, CURSOR_OPT_PARALLEL_OK);
		rtscan_compat_check_permissions(statement);
		note_indexes(query, statement);
		cost += statement->planTree->total_cost;
	}
	query->cost_with = cost;
}

void
rtscan_plan_query(RtscanAdvisedQuery *query)
{
	attempt(plan, query, NIL);
	query->cost = query->cost_with;
}

void
rtscan_plan_query_with(RtscanAdvisedQuery *query, List *indexes)
{
	query->indexes = NIL;
	attempt(plan, query, indexes);
	rtscan_pretend_next(NIL);
}
