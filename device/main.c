/* SPDX-License-Identifier: PostgreSQL */
/*
 * main.c
 *		rtscan_device, the program that owns a Vulkan device for a PostgreSQL server.
 *
 * rtscan's background worker starts the program in the data directory, with a socket as standard input and
 * output.  When the worker closes the socket, the program ends.  The program writes these lines to the socket:
 *
 *	ready: COMPUTE RT ADDING BUILDING MEMORY DEVICE	the program accepts connections; the first four are
 *								the measured times in nanoseconds for a chunk (calibrate.h), MEMORY is in bytes
 *	log: MESSAGE				for the server's log
 *	alive						for each byte that the worker sends
 *
 * With --keep-clocks=NAME, the program runs as the child that keeps clocks up (clocks.h).
 *
 *	rtscan_device [--device=NAME or NUMBER] [--passed-over=N] [--socket=PATH] [--memory=BYTES] [--clocks=any]
 *			[--fault=...] [--rays=...]
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "calibrate.h"
#include "server.h"

/* Connections that can wait to be accepted; further backends continue without the device. */
#define BACKLOG		128

/* Library that the child loads to keep clocks up, and seconds without a use after which the child ends. */
#define CUDA_LIBRARY		"libcuda.so.1"
#define IDLE_SECONDS		60

/* ---------------------------------------------------------------- options */

/* Choose no bins at all, so that rays find every row of the exact result (RTc3 in the RTScan paper). */
static void
bins_none(const Bins *bins, const RangeSet *exact, RangeSet *runs)
{
	(void) bins;
	(void) exact;
	runs->n = 0;
}

/* Return the value of an argument name=value, or NULL if the argument is another option. */
static const char *
option_value(const char *argument, const char *name)
{
	size_t		length = strlen(name);

	return strncmp(argument, name, length) == 0 && argument[length] == '=' ? argument + length + 1 : NULL;
}

/* Set a fault to inject, for tests. */
static void
set_fault(Faults *faults, const char *fault)
{
	const char *lost_at = option_value(fault, "lost-at");
	const char *lost_after = option_value(fault, "lost-after");
	const char *lacks = option_value(fault, "lacks");

	if (lost_at)
		faults->lost_at = strtoull(lost_at, NULL, 10);
	else if (lost_after)
		faults->lost_after = strtoull(lost_after, NULL, 10);
	else if (strcmp(fault, "no-upload-memory") == 0)
		faults->no_upload_memory = true;
	else if (strcmp(fault, "no-build-memory") == 0)
		faults->no_build_memory = true;
	else if (strcmp(fault, "no-scratch-memory") == 0)
		faults->no_scratch_memory = true;
	else if (strcmp(fault, "no-ray-tracing") == 0)
		faults->no_ray_tracing = true;
	else if (strcmp(fault, "no-import") == 0)
		faults->no_import = true;
	else if (strcmp(fault, "fast-rays") == 0)
		faults->fast_rays = true;
	else if (lacks && (faults->lacks = limits_find(lacks)))
		return;
	else if (*fault)
		fail("there is no fault \"%s\"", fault);
}

/*
 * Parse WIDTH,LENGTH,SPACING,GAP,DIRECTION,BINS: four factors of the defaults, the direction of rays, and the
 * bins to sieve.
 */
static void
set_rays(EvaluatorOptions *options, const char *value)
{
	RayTuning  *rays = &options->rays;
	char		direction[16],
				bins[16];

	if (sscanf(value, "%lf,%lf,%lf,%lf,%15[a-z],%15[a-z]", &rays->width, &rays->length, &rays->spacing, &rays->gap,
			   direction, bins) != 6)
		fail("rays \"%s\" are not WIDTH,LENGTH,SPACING,GAP,DIRECTION,BINS", value);
	rays->direction = strcmp(direction, "thinnest") == 0 ? RAY_THINNEST : RAY_LONGEST;
	options->choose_bins = strcmp(bins, "none") == 0 ? bins_none :
		strcmp(bins, "superset") == 0 ? bins_superset : bins_nearest;
}

/* The program's options. */
typedef struct Options
{
	const char *wanted;			/* the device, see context_open() */
	uint32_t	passed_over;
	const char *socket_path;
	uint64_t	memory_limit;	/* in bytes; 0: the default */
	bool		keep_clocks;
	bool		rays_are_set;	/* true if calibration does not choose the length of rays */
	Faults		faults;
	EvaluatorOptions evaluator;
} Options;

static void
set_option(Options *options, const char *argument)
{
	const char *value;

	if ((value = option_value(argument, "--device")))
		options->wanted = value;
	else if ((value = option_value(argument, "--passed-over")))
		options->passed_over = strtoul(value, NULL, 10);
	else if ((value = option_value(argument, "--socket")))
		options->socket_path = value;
	else if ((value = option_value(argument, "--memory")))
		options->memory_limit = strtoull(value, NULL, 10);
	else if ((value = option_value(argument, "--clocks")))
		options->keep_clocks = strcmp(value, "any") != 0;
	else if ((value = option_value(argument, "--fault")))
		set_fault(&options->faults, value);
	else if ((value = option_value(argument, "--rays")))
	{
		options->rays_are_set = *value != '\0';
		if (options->rays_are_set)
			set_rays(&options->evaluator, value);
	}
	else
		fail("unknown option \"%s\"", argument);
}

static Options
parse_options(int argc, char **argv)
{
	Options		options = {.wanted = "", .socket_path = "rtscan_device", .keep_clocks = true,
		.evaluator = {.rays = {1, 1, 1, 1, RAY_LONGEST}, .choose_bins = bins_nearest}};

	for (int i = 1; i < argc; i++)
		set_option(&options, argv[i]);
	return options;
}

/* ---------------------------------------------------------------- the program */

static int
listen_for_backends(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int			listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	/* Remove the socket of an earlier program. */
	unlink(path);
	umask(0077);
	if (listener < 0 || bind(listener, (struct sockaddr *) &address, sizeof(address)) != 0 ||
		listen(listener, BACKLOG) != 0)
		fail("could not listen on \"%s\": %s", path, strerror(errno));
	return listener;
}

/* Raise the limit on open files: each connection needs one or two. */
static void
allow_many_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
	{
		limit.rlim_cur = limit.rlim_max;
		(void) setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/*
 * Unset CUDA_VISIBLE_DEVICES, which lists the devices that CUDA may use.  NVIDIA's Vulkan driver does not need this
 * variable, but crashes if the variable lists no device.
 */
static void
show_all_devices(void)
{
	unsetenv("CUDA_VISIBLE_DEVICES");
}

/* Measure the device, and inject the faults that concern calibration or begin after it. */
static Calibration
calibrate_with_faults(Context *context, Evaluator *evaluator, bool chooses_rays)
{
	Calibration calibration = calibrate(evaluator, chooses_rays);

	if (context->faults.fast_rays)
	{
		calibration.chunk[DEVICE_RT] = 1;
		calibration.building = 2e7;
	}
	if (context->faults.lost_after > 0)
		context->faults.lost_at = context->submissions + context->faults.lost_after;
	return calibration;
}

static void
report_ready(const Context *context, const Calibration *calibration)
{
	printf("ready: %f %f %f %f %" PRIu64 " %s%s\n", calibration->chunk[DEVICE_COMPUTE], calibration->chunk[DEVICE_RT],
		   calibration->adding, calibration->building, context->memory_limit, context->properties.deviceName,
		   context->ray_tracing ? "" : ", which cannot trace rays");
	fflush(stdout);
}

/* Open the device and serve backends, until the worker closes its end of the socket. */
static void
run(const Options *options)
{
	static Context context;
	static Cache cache;
	static Evaluator evaluator;
	static PairSorter pairs;
	static VectorMaker vectors;
	Calibration calibration;
	int			listener;

	context_open(&context, options->wanted, options->passed_over, options->memory_limit, &options->faults);
	if (options->keep_clocks)
		context_keep_clocks(&context);
	cache_open(&cache, &context);
	evaluator_open(&evaluator, &context, &cache, &options->evaluator);
	pairs_open(&pairs, &context, &cache);
	vectors_open(&vectors, &context, &cache);
	calibration = calibrate_with_faults(&context, &evaluator, !options->rays_are_set);
	listener = listen_for_backends(options->socket_path);
	report_ready(&context, &calibration);
	serve(&context, &cache, &evaluator, &pairs, &vectors, listener);
}

int
main(int argc, char **argv)
{
	Options		options;

	if (argc == 2 && strncmp(argv[1], CLOCKS_OPTION, strlen(CLOCKS_OPTION)) == 0)
		_Exit(clocks_keep_up(argv[1] + strlen(CLOCKS_OPTION), CUDA_LIBRARY, IDLE_SECONDS));
	options = parse_options(argc, argv);
	allow_many_files();
	show_all_devices();
	run(&options);
	/* Skip all clean-up: the driver does it when the process ends. */
	_Exit(EXIT_SUCCESS);
}
