/* SPDX-License-Identifier: PostgreSQL */
/*
 * limits_test.c
 *		Test that a device that misses a limit is refused, or not used for what needs the limit: ../limits.h.
 *
 *	limits_test [device]
 *
 * The table of limits is checked against facts of a device that just meets all limits, then against facts that miss one
 * limit.  Then a real device is opened as if it missed each limit in turn, each time in a process of its own.
 */
#include "../limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../protocol.h"
#include "device_test.h"

static unsigned long ncases = 0;

#define CHECK(condition, name) \
	((condition) ? (void) 0 : fail("%s, line %d: %s", name, __LINE__, #condition))

/* ---------------------------------------------------------------- the table */

static void
set_number(DeviceFacts *facts, const Limit *limit, uint64_t number)
{
	uint32_t	small = (uint32_t) number;

	memcpy((char *) facts + limit->offset, limit->size == sizeof(number) ? (const void *) &number : &small,
		   limit->size);
}

static DeviceFacts
just_enough(void)
{
	static DeviceFacts facts;

	for (uint32_t i = 0; i < limit_count; i++)
		set_number(&facts, &limits[i], limits[i].needed);
	return facts;
}

/* Check that nothing is missing, except for the given limit. */
static void
check_missing(const DeviceFacts *facts, const Limit *missing)
{
	for (int use = 0; use < LIMIT_USES; use++)
	{
		const char *why = limits_missing(facts, (LimitUse) use);

		if (missing == NULL || missing->use != (LimitUse) use)
			CHECK(why == NULL, why);
		else
			CHECK(why != NULL && strncmp(why, missing->name, strlen(missing->name)) == 0, missing->name);
	}
	ncases++;
}

static void
check_limit(const Limit *limit)
{
	DeviceFacts facts = just_enough();

	CHECK(limit->size == sizeof(uint32_t) || limit->size == sizeof(uint64_t), limit->name);
	CHECK(limit->needed > 0 && limits_find(limit->name) == limit, limit->name);
	set_number(&facts, limit, limit->at_most ? 0 : limit->size == sizeof(uint32_t) ? UINT32_MAX : UINT64_MAX);
	check_missing(&facts, NULL);
	set_number(&facts, limit, limit->at_most ? UINT32_MAX : 0);
	check_missing(&facts, limit);
	limits_miss(&facts, limit);
	check_missing(&facts, limit);
}

/* ---------------------------------------------------------------- a device */

/*
 * Open a device as if it missed "limit", in a process of its own.  Returns the exit status, which tells whether
 * exactly the uses that need the limit are ruled out.
 */
static int
open_without(int argc, char **argv, const Limit *limit)
{
	Faults		faults = {.lacks = limit};
	Context		context;

	context_open(&context, argc > 1 ? argv[1] : "llvmpipe", 0, 0, &faults);
	if (limit && limit->use == LIMIT_OF_AGGS)
		return !context.int64_atomics && context.ray_tracing ? EXIT_SUCCESS : EXIT_FAILURE;
	if (limit && limit->use == LIMIT_OF_RAYS)
		return context.int64_atomics && !context.ray_tracing ? EXIT_SUCCESS : EXIT_FAILURE;
	if (limit && limit->use == LIMIT_OF_IMPORT)
		return context.int64_atomics && context.import_alignment == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	return context.int64_atomics && context.ray_tracing && context.import_alignment > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void
check_device(int argc, char **argv, const Limit *limit)
{
	int			expected = limit && limit->use == LIMIT_OF_ALL ? DEVICE_EXIT_NO_DEVICE : EXIT_SUCCESS;
	int			status;
	pid_t		child;

	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit(open_without(argc, argv, limit));
	CHECK(child > 0 && waitpid(child, &status, 0) == child, "fork");
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == expected, limit ? limit->name : "nothing is missing");
	ncases++;
}

int
main(int argc, char **argv)
{
	DeviceFacts facts = just_enough();

	check_missing(&facts, NULL);
	CHECK(limits_find("maxUnheardOf") == NULL, "find");
	for (uint32_t i = 0; i < limit_count; i++)
		check_limit(&limits[i]);
	check_device(argc, argv, NULL);
	for (uint32_t i = 0; i < limit_count; i++)
		check_device(argc, argv, &limits[i]);
	printf("ok %lu cases\n", ncases);
	return 0;
}
