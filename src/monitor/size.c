/* SPDX-License-Identifier: PostgreSQL */
/*
 * size.c
 *		rtscan_stats(): the content of an index, and the size of its parts.
 */
#include "monitor/relation.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "fmgr.h"
#include "funcapi.h"
#include "monitor/version.h"
#include "segment/segment.h"
#include "storage/dead.h"
#include "storage/metapage.h"
#include "storage/pending.h"

/* The columns of rtscan_stats(), in order. */
typedef enum SizeColumn
{
	SIZE_SEGMENTS,
	SIZE_ROWS,
	SIZE_DEAD,
	SIZE_PENDING,
	SIZE_VECTORS,
	SIZE_TIDMAP,				/* this column and the following ones are bytes */
	SIZE_DICTIONARY,
	SIZE_SIEVE,
	SIZE_ORDER,
	SIZE_CODES,
	SIZE_INCLUDE,
	SIZE_SHARED,
	SIZE_DESCRIPTOR,
	SIZE_DEAD_BITS,
	SIZE_PENDING_LISTS,
	SIZE_OTHER,					/* metapage, directory, taken, retired and free pages */
	SIZE_TOTAL,
	SIZE_COLUMNS
} SizeColumn;

static void
add_area(int64 *sizes, SizeColumn column, const RtscanArea *area)
{
	if (area->kind != RTSCAN_PAGE_SHARED)
		sizes[column] += (int64) area->pages * BLCKSZ;
}

static void
add_include(int64 *sizes, const RtscanSegmentInclude *include)
{
	add_area(sizes, SIZE_INCLUDE, &include->header.nulls);
	add_area(sizes, SIZE_INCLUDE, &include->header.values);
	add_area(sizes, SIZE_INCLUDE, &include->codes.dictionary);
}

static void
add_column(int64 *sizes, const RtscanSegmentColumn *column)
{
	const RtscanColumnHeader *header = &column->header;

	sizes[SIZE_VECTORS] += header->vectors;
	add_area(sizes, SIZE_DICTIONARY, &header->dictionary);
	add_area(sizes, SIZE_SIEVE, &header->sieve);
	add_area(sizes, SIZE_ORDER, &header->order);
	add_area(sizes, SIZE_CODES, rtscan_is_plain(header) ? &column->values.header.values : &header->codes);
	add_include(sizes, &column->images);
}

static void
add_segment(Relation index, int64 *sizes, const RtscanEntry *entry)
{
	RtscanReader reader;
	RtscanSegmentHeader *header;
	int64		before = sizes[SIZE_TIDMAP] + sizes[SIZE_DICTIONARY] + sizes[SIZE_SIEVE] +
		sizes[SIZE_ORDER] + sizes[SIZE_CODES] + sizes[SIZE_INCLUDE];
	int64		own_pages;

	rtscan_reader_open(&reader, index, entry, false);
	header = &reader.segment->header;
	sizes[SIZE_SEGMENTS]++;
	sizes[SIZE_ROWS] += header->rows;
	sizes[SIZE_DEAD] += rtscan_dead_count(index, entry);
	add_area(sizes, SIZE_TIDMAP, &header->tidmap);
	for (int i = 0; i < header->nkeys; i++)
		add_column(sizes, &reader.segment->columns[i]);
	for (int i = 0; i < header->ncolumns - header->nkeys; i++)
		add_include(sizes, &reader.segment->includes[i]);
	own_pages = sizes[SIZE_TIDMAP] + sizes[SIZE_DICTIONARY] + sizes[SIZE_SIEVE] +
		sizes[SIZE_ORDER] + sizes[SIZE_CODES] + sizes[SIZE_INCLUDE] - before;
	sizes[SIZE_SHARED] += (int64) header->pages * BLCKSZ - own_pages;
	sizes[SIZE_DESCRIPTOR] += (int64) list_length(rtscan_descriptor_blocks(index, entry)) * BLCKSZ;
	if (entry->dead != InvalidBlockNumber)
		sizes[SIZE_DEAD_BITS] += (int64) (rtscan_chunks(header->rows) + 1) * BLCKSZ;
}

/* RtscanPendingVisitor: count a row. */
static void
count_pending(IndexTuple tuple, void *arg)
{
	((int64 *) arg)[SIZE_PENDING]++;
}

static void
add_pending(Relation index, int64 *sizes, RtscanListRef list)
{
	if (list.head == InvalidBlockNumber)
		return;
	rtscan_pending_visit(index, &list, count_pending, sizes);
	sizes[SIZE_PENDING_LISTS] += (int64) list_length(rtscan_pending_blocks(index, &list)) * BLCKSZ;
}

static void
measure(Relation index, int64 *sizes)
{
	RtscanImage *image = rtscan_copy_image(rtscan_read_image(index, NULL, false));

	for (uint32 i = 0; i < image->nentries; i++)
		if (rtscan_entry_is_live(&image->entries[i]))
			add_segment(index, sizes, &image->entries[i]);
		else if (rtscan_entry_is_sealed_list(&image->entries[i]))
			add_pending(index, sizes, rtscan_entry_list(&image->entries[i]));
	add_pending(index, sizes, image->meta.open);
	sizes[SIZE_TOTAL] = (int64) RelationGetNumberOfBlocks(index) * BLCKSZ;
	sizes[SIZE_OTHER] = sizes[SIZE_TOTAL];
	for (int i = SIZE_TIDMAP; i < SIZE_OTHER; i++)
		sizes[SIZE_OTHER] -= sizes[i];
}

PG_FUNCTION_INFO_V1(rtscan_stats);

Datum
rtscan_stats(PG_FUNCTION_ARGS)
{
	Relation	index = rtscan_open_index(PG_GETARG_OID(0), AccessShareLock);
	int64		sizes[SIZE_COLUMNS] = {0};
	Datum		values[SIZE_COLUMNS];
	bool		nulls[SIZE_COLUMNS] = {false};
	TupleDesc	tupdesc = rtscan_result_row(fcinfo, SIZE_COLUMNS);
	bool		has_pages = rtscan_has_pages(index, "measure");

	if (has_pages)
		measure(index, sizes);
	relation_close(index, AccessShareLock);
	if (!has_pages)
		PG_RETURN_NULL();
	for (int i = 0; i < SIZE_COLUMNS; i++)
		values[i] = Int64GetDatum(sizes[i]);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(tupdesc, values, nulls)));
}
