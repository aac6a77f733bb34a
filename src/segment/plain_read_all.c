/* SPDX-License-Identifier: PostgreSQL */
/*
 * plain_read_all.c
 *		Read a whole plain column: the keys or the codes of all rows.
 */
#include "segment/plain.h"

#include "miscadmin.h"
#include "segment/frames.h"

/* Values that are decoded at a time. */
#define VALUES_AT_ONCE	1024

/* The distance of prefetching in rtscan_plain_codes(), in ranks. */
#define CODES_AHEAD		32

/* ---------------------------------------------------------------- keys */

/* Call a visitor for the keys of a chunk. */
static void
visit_keys_of_chunk(const RtscanColumn *type, RtscanExactKind kind, const int64 *exact, uint32 first_row, uint32 rows,
					RtscanValuesVisitor visitor, void *arg)
{
	Datum		values[VALUES_AT_ONCE];
	uint64		keys[VALUES_AT_ONCE];

	for (uint32 first = 0; first < rows; first += VALUES_AT_ONCE)
	{
		uint32		n = Min(rows - first, VALUES_AT_ONCE);

		rtscan_exact_decode(kind, exact + first, n, values);
		rtscan_key_encode_all(type->key_kind, values, n, keys);
		visitor(first_row + first, n, keys, arg);
	}
}

void
rtscan_plain_visit_keys(RtscanReader *reader, int column, const RtscanColumn *type, RtscanValuesVisitor visitor,
						void *arg)
{
	const RtscanSegmentInclude *values = &reader->segment->columns[column].values;
	int64	   *exact = palloc(RTSCAN_CHUNK_ROWS * sizeof(int64));

	for (uint32 chunk = 0; chunk < reader->segment->chunks; chunk++)
	{
		CHECK_FOR_INTERRUPTS();
		rtscan_get_frame(reader, &values->frames, chunk, exact);
		visit_keys_of_chunk(type, values->header.exact, exact, chunk * RTSCAN_CHUNK_ROWS,
							rtscan_chunk_rows(reader->segment->header.rows, chunk), visitor, arg);
	}
	pfree(exact);
}

/* ---------------------------------------------------------------- codes */

/* Return the exact integers of all rows; those of NULLs are undefined. */
static int64 *
read_values(RtscanReader *reader, const RtscanFrames *frames)
{
	int64	   *values = palloc_extended((Size) reader->segment->chunks * RTSCAN_CHUNK_ROWS * sizeof(int64),
										 MCXT_ALLOC_HUGE);

	for (uint32 chunk = 0; chunk < reader->segment->chunks; chunk++)
	{
		CHECK_FOR_INTERRUPTS();
		rtscan_get_frame(reader, frames, chunk, values + (Size) chunk * RTSCAN_CHUNK_ROWS);
	}
	return values;
}

/* Read the n row numbers on a page of the order.  Returns false if one of them is too large for the segment. */
static bool
read_order(RtscanReader *reader, const RtscanArea *order, uint32 page, uint32 n, uint32 *rows)
{
	Buffer		buffer;
	const char *payload = rtscan_get_page(reader, order, page, &buffer, NULL);
	uint32		largest = 0;

	for (uint32 i = 0; i < n; i++)
	{
		rows[i] = rtscan_load_packed(payload + (Size) i * 3, 3);
		largest = Max(largest, rows[i]);
	}
	rtscan_release(reader, buffer);
	return largest < reader->segment->header.rows;
}

uint32 *
rtscan_plain_codes(RtscanReader *reader, int column)
{
	const RtscanSegmentColumn *stored = &reader->segment->columns[column];
	uint32		nrows = reader->segment->header.rows;
	uint32		per_page = rtscan_per_page(3);
	uint32	   *rows = palloc((per_page + CODES_AHEAD) * sizeof(uint32));
	int64	   *values = read_values(reader, &stored->values.frames);
	uint32	   *codes = palloc_extended((Size) nrows * sizeof(uint32), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	uint32		code = 0;
	int64		last = 0;

	for (uint32 first = 0; first < nrows; first += per_page)
	{
		uint32		n = Min(nrows - first, per_page);

		CHECK_FOR_INTERRUPTS();
		if (!read_order(reader, &stored->header.order, first / per_page, n, rows))
			rtscan_fault(reader, &stored->header.order, first / per_page, "A row number is too large.");
		memset(rows + n, 0, CODES_AHEAD * sizeof(uint32));
		for (uint32 i = 0; i < n; i++)
		{
			uint32		rank = first + i;
			int64		value = values[rows[i]];

			__builtin_prefetch(&values[rows[i + CODES_AHEAD]]);
			__builtin_prefetch(&codes[rows[i + CODES_AHEAD]], 1);
			if (rank == 0 || rank == stored->header.nonnull || (rank < stored->header.nonnull && value != last))
				code = rank;
			last = value;
			codes[rows[i]] = code;
		}
	}
	pfree(values);
	pfree(rows);
	return codes;
}
