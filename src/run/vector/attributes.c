/* SPDX-License-Identifier: PostgreSQL */
/*
 * attributes.c
 *		Read the columns of a batch that belong to dimensions of a star.
 */
#include "run/vector/attributes.h"

#include "bits/bits.h"
#include "bits/gather.h"
#include "bits/multiversion.h"
#include "common/int.h"

/* Number of codes whose keys list_keys() stores in the time in which look_for_code() finds the key of one code. */
#define LISTED_CODES	128

/*
 * Number of codes whose values are looked up in the dimension in the time in which one key is looked up in a
 * dictionary.
 */
#define CODES_A_KEY		16

/* A dimension, and which of its keys and rows the batch's rows match. */
typedef struct Met
{
	RtscanDimension *dimension; /* the dimension */
	uint64		fetch;			/* number of the fetch that keys[] is for */
	uint32		keys[RTSCAN_CURSOR_ROWS];	/* by row fetched: number of its key; dimension->n: no key */
	uint64		batch;			/* number of the batch that rows[] is for */
	uint32		rows[RTSCAN_CURSOR_ROWS];	/* by row of the batch: number of the dimension's row */
	const RtscanSegmentScan *segment;	/* segment that by_code or "found" is for; NULL: none */
	uint64		loads;			/* number of the load of the dimension that by_code or "found" is for */
	uint32		capacity;		/* number of codes that by_code has room for */
	uint32	   *by_code;		/* by code: number of its key; not used if "found" is set */
	const RtscanFoundCodes *found;	/* if few rows match in the segment: codes of keys, ascending, among which the
									 * code of each row is looked up; else NULL */
	struct Met *parts[2];		/* the parts, if the keys of the dimension are pairs; else NULL */
} Met;

/* A column: its dimension, and its attribute there. */
typedef struct Place
{
	Met		   *met;
	RtscanAttribute *attribute;
} Place;

struct RtscanAttributes
{
	RtscanBatch *batch;			/* the batch */
	int			first;			/* number of the first column of a dimension */
	int			ndimensions;	/* number of dimensions */
	Met		  **met;			/* by dimension: its keys and rows that the batch's rows match */
	Place	   *places;			/* by column of a dimension: its place */

	/* Copies of the rows fetched. */
	uint32		row;			/* place of the next row */
	uint64		copy;			/* number of the next copy of that row, from 0 */
	bool		countable;		/* the number of copies of all rows fits into a bigint */
	uint64		copies[RTSCAN_CURSOR_ROWS]; /* by row: number of its copies; PG_UINT64_MAX: that many or more */
};

/* ---------------------------------------------------------------- begin */

static int
count_attributes(int ndimensions, RtscanDimension **dimensions)
{
	int			n = 0;

	for (int i = 0; i < ndimensions; i++)
		n += dimensions[i]->plan->attributes;
	return n;
}

static Met *
create_met(RtscanDimension *dimension)
{
	Met		   *met = palloc0(sizeof(Met));

	met->dimension = dimension;
	for (int i = 0; i < 2 && dimension->parts[0]; i++)
		met->parts[i] = create_met(dimension->parts[i]);
	return met;
}

RtscanAttributes *
rtscan_create_attributes(RtscanBatch *batch, int ndimensions, RtscanDimension **dimensions)
{
	RtscanAttributes *attributes = palloc0(sizeof(RtscanAttributes));
	int			n = 0;

	attributes->batch = batch;
	attributes->first = batch->schema->ncolumns;
	attributes->ndimensions = ndimensions;
	attributes->met = palloc0(Max(ndimensions, 1) * sizeof(Met *));
	attributes->places = palloc0(Max(count_attributes(ndimensions, dimensions), 1) * sizeof(Place));
	for (int i = 0; i < ndimensions; i++)
	{
		attributes->met[i] = create_met(dimensions[i]);
		for (int j = 0; j < dimensions[i]->plan->attributes; j++)
			attributes->places[n++] = (Place) {attributes->met[i], &dimensions[i]->attributes[j]};
	}
	return attributes;
}

TupleDesc
rtscan_describe_attributes(TupleDesc index, int ndimensions, RtscanDimension **dimensions)
{
	TupleDesc	tupdesc = CreateTemplateTupleDesc(index->natts + count_attributes(ndimensions, dimensions));
	int			n = 0;

	while (n < index->natts)
	{
		TupleDescCopyEntry(tupdesc, n + 1, index, n + 1);
		n++;
	}
	for (int i = 0; i < ndimensions; i++)
	{
		TupleDesc	row = ExecGetResultType(dimensions[i]->state);

		for (int j = row->natts - dimensions[i]->plan->attributes; j < row->natts; j++)
			TupleDescCopyEntry(tupdesc, ++n, row, j + 1);
	}
	TupleDescFinalize(tupdesc);
	return tupdesc;
}

static void
forget_segment(Met *met)
{
	met->segment = NULL;
	for (int i = 0; i < 2 && met->parts[0]; i++)
		forget_segment(met->parts[i]);
}

void
rtscan_forget_segments(RtscanAttributes *attributes)
{
	for (int i = 0; i < attributes->ndimensions; i++)
		forget_segment(attributes->met[i]);
}

/* ---------------------------------------------------------------- rows */

/* RtscanFoundVisitor: store the numbers of the keys whose codes have been found. */
static void
note_codes(const RtscanFound *found, uint32 n, void *arg)
{
	uint32	   *by_code = arg;

	for (uint32 i = 0; i < n; i++)
		by_code[found[i].place.code] = found[i].value;
}

/* RtscanValuesVisitor: look up the values of some codes among the keys of the dimension. */
static void
number_codes(uint32 code, uint32 n, const uint64 *keys, void *arg)
{
	const Met  *met = (const Met *) arg;

	rtscan_find_keys_in_dimension(met->dimension, keys, n, met->by_code + code);
}

/*
 * Return the codes of the dimension's keys, if they were found when the segment was searched for the keys; else NULL.
 */
static const RtscanFoundCodes *
found_codes(const RtscanSegmentScan *segment, const RtscanDimension *dimension)
{
	ListCell   *lc;

	foreach(lc, segment->filter.region.found)
	{
		const RtscanFoundCodes *found = lfirst(lc);

		if (found->values == dimension->keys)
			return found;
	}
	return NULL;
}

static void
make_room_for_codes(Met *met, RtscanBatch *batch, uint32 codes)
{
	if (met->capacity >= codes)
		return;
	if (met->by_code)
		pfree(met->by_code);
	met->by_code = MemoryContextAllocHuge(GetMemoryChunkContext(batch), codes * sizeof(uint32));
	met->capacity = codes;
}

/* Look up the keys in the dictionary. */
static void
find_codes(Met *met, RtscanBatch *batch, RtscanReader *reader)
{
	const RtscanDimension *dimension = met->dimension;
	int			column = dimension->plan->column;
	const RtscanProbes probes = {
		.column = &batch->schema->columns[column],
		.n = dimension->n,
		.keys = rtscan_dimension_keys(dimension),
		.compare = unconstify(FmgrInfo *, &dimension->compare_column),
		.values = dimension->keys,
	};

	rtscan_dictionary_find_all(reader, column, &probes, note_codes, met->by_code);
}

/*
 * Set by_code[] to the number of the key of each of a segment's codes: dimension->n for NULL, and for values that are
 * no key.  If "found" is not NULL, it has the codes of all keys in the segment.  Otherwise the keys are looked up in
 * the dictionary.  But if there are 64-bit keys, not much fewer than codes, the dictionary's values are looked up among
 * the keys.
 */
static void
list_keys(Met *met, RtscanBatch *batch, RtscanReader *reader, uint32 codes, const RtscanFoundCodes *found)
{
	RtscanDimension *dimension = met->dimension;
	int			column = dimension->plan->column;

	make_room_for_codes(met, batch, codes);
	if (found == NULL && rtscan_dimension_keys(dimension) && dimension->n >= codes / CODES_A_KEY)
	{
		rtscan_dictionary_visit_values(reader, column, &batch->schema->columns[column], 0,
									   reader->segment->columns[column].header.distinct, number_codes, met);
		met->by_code[codes - 1] = dimension->n;
		return;
	}
	for (uint32 i = 0; i < codes; i++)
		met->by_code[i] = dimension->n;
	if (found == NULL)
		find_codes(met, batch, reader);
	for (uint32 i = 0; found && i < found->n; i++)
		met->by_code[found->codes[i]] = found->numbers[i];
}

/*
 * Begin another segment.  If few rows match, and the search has found the keys' codes (found_codes()), the code of each
 * row is looked up in met->found, not in by_code[].
 */
static void
meet_segment(Met *met, RtscanBatch *batch, const RtscanSegmentScan *segment)
{
	RtscanReader *reader = &unconstify(RtscanSegmentScan *, segment)->reader;
	uint32		codes = reader->segment->columns[met->dimension->plan->column].header.distinct + 1;
	const RtscanFoundCodes *found = found_codes(segment, met->dimension);

	met->segment = segment;
	met->loads = met->dimension->loads;
	met->found = found && rtscan_cursor_segment_rows(batch->cursor) < codes / LISTED_CODES ? found : NULL;
	if (met->found == NULL)
		list_keys(met, batch, reader, codes, found);
}

/* Return the number of a code's key, or "none" if it has no key. */
static uint32
look_for_code(const RtscanFoundCodes *found, uint32 code, uint32 none)
{
	uint32		place = rtscan_find_row(found->codes, 0, found->n, code);

	return place < found->n && found->codes[place] == code ? found->numbers[place] : none;
}

static void
find_by_code(Met *met, RtscanBatch *batch)
{
	const RtscanSegmentScan *segment = rtscan_cursor_segment(batch->cursor);

	if (met->segment != segment || met->loads != met->dimension->loads)
		meet_segment(met, batch, segment);
	rtscan_cursor_codes(batch->cursor, met->dimension->plan->column, met->keys);
	for (uint32 i = 0; i < batch->n; i++)
		met->keys[i] = met->found ? look_for_code(met->found, met->keys[i], met->dimension->n)
			: met->by_code[met->keys[i]];
}

static void
find_by_value(Met *met, RtscanBatch *batch)
{
	int			column = met->dimension->plan->column;

	rtscan_load_own_column(batch, column);
	rtscan_find_in_dimension(met->dimension, batch->values[column], batch->isnull[column], batch->n, met->keys);
}

static bool
has_codes(const RtscanBatch *batch, int column)
{
	return column < batch->schema->nkeys && rtscan_cursor_segment(batch->cursor) &&
		rtscan_cursor_has_codes(batch->cursor, column);
}

static const uint32 *find_keys(Met *met, RtscanBatch *batch);

static void
find_by_parts(Met *met, RtscanBatch *batch)
{
	const uint32 *firsts = find_keys(met->parts[0], batch),
			   *seconds = find_keys(met->parts[1], batch);

	rtscan_find_pairs(met->dimension, firsts, seconds, batch->n, met->keys);
}

/*
 * Return the numbers of the dimension's keys that the rows fetched match.  The first call after a fetch must be made
 * while the batch consists of the rows fetched, not of copies.
 */
static const uint32 *
find_keys(Met *met, RtscanBatch *batch)
{
	if (met->fetch == batch->fetch)
		return met->keys;
	Assert(batch->sources == NULL);
	if (met->parts[0])
		find_by_parts(met, batch);
	else if (has_codes(batch, met->dimension->plan->column))
		find_by_code(met, batch);
	else
		find_by_value(met, batch);
	met->fetch = batch->fetch;
	return met->keys;
}

/*
 * Return the numbers of the dimension's rows that the batch's rows match.  If the batch consists of copies, and the
 * dimension has several rows of a key, meet_rows() has found them already.
 */
static const uint32 *
find_rows(Met *met, RtscanBatch *batch)
{
	const uint32 *keys = find_keys(met, batch);
	const uint32 *firsts = met->dimension->first_rows;

	if (batch->sources && firsts)
		return met->rows;
	if (batch->sources == NULL && firsts == NULL)
		return keys;
	if (met->batch != batch->number)
		for (uint32 i = 0; i < batch->n; i++)
			met->rows[i] = batch->sources ? keys[batch->sources[i]] : firsts[keys[i]];
	met->batch = batch->number;
	return met->rows;
}

/* ---------------------------------------------------------------- copies */

/*
 * Return copies * rows, or PG_UINT64_MAX if that overflows.  No query can return so many copies, but a query
 * with LIMIT may return the first ones.
 */
static inline uint64
multiply_copies(uint64 copies, uint64 rows)
{
	uint64		product;

	return pg_mul_u64_overflow(copies, rows, &product) ? PG_UINT64_MAX : product;
}

/*
 * Count the copies of the rows fetched.  A row that is not wanted has no copies.  Returns false if no row has more
 * than one copy.
 */
static bool
count_copies(RtscanAttributes *attributes)
{
	RtscanBatch *batch = attributes->batch;
	bool		several = false;
	uint64		all = 0;

	for (uint32 i = 0; i < batch->n; i++)
		attributes->copies[i] = batch->wanted == NULL || rtscan_bit_is_set(batch->wanted, i);
	for (int d = 0; d < attributes->ndimensions; d++)
	{
		Met		   *met = attributes->met[d];
		const uint32 *keys = met->dimension->first_rows ? find_keys(met, batch) : NULL;

		for (uint32 i = 0; keys && i < batch->n; i++)
			attributes->copies[i] = multiply_copies(attributes->copies[i], rtscan_rows_of_key(met->dimension, keys[i]));
	}
	attributes->countable = true;
	for (uint32 i = 0; i < batch->n; i++)
	{
		several |= attributes->copies[i] > 1;
		attributes->countable &= !pg_add_u64_overflow(all, attributes->copies[i], &all) && all <= PG_INT64_MAX;
	}
	return several;
}

static bool
any_has_several(const RtscanAttributes *attributes)
{
	for (int d = 0; d < attributes->ndimensions; d++)
		if (attributes->met[d]->dimension->first_rows)
			return true;
	return false;
}

bool
rtscan_attributes_repeat(const RtscanAttributes *attributes)
{
	return attributes && any_has_several(attributes);
}

bool
rtscan_begin_copies(RtscanAttributes *attributes)
{
	attributes->row = 0;
	attributes->copy = 0;
	if (!any_has_several(attributes) || !count_copies(attributes))
		return false;
	for (int d = 0; d < attributes->ndimensions; d++)
		find_keys(attributes->met[d], attributes->batch);
	return true;
}

bool
rtscan_copies_are_countable(const RtscanAttributes *attributes)
{
	return attributes->countable;
}

/*
 * Find the row of a dimension that each of n copies matches.  digits[] has the number of each copy among the copies of
 * the same row.  This number has a digit for each dimension with several rows of a key; the digit selects one of the
 * key's rows.  The digit of this dimension is removed.
 */
static void
meet_rows(Met *met, const uint16 *sources, uint64 *digits, uint32 n)
{
	const RtscanDimension *dimension = met->dimension;

	for (uint32 i = 0; i < n; i++)
	{
		uint32		key = met->keys[sources[i]];
		uint32		rows = rtscan_rows_of_key(dimension, key);

		met->rows[i] = dimension->first_rows[key] + digits[i] % rows;
		digits[i] /= rows;
	}
}

uint32
rtscan_next_copies(RtscanAttributes *attributes, uint16 *sources)
{
	uint64		digits[RTSCAN_CURSOR_ROWS];
	uint32		fetched = attributes->batch->nfetched,
				n = 0;

	while (n < RTSCAN_CURSOR_ROWS && attributes->row < fetched)
	{
		if (attributes->copy == attributes->copies[attributes->row])
		{
			attributes->row++;
			attributes->copy = 0;
			continue;
		}
		sources[n] = attributes->row;
		digits[n++] = attributes->copy++;
	}
	for (int d = 0; d < attributes->ndimensions; d++)
		if (attributes->met[d]->dimension->first_rows)
			meet_rows(attributes->met[d], sources, digits, n);
	return n;
}

/* ---------------------------------------------------------------- values */

static const Place *
place_of(const RtscanAttributes *attributes, int column)
{
	return &attributes->places[column - attributes->first];
}

void
rtscan_attribute_values(RtscanAttributes *attributes, int column, Datum *values, bool *isnull)
{
	const Place *place = place_of(attributes, column);
	const uint32 *rows = find_rows(place->met, attributes->batch);

	for (uint32 i = 0; i < attributes->batch->n; i++)
	{
		values[i] = place->attribute->values[rows[i]];
		isnull[i] = place->attribute->isnull[rows[i]];
	}
}

RTSCAN_MULTIVERSION static void
gather_integers(const RtscanAttribute *attribute, const uint32 *rows, uint32 n, int64 *integers, bool *isnull)
{
	for (uint32 i = 0; i < n; i++)
	{
		integers[i] = attribute->integers[rows[i]];
		isnull[i] = attribute->isnull[rows[i]];
	}
}

bool
rtscan_attribute_decimals(RtscanAttributes *attributes, int column, int64 *integers, bool *isnull, int *scale)
{
	const Place *place = place_of(attributes, column);

	if (!rtscan_attribute_integers(place->met->dimension, place->attribute))
		return false;
	*scale = place->attribute->scale;
	gather_integers(place->attribute, find_rows(place->met, attributes->batch), attributes->batch->n, integers, isnull);
	return true;
}

void
rtscan_attribute_codes(RtscanAttributes *attributes, int column, uint32 *codes)
{
	const Place *place = place_of(attributes, column);
	const uint32 *rows = find_rows(place->met, attributes->batch);

	for (uint32 i = 0; i < attributes->batch->n; i++)
		codes[i] = place->attribute->numbers[rows[i]];
}

uint32
rtscan_attribute_code_count(RtscanAttributes *attributes, int column)
{
	const Place *place = place_of(attributes, column);

	rtscan_number_attribute(place->met->dimension, place->attribute);
	return place->attribute->count;
}

uint64
rtscan_attribute_loads(const RtscanAttributes *attributes, int column)
{
	return place_of(attributes, column)->met->dimension->loads;
}

/* ---------------------------------------------------------------- composites */

List *
rtscan_compose_attributes(const RtscanAttributes *attributes, const Bitmapset *columns)
{
	List	   *composites = NIL;

	for (int d = 0; attributes && d < attributes->ndimensions; d++)
	{
		RtscanDimension *dimension = attributes->met[d]->dimension;
		RtscanAttribute **composed = palloc(Max(dimension->plan->attributes, 1) * sizeof(RtscanAttribute *));
		int			column = attributes->first - 1,
					n = 0;

		while ((column = bms_next_member(columns, column)) >= 0)
			if (place_of(attributes, column)->met == attributes->met[d])
				composed[n++] = place_of(attributes, column)->attribute;
		if (n > 0)
			composites = lappend(composites, rtscan_create_composite(dimension, composed, n));
		pfree(composed);
	}
	return composites;
}

int
rtscan_find_in_composite(const RtscanAttributes *attributes, const RtscanComposite *composite, int column)
{
	for (int i = 0; column >= attributes->first && i < composite->n; i++)
		if (composite->attributes[i] == place_of(attributes, column)->attribute)
			return i;
	return -1;
}

void
rtscan_composite_codes(RtscanAttributes *attributes, const RtscanComposite *composite, uint32 *codes)
{
	int			d = 0;
	const uint32 *rows;

	while (attributes->met[d]->dimension != composite->dimension)
		d++;
	rows = find_rows(attributes->met[d], attributes->batch);
	for (uint32 i = 0; i < attributes->batch->n; i++)
		codes[i] = composite->numbers[rows[i]];
}

/* ---------------------------------------------------------------- numbers by key */

const RtscanDeviceAggMap *
rtscan_find_attribute_map(RtscanAttributes *attributes, int column, int *key_column)
{
	const Place *place = place_of(attributes, column);
	RtscanDimension *dimension = place->met->dimension;

	/* The index has no single column for the keys of a pair. */
	if (dimension->parts[0])
		return NULL;
	*key_column = dimension->plan->column;
	return rtscan_attribute_map(dimension, place->attribute, &attributes->batch->schema->columns[*key_column]);
}

Datum
rtscan_attribute_of_number(const RtscanAttributes *attributes, int column, uint32 number)
{
	const RtscanAttribute *attribute = place_of(attributes, column)->attribute;

	return attribute->values[attribute->rows_of_numbers[number]];
}
