/*
 * main.c
 *		How long do PostgreSQL and DuckDB take to answer, until a client has read it all?
 *
 *	ask LIBDUCKDB SETUP REPETITIONS [SQL]... <questions
 *
 * PostgreSQL is where libpq's environment says; there is a further connection for each SQL, which begins with that.  DuckDB is loaded
 * from a library, and set up by statements.  A line of input is a name, a tab and a query; after another tab DuckDB's own, if the two
 * do not speak alike.  Each is prepared; the first run of each says what its answer is, in binary, and these must be the same set of
 * rows; then they run in turn, so many times, and how long they took is written, in milliseconds with blanks between:
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
	systems[n_systems++] = (System) {.connection = connect_postgres(start), .prepare = prepare_postgres, .ask = ask_postgres};
}

/* The last one: a column is described by PostgreSQL first. */
static void
add_duckdb(const char *library, const char *setup)
{
	systems[n_systems++] = (System) {.connection = connect_duckdb(library, setup), .prepare = prepare_duckdb, .ask = ask_duckdb};
}

static double
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double) time.tv_sec * 1e3 + (double) time.tv_nsec / 1e6;
}

/* Ask one of them; how long it takes. */
static double
timed(const System *system, Answer *answer)
{
	double		start = now();

	forget(answer);
	system->ask(system->connection, answer);
	return now() - start;
}

/* The number of rows that all of them answer. */
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

/* A line of input. */
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
