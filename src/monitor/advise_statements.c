/* SPDX-License-Identifier: PostgreSQL */
/*
 * advise_statements.c
 *		Read queries from pg_stat_statements.
 */
#include "monitor/advise_query.h"

#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

/* The most queries that are read: those that took most time. */
#define MOST_STATEMENTS	500

/*
 * pg_stat_statements replaces constants by parameters, also after the name of a type, where no parameter can stand.  A
 * regular expression finds such places, and a replacement makes them casts.  These are the types of which constants are
 * written so.
 */
#define TYPED_PARAMETER	"E'\\\\m(interval|date|time|timetz|timestamp|timestamptz|time(?:stamp)? with(?:out)? time zone" \
	"|numeric|uuid|inet|jsonb?)\\\\s+(\\\\$[0-9]+)'"
#define CAST_PARAMETER	"E'CAST(\\\\2 AS \\\\1)'"

#define FIND_SCHEMA \
	"SELECT pg_catalog.quote_ident(n.nspname) FROM pg_catalog.pg_extension e" \
	" JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace" \
	" WHERE e.extname OPERATOR(pg_catalog.=) 'pg_stat_statements'"

#define READ_STATEMENTS \
	"SELECT pg_catalog.regexp_replace(query, " TYPED_PARAMETER ", " CAST_PARAMETER ", 'gi')," \
	" pg_catalog.sum(calls)::bigint, userid FROM %s.pg_stat_statements" \
	" WHERE dbid OPERATOR(pg_catalog.=) (SELECT oid FROM pg_catalog.pg_database" \
	" WHERE datname OPERATOR(pg_catalog.=) pg_catalog.current_database())" \
	" AND query OPERATOR(pg_catalog.~*) E'^\\\\s*(select|with|insert|update|delete|merge)\\\\M'" \
	" AND query OPERATOR(pg_catalog.!~*) E'\\\\mrtscan_advise\\\\M'" \
	" GROUP BY query, userid ORDER BY pg_catalog.sum(total_exec_time) DESC LIMIT %d"

static void
read_by_spi(const char *command)
{
	if (SPI_execute(command, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not execute \"%s\"", command);
}

/* Return a value of a row that SPI has read. */
static Datum
value_of(uint64 row, int column)
{
	bool		isnull;

	return SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, &isnull);
}

/* Return the command that reads the statements of this database. */
static char *
statements_command(void)
{
	read_by_spi(FIND_SCHEMA);
	if (SPI_processed == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("extension \"pg_stat_statements\" is not installed in this database"),
				 errhint("Install it, or pass queries to rtscan_advise().")));
	return psprintf(READ_STATEMENTS, TextDatumGetCString(value_of(0, 1)), MOST_STATEMENTS);
}

/* A statement that has been read. */
typedef struct Statement
{
	char	   *text;
	int64		calls;
	Oid			user;
} Statement;

/* Read the statements, into an array in the caller's memory context. */
static Statement *
read_statements(uint64 *n)
{
	MemoryContext caller = CurrentMemoryContext;
	Statement  *statements;
	MemoryContext old;

	SPI_connect();
	read_by_spi(statements_command());
	*n = SPI_processed;
	old = MemoryContextSwitchTo(caller);
	statements = palloc(Max(*n, 1) * sizeof(Statement));
	for (uint64 i = 0; i < *n; i++)
		statements[i] = (Statement) {
			.text = TextDatumGetCString(value_of(i, 1)),
			.calls = DatumGetInt64(value_of(i, 2)),
			.user = DatumGetObjectId(value_of(i, 3)),
		};
	MemoryContextSwitchTo(old);
	SPI_finish();
	return statements;
}

List *
rtscan_statements(void)
{
	uint64		n;
	Statement  *statements = read_statements(&n);
	List	   *queries = NIL;

	for (uint64 i = 0; i < n; i++)
		queries = rtscan_add_queries(queries, statements[i].text, statements[i].calls, statements[i].user);
	return queries;
}
