/*
 * main.c
 *		How long do PostgreSQL and DuckDB take to answer, until a client has read it all?
 *
 *	ask LIBDUCKDB TABLE DEFINITION CSV REPETITIONS <questions
 *
 * PostgreSQL is where libpq's environment says; DuckDB, one thread, is loaded from a library, and gets the table from a file.
 * A line of input is a name, a tab and a query; after another tab DuckDB's own, if the two do not speak alike.  Each is prepared;
 * the first run of each says what its answer is, in binary, and these must be the same set of rows; then they run in turn, so
 * many times, and how long they took is written, in milliseconds with blanks between:
 *
 *	name <tab> rows <tab> PostgreSQL's times <tab> DuckDB's
 */
#define _GNU_SOURCE
#include "answer.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_REPETITIONS	1000

static double
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double) time.tv_sec * 1e3 + (double) time.tv_nsec / 1e6;
}

/* Ask one of the two; how long it takes. */
static double
timed(void (*ask) (Answer *), Answer *answer)
{
	double		start = now();

	forget(answer);
	ask(answer);
	return now() - start;
}

static void
print_times(const double *times, int n)
{
	for (int i = 0; i < n; i++)
		printf("%c%.3f", i == 0 ? '\t' : ' ', times[i]);
}

static void
compare(const char *name, int repetitions)
{
	static Answer expected,
				answer;
	double		postgres_times[MAX_REPETITIONS],
				duckdb_times[MAX_REPETITIONS];

	timed(ask_postgres, &answer);
	timed(ask_duckdb, &expected);
	if (!same(&answer, &expected))
		errx(EXIT_FAILURE, "%s: PostgreSQL has %lu rows, DuckDB %lu, and they are not the same", name,
			 (unsigned long) answer.rows, (unsigned long) expected.rows);
	for (int i = 0; i < repetitions; i++)
	{
		postgres_times[i] = timed(ask_postgres, &answer);
		duckdb_times[i] = timed(ask_duckdb, &expected);
	}
	printf("%s\t%lu", name, (unsigned long) answer.rows);
	print_times(postgres_times, repetitions);
	print_times(duckdb_times, repetitions);
	putchar('\n');
	fflush(stdout);
}

/* A line of input. */
static void
answer_line(char *line, int repetitions)
{
	char	   *name = strsep(&line, "\t\n");
	char	   *query = strsep(&line, "\t\n");
	char	   *duckdb_query = strsep(&line, "\t\n");

	if (query == NULL || *query == '\0')
		errx(EXIT_FAILURE, "a line without a query: %s", name);
	prepare_postgres(query);
	prepare_duckdb(duckdb_query && *duckdb_query ? duckdb_query : query);
	compare(name, repetitions);
}

int
main(int argc, char **argv)
{
	char		line[65536];
	int			repetitions;

	if (argc != 6 || (repetitions = atoi(argv[5])) < 1 || repetitions > MAX_REPETITIONS)
		errx(EXIT_FAILURE, "usage: ask LIBDUCKDB TABLE DEFINITION CSV REPETITIONS <questions");
	connect_postgres();
	load_duckdb(argv[1]);
	load_table(argv[2], argv[3], argv[4]);
	while (fgets(line, sizeof(line), stdin))
		answer_line(line, repetitions);
	return EXIT_SUCCESS;
}
