/*
 * executor.c
 *		Choose an executor for a batch of segments, and fall back to the CPU.
 */
#include "exec/executor.h"

#include "device/device.h"
#include "exec/bits.h"
#include "monitor/stats.h"
#include "utils/guc.h"
#include "utils/memutils.h"

const char *const rtscan_executor_names[] = {"cpu", "compute", "rt"};

static const struct config_enum_entry executor_options[] = {
	{"auto", RTSCAN_EXECUTOR_AUTO, false},
	{"cpu", RTSCAN_EXECUTOR_CPU, false},
	{"compute", RTSCAN_EXECUTOR_COMPUTE, false},
	{"rt", RTSCAN_EXECUTOR_RT, false},
	{NULL, 0, false}
};

int			rtscan_executor = RTSCAN_EXECUTOR_AUTO;
bool		rtscan_fallback;
bool		rtscan_debug_compare_executors;

void
rtscan_init_executors(void)
{
	DefineCustomEnumVariable("rtscan.executor",
							 "Sets who evaluates scans of rtscan indexes.",
							 "auto: the fastest, as measured; cpu; compute or rt: the device's shaders or rays.",
							 &rtscan_executor, RTSCAN_EXECUTOR_AUTO, executor_options,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("rtscan.fallback",
							 "Lets the CPU answer where the executor that is set cannot.",
							 "Off: an error says why it cannot.",
							 &rtscan_fallback, true, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("rtscan.debug_compare_executors",
							 "Evaluates what the device has evaluated by the CPU as well, and compares the bits.",
							 NULL, &rtscan_debug_compare_executors, false, PGC_USERSET,
							 GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
}

/* ---------------------------------------------------------------- row bits */

RtscanRowBits *
rtscan_bits_create(MemoryContext context)
{
	RtscanRowBits *bits = MemoryContextAllocZero(context, sizeof(RtscanRowBits));
	char	   *room = MemoryContextAlloc(context, (Size) RTSCAN_SEGMENT_CHUNKS * RTSCAN_CHUNK_BYTES + 64);

	bits->words = (uint64 *) TYPEALIGN(64, room);
	return bits;
}

void
rtscan_bits_reset(RtscanRowBits *bits, uint32 chunks)
{
	bits->chunks = chunks;
	bits->counted = false;
	memset(bits->filled, false, sizeof(bits->filled));
}

uint64 *
rtscan_bits_fill(RtscanRowBits *bits, uint32 chunk)
{
	uint64	   *words = rtscan_bits_chunk(bits, chunk);

	if (!bits->filled[chunk])
	{
		memset(words, 0, RTSCAN_CHUNK_BYTES);
		bits->filled[chunk] = true;
	}
	return words;
}

uint64
rtscan_bits_count(const RtscanRowBits *bits)
{
	uint64		count = 0;

	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
		if (bits->filled[chunk])
			count += bits->counted ? bits->counts[chunk] : rtscan_popcount(rtscan_bits_chunk(bits, chunk));
	return count;
}

/* ---------------------------------------------------------------- choice */

/*
 * One for all scans of the backend: between a batch's evaluation and the end of its TIDs no
 * other scan can come in, for no function of a user's is called.
 */
static RtscanRowBits *
cpu_bits(void)
{
	static RtscanRowBits *bits;

	if (bits == NULL)
		bits = rtscan_bits_create(TopMemoryContext);
	return bits;
}

/* Into the server's log, once for each reason in a row. */
static void
log_fallback(RtscanExecutor executor, const char *why)
{
	static const char *logged;

	if (why == logged)
		return;
	logged = why;
	ereport(LOG,
			(errmsg("rtscan's executor \"%s\" cannot evaluate a scan, so the CPU does",
					rtscan_executor_names[executor]),
			 errdetail("%s", why)));
}

/* The executor cannot do it, and the CPU will. */
static void
fall_back(RtscanExecutor executor, const char *why)
{
	if (!rtscan_fallback && rtscan_executor != RTSCAN_EXECUTOR_AUTO)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("rtscan's executor \"%s\" cannot evaluate the scan", rtscan_executor_names[executor]),
				 errdetail("%s", why),
				 errhint("Set rtscan.executor to \"auto\", or rtscan.fallback to \"on\", to have the CPU answer.")));
	log_fallback(executor, why);
	rtscan_count_fallback(executor);
}

/* Why the device cannot have all that a scan needs at the same time, or NULL. */
static const char *
memory_shortage(const RtscanSegmentScan *scans, int nscans)
{
	if (rtscan_device_area(1) != NULL && rtscan_device_needs(scans, nscans) > rtscan_device_memory_limit())
		return "The device does not have the memory for all columns of the scan; rtscan.device_memory may limit it.";
	return NULL;
}

/* The executor that is expected to be the fastest for a scan. */
static RtscanExecutor
fastest_executor(const RtscanSegmentScan *scans, int nscans)
{
	RtscanExecutor best = RTSCAN_EXECUTOR_CPU;
	double		best_time;
	uint32		chunks;

	if (!rtscan_device_ready())
		return best;
	best_time = rtscan_device_alternative(scans, nscans, &chunks);
	for (RtscanExecutor executor = RTSCAN_EXECUTOR_COMPUTE; executor < RTSCAN_EXECUTORS; executor++)
	{
		RtscanDeviceSpeed speed = rtscan_device_speed(executor - RTSCAN_EXECUTOR_COMPUTE);
		double		time = speed.request + chunks * speed.chunk;

		if (time < best_time)
		{
			best = executor;
			best_time = time;
		}
		else if (chunks > 0)
			rtscan_forget_device_speed(executor - RTSCAN_EXECUTOR_COMPUTE);
	}
	return best;
}

RtscanExecutor
rtscan_choose_executor(const RtscanSegmentScan *scans, int nscans)
{
	RtscanExecutor executor = rtscan_executor;
	const char *why;

	if (executor == RTSCAN_EXECUTOR_AUTO)
		executor = fastest_executor(scans, nscans);
	if (executor == RTSCAN_EXECUTOR_CPU)
		return executor;
	why = memory_shortage(scans, nscans);
	if (why == NULL)
		return executor;
	if (rtscan_executor != RTSCAN_EXECUTOR_AUTO)
		fall_back(executor, why);
	return RTSCAN_EXECUTOR_CPU;
}

RtscanExecutor
rtscan_begin_batch(RtscanExecutor executor, Relation index, const pg_uuid_t *uuid,
				   RtscanSegmentScan *scans, int nscans, RtscanCounters *counters)
{
	const char *why;

	for (int i = 0; i < nscans; i++)
		scans[i].evaluated = false;
	if (executor == RTSCAN_EXECUTOR_CPU)
		return executor;
	why = rtscan_device_evaluate(executor, index, uuid, scans, nscans, counters);
	if (why && why != rtscan_device_not_yet)
		fall_back(executor, why);
	for (int i = 0; i < nscans; i++)
		if (scans[i].evaluated)
			return executor;
	return RTSCAN_EXECUTOR_CPU;
}

/* For tests: does the CPU come to the same bits? */
static void
compare_bits(RtscanSegmentScan *scan)
{
	RtscanRowBits *expected = cpu_bits();
	RtscanCounters counters = {0};

	rtscan_bits_reset(expected, scan->reader.segment->chunks);
	rtscan_cpu_evaluate(&scan->reader, &scan->filter.group, expected, &counters);
	if (rtscan_bits_count(expected) != rtscan_bits_count(&scan->device_bits))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg_internal("executors differ: segment " UINT64_FORMAT ": " UINT64_FORMAT " rows instead of " UINT64_FORMAT,
								 scan->entry->id, rtscan_bits_count(&scan->device_bits), rtscan_bits_count(expected))));
	for (uint32 chunk = 0; scan->device_bits.words && chunk < expected->chunks; chunk++)
	{
		const uint64 *want = expected->filled[chunk] ? rtscan_bits_chunk(expected, chunk) : rtscan_zeros();
		const uint64 *have = scan->device_bits.filled[chunk] ? rtscan_bits_chunk(&scan->device_bits, chunk) : rtscan_zeros();

		for (uint32 word = 0; word < RTSCAN_CHUNK_WORDS; word++)
			if (want[word] != have[word])
				ereport(ERROR,
						(errcode(ERRCODE_INTERNAL_ERROR),
						 errmsg_internal("executors differ: segment " UINT64_FORMAT ", chunk %u, word %u: "
										 UINT64_FORMAT " instead of " UINT64_FORMAT,
										 scan->entry->id, chunk, word, have[word], want[word])));
	}
}

/* ---------------------------------------------------------------- filters */

/* The nth of some that all scans of the backend share, as cpu_bits(). */
static RtscanRowBits *
scratch_bits(int nth)
{
	static List *all = NIL;

	while (list_length(all) <= nth)
	{
		MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

		all = lappend(all, rtscan_bits_create(TopMemoryContext));
		MemoryContextSwitchTo(old);
	}
	return list_nth(all, nth);
}

static void
and_bits(RtscanRowBits *bits, const RtscanRowBits *others)
{
	bits->counted = false;
	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
	{
		if (bits->filled[chunk] && others->filled[chunk])
			rtscan_and(rtscan_bits_chunk(bits, chunk), rtscan_bits_chunk(others, chunk));
		bits->filled[chunk] &= others->filled[chunk];
	}
}

static void evaluate_by_cpu(RtscanReader *reader, const RtscanFilterGroup *filter, int depth,
							RtscanRowBits *bits, RtscanCounters *counters);

/* The rows of any alternative; scratch bits from 2 * depth on are free. */
static RtscanRowBits *
evaluate_disjunction(RtscanReader *reader, const RtscanDisjunctionGroup *disjunction, int depth,
					 RtscanCounters *counters)
{
	RtscanRowBits *any = scratch_bits(2 * depth);
	RtscanRowBits *one = scratch_bits(2 * depth + 1);

	rtscan_bits_reset(any, reader->segment->chunks);
	for (int i = 0; i < disjunction->n; i++)
	{
		evaluate_by_cpu(reader, &disjunction->filters[i], depth + 1, one, counters);
		for (uint32 chunk = 0; chunk < one->chunks; chunk++)
			if (one->filled[chunk])
				rtscan_or(rtscan_bits_fill(any, chunk), rtscan_bits_chunk(one, chunk));
	}
	return any;
}

/* Take out the rows that a disjunction does not have. */
static void
and_disjunctions(RtscanReader *reader, const RtscanFilterGroup *filter, int depth,
				 RtscanRowBits *bits, RtscanCounters *counters)
{
	for (int i = 0; i < filter->ndisjunctions; i++)
		and_bits(bits, evaluate_disjunction(reader, &filter->disjunctions[i], depth, counters));
}

/* The rows that match a filter. */
static void
evaluate_by_cpu(RtscanReader *reader, const RtscanFilterGroup *filter, int depth,
				RtscanRowBits *bits, RtscanCounters *counters)
{
	rtscan_bits_reset(bits, reader->segment->chunks);
	rtscan_cpu_evaluate(reader, &filter->group, bits, counters);
	and_disjunctions(reader, filter, depth, bits, counters);
}

RtscanRowBits *
rtscan_evaluate(RtscanSegmentScan *scan, RtscanCounters *counters)
{
	if (scan->filter.group.empty)
	{
		counters->chunks_skipped += scan->reader.segment->chunks;
		return NULL;
	}
	if (!scan->evaluated)
	{
		evaluate_by_cpu(&scan->reader, &scan->filter, 0, cpu_bits(), counters);
		return cpu_bits();
	}
	if (rtscan_debug_compare_executors)
		compare_bits(scan);
	and_disjunctions(&scan->reader, &scan->filter, 0, &scan->device_bits, counters);
	return &scan->device_bits;
}

RtscanRowBits *
rtscan_evaluate_filter(RtscanReader *reader, const RtscanFilterGroup *filter, const RtscanRowBits *bits,
					   RtscanCounters *counters)
{
	RtscanRowBits *both = scratch_bits(0);

	evaluate_by_cpu(reader, filter, 1, both, counters);
	and_bits(both, bits);
	return both;
}
