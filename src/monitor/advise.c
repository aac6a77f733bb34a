/* SPDX-License-Identifier: PostgreSQL */
/*
 * advise.c
 *		rtscan_advise(): which rtscan indexes would make queries cheaper.
 *
 * An index is proposed for each table, with all columns that the queries use of it.  The queries are planned as if the
 * indexes existed.  Then the indexes are proposed anew, with the columns of only those queries that have become
 * cheaper by them, and the queries are planned once more.  Nothing is created.
 */
#include "rtscan.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "monitor/advise_columns.h"
#include "monitor/advise_index.h"
#include "monitor/version.h"
#include "nodes/plannodes.h"
#include "plan/offers/offers.h"
#include "tcop/tcopprot.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#define ADVICE_COLUMNS	10

/* The OID of the first proposed index: PostgreSQL's relations begin with greater ones. */
#define FIRST_OID		((Oid) 1)

/*
 * pg_stat_statements replaces constants by parameters, also after the name of a type, where no parameter can stand.  A
 * regular expression finds such places, and a replacement makes them casts.
 */
#define TYPED_PARAMETER	"'\\m(interval|date|time|timetz|timestamp|timestamptz|time(?:stamp)? with(?:out)? time zone|numeric|uuid|inet" \
	"|jsonb?)\\s+(\\$[0-9]+)'"
#define CAST_PARAMETER	"'CAST(\\2 AS \\1)'"

/* The most queries that are taken from pg_stat_statements: those that took most time. */
#define MOST_STATEMENTS	500

/* A plan that costs more than this fraction of the plan without the index gains nothing worth an index. */
#define WORTHWHILE		0.9

PG_FUNCTION_INFO_V1(rtscan_advise);

/* A query that is planned with and without indexes. */
typedef struct AdvisedQuery
{
	const char *text;
	int64		calls;			/* how often it was executed; 1: not known */
	Query	   *query;			/* analyzed and rewritten; NULL: the text could not be */
	const char *problem;		/* why it could not be analyzed or planned; NULL if it could */
	List	   *columns;		/* columns of tables that it uses (RtscanUsedColumn *) */
	Cost		cost;			/* cost without proposed indexes */
	Cost		cost_with;		/* cost with proposed indexes */
	List	   *indexes;		/* OIDs of the indexes that its plan with proposed indexes uses */
} AdvisedQuery;

/* The state of a call. */
typedef struct Advice
{
	List	   *queries;		/* AdvisedQuery * */
	List	   *proposals;		/* RtscanProposal * */
	List	   *indexes;		/* their indexes: RtscanHypothetical * */
} Advice;

/* ---------------------------------------------------------------- attempts */

/* Something that may raise an error because of a query. */
typedef void (*Attempt) (Advice *advice, AdvisedQuery *query);

/* Interrupts, and errors of the server, are not a query's problem. */
static bool
is_of_query(const ErrorData *error)
{
	return error->sqlerrcode != ERRCODE_QUERY_CANCELED && error->sqlerrcode != ERRCODE_OUT_OF_MEMORY &&
		ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_OPERATOR_INTERVENTION;
}

/* Attempt something in a subtransaction.  An error becomes the query's problem, and the other queries go on. */
static void
attempt(Attempt what, Advice *advice, AdvisedQuery *query)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	CHECK_FOR_INTERRUPTS();
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		what(advice, query);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		if (!is_of_query(error))
			PG_RE_THROW();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		query->problem = error->message;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
}

/* ---------------------------------------------------------------- queries */

static AdvisedQuery *
add_query(Advice *advice, const char *text, int64 calls)
{
	AdvisedQuery *query = palloc0(sizeof(AdvisedQuery));

	query->text = text;
	query->calls = calls;
	advice->queries = lappend(advice->queries, query);
	return query;
}

/* Return the text of a statement. */
static const char *
text_of(const RawStmt *statement, const char *text)
{
	const char *start = text + statement->stmt_location;
	const char *end = statement->stmt_len > 0 ? start + statement->stmt_len : start + strlen(start);

	while (start < end && isspace((unsigned char) *start))
		start++;
	return pnstrdup(start, end - start);
}

/* Attempt: analyze a text, which may have several statements.  Parameters have the types that the context implies. */
static void
analyze(Advice *advice, AdvisedQuery *first)
{
	const char *text = first->text;
	ListCell   *statement,
			   *cell;

	foreach(statement, pg_parse_query(text))
	{
		RawStmt    *raw = lfirst_node(RawStmt, statement);
		Oid		   *types = NULL;
		int			n = 0;

		foreach(cell, pg_analyze_and_rewrite_varparams(raw, text, &types, &n, NULL))
		{
			AdvisedQuery *query = first->query == NULL ? first : add_query(advice, text, first->calls);

			query->query = lfirst_node(Query, cell);
			query->text = text_of(raw, text);
			if (query->query->commandType == CMD_UTILITY)
				query->problem = "this is not a query that can be planned";
		}
	}
}

static void
add_text(Advice *advice, const char *text, int64 calls)
{
	AdvisedQuery *query = add_query(advice, text, calls);

	attempt(analyze, advice, query);
	if (query->query == NULL && query->problem == NULL)
		query->problem = "this text has no query";
}

static void
add_array(Advice *advice, ArrayType *texts)
{
	Datum	   *all;
	bool	   *nulls;
	int			n;

	deconstruct_array(texts, TEXTOID, -1, false, TYPALIGN_INT, &all, &nulls, &n);
	for (int i = 0; i < n; i++)
		if (!nulls[i])
			add_text(advice, TextDatumGetCString(all[i]), 1);
}

/* Execute a command that reads, by SPI. */
static void
read_by_spi(const char *command)
{
	if (SPI_execute(command, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not execute \"%s\"", command);
}

/* Return the command that reads this database's queries from pg_stat_statements. */
static char *
statements_command(void)
{
	read_by_spi("SELECT pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_extension e"
				" JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_stat_statements'");
	if (SPI_processed == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension \"pg_stat_statements\" is not installed in this database"),
				 errhint("Install it, or pass queries to rtscan_advise().")));
	return psprintf("SELECT pg_catalog.regexp_replace(query, " TYPED_PARAMETER ", " CAST_PARAMETER ", 'gi'),"
					" pg_catalog.sum(calls)::bigint FROM %s.pg_stat_statements s"
					" WHERE dbid OPERATOR(pg_catalog.=) (SELECT oid FROM pg_catalog.pg_database"
					" WHERE datname OPERATOR(pg_catalog.=) pg_catalog.current_database())"
					" AND query OPERATOR(pg_catalog.~*) '^\\s*(select|with|insert|update|delete|merge)\\M'"
					" AND query OPERATOR(pg_catalog.!~*) '\\mrtscan_advise\\M'"
					" GROUP BY query ORDER BY pg_catalog.sum(total_exec_time) DESC LIMIT %d",
					SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1), MOST_STATEMENTS);
}

/* Read the queries of pg_stat_statements into two lists: texts, and numbers of calls (int64 *). */
static void
read_statements(List **texts, List **calls)
{
	MemoryContext context = CurrentMemoryContext;

	SPI_connect();
	read_by_spi(statements_command());
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple	row = SPI_tuptable->vals[i];
		MemoryContext old;
		int64	   *number;
		bool		isnull;

		old = MemoryContextSwitchTo(context);
		number = palloc(sizeof(int64));
		*number = DatumGetInt64(SPI_getbinval(row, SPI_tuptable->tupdesc, 2, &isnull));
		*texts = lappend(*texts, pstrdup(SPI_getvalue(row, SPI_tuptable->tupdesc, 1)));
		*calls = lappend(*calls, number);
		MemoryContextSwitchTo(old);
	}
	SPI_finish();
}

static void
add_statements(Advice *advice)
{
	List	   *texts = NIL,
			   *calls = NIL;
	ListCell   *text,
			   *number;

	read_statements(&texts, &calls);
	forboth(text, texts, number, calls)
		add_text(advice, lfirst(text), *(int64 *) lfirst(number));
}

/* ---------------------------------------------------------------- plans */

static PlannedStmt *
plan(const AdvisedQuery *query)
{
	return rtscan_compat_plan_query(copyObject(query->query), query->text, CURSOR_OPT_PARALLEL_OK);
}

/* Attempt: plan a query as it is, and find the columns that it uses.  The user needs the privileges to execute it. */
static void
plan_without(Advice *advice, AdvisedQuery *query)
{
	PlannedStmt *statement = plan(query);

	rtscan_compat_check_permissions(statement);
	query->cost = query->cost_with = statement->planTree->total_cost;
	query->columns = rtscan_used_columns(copyObject(query->query));
}

static void
note_plan_with(AdvisedQuery *query, const PlannedStmt *statement)
{
	query->cost_with = statement->planTree->total_cost;
	query->indexes = rtscan_indexes_of_plan(statement);
}

/* Attempt: plan a query as if the proposed indexes existed. */
static void
plan_with(Advice *advice, AdvisedQuery *query)
{
	List	   *before = rtscan_pretend(advice->indexes);

	PG_TRY();
	{
		note_plan_with(query, plan(query));
	}
	PG_FINALLY();
	{
		rtscan_pretend(before);
	}
	PG_END_TRY();
}

static void
plan_all(Advice *advice, Attempt how)
{
	ListCell   *cell;

	foreach(cell, advice->queries)
		if (((AdvisedQuery *) lfirst(cell))->problem == NULL)
			attempt(how, advice, lfirst(cell));
}

/* ---------------------------------------------------------------- proposals */

/* Does a query become cheaper by an index? */
static bool
gains_by(const AdvisedQuery *query, const RtscanProposal *proposal)
{
	return query->problem == NULL && query->cost_with <= WORTHWHILE * query->cost &&
		list_member_oid(query->indexes, proposal->index.oid);
}

/* Does a query become cheaper by any index?  Before indexes have been proposed, each query may. */
static bool
may_gain(const Advice *advice, const AdvisedQuery *query)
{
	ListCell   *cell;

	if (query->problem)
		return false;
	foreach(cell, advice->proposals)
		if (gains_by(query, lfirst(cell)))
			return true;
	return advice->proposals == NIL;
}

/* Return the columns of the queries that may gain, each with the weight of its queries. */
static List *
columns_of_queries(const Advice *advice)
{
	List	   *columns = NIL;
	ListCell   *query_cell,
			   *cell;

	foreach(query_cell, advice->queries)
	{
		const AdvisedQuery *query = lfirst(query_cell);

		foreach(cell, may_gain(advice, query) ? query->columns : NIL)
		{
			RtscanUsedColumn column = *(RtscanUsedColumn *) lfirst(cell);

			column.weight = query->calls * query->cost;
			columns = rtscan_add_used_column(columns, &column);
		}
	}
	return columns;
}

/* Propose an index for each table of which the queries that may gain use columns. */
static void
propose(Advice *advice)
{
	List	   *columns = columns_of_queries(advice);
	List	   *tables = NIL;
	ListCell   *cell;

	foreach(cell, columns)
		tables = list_append_unique_oid(tables, ((RtscanUsedColumn *) lfirst(cell))->table);
	advice->proposals = advice->indexes = NIL;
	foreach(cell, tables)
	{
		Oid			oid = FIRST_OID + list_length(advice->proposals);
		RtscanProposal *proposal = rtscan_propose_index(lfirst_oid(cell), columns, oid);

		if (proposal == NULL)
			continue;
		advice->proposals = lappend(advice->proposals, proposal);
		advice->indexes = lappend(advice->indexes, &proposal->index);
	}
}

static void
advise(Advice *advice)
{
	plan_all(advice, plan_without);
	propose(advice);
	plan_all(advice, plan_with);
	if (advice->proposals == NIL)
		return;
	propose(advice);
	plan_all(advice, plan_with);
}

/* ---------------------------------------------------------------- the result */

/* Return OIDs as an array of regclass. */
static Datum
class_array(const List *oids)
{
	Datum	   *elements = palloc(Max(list_length(oids), 1) * sizeof(Datum));
	int			n = 0;
	ListCell   *cell;

	foreach(cell, oids)
		elements[n++] = ObjectIdGetDatum(lfirst_oid(cell));
	return PointerGetDatum(construct_array(elements, n, REGCLASSOID, sizeof(Oid), true, TYPALIGN_INT));
}

/* Return a row for a query and an index that makes it cheaper; without an index, for a query that gains nothing. */
static void
put_row(ReturnSetInfo *result, const AdvisedQuery *query, const RtscanProposal *proposal, const List *used)
{
	Datum		values[ADVICE_COLUMNS] = {0};
	bool		isnull[ADVICE_COLUMNS] = {false};

	for (int i = 0; i < 5; i++)
		isnull[i] = proposal == NULL;
	if (proposal)
	{
		values[0] = ObjectIdGetDatum(proposal->index.table);
		values[1] = CStringGetTextDatum(proposal->definition);
		values[2] = Int64GetDatum((int64) proposal->index.bytes);
		values[3] = Float8GetDatum(proposal->seconds);
		values[4] = class_array(rtscan_unneeded_btrees(proposal->index.table, used));
	}
	values[5] = CStringGetTextDatum(query->text);
	values[6] = Int64GetDatum(query->calls);
	values[7] = Float8GetDatum(query->cost);
	values[8] = Float8GetDatum(query->cost_with);
	isnull[7] = isnull[8] = query->problem != NULL;
	isnull[9] = query->problem == NULL;
	if (query->problem)
		values[9] = CStringGetTextDatum(query->problem);
	tuplestore_putvalues(result->setResult, result->setDesc, values, isnull);
}

/* Return the indexes that the plans of all queries use. */
static List *
all_used(const Advice *advice)
{
	List	   *used = NIL;
	ListCell   *cell;

	foreach(cell, advice->queries)
		used = list_concat_unique_oid(used, ((AdvisedQuery *) lfirst(cell))->indexes);
	return used;
}

/* Return the rows of each index, and then those of queries that gain by none. */
static void
put_rows(const Advice *advice, ReturnSetInfo *result)
{
	List	   *used = all_used(advice);
	List	   *gaining = NIL;
	ListCell   *proposal,
			   *cell;

	foreach(proposal, advice->proposals)
		foreach(cell, advice->queries)
			if (gains_by(lfirst(cell), lfirst(proposal)))
			{
				put_row(result, lfirst(cell), lfirst(proposal), used);
				gaining = list_append_unique_ptr(gaining, lfirst(cell));
			}
	foreach(cell, advice->queries)
		if (!list_member_ptr(gaining, lfirst(cell)))
			put_row(result, lfirst(cell), NULL, used);
}

Datum
rtscan_advise(PG_FUNCTION_ARGS)
{
	Advice		advice = {0};

	rtscan_begin_result_set(fcinfo, ADVICE_COLUMNS);
	if (PG_ARGISNULL(0))
		add_statements(&advice);
	else
		add_array(&advice, PG_GETARG_ARRAYTYPE_P(0));
	advise(&advice);
	put_rows(&advice, (ReturnSetInfo *) fcinfo->resultinfo);
	return (Datum) 0;
}
