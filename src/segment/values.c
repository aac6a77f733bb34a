/*
 * values.c
 *		Values of columns, for some rows of a segment at a time.
 */
#include "segment/values.h"

#include "bits/gather.h"
#include "miscadmin.h"
#include "row/decimal.h"
#include "segment/dictionary.h"
#include "segment/include.h"
#include "utils/datum.h"

struct RtscanValues
{
	RtscanReader *reader;
	const RtscanColumn *type;
	int			column;			/* of the keys, or of the INCLUDEd ones */
	bool		is_key;
	const RtscanColumnHeader *header;	/* a key's */
	MemoryContext context;		/* of these: */
	uint64		lookups;		/* so far */
	Datum	   *by_code;		/* the dictionary, once it has been read */
	int64	   *digits_by_code; /* the same as integers, once they have been asked for, and have one scale */
	int			scale;
	bool		has_no_digits;	/* they have not */
};

/* ---------------------------------------------------------------- dictionaries */

static Datum
dictionary_value(const RtscanColumn *type, uint64 value)
{
	return type->key_kind == RTSCAN_KEY_NONE ? datumCopy((Datum) value, type->typbyval, type->typlen)
		: rtscan_key_decode(type->key_kind, value);
}

/* RtscanDictionaryVisitor */
static void
keep_value(uint32 code, uint64 value, uint32 first_rank, uint32 end_rank, void *arg)
{
	RtscanValues *values = (RtscanValues *) arg;

	values->by_code[code] = dictionary_value(values->type, value);
}

bool
rtscan_find_decimals(const RtscanColumn *type, const Datum *datums, const bool *isnull, uint32 n, int64 *digits, int *scale)
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
			decimal.digits = rtscan_integer(type, datums[i]);
		else if (!rtscan_decimal_from_numeric(datums[i], &decimal) || (found && decimal.scale != *scale))
			return false;
		digits[i] = decimal.digits;
		*scale = decimal.scale;
		found = true;
	}
	return true;
}

/* The integers of all values of the dictionary, if they have one scale, and 0 for NULL. */
static void
prepare_digits(RtscanValues *values)
{
	uint32		distinct = values->header->distinct;
	MemoryContext old;
	int64	   *digits;

	if (values->by_code == NULL || values->has_no_digits || values->digits_by_code)
		return;
	old = MemoryContextSwitchTo(values->context);
	digits = palloc0((distinct + 1) * sizeof(int64));
	values->has_no_digits = !rtscan_find_decimals(values->type, values->by_code, NULL, distinct, digits, &values->scale);
	if (values->has_no_digits)
		pfree(digits);
	else
		values->digits_by_code = digits;
	MemoryContextSwitchTo(old);
}

/* The dictionary as a whole, if that pays for so many more values. */
static void
prepare_dictionary(RtscanValues *values, uint32 n)
{
	uint64		distinct = values->header->distinct;
	Size		bytes = 2 * sizeof(Datum) + (values->type->typbyval ? 0 : RTSCAN_REFERENCE_BYTES);
	MemoryContext old;

	if (values->by_code || (values->lookups + n) * RTSCAN_LOOKUP_VALUES < distinct || distinct * bytes > work_mem * (Size) 1024)
		return;
	old = MemoryContextSwitchTo(values->context);
	values->by_code = palloc(Max(distinct, 1) * sizeof(Datum));
	rtscan_dictionary_visit(values->reader, values->column, values->type, 0, distinct, keep_value, values);
	MemoryContextSwitchTo(old);
}

void
rtscan_check_identical(const RtscanReader *reader, int column)
{
	if ((reader->segment->columns[column].header.flags & RTSCAN_COLUMN_IDENTICAL) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" has lost the images of some values of column %d",
						RelationGetRelationName(reader->index), column + 1),
				 errhint("Please REINDEX it.")));
}

RtscanValues *
rtscan_open_values(RtscanReader *reader, const RtscanSchema *schema, int column)
{
	RtscanValues *values = palloc0(sizeof(RtscanValues));

	values->reader = reader;
	values->type = &schema->columns[column];
	values->context = CurrentMemoryContext;
	values->is_key = column < schema->nkeys;
	values->column = values->is_key ? column : column - schema->nkeys;
	if (values->is_key)
		values->header = &reader->segment->columns[column].header;
	return values;
}

/* ---------------------------------------------------------------- codes */

/* A column in heap order: a row's rank is its number.  What ranges of ranks, code by code, give to some rows. */
typedef struct RankedRows
{
	const uint32 *rows;
	uint32		n;
	uint32		next;			/* the first row whose code is not known */
	uint32	   *codes;			/* or */
	const RtscanColumn *type;
	Datum	   *datums;
} RankedRows;

/* RtscanDictionaryVisitor */
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
}

/* Rows of a column in heap order, none of them NULL. */
static void
visit_ranks(RtscanValues *values, RankedRows *ranked)
{
	uint32		first = rtscan_code_at_rank(values->reader, values->column, values->type, ranked->rows[0]);
	uint32		ranks = ranked->rows[ranked->n - 1] - ranked->rows[0];

	/* Each code has a rank or more. */
	rtscan_dictionary_visit(values->reader, values->column, values->type, first,
							Min(values->header->distinct, first + ranks + 1), give_rows, ranked);
	if (ranked->next < ranked->n)
		rtscan_fault(values->reader, &values->header->dictionary, 0, "The dictionary has fewer ranks than it should.");
}

/* How many of some rows are not NULL, in a column in heap order: NULLs are last. */
static uint32
count_nonnull(const RtscanValues *values, const uint32 *rows, uint32 n)
{
	while (n > 0 && rows[n - 1] >= values->header->nonnull)
		n--;
	return n;
}

static void
read_codes(RtscanValues *values, const uint32 *rows, uint32 n, uint32 *codes)
{
	const RtscanColumnHeader *header = values->header;
	uint32		per_page = rtscan_per_page(header->code_bytes);

	for (uint32 i = 0; i < n;)
	{
		uint32		page = rows[i] / per_page;
		uint32		from = i;
		Buffer		buffer;
		Size		used;
		const char *payload = rtscan_get_page(values->reader, &header->codes, page, &buffer, &used);

		i = rtscan_find_row(rows, i, n, (page + 1) * per_page);
		rtscan_gather_codes(payload, header->code_bytes, page * per_page, rows + from, i - from, codes + from);
		rtscan_release(values->reader, buffer);
	}
	if (rtscan_largest_code(codes, n) > header->distinct)
		rtscan_fault(values->reader, &header->codes, 0, "There is a code that the dictionary does not have.");
}

uint32
rtscan_code_count(const RtscanValues *values)
{
	return values->header->distinct + 1;
}

void
rtscan_get_codes(RtscanValues *values, const uint32 *rows, uint32 n, uint32 *codes)
{
	uint32		nonnull;

	if ((values->header->flags & RTSCAN_COLUMN_HEAP_ORDER) == 0)
	{
		read_codes(values, rows, n, codes);
		return;
	}
	nonnull = count_nonnull(values, rows, n);
	if (nonnull > 0)
		visit_ranks(values, &(RankedRows) {.rows = rows, .n = nonnull, .codes = codes});
	for (uint32 i = nonnull; i < n; i++)
		codes[i] = values->header->distinct;
}

/* ---------------------------------------------------------------- values */

/* RtscanDictionaryVisitor */
static void
copy_value(uint32 code, uint64 value, uint32 first_rank, uint32 end_rank, void *arg)
{
	RankedRows *ranked = (RankedRows *) arg;

	*ranked->datums = dictionary_value(ranked->type, value);
}

static Datum
look_up(RtscanValues *values, uint32 code)
{
	Datum		datum = (Datum) 0;
	RankedRows	one = {.type = values->type, .datums = &datum};

	values->lookups++;
	rtscan_dictionary_visit(values->reader, values->column, values->type, code, code + 1, copy_value, &one);
	return datum;
}

Datum
rtscan_get_value(RtscanValues *values, uint32 code)
{
	return values->by_code ? values->by_code[code] : look_up(values, code);
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

static void
get_coded_values(RtscanValues *values, const uint32 *rows, uint32 n, Datum *datums, bool *isnull)
{
	uint32	   *codes = palloc(n * sizeof(uint32));

	prepare_dictionary(values, n);
	read_codes(values, rows, n, codes);
	for (uint32 i = 0; i < n; i++)
	{
		isnull[i] = codes[i] == values->header->distinct;
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

void
rtscan_get_values(RtscanValues *values, const uint32 *rows, uint32 n, Datum *datums, bool *isnull)
{
	if (!values->is_key)
	{
		rtscan_get_included(values->reader, values->column, values->type, rows, n, datums, isnull);
		return;
	}
	rtscan_check_identical(values->reader, values->column);
	if (values->header->flags & RTSCAN_COLUMN_HEAP_ORDER)
		get_ranked_values(values, rows, n, datums, isnull);
	else
		get_coded_values(values, rows, n, datums, isnull);
}

/* ---------------------------------------------------------------- decimals */

static bool
get_coded_decimals(RtscanValues *values, const uint32 *rows, uint32 n, int64 *digits, bool *isnull)
{
	uint32	   *codes;

	prepare_dictionary(values, n);
	prepare_digits(values);
	if (values->digits_by_code == NULL)
		return false;
	codes = palloc(n * sizeof(uint32));
	read_codes(values, rows, n, codes);
	rtscan_gather_coded(values->digits_by_code, values->header->distinct, codes, n, digits, isnull);
	pfree(codes);
	return true;
}

/* From the values themselves. */
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
	const RtscanIncludeHeader *header;

	*scale = 0;
	if (values->is_key)
	{
		rtscan_check_identical(values->reader, values->column);
		if ((values->header->flags & RTSCAN_COLUMN_HEAP_ORDER) == 0 &&
			get_coded_decimals(values, rows, n, digits, isnull))
		{
			*scale = values->scale;
			return true;
		}
		return convert_values(values, rows, n, digits, isnull, scale);
	}
	header = &values->reader->segment->includes[values->column].header;
	if (header->width == 0)
		return false;
	*scale = header->scale;
	rtscan_get_included_decimals(values->reader, values->column, rows, n, digits, isnull);
	return true;
}
