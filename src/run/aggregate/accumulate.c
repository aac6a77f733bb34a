/* SPDX-License-Identifier: PostgreSQL */
/*
 * accumulate.c
 *		Compute a count, or the minimum or maximum of a key column, from row bits and from single rows.
 */
#include "run/aggregate/accumulate.h"

#include "bits/bits.h"
#include "bits/gather.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "segment/dictionary.h"
#include "segment/frames.h"
#include "segment/values.h"
#include "utils/datum.h"
#include "utils/memutils.h"

/* ---------------------------------------------------------------- minimum, maximum */

static void
add_candidate(RtscanAccumulator *accumulator, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(accumulator->context);

	if (accumulator->ncandidates == accumulator->capacity)
	{
		accumulator->capacity = accumulator->capacity == 0 ? 16 : 2 * accumulator->capacity;
		accumulator->candidates = accumulator->ncandidates == 0 ?
			palloc(accumulator->capacity * sizeof(Datum)) :
			repalloc(accumulator->candidates, accumulator->capacity * sizeof(Datum));
	}
	accumulator->candidates[accumulator->ncandidates++] =
		datumCopy(value, accumulator->type->typbyval, accumulator->type->typlen);
	MemoryContextSwitchTo(old);
}

/* The search for the smallest or largest value that some rows of a segment have in a column. */
typedef struct Outermost
{
	RtscanReader *reader;
	const RtscanColumnHeader *header;	/* header of the column */
	const RtscanRowBits *bits;	/* bits of the rows, all of which have a value in the column */
	uint64		count;			/* number of rows */
	bool		last;			/* search for the largest value; false: for the smallest */
	RtscanPosition low;			/* lower bound that WHERE sets for the column: no row's value is below */
	RtscanPosition high;		/* upper bound that WHERE sets for the column: all rows' values are below */
} Outermost;

/*
 * Before all rows are scanned, rows are tried in the order of their values: from the first rank up, or for a maximum
 * from the last rank down.  About MAX_RANKS ranks are tried at most (whole pages), and RANKS_A_ROW * (number of rows
 * whose bits are set) + RANKS_OF_BITS.  RANKS_OF_BITS allows for the words of bits, which a scan reads even if few bits
 * are set.  With this limit, trying ranks takes no longer than about the time of a scan.
 */
#define MAX_RANKS		65536
#define RANKS_A_ROW		4
#define RANKS_OF_BITS	4096

/* If fewer than one in DENSE bits of a chunk are set, only the values of the rows whose bits are set are read. */
#define DENSE			12

/* Number of values that scan_few_values() reads together. */
#define FEW_ROWS		1024

/* Return the first row whose bit is set; the last one if "last" is true. */
static uint32
outermost_row(const RtscanRowBits *bits, bool last)
{
	for (uint32 i = 0; i < bits->chunks; i++)
	{
		uint32		chunk = last ? bits->chunks - 1 - i : i;
		const uint64 *words = rtscan_bits_chunk(bits, chunk);

		for (uint32 j = 0; j < RTSCAN_CHUNK_WORDS && bits->filled[chunk]; j++)
		{
			uint32		w = last ? RTSCAN_CHUNK_WORDS - 1 - j : j;

			if (words[w] != 0)
				return chunk * RTSCAN_CHUNK_ROWS + w * 64 +
					(last ? pg_leftmost_one_pos64(words[w]) : pg_rightmost_one_pos64(words[w]));
		}
	}
	elog(ERROR, "the bits of a segment have no row");
}

static bool
row_is_set(const RtscanRowBits *bits, uint32 row)
{
	uint32		chunk = row / RTSCAN_CHUNK_ROWS;
	uint32		bit = row % RTSCAN_CHUNK_ROWS;

	return chunk < bits->chunks && bits->filled[chunk] && rtscan_bit_is_set(rtscan_bits_chunk(bits, chunk), bit);
}

/*
 * Find the first rank in "first" .. "end" - 1 whose row's bit is set; the last one if outermost->last is true.  Set
 * *row to the row of this rank.  Return false if none of these ranks has a row whose bit is set.  All ranks from
 * "first" to "end" - 1 must be on the page "page" of the column's order.
 */
static bool
walk_page(const Outermost *outermost, uint32 page, uint32 first, uint32 end, uint32 *row)
{
	uint32		base = page * rtscan_per_page(3);
	Buffer		buffer;
	const char *payload = rtscan_get_page(outermost->reader, &outermost->header->order, page, &buffer, NULL);
	bool		found = false;

	for (uint32 i = 0; i < end - first && !found; i++)
	{
		*row = rtscan_load_packed(payload + ((outermost->last ? end - 1 - i : first + i) - base) * 3, 3);
		found = row_is_set(outermost->bits, *row);
	}
	rtscan_release(outermost->reader, buffer);
	return found;
}

/*
 * Find the row with the smallest or largest value by trying rows in the order of their values.  Return false if no row
 * is found within the limit of ranks (see MAX_RANKS).  Also return false, without trying, if no row is to be expected
 * within the limit, assuming that the rows are spread evenly over the ranks that WHERE allows.
 */
static bool
walk_order(const Outermost *outermost, uint32 *row)
{
	uint32		per_page = rtscan_per_page(3);
	uint32		first = outermost->low.rank,
				end = outermost->high.rank;
	uint64		most = Min(MAX_RANKS, RANKS_A_ROW * outermost->count + RANKS_OF_BITS);

	if ((end - first) / outermost->count > most)
		return false;
	for (uint32 tried = 0; tried < most && first < end;)
	{
		uint32		page = (outermost->last ? end - 1 : first) / per_page;
		uint32		from = Max(first, page * per_page);
		uint32		to = Min(end, (page + 1) * per_page);

		if (walk_page(outermost, page, from, to, row))
			return true;
		tried += to - from;
		if (outermost->last)
			end = from;
		else
			first = to;
	}
	return false;
}

/* The smallest or largest value so far. */
typedef struct Found
{
	bool		any;			/* has a value been found? */
	int64		number;			/* code or exact integer of the value */
	uint32		row;			/* a row that has the value */
} Found;

/*
 * Update *found with the codes of a page: it has n rows, from row "first" on.  "words" has the bits of these rows; rows
 * whose bits are not set are skipped.
 */
static void
scan_codes(const Outermost *outermost, uint32 page, const uint64 *words, uint32 first, uint32 n, Found *found)
{
	uint32		bytes = outermost->header->code_bytes;
	Buffer		buffer;
	const char *payload = rtscan_get_page(outermost->reader, &outermost->header->codes, page, &buffer, NULL);
	Found		best = *found;

	for (uint32 base = 0; base < n; base += 64)
		for (uint64 rest = words[base / 64]; rest != 0; rest &= rest - 1)
		{
			uint32		place = base + pg_rightmost_one_pos64(rest);
			uint32		code = rtscan_load_packed(payload + place * bytes, bytes);

			if (!best.any || (outermost->last ? code > best.number : code < best.number))
				best = (Found) {true, code, first + place};
		}
	rtscan_release(outermost->reader, buffer);
	*found = best;
}

/*
 * Return a row with the least (or greatest) code, by scanning the codes of all rows whose bits are set.  The scan ends
 * early at the least (or greatest) code that WHERE allows.  A page has codes of only one chunk, so that the bits of its
 * rows are consecutive words.
 */
static uint32
scan_all_codes(const Outermost *outermost)
{
	uint32		per_page = rtscan_per_page(outermost->header->code_bytes);
	uint32		rows = outermost->reader->segment->header.rows;
	uint32		limit = outermost->last ? outermost->high.code - 1 : outermost->low.code;
	Found		found = {0};

	for (uint32 page = 0; page < outermost->header->codes.pages && !(found.any && found.number == limit); page++)
	{
		uint32		first = page * per_page;
		uint32		chunk = first / RTSCAN_CHUNK_ROWS;

		CHECK_FOR_INTERRUPTS();
		if (outermost->bits->filled[chunk])
			scan_codes(outermost, page, rtscan_bits_chunk(outermost->bits, chunk) + first % RTSCAN_CHUNK_ROWS / 64,
					   first, Min(rows - first, per_page), &found);
	}
	return found.row;
}

/* ---------------------------------------------------------------- plain columns */

static inline void
look_at_value(const Outermost *outermost, int64 value, uint32 row, Found *best)
{
	if (!best->any || (outermost->last ? value > best->number : value < best->number))
		*best = (Found) {true, value, row};
}

/*
 * Update *found with the rows of a chunk whose bits are set.  The values of all rows of the chunk are read into
 * values[], which has space for a chunk.
 */
static void
scan_values(const Outermost *outermost, const RtscanFrames *frames, const uint64 *words, uint32 chunk, int64 *values,
			Found *found)
{
	Found		best = *found;

	rtscan_get_frame(outermost->reader, frames, chunk, values);
	for (uint32 base = 0; base < RTSCAN_CHUNK_ROWS; base += 64)
		for (uint64 rest = words[base / 64]; rest != 0; rest &= rest - 1)
		{
			uint32		place = base + pg_rightmost_one_pos64(rest);

			look_at_value(outermost, values[place], chunk * RTSCAN_CHUNK_ROWS + place, &best);
		}
	*found = best;
}

/* The same as scan_values(), but only the values of the rows whose bits are set are read. */
static void
scan_few_values(const Outermost *outermost, const RtscanFrames *frames, const uint64 *words, uint32 chunk,
				int64 *values, Found *found)
{
	RtscanBitPlace place = {0, words[0]};
	uint32		rows[FEW_ROWS];
	uint32		n;

	while ((n = rtscan_gather_rows(words, &place, chunk * RTSCAN_CHUNK_ROWS, rows, FEW_ROWS)) > 0)
	{
		rtscan_get_frame_rows(outermost->reader, frames, rows, n, values);
		for (uint32 i = 0; i < n; i++)
			look_at_value(outermost, values[i], rows[i], found);
	}
}

/*
 * Return a row with the smallest (or largest) value among the rows whose bits are set.  Chunks are skipped if their
 * bounds exclude a smaller (or larger) value than the one found so far.
 */
static uint32
scan_all_values(const Outermost *outermost, const RtscanFrames *frames)
{
	int64	   *values = palloc(RTSCAN_CHUNK_ROWS * sizeof(int64));
	Found		found = {0};

	for (uint32 chunk = 0; chunk < outermost->bits->chunks; chunk++)
	{
		const RtscanFrame *frame = &frames->frames[chunk];
		const uint64 *words = rtscan_bits_chunk(outermost->bits, chunk);

		CHECK_FOR_INTERRUPTS();
		if (!outermost->bits->filled[chunk] ||
			(found.any && (outermost->last ? frame->greatest <= found.number : frame->least >= found.number)))
			continue;
		if (rtscan_popcount(words) * DENSE < RTSCAN_CHUNK_ROWS)
			scan_few_values(outermost, frames, words, chunk, values, &found);
		else
			scan_values(outermost, frames, words, chunk, values, &found);
	}
	pfree(values);
	return found.row;
}

/* ---------------------------------------------------------------- any column */

/* Set the bounds of the values that the region "where" allows in the column. */
static void
set_bounds(Outermost *outermost, int column, const RtscanRegion *where)
{
	outermost->low = (RtscanPosition) {0, 0};
	outermost->high = (RtscanPosition) {rtscan_null_code(outermost->header), outermost->header->nonnull};
	for (int i = 0; i < where->ncolumns; i++)
		if (where->columns[i].column == column)
		{
			const RtscanIntervals *intervals = &where->columns[i].intervals;
			const RtscanPosition *end = &intervals->items[intervals->n - 1].high;

			outermost->low = intervals->items[0].low;
			if (end->code < outermost->high.code)
				outermost->high = *end;
		}
}

/* Return a row that has the smallest or largest value. */
static uint32
find_outermost(const Outermost *outermost, const RtscanFrames *frames)
{
	uint32		row;

	if (outermost->header->flags & RTSCAN_COLUMN_HEAP_ORDER)
		return outermost_row(outermost->bits, outermost->last);
	if (outermost->header->order.pages > 0 && walk_order(outermost, &row))
		return row;
	return rtscan_is_plain(outermost->header) ? scan_all_values(outermost, frames) : scan_all_codes(outermost);
}

/*
 * Add the smallest or largest value of some rows to the candidates.  The value is read from a row, not from the
 * dictionary, since equal values may have different images.
 */
static void
accumulate_outermost(RtscanAccumulator *accumulator, RtscanReader *reader, const RtscanRegion *where,
					 const RtscanRowBits *bits, uint64 count)
{
	const RtscanSegmentColumn *column = &reader->segment->columns[accumulator->column];
	Outermost	outermost = {
		.reader = reader,
		.header = &column->header,
		.bits = bits,
		.count = count,
		.last = accumulator->kind == RTSCAN_MAXIMUM,
	};
	uint32		row;
	Datum		value;
	bool		isnull;

	set_bounds(&outermost, accumulator->column, where);
	row = find_outermost(&outermost, &column->values.frames);
	rtscan_get_values(rtscan_open_values(reader, accumulator->schema, accumulator->column), &row, 1, &value, &isnull);
	if (isnull)
		rtscan_fault(reader, &column->header.codes, 0, "There is a code that the dictionary does not have.");
	add_candidate(accumulator, value);
}

/* Return the smallest or largest candidate. */
static Datum
choose_candidate(const RtscanAccumulator *accumulator)
{
	const RtscanColumn *type = accumulator->type;
	Datum		best = accumulator->candidates[0];

	for (int i = 1; i < accumulator->ncandidates; i++)
	{
		int32		order = DatumGetInt32(FunctionCall2Coll(type->compare, type->collation,
															accumulator->candidates[i], best));

		if (accumulator->kind == RTSCAN_MINIMUM ? order < 0 : order > 0)
			best = accumulator->candidates[i];
	}
	return best;
}

/* ---------------------------------------------------------------- accumulators */

void
rtscan_accumulate_bits(RtscanAccumulator *accumulator, RtscanReader *reader, const RtscanRegion *where,
					   const RtscanRowBits *bits)
{
	uint64		count = rtscan_bits_count(bits);

	accumulator->count += count;
	if (count > 0 && accumulator->kind != RTSCAN_COUNT)
		accumulate_outermost(accumulator, reader, where, bits, count);
}

void
rtscan_accumulate_value(RtscanAccumulator *accumulator, Datum value)
{
	accumulator->count++;
	if (accumulator->kind != RTSCAN_COUNT)
		add_candidate(accumulator, value);
}

Datum
rtscan_finish_accumulation(RtscanAccumulator *accumulator, bool *isnull)
{
	*isnull = accumulator->kind != RTSCAN_COUNT && accumulator->count == 0;
	if (*isnull)
		return (Datum) 0;
	return accumulator->kind == RTSCAN_COUNT ? Int64GetDatum(accumulator->count) : choose_candidate(accumulator);
}
