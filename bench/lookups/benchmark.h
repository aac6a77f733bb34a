/*
 * benchmark.h
 *		Ask all ways what a plan says, and print what that takes.
 */
#ifndef RTSCAN_LOOKUPS_BENCHMARK_H
#define RTSCAN_LOOKUPS_BENCHMARK_H

#include <stdio.h>

#include "measure.h"
#include "plan.h"

typedef struct Benchmark
{
	Workbench	workbench;		/* its context is open */
	Plan		plan;
	const char *ways;			/* a part of the names of those that are asked */
	FILE	   *csv;			/* or NULL */
	uint32_t	repetitions;
	uint64_t	end;			/* no structure is built after that; 0: whenever */
	bool		checking;		/* print only what is wrong */
	uint32_t	cases;			/* batches, */
	uint32_t	wrong;			/* and those with wrong answers */
} Benchmark;

extern void benchmark_run(Benchmark *benchmark);

#endif							/* RTSCAN_LOOKUPS_BENCHMARK_H */
