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
#include "segment/dictionary.h"
#include "segment/frames.h"
#include "segment/look_ahead.h"
#include "utils/datum.h"

/* The planner checks rtscan_can_return() before, so that this is not expected to fail. */
void
rtscan_need_images(const RtscanValues *values)
{
	if (values->is_key && !rtscan_lost_no_image(values->header))
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" has lost the images of some values of column %d",
						RelationGetRelationName(values->reader->index), values->column + 1),
				 errhint("Please REINDEX it.")));
}

/* Begin to read values of a type; include: how they are stored, or NULL for a key column with a dictionary. */
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
rtscan_let_values_take(RtscanValues *values, Size memory)
{
	values->memory = memory;
}

/* ---------------------------------------------------------------- exact integers */

/*
 * Return the values of exact integers.  Numerics are allocated in the current memory context, except those that are
 * NULL.
 */
static void
make_values(RtscanExactKind kind, int scale, const int64 *exact, uint32 n, const bool *isnull, Datum *datums)
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
	for (uint32 i = 0; i < n; i++)
	{
		RtscanDecimal decimal = {0, 0};

		digits[i] = 0;
		if (isnull && isnull[i])
			continue;
		if (!type->numeric)
			rtscan_exact_encode(type->exact, &datums[i], 1, &decimal.digits);
		else if (!rtscan_decimal_from_numeric(datums[i], &decimal) || (found && decimal.scale != *scale))
			return false;
		digits[i] = decimal.digits;
		*scale = decimal.scale;
		found = true;
	}
	return true;
}

/* ---------------------------------------------------------------- dictionaries */

static Datum
dictionary_value(const RtscanColumn *type, uint64 value)
{
	return type->key_kind == RTSCAN_KEY_NONE ? datumCopy((Datum) value, type->typbyval, type->typlen)
		: rtscan_key_decode(type->key_kind, value);
}

/* An array that receives values of a key column's dictionary. */
typedef struct KeyValues
{
	const RtscanColumn *type;	/* the column */
	uint32		first;			/* code of the first value */
	Datum	   *datums;			/* receives the values */
} KeyValues;

/* RtscanValuesVisitor.  Stores values. */
static void
take_values(uint32 code, uint32 n, const uint64 *values, void *arg)
{
	KeyValues  *key = (KeyValues *) arg;

	for (uint32 i = 0; i < n; i++)
		key->datums[code - key->first + i] = dictionary_value(key->type, values[i]);
}

/*
 * Read the values of the dictionary from the code "first" up to "end", exclusively; by reference in the current
 * memory context.
 */
static void
read_dictionary(RtscanValues *values, uint32 first, uint32 end, Datum *datums)
{
	const RtscanIncludeHeader *header = values->is_key ? NULL : &values->include->header;

	if (values->is_key)
		rtscan_dictionary_visit_values(values->reader, values->column, values->type, first, end, take_values,
									   &(KeyValues) {values->type, first, datums});
	else if (header->exact == RTSCAN_EXACT_NONE)
		rtscan_get_dictionary_values(values->reader, values->include, values->type, first, end, datums);
	else
	{
		rtscan_get_dictionary_integers(values->reader, values->include, first, end, (int64 *) datums);
		make_values(header->exact, header->scale, (int64 *) datums, end - first, NULL, datums);
	}
}

/* Does it pay to read the whole dictionary for n more values, and is there memory for it? */
static bool
dictionary_pays(const RtscanValues *values, uint32 n, Size value_bytes)
{
	return (values->lookups + n) * RTSCAN_LOOKUP_VALUES >= values->distinct &&
		values->distinct * value_bytes <= values->memory;
}

/* Return the bytes that a value of the dictionary takes in memory. */
static Size
datum_bytes(const RtscanValues *values)
{
	const RtscanArea *area = values->is_key ? NULL : &values->include->codes.dictionary;

	if (values->type->typbyval)
		return sizeof(Datum);
	if (area && values->include->header.exact == RTSCAN_EXACT_NONE)
		return RTSCAN_REFERENCE_BYTES + (Size) area->pages * RTSCAN_CHUNK_BYTES / Max(values->distinct, 1);
	return sizeof(Datum) + RTSCAN_REFERENCE_BYTES;
}

/* Read the whole dictionary, if that pays for n more values. */
static void
prepare_dictionary(RtscanValues *values, uint32 n)
{
	MemoryContext old;
	Datum	   *datums;

	if (values->by_code || !dictionary_pays(values, n, datum_bytes(values)))
		return;
	old = MemoryContextSwitchTo(values->context);
	datums = palloc(Max(values->distinct, 1) * sizeof(Datum));
	read_dictionary(values, 0, values->distinct, datums);
	values->by_code = datums;
	MemoryContextSwitchTo(old);
}

/* Read the exact integers of a dictionary whose values are passed by value. */
static void
read_exact(RtscanValues *values, int64 *exact)
{
	if (!values->is_key && values->include->header.exact == values->type->exact)
		rtscan_get_dictionary_integers(values->reader, values->include, 0, values->distinct, exact);
	else
	{
		read_dictionary(values, 0, values->distinct, (Datum *) exact);
		rtscan_exact_encode(values->type->exact, (const Datum *) exact, values->distinct, exact);
	}
}

/* Must numerics be converted to integers?  Not if the dictionary has integers. */
static bool
converts_numerics(const RtscanValues *values)
{
	return values->type->numeric && (values->is_key || values->include->header.exact != RTSCAN_EXACT_DECIMAL);
}

/* Read the exact integers of a dictionary of numerics.  Returns false if they have none, or several scales. */
static bool
read_exact_numerics(RtscanValues *values, int64 *exact)
{
	Datum	   *datums;
	bool		found;

	if (!converts_numerics(values))
	{
		values->scale = values->include->header.scale;
		rtscan_get_dictionary_integers(values->reader, values->include, 0, values->distinct, exact);
		return true;
	}
	if (values->by_code)
		return rtscan_find_decimals(values->type, values->by_code, NULL, values->distinct, exact, &values->scale);
	datums = palloc(Max(values->distinct, 1) * sizeof(Datum));
	read_dictionary(values, 0, values->distinct, datums);
	found = rtscan_find_decimals(values->type, datums, NULL, values->distinct, exact, &values->scale);
	pfree(datums);
	return found;
}

/* Does it pay to read the whole dictionary as exact integers for n more values? */
static bool
exact_pays(RtscanValues *values, uint32 n)
{
	if (!dictionary_pays(values, n, sizeof(int64) + (values->type->numeric ? datum_bytes(values) : 0)))
		return false;
	values->conversions += n;
	return !converts_numerics(values) || values->conversions * RTSCAN_LOOKUP_NUMERICS >= values->distinct;
}

bool
rtscan_prepare_exact(RtscanValues *values, uint32 n)
{
	MemoryContext context,
				old;
	int64	   *exact;

	if (values->exact_by_code || values->is_not_exact)
		return values->exact_by_code != NULL;
	if (values->type->exact == RTSCAN_EXACT_NONE || !exact_pays(values, n))
		return false;
	exact = MemoryContextAllocZero(values->context, (values->distinct + 1) * sizeof(int64));
	context = AllocSetContextCreate(CurrentMemoryContext, "rtscan dictionary", ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(context);
	if (!values->type->numeric)
		read_exact(values, exact);
	else
		values->is_not_exact = !read_exact_numerics(values, exact);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	if (values->is_not_exact)
		pfree(exact);
	else
		values->exact_by_code = exact;
	return !values->is_not_exact;
}

/* ---------------------------------------------------------------- codes */

/* Rows of a key column in heap order, where the number of a row is its rank, and their codes or values. */
typedef struct RankedRows
{
	const uint32 *rows;			/* ascending rows that are not NULL */
	uint32		n;				/* number of rows */
	uint32		next;			/* number of rows whose codes are known */
	uint32		wanted;			/* rank of the first row whose code is not known; PG_UINT32_MAX behind the last one */
	uint32	   *codes;			/* receives codes, if "datums" is NULL */
	const RtscanColumn *type;	/* the column */
	Datum	   *datums;			/* receives values; or NULL */
} RankedRows;

/* RtscanDictionaryVisitor.  Stores the code or the value of the rows in a range of ranks. */
static void
give_rows(uint32 code, uint64 value, uint32 first_rank, uint32 end_rank, void *arg)
{
	RankedRows *ranked = (RankedRows *) arg;
	Datum		datum = (Datum) 0;

	if (ranked->datums && ranked->next < ranked->n && ranked->rows[ranked->next] < end_rank)
		datum = dictionary_value(ranked->type, value);
	for (; ranked->next < ranked->n && ranked->rows[ranked->next] < end_rank; ranked->next++)
		if (ranked->datums)
			ranked->datums[ranked->next] = datum;
		else
			ranked->codes[ranked->next] = code;
	ranked->wanted = ranked->next < ranked->n ? ranked->rows[ranked->next] : PG_UINT32_MAX;
}

/* Find the codes or values of rows of a column in heap order. */
static void
visit_ranks(RtscanValues *values, RankedRows *ranked)
{
	uint32		first = rtscan_code_at_rank(values->reader, values->column, values->type, ranked->rows[0]);
	uint32		ranks = ranked->rows[ranked->n - 1] - ranked->rows[0];

	/* Each code has at least one rank, so there are no more codes than ranks. */
	rtscan_dictionary_visit_ranks(values->reader, values->column, values->type, first,
								  Min(values->distinct, first + ranks + 1), &ranked->wanted, give_rows, ranked);
	if (ranked->next < ranked->n)
		rtscan_fault(values->reader, &values->header->dictionary, 0, "The dictionary has fewer ranks than it should.");
}

/* Count those of n rows of a column in heap order that are not NULL: NULLs are last. */
static uint32
count_nonnull(const RtscanValues *values, const uint32 *rows, uint32 n)
{
	while (n > 0 && rows[n - 1] >= values->header->nonnull)
		n--;
	return n;
}

static void
get_ranked_codes(RtscanValues *values, const uint32 *rows, uint32 n, uint32 *codes)
{
	uint32		nonnull = count_nonnull(values, rows, n);

	if (nonnull > 0)
		visit_ranks(values, &(RankedRows) {.rows = rows, .n = nonnull, .codes = codes});
	for (uint32 i = nonnull; i < n; i++)
		codes[i] = values->distinct;
}

static void
get_stored_codes(RtscanValues *values, const uint32 *rows, uint32 n, uint32 *codes)
{
	const RtscanColumnHeader *header = values->header;
	uint32		per_page = rtscan_per_page(header->code_bytes);
	RtscanLookAhead ahead = rtscan_begin_looking_ahead(&header->codes, 0, 0, header->code_bytes * 8, rows, n);

	for (uint32 i = 0; i < n;)
	{
		uint32		page = rows[i] / per_page;
		uint32		from = i;
		Buffer		buffer;
		const char *payload;
		uint64		largest;

		rtscan_look_ahead(values->reader, &ahead, i);
		payload = rtscan_get_page(values->reader, &header->codes, page, &buffer, NULL);
		i = rtscan_find_row(rows, i, n, (page + 1) * per_page);
		largest = rtscan_unpack_small_rows(payload, header->code_bytes * 8, page * per_page, rows + from, i - from, 0,
										   codes + from);
		rtscan_release(values->reader, buffer);
		if (largest > header->distinct)
			rtscan_fault(values->reader, &header->codes, page, "There is a code that the dictionary does not have.");
	}
}

bool
rtscan_has_codes(const RtscanValues *values)
{
	return values->include == NULL || rtscan_values_have_codes(values);
}

uint32
rtscan_code_count(const RtscanValues *values)
{
	return rtscan_has_codes(values) && values->images == NULL ? values->distinct + 1 : PG_UINT32_MAX;
}

void
rtscan_get_codes(RtscanValues *values, const uint32 *rows, uint32 n, uint32 *codes)
{
	Assert(rtscan_has_codes(values));
	if (values->include)
		rtscan_get_frame_rows_codes(values->reader, &values->include->frames, rows, n, 0, values->distinct, codes);
	else if (values->header->flags & RTSCAN_COLUMN_HEAP_ORDER)
		get_ranked_codes(values, rows, n, codes);
	else
		get_stored_codes(values, rows, n, codes);
}

/* ---------------------------------------------------------------- values by their codes */

static Datum
look_up(RtscanValues *values, uint32 code)
{
	Datum		datum = (Datum) 0;

	values->lookups++;
	read_dictionary(values, code, code + 1, &datum);
	return datum;
}

/* Values of a key column's dictionary to read, by ascending codes. */
typedef struct WantedCodes
{
	const RtscanColumn *type;	/* the column */
	const uint32 *codes;		/* ascending codes */
	uint32		n;				/* number of codes */
	uint32		next;			/* number of codes whose values have been read */
	Datum	   *datums;			/* receives the values */
} WantedCodes;

/* RtscanValuesVisitor.  Stores wanted values. */
static void
take_wanted(uint32 code, uint32 n, const uint64 *values, void *arg)
{
	WantedCodes *wanted = (WantedCodes *) arg;
	const uint32 *codes = wanted->codes;

	Assert(wanted->next == wanted->n || codes[wanted->next] >= code);
	for (uint32 i = wanted->next; i < wanted->n && codes[i] < code + n; wanted->next = ++i)
		wanted->datums[i] = i > 0 && codes[i] == codes[i - 1] ? wanted->datums[i - 1] :
			dictionary_value(wanted->type, values[codes[i] - code]);
}

/*
 * Return the last code of a run: codes that are so near to each other that visiting those between costs less than a
 * lookup.
 */
static uint32
end_of_run(const WantedCodes *wanted, uint32 first)
{
	uint32		last = wanted->codes[first];

	for (uint32 i = first; i < wanted->n && wanted->codes[i] - last <= RTSCAN_LOOKUP_VALUES; i++)
		last = wanted->codes[i];
	return last;
}

static void
visit_runs_of_codes(RtscanValues *values, WantedCodes *wanted)
{
	while (wanted->next < wanted->n)
	{
		uint32		first = wanted->codes[wanted->next];

		rtscan_dictionary_visit_values(values->reader, values->column, values->type, first,
									   end_of_run(wanted, wanted->next) + 1, take_wanted, wanted);
	}
}

/*
 * Are the codes one run, of less than half of the dictionary?  If it is the only one that is wanted, the rest need
 * not be read.
 */
static bool
is_short_run(const RtscanValues *values, const WantedCodes *wanted)
{
	return wanted->n > 0 && end_of_run(wanted, 0) == wanted->codes[wanted->n - 1] &&
		wanted->codes[wanted->n - 1] - wanted->codes[0] < values->distinct / 2;
}

void
rtscan_get_values_of_codes(RtscanValues *values, const uint32 *codes, uint32 n, Datum *datums)
{
	WantedCodes wanted = {values->type, codes, n, 0, datums};

	if (!values->is_key || values->lookups > 0 || !is_short_run(values, &wanted))
		prepare_dictionary(values, n);
	if (values->is_key && values->by_code == NULL)
	{
		values->lookups += n;
		visit_runs_of_codes(values, &wanted);
		return;
	}
	for (uint32 i = 0; i < n; i++)
		datums[i] = values->by_code ? values->by_code[codes[i]] :
			i > 0 && codes[i] == codes[i - 1] ? datums[i - 1] : look_up(values, codes[i]);
}

bool
rtscan_get_integers_of_codes(RtscanValues *values, uint32 n, int64 *integers, int *scale)
{
	uint32	   *codes;
	Datum	   *datums;
	bool		found;

	*scale = 0;
	/* The numerics of a code may have several scales. */
	if (!values->type->exact_sorts || values->images)
		return false;
	rtscan_need_images(values);
	codes = palloc(Max(n, 1) * sizeof(uint32));
	datums = palloc(Max(n, 1) * sizeof(Datum));
	for (uint32 i = 0; i < n; i++)
		codes[i] = i;
	rtscan_get_values_of_codes(values, codes, n, datums);
	found = rtscan_find_decimals(values->type, datums, NULL, n, integers, scale);
	pfree(codes);
	pfree(datums);
	return found;
}

static void
get_coded_values(RtscanValues *values, const uint32 *rows, uint32 n, Datum *datums, bool *isnull)
{
	uint32	   *codes = palloc(n * sizeof(uint32));

	prepare_dictionary(values, n);
	rtscan_get_codes(values, rows, n, codes);
	for (uint32 i = 0; i < n; i++)
	{
		isnull[i] = codes[i] == values->distinct;
		if (isnull[i])
			datums[i] = (Datum) 0;
		else if (values->by_code)
			datums[i] = values->by_code[codes[i]];
		else if (i > 0 && codes[i] == codes[i - 1])
			datums[i] = datums[i - 1];
		else
			datums[i] = look_up(values, codes[i]);
	}
	pfree(codes);
}

static void
get_ranked_values(RtscanValues *values, const uint32 *rows, uint32 n, Datum *datums, bool *isnull)
{
	uint32		nonnull = count_nonnull(values, rows, n);

	if (nonnull > 0)
		visit_ranks(values, &(RankedRows) {.rows = rows, .n = nonnull, .type = values->type, .datums = datums});
	for (uint32 i = 0; i < n; i++)
	{
		isnull[i] = i >= nonnull;
		if (isnull[i])
			datums[i] = (Datum) 0;
	}
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
	make_values(header->exact, header->scale, (int64 *) datums, n, isnull, datums);
}

void
rtscan_get_values_of_integers(RtscanValues *values, const int64 *integers, int scale, uint32 n, Datum *datums)
{
	make_values(values->type->exact, scale, integers, n, NULL, datums);
}

/* ---------------------------------------------------------------- values of any column */

/* Replace values by those images of the rows that the dictionary does not have. */
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
		get_coded_values(values, rows, n, datums, isnull);
	else if (values->include == NULL)
		get_ranked_values(values, rows, n, datums, isnull);
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

/* Convert the values themselves. */
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
		return true;
	}
	return convert_values(values, rows, n, digits, isnull, scale);
}
