/* SPDX-License-Identifier: PostgreSQL */
/*
 * check_sieve.c
 *		Check a column's sieve vectors against its boundaries and the order of the rows.
 */
#include "monitor/check_parts.h"

#include "bits/bits.h"
#include "miscadmin.h"
#include "segment/sieve.h"

/* Compare a vector's bits for a chunk with the expected bits.  Bits that are not all equal are a stored page. */
static void
check_vector_page(RtscanColumnCheck *column, uint32 vector, uint32 chunk, const uint64 *expected)
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
		rtscan_fail_column(column, "there are wrong bits in vector", vector);
}

static void
check_vector(RtscanColumnCheck *column, uint32 vector, const uint64 *bits)
{
	CHECK_FOR_INTERRUPTS();
	for (uint32 chunk = 0; chunk < column->check->segment->chunks; chunk++)
		check_vector_page(column, vector, chunk, bits + (Size) chunk * RTSCAN_CHUNK_WORDS);
}

static void
set_bin(const RtscanColumnCheck *column, const uint32 *sorted, uint32 bin, uint64 *bits)
{
	if (bin < column->column->header.bins)
		for (uint32 rank = column->column->boundaries[bin]; rank < column->column->boundaries[bin + 1]; rank++)
			bits[sorted[rank] / 64] |= UINT64CONST(1) << (sorted[rank] % 64);
}

/*
 * Check that each boundary is the first rank of a value or of NULL, or the number of rows.  Also check that a column
 * with the flag RTSCAN_COLUMN_EXACT has a bin for each value, and one for NULL if a row has NULL.
 */
static void
check_boundaries(RtscanColumnCheck *column)
{
	const RtscanColumnHeader *header = &column->column->header;
	uint32		code = 0;

	for (uint32 i = 0; i <= header->bins; i++)
	{
		uint32		boundary = column->column->boundaries[i];

		while (code <= column->distinct && column->first_ranks[code] < boundary)
			code++;
		if (column->first_ranks[code] != boundary)
			rtscan_fail_column(column, "no value begins at boundary", i);
	}
	if ((header->flags & RTSCAN_COLUMN_EXACT) &&
		header->bins != column->distinct + (header->nonnull < column->check->rows ? 1 : 0))
		rtscan_fail_column(column, "an exact column has a wrong number of bins:", header->bins);
}

/* Check all vectors.  The bits of each vector are made from those of the vector before, as in segment/sieve.c. */
void
rtscan_check_sieve(RtscanColumnCheck *column, const uint32 *sorted)
{
	const RtscanColumnHeader *header = &column->column->header;
	Size		bytes = (Size) column->check->segment->chunks * RTSCAN_CHUNK_BYTES;
	uint64	   *bits;

	if (header->bins == 0)
		return;
	check_boundaries(column);
	bits = rtscan_palloc0_huge(bytes, 1);
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
