/*
 * include.c
 *		Write and read values of INCLUDE columns.
 */
#include "storage/include.h"

#include "access/tupmacs.h"
#include "miscadmin.h"

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
write_fixed(RtscanAreaWriter *areas, const RtscanColumn *type,
			const RtscanColumnRows *column, uint32 rows)
{
	RtscanPacker packer = rtscan_packer(areas, RTSCAN_PAGE_INCLUDE, type->typlen);

	for (uint32 row = 0; row < rows; row++)
	{
		char	   *room = rtscan_packer_next(&packer);

		if (!rtscan_row_is_null(column, row))
			rtscan_store_value(type, room, (Datum) column->values[row], type->typlen);
	}
	return rtscan_packer_end(&packer);
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
	RtscanIncludeHeader header = {.nulls = {.pages = 0}};
	StringInfoData first_rows;

	initStringInfo(&first_rows);
	if (type->typlen > 0)
	{
		if (column->null_count > 0)
			header.nulls = write_nulls(areas, column, rows);
		header.values = write_fixed(areas, type, column, rows);
	}
	else
		header.values = write_whole(areas, type, column, rows, &first_rows);
	rtscan_append_part(descriptor, &header, sizeof(header));
	rtscan_append_part(descriptor, first_rows.data, first_rows.len);
	pfree(first_rows.data);
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

static void
visit_fixed(RtscanReader *reader, const RtscanIncludeHeader *header, const RtscanColumn *type,
			RtscanIncludeVisitor visitor, void *arg)
{
	uint8	   *nulls = read_nulls(reader, &header->nulls);
	uint32		per_page = rtscan_per_page(type->typlen);
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
				fetch_att(payload + (Size) (row - first) * type->typlen, type->typbyval, type->typlen);

			visitor(row, value, isnull, arg);
		}
		rtscan_release(reader, buffer);
	}
}

/* A page of the rows from first up to end. */
static bool
visit_whole_page(const char *payload, Size used, uint32 first, uint32 end, const RtscanColumn *type,
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

static void
visit_whole(RtscanReader *reader, const RtscanSegmentInclude *include, const RtscanColumn *type,
			RtscanIncludeVisitor visitor, void *arg)
{
	const RtscanArea *area = &include->header.values;

	for (uint32 i = 0; i < area->pages; i++)
	{
		Buffer		buffer;
		Size		used;
		uint32		end = i + 1 < area->pages ? include->first_rows[i + 1] : reader->segment->header.rows;
		const char *payload = rtscan_get_page(reader, area, i, &buffer, &used);
		bool		sane = visit_whole_page(payload, used, include->first_rows[i], end, type, visitor, arg);

		CHECK_FOR_INTERRUPTS();
		rtscan_release(reader, buffer);
		if (!sane)
			rtscan_fault(reader, area, i, "The values of a page contradict its header.");
	}
}

void
rtscan_visit_include(RtscanReader *reader, int i, const RtscanColumn *type,
					 RtscanIncludeVisitor visitor, void *arg)
{
	RtscanSegmentInclude *include = &reader->segment->includes[i];

	if (type->typlen > 0)
		visit_fixed(reader, &include->header, type, visitor, arg);
	else
		visit_whole(reader, include, type, visitor, arg);
}
