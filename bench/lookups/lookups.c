/*
 * lookups.c
 *		Batches of lookups on a device: RTIndeX and cgRX, beside a binary search a thread and a hash.
 *
 *	lookups [--device NAME] [--csv FILE] [--repetitions N] [--seconds N] [--ways PART]
 *			[--paper | --check | of one column: --keys LOG2 --batch LOG2 --bits 32|64 --duplicates LOG2 --dense
 *			 --hit-rate RATE --hits N --sorted --x-bits N --y-bits N]
 *
 * Each way builds its structure on the device from the column's keys, in no order, and answers the
 * same lookups: how many rows there are of a key, or of a range of them, and the sum of their
 * numbers.  Every answer is compared with the host's; if one is wrong the exit status is 1.
 *
 * Times are the device's.  Builds begin with the keys on the device, and are timed once; lookups
 * are medians, and do not include the sort of sorted ones, which is there beside them.
 * Bytes are those of what lookups read, not of what a build needs for a while.
 *
 *	--paper		all that the papers vary; --seconds (240) after its start no other structure is built
 *	--check		small columns with what is special about keys and their places, each batch once
 */
#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "plan.h"

typedef struct Benchmark
{
	Workbench	workbench;
	Plan		plan;
	const char *device;
	const char *ways;			/* a part of their names */
	FILE	   *csv;
	uint32_t	repetitions;
	uint64_t	seconds;		/* 0: no limit */
	uint64_t	begin;
	bool		checking;
	uint32_t	cases;
	uint32_t	wrong;
} Benchmark;

/* ---------------------------------------------------------------- output */

static void
print_header(const Benchmark *benchmark)
{
	printf("| way | keys | batch | key bits | duplicates | hit rate | range | sorted | build ms | MB | lookup ms | sort ms |"
		   " million lookups/s |\n|%s\n", " --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
	if (benchmark->csv)
		fprintf(benchmark->csv, "way,keys,dense,key_bits,duplicates,x_bits,y_bits,batch,hit_rate,range,sorted,build_ms,bytes,"
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

	printf("| %s | 2^%u %s, x %u y %u | 2^%u | %u | %u | %g | %u | %s | %.3f | %.1f | %.4f | %.4f | %.1f |\n", structure->way->name,
		   shape->log_rows, shape->dense ? "dense" : "sparse", shape->x_bits, shape->y_bits, experiment->log_lookups,
		   shape->key_bits, 1 << shape->log_duplicates, experiment->kind.hit_rate, experiment->kind.hits,
		   experiment->sorted ? "yes" : "no", build, (double) structure->bytes / 1e6, lookup, sort, lookups / lookup / 1e3);
	fflush(stdout);
	if (benchmark->csv == NULL || times->wrong > 0)
		return;
	fprintf(benchmark->csv, "\"%s\",%u,%d,%u,%u,%u,%u,%u,%g,%u,%d,%.6f,%lu,%.6f,%.6f,%.0f\n", structure->way->name,
			shape_rows(shape), shape->dense, shape->key_bits, 1 << shape->log_duplicates, shape->x_bits, shape->y_bits, lookups,
			experiment->kind.hit_rate, experiment->kind.hits, experiment->sorted, build, (unsigned long) structure->bytes,
			lookup, sort, lookups / lookup * 1e3);
	fflush(benchmark->csv);
}

/* ---------------------------------------------------------------- measuring */

/* Experiments on one column. */
typedef struct Session
{
	Benchmark  *benchmark;
	const Experiment *experiments;
	uint32_t	count;
	Column		column;
	Desk		desk;
	Questions  *questions;		/* of each experiment, or of an earlier one of the same kind */
} Session;

static bool
same_kind(const Experiment *left, const Experiment *right)
{
	return left->kind.hit_rate == right->kind.hit_rate && left->kind.hits == right->kind.hits;
}

/* The first experiment with such lookups. */
static uint32_t
first_alike(const Session *session, uint32_t number)
{
	uint32_t	first = 0;

	while (!same_kind(&session->experiments[first], &session->experiments[number]))
		first++;
	return first;
}

/* For experiments of one kind as many questions as the largest batch has. */
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
	}
}

/* Is a way asked in an experiment? */
static bool
is_asked(const Session *session, const Way *way, const Experiment *experiment)
{
	return (experiment->variants || !way->variant) && (way_casts_rays(way) || !experiment->rays_only) &&
		strstr(way->name, session->benchmark->ways) != NULL &&
		way_objects(way, &session->benchmark->workbench, &experiment->shape, &experiment->kind) == NULL;
}

static void
run_experiment(Session *session, const Structure *structure, uint32_t number)
{
	Benchmark  *benchmark = session->benchmark;
	const Experiment *experiment = &session->experiments[number];
	const Batch batch = {&session->questions[first_alike(session, number)], UINT32_C(1) << experiment->log_lookups,
		experiment->sorted};
	Times		times = measure(&session->desk, structure, column_programs(&benchmark->workbench, &session->column), &batch);

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
	return benchmark->seconds > 0 && clock_now() - benchmark->begin > benchmark->seconds * 1000000000;
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
run_session(Session *session)
{
	Benchmark  *benchmark = session->benchmark;
	uint32_t	largest = 0;

	for (uint32_t i = 0; i < session->count; i++)
		if (session->experiments[i].log_lookups > largest)
			largest = session->experiments[i].log_lookups;
	session->questions = calloc(session->count, sizeof(Questions));
	if (session->questions == NULL || !desk_open(&session->desk, &benchmark->workbench, UINT32_C(1) << largest,
												 benchmark->repetitions))
		fail("out of memory");
	if (column_make(&session->column, &benchmark->workbench, &session->experiments[0].shape))
	{
		draw_questions(session);
		for (uint32_t i = 0; i < ways_count; i++)
			run_way(session, &ways[i]);
		column_free(&session->column, &benchmark->workbench);
	}
	else
		printf("left out, for there is no memory: all of 2^%u keys\n", session->experiments[0].shape.log_rows);
	for (uint32_t i = 0; i < session->count; i++)
		questions_free(&session->questions[i]);
	free(session->questions);
	desk_close(&session->desk);
}

static void
run(Benchmark *benchmark)
{
	const Plan *plan = &benchmark->plan;

	for (uint32_t first = 0, end; first < plan->count; first = end)
	{
		Session		session = {.benchmark = benchmark, .experiments = &plan->experiments[first]};

		for (end = first + 1; end < plan->count && plan_same_column(&plan->experiments[first], &plan->experiments[end]);)
			end++;
		session.count = end - first;
		if (time_is_up(benchmark))
			printf("left out, for the time is up: %u batches on 2^%u keys\n", session.count,
				   session.experiments[0].shape.log_rows);
		else
			run_session(&session);
	}
}

/* ---------------------------------------------------------------- the beginning */

static unsigned long
read_number(const char *argument, unsigned long least, unsigned long largest)
{
	char	   *end;
	unsigned long number = strtoul(argument, &end, 10);

	if (*end != '\0' || number < least || number > largest)
		errx(EXIT_FAILURE, "\"%s\" is not a number from %lu to %lu", argument, least, largest);
	return number;
}

/* Is there room for all keys in the coordinates, and for rows, keys and lookups in arrays? */
static void
check_experiment(const Experiment *experiment)
{
	const Shape *shape = &experiment->shape;
	uint32_t	used = shape->dense ? shape->log_rows + 1 : shape->key_bits;

	if (shape->log_duplicates + 8 > shape->log_rows)
		errx(EXIT_FAILURE, "there must be 256 distinct keys");
	if (shape->key_bits != 32 && shape->key_bits != 64)
		errx(EXIT_FAILURE, "keys have 32 or 64 bits");
	if (used > shape->x_bits + shape->y_bits + Z_BITS)
		errx(EXIT_FAILURE, "z has only %d bits", Z_BITS);
	if (experiment->kind.hits >= shape_distinct(shape) / 2)
		errx(EXIT_FAILURE, "ranges have too many keys");
}

/* How many bits have to be in which coordinate is known when all options are. */
typedef enum Option
{
	OPTION_DEVICE, OPTION_CSV, OPTION_REPETITIONS, OPTION_SECONDS, OPTION_WAYS, OPTION_PAPER, OPTION_CHECK, OPTION_KEYS,
	OPTION_BATCH, OPTION_BITS, OPTION_DUPLICATES, OPTION_DENSE, OPTION_HIT_RATE, OPTION_HITS, OPTION_SORTED, OPTION_X_BITS,
	OPTION_Y_BITS
} Option;

static const struct option options[] = {
	{"device", 1, NULL, OPTION_DEVICE}, {"csv", 1, NULL, OPTION_CSV}, {"repetitions", 1, NULL, OPTION_REPETITIONS},
	{"seconds", 1, NULL, OPTION_SECONDS}, {"ways", 1, NULL, OPTION_WAYS}, {"paper", 0, NULL, OPTION_PAPER},
	{"check", 0, NULL, OPTION_CHECK}, {"keys", 1, NULL, OPTION_KEYS}, {"batch", 1, NULL, OPTION_BATCH},
	{"bits", 1, NULL, OPTION_BITS}, {"duplicates", 1, NULL, OPTION_DUPLICATES}, {"dense", 0, NULL, OPTION_DENSE},
	{"hit-rate", 1, NULL, OPTION_HIT_RATE}, {"hits", 1, NULL, OPTION_HITS}, {"sorted", 0, NULL, OPTION_SORTED},
	{"x-bits", 1, NULL, OPTION_X_BITS}, {"y-bits", 1, NULL, OPTION_Y_BITS}, {0}};

static bool
read_shape_option(Option option, Experiment *experiment)
{
	Shape	   *shape = &experiment->shape;

	switch (option)
	{
		case OPTION_KEYS:
			shape->log_rows = (uint32_t) read_number(optarg, 8, 28);
			return true;
		case OPTION_BITS:
			shape->key_bits = (uint32_t) read_number(optarg, 32, 64);
			return true;
		case OPTION_DUPLICATES:
			shape->log_duplicates = (uint32_t) read_number(optarg, 0, 20);
			return true;
		case OPTION_DENSE:
			return shape->dense = true;
		case OPTION_X_BITS:
			shape->x_bits = (uint32_t) read_number(optarg, 1, X_BITS);
			return true;
		case OPTION_Y_BITS:
			shape->y_bits = (uint32_t) read_number(optarg, 1, Y_BITS);
			return true;
		default:
			return false;
	}
}

static bool
read_lookup_option(Option option, Experiment *experiment)
{
	switch (option)
	{
		case OPTION_BATCH:
			experiment->log_lookups = (uint32_t) read_number(optarg, 0, 26);
			return true;
		case OPTION_HIT_RATE:
			experiment->kind.hit_rate = atof(optarg);
			return true;
		case OPTION_HITS:
			experiment->kind.hits = (uint32_t) read_number(optarg, 0, 1 << 20);
			return true;
		case OPTION_SORTED:
			return experiment->sorted = true;
		default:
			return false;
	}
}

static void
read_option(Benchmark *benchmark, Option option)
{
	switch (option)
	{
		case OPTION_DEVICE:
			benchmark->device = optarg;
			break;
		case OPTION_CSV:
			if ((benchmark->csv = fopen(optarg, "w")) == NULL)
				err(EXIT_FAILURE, "could not write \"%s\"", optarg);
			break;
		case OPTION_REPETITIONS:
			benchmark->repetitions = (uint32_t) read_number(optarg, 1, 1000);
			break;
		case OPTION_SECONDS:
			benchmark->seconds = read_number(optarg, 0, 86400);
			break;
		case OPTION_WAYS:
			benchmark->ways = optarg;
			break;
		case OPTION_PAPER:
			benchmark->plan = plan_paper();
			benchmark->seconds = 240;
			break;
		case OPTION_CHECK:
			benchmark->plan = plan_check();
			benchmark->checking = true;
			benchmark->repetitions = 1;
			break;
		default:
			errx(EXIT_FAILURE, "usage: see the head of bench/lookups/lookups.c");
	}
}

static void
read_options(Benchmark *benchmark, Experiment *experiment, int argc, char **argv)
{
	int			option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (!read_shape_option(option, experiment) && !read_lookup_option(option, experiment))
			read_option(benchmark, option);
	if (benchmark->plan.count == 0)
		benchmark->plan = (Plan) {experiment, 1};
	for (uint32_t i = 0; i < benchmark->plan.count; i++)
		check_experiment(&benchmark->plan.experiments[i]);
}

int
main(int argc, char **argv)
{
	static Benchmark benchmark = {.device = "", .ways = "", .repetitions = 100};
	Experiment	experiment = {{16, 0, 32, false, X_BITS, Y_BITS}, {1, 0}, 14, .variants = true};
	Workbench  *workbench = &benchmark.workbench;

	read_options(&benchmark, &experiment, argc, argv);
	benchmark.begin = clock_now();
	context_open(&workbench->context, benchmark.device, 0, &(Faults) {0});
	sort_open(&workbench->sorter, &workbench->context);
	for (int wide = 0; wide < 2; wide++)
		programs_open(&workbench->programs[wide], &workbench->context, wide);
	printf("device: %s%s\n\n", workbench->context.properties.deviceName,
		   workbench->context.ray_tracing ? "" : ", which traces no rays");
	print_header(&benchmark);
	run(&benchmark);
	if (benchmark.csv)
		fclose(benchmark.csv);
	if (benchmark.wrong > 0)
		errx(EXIT_FAILURE, "%u of %u batches have wrong answers", benchmark.wrong, benchmark.cases);
	printf("ok %u cases\n", benchmark.cases);
	return EXIT_SUCCESS;
}
