/* SPDX-License-Identifier: PostgreSQL */
/*
 * report.c
 *		Write the device program's messages, and read the clock.
 */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void
write_report(const char *kind, const char *format, va_list arguments)
{
	printf("%s: ", kind);
	vprintf(format, arguments);
	printf("\n");
	fflush(stdout);
}

void
report(const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	write_report("log", format, arguments);
	va_end(arguments);
}

void
fail(const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	write_report("log", format, arguments);
	va_end(arguments);
	_Exit(EXIT_FAILURE);
}

uint64_t
clock_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t) time.tv_sec * 1000000000 + (uint64_t) time.tv_nsec;
}
