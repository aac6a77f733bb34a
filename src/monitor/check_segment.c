/*
 * check_segment.c
 *		Check one segment.
 */
#include "monitor/check.h"

#include "bits/bits.h"
#include "miscadmin.h"
#include "segment/dictionary.h"
#include "segment/segment.h"
#include "segment/sieve.h"
#include "segment/tidmap.h"
#include "storage/dead.h"
#include "utils/memutils.h"

/* A segment being checked; arrays by row. */
typedef struct SegmentCheck
{
	Relation	index;
	const RtscanSchema *schema;
	const RtscanEntry *entry;
	RtscanReader reader;
	const RtscanSegment *segment;
	uint32		rows;
	ItemPointerData *tids;
	uint64	   *fingerprints;	/* NULL: not asked for */
	const RtscanHasher *hashers;
} SegmentCheck;

/* The column of it being checked. */
typedef struct ColumnCheck
{
	SegmentCheck *check;
	int			number;
	const RtscanColumn *type;
	const RtscanSegmentColumn *column;
	uint32	   *first_ranks;	/* by code; distinct + 1 of them, and the end */
	uint64	   *hashes;			/* by code, if fingerprints are asked for */
	uint32		visited;		/* codes */
	Datum		previous;		/* value, and where it is kept */
	uint64		previous_key;
	char	   *kept;
	Size		kept_size;
} ColumnCheck;

static void *
palloc0_huge(Size n, Size size)
{
	return palloc_extended(Max(n, 1) * size, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

static void
fail(const SegmentCheck *check, const char *what, uint64 number)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is corrupted", RelationGetRelationName(check->index)),
			 errdetail_internal("Segment " UINT64_FORMAT " (descriptor at block %u): %s " UINT64_FORMAT ".",
								check->entry->id, check->entry->root, what, number),
			 errhint("Please REINDEX it.")));
}

static void
fail_column(const ColumnCheck *column, const char *what, uint64 number)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is corrupted", RelationGetRelationName(column->check->index)),
			 errdetail_internal("Segment " UINT64_FORMAT " (descriptor at block %u), column %d: %s " UINT64_FORMAT ".",
								column->check->entry->id, column->check->entry->root,
								column->number + 1, what, number),
			 errhint("Please REINDEX it.")));
}

/* ---------------------------------------------------------------- TIDs */

static void
check_tids(SegmentCheck *check)
{
	ItemPointerData *tids = check->tids = rtscan_read_tids(&check->reader);

	for (uint32 row = 0; row < check->rows; row++)
	{
		if (!ItemPointerIsValid(&tids[row]))
			fail(check, "no valid TID in row", row);
		if (row > 0 && ItemPointerCompare(&tids[row - 1], &tids[row]) >= 0)
			fail(check, "the TIDs do not ascend at row", row);
		if (check->fingerprints)
			check->fingerprints[row] = rtscan_hash_start(&tids[row]);
	}
}

/* ---------------------------------------------------------------- dictionary */

static int32
compare_to_previous(ColumnCheck *column, uint64 value)
{
	if (column->type->key_kind != RTSCAN_KEY_NONE)
		return column->previous_key < value ? -1 : column->previous_key > value;
	return DatumGetInt32(FunctionCall2Coll(column->type->compare, column->type->collation,
										   column->previous, (Datum) value));
}

/* The dictionary's page goes away between visits: keep the value. */
static void
keep_previous(ColumnCheck *column, uint64 value)
{
	Size		size;

	column->previous_key = value;
	column->previous = (Datum) value;
	if (column->type->key_kind != RTSCAN_KEY_NONE || column->type->typbyval)
		return;
	size = rtscan_value_size(column->type, (Datum) value);
	if (size > column->kept_size)
	{
		column->kept_size = size;
		column->kept = column->kept ? repalloc(column->kept, size) : palloc(size);
	}
	memcpy(column->kept, DatumGetPointer((Datum) value), size);
	column->previous = PointerGetDatum(column->kept);
}

/* RtscanDictionaryVisitor */
static void
check_value(uint32 code, uint64 value, uint32 first_rank, uint32 end_rank, void *arg)
{
	ColumnCheck *column = (ColumnCheck *) arg;

	if (code != column->visited)
		fail_column(column, "the dictionary skips code", column->visited);
	if (first_rank != column->first_ranks[code] || end_rank <= first_rank)
		fail_column(column, "wrong ranks of code", code);
	if (code > 0 && compare_to_previous(column, value) >= 0)
		fail_column(column, "the dictionary does not ascend at code", code);
	keep_previous(column, value);
	column->first_ranks[code + 1] = end_rank;
	column->visited++;
	if (column->hashes)
		column->hashes[code] = column->type->key_kind != RTSCAN_KEY_NONE ? rtscan_hash_key(value)
			: rtscan_hash_value(&column->check->hashers[column->number], (Datum) value);
}

/* RtscanDictionaryVisitor */
static void
keep_value(uint32 code, uint64 value, uint32 first_rank, uint32 end_rank, void *arg)
{
	keep_previous((ColumnCheck *) arg, value);
}

/* Does a lookup of a code's value find the code? */
static void
check_lookup(ColumnCheck *column, uint32 code)
{
	RtscanReader *reader = &column->check->reader;
	RtscanProbe probe = {
		.column = column->type,
		.has_key = column->type->key_kind != RTSCAN_KEY_NONE,
		.compare = column->type->compare,
	};
	RtscanPosition before,
				after;

	rtscan_dictionary_visit(reader, column->number, column->type, code, code + 1, keep_value, column);
	probe.key = column->previous_key;
	probe.value = column->previous;
	rtscan_dictionary_find(reader, column->number, &probe, false, &before);
	rtscan_dictionary_find(reader, column->number, &probe, true, &after);
	if (before.code != code || after.code != code + 1 ||
		before.rank != column->first_ranks[code] || after.rank != column->first_ranks[code + 1])
		fail_column(column, "a lookup does not find code", code);
}

/* All entries in order; then lookups of about a thousand of them. */
static void
check_dictionary(ColumnCheck *column)
{
	const RtscanColumnHeader *header = &column->column->header;

	column->first_ranks = palloc0_huge((Size) header->distinct + 2, sizeof(uint32));
	if (column->check->fingerprints)
		column->hashes = palloc0_huge((Size) header->distinct + 1, sizeof(uint64));
	rtscan_dictionary_visit(&column->check->reader, column->number, column->type, 0,
							header->distinct, check_value, column);
	if (column->visited != header->distinct)
		fail_column(column, "the dictionary ends at code", column->visited);
	if (column->first_ranks[header->distinct] != header->nonnull)
		fail_column(column, "the dictionary ends at rank", column->first_ranks[header->distinct]);
	column->first_ranks[header->distinct + 1] = column->check->rows;
	for (uint32 code = 0; code < header->distinct; code += Max(header->distinct / 1000, 1))
		check_lookup(column, code);
}

/* ---------------------------------------------------------------- codes and order */

/* An area of packed numbers, as an array. */
static uint32 *
read_packed(RtscanReader *reader, const RtscanArea *area, uint32 n, uint32 width)
{
	uint32	   *numbers = palloc0_huge(n, sizeof(uint32));
	uint32		per_page = rtscan_per_page(width);

	for (uint32 i = 0; i < area->pages; i++)
	{
		uint32		first = i * per_page;
		Buffer		buffer;
		Size		used;
		const char *payload = rtscan_get_page(reader, area, i, &buffer, &used);

		for (uint32 k = first; k < Min(first + per_page, n); k++)
			numbers[k] = rtscan_load_packed(payload + (k - first) * width, width);
		rtscan_release(reader, buffer);
		CHECK_FOR_INTERRUPTS();
	}
	return numbers;
}

/* A column in heap order stores no codes: they follow from the ranks. */
static uint32 *
codes_from_ranks(const ColumnCheck *column)
{
	uint32	   *codes = palloc0_huge(column->check->rows, sizeof(uint32));
	uint32		code = 0;

	for (uint32 row = 0; row < column->check->rows; row++)
	{
		while (row >= column->first_ranks[code + 1])
			code++;
		codes[row] = code;
	}
	return codes;
}

/*
 * Rows by the stable sort of their codes, which must have the frequencies that the
 * dictionary says; then it is also what order must be.
 */
static uint32 *
sort_by_code(const ColumnCheck *column, const uint32 *codes)
{
	uint32		codes_end = column->column->header.distinct + 1;
	uint32	   *next = palloc0_huge((Size) codes_end + 1, sizeof(uint32));
	uint32	   *rows = palloc0_huge(column->check->rows, sizeof(uint32));

	memcpy(next, column->first_ranks, (Size) codes_end * sizeof(uint32));
	for (uint32 row = 0; row < column->check->rows; row++)
	{
		if (codes[row] >= codes_end)
			fail_column(column, "impossible code in row", row);
		if (next[codes[row]] >= column->first_ranks[codes[row] + 1])
			fail_column(column, "the dictionary has a smaller frequency of the code in row", row);
		rows[next[codes[row]]++] = row;
	}
	pfree(next);
	return rows;
}

static void
check_order(ColumnCheck *column, const uint32 *sorted)
{
	const RtscanArea *area = &column->column->header.order;
	uint32	   *order;

	if (area->pages == 0)
		return;
	order = read_packed(&column->check->reader, area, column->check->rows, 3);
	for (uint32 rank = 0; rank < column->check->rows; rank++)
		if (order[rank] != sorted[rank])
			fail_column(column, "wrong row at rank", rank);
	pfree(order);
}

static void
add_fingerprints(ColumnCheck *column, const uint32 *codes)
{
	uint64	   *fingerprints = column->check->fingerprints;
	uint32		null_code = column->column->header.distinct;

	if (fingerprints == NULL)
		return;
	for (uint32 row = 0; row < column->check->rows; row++)
		fingerprints[row] = rtscan_hash_add(fingerprints[row], codes[row] == null_code,
											column->hashes[codes[row]]);
}

/* ---------------------------------------------------------------- sieve */

/* Compare a page of a vector, or its state, with what its bits should be. */
static void
check_vector_page(ColumnCheck *column, uint32 vector, uint32 chunk, const uint64 *expected)
{
	const RtscanArea *area = &column->column->header.sieve;
	uint32		page = column->column->vector_pages[vector * column->check->segment->chunks + chunk];
	uint32		rows = Min(column->check->rows - chunk * RTSCAN_CHUNK_ROWS, RTSCAN_CHUNK_ROWS);
	Buffer		buffer = InvalidBuffer;
	const uint64 *words = page == RTSCAN_PAGE_ONES ? rtscan_ones() : rtscan_zeros();
	Size		used;
	bool		same;

	if (page != RTSCAN_PAGE_ONES && page != RTSCAN_PAGE_ZEROS)
		words = (const uint64 *) rtscan_get_page(&column->check->reader, area, page, &buffer, &used);
	same = memcmp(words, expected, rows / 64 * sizeof(uint64)) == 0 &&
		(rows % 64 == 0 || ((words[rows / 64] ^ expected[rows / 64]) << (64 - rows % 64)) == 0);
	if (BufferIsValid(buffer))
		rtscan_release(&column->check->reader, buffer);
	if (!same)
		fail_column(column, "wrong bits of vector", vector);
}

static void
check_vector(ColumnCheck *column, uint32 vector, const uint64 *bits)
{
	CHECK_FOR_INTERRUPTS();
	for (uint32 chunk = 0; chunk < column->check->segment->chunks; chunk++)
		check_vector_page(column, vector, chunk, bits + (Size) chunk * RTSCAN_CHUNK_WORDS);
}

static void
set_bin(const ColumnCheck *column, const uint32 *sorted, uint32 bin, uint64 *bits)
{
	if (bin < column->column->header.bins)
		for (uint32 rank = column->column->boundaries[bin]; rank < column->column->boundaries[bin + 1]; rank++)
			bits[sorted[rank] / 64] |= UINT64CONST(1) << (sorted[rank] % 64);
}

/* Boundaries are where values begin, all of them if the column is exact. */
static void
check_boundaries(ColumnCheck *column)
{
	const RtscanColumnHeader *header = &column->column->header;
	uint32		code = 0;

	for (uint32 i = 0; i <= header->bins; i++)
	{
		uint32		boundary = column->column->boundaries[i];

		while (code <= header->distinct && column->first_ranks[code] < boundary)
			code++;
		if (column->first_ranks[code] != boundary)
			fail_column(column, "no value begins at boundary", i);
	}
	if ((header->flags & RTSCAN_COLUMN_EXACT) &&
		header->bins != header->distinct + (header->nonnull < column->check->rows ? 1 : 0))
		fail_column(column, "an exact column has too few bins:", header->bins);
}

/* As segment/sieve.c makes them, each vector from the one before. */
static void
check_sieve(ColumnCheck *column, const uint32 *sorted)
{
	const RtscanColumnHeader *header = &column->column->header;
	Size		bytes = (Size) column->check->segment->chunks * RTSCAN_CHUNK_BYTES;
	uint64	   *bits;

	if (header->bins == 0)
		return;
	check_boundaries(column);
	bits = palloc0_huge(bytes, 1);
	for (uint32 h = 1; h < rtscan_high_count(header); h++)
	{
		for (uint32 low = 0; low < header->radix; low++)
			set_bin(column, sorted, (h - 1) * header->radix + low, bits);
		check_vector(column, rtscan_high_vector(h), bits);
	}
	memset(bits, 0, bytes);
	for (uint32 l = 1; l < header->radix; l++)
	{
		for (uint32 bin = l - 1; bin < header->bins; bin += header->radix)
			set_bin(column, sorted, bin, bits);
		check_vector(column, rtscan_low_vector(header, l), bits);
	}
	pfree(bits);
}

/* ---------------------------------------------------------------- columns */

static void
check_column(SegmentCheck *check, int number)
{
	ColumnCheck column = {
		.check = check,
		.number = number,
		.type = &check->schema->columns[number],
		.column = &check->segment->columns[number],
	};
	const RtscanColumnHeader *header = &column.column->header;
	uint32	   *codes,
			   *sorted;

	check_dictionary(&column);
	if (header->flags & RTSCAN_COLUMN_HEAP_ORDER)
		codes = codes_from_ranks(&column);
	else
		codes = read_packed(&check->reader, &header->codes, check->rows, header->code_bytes);
	sorted = sort_by_code(&column, codes);
	add_fingerprints(&column, codes);
	pfree(codes);
	check_order(&column, sorted);
	check_sieve(&column, sorted);
}

/* ---------------------------------------------------------------- the segment */

static void
add_live_rows(SegmentCheck *check, RtscanLiveRows *live)
{
	BlockNumber *map = check->entry->dead == InvalidBlockNumber ? NULL
		: rtscan_dead_map(check->index, check->entry);
	uint64		dead[RTSCAN_CHUNK_WORDS] = {0};

	for (uint32 row = 0; row < check->rows; row++)
	{
		uint32		bit = row % RTSCAN_CHUNK_ROWS;

		if (map && bit == 0)
			rtscan_dead_get(check->index, check->entry, map, row / RTSCAN_CHUNK_ROWS, dead);
		if (((dead[bit / 64] >> (bit % 64)) & 1) == 0)
			rtscan_add_live_row(live, &check->tids[row], check->fingerprints[row]);
	}
}

void
rtscan_check_segment(Relation index, const RtscanSchema *schema,
					 const RtscanEntry *entry, RtscanLiveRows *live)
{
	SegmentCheck check = {.index = index, .schema = schema, .entry = entry};

	rtscan_reader_open(&check.reader, index, entry, false);
	check.segment = check.reader.segment;
	check.rows = entry->rows;
	if (live)
	{
		check.fingerprints = palloc0_huge(check.rows, sizeof(uint64));
		check.hashers = rtscan_hashers(index, schema);
	}
	check_tids(&check);
	for (int i = 0; i < schema->nkeys; i++)
	{
		MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan check",
													  ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(context);

		check_column(&check, i);
		MemoryContextSwitchTo(old);
		MemoryContextDelete(context);
	}
	for (int i = schema->nkeys; i < schema->ncolumns; i++)
		rtscan_check_include(&check.reader, schema, entry, i, check.fingerprints, live ? &check.hashers[i] : NULL);
	if (live)
		add_live_rows(&check, live);
}
