/* SPDX-License-Identifier: PostgreSQL */
/*
 * benchmark.c
 *		Run the lookups of a plan in all ways, and print their times.
 */
#include "benchmark.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- output */

static void
print_header(const Benchmark *benchmark)
{
	printf("| way | keys | batch | key bits | duplicates | hit rate | range | sorted | build ms | MB | lookup ms | sort ms |"
		   " million lookups/s |\n|%s\n",
		   " --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
	if (benchmark->csv)
		fprintf(benchmark->csv,
				"way,keys,dense,key_bits,duplicates,x_bits,y_bits,batch,hit_rate,range,sorted,build_ms,bytes,"
				"lookup_ms,sort_ms,lookups_per_second\n");
}

static void
print_line(const Benchmark *benchmark, const Structure *structure, const Experiment *experiment, const Times *times)
{
	const Shape *shape = &experiment->shape;
	uint32_t	lookups = UINT32_C(1) << experiment->log_lookups;
	double		build = (double) structure->nanoseconds / 1e6;
	double		lookup = (double) times->lookups / 1e6;
	double		sort = (double) times->sort / 1e6;

	printf("| %s | 2^%u %s, x %u y %u | 2^%u | %u | %u | %g | %u | %s | %.3f | %.1f | %.4f | %.4f | %.1f |\n",
		   structure->way->name,
		   shape->log_rows, shape->dense ? "dense" : "sparse", shape->x_bits, shape->y_bits, experiment->log_lookups,
		   shape->key_bits, 1 << shape->log_duplicates, experiment->kind.hit_rate, experiment->kind.hits,
		   experiment->sorted ? "yes" : "no", build, (double) structure->bytes / 1e6, lookup, sort,
		   lookups / lookup / 1e3);
	fflush(stdout);
	if (benchmark->csv == NULL || times->wrong > 0)
		return;
	fprintf(benchmark->csv, "\"%s\",%u,%d,%u,%u,%u,%u,%u,%g,%u,%d,%.6f,%lu,%.6f,%.6f,%.0f\n", structure->way->name,
			shape_rows(shape), shape->dense, shape->key_bits, 1 << shape->log_duplicates, shape->x_bits, shape->y_bits,
			lookups,
			experiment->kind.hit_rate, experiment->kind.hits, experiment->sorted, build,
			(unsigned long) structure->bytes,
			lookup, sort, lookups / lookup * 1e3);
	fflush(benchmark->csv);
}

/* ---------------------------------------------------------------- measuring */

/* The experiments on one column. */
typedef struct Session
{
	Benchmark  *benchmark;
	const Experiment *experiments;
	uint32_t	count;
	Column		column;
	Desk		desk;
	Questions  *questions;		/* lookups of the first experiment of each kind */
	Batch	   *batches;		/* lookups of each experiment */
} Session;

static bool
same_kind(const Experiment *left, const Experiment *right)
{
	return left->kind.hit_rate == right->kind.hit_rate && left->kind.hits == right->kind.hits;
}

/* Return the first experiment with lookups of the same kind. */
static uint32_t
first_alike(const Session *session, uint32_t number)
{
	uint32_t	first = 0;

	while (!same_kind(&session->experiments[first], &session->experiments[number]))
		first++;
	return first;
}

/* For the experiments of a kind, draw as many lookups as the largest batch has. */
static void
draw_questions(Session *session)
{
	for (uint32_t i = 0; i < session->count; i++)
	{
		const Experiment *experiment = &session->experiments[i];
		uint32_t	largest = 0;

		for (uint32_t j = i; j < session->count; j++)
			if (same_kind(experiment, &session->experiments[j]) && session->experiments[j].log_lookups > largest)
				largest = session->experiments[j].log_lookups;
		if (first_alike(session, i) == i)
			questions_draw(&session->questions[i], &experiment->shape, &experiment->kind, UINT32_C(1) << largest);
		session->batches[i] = (Batch) {&session->questions[first_alike(session, i)],
			UINT32_C(1) << experiment->log_lookups, experiment->sorted, NULL};
	}
}

/* Return true if an experiment includes a way. */
static bool
is_asked(const Session *session, const Way *way, const Experiment *experiment)
{
	return (experiment->variants || !(way->flags & VARIANT)) && (way_casts_rays(way) || !experiment->rays_only) &&
		strstr(way->name, session->benchmark->ways) != NULL &&
		way_looks_up(way, &session->benchmark->workbench, &experiment->shape, &experiment->kind);
}

static void
run_experiment(Session *session, const Structure *structure, uint32_t number)
{
	Benchmark  *benchmark = session->benchmark;
	const Experiment *experiment = &session->experiments[number];
	Times		times = measure(&session->desk, structure, column_programs(&benchmark->workbench, &session->column),
								&session->batches[number]);

	benchmark->cases++;
	benchmark->wrong += times.wrong > 0;
	if (!benchmark->checking || times.wrong > 0)
		print_line(benchmark, structure, experiment, &times);
	if (times.wrong > 0)
		printf("WRONG: %u answers of the batch above\n", times.wrong);
}

static bool
time_is_up(const Benchmark *benchmark)
{
	return benchmark->end > 0 && clock_now() > benchmark->end;
}

static void
run_way(Session *session, const Way *way)
{
	Workbench  *workbench = &session->benchmark->workbench;
	Structure	structure;
	bool		asked = false;

	for (uint32_t i = 0; i < session->count; i++)
		asked |= is_asked(session, way, &session->experiments[i]);
	if (!asked)
		return;
	if (time_is_up(session->benchmark))
		printf("left out, for the time is up: %s\n", way->name);
	else if (!way_build(&structure, way, workbench, &session->column))
		printf("left out, for there is no memory: %s of 2^%u keys\n", way->name, session->column.shape.log_rows);
	else
	{
		for (uint32_t i = 0; i < session->count; i++)
			if (is_asked(session, way, &session->experiments[i]))
				run_experiment(session, &structure, i);
		way_free(&structure, workbench);
	}
}

static void
open_session(Session *session)
{
	uint32_t	largest = 0;

	for (uint32_t i = 0; i < session->count; i++)
		if (session->experiments[i].log_lookups > largest)
			largest = session->experiments[i].log_lookups;
	session->questions = calloc(session->count, sizeof(Questions));
	session->batches = calloc(session->count, sizeof(Batch));
	if (session->questions == NULL || session->batches == NULL ||
		!desk_open(&session->desk, &session->benchmark->workbench, UINT32_C(1) << largest,
				   session->benchmark->repetitions))
		fail("out of memory");
}

static void
close_session(Session *session)
{
	for (uint32_t i = 0; i < session->count; i++)
	{
		questions_free(&session->questions[i]);
		free(session->batches[i].answers);
	}
	free(session->questions);
	free(session->batches);
	desk_close(&session->desk);
}

static void
run_session(Session *session)
{
	Workbench  *workbench = &session->benchmark->workbench;

	open_session(session);
	if (column_make(&session->column, workbench, &session->experiments[0].shape))
	{
		draw_questions(session);
		for (uint32_t i = 0; i < ways_count; i++)
			run_way(session, &ways[i]);
		column_free(&session->column, workbench);
	}
	else
		printf("left out, for there is no memory: all of 2^%u keys\n", session->experiments[0].shape.log_rows);
	close_session(session);
}

static void
run_plan(Benchmark *benchmark)
{
	const Plan *plan = &benchmark->plan;

	for (uint32_t first = 0, end; first < plan->count; first = end)
	{
		Session		session = {.benchmark = benchmark, .experiments = &plan->experiments[first]};

		for (end = first + 1;
			 end < plan->count && plan_same_column(&plan->experiments[first], &plan->experiments[end]);)
			end++;
		session.count = end - first;
		if (time_is_up(benchmark))
			printf("left out, for the time is up: %u batches on 2^%u keys\n", session.count,
				   session.experiments[0].shape.log_rows);
		else
			run_session(&session);
	}
}

void
benchmark_run(Benchmark *benchmark)
{
	Workbench  *workbench = &benchmark->workbench;

	sort_open(&workbench->sorter, &workbench->context);
	for (int wide = 0; wide < 2; wide++)
		programs_open(&workbench->programs[wide], &workbench->context, wide);
	if (!benchmark->checking)
		print_header(benchmark);
	run_plan(benchmark);
}
