/* SPDX-License-Identifier: PostgreSQL */
/*
 * lookups_test.c
 *		Run the benchmark of lookups by rays on small columns, and compare all answers with the host's.
 *
 *	lookups_test [device]
 *
 * The benchmark uses sort.h and structure.h.
 */
#include "../../bench/lookups/benchmark.h"
#include "device_test.h"

int
main(int argc, char **argv)
{
	static Benchmark benchmark = {.ways = "", .repetitions = 1, .checking = true};

	open_test_device(argc, argv, &benchmark.workbench.context);
	benchmark.plan = plan_check();
	benchmark_run(&benchmark);
	if (benchmark.wrong > 0)
		return 1;
	printf("ok %u cases\n", benchmark.cases);
	return 0;
}
