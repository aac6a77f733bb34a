/* SPDX-License-Identifier: PostgreSQL */
/*
 * lookups.c
 *		Batches of lookups on a device: RTIndeX and cgRX, compared with a binary search and a hash table.
 *
 *	lookups [--device NAME] [--csv FILE] [--repetitions N] [--seconds N] [--ways PART]
 *			[--paper | --check | for one column: --keys LOG2 --batch LOG2 --bits 32|64 --duplicates LOG2 --dense
 *			 --hit-rate RATE --hits N --sorted --x-bits N --y-bits N]
 *
 * Each way builds its structure on the device from the column's unsorted keys, and runs the
 * same lookups: the number of rows with a key, or with keys in a range, and the sum of their row
 * numbers.  All answers are compared with the host's; if one is wrong, the exit status is 1.
 *
 * Times are the device's.  Builds begin with the keys on the device, and are timed once.  Times of lookups
 * are medians.  They do not include sorting the lookups, which has a column of its own.
 * Bytes are those that lookups read, without temporary memory of the build.
 *
 *	--paper		everything that the papers vary; bench/lookups.py makes figures of it
 *	--check		small columns with special keys and places, each batch once, as in device/test/lookups_test.c
 *	--seconds	build no further structure after that many seconds
 */
#include <err.h>
#include <getopt.h>
#include <stdlib.h>

#include "benchmark.h"

static unsigned long
read_number(const char *argument, unsigned long least, unsigned long largest)
{
	char	   *end;
	unsigned long number = strtoul(argument, &end, 10);

	if (*end != '\0' || number < least || number > largest)
		errx(EXIT_FAILURE, "\"%s\" is not a number from %lu to %lu", argument, least, largest);
	return number;
}

/* Check that all keys fit in the coordinates, and that rows, keys and lookups fit in arrays. */
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

typedef struct Options
{
	Benchmark	benchmark;
	Experiment	experiment;		/* if no other plan is chosen */
	const char *device;
	uint64_t	seconds;
} Options;

typedef enum Option
{
	OPTION_DEVICE, OPTION_CSV, OPTION_REPETITIONS, OPTION_SECONDS, OPTION_WAYS, OPTION_PAPER, OPTION_CHECK, OPTION_KEYS,
	OPTION_BATCH, OPTION_BITS, OPTION_DUPLICATES, OPTION_DENSE, OPTION_HIT_RATE, OPTION_HITS, OPTION_SORTED,
	OPTION_X_BITS,
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
read_option(Options *all, Option option)
{
	Benchmark  *benchmark = &all->benchmark;

	switch (option)
	{
		case OPTION_DEVICE:
			all->device = optarg;
			break;
		case OPTION_CSV:
			if ((benchmark->csv = fopen(optarg, "w")) == NULL)
				err(EXIT_FAILURE, "could not write \"%s\"", optarg);
			break;
		case OPTION_REPETITIONS:
			benchmark->repetitions = (uint32_t) read_number(optarg, 1, 1000);
			break;
		case OPTION_SECONDS:
			all->seconds = read_number(optarg, 1, 86400);
			break;
		case OPTION_WAYS:
			benchmark->ways = optarg;
			break;
		case OPTION_PAPER:
			benchmark->plan = plan_paper();
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
read_options(Options *all, int argc, char **argv)
{
	Benchmark  *benchmark = &all->benchmark;
	int			option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (!read_shape_option(option, &all->experiment) && !read_lookup_option(option, &all->experiment))
			read_option(all, option);
	if (benchmark->plan.count == 0)
		benchmark->plan = (Plan) {&all->experiment, 1};
	for (uint32_t i = 0; i < benchmark->plan.count; i++)
		check_experiment(&benchmark->plan.experiments[i]);
	if (all->seconds > 0)
		benchmark->end = clock_now() + all->seconds * 1000000000;
}

int
main(int argc, char **argv)
{
	static Options all = {
		.benchmark = {.ways = "", .repetitions = 100},
		.experiment = {{14, 0, 32, false, X_BITS, Y_BITS}, {1, 0}, 10, .variants = true},
		.device = ""};
	Benchmark  *benchmark = &all.benchmark;
	Context    *context = &benchmark->workbench.context;

	read_options(&all, argc, argv);
	context_open(context, all.device, 0, 0, &(Faults) {0});
	printf("device: %s%s\n\n", context->properties.deviceName, context->ray_tracing ? "" : ", which traces no rays");
	benchmark_run(benchmark);
	if (benchmark->csv)
		fclose(benchmark->csv);
	if (benchmark->wrong > 0)
		errx(EXIT_FAILURE, "%u of %u batches have wrong answers", benchmark->wrong, benchmark->cases);
	printf("ok %u cases\n", benchmark->cases);
	return EXIT_SUCCESS;
}
