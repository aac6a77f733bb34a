/* SPDX-License-Identifier: PostgreSQL */
/*
 * benchmark.h
 *		Run the lookups of a plan in all ways, and print their times.
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
	const char *ways;			/* only ways whose names contain this are run */
	FILE	   *csv;			/* or NULL */
	uint32_t	repetitions;
	uint64_t	end;			/* no structure is built after this time; 0: no limit */
	bool		checking;		/* print only what is wrong */
	uint32_t	cases;			/* number of batches */
	uint32_t	wrong;			/* number of batches with wrong answers */
} Benchmark;

extern void benchmark_run(Benchmark *benchmark);

#endif							/* RTSCAN_LOOKUPS_BENCHMARK_H */
