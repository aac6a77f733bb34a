/* SPDX-License-Identifier: PostgreSQL */
/*
 * check_segment.c
 *		Check one segment.
 */
#include "monitor/check.h"

#include "bits/bits.h"
#include "bits/key_hash.h"
#include "bits/packed.h"
#include "miscadmin.h"
#include "segment/dictionary.h"
#include "segment/frames.h"
#include "segment/segment.h"
#include "segment/sieve.h"
#include "segment/tidmap.h"
#include "storage/dead.h"
#include "utils/memutils.h"

/* A check of a segment. */
typedef struct SegmentCheck
{
	Relation	index;
	const RtscanSchema *schema;
	const RtscanEntry *entry;
	const RtscanKeyBounds *bounds;	/* the directory's bounds, one for each key column */
	RtscanReader reader;		/* reads the segment's pages */
	const RtscanSegment *segment;
	uint32		rows;			/* number of rows */
	ItemPointerData *tids;		/* TIDs of the rows */
	uint64	   *fingerprints;	/* fingerprints of the rows; NULL if they are not needed */
	const RtscanHasher *hashers;	/* hashers of the columns, if there are fingerprints */
} SegmentCheck;

/* A check of a column of a segment. */
typedef struct ColumnCheck
{
	SegmentCheck *check;
	int			number;			/* index of the column */
	const RtscanColumn *type;	/* the column in the index's schema */
	const RtscanSegmentColumn *column;	/* the column in the segment */
	uint32		distinct;		/* number of distinct values; counted here for a plain column */
	uint32	   *first_ranks;	/* first rank of each code, of NULL, and the number of rows: distinct + 2 elements */
	uint64	   *hashes;			/* hash of each code's value, if there are fingerprints */
	uint32		visited;		/* number of codes that the dictionary has returned so far */
	uint64		first_key;		/* key of the first value, if the type has keys */
	uint64		last_key;		/* key of the last value, if the type has keys */
	Datum		previous;		/* last value that was visited */
	uint64		previous_key;	/* its key, if the type has keys */
	char	   *kept;			/* copy of the last value, if it is passed by reference */
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

/* Remember a value for the next comparison.  It is copied, since the dictionary's page is released between visits. */
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

/* RtscanDictionaryVisitor: check that codes, values and ranks ascend. */
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
	if (code == 0)
		column->first_key = value;
	column->last_key = value;
	keep_previous(column, value);
	column->first_ranks[code + 1] = end_rank;
	column->visited++;
	if (column->hashes)
		column->hashes[code] = column->type->key_kind != RTSCAN_KEY_NONE ? rtscan_hash_key(value)
			: rtscan_hash_value(&column->check->hashers[column->number], (Datum) value);
}

/* RtscanDictionaryVisitor: remember the value. */
static void
keep_value(uint32 code, uint64 value, uint32 first_rank, uint32 end_rank, void *arg)
{
	keep_previous((ColumnCheck *) arg, value);
}

/* Check that looking up the value of a code finds the code. */
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

/* Check all entries in order, and then that about a thousand of them can be looked up. */
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

/* Read an area of packed numbers into an array. */
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

/* Compute the codes of a column in heap order from the first ranks: it stores no codes, and rows are ranks. */
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
 * Sort the rows by code, equal ones by row.  Their codes must have the frequencies that the dictionary says.
 * The result is also what the order must be.
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
	uint32		null_code = column->distinct;

	if (fingerprints == NULL)
		return;
	for (uint32 row = 0; row < column->check->rows; row++)
		fingerprints[row] = rtscan_hash_add(fingerprints[row], codes[row] == null_code,
											column->hashes[codes[row]]);
}

/* ---------------------------------------------------------------- plain columns */

static uint64
plain_key(const ColumnCheck *column, int64 exact)
{
	Datum		value;

	rtscan_exact_decode(column->type->exact, &exact, 1, &value);
	return rtscan_key_encode(column->type->key_kind, value);
}

/* Read the values of a plain column by row, and set the bits of rows that are NULL. */
static int64 *
read_plain_values(const ColumnCheck *column, uint64 *nulls)
{
	const RtscanFrames *frames = &column->column->values.frames;
	int64	   *values = palloc0_huge((Size) column->check->segment->chunks * RTSCAN_CHUNK_ROWS, sizeof(int64));

	for (uint32 chunk = 0; chunk < column->check->segment->chunks; chunk++)
	{
		int64	   *part = values + (Size) chunk * RTSCAN_CHUNK_ROWS;

		CHECK_FOR_INTERRUPTS();
		rtscan_get_frame(&column->check->reader, frames, chunk, part);
		if (frames->frames[chunk].nulls > 0)
			rtscan_take_marker_bits(part, rtscan_chunk_rows(column->check->rows, chunk),
									rtscan_frame_marker(&frames->frames[chunk]),
									nulls + (Size) chunk * RTSCAN_CHUNK_WORDS);
	}
	return values;
}

/*
 * Check that the order has the rows sorted by their values, NULLs last, and equal ones by row, so that no row
 * occurs twice.  Returns codes as other columns have them, and sets first_ranks.
 */
static uint32 *
number_plain_values(ColumnCheck *column, const uint32 *order, const int64 *values, const uint64 *nulls)
{
	uint32		nonnull = column->column->header.nonnull;
	uint32	   *codes = palloc0_huge(column->check->rows, sizeof(uint32));

	for (uint32 rank = 0; rank < column->check->rows; rank++)
	{
		uint32		row = order[rank];
		uint32		last = rank > 0 ? order[rank - 1] : 0;
		bool		starts = rank == 0 || rank == nonnull || (rank < nonnull && values[row] != values[last]);

		if (row >= column->check->rows)
			fail_column(column, "wrong row at rank", rank);
		if (rtscan_bit_is_set(nulls, row) != (rank >= nonnull))
			fail_column(column, "wrong NULL at rank", rank);
		if (rank > 0 && (starts ? rank < nonnull && values[row] < values[last] : row <= last))
			fail_column(column, "wrong row at rank", rank);
		if (starts && rank < nonnull)
		{
			column->first_ranks[column->distinct] = rank;
			if (column->hashes)
				column->hashes[column->distinct] = rtscan_hash_key(plain_key(column, values[row]));
			column->distinct++;
		}
		codes[row] = rank < nonnull ? column->distinct - 1 : column->distinct;
	}
	column->first_ranks[column->distinct] = nonnull;
	column->first_ranks[column->distinct + 1] = column->check->rows;
	return codes;
}

/* A check of a plain column's sparse dictionary against its order and values. */
typedef struct SparseCheck
{
	ColumnCheck *column;
	const uint32 *order;
	const int64 *values;		/* its values, by row */
	uint32		end;			/* rank after the last entry that was visited */
} SparseCheck;

/* RtscanDictionaryVisitor: check an entry of a sparse dictionary. */
static void
check_sparse_value(uint32 code, uint64 value, uint32 first_rank, uint32 end_rank, void *arg)
{
	SparseCheck *sparse = (SparseCheck *) arg;
	ColumnCheck *column = sparse->column;
	uint32		code_at = first_rank < column->column->header.nonnull ?
		rtscan_last_not_above(column->first_ranks, column->distinct, first_rank) : 0;

	if (code != column->visited++ || first_rank != sparse->end || column->first_ranks[code_at] != first_rank ||
		value != plain_key(column, sparse->values[sparse->order[first_rank]]))
		fail_column(column, "wrong value in the dictionary at code", code);
	sparse->end = end_rank;
}

static void
check_plain_lookup(ColumnCheck *column, uint32 code, int64 exact)
{
	RtscanProbe probe = {
		.column = column->type,
		.has_key = true,
		.key = plain_key(column, exact),
	};
	RtscanPosition before,
				after;

	rtscan_dictionary_find(&column->check->reader, column->number, &probe, false, &before);
	rtscan_dictionary_find(&column->check->reader, column->number, &probe, true, &after);
	if (before.rank != column->first_ranks[code] || before.code != before.rank ||
		after.rank != column->first_ranks[code + 1] || after.code != after.rank)
		fail_column(column, "a lookup does not find code", code);
}

/* Check a plain column.  Returns its codes and its order. */
static uint32 *
check_plain(ColumnCheck *column, uint32 **order)
{
	const RtscanColumnHeader *header = &column->column->header;
	uint64	   *nulls = palloc0_huge((Size) column->check->segment->chunks * RTSCAN_CHUNK_WORDS, sizeof(uint64));
	int64	   *values = read_plain_values(column, nulls);
	SparseCheck sparse = {.column = column, .values = values};
	uint32	   *codes;

	rtscan_check_frames(&column->check->reader, column->check->entry, column->number, &column->column->values.frames);
	column->first_ranks = palloc0_huge((Size) header->nonnull + 2, sizeof(uint32));
	if (column->check->fingerprints)
		column->hashes = palloc0_huge((Size) header->nonnull + 1, sizeof(uint64));
	sparse.order = *order = read_packed(&column->check->reader, &header->order, column->check->rows, 3);
	codes = number_plain_values(column, *order, values, nulls);
	column->first_key = plain_key(column, values[(*order)[0]]);
	column->last_key = plain_key(column, values[(*order)[header->nonnull - 1]]);
	rtscan_dictionary_visit(&column->check->reader, column->number, column->type, 0, header->distinct,
							check_sparse_value, &sparse);
	if (sparse.end != header->nonnull)
		fail_column(column, "the dictionary ends at rank", sparse.end);
	for (uint32 code = 0; code < column->distinct; code += Max(column->distinct / 1000, 1))
		check_plain_lookup(column, code, values[(*order)[column->first_ranks[code]]]);
	pfree(values);
	pfree(nulls);
	return codes;
}

/* ---------------------------------------------------------------- sieve */

/* Compare a page of a vector, or its constant state, with the expected bits. */
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

/* Check that values begin at the boundaries, and that an exact column has a boundary for each value. */
static void
check_boundaries(ColumnCheck *column)
{
	const RtscanColumnHeader *header = &column->column->header;
	uint32		code = 0;

	for (uint32 i = 0; i <= header->bins; i++)
	{
		uint32		boundary = column->column->boundaries[i];

		while (code <= column->distinct && column->first_ranks[code] < boundary)
			code++;
		if (column->first_ranks[code] != boundary)
			fail_column(column, "no value begins at boundary", i);
	}
	if ((header->flags & RTSCAN_COLUMN_EXACT) &&
		header->bins != column->distinct + (header->nonnull < column->check->rows ? 1 : 0))
		fail_column(column, "an exact column has too few bins:", header->bins);
}

/* Check all vectors.  As in segment/sieve.c, the bits of each are made from those of the one before. */
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

/* Check what the directory says about NULLs and images, and its bounds if it has them. */
static void
check_entry(const ColumnCheck *column)
{
	const RtscanKeyBounds *bounds = &column->check->bounds[column->number];
	bool		empty = column->column->header.nonnull == 0;

	if (rtscan_entry_is_nonnull(column->check->entry, column->number) &&
		column->column->header.nonnull < column->check->rows)
		fail_column(column, "the directory says that no row is NULL, but there are:",
					column->check->rows - column->column->header.nonnull);
	if (rtscan_entry_lost_no_image(column->check->entry) && !rtscan_lost_no_image(&column->column->header))
		fail_column(column, "the directory says that no image is lost, but some are, by the column's flags:",
					column->column->header.flags);
	if (bounds->least == 0 && bounds->greatest == PG_UINT64_MAX)
		return;
	if (bounds->least != (empty ? PG_UINT64_MAX : column->first_key))
		fail_column(column, "the directory has another least key:", bounds->least);
	if (bounds->greatest != (empty ? 0 : column->last_key))
		fail_column(column, "the directory has another greatest key:", bounds->greatest);
}

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

	if (rtscan_is_plain(header))
		codes = check_plain(&column, &sorted);
	else
	{
		column.distinct = header->distinct;
		check_dictionary(&column);
		if (header->flags & RTSCAN_COLUMN_HEAP_ORDER)
			codes = codes_from_ranks(&column);
		else
			codes = read_packed(&check->reader, &header->codes, check->rows, header->code_bytes);
		sorted = sort_by_code(&column, codes);
		check_order(&column, sorted);
	}
	check_entry(&column);
	if (rtscan_has_images(header))
		rtscan_check_images(&check->reader, check->schema, check->entry, number, codes);
	add_fingerprints(&column, codes);
	pfree(codes);
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
		if (!rtscan_bit_is_set(dead, bit))
			rtscan_add_live_row(live, &check->tids[row], check->fingerprints[row]);
	}
}

/* Check the directory's range of heap blocks, if it has one. */
static void
check_blocks(SegmentCheck *check)
{
	const RtscanBlockRange *blocks = &check->entry->blocks;

	if (!rtscan_entry_has_blocks(check->entry))
		return;
	if (blocks->first != ItemPointerGetBlockNumber(&check->tids[0]))
		fail(check, "the directory has another first heap block:", blocks->first);
	if (blocks->last != ItemPointerGetBlockNumber(&check->tids[check->rows - 1]))
		fail(check, "the directory has another last heap block:", blocks->last);
}

/* Check the dead map's count of bits.  VACUUM may be setting more bits meanwhile. */
static void
check_dead_count(SegmentCheck *check)
{
	uint64		least = rtscan_dead_count(check->index, check->entry);
	uint64		set;

	if (check->entry->dead == InvalidBlockNumber)
		return;
	set = rtscan_dead_count_bits(check->index, check->entry);
	if (set < least || set > rtscan_dead_count(check->index, check->entry))
		fail(check, "the dead map does not say how many rows are dead:", set);
}

void
rtscan_check_segment(Relation index, const RtscanSchema *schema,
					 const RtscanEntry *entry, const RtscanKeyBounds *bounds, RtscanLiveRows *live)
{
	SegmentCheck check = {.index = index, .schema = schema, .entry = entry, .bounds = bounds};

	rtscan_reader_open(&check.reader, index, entry, false);
	check.reader.trusts = false;
	check.segment = check.reader.segment;
	check.rows = entry->rows;
	if (live)
	{
		check.fingerprints = palloc0_huge(check.rows, sizeof(uint64));
		check.hashers = rtscan_hashers(index, schema);
	}
	check_tids(&check);
	check_blocks(&check);
	check_dead_count(&check);
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
