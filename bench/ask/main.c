/* SPDX-License-Identifier: PostgreSQL */
/*
 * main.c
 *		Measure how long PostgreSQL and DuckDB take to answer queries, until a client has read the whole answer.
 *
 *	ask LIBDUCKDB SETUP REPETITIONS [SQL]... <questions
 *
 * libpq's environment says where PostgreSQL is.  There is a further connection for each SQL, which executes that
 * first.  DuckDB is loaded from a library, and set up by statements.  A line of input has a name, a tab and a
 * query; if DuckDB needs a different query, another tab and that query follow.  Each query is prepared.  The
 * first run in each system reads the answer, in binary; all answers must be the same set of rows.  Then the
 * systems run the query in turn, REPETITIONS times, and the times are written in milliseconds, separated by
 * blanks:
 *
 *	name <tab> rows <tab> PostgreSQL's times <tab> those of each further connection <tab> DuckDB's
 */
#define _GNU_SOURCE
#include "answer.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_REPETITIONS	1000
#define MAX_SYSTEMS		8

typedef struct System
{
	void	   *connection;
	void		(*prepare) (void *connection, const char *query);
	void		(*ask) (void *connection, Answer *answer);
	double		times[MAX_REPETITIONS];
} System;

static System systems[MAX_SYSTEMS];
static int	n_systems;

static void
add_postgres(const char *start)
{
	systems[n_systems++] = (System) {.connection = connect_postgres(start), .prepare = prepare_postgres,
		.ask = ask_postgres};
}

/* Add DuckDB, which must be the last one, since PostgreSQL describes the columns first. */
static void
add_duckdb(const char *library, const char *setup)
{
	systems[n_systems++] = (System) {.connection = connect_duckdb(library, setup), .prepare = prepare_duckdb,
		.ask = ask_duckdb};
}

static double
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double) time.tv_sec * 1e3 + (double) time.tv_nsec / 1e6;
}

/* Run a query in one of them.  Returns the time. */
static double
timed(const System *system, Answer *answer)
{
	double		start = now();

	forget(answer);
	system->ask(system->connection, answer);
	return now() - start;
}

/* Check that all systems return the same rows.  Returns their number. */
static uint64_t
compare_answers(const char *name)
{
	static Answer expected,
				answer;

	timed(&systems[0], &expected);
	for (int i = 1; i < n_systems; i++)
	{
		timed(&systems[i], &answer);
		if (!same(&answer, &expected))
			errx(EXIT_FAILURE, "%s: PostgreSQL has %lu rows, system %d %lu, and they are not the same", name,
				 (unsigned long) expected.rows, i, (unsigned long) answer.rows);
	}
	return expected.rows;
}

static void
take_times(int repetitions)
{
	static Answer answer;

	for (int repetition = 0; repetition < repetitions; repetition++)
		for (int i = 0; i < n_systems; i++)
			systems[i].times[repetition] = timed(&systems[i], &answer);
}

static void
print_times(const double *times, int n)
{
	for (int i = 0; i < n; i++)
		printf("%c%.3f", i == 0 ? '\t' : ' ', times[i]);
}

/* Process a line of input. */
static void
answer_line(char *line, int repetitions)
{
	char	   *name = strsep(&line, "\t\n");
	char	   *query = strsep(&line, "\t\n");
	char	   *duckdb_query = strsep(&line, "\t\n");

	if (query == NULL || *query == '\0')
		errx(EXIT_FAILURE, "a line without a query: %s", name);
	for (int i = 0; i < n_systems; i++)
		systems[i].prepare(systems[i].connection,
						   i == n_systems - 1 && duckdb_query && *duckdb_query ? duckdb_query : query);
	printf("%s\t%lu", name, (unsigned long) compare_answers(name));
	take_times(repetitions);
	for (int i = 0; i < n_systems; i++)
		print_times(systems[i].times, repetitions);
	putchar('\n');
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	char	   *line = NULL;
	size_t		size = 0;
	int			repetitions;

	if (argc < 4 || argc - 4 > MAX_SYSTEMS - 2 || (repetitions = atoi(argv[3])) < 1 || repetitions > MAX_REPETITIONS)
		errx(EXIT_FAILURE, "usage: ask LIBDUCKDB SETUP REPETITIONS [SQL]... <questions");
	add_postgres("");
	for (int i = 4; i < argc; i++)
		add_postgres(argv[i]);
	add_duckdb(argv[1], argv[2]);
	while (getline(&line, &size, stdin) > 0)
		answer_line(line, repetitions);
	return EXIT_SUCCESS;
}
