/* SPDX-License-Identifier: PostgreSQL */
/*
 * sieve.c
 *		Choose the boundaries of a sieve, and write its vectors.
 */
#include "segment/sieve.h"

#include "miscadmin.h"
#include "segment/device_hooks.h"

/* ---------------------------------------------------------------- boundaries */

/* The boundaries of a sieve that is being written. */
typedef struct Boundaries
{
	uint32		bins;			/* number of bins */
	uint32	   *ranks;			/* bins + 1 boundaries */
} Boundaries;

/* Return the first rank, from "rank" on, where a value begins; nonnull if there is none. */
static uint32
next_start(const RtscanSortedColumn *column, uint32 rank)
{
	while (rank < column->nonnull && !rtscan_starts_value(column, rank))
	{
		if (rank % 64 == 0 && column->starts[rank / 64] == 0)
			rank += 64;
		else
			rank++;
	}
	return Min(rank, column->nonnull);
}

/* Return the last rank, up to "rank" and above "floor", where a value begins; floor if there is none. */
static uint32
previous_start(const RtscanSortedColumn *column, uint32 rank, uint32 floor)
{
	while (rank > floor && !rtscan_starts_value(column, rank))
		rank--;
	return rank;
}

/* Return the rank above "floor" that is nearest to "target" and begins a value.  The rank "nonnull" counts, too. */
static uint32
nearest_start(const RtscanSortedColumn *column, uint32 target, uint32 floor)
{
	uint32		above = next_start(column, target);
	uint32		below = previous_start(column, target, floor);

	return below > floor && target - below <= above - target ? below : above;
}

/* Give each value a bin of its own. */
static void
exact_boundaries(const RtscanSortedColumn *column, Boundaries *boundaries)
{
	for (uint32 rank = 1; rank < column->nonnull; rank++)
		if (rtscan_starts_value(column, rank))
			boundaries->ranks[++boundaries->bins] = rank;
}

/*
 * Choose bins of equal depth.  A frequent value fills a bin of its own, although it has enough rows for several bins.
 * The bins that this saves are spread over the ranks behind the value.
 */
static void
equal_depth_boundaries(const RtscanSortedColumn *column, uint32 max_bins, Boundaries *boundaries)
{
	uint32		at = 0;

	for (uint32 left = max_bins; left > 1; left--)
	{
		uint32		step = Max((column->nonnull - at) / left, 1);

		at = nearest_start(column, at + step, at);
		if (at >= column->nonnull)
			break;
		boundaries->ranks[++boundaries->bins] = at;
	}
}

static Boundaries
choose_boundaries(const RtscanSortedColumn *column, uint32 max_bins, bool *exact)
{
	Boundaries	boundaries = {0, palloc((max_bins + 1) * sizeof(uint32))};
	bool		has_nulls = column->nonnull < column->rows;
	uint32		for_values = max_bins - (has_nulls ? 1 : 0);

	boundaries.ranks[0] = 0;
	*exact = column->distinct <= for_values;
	if (*exact)
		exact_boundaries(column, &boundaries);
	else
		equal_depth_boundaries(column, for_values, &boundaries);
	if (column->nonnull > 0)
		boundaries.ranks[++boundaries.bins] = column->nonnull;
	if (has_nulls)
		boundaries.ranks[++boundaries.bins] = column->rows;
	return boundaries;
}

/* Return the radix that makes both components about equally large; 1 for one component. */
static uint32
choose_radix(uint32 bins, int components)
{
	uint32		radix = 1;

	while (components == 2 && radix * radix < bins)
		radix++;
	return radix;
}

/* ---------------------------------------------------------------- vectors */

/* The vectors of a sieve that are being written. */
typedef struct VectorWriter
{
	RtscanAreaWriter *areas;	/* receives the pages */
	const RtscanSortedColumn *column;
	const Boundaries *boundaries;
	const RtscanColumnHeader *header;
	uint32		chunks;
	uint64	   *bits;			/* bits of the current vector for all rows of the segment, if the CPU makes the
								 * vectors */
	uint8	   *states;			/* RtscanVectorState of each page, two bits each */
	uint32		pages;			/* number of pages whose states are set */
} VectorWriter;

/* Are the first n bits of "words" all equal? */
static bool
is_constant(const uint64 *words, uint32 n)
{
	uint64		expected = (words[0] & 1) ? ~UINT64CONST(0) : 0;

	for (uint32 w = 0; w < n / 64; w++)
		if (words[w] != expected)
			return false;
	return n % 64 == 0 || ((words[n / 64] ^ expected) << (64 - n % 64)) == 0;
}

/* Write a vector's bits of one chunk, unless they are constant, and store the state of this page. */
static void
write_chunk(VectorWriter *writer, const uint64 *words, uint32 chunk)
{
	uint32		rows = Min(writer->column->rows - chunk * RTSCAN_CHUNK_ROWS, RTSCAN_CHUNK_ROWS);
	RtscanVectorState state = RTSCAN_VECTOR_STORED;
	uint32		page = writer->pages++;

	if (is_constant(words, rows))
		state = (words[0] & 1) ? RTSCAN_VECTOR_ONES : RTSCAN_VECTOR_ZEROS;
	else
	{
		memcpy(rtscan_area_room(writer->areas), words, RTSCAN_CHUNK_BYTES);
		rtscan_area_used(writer->areas, RTSCAN_CHUNK_BYTES);
	}
	writer->states[page / 4] |= state << (page % 4 * 2);
}

static void
write_vector(VectorWriter *writer, const uint64 *bits)
{
	CHECK_FOR_INTERRUPTS();
	for (uint32 chunk = 0; chunk < writer->chunks; chunk++)
		write_chunk(writer, bits + (Size) chunk * RTSCAN_CHUNK_WORDS, chunk);
}

/* Set the bits of the rows in a bin. */
static void
set_bin(VectorWriter *writer, uint32 bin)
{
	const uint32 *order = writer->column->order;

	if (bin >= writer->boundaries->bins)
		return;
	for (uint32 rank = writer->boundaries->ranks[bin]; rank < writer->boundaries->ranks[bin + 1]; rank++)
		writer->bits[order[rank] / 64] |= UINT64CONST(1) << (order[rank] % 64);
}

/*
 * Write H_1, H_2, ... (sieve.h).  Each vector has the rows of the vector before, and the rows of the next "radix"
 * bins.
 */
static void
write_high_vectors(VectorWriter *writer)
{
	uint32		bins = writer->boundaries->bins;

	for (uint32 bin = 0; bin + writer->header->radix < bins; bin += writer->header->radix)
	{
		for (uint32 low = 0; low < writer->header->radix; low++)
			set_bin(writer, bin + low);
		write_vector(writer, writer->bits);
	}
}

/*
 * Write L_1, L_2, ... (sieve.h).  Each vector has the rows of the vector before, and the rows of every radix-th bin
 * from "low" on.
 */
static void
write_low_vectors(VectorWriter *writer)
{
	memset(writer->bits, 0, (Size) writer->chunks * RTSCAN_CHUNK_BYTES);
	for (uint32 low = 0; low + 1 < writer->header->radix; low++)
	{
		for (uint32 bin = low; bin < writer->boundaries->bins; bin += writer->header->radix)
			set_bin(writer, bin);
		write_vector(writer, writer->bits);
	}
}

static void
write_vectors_of_cpu(VectorWriter *writer)
{
	writer->bits = palloc0((Size) writer->chunks * RTSCAN_CHUNK_BYTES);
	write_high_vectors(writer);
	write_low_vectors(writer);
	pfree(writer->bits);
}

/* Have a device make the vectors, and write them.  Returns false if the device refuses. */
static bool
write_vectors_of_device(VectorWriter *writer)
{
	uint64	   *bits = rtscan_device_hooks.make_vectors(writer->header, writer->boundaries->ranks,
														writer->column->order, writer->column->rows);

	if (bits == NULL)
		return false;
	for (uint32 vector = 0; vector < writer->header->vectors; vector++)
		write_vector(writer, bits + (Size) vector * writer->chunks * RTSCAN_CHUNK_WORDS);
	pfree(bits);
	return true;
}

/* ---------------------------------------------------------------- the sieve */

void
rtscan_write_sieve(RtscanAreaWriter *areas, const RtscanSortedColumn *column,
				   int max_bins, int components,
				   RtscanColumnHeader *header, StringInfo descriptor)
{
	bool		exact;
	Boundaries	boundaries = choose_boundaries(column, max_bins, &exact);
	VectorWriter writer = {
		.areas = areas,
		.column = column,
		.boundaries = &boundaries,
		.header = header,
		.chunks = rtscan_chunks(column->rows),
	};

	header->bins = boundaries.bins;
	header->radix = choose_radix(boundaries.bins, components);
	header->vectors = rtscan_high_count(header) - 1 + header->radix - 1;
	if (exact)
		header->flags |= RTSCAN_COLUMN_EXACT;

	writer.states = palloc0(header->vectors * writer.chunks / 4 + 1);
	rtscan_area_begin(areas, RTSCAN_PAGE_SIEVE);
	if (!write_vectors_of_device(&writer))
		write_vectors_of_cpu(&writer);
	header->sieve = rtscan_area_end(areas);
	Assert(writer.pages == header->vectors * writer.chunks);

	rtscan_append_part(descriptor, boundaries.ranks, (boundaries.bins + 1) * sizeof(uint32));
	rtscan_append_part(descriptor, writer.states, (writer.pages + 3) / 4);
	pfree(boundaries.ranks);
	pfree(writer.states);
}
