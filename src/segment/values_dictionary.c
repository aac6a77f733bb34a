/* SPDX-License-Identifier: PostgreSQL */
/*
 * values_dictionary.c
 *		Read the values of codes from a column's dictionary: the whole dictionary once, or the values that are wanted.
 */
#include "segment/values_parts.h"

#include "bits/bits.h"
#include "row/decimal.h"
#include "segment/dictionary.h"

/* ---------------------------------------------------------------- reading the dictionary */

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
		key->datums[code - key->first + i] = rtscan_visited_value(key->type, values[i]);
}

/*
 * Read the values of the dictionary from the code "first" up to "end", exclusively.  Values passed by reference are in
 * the current memory context.
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
		rtscan_make_values(header->exact, header->scale, (int64 *) datums, end - first, NULL, datums);
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

/* Values of a dictionary that are kept. */
typedef struct KeptValues
{
	const RtscanColumn *type;	/* the column */
	const uint64 *used;			/* a bit for each code: its value is kept */
	Datum	   *by_code;		/* receives the values */
} KeptValues;

/* RtscanValuesVisitor.  Stores values that are kept. */
static void
keep_values(uint32 code, uint32 n, const uint64 *values, void *arg)
{
	KeptValues *kept = (KeptValues *) arg;

	for (uint32 i = 0; i < n; i++)
		if (rtscan_bit_is_set(kept->used, code + i))
			kept->by_code[code + i] = rtscan_visited_value(kept->type, values[i]);
}

void
rtscan_keep_values_of(RtscanValues *values, const uint64 *used)
{
	MemoryContext old = MemoryContextSwitchTo(values->context);

	values->by_code = palloc_extended(Max(values->distinct, 1) * sizeof(Datum), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	rtscan_dictionary_visit_values(values->reader, values->column, values->type, 0, values->distinct, keep_values,
								   &(KeptValues) {values->type, used, values->by_code});
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

/* Must numerics be converted to integers?  They need not be if the dictionary has integers. */
static bool
converts_numerics(const RtscanValues *values)
{
	return values->type->numeric && (values->is_key || values->include->header.exact != RTSCAN_EXACT_DECIMAL);
}

/* The integers of a dictionary of numerics. */
typedef struct KeyDecimals
{
	int64	   *digits;			/* by code: its integer */
	int			scale;			/* scale of all of them; -1: not known yet */
	bool		fit;			/* do all numerics fit, and have the same scale? */
} KeyDecimals;

/* RtscanValuesVisitor.  Converts numerics where they lie in the dictionary. */
static void
take_decimals(uint32 code, uint32 n, const uint64 *values, void *arg)
{
	KeyDecimals *key = (KeyDecimals *) arg;

	for (uint32 i = 0; i < n && key->fit; i++)
	{
		RtscanDecimal decimal;

		key->fit = rtscan_decimal_from_numeric((Datum) values[i], &decimal) &&
			(key->scale < 0 || decimal.scale == key->scale);
		key->scale = key->fit ? decimal.scale : key->scale;
		key->digits[code + i] = key->fit ? decimal.digits : 0;
	}
}

/* The same as read_exact_numerics(), for a key column whose dictionary has values, not keys. */
static bool
visit_exact_numerics(RtscanValues *values, int64 *exact)
{
	KeyDecimals key = {.digits = exact, .scale = -1, .fit = true};

	rtscan_dictionary_visit_values(values->reader, values->column, values->type, 0, values->distinct, take_decimals,
								   &key);
	values->scale = Max(key.scale, 0);
	return key.fit;
}

/*
 * Read the exact integers of a dictionary of numerics.  Returns false if the numerics do not fit into integers, or
 * have several scales.
 */
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
	if (values->is_key && values->type->key_kind == RTSCAN_KEY_NONE)
		return visit_exact_numerics(values, exact);
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
			rtscan_visited_value(wanted->type, values[codes[i] - code]);
}

/*
 * Return the last code of the run that begins with codes[first].  The codes of a run are so near to each other that
 * visiting the codes between them costs less than a lookup.
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
 * Are the codes a single run that spans less than half of the dictionary?  Then the first call reads only the run: if
 * no other codes are wanted later, the rest of the dictionary need not be read.
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
	/* With images besides the dictionary's, the numerics of one code may have several scales. */
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

void
rtscan_get_coded_values(RtscanValues *values, const uint32 *rows, uint32 n, Datum *datums, bool *isnull)
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
