/* SPDX-License-Identifier: PostgreSQL */
/*
 * include.c
 *		Read PLAIN values, and dictionaries, of INCLUDE columns.
 */
#include "segment/include.h"

#include "access/tupmacs.h"
#include "bits/gather.h"
#include "miscadmin.h"
#include "row/decimal.h"
#include "segment/look_ahead.h"
#include "utils/datum.h"

/* ---------------------------------------------------------------- packed */

/* Find out which of n rows are NULL, from one page of bits after another. */
static void
get_nulls(RtscanReader *reader, const RtscanArea *area, const uint32 *rows, uint32 n, bool *isnull)
{
	memset(isnull, false, n * sizeof(bool));
	for (uint32 i = 0; i < n && area->pages > 0;)
	{
		uint32		page = rows[i] / RTSCAN_CHUNK_ROWS;
		uint32		first = page * RTSCAN_CHUNK_ROWS;
		Buffer		buffer;
		Size		used;
		const uint8 *payload = (const uint8 *) rtscan_get_page(reader, area, page, &buffer, &used);

		for (; i < n && rows[i] / RTSCAN_CHUNK_ROWS == page; i++)
			isnull[i] = (payload[(rows[i] - first) / 8] >> (rows[i] % 8)) & 1;
		rtscan_release(reader, buffer);
	}
}

/*
 * Called for the packed values of rows[from .. end - 1], which are all on one page.  first_row is the row of the
 * page's first value.
 */
typedef void (*PlacesVisitor) (const char *payload, const uint32 *rows, uint32 first_row, uint32 from, uint32 end,
							   void *arg);

/* Call a visitor for the packed values of n rows, a page at a time. */
static void
visit_places(RtscanReader *reader, const RtscanIncludeHeader *header, const uint32 *rows, uint32 n,
			 PlacesVisitor visitor, void *arg)
{
	uint32		per_page = rtscan_per_page(header->width);
	RtscanLookAhead ahead = rtscan_begin_looking_ahead(&header->values, 0, 0, header->width * 8, rows, n);

	for (uint32 i = 0; i < n;)
	{
		uint32		page = rows[i] / per_page;
		uint32		from = i;
		Buffer		buffer;
		Size		used;
		const char *payload;

		rtscan_look_ahead(reader, &ahead, i);
		payload = rtscan_get_page(reader, &header->values, page, &buffer, &used);
		i = rtscan_find_row(rows, i, n, (page + 1) * per_page);
		visitor(payload, rows, page * per_page, from, i, arg);
		rtscan_release(reader, buffer);
	}
}

/* Return the value at a place of a packed page; a numeric is allocated in the current memory context. */
static Datum
packed_value(const RtscanIncludeHeader *header, const RtscanColumn *type, const char *place)
{
	RtscanDecimal decimal = {.scale = header->scale};

	if (!type->numeric)
		return fetch_att(place, type->typbyval, type->typlen);
	memcpy(&decimal.digits, place, sizeof(int64));
	return rtscan_numeric_from_decimal(decimal);
}

/* Packed values to copy, and where to copy them. */
typedef struct PackedValues
{
	const RtscanIncludeHeader *header;	/* describes the values */
	const RtscanColumn *type;	/* the column */
	Datum	   *values;			/* receives the values */
	const bool *isnull;			/* which values are NULL */
} PackedValues;

/* PlacesVisitor.  Copies values. */
static void
copy_values(const char *payload, const uint32 *rows, uint32 first_row, uint32 from, uint32 end, void *arg)
{
	PackedValues *packed = (PackedValues *) arg;
	const RtscanColumn *type = packed->type;

	for (uint32 i = from; i < end; i++)
	{
		const char *place = payload + (Size) (rows[i] - first_row) * packed->header->width;

		if (packed->isnull[i])
			packed->values[i] = (Datum) 0;
		else if (type->typbyval || type->numeric)
			packed->values[i] = packed_value(packed->header, type, place);
		else
			packed->values[i] = datumCopy(PointerGetDatum(place), false, type->typlen);
	}
}

/* Packed integers to copy, and where to copy them. */
typedef struct PackedIntegers
{
	uint32		width;			/* bytes of an integer on a page */
	int64	   *values;			/* receives the integers */
} PackedIntegers;

/* PlacesVisitor.  Copies integers. */
static void
copy_integers(const char *payload, const uint32 *rows, uint32 first_row, uint32 from, uint32 end, void *arg)
{
	PackedIntegers *packed = (PackedIntegers *) arg;

	rtscan_gather_integers(payload, packed->width, first_row, rows + from, end - from, packed->values + from);
}

/* ---------------------------------------------------------------- whole */

/* Whole values to read: those of some rows of a column, or of some codes of a dictionary. */
typedef struct WantedValues
{
	const RtscanColumn *type;	/* the column */
	const uint32 *rows;			/* the rows or codes, in ascending order; NULL: all from "first" on */
	uint32		first;			/* first row or code, if "rows" is NULL */
	uint32		n;				/* number of values to read */
	uint32		next;			/* number of values that have been read */
	Datum	   *values;			/* receives the values */
	bool	   *isnull;			/* receives which values are NULL; the pointer is NULL if no value may be NULL */
} WantedValues;

static inline uint32
next_wanted(const WantedValues *wanted)
{
	return wanted->rows ? wanted->rows[wanted->next] : wanted->first + wanted->next;
}

/*
 * Copy the wanted value at an offset of a page; offset 0 is NULL.  Returns false if the value is not within the page,
 * or is NULL although no value may be NULL.
 */
static bool
take_value(WantedValues *wanted, const char *payload, uint32 values_end, uint16 offset)
{
	Datum		value = (Datum) 0;
	Size		size;

	if (offset == 0 ? wanted->isnull == NULL : offset >= values_end ||
		!rtscan_fetch_value(wanted->type, payload + offset, payload + values_end, &value, &size))
		return false;
	if (wanted->isnull)
		wanted->isnull[wanted->next] = offset == 0;
	wanted->values[wanted->next] = offset == 0 ? value : datumCopy(value, wanted->type->typbyval, wanted->type->typlen);
	wanted->next++;
	return true;
}

/* Copy the wanted values of a page that has the rows from "first" up to "end", exclusively. */
static bool
take_page(WantedValues *wanted, const char *payload, Size used, uint32 first, uint32 end)
{
	RtscanIncludePage page;

	if (used < sizeof(page))
		return false;
	memcpy(&page, payload, sizeof(page));
	if (page.first_row != first || page.rows != end - first ||
		page.values_end > used || page.values_end + page.rows * sizeof(uint16) > used)
		return false;
	while (wanted->next < wanted->n && next_wanted(wanted) < end)
	{
		uint16		offset;

		memcpy(&offset, payload + page.values_end + (next_wanted(wanted) - first) * sizeof(uint16), sizeof(uint16));
		if (!take_value(wanted, payload, page.values_end, offset))
			return false;
	}
	return true;
}

/* Read the wanted values from an area of pages of whole values.  The area has "rows" rows in all. */
static void
get_whole(RtscanReader *reader, const RtscanArea *area, const uint32 *first_rows, uint32 rows, WantedValues *wanted)
{
	while (wanted->next < wanted->n)
	{
		uint32		i = rtscan_last_not_above(first_rows, area->pages, next_wanted(wanted));
		uint32		end = i + 1 < area->pages ? first_rows[i + 1] : rows;
		Buffer		buffer;
		Size		used;
		const char *payload = rtscan_get_page(reader, area, i, &buffer, &used);
		bool		sane = take_page(wanted, payload, used, first_rows[i], end);

		CHECK_FOR_INTERRUPTS();
		rtscan_release(reader, buffer);
		if (!sane)
			rtscan_fault(reader, area, i, "The values of a page contradict its header.");
	}
}

/* ---------------------------------------------------------------- plain columns */

void
rtscan_get_plain(RtscanReader *reader, const RtscanSegmentInclude *include, const RtscanColumn *type,
				 const uint32 *rows, uint32 n, Datum *values, bool *isnull)
{
	PackedValues packed = {&include->header, type, values, isnull};
	WantedValues wanted = {.type = type, .rows = rows, .n = n, .values = values, .isnull = isnull};

	if (include->header.width == 0)
	{
		get_whole(reader, &include->header.values, include->first_rows, reader->segment->header.rows, &wanted);
		return;
	}
	get_nulls(reader, &include->header.nulls, rows, n, isnull);
	visit_places(reader, &include->header, rows, n, copy_values, &packed);
}

void
rtscan_get_plain_integers(RtscanReader *reader, const RtscanSegmentInclude *include, const uint32 *rows, uint32 n,
						  int64 *integers, bool *isnull)
{
	PackedIntegers packed = {include->header.width, integers};

	get_nulls(reader, &include->header.nulls, rows, n, isnull);
	visit_places(reader, &include->header, rows, n, copy_integers, &packed);
}

/* ---------------------------------------------------------------- dictionaries */

void
rtscan_get_dictionary_integers(RtscanReader *reader, const RtscanSegmentInclude *include, uint32 first, uint32 end,
							   int64 *integers)
{
	const RtscanArea *area = &include->codes.dictionary;
	uint32		per_page = rtscan_per_page(sizeof(int64));

	for (uint32 code = first; code < end;)
	{
		uint32		page = code / per_page;
		uint32		stop = Min(end, (page + 1) * per_page);
		Buffer		buffer;
		Size		used;
		const char *payload = rtscan_get_page(reader, area, page, &buffer, &used);

		memcpy(integers + (code - first), payload + (code - page * per_page) * sizeof(int64),
			   (stop - code) * sizeof(int64));
		rtscan_release(reader, buffer);
		code = stop;
	}
}

void
rtscan_get_dictionary_values(RtscanReader *reader, const RtscanSegmentInclude *include, const RtscanColumn *type,
							 uint32 first, uint32 end, Datum *values)
{
	WantedValues wanted = {.type = type, .first = first, .n = end - first, .values = values};

	get_whole(reader, &include->codes.dictionary, include->first_rows, include->codes.distinct, &wanted);
}
