/* SPDX-License-Identifier: PostgreSQL */
/*
 * columns.h
 *		Random columns on the device for tests, and the aggregates expected of them.
 */
#ifndef RTSCAN_DEVICE_TEST_COLUMNS_H
#define RTSCAN_DEVICE_TEST_COLUMNS_H

#include <stdlib.h>

#include "../cache.h"
#include "device_test.h"

#define MAX_CHUNKS		3
#define MAX_ROWS		(MAX_CHUNKS * DEVICE_CHUNK_ROWS)

/* A column of a segment. */
typedef struct Column
{
	Resident   *resident;
	uint64_t	shift;
	uint64_t   *numbers;		/* code of each row, or its distance from the least value */
	bool	   *isnull;
} Column;

static inline uint64_t
below(uint64_t n)
{
	return random64() % n;
}

/* Return a random number of at most nbits bits. */
static inline uint64_t
random_number(uint32_t nbits)
{
	return nbits == 0 ? 0 : random64() >> (64 - nbits);
}

/* Add a column to the cache, with memory that the host can access. */
static inline Resident *
add_resident(Cache *cache, const SegmentKey *segment, uint32_t column, const ColumnShape *shape)
{
	Resident   *resident = calloc(1, sizeof(Resident));

	resident->key = cache_column_key(segment, column, shape->form);
	resident->shape = *shape;
	resident->layout = device_column_layout(shape);
	if (!memory_on_host(cache->context, HOST_READS_AND_WRITES, resident->layout.size, 0, &resident->memory))
		fail("there is no memory for a column");
	memset(resident->memory.host, 0, resident->layout.size);
	cache_add(cache, resident);
	return resident;
}

static inline void
set_bits(char *place, uint64_t bit, uint32_t nbits, uint64_t element)
{
	for (uint32_t i = 0; i < nbits; i++, bit++)
		if (element >> i & 1)
			place[bit / 8] |= (char) (1 << bit % 8);
}

/* Make a column of random codes 0 .. null, where "null" is the code of NULL. */
static inline void
make_codes(Column *column, Cache *cache, const EvaluateSegment *segment, uint32_t number, uint32_t null)
{
	uint32_t	rows = segment->rows;
	uint32_t	bytes = null < 256 ? 1 : null < 65536 ? 2 : 3;
	ColumnShape shape = {.rows = rows, .nonnull = rows, .distinct = null, .code_bytes = bytes};

	column->resident = add_resident(cache, &segment->key, number, &shape);
	for (uint32_t row = 0; row < rows; row++)
	{
		column->numbers[row] = below((uint64_t) null + 1);
		set_bits(column->resident->memory.host + column->resident->layout.codes, (uint64_t) row * bytes * 8, bytes * 8,
				 column->numbers[row]);
	}
}

/* Return a random form of a measured column. */
static inline ColumnForm
random_form(void)
{
	return below(2) > 0 ? COLUMN_VALUES : COLUMN_INTEGERS;
}

/* Make a random frame, with a width that frames can have, whose distances are all below "limit". */
static inline ValueFrame
make_frame(uint64_t limit)
{
	static const uint32_t widths[] = {0, 1, 2, 4, 8, 16, 24, 32, 48, 56, 64};
	uint32_t	n = 0;
	ValueFrame	frame = {.null = UINT64_MAX};

	while (n < sizeof(widths) / sizeof(widths[0]) && (widths[n] < 64 ? UINT64_C(1) << widths[n] : UINT64_MAX) <= limit)
		n++;
	frame.bits = widths[below(n > 0 ? n : 1)];
	frame.above = below(limit - (frame.bits == 64 ? UINT64_MAX : UINT64_C(1) << frame.bits) + 1);
	if (frame.bits == 64 || below(2) > 0)
		frame.null = frame.bits == 0 ? 0 : UINT64_MAX >> (64 - frame.bits);
	return frame;
}

/*
 * Return a random limit for the integers of a digit's column.  Without their "dropped" lowest bits, some integers
 * may be greater than the digit's greatest number, "null".
 */
static inline uint64_t
digit_limit(uint32_t null, uint32_t dropped)
{
	static const uint32_t beyond[] = {0, 0, 0, 1, 9, 33};
	uint32_t	bits = dropped + beyond[below(sizeof(beyond) / sizeof(beyond[0]))];
	uint64_t	numbers = (uint64_t) null + (null == 0);

	return bits >= 63 || numbers > UINT64_C(1) << (63 - bits) ? UINT64_C(1) << 63 : numbers << bits;
}

/* Make a column of random values.  After the shift, their distances are below "limit". */
static inline void
make_values(Column *column, Cache *cache, const EvaluateSegment *segment, uint32_t number, ColumnForm form,
			uint64_t limit)
{
	uint32_t	chunks = device_chunks(segment->rows);
	ColumnShape shape = {.rows = segment->rows, .form = form};
	ValueFrame	frames[MAX_CHUNKS];

	column->shift = below(2) > 0 ? below(limit / 2 + 1) : 0;
	for (uint32_t chunk = 0; chunk < chunks; chunk++)
	{
		frames[chunk] = make_frame(limit - column->shift);
		frames[chunk].page = shape.element_pages;
		shape.element_pages += frames[chunk].bits;
	}
	shape.largest = limit - 1 - column->shift;
	column->resident = add_resident(cache, &segment->key, number, &shape);
	memcpy(column->resident->memory.host + column->resident->layout.frames, frames, chunks * sizeof(ValueFrame));
	for (uint32_t row = 0; row < shape.rows; row++)
	{
		const ValueFrame *frame = &frames[row / DEVICE_CHUNK_ROWS];
		uint64_t	element = below(9) == 0 && frame->null != UINT64_MAX ? frame->null : random_number(frame->bits);
		char	   *page = column->resident->memory.host + column->resident->layout.elements +
			(uint64_t) frame->page * DEVICE_CHUNK_BYTES;

		set_bits(page, (uint64_t) (row % DEVICE_CHUNK_ROWS) * frame->bits, frame->bits, element);
		column->isnull[row] = element == frame->null;
		column->numbers[row] = frame->above + element;
	}
}

static inline Column
new_column(void)
{
	return (Column) {.numbers = calloc(MAX_ROWS, sizeof(uint64_t)), .isnull = calloc(MAX_ROWS, sizeof(bool))};
}

static inline void
free_column(Column *column)
{
	free(column->numbers);
	free(column->isnull);
}

static inline void
measure_value(uint64_t *word, uint32_t kind, uint64_t distance)
{
	if (kind == AGG_COUNT)
		*word += 1;
	if (kind == AGG_SUM_LOWER)
		*word += distance & UINT32_MAX;
	if (kind == AGG_SUM_UPPER)
		*word += distance >> 32;
	if (kind == AGG_GREATEST && distance > *word)
		*word = distance;
	if (kind == AGG_LEAST && ~distance > *word)
		*word = ~distance;
}

/*
 * Return the number of words expected of a segment's own aggregate, which are ordered by measure and cell: [1 +
 * measures][cells].
 */
static inline uint64_t
expected_words_of(const EvaluateSegment *segment)
{
	return segment->joins ? 0 : segment->cells * (1 + segment->measures);
}

/* Return a random number of entries that an aggregate has room for: as many as cells, or fewer. */
static inline uint32_t
random_room(uint32_t cells)
{
	return below(2) > 0 ? cells : 1 + (uint32_t) below(cells);
}

/*
 * Check that an aggregate's entries are the cells expected to have rows, in any order.  If there is not enough room
 * for them, the number of entries in the answer must exceed the room.
 */
static inline bool
has_expected_entries(const EvaluateSegment *segment, const uint64_t *answer, const uint64_t *expected)
{
	uint64_t	n = 0;
	bool	   *seen = calloc(segment->cells, sizeof(bool));
	bool		right = true;

	for (uint64_t cell = 0; cell < segment->cells; cell++)
		n += expected[cell] > 0;
	if (n > segment->entries || *answer != n)
		right = n > segment->entries && *answer > segment->entries;
	else
		for (const uint64_t *entry = answer + 1; n > 0 && right; n--, entry += 2 + segment->measures)
		{
			right = *entry < segment->cells && !seen[*entry];
			for (uint32_t m = 0; m <= segment->measures && right; m++)
				right = entry[1 + m] == expected[m * segment->cells + *entry];
			if (right)
				seen[*entry] = true;
		}
	free(seen);
	return right;
}

#endif							/* RTSCAN_DEVICE_TEST_COLUMNS_H */
