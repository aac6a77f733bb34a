/* SPDX-License-Identifier: PostgreSQL */
/*
 * include_write.c
 *		Choose how to store the values of an INCLUDE column, and write them.
 */
#include "segment/include.h"

#include "access/tupmacs.h"
#include "bits/packed.h"
#include "miscadmin.h"
#include "row/decimal.h"
#include "segment/distinct.h"
#include "segment/frames.h"
#include "segment/integers.h"

/* A dictionary is tried only if the other ways need more than this many bits for each row. */
#define FEW_BITS	2

/* ---------------------------------------------------------------- plain */

static RtscanArea
write_nulls(RtscanAreaWriter *areas, const RtscanColumnRows *column, uint32 rows)
{
	const char *bytes = (const char *) column->nulls;
	Size		left = (rows + 7) / 8;

	rtscan_area_begin(areas, RTSCAN_PAGE_INCLUDE);
	while (left > 0)
	{
		Size		n = Min(left, RTSCAN_CHUNK_BYTES);

		memcpy(rtscan_area_room(areas), bytes, n);
		rtscan_area_used(areas, n);
		bytes += n;
		left -= n;
	}
	return rtscan_area_end(areas);
}

static RtscanArea
write_packed(RtscanAreaWriter *areas, const RtscanColumn *type, uint32 width, const RtscanColumnRows *column,
			 uint32 rows)
{
	RtscanPacker packer = rtscan_packer(areas, RTSCAN_PAGE_INCLUDE, width);

	for (uint32 row = 0; row < rows; row++)
	{
		char	   *room = rtscan_packer_next(&packer);

		if (!rtscan_row_is_null(column, row))
			rtscan_store_value(type, room, (Datum) column->values[row], width);
	}
	return rtscan_packer_end(&packer);
}

/* A page of whole values that is being filled. */
typedef struct WholePage
{
	RtscanIncludePage page;		/* header of the page */
	char		values[RTSCAN_CHUNK_BYTES]; /* values of the page, at their offsets */
	uint16		offsets[RTSCAN_CHUNK_BYTES / sizeof(uint16)];	/* the offset of each value; 0: NULL */
} WholePage;

static void
emit_whole(RtscanAreaWriter *areas, WholePage *whole, StringInfo first_rows)
{
	Size		end = TYPEALIGN(sizeof(uint16), whole->page.values_end);
	char	   *room = rtscan_area_room(areas);

	whole->page.values_end = end;
	memcpy(room, whole->values, end);
	memcpy(room, &whole->page, sizeof(RtscanIncludePage));
	memcpy(room + end, whole->offsets, whole->page.rows * sizeof(uint16));
	rtscan_area_used(areas, end + whole->page.rows * sizeof(uint16));
	appendBinaryStringInfo(first_rows, (char *) &whole->page.first_row, sizeof(uint32));
	whole->page = (RtscanIncludePage) {
		.first_row = whole->page.first_row + whole->page.rows,
		.values_end = sizeof(RtscanIncludePage),
	};
	memset(whole->values, 0, RTSCAN_CHUNK_BYTES);
}

static void
add_whole(RtscanAreaWriter *areas, WholePage *whole, const RtscanColumn *type,
		  Datum value, bool isnull, StringInfo first_rows)
{
	Size		size = isnull ? 0 : rtscan_value_size(type, value);
	Size		place = isnull ? 0 : att_align_datum(whole->page.values_end, type->typalign, type->typlen, value);

	if (Max(place + size, whole->page.values_end) + 1 +
		(whole->page.rows + 1) * sizeof(uint16) > RTSCAN_CHUNK_BYTES)
	{
		emit_whole(areas, whole, first_rows);
		place = isnull ? 0 : att_align_datum(whole->page.values_end, type->typalign, type->typlen, value);
	}
	whole->offsets[whole->page.rows++] = place;
	if (isnull)
		return;
	rtscan_store_value(type, whole->values + place, value, size);
	whole->page.values_end = place + size;
}

/*
 * Write n whole values, by row or by code, and append the first row or code of each page to first_rows.  "nulls" tells
 * which rows are NULL; the pointer is NULL if the values are those of codes.
 */
static RtscanArea
write_whole(RtscanAreaWriter *areas, const RtscanColumn *type, const uint64 *values, const RtscanColumnRows *nulls,
			uint32 n, StringInfo first_rows)
{
	WholePage  *whole = palloc0(sizeof(WholePage));

	whole->page.values_end = sizeof(RtscanIncludePage);
	rtscan_area_begin(areas, RTSCAN_PAGE_INCLUDE);
	for (uint32 i = 0; i < n; i++)
		add_whole(areas, whole, type, (Datum) values[i], nulls && rtscan_row_is_null(nulls, i), first_rows);
	if (n > 0)
		emit_whole(areas, whole, first_rows);
	pfree(whole);
	return rtscan_area_end(areas);
}

/* ---------------------------------------------------------------- choosing how to store a column */

/*
 * Find the scale of a column's numerics.  Returns false if they have several scales, do not fit into integers, or have
 * integers so far apart that none is left for NULL.
 */
static bool
find_scale(const RtscanColumnRows *column, uint32 rows, int *scale)
{
	int64		least = PG_INT64_MAX,
				greatest = PG_INT64_MIN;

	for (uint32 row = 0; row < rows; row++)
	{
		RtscanDecimal decimal = {0, 0};

		if (row % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		if (rtscan_row_is_null(column, row))
			continue;
		if (!rtscan_decimal_from_numeric((Datum) column->values[row], &decimal) ||
			(least <= greatest && decimal.scale != *scale))
			return false;
		*scale = decimal.scale;
		least = Min(least, decimal.digits);
		greatest = Max(greatest, decimal.digits);
	}
	return least > greatest || (uint64) greatest - (uint64) least != PG_UINT64_MAX;
}

/* Replace numerics of one scale by their digits. */
static int64 *
replace_by_digits(RtscanColumnRows *column, uint32 rows)
{
	int64	   *digits = (int64 *) column->values;

	for (uint32 row = 0; row < rows; row++)
	{
		RtscanDecimal decimal = {0, 0};

		if (row % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		if (!rtscan_row_is_null(column, row))
			rtscan_decimal_from_numeric((Datum) column->values[row], &decimal);
		digits[row] = decimal.digits;
	}
	return digits;
}

/*
 * Set the exact integers of a column's values, and the scale of numerics, which are replaced by the integers.  Returns
 * false, and leaves the values as they are, if they have no exact integers.
 */
static bool
make_integers(const RtscanColumn *type, RtscanColumnRows *column, uint32 rows, RtscanIntegers *integers, int *scale)
{
	if (type->exact == RTSCAN_EXACT_NONE)
		return false;
	if (type->exact != RTSCAN_EXACT_DECIMAL)
		*integers = rtscan_integers_of_values(type, column, rows);
	else if (find_scale(column, rows, scale))
		*integers = rtscan_integers_in_array(replace_by_digits(column, rows), column->nulls, rows);
	else
		return false;
	return true;
}

/* A column, and the ways in which it could be stored. */
typedef struct Choice
{
	const RtscanColumn *type;	/* the column */
	const RtscanColumnRows *column; /* values of the column */
	uint32		rows;			/* number of rows */
	RtscanIncludeHeader header; /* header for the descriptor */
	const RtscanIntegers *integers; /* exact integers of the values; NULL if the values have none */
	RtscanDistinct *distinct;	/* distinct values; NULL if there are too many, or if CODES are not tried (FEW_BITS) */
	RtscanFrame *frames;		/* frames of the exact integers */
	RtscanFrame *code_frames;	/* frames of the codes */
} Choice;

/*
 * Return the bytes that n whole values take, including their offsets.  "nulls" tells which rows are NULL; the pointer
 * is NULL for the values of a dictionary.
 */
static Size
whole_bytes(const RtscanColumn *type, const uint64 *values, const RtscanColumnRows *nulls, uint32 n)
{
	Size		bytes = n * sizeof(uint16);

	for (uint32 i = 0; i < n; i++)
		if (nulls == NULL || !rtscan_row_is_null(nulls, i))
			bytes += rtscan_value_size(type, (Datum) values[i]);
	return bytes;
}

/* Return the bytes that the column takes as PLAIN. */
static Size
plain_bytes(const Choice *choice)
{
	uint32		width = choice->type->numeric ? 0 : rtscan_packed_width(choice->type);

	if (choice->type->numeric && choice->integers)
		return PG_INT64_MAX;	/* the integers have replaced them */
	if (width == 0)
		return whole_bytes(choice->type, choice->column->values, choice->column, choice->rows);
	return (Size) choice->rows * width + (choice->column->null_count > 0 ? choice->rows / 8 : 0);
}

/* Return the bytes that the column takes as CODES. */
static Size
code_bytes(const Choice *choice)
{
	const RtscanDistinct *distinct = choice->distinct;

	return rtscan_frames_bytes(choice->code_frames, choice->rows) + sizeof(RtscanCodesHeader) +
		(choice->integers ? distinct->n * sizeof(int64)
		 : whole_bytes(choice->type, distinct->values, NULL, distinct->n));
}

/* Return the codes of the rows as integers. */
static RtscanIntegers
codes_of(const Choice *choice)
{
	return rtscan_integers_of_codes(choice->distinct->codes, choice->column->nulls, choice->rows);
}

/*
 * Choose the way to store the column that takes the fewest bytes, with these exceptions.  FRAMES may take more bytes
 * than PLAIN, by up to one RtscanFrame for each chunk, since values in frames are read faster, and a frame tells the
 * bounds of its chunk.  Numerics that FRAMES can store are never PLAIN, since reading whole numerics is slow.  CODES
 * are not tried if the other ways need few bits (FEW_BITS).
 */
static RtscanStorage
choose_storage(Choice *choice)
{
	RtscanIntegers codes;
	RtscanStorage storage = RTSCAN_STORED_PLAIN;
	Size		bytes = plain_bytes(choice);

	if (choice->integers && rtscan_find_frames(choice->integers, choice->frames))
	{
		Size		in_frames = rtscan_frames_bytes(choice->frames, choice->rows);

		if (in_frames <= bytes + rtscan_chunks(choice->rows) * sizeof(RtscanFrame))
		{
			storage = RTSCAN_STORED_FRAMES;
			bytes = in_frames;
		}
	}
	if (bytes > rtscan_packed_bytes(choice->rows, FEW_BITS))
		choice->distinct = rtscan_find_distinct(choice->type, choice->column, choice->integers, choice->rows);
	if (choice->distinct == NULL)
		return storage;
	codes = codes_of(choice);
	if (!rtscan_find_frames(&codes, choice->code_frames))
		return storage;
	return code_bytes(choice) < bytes ? RTSCAN_STORED_CODES : storage;
}

/* ---------------------------------------------------------------- storing a column */

static void
store_plain(RtscanAreaWriter *areas, Choice *choice, StringInfo first_rows)
{
	RtscanIncludeHeader *header = &choice->header;

	header->width = choice->type->numeric ? 0 : rtscan_packed_width(choice->type);
	if (header->width == 0)
	{
		header->values = write_whole(areas, choice->type, choice->column->values, choice->column, choice->rows,
									 first_rows);
		return;
	}
	if (choice->column->null_count > 0)
		header->nulls = write_nulls(areas, choice->column, choice->rows);
	header->values = write_packed(areas, choice->type, header->width, choice->column, choice->rows);
}

static RtscanArea
write_integers(RtscanAreaWriter *areas, const uint64 *values, uint32 n)
{
	RtscanPacker packer = rtscan_packer(areas, RTSCAN_PAGE_INCLUDE, sizeof(int64));

	for (uint32 i = 0; i < n; i++)
		memcpy(rtscan_packer_next(&packer), &values[i], sizeof(int64));
	return rtscan_packer_end(&packer);
}

static RtscanCodesHeader
store_codes(RtscanAreaWriter *areas, Choice *choice, StringInfo first_codes)
{
	const RtscanDistinct *distinct = choice->distinct;
	RtscanIntegers rows = codes_of(choice);

	choice->header.values = rtscan_write_frames(areas, choice->code_frames, &rows);
	return (RtscanCodesHeader) {
		.distinct = distinct->n,
		.dictionary = choice->integers ? write_integers(areas, distinct->values, distinct->n) :
			write_whole(areas, choice->type, distinct->values, NULL, distinct->n, first_codes),
	};
}

static void
store(RtscanAreaWriter *areas, Choice *choice, StringInfo descriptor)
{
	Size		frames_size = rtscan_chunks(choice->rows) * sizeof(RtscanFrame);
	RtscanCodesHeader codes;
	StringInfoData firsts;

	initStringInfo(&firsts);
	if (choice->header.storage == RTSCAN_STORED_PLAIN)
		store_plain(areas, choice, &firsts);
	else if (choice->header.storage == RTSCAN_STORED_FRAMES)
		choice->header.values = rtscan_write_frames(areas, choice->frames, choice->integers);
	else
		codes = store_codes(areas, choice, &firsts);
	rtscan_append_part(descriptor, &choice->header, sizeof(RtscanIncludeHeader));
	if (choice->header.storage == RTSCAN_STORED_FRAMES)
		rtscan_append_part(descriptor, choice->frames, frames_size);
	if (choice->header.storage == RTSCAN_STORED_CODES)
	{
		rtscan_append_part(descriptor, choice->code_frames, frames_size);
		rtscan_append_part(descriptor, &codes, sizeof(codes));
	}
	rtscan_append_part(descriptor, firsts.data, firsts.len);
}

void
rtscan_write_include(RtscanAreaWriter *areas, const RtscanColumn *type,
					 RtscanColumnRows *column, uint32 rows, StringInfo descriptor)
{
	Choice		choice = {
		.type = type,
		.column = column,
		.rows = rows,
		.frames = palloc(rtscan_chunks(rows) * sizeof(RtscanFrame)),
		.code_frames = palloc(rtscan_chunks(rows) * sizeof(RtscanFrame)),
	};
	RtscanIntegers integers;
	int			scale = 0;

	if (make_integers(type, column, rows, &integers, &scale))
		choice.integers = &integers;
	choice.header.storage = choose_storage(&choice);
	if (choice.integers && choice.header.storage != RTSCAN_STORED_PLAIN)
	{
		choice.header.exact = type->exact;
		choice.header.scale = scale;
	}
	store(areas, &choice, descriptor);
}
