/*
 * include.c
 *		Write and read values of INCLUDE columns.
 */
#include "segment/include.h"

#include "access/tupmacs.h"
#include "bits/gather.h"
#include "miscadmin.h"
#include "row/decimal.h"
#include "utils/datum.h"

/*
 * Rows whose values are brought into the processor's cache ahead, where only one of so many is
 * wanted; it does that by itself otherwise.
 */
#define PREFETCH_ROWS	64
#define SPARSE_ROWS		4

/* ---------------------------------------------------------------- writing */

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
write_packed(RtscanAreaWriter *areas, const RtscanColumn *type, const int64 *decimals, uint32 width,
			 const RtscanColumnRows *column, uint32 rows)
{
	RtscanPacker packer = rtscan_packer(areas, RTSCAN_PAGE_INCLUDE, width);

	for (uint32 row = 0; row < rows; row++)
	{
		char	   *room = rtscan_packer_next(&packer);

		if (decimals)
			memcpy(room, &decimals[row], sizeof(int64));
		else if (!rtscan_row_is_null(column, row))
			rtscan_store_value(type, room, (Datum) column->values[row], width);
	}
	return rtscan_packer_end(&packer);
}

/* The values of a column of numerics as integers, or NULL where they cannot be. */
static int64 *
make_decimals(const RtscanColumnRows *column, uint32 rows, int *scale)
{
	int64	   *digits = palloc_extended(rows * sizeof(int64), MCXT_ALLOC_HUGE);
	bool		found = false;

	for (uint32 row = 0; row < rows; row++)
	{
		RtscanDecimal decimal = {0, 0};

		if (rtscan_row_is_null(column, row))
		{
			digits[row] = 0;
			continue;
		}
		if (row % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		if (!rtscan_decimal_from_numeric((Datum) column->values[row], &decimal) ||
			(found && decimal.scale != *scale))
		{
			pfree(digits);
			return NULL;
		}
		digits[row] = decimal.digits;
		*scale = decimal.scale;
		found = true;
	}
	return digits;
}

/* A page of whole values while it is being filled. */
typedef struct WholePage
{
	RtscanIncludePage page;
	char		values[RTSCAN_CHUNK_BYTES];
	uint16		offsets[RTSCAN_CHUNK_BYTES / sizeof(uint16)];
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

static RtscanArea
write_whole(RtscanAreaWriter *areas, const RtscanColumn *type,
			const RtscanColumnRows *column, uint32 rows, StringInfo first_rows)
{
	WholePage  *whole = palloc0(sizeof(WholePage));

	whole->page.values_end = sizeof(RtscanIncludePage);
	rtscan_area_begin(areas, RTSCAN_PAGE_INCLUDE);
	for (uint32 row = 0; row < rows; row++)
		add_whole(areas, whole, type, (Datum) column->values[row],
				  rtscan_row_is_null(column, row), first_rows);
	emit_whole(areas, whole, first_rows);
	pfree(whole);
	return rtscan_area_end(areas);
}

void
rtscan_write_include(RtscanAreaWriter *areas, const RtscanColumn *type,
					 const RtscanColumnRows *column, uint32 rows, StringInfo descriptor)
{
	RtscanIncludeHeader header = {.width = rtscan_packed_width(type)};
	int			scale = 0;
	int64	   *decimals = type->numeric ? make_decimals(column, rows, &scale) : NULL;
	StringInfoData first_rows;

	initStringInfo(&first_rows);
	if (type->numeric && decimals == NULL)
		header.width = 0;
	if (header.width > 0)
	{
		header.scale = scale;
		if (column->null_count > 0)
			header.nulls = write_nulls(areas, column, rows);
		header.values = write_packed(areas, type, decimals, header.width, column, rows);
	}
	else
		header.values = write_whole(areas, type, column, rows, &first_rows);
	rtscan_append_part(descriptor, &header, sizeof(header));
	rtscan_append_part(descriptor, first_rows.data, first_rows.len);
	pfree(first_rows.data);
	if (decimals)
		pfree(decimals);
}

/* ---------------------------------------------------------------- reading */

/* NULL bits of a column as an array, or NULL if it has none. */
static uint8 *
read_nulls(RtscanReader *reader, const RtscanArea *area)
{
	Size		bytes = (reader->segment->header.rows + 7) / 8;
	uint8	   *nulls = area->pages > 0 ? palloc(bytes) : NULL;

	for (uint32 i = 0; i < area->pages; i++)
	{
		Buffer		buffer;
		Size		used,
					from = (Size) i * RTSCAN_CHUNK_BYTES;
		const char *payload = rtscan_get_page(reader, area, i, &buffer, &used);

		memcpy(nulls + from, payload, Min(bytes - from, RTSCAN_CHUNK_BYTES));
		rtscan_release(reader, buffer);
	}
	return nulls;
}

/* The value at a place of a packed page; of a numeric, in the current memory context. */
static Datum
packed_value(const RtscanIncludeHeader *header, const RtscanColumn *type, const char *place)
{
	RtscanDecimal decimal = {.scale = header->scale};

	if (!type->numeric)
		return fetch_att(place, type->typbyval, type->typlen);
	memcpy(&decimal.digits, place, sizeof(int64));
	return rtscan_numeric_from_decimal(decimal);
}

static void
visit_packed(RtscanReader *reader, const RtscanIncludeHeader *header, const RtscanColumn *type,
			 RtscanIncludeVisitor visitor, void *arg)
{
	uint8	   *nulls = read_nulls(reader, &header->nulls);
	uint32		per_page = rtscan_per_page(header->width);
	uint32		rows = reader->segment->header.rows;

	for (uint32 i = 0; i < header->values.pages; i++)
	{
		Buffer		buffer;
		Size		used;
		const char *payload = rtscan_get_page(reader, &header->values, i, &buffer, &used);
		uint32		first = i * per_page;

		CHECK_FOR_INTERRUPTS();
		for (uint32 row = first; row < Min(first + per_page, rows); row++)
		{
			bool		isnull = nulls && ((nulls[row / 8] >> (row % 8)) & 1);
			Datum		value = isnull ? (Datum) 0 :
				packed_value(header, type, payload + (Size) (row - first) * header->width);

			visitor(row, value, isnull, arg);
			if (type->numeric && !isnull)
				pfree(DatumGetPointer(value));
		}
		rtscan_release(reader, buffer);
	}
	if (nulls)
		pfree(nulls);
}

/* A page of the rows from first up to end. */
static bool
visit_values(const char *payload, Size used, uint32 first, uint32 end, const RtscanColumn *type,
			 RtscanIncludeVisitor visitor, void *arg)
{
	RtscanIncludePage page;

	if (used < sizeof(page))
		return false;
	memcpy(&page, payload, sizeof(page));
	if (page.first_row != first || page.rows != end - first ||
		page.values_end > used || page.values_end + page.rows * sizeof(uint16) > used)
		return false;
	for (uint32 i = 0; i < page.rows; i++)
	{
		uint16		offset;
		Datum		value = (Datum) 0;
		Size		size;

		memcpy(&offset, payload + page.values_end + i * sizeof(uint16), sizeof(uint16));
		if (offset != 0 && (offset >= page.values_end ||
							!rtscan_fetch_value(type, payload + offset, payload + page.values_end,
												&value, &size)))
			return false;
		visitor(page.first_row + i, value, offset == 0, arg);
	}
	return true;
}

/* Page i of a column. */
static void
visit_page(RtscanReader *reader, const RtscanSegmentInclude *include, const RtscanColumn *type, uint32 i,
		   RtscanIncludeVisitor visitor, void *arg)
{
	const RtscanArea *area = &include->header.values;
	Buffer		buffer;
	Size		used;
	uint32		end = i + 1 < area->pages ? include->first_rows[i + 1] : reader->segment->header.rows;
	const char *payload = rtscan_get_page(reader, area, i, &buffer, &used);
	bool		sane = visit_values(payload, used, include->first_rows[i], end, type, visitor, arg);

	CHECK_FOR_INTERRUPTS();
	rtscan_release(reader, buffer);
	if (!sane)
		rtscan_fault(reader, area, i, "The values of a page contradict its header.");
}

static void
visit_whole(RtscanReader *reader, const RtscanSegmentInclude *include, const RtscanColumn *type,
			RtscanIncludeVisitor visitor, void *arg)
{
	for (uint32 i = 0; i < include->header.values.pages; i++)
		visit_page(reader, include, type, i, visitor, arg);
}

void
rtscan_visit_include(RtscanReader *reader, int i, const RtscanColumn *type,
					 RtscanIncludeVisitor visitor, void *arg)
{
	RtscanSegmentInclude *include = &reader->segment->includes[i];

	if (include->header.width > 0)
		visit_packed(reader, &include->header, type, visitor, arg);
	else
		visit_whole(reader, include, type, visitor, arg);
}

/* ---------------------------------------------------------------- some rows */

/* Which of some rows are NULL; from one page of bits to the next. */
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

/* Call a function with the places of some rows' packed values, a page at a time. */
typedef void (*PlacesVisitor) (const char *payload, const uint32 *rows, uint32 first_row, uint32 from, uint32 end,
							   void *arg);

/* Bring the places of rows into the processor's cache, from one row up to another. */
static void
prefetch_places(RtscanReader *reader, const RtscanIncludeHeader *header, const uint32 *rows, uint32 from, uint32 end)
{
	uint32		per_page = rtscan_per_page(header->width);
	uint32		last_page = PG_UINT32_MAX;

	for (uint32 i = from; i < end; i++)
	{
		uint32		page = rows[i] / per_page;

		if (page != last_page)
			rtscan_prefetch_head(reader, &header->values, page);
		rtscan_prefetch_place(reader, &header->values, page, (Size) (rows[i] - page * per_page) * header->width);
		last_page = page;
	}
}

static void
visit_places(RtscanReader *reader, const RtscanIncludeHeader *header, const uint32 *rows, uint32 n,
			 PlacesVisitor visitor, void *arg)
{
	uint32		per_page = rtscan_per_page(header->width);
	bool		sparse = n > 0 && (rows[n - 1] - rows[0]) / n >= SPARSE_ROWS;
	uint32		prefetched = 0;

	for (uint32 i = 0; i < n;)
	{
		uint32		page = rows[i] / per_page;
		uint32		from = i;
		uint32		ahead = Min(n, i + PREFETCH_ROWS);
		Buffer		buffer;
		Size		used;
		const char *payload;

		if (sparse)
			prefetch_places(reader, header, rows, prefetched, ahead);
		prefetched = Max(prefetched, ahead);
		payload = rtscan_get_page(reader, &header->values, page, &buffer, &used);
		i = rtscan_find_row(rows, i, n, (page + 1) * per_page);
		visitor(payload, rows, page * per_page, from, i, arg);
		rtscan_release(reader, buffer);
	}
}

typedef struct PackedValues
{
	const RtscanIncludeHeader *header;
	const RtscanColumn *type;
	Datum	   *values;
	const bool *isnull;
} PackedValues;

/* PlacesVisitor */
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

/* Where integers are copied to, and how many bytes they have on a page. */
typedef struct PackedIntegers
{
	uint32		width;
	int64	   *values;
} PackedIntegers;

/* PlacesVisitor */
static void
copy_integers(const char *payload, const uint32 *rows, uint32 first_row, uint32 from, uint32 end, void *arg)
{
	PackedIntegers *packed = (PackedIntegers *) arg;

	rtscan_gather_integers(payload, packed->width, first_row, rows + from, end - from, packed->values + from);
}

/* The page of whole values that has a row. */
static uint32
find_whole_page(const RtscanSegmentInclude *include, uint32 row)
{
	return rtscan_last_not_above(include->first_rows, include->header.values.pages, row);
}

/* Those of the rows visited whose values are wanted. */
typedef struct WantedValues
{
	const RtscanColumn *type;
	const uint32 *rows;
	uint32		n;
	uint32		next;
	Datum	   *values;
	bool	   *isnull;
} WantedValues;

/* RtscanIncludeVisitor */
static void
take_wanted(uint32 row, Datum value, bool isnull, void *arg)
{
	WantedValues *wanted = (WantedValues *) arg;

	if (wanted->next == wanted->n || wanted->rows[wanted->next] != row)
		return;
	wanted->isnull[wanted->next] = isnull;
	wanted->values[wanted->next] = isnull ? (Datum) 0 : datumCopy(value, wanted->type->typbyval, wanted->type->typlen);
	wanted->next++;
}

static void
get_whole(RtscanReader *reader, const RtscanSegmentInclude *include, WantedValues *wanted)
{
	while (wanted->next < wanted->n)
		visit_page(reader, include, wanted->type, find_whole_page(include, wanted->rows[wanted->next]),
								take_wanted, wanted);
}

void
rtscan_get_included(RtscanReader *reader, int i, const RtscanColumn *type,
					const uint32 *rows, uint32 n, Datum *values, bool *isnull)
{
	const RtscanSegmentInclude *include = &reader->segment->includes[i];
	PackedValues packed = {&include->header, type, values, isnull};
	WantedValues wanted = {type, rows, n, 0, values, isnull};

	if (include->header.width == 0)
	{
		get_whole(reader, include, &wanted);
		return;
	}
	get_nulls(reader, &include->header.nulls, rows, n, isnull);
	visit_places(reader, &include->header, rows, n, copy_values, &packed);
}

void
rtscan_get_included_decimals(RtscanReader *reader, int i, const uint32 *rows, uint32 n, int64 *digits, bool *isnull)
{
	const RtscanIncludeHeader *header = &reader->segment->includes[i].header;
	PackedIntegers packed = {header->width, digits};

	get_nulls(reader, &header->nulls, rows, n, isnull);
	visit_places(reader, header, rows, n, copy_integers, &packed);
}
