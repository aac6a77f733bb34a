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

#include "access/transam.h"
#include "catalog/partition.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "monitor/advise_columns.h"
#include "monitor/advise_index.h"
#include "monitor/advise_query.h"
#include "monitor/version.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

#define ADVICE_COLUMNS	10
/* The first columns of a row tell of an index. */
#define INDEX_COLUMNS	5

/*
 * The OIDs of proposed indexes.  PostgreSQL itself has relations with smaller OIDs, which its source assigns, and with
 * greater ones; genbki.pl assigns the OIDs between to other objects.
 */
#define FIRST_OID		((Oid) FirstGenbkiObjectId)
#define MOST_PROPOSALS	(FirstUnpinnedObjectId - FirstGenbkiObjectId)

/* A plan that costs more than this fraction of the plan without the index gains nothing worth an index. */
#define WORTHWHILE		0.9

PG_FUNCTION_INFO_V1(rtscan_advise);

/* The state of a call. */
typedef struct Advice
{
	List	   *queries;		/* RtscanAdvisedQuery * */
	List	   *proposals;		/* RtscanProposal * */
	List	   *indexes;		/* their indexes: RtscanHypothetical * */
} Advice;

/* ---------------------------------------------------------------- queries */

/* Return the queries of an array of texts. */
static List *
queries_of_array(ArrayType *texts)
{
	List	   *queries = NIL;
	Datum	   *all;
	bool	   *nulls;
	int			n;

	deconstruct_array(texts, TEXTOID, -1, false, TYPALIGN_INT, &all, &nulls, &n);
	for (int i = 0; i < n; i++)
		if (!nulls[i])
			queries = rtscan_add_queries(queries, TextDatumGetCString(all[i]), 1, GetUserId());
	return queries;
}

/* Return the queries without a problem: those that can be planned, as far as is known. */
static List *
sound_queries(const Advice *advice)
{
	List	   *sound = NIL;
	ListCell   *cell;

	foreach(cell, advice->queries)
		if (((RtscanAdvisedQuery *) lfirst(cell))->problem == NULL)
			sound = lappend(sound, lfirst(cell));
	return sound;
}

static void
plan_without(const Advice *advice)
{
	ListCell   *cell;

	foreach(cell, sound_queries(advice))
		rtscan_plan_query(lfirst(cell));
}

static void
plan_with(const Advice *advice)
{
	ListCell   *cell;

	foreach(cell, sound_queries(advice))
		rtscan_plan_query_with(lfirst(cell), advice->indexes);
}

/* ---------------------------------------------------------------- proposals */

/* Does a query become cheaper by an index? */
static bool
gains_by(const RtscanAdvisedQuery *query, const RtscanProposal *proposal)
{
	return query->problem == NULL && query->cost_with <= WORTHWHILE * query->cost &&
		list_member_oid(query->indexes, proposal->index.oid);
}

/* Return the queries that become cheaper by any index. */
static List *
gaining_queries(const Advice *advice)
{
	List	   *gaining = NIL;
	ListCell   *query,
			   *proposal;

	foreach(query, advice->queries)
		foreach(proposal, advice->proposals)
			if (gains_by(lfirst(query), lfirst(proposal)))
				gaining = list_append_unique_ptr(gaining, lfirst(query));
	return gaining;
}

/* Return the columns of queries, each with the weight of its queries. */
static List *
columns_of(const List *queries)
{
	List	   *columns = NIL;
	ListCell   *query_cell,
			   *cell;

	foreach(query_cell, queries)
	{
		const RtscanAdvisedQuery *query = lfirst(query_cell);

		foreach(cell, query->columns)
		{
			RtscanUsedColumn column = *(RtscanUsedColumn *) lfirst(cell);

			column.weight = query->calls * query->cost;
			columns = rtscan_add_used_column(columns, &column);
		}
	}
	return columns;
}

/* Is a table a partition of one of others? */
static bool
is_partition_of(Oid table, const List *others)
{
	ListCell   *cell;

	foreach(cell, get_rel_relispartition(table) ? get_partition_ancestors(table) : NIL)
		if (list_member_oid(others, lfirst_oid(cell)))
			return true;
	return false;
}

/* Return tables without the partitions of those that are among them: a partition has the index of its parent. */
static List *
without_partitions(const List *tables)
{
	List	   *left = NIL;
	ListCell   *cell;

	foreach(cell, tables)
		if (!is_partition_of(lfirst_oid(cell), tables))
			left = lappend_oid(left, lfirst_oid(cell));
	return left;
}

/* Propose an index for each table of which queries use columns. */
static void
propose(Advice *advice, const List *queries)
{
	List	   *columns = columns_of(queries);
	List	   *tables = NIL;
	ListCell   *cell;

	foreach(cell, columns)
		tables = list_append_unique_oid(tables, ((RtscanUsedColumn *) lfirst(cell))->table);
	advice->proposals = advice->indexes = NIL;
	foreach(cell, without_partitions(tables))
	{
		int			n = list_length(advice->proposals);
		RtscanProposal *proposal = n < MOST_PROPOSALS ?
			rtscan_propose_index(lfirst_oid(cell), columns, FIRST_OID + n) : NULL;

		if (proposal == NULL)
			continue;
		advice->proposals = lappend(advice->proposals, proposal);
		advice->indexes = lappend(advice->indexes, &proposal->index);
	}
}

/* Find which of the tables' indexes no query needs. */
static void
find_unneeded(const Advice *advice)
{
	List	   *used = NIL;
	ListCell   *cell;

	foreach(cell, advice->queries)
		used = list_concat_unique_oid(used, ((RtscanAdvisedQuery *) lfirst(cell))->indexes);
	foreach(cell, advice->proposals)
	{
		RtscanProposal *proposal = lfirst(cell);

		proposal->unneeded = rtscan_unneeded_btrees(proposal->index.table, used);
	}
}

static void
advise(Advice *advice)
{
	plan_without(advice);
	propose(advice, sound_queries(advice));
	if (advice->proposals == NIL)
		return;
	plan_with(advice);
	propose(advice, gaining_queries(advice));
	plan_with(advice);
	find_unneeded(advice);
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
put_row(ReturnSetInfo *result, const RtscanAdvisedQuery *query, const RtscanProposal *proposal)
{
	Datum		values[ADVICE_COLUMNS] = {0};
	bool		isnull[ADVICE_COLUMNS] = {false};

	for (int i = 0; i < INDEX_COLUMNS; i++)
		isnull[i] = proposal == NULL;
	if (proposal)
	{
		values[0] = ObjectIdGetDatum(proposal->index.table);
		values[1] = CStringGetTextDatum(proposal->definition);
		values[2] = Int64GetDatum((int64) proposal->index.bytes);
		values[3] = Float8GetDatum(proposal->seconds);
		values[4] = class_array(proposal->unneeded);
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

/* Return the rows of each index, and then those of queries that gain by none. */
static void
put_rows(const Advice *advice, ReturnSetInfo *result)
{
	List	   *gaining = gaining_queries(advice);
	ListCell   *proposal,
			   *cell;

	foreach(proposal, advice->proposals)
		foreach(cell, advice->queries)
			if (gains_by(lfirst(cell), lfirst(proposal)))
				put_row(result, lfirst(cell), lfirst(proposal));
	foreach(cell, advice->queries)
		if (!list_member_ptr(gaining, lfirst(cell)))
			put_row(result, lfirst(cell), NULL);
}

Datum
rtscan_advise(PG_FUNCTION_ARGS)
{
	Advice		advice = {0};

	rtscan_begin_result_set(fcinfo, ADVICE_COLUMNS);
	advice.queries = PG_ARGISNULL(0) ? rtscan_statements() : queries_of_array(PG_GETARG_ARRAYTYPE_P(0));
	advise(&advice);
	put_rows(&advice, (ReturnSetInfo *) fcinfo->resultinfo);
	return (Datum) 0;
}
