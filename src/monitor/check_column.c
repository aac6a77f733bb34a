/* SPDX-License-Identifier: PostgreSQL */
/*
 * check_column.c
 *		Check a key column of a segment: its dictionary, codes and order, and its bounds and flags in the directory.
 */
#include "monitor/check_parts.h"

#include "bits/key_hash.h"
#include "segment/dictionary.h"

/* ---------------------------------------------------------------- dictionary */

static int32
compare_to_previous(RtscanColumnCheck *column, uint64 value)
{
	if (column->type->key_kind != RTSCAN_KEY_NONE)
		return column->previous_key < value ? -1 : column->previous_key > value;
	return DatumGetInt32(FunctionCall2Coll(column->type->compare, column->type->collation,
										   column->previous, (Datum) value));
}

/*
 * Keep a value for the next comparison.  The value is copied if it is passed by reference, since the page of the
 * dictionary is released between visits.
 */
static void
keep_previous(RtscanColumnCheck *column, uint64 value)
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
	RtscanColumnCheck *column = (RtscanColumnCheck *) arg;

	if (code != column->visited)
		rtscan_fail_column(column, "the dictionary skips code", column->visited);
	if (first_rank != column->first_ranks[code] || end_rank <= first_rank)
		rtscan_fail_column(column, "the dictionary has wrong ranks of code", code);
	if (code > 0 && compare_to_previous(column, value) >= 0)
		rtscan_fail_column(column, "the dictionary does not ascend at code", code);
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

/* RtscanDictionaryVisitor: set column->previous and column->previous_key to the value. */
static void
keep_value(uint32 code, uint64 value, uint32 first_rank, uint32 end_rank, void *arg)
{
	keep_previous((RtscanColumnCheck *) arg, value);
}

/* Check that looking up the value of a code finds the code. */
static void
check_lookup(RtscanColumnCheck *column, uint32 code)
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
		rtscan_fail_column(column, "a lookup does not find code", code);
}

/* Check all dictionary entries in order, and then check that look-ups find about a thousand of them. */
static void
check_dictionary(RtscanColumnCheck *column)
{
	const RtscanColumnHeader *header = &column->column->header;

	column->first_ranks = rtscan_palloc0_huge((Size) header->distinct + 2, sizeof(uint32));
	if (column->check->fingerprints)
		column->hashes = rtscan_palloc0_huge((Size) header->distinct + 1, sizeof(uint64));
	rtscan_dictionary_visit(&column->check->reader, column->number, column->type, 0,
							header->distinct, check_value, column);
	if (column->visited != header->distinct)
		rtscan_fail_column(column, "the dictionary ends at code", column->visited);
	if (column->first_ranks[header->distinct] != header->nonnull)
		rtscan_fail_column(column, "the dictionary ends at rank", column->first_ranks[header->distinct]);
	column->first_ranks[header->distinct + 1] = column->check->rows;
	for (uint32 code = 0; code < header->distinct; code += Max(header->distinct / 1000, 1))
		check_lookup(column, code);
}

/* ---------------------------------------------------------------- codes and order */

/*
 * Compute the codes of a column in heap order, which stores no codes: its rows are its ranks, and the first ranks of
 * codes are known.
 */
static uint32 *
codes_from_ranks(const RtscanColumnCheck *column)
{
	uint32	   *codes = rtscan_palloc0_huge(column->check->rows, sizeof(uint32));
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
 * Return the rows sorted by code, and rows with the same code by number: the order that the column must have.  Raises
 * an error unless each code is as frequent as the dictionary's ranks tell.
 */
static uint32 *
sort_by_code(const RtscanColumnCheck *column, const uint32 *codes)
{
	uint32		codes_end = column->column->header.distinct + 1;
	uint32	   *next = rtscan_palloc0_huge((Size) codes_end + 1, sizeof(uint32));
	uint32	   *rows = rtscan_palloc0_huge(column->check->rows, sizeof(uint32));

	memcpy(next, column->first_ranks, (Size) codes_end * sizeof(uint32));
	for (uint32 row = 0; row < column->check->rows; row++)
	{
		if (codes[row] >= codes_end)
			rtscan_fail_column(column, "the dictionary does not have the code of row", row);
		if (next[codes[row]] >= column->first_ranks[codes[row] + 1])
			rtscan_fail_column(column, "more rows than the dictionary counts have the code of row", row);
		rows[next[codes[row]]++] = row;
	}
	pfree(next);
	return rows;
}

static void
check_order(RtscanColumnCheck *column, const uint32 *sorted)
{
	const RtscanArea *area = &column->column->header.order;
	uint32	   *order;

	if (area->pages == 0)
		return;
	order = rtscan_read_numbers(&column->check->reader, area, column->check->rows, 3);
	for (uint32 rank = 0; rank < column->check->rows; rank++)
		if (order[rank] != sorted[rank])
			rtscan_fail_column(column, "the order has the wrong row at rank", rank);
	pfree(order);
}

static void
add_fingerprints(RtscanColumnCheck *column, const uint32 *codes)
{
	uint64	   *fingerprints = column->check->fingerprints;
	uint32		null_code = column->distinct;

	if (fingerprints == NULL)
		return;
	for (uint32 row = 0; row < column->check->rows; row++)
		fingerprints[row] = rtscan_hash_add(fingerprints[row], codes[row] == null_code,
											column->hashes[codes[row]]);
}

/* ---------------------------------------------------------------- columns */

/*
 * Check the directory entry of the segment: its flags about NULLs and lost images in the column, and the column's
 * bounds if they are known.
 */
static void
check_directory_entry(const RtscanColumnCheck *column)
{
	const RtscanKeyBounds *bounds = &column->check->bounds[column->number];
	bool		empty = column->column->header.nonnull == 0;

	if (rtscan_entry_is_nonnull(column->check->entry, column->number) &&
		column->column->header.nonnull < column->check->rows)
		rtscan_fail_column(column, "the directory says that no row is NULL, but the number of NULLs is",
						   column->check->rows - column->column->header.nonnull);
	if (rtscan_entry_lost_no_image(column->check->entry) && !rtscan_lost_no_image(&column->column->header))
		rtscan_fail_column(column, "the directory says that no image is lost, but the column's flags say otherwise:",
						   column->column->header.flags);
	if (bounds->least == 0 && bounds->greatest == PG_UINT64_MAX)
		return;
	if (bounds->least != (empty ? PG_UINT64_MAX : column->first_key))
		rtscan_fail_column(column, "the directory has a wrong least key:", bounds->least);
	if (bounds->greatest != (empty ? 0 : column->last_key))
		rtscan_fail_column(column, "the directory has a wrong greatest key:", bounds->greatest);
}

void
rtscan_check_column(RtscanSegmentCheck *check, int number)
{
	RtscanColumnCheck column = {
		.check = check,
		.number = number,
		.type = &check->schema->columns[number],
		.column = &check->segment->columns[number],
	};
	const RtscanColumnHeader *header = &column.column->header;
	uint32	   *codes,
			   *sorted;

	if (rtscan_is_plain(header))
		codes = rtscan_check_plain_column(&column, &sorted);
	else
	{
		column.distinct = header->distinct;
		check_dictionary(&column);
		if (header->flags & RTSCAN_COLUMN_HEAP_ORDER)
			codes = codes_from_ranks(&column);
		else
			codes = rtscan_read_numbers(&check->reader, &header->codes, check->rows, header->code_bytes);
		sorted = sort_by_code(&column, codes);
		check_order(&column, sorted);
	}
	check_directory_entry(&column);
	if (rtscan_has_images(header))
		rtscan_check_images(&check->reader, check->schema, check->entry, number, codes);
	add_fingerprints(&column, codes);
	pfree(codes);
	rtscan_check_sieve(&column, sorted);
}
