/* SPDX-License-Identifier: PostgreSQL */
/*
 * index_size.c
 *		Measures an index: its rows, and the pages and values of its columns.
 */
#include "plan/cost/index_size.h"

#include "segment/segment.h"
#include "storage/area.h"
#include "utils/memutils.h"

/* Sizes are taken from at most this many segments. */
#define MAX_MEASURED	8

/* Number of entries in a session's cache of index sizes.  Each entry takes several hundred bytes. */
#define MEASURED_PLACES	4096

/* Number of pages that an area counts for if it shares a page with other areas. */
#define SHARED_PAGE		0.1

static Size
size_bytes(int ncolumns)
{
	return offsetof(RtscanIndexSize, columns) + ncolumns * sizeof(RtscanColumnSize);
}

/* ---------------------------------------------------------------- the session's cache */

/* The sizes of an image, identified by its index and version. */
typedef struct Measured
{
	pg_uuid_t	uuid;
	uint64		version;
	RtscanIndexSize size;
} Measured;

/* The session's cache of sizes.  The sizes of an index can be in only one of its entries. */
static Measured *measured[MEASURED_PLACES];

static Measured **
place_of(const RtscanImage *image)
{
	uint32		random;

	memcpy(&random, &image->meta.uuid, sizeof(random));
	return &measured[random % MEASURED_PLACES];
}

static bool
recall_size(const RtscanImage *image, RtscanIndexSize *size)
{
	const Measured *known = *place_of(image);

	if (known == NULL || known->version != image->meta.version || known->size.ncolumns != size->ncolumns ||
		memcmp(&known->uuid, &image->meta.uuid, UUID_LEN) != 0)
		return false;
	memcpy(size, &known->size, size_bytes(size->ncolumns));
	return true;
}

static void
remember_size(const RtscanImage *image, const RtscanIndexSize *size)
{
	Measured  **place = place_of(image);
	Size		bytes = size_bytes(size->ncolumns);
	Measured   *known = MemoryContextAlloc(TopMemoryContext, offsetof(Measured, size) + bytes);

	known->uuid = image->meta.uuid;
	known->version = image->meta.version;
	memcpy(&known->size, size, bytes);
	if (*place)
		pfree(*place);
	*place = known;
}

/* ---------------------------------------------------------------- sizes */

/*
 * Return the number of heap blocks up to the last one in which a segment of the image has rows.  The number is 0 if it
 * is not known: a segment's directory entry has no block numbers, or the image has a sealed list.
 */
static double
end_of_blocks(const RtscanImage *image)
{
	double		end = 0;

	for (uint32 i = 0; i < image->nentries; i++)
	{
		const RtscanEntry *entry = &image->entries[i];

		if (rtscan_entry_is_live(entry) && rtscan_entry_has_blocks(entry))
			end = Max(end, (double) entry->blocks.last + 1);
		else if (rtscan_entry_is_live(entry) || rtscan_entry_is_sealed_list(entry))
			return 0;
	}
	return end;
}

/* Set the sizes that the directory tells. */
static void
add_rows(RtscanIndexSize *size, const RtscanImage *image, const RtscanLiveSegments *live)
{
	for (uint32 i = 0; i < live->n; i++)
	{
		size->rows += live->segments[i].entry->rows;
		size->largest = Max(size->largest, live->segments[i].entry->rows);
	}
	size->heap_blocks = end_of_blocks(image);
}

/* Return the number of pages of an area; SHARED_PAGE if it shares a page with other areas. */
static double
area_pages(const RtscanArea *area)
{
	return area->kind == RTSCAN_PAGE_SHARED ? SHARED_PAGE : area->pages;
}

static void
add_key_size(RtscanColumnSize *size, const RtscanSegmentColumn *column, double factor)
{
	const RtscanColumnHeader *header = &column->header;

	size->distinct = Max(size->distinct, header->distinct);
	size->value_pages += factor * area_pages(rtscan_is_plain(header) ? &column->values.header.values : &header->codes);
	if (rtscan_is_plain(header))
		return;
	size->value_pages += factor * area_pages(&column->images.header.values);
	size->dictionary_pages += factor * area_pages(&header->dictionary);
	size->dictionary_values += factor * header->distinct;
	if (header->flags & RTSCAN_COLUMN_HEAP_ORDER)
		size->ranked_values += factor * header->distinct;
}

static void
add_include_size(RtscanColumnSize *size, const RtscanSegmentInclude *include, uint32 rows, double factor)
{
	if (include->header.storage != RTSCAN_STORED_PLAIN)
		size->framed_rows += factor * rows;
	size->value_pages += factor * area_pages(&include->header.values);
	size->dictionary_pages += factor * area_pages(&include->codes.dictionary);
	size->dictionary_values += factor * include->codes.distinct;
}

/* Add the sizes of each column in a segment. */
static void
add_columns(RtscanIndexSize *size, int nkeys, const RtscanSegment *segment, double factor)
{
	for (int i = 0; i < size->ncolumns; i++)
		if (i < nkeys)
			add_key_size(&size->columns[i], &segment->columns[i], factor);
		else
			add_include_size(&size->columns[i], &segment->includes[i - nkeys], segment->header.rows, factor);
}

/*
 * Set the sizes of columns by a sample of the segments; false if there are no segments, or if one of the sample cannot
 * be read.
 */
static bool
measure_columns(RtscanIndexSize *size, Relation index, const RtscanLiveSegments *live)
{
	RtscanSegmentSample sample = rtscan_sample_segments(live, NULL, MAX_MEASURED);

	size->segments = sample.of;
	for (uint32 i = 0; i < sample.n; i++)
	{
		RtscanReader reader;

		if (!rtscan_reader_open(&reader, index, sample.segments[i]->entry, true))
			return false;
		add_columns(size, IndexRelationGetNumberOfKeyAttributes(index), reader.segment, 1 / sample.part);
	}
	return sample.n > 0;
}

RtscanIndexSize *
rtscan_measure_index(Relation index, const RtscanImage *image, const RtscanLiveSegments *live)
{
	int			ncolumns = IndexRelationGetNumberOfAttributes(index);
	RtscanIndexSize *size = palloc0(size_bytes(ncolumns));

	size->ncolumns = ncolumns;
	if (recall_size(image, size))
		return size;
	add_rows(size, image, live);
	if (!measure_columns(size, index, live))
		return NULL;
	remember_size(image, size);
	return size;
}
