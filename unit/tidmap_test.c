/* SPDX-License-Identifier: PostgreSQL */
/*
 * tidmap_test.c
 *		Test the map from rows to TIDs: for any bits it returns the TIDs that were written.
 *
 * On damaged pages the result is an error or any TIDs.
 */
#include "unit.h"

#include "tidmap.h"

#define MOST_ROWS	(2 * RTSCAN_CHUNK_ROWS + 1000)

static ItemPointerData tids[3 * RTSCAN_CHUNK_ROWS]; /* of whole chunks */
static RtscanSegment segment;

/* Make ascending TIDs: blocks are dense, have gaps, begin late, or are missing; or all are dense. */
static void
random_tids(uint32 n)
{
	bool		dense = unit_one_in(3);
	BlockNumber block = unit_bits(20);
	uint32		row = 0;

	while (row < n)
	{
		OffsetNumber offset = unit_one_in(4) ? 1 + unit_below(5) : 1;
		uint32		left = 1 + unit_below(unit_one_in(50) ? 5000 : 200);
		uint32		gaps_in = dense || unit_one_in(2) ? 0 : 1 + unit_below(20);

		for (; left > 0 && row < n; left--, offset++, row++)
		{
			ItemPointerSet(&tids[row], block, offset);
			if (gaps_in > 0 && unit_one_in(gaps_in))
				offset += 1 + unit_below(3);
		}
		block += 1 + (unit_one_in(10) ? unit_bits(8) : 0);
	}
}

static RtscanReader
write_tidmap(uint32 n)
{
	RtscanAreaWriter *areas = unit_area_writer();
	StringInfoData first_rows;

	random_tids(n);
	initStringInfo(&first_rows);
	segment = (RtscanSegment) {.header.rows = n, .chunks = rtscan_chunks(n)};
	segment.header.tidmap = rtscan_write_tidmap(areas, tids, n, &first_rows);
	segment.tidmap_rows = (uint32 *) first_rows.data;
	assert_int_equal(first_rows.len, segment.header.tidmap.pages * sizeof(uint32));
	return unit_reader(areas, &segment);
}

/* Return random bits of a chunk: none, all, few or many are set, none after the last row. */
static uint64 *
random_bits(uint32 chunk_rows)
{
	uint64	   *bits = palloc0(RTSCAN_CHUNK_BYTES);
	uint32		one_in = 1 + unit_bits(10);
	bool		none = unit_one_in(10);

	for (uint32 row = 0; row < chunk_rows; row++)
		if (!none && unit_one_in(one_in))
			bits[row / 64] |= UINT64CONST(1) << (row % 64);
	return bits;
}

static uint32
chunk_rows(uint32 chunk)
{
	return Min(segment.header.rows - chunk * RTSCAN_CHUNK_ROWS, RTSCAN_CHUNK_ROWS);
}

static bool
bit(const uint64 *bits, uint32 row)
{
	return (bits[row / 64] >> (row % 64)) & 1;
}

static void
check_collect(RtscanReader *reader, uint32 chunk, const uint64 *bits)
{
	ItemPointerData *found = palloc(RTSCAN_CHUNK_ROWS * sizeof(ItemPointerData));
	uint32		n = 0;

	rtscan_collect_tids(reader, chunk, bits, found);
	for (uint32 row = 0; row < chunk_rows(chunk); row++)
		if (bit(bits, row))
			assert_memory_equal(&found[n++], &tids[chunk * RTSCAN_CHUNK_ROWS + row], sizeof(ItemPointerData));
	pfree(found);
}

/* Look up ascending rows in all chunks. */
static void
check_find(RtscanReader *reader)
{
	uint32		one_in = 1 + unit_below(unit_one_in(2) ? 4 : 5000);
	uint32	   *rows = palloc(segment.header.rows * sizeof(uint32));
	ItemPointerData *found = palloc(segment.header.rows * sizeof(ItemPointerData));
	uint32		n = 0;

	for (uint32 row = 0; row < segment.header.rows; row++)
		if (unit_one_in(one_in))
			rows[n++] = row;
	rtscan_find_tids(reader, rows, n, found);
	for (uint32 i = 0; i < n; i++)
		assert_memory_equal(&found[i], &tids[rows[i]], sizeof(ItemPointerData));
	pfree(found);
	pfree(rows);
}

static uint32 modulus;

/* Filter blocks: some blocks pass, and no ranges of several blocks, unless everything passes. */
static bool
passes(BlockNumber first, BlockNumber last, void *arg)
{
	return modulus == 1 || (first == last && first % modulus != 0);
}

static void
check_failing(RtscanReader *reader, uint32 chunk, const uint64 *bits)
{
	ItemPointerData *found = palloc(RTSCAN_CHUNK_ROWS * sizeof(ItemPointerData));
	uint64	   *failing = palloc(RTSCAN_CHUNK_BYTES);
	uint32		n = 0;

	modulus = 1 + unit_below(4);
	memset(failing, 0xA5, RTSCAN_CHUNK_BYTES);
	rtscan_collect_failing_tids(reader, chunk, bits, passes, NULL, failing, found);
	for (uint32 row = 0; row < RTSCAN_CHUNK_ROWS; row++)
	{
		const ItemPointerData *tid = &tids[chunk * RTSCAN_CHUNK_ROWS + row];
		BlockNumber block = row < chunk_rows(chunk) ? ItemPointerGetBlockNumberNoCheck(tid) : 0;
		bool		fails = row < chunk_rows(chunk) && bit(bits, row) && !passes(block, block, NULL);

		assert_int_equal(bit(failing, row), fails);
		if (fails)
			assert_memory_equal(&found[n++], tid, sizeof(ItemPointerData));
	}
	pfree(failing);
	pfree(found);
}

/* The rows of runs that have been visited, and what they are compared with. */
typedef struct Visits
{
	uint32		chunk;			/* the chunk whose runs are visited */
	uint64	   *visited;		/* bits of rows that runs had */
} Visits;

static void
visit_run(Visits *visits, const RtscanRowRun *run)
{
	for (uint32 i = 0; i < run->rows; i++)
	{
		uint32		row = run->row + i;
		const ItemPointerData *tid = &tids[visits->chunk * RTSCAN_CHUNK_ROWS + row];
		OffsetNumber offset = run->offset != InvalidOffsetNumber ? run->offset + i : run->offsets[i];

		assert_true(row < chunk_rows(visits->chunk) && !bit(visits->visited, row));
		assert_int_equal(run->block, ItemPointerGetBlockNumberNoCheck(tid));
		assert_int_equal(offset, ItemPointerGetOffsetNumberNoCheck(tid));
		visits->visited[row / 64] |= UINT64CONST(1) << (row % 64);
	}
}

static void
visit_runs(const RtscanRowRun *runs, uint32 n, void *arg)
{
	assert_in_range(n, 1, RTSCAN_VISITED_RUNS);
	for (uint32 i = 0; i < n; i++)
		visit_run((Visits *) arg, &runs[i]);
}

/* Visit runs: each row whose bit is set is in one of them. */
static void
check_runs(RtscanReader *reader, uint32 chunk, const uint64 *bits)
{
	Visits		visits = {.chunk = chunk, .visited = palloc0(RTSCAN_CHUNK_BYTES)};

	rtscan_visit_runs(reader, chunk, bits, visit_runs, &visits);
	for (uint32 row = 0; row < chunk_rows(chunk); row++)
		assert_true(!bit(bits, row) || bit(visits.visited, row));
	pfree(visits.visited);
}

static void
check_blocks(RtscanReader *reader)
{
	RtscanBlockRange blocks = rtscan_tidmap_blocks(reader);

	assert_int_equal(blocks.first, ItemPointerGetBlockNumberNoCheck(&tids[0]));
	assert_int_equal(blocks.last, ItemPointerGetBlockNumberNoCheck(&tids[segment.header.rows - 1]));
}

static void
test_tids(void **unused)
{
	for (int round = 0; round < 60; round++)
	{
		uint32		n = 1 + unit_below(unit_one_in(2) ? MOST_ROWS : 2000);
		RtscanReader reader = write_tidmap(n);

		for (uint32 chunk = 0; chunk < segment.chunks; chunk++)
		{
			uint64	   *bits = random_bits(chunk_rows(chunk));

			check_collect(&reader, chunk, bits);
			check_failing(&reader, chunk, bits);
			check_runs(&reader, chunk, bits);
			check_find(&reader);
			pfree(bits);
		}
		check_blocks(&reader);
		assert_memory_equal(rtscan_read_tids(&reader), tids, n * sizeof(ItemPointerData));
		assert_int_equal(unit_pages_at_hand(), 0);
	}
}

static void
read_damaged(void *arg)
{
	ItemPointerData *found = rtscan_read_tids((RtscanReader *) arg);

	for (uint32 row = 0; row < segment.header.rows; row++)
		assert_true(ItemPointerGetOffsetNumberNoCheck(&found[row]) != InvalidOffsetNumber);
}

static void
test_damage(void **unused)
{
	uint32		errors = 0;

	for (int round = 0; round < 300; round++)
	{
		RtscanReader reader = write_tidmap(1 + unit_below(unit_one_in(4) ? MOST_ROWS : 2000));

		for (int i = 0; i < 10; i++)
		{
			unit_damage_page(&reader);
			errors += unit_error(read_damaged, &reader) != NULL;
			unit_forget_pages();
		}
	}
	assert_true(errors > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tids),
		cmocka_unit_test(test_damage),
	};

	unit_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
