/*
 * lookups_test.c
 *		The benchmark of lookups by rays, on small columns: every answer of every way against the
 *		host's.  It builds on sort.h and structure.h.
 *
 *	lookups_test [device]
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
