/* SPDX-License-Identifier: PostgreSQL */
/*
 * sieve_test.c
 *		Test the sieve, and the CPU executor on it, from columns to vectors to bits of rows, against the rows' ranks.
 *
 * Segments have a few rows to a few chunks; columns have many or few values, NULLs, or the heap's order.
 */
#include "unit.h"

#include "cpu.h"
#include "sieve.h"
#include "sort.h"
#include "access/genam.h"
#include "utils/sortsupport.h"

#define MOST_COLUMNS	3
#define MOST_ROWS		(3 * RTSCAN_CHUNK_ROWS)

static RtscanSortedColumn *sorted[MOST_COLUMNS];
static uint32 rank_of[MOST_COLUMNS][MOST_ROWS];
static uint32 *starts[MOST_COLUMNS];	/* rank at which each code begins, including NULL's code and the end */
static uint32 ncodes[MOST_COLUMNS];

static RtscanSegmentColumn segment_columns[MOST_COLUMNS];
static RtscanSegment segment;
static int	ncolumns;
static uint32 rows;

/* ---------------------------------------------------------------- functions that the sources call */

RegProcedure
index_getprocid(Relation index, AttrNumber column, uint16 proc)
{
	unit_raise("values have keys");
}

Datum
OidFunctionCall1Coll(Oid function, Oid collation, Datum arg)
{
	unit_raise("values have keys");
}

void
PrepareSortSupportComparisonShim(Oid function, SortSupport support)
{
	unit_raise("values have keys");
}

RtscanRowBits *
rtscan_bits_create(MemoryContext context, uint32 chunks)
{
	RtscanRowBits *bits = palloc0(sizeof(RtscanRowBits));

	bits->words = aligned_alloc(64, RTSCAN_SEGMENT_CHUNKS * RTSCAN_CHUNK_BYTES);
	return bits;
}

uint64 *
rtscan_bits_fill(RtscanRowBits *bits, uint32 chunk)
{
	if (!bits->filled[chunk])
		memset(rtscan_bits_chunk(bits, chunk), 0, RTSCAN_CHUNK_BYTES);
	bits->filled[chunk] = true;
	return rtscan_bits_chunk(bits, chunk);
}

static bool
has_row(const RtscanRowBits *bits, uint32 row)
{
	uint32		chunk = row / RTSCAN_CHUNK_ROWS,
				bit = row % RTSCAN_CHUNK_ROWS;

	return bits->filled[chunk] && ((rtscan_bits_chunk(bits, chunk)[bit / 64] >> (bit % 64)) & 1);
}

uint64
rtscan_bits_count(const RtscanRowBits *bits)
{
	uint64		count = 0;

	for (uint32 row = 0; row < rows; row++)
		count += has_row(bits, row);
	return count;
}

/* ---------------------------------------------------------------- columns */

/* Return a random value: one of many, one of few, mostly the same one, clustered, or ascending. */
static uint64
random_value(int kind, uint32 few, uint32 row)
{
	switch (kind)
	{
		case 0:
			return unit_random();
		case 1:
			return unit_below(few);
		case 2:
			return unit_one_in(3) ? unit_random() : 7;
		case 3:
			return row / 5000 + unit_below(100);
		default:
			return row / few;
	}
}

static RtscanSortedColumn *
random_column(void)
{
	RtscanSchema *schema = palloc0(offsetof(RtscanSchema, columns) + sizeof(RtscanColumn));
	RtscanColumnRows *source = palloc0(sizeof(RtscanColumnRows));
	RtscanRows *source_rows = palloc0(sizeof(RtscanRows));
	int			kind = unit_below(5);
	uint32		few = 1 + unit_bits(10);
	uint32		nulls = unit_below(6);	/* 0: a tenth of the rows are NULL; 1: nearly all; else none */

	schema->columns[0] = (RtscanColumn) {.typlen = 8, .typbyval = true, .key_kind = RTSCAN_KEY_UINT64};
	*source_rows = (RtscanRows) {.schema = schema, .rows = rows, .columns = source};
	source->values = palloc(rows * sizeof(uint64));
	source->nulls = palloc0((rows / 64 + 1) * sizeof(uint64));
	for (uint32 row = 0; row < rows; row++)
	{
		bool		null = nulls == 0 ? unit_one_in(10) : nulls == 1 ? !unit_one_in(rows) : false;

		source->values[row] = random_value(kind, few, row);
		source->nulls[row / 64] |= (uint64) null << (row % 64);
		source->null_count += null;
	}
	return rtscan_sort_column(NULL, source_rows, 0);
}

/* Compute at which rank the column's codes begin, and each row's rank. */
static void
learn_column(int i, const RtscanSortedColumn *column)
{
	sorted[i] = unconstify(RtscanSortedColumn *, column);
	starts[i] = palloc((column->distinct + 2) * sizeof(uint32));
	ncodes[i] = 0;
	for (uint32 rank = 0; rank < rows; rank++)
	{
		rank_of[i][column->order[rank]] = rank;
		if (rank == column->nonnull || rtscan_starts_value(column, rank))
			starts[i][ncodes[i]++] = rank;
	}
	starts[i][ncodes[i]] = rows;
}

/* ---------------------------------------------------------------- segments */

static RtscanArea
write_codes(RtscanAreaWriter *areas, int i, uint32 width)
{
	RtscanPacker packer = rtscan_packer(areas, RTSCAN_PAGE_CODES, width);
	uint32	   *codes = palloc(rows * sizeof(uint32));

	for (uint32 code = 0; code < ncodes[i]; code++)
		for (uint32 rank = starts[i][code]; rank < starts[i][code + 1]; rank++)
			codes[sorted[i]->order[rank]] = code;
	for (uint32 row = 0; row < rows; row++)
		rtscan_packer_add(&packer, codes[row]);
	return rtscan_packer_end(&packer);
}

static RtscanArea
write_order(RtscanAreaWriter *areas, int i)
{
	RtscanPacker packer = rtscan_packer(areas, RTSCAN_PAGE_ORDER, 3);

	for (uint32 rank = 0; rank < rows; rank++)
		rtscan_packer_add(&packer, sorted[i]->order[rank]);
	return rtscan_packer_end(&packer);
}

/* Parse a descriptor, as sieve.h and segment.h describe it. */
static void
read_descriptor(RtscanSegmentColumn *column, const char *content)
{
	const RtscanColumnHeader *header = &column->header;
	uint32		pages = header->vectors * segment.chunks;
	const uint8 *states = (const uint8 *) content + (header->bins + 1) * sizeof(uint32);
	uint32		stored = 0;
	uint32	   *boundaries = palloc((header->bins + 1) * sizeof(uint32));

	column->boundaries = memcpy(boundaries, content, (header->bins + 1) * sizeof(uint32));
	column->vector_pages = palloc(Max(pages, 1) * sizeof(uint32));
	for (uint32 page = 0; page < pages; page++)
	{
		RtscanVectorState state = (states[page / 4] >> (page % 4 * 2)) & 3;

		column->vector_pages[page] = state == RTSCAN_VECTOR_ZEROS ? RTSCAN_PAGE_ZEROS :
			state == RTSCAN_VECTOR_ONES ? RTSCAN_PAGE_ONES : stored++;
	}
	assert_int_equal(stored, header->sieve.pages);
}

/* Write a column as encode.c does. */
static void
write_column(RtscanAreaWriter *areas, int i, int bins, int components)
{
	RtscanSegmentColumn *column = &segment_columns[i];
	RtscanColumnHeader *header = &column->header;
	uint32		distinct = sorted[i]->distinct;
	StringInfoData descriptor;

	*header = (RtscanColumnHeader) {.nonnull = sorted[i]->nonnull, .distinct = distinct};
	header->code_bytes = distinct <= 0xFF ? 1 : distinct <= 0xFFFF ? 2 : 3;
	if (sorted[i]->heap_order)
	{
		header->flags |= RTSCAN_COLUMN_HEAP_ORDER;
		return;
	}
	header->codes = write_codes(areas, i, header->code_bytes);
	if (rows < RTSCAN_CHUNK_ROWS)
		return;
	initStringInfo(&descriptor);
	rtscan_write_sieve(areas, sorted[i], bins, components, header, &descriptor);
	if (!(header->flags & RTSCAN_COLUMN_EXACT))
		header->order = write_order(areas, i);
	read_descriptor(column, descriptor.data);
}

static RtscanReader
random_segment(uint32 of_rows, int bins, int components)
{
	RtscanAreaWriter *areas = unit_area_writer();

	rows = of_rows;
	ncolumns = 1 + unit_below(MOST_COLUMNS);
	segment = (RtscanSegment) {.header.rows = rows, .chunks = rtscan_chunks(rows), .columns = segment_columns};
	for (int i = 0; i < ncolumns; i++)
	{
		learn_column(i, random_column());
		write_column(areas, i, bins, components);
	}
	return unit_reader(areas, &segment);
}

/* Return a random number of rows, from one to some chunks, often near a chunk's end. */
static uint32
random_rows(void)
{
	if (unit_one_in(3))
		return 1 + unit_below(3000);
	return RTSCAN_CHUNK_ROWS * (1 + unit_below(2)) +
		(unit_one_in(2) ? unit_below(RTSCAN_CHUNK_ROWS) : unit_below(130) - 65);
}

/* ---------------------------------------------------------------- the sieve */

static void
check_boundaries(int i, uint32 max_bins)
{
	const RtscanColumnHeader *header = &segment_columns[i].header;
	const uint32 *boundaries = segment_columns[i].boundaries;
	bool		nulls_edge = sorted[i]->nonnull == rows;

	assert_true(header->bins >= 1 && header->bins <= max_bins);
	assert_int_equal(boundaries[0], 0);
	assert_int_equal(boundaries[header->bins], rows);
	for (uint32 b = 0; b < header->bins; b++)
	{
		assert_true(boundaries[b] < boundaries[b + 1]);
		assert_true(boundaries[b] == sorted[i]->nonnull || rtscan_starts_value(sorted[i], boundaries[b]));
		nulls_edge = nulls_edge || boundaries[b] == sorted[i]->nonnull;
	}
	assert_true(nulls_edge);
	assert_int_equal((header->flags & RTSCAN_COLUMN_EXACT) != 0, header->bins == ncodes[i]);
}

/* Return a row's bit in a vector. */
static bool
vector_bit(RtscanReader *reader, int i, uint32 vector, uint32 row)
{
	const RtscanSegmentColumn *column = &segment_columns[i];
	uint32		page = column->vector_pages[vector * segment.chunks + row / RTSCAN_CHUNK_ROWS];
	uint32		bit = row % RTSCAN_CHUNK_ROWS;
	Buffer		buffer;
	Size		used;
	const char *bytes;

	if (page == RTSCAN_PAGE_ZEROS || page == RTSCAN_PAGE_ONES)
		return page == RTSCAN_PAGE_ONES;
	bytes = rtscan_get_page(reader, &column->header.sieve, page, &buffer, &used);
	rtscan_release(reader, buffer);
	return (bytes[bit / 8] >> (bit % 8)) & 1;
}

static bool
high_bit(RtscanReader *reader, int i, uint32 h, uint32 row)
{
	if (h == 0)
		return false;
	if (h >= rtscan_high_count(&segment_columns[i].header))
		return true;
	return vector_bit(reader, i, rtscan_high_vector(h), row);
}

/* Return F_b = H_h | (H_{h+1} & L_l) of a row. */
static bool
is_below(RtscanReader *reader, int i, uint32 b, uint32 row)
{
	const RtscanColumnHeader *header = &segment_columns[i].header;
	uint32		h = b / header->radix,
				l = b % header->radix;

	return high_bit(reader, i, h, row) ||
		(l > 0 && high_bit(reader, i, h + 1, row) && vector_bit(reader, i, rtscan_low_vector(header, l), row));
}

static void
check_vectors(RtscanReader *reader, int i)
{
	const RtscanSegmentColumn *column = &segment_columns[i];

	for (int n = 0; n < 50000; n++)
	{
		uint32		b = unit_below(column->header.bins);
		uint32		row = unit_one_in(4) ? rows - 1 - unit_below(64) : unit_below(rows);

		if (is_below(reader, i, b, row) != (rank_of[i][row] < column->boundaries[b]))
			fail_msg("column %d, boundary %u of %u, row %u of rank %u", i, b, column->header.bins, row,
					 rank_of[i][row]);
	}
}

/* Check that a stored page has zeros and ones among the bits of existing rows. */
static void
check_stored(RtscanReader *reader, int i, uint32 chunk)
{
	const RtscanSegmentColumn *column = &segment_columns[i];
	uint32		first = chunk * RTSCAN_CHUNK_ROWS;

	for (uint32 vector = 0; vector < column->header.vectors; vector++)
	{
		uint32		page = column->vector_pages[vector * segment.chunks + chunk];
		uint32		row = first + 1;

		while (row < rows && vector_bit(reader, i, vector, row) == vector_bit(reader, i, vector, first))
			row++;
		assert_int_equal(row == rows, page == RTSCAN_PAGE_ZEROS || page == RTSCAN_PAGE_ONES);
	}
}

static void
test_sieve(void **unused)
{
	for (int round = 0; round < 12; round++)
	{
		int			bins = RTSCAN_MIN_BINS + unit_bits(9);
		int			components = 1 + unit_below(2);
		uint32		last = unit_below(unit_one_in(2) ? 100 : RTSCAN_CHUNK_ROWS);
		RtscanReader reader = random_segment(RTSCAN_CHUNK_ROWS + last, bins, components);

		for (int i = 0; i < ncolumns; i++)
			if (!sorted[i]->heap_order)
			{
				check_boundaries(i, bins);
				check_vectors(&reader, i);
				check_stored(&reader, i, segment.chunks - 1);
			}
	}
	assert_int_equal(unit_pages_at_hand(), 0);
}

/* ---------------------------------------------------------------- the executor */

static RtscanPosition
position(int i, uint32 code)
{
	return (RtscanPosition) {code, starts[i][code]};
}

/* Return a random number of codes of an interval: a few, a tenth of all, or any number. */
static uint32
random_width(int i)
{
	switch (unit_below(3))
	{
		case 0:
			return 1 + unit_below(5);
		case 1:
			return 1 + ncodes[i] / 20 + unit_below(ncodes[i] / 10 + 1);
		default:
			return unit_below(ncodes[i]);
	}
}

/* Make random intervals of codes, few or many, with some of the rows but not all. */
static RtscanIntervals
random_intervals(int i)
{
	RtscanIntervals set = {0, 0, NULL};

	while (set.n == 0 || rtscan_intervals_rows(&set) == rows)
	{
		set.n = 0;
		for (uint32 n = 1 + (unit_one_in(2) ? 0 : unit_below(6)); n > 0; n--)
		{
			uint32		low = unit_one_in(4) ? 0 : unit_below(ncodes[i]);
			uint32		width = random_width(i);

			rtscan_intervals_add(&set, position(i, low), position(i, Min(low + width, ncodes[i])));
		}
		rtscan_intervals_normalize(&set);
	}
	return set;
}

static int
compare_columns(const void *a, const void *b)
{
	uint32		x = ((const RtscanRegionColumn *) a)->rows,
				y = ((const RtscanRegionColumn *) b)->rows;

	return x < y ? -1 : x > y;
}

static RtscanRegion
random_region(void)
{
	RtscanRegion region = {.columns = palloc(MOST_COLUMNS * sizeof(RtscanRegionColumn))};

	for (int i = 0; i < ncolumns; i++)
		if (ncodes[i] > 1 && !unit_one_in(4))
		{
			RtscanIntervals set = random_intervals(i);

			region.columns[region.ncolumns++] = (RtscanRegionColumn) {
				.column = i,
				.rows = rtscan_intervals_rows(&set),
				.stands_for = 1,
				.intervals = set,
			};
		}
	qsort(region.columns, region.ncolumns, sizeof(RtscanRegionColumn), compare_columns);
	return region;
}

/* Return a flag for each row that matches, from flags of the ranks. */
static bool *
matching_rows(const RtscanRegion *region)
{
	bool	   *matching = palloc(rows);

	memset(matching, true, rows);
	for (int c = 0; c < region->ncolumns; c++)
	{
		const RtscanRegionColumn *column = &region->columns[c];
		bool	   *wanted = palloc0(rows);

		for (uint32 k = 0; k < column->intervals.n; k++)
			memset(wanted + column->intervals.items[k].low.rank, true,
				   column->intervals.items[k].high.rank - column->intervals.items[k].low.rank);
		for (uint32 row = 0; row < rows; row++)
			matching[row] = matching[row] && wanted[rank_of[column->column][row]];
		pfree(wanted);
	}
	return matching;
}

static void
check_region(RtscanReader *reader)
{
	RtscanRegion region = random_region();
	RtscanRowBits *bits = rtscan_bits_create(NULL, RTSCAN_SEGMENT_CHUNKS);
	RtscanCounters counters = {0};
	bool	   *matching = matching_rows(&region);

	bits->chunks = segment.chunks;
	rtscan_cpu_evaluate(reader, &region, NULL, bits, &counters);
	for (uint32 row = 0; row < rows; row++)
		if (has_row(bits, row) != matching[row])
			fail_msg("row %u of %u, %d columns", row, rows, region.ncolumns);
	/* Bits after the last row must not be set. */
	for (uint32 row = rows; row < segment.chunks * RTSCAN_CHUNK_ROWS; row++)
		assert_false(has_row(bits, row));
	assert_int_equal(unit_pages_at_hand(), 0);
	pfree(matching);
	free(bits->words);
	pfree(bits);
}

static void
test_executor(void **unused)
{
	for (int round = 0; round < 40; round++)
	{
		RtscanReader reader = random_segment(random_rows(), RTSCAN_MIN_BINS + unit_bits(9), 1 + unit_below(2));

		for (int i = 0; i < 25; i++)
			check_region(&reader);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sieve),
		cmocka_unit_test(test_executor),
	};

	unit_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
