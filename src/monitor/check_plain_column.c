/* SPDX-License-Identifier: PostgreSQL */
/*
 * check_plain_column.c
 *		Check a plain column of a segment: its values, order and sparse dictionary.
 */
#include "monitor/check_parts.h"

#include "bits/bits.h"
#include "bits/key_hash.h"
#include "bits/packed.h"
#include "miscadmin.h"
#include "segment/dictionary.h"
#include "segment/frames.h"

/* ---------------------------------------------------------------- values and order */

static uint64
plain_key(const RtscanColumnCheck *column, int64 exact)
{
	Datum		value;

	rtscan_exact_decode(column->type->exact, &exact, 1, &value);
	return rtscan_key_encode(column->type->key_kind, value);
}

/* Return the values of a plain column by row, and set the bits in "nulls" of rows that are NULL. */
static int64 *
read_plain_values(const RtscanColumnCheck *column, uint64 *nulls)
{
	const RtscanFrames *frames = &column->column->values.frames;
	int64	   *values = rtscan_palloc0_huge((Size) column->check->segment->chunks * RTSCAN_CHUNK_ROWS, sizeof(int64));

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
 * Check that the order has the rows sorted by value, NULLs last, and rows with equal values by number, so that no row
 * occurs twice.  Returns the code of each row, numbered as in columns that store codes.  Sets first_ranks, hashes and
 * distinct.
 */
static uint32 *
number_plain_values(RtscanColumnCheck *column, const uint32 *order, const int64 *values, const uint64 *nulls)
{
	uint32		nonnull = column->column->header.nonnull;
	uint32	   *codes = rtscan_palloc0_huge(column->check->rows, sizeof(uint32));

	for (uint32 rank = 0; rank < column->check->rows; rank++)
	{
		uint32		row = order[rank];
		uint32		last = rank > 0 ? order[rank - 1] : 0;
		bool		starts = rank == 0 || rank == nonnull || (rank < nonnull && values[row] != values[last]);

		if (row >= column->check->rows)
			rtscan_fail_column(column, "the order has the wrong row at rank", rank);
		if (rtscan_bit_is_set(nulls, row) != (rank >= nonnull))
			rtscan_fail_column(column, "NULLs are not last in the order, at rank", rank);
		if (rank > 0 && (starts ? rank < nonnull && values[row] < values[last] : row <= last))
			rtscan_fail_column(column, "the order has the wrong row at rank", rank);
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
	RtscanColumnCheck *column;
	const uint32 *order;
	const int64 *values;		/* values of the column, by row */
	uint32		end;			/* rank after the last rank of the last entry that was visited */
} SparseCheck;

/* RtscanDictionaryVisitor: check an entry of a sparse dictionary. */
static void
check_sparse_value(uint32 code, uint64 value, uint32 first_rank, uint32 end_rank, void *arg)
{
	SparseCheck *sparse = (SparseCheck *) arg;
	RtscanColumnCheck *column = sparse->column;
	uint32		code_at = first_rank < column->column->header.nonnull ?
		rtscan_last_not_above(column->first_ranks, column->distinct, first_rank) : 0;

	if (code != column->visited++ || first_rank != sparse->end || column->first_ranks[code_at] != first_rank ||
		value != plain_key(column, sparse->values[sparse->order[first_rank]]))
		rtscan_fail_column(column, "the dictionary has a wrong value at code", code);
	sparse->end = end_rank;
}

static void
check_plain_lookup(RtscanColumnCheck *column, uint32 code, int64 exact)
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
		rtscan_fail_column(column, "a lookup does not find code", code);
}

/* Check a plain column.  Returns its codes and its order. */
uint32 *
rtscan_check_plain_column(RtscanColumnCheck *column, uint32 **order)
{
	const RtscanColumnHeader *header = &column->column->header;
	uint64	   *nulls = rtscan_palloc0_huge((Size) column->check->segment->chunks * RTSCAN_CHUNK_WORDS, sizeof(uint64));
	int64	   *values = read_plain_values(column, nulls);
	SparseCheck sparse = {.column = column, .values = values};
	uint32	   *codes;

	rtscan_check_frames(&column->check->reader, column->check->entry, column->number, &column->column->values.frames);
	column->first_ranks = rtscan_palloc0_huge((Size) header->nonnull + 2, sizeof(uint32));
	if (column->check->fingerprints)
		column->hashes = rtscan_palloc0_huge((Size) header->nonnull + 1, sizeof(uint64));
	sparse.order = *order = rtscan_read_numbers(&column->check->reader, &header->order, column->check->rows, 3);
	codes = number_plain_values(column, *order, values, nulls);
	column->first_key = plain_key(column, values[(*order)[0]]);
	column->last_key = plain_key(column, values[(*order)[header->nonnull - 1]]);
	rtscan_dictionary_visit(&column->check->reader, column->number, column->type, 0, header->distinct,
							check_sparse_value, &sparse);
	if (sparse.end != header->nonnull)
		rtscan_fail_column(column, "the dictionary ends at rank", sparse.end);
	for (uint32 code = 0; code < column->distinct; code += Max(column->distinct / 1000, 1))
		check_plain_lookup(column, code, values[(*order)[column->first_ranks[code]]]);
	pfree(values);
	pfree(nulls);
	return codes;
}
