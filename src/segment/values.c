/* SPDX-License-Identifier: PostgreSQL */
/*
 * values.c
 *		Read the values of a column for some rows of a segment at a time.
 */
#include "segment/values_parts.h"

#include "bits/gather.h"
#include "bits/packed.h"
#include "miscadmin.h"
#include "row/decimal.h"
#include "segment/frames.h"

/* The planner checks rtscan_can_return() first, so this error is not expected. */
void
rtscan_need_images(const RtscanValues *values)
{
	if (values->is_key && !values->accepts_lost && !rtscan_lost_no_image(values->header))
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" cannot return some values of column %d exactly as they were inserted",
						RelationGetRelationName(values->reader->index), values->column + 1),
				 errhint("Please REINDEX it.")));
}

/*
 * Begin to read values of a type.  "include" tells how the values are stored; it is NULL for a key column that is not
 * plain.
 */
static RtscanValues *
open_values(RtscanReader *reader, const RtscanColumn *type, const RtscanSegmentInclude *include)
{
	RtscanValues *values = palloc0(sizeof(RtscanValues));

	values->reader = reader;
	values->type = type;
	values->context = CurrentMemoryContext;
	values->memory = work_mem * (Size) 1024;
	values->include = include;
	if (include)
		values->distinct = include->codes.distinct;
	return values;
}

RtscanValues *
rtscan_open_images(RtscanReader *reader, const RtscanSchema *schema, int column)
{
	const RtscanSegmentColumn *stored = &reader->segment->columns[column];

	return rtscan_has_images(&stored->header) ? open_values(reader, &schema->columns[column], &stored->images) : NULL;
}

static RtscanValues *
open_key_values(RtscanReader *reader, const RtscanSchema *schema, int column)
{
	const RtscanSegmentColumn *stored = &reader->segment->columns[column];
	RtscanValues *values = open_values(reader, &schema->columns[column],
									   rtscan_is_plain(&stored->header) ? &stored->values : NULL);

	values->is_key = true;
	values->column = column;
	values->header = &stored->header;
	values->images = rtscan_open_images(reader, schema, column);
	if (values->include == NULL)
		values->distinct = stored->header.distinct;
	return values;
}

RtscanValues *
rtscan_open_values(RtscanReader *reader, const RtscanSchema *schema, int column)
{
	if (column < schema->nkeys)
		return open_key_values(reader, schema, column);
	return open_values(reader, &schema->columns[column], &reader->segment->includes[column - schema->nkeys]);
}

void
rtscan_accept_lost_images(RtscanValues *values)
{
	values->accepts_lost = true;
}

void
rtscan_let_values_take(RtscanValues *values, Size memory)
{
	values->memory = memory;
}

/* ---------------------------------------------------------------- exact integers */

void
rtscan_make_values(RtscanExactKind kind, int scale, const int64 *exact, uint32 n, const bool *isnull, Datum *datums)
{
	if (kind != RTSCAN_EXACT_DECIMAL)
		rtscan_exact_decode(kind, exact, n, datums);
	else
		for (uint32 i = 0; i < n; i++)
			datums[i] = isnull && isnull[i] ? (Datum) 0 :
				rtscan_numeric_from_decimal((RtscanDecimal) {.digits = exact[i], .scale = scale});
}

bool
rtscan_find_decimals(const RtscanColumn *type, const Datum *datums, const bool *isnull, uint32 n, int64 *digits,
					 int *scale)
{
	bool		found = false;

	*scale = 0;
	if (!type->numeric)
	{
		rtscan_exact_encode(type->exact, datums, n, digits);
		for (uint32 i = 0; isnull && i < n; i++)
			digits[i] = isnull[i] ? 0 : digits[i];
		return true;
	}
	for (uint32 i = 0; i < n; i++)
	{
		RtscanDecimal decimal = {0, 0};

		digits[i] = 0;
		if (isnull && isnull[i])
			continue;
		if (!rtscan_decimal_from_numeric(datums[i], &decimal) || (found && decimal.scale != *scale))
			return false;
		digits[i] = decimal.digits;
		*scale = decimal.scale;
		found = true;
	}
	return true;
}

/* ---------------------------------------------------------------- values in frames */

static void
get_integers(RtscanValues *values, const uint32 *rows, uint32 n, int64 *integers, bool *isnull)
{
	const RtscanFrames *frames = &values->include->frames;
	const RtscanFrame *frame = &frames->frames[n > 0 ? rows[0] / RTSCAN_CHUNK_ROWS : 0];

	rtscan_get_frame_rows(values->reader, frames, rows, n, integers);
	if (frame->nulls > 0)
		rtscan_take_markers(integers, n, rtscan_frame_marker(frame), isnull);
	else
		memset(isnull, false, n * sizeof(bool));
}

bool
rtscan_get_range(const RtscanValues *values, int64 *least, int64 *greatest, int *scale)
{
	uint32		rows = values->reader->segment->header.rows;

	if (!rtscan_values_have_frames(values))
		return false;
	*least = PG_INT64_MAX;
	*greatest = PG_INT64_MIN;
	*scale = values->include->header.scale;
	for (uint32 chunk = 0; chunk < rtscan_chunks(rows); chunk++)
	{
		const RtscanFrame *frame = &values->include->frames.frames[chunk];

		if (frame->nulls == rtscan_chunk_rows(rows, chunk))
			continue;
		*least = Min(*least, frame->least);
		*greatest = Max(*greatest, frame->greatest);
	}
	return true;
}

static void
get_framed_values(RtscanValues *values, const uint32 *rows, uint32 n, Datum *datums, bool *isnull)
{
	const RtscanIncludeHeader *header = &values->include->header;

	get_integers(values, rows, n, (int64 *) datums, isnull);
	rtscan_make_values(header->exact, header->scale, (int64 *) datums, n, isnull, datums);
}

void
rtscan_get_values_of_integers(RtscanValues *values, const int64 *integers, int scale, uint32 n, Datum *datums)
{
	rtscan_make_values(values->type->exact, scale, integers, n, NULL, datums);
}

/* ---------------------------------------------------------------- values of any column */

/* If the image of a row's value is not in the dictionary, replace the value by this image. */
static void
take_images(RtscanValues *images, const uint32 *rows, uint32 n, Datum *datums)
{
	Datum	   *found = palloc(Max(n, 1) * sizeof(Datum));
	bool	   *none = palloc(Max(n, 1) * sizeof(bool));

	rtscan_get_values(images, rows, n, found, none);
	for (uint32 i = 0; i < n; i++)
		if (!none[i])
			datums[i] = found[i];
	pfree(found);
	pfree(none);
}

void
rtscan_get_values(RtscanValues *values, const uint32 *rows, uint32 n, Datum *datums, bool *isnull)
{
	rtscan_need_images(values);
	if (rtscan_values_have_codes(values))
		rtscan_get_coded_values(values, rows, n, datums, isnull);
	else if (values->include == NULL)
		rtscan_get_ranked_values(values, rows, n, datums, isnull);
	else if (values->include->header.storage == RTSCAN_STORED_FRAMES)
		get_framed_values(values, rows, n, datums, isnull);
	else
		rtscan_get_plain(values->reader, values->include, values->type, rows, n, datums, isnull);
	if (values->images)
		take_images(values->images, rows, n, datums);
}

/* ---------------------------------------------------------------- decimals */

static bool
get_coded_decimals(RtscanValues *values, const uint32 *rows, uint32 n, int64 *digits, bool *isnull)
{
	uint32	   *codes;

	if (!rtscan_prepare_exact(values, n))
		return false;
	codes = palloc(n * sizeof(uint32));
	rtscan_get_codes(values, rows, n, codes);
	rtscan_gather_coded(values->exact_by_code, values->distinct, codes, n, digits, isnull);
	pfree(codes);
	return true;
}

/* Read the values as Datums, and convert these to integers. */
static bool
convert_values(RtscanValues *values, const uint32 *rows, uint32 n, int64 *digits, bool *isnull, int *scale)
{
	Datum	   *datums = palloc(n * sizeof(Datum));

	rtscan_get_values(values, rows, n, datums, isnull);
	return rtscan_find_decimals(values->type, datums, isnull, n, digits, scale);
}

bool
rtscan_get_decimals(RtscanValues *values, const uint32 *rows, uint32 n, int64 *digits, bool *isnull, int *scale)
{
	*scale = 0;
	rtscan_need_images(values);
	if (values->images)
		return convert_values(values, rows, n, digits, isnull, scale);
	if (rtscan_values_have_frames(values))
	{
		*scale = values->include->header.scale;
		get_integers(values, rows, n, digits, isnull);
		return true;
	}
	if (rtscan_values_have_codes(values) && get_coded_decimals(values, rows, n, digits, isnull))
	{
		*scale = values->scale;
		return true;
	}
	if (values->include && values->include->header.storage == RTSCAN_STORED_PLAIN && values->include->header.width > 0)
	{
		*scale = values->include->header.scale;
		rtscan_get_plain_integers(values->reader, values->include, rows, n, digits, isnull);
		if (!values->type->numeric)
			rtscan_exact_encode(values->type->exact, (const Datum *) digits, n, digits);
		return true;
	}
	return convert_values(values, rows, n, digits, isnull, scale);
}
