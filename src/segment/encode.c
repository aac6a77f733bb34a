/* SPDX-License-Identifier: PostgreSQL */
/*
 * encode.c
 *		Write a segment: its tidmap, key columns, INCLUDE columns and descriptor.
 */
#include "segment/encode.h"

#include "miscadmin.h"
#include "segment/dictionary.h"
#include "segment/include.h"
#include "segment/plain.h"
#include "segment/segment.h"
#include "segment/sieve.h"
#include "segment/sort.h"
#include "segment/tidmap.h"
#include "settings.h"
#include "utils/memutils.h"

/* A segment that is being written. */
typedef struct SegmentWriter
{
	Relation	index;
	RtscanWriting *writing;
	RtscanRows *rows;
	RtscanAreaWriter *areas;	/* writes the segment's areas */
	RtscanSorted *sort_room;	/* work space for sorting a column */
	RtscanNewSegment *segment;	/* the result, whose bounds and flags are filled in column by column */
	RtscanSegmentHeader header;
	StringInfoData tidmap_rows; /* a part of the descriptor: the first row of each tidmap page */
	StringInfoData columns;		/* a part of the descriptor: all columns */
} SegmentWriter;

/* ---------------------------------------------------------------- columns */

static void
write_dictionary(SegmentWriter *writer, const RtscanColumn *type,
				 const RtscanSortedColumn *column, RtscanColumnHeader *header)
{
	RtscanDictionaryWriter *dictionary = rtscan_dictionary_writer(writer->areas, type);

	for (uint32 rank = 0; rank < column->nonnull; rank++)
		if (rtscan_starts_value(column, rank))
			rtscan_dictionary_add(dictionary, column->sorted[rank].value, rank);
	rtscan_dictionary_end(dictionary, column->nonnull, header);
}

/* Write the codes, from row to code; NULLs have the code after the last value's. */
static void
write_codes(SegmentWriter *writer, const RtscanSortedColumn *column, RtscanColumnHeader *header)
{
	uint32	   *codes = (uint32 *) column->spare;
	uint32		code = 0;
	RtscanPacker packer;

	for (uint32 rank = 0; rank < column->rows; rank++)
	{
		if (rank == column->nonnull || (rank > 0 && rank < column->nonnull && rtscan_starts_value(column, rank)))
			code++;
		codes[column->sorted[rank].row] = rank < column->nonnull ? code : column->distinct;
	}
	header->code_bytes = rtscan_code_bytes(column->distinct);
	packer = rtscan_packer(writer->areas, RTSCAN_PAGE_CODES, header->code_bytes);
	for (uint32 row = 0; row < column->rows; row++)
		rtscan_packer_add(&packer, codes[row]);
	header->codes = rtscan_packer_end(&packer);
}

/* Write the order, from rank to row. */
static void
write_order(SegmentWriter *writer, const RtscanSortedColumn *column, RtscanColumnHeader *header)
{
	RtscanPacker packer = rtscan_packer(writer->areas, RTSCAN_PAGE_ORDER, 3);

	for (uint32 rank = 0; rank < column->rows; rank++)
		rtscan_packer_add(&packer, column->sorted[rank].row);
	header->order = rtscan_packer_end(&packer);
}

/* Return the bounds of a column's keys for the directory. */
static RtscanKeyBounds
bounds_of(const RtscanColumn *type, const RtscanSortedColumn *column)
{
	if (type->key_kind == RTSCAN_KEY_NONE)
		return RTSCAN_NO_BOUNDS;
	if (column->nonnull == 0)
		return (RtscanKeyBounds) {PG_UINT64_MAX, 0};
	return (RtscanKeyBounds) {column->sorted[0].value, column->sorted[column->nonnull - 1].value};
}

/* Write key column i. */
static void
write_column(SegmentWriter *writer, int i)
{
	const RtscanColumn *type = &writer->rows->schema->columns[i];
	RtscanSortedColumn *column = rtscan_sort_column(writer->index, writer->rows->schema, writer->rows, i,
													writer->sort_room);
	RtscanPlain *plain = rtscan_choose_plain(type, &writer->rows->columns[i], column);
	RtscanColumnHeader header = {.flags = plain ? RTSCAN_COLUMN_PLAIN : 0, .nonnull = column->nonnull};
	StringInfoData sieve;

	writer->segment->bounds[i] = bounds_of(type, column);
	if (i < RTSCAN_NONNULL_COLUMNS && column->nonnull == column->rows)
		writer->segment->entry.kind_bits |= RTSCAN_ENTRY_NONNULL(i);
	initStringInfo(&sieve);
	if (column->identical)
		header.flags |= RTSCAN_COLUMN_IDENTICAL;
	if (column->images)
		header.flags |= RTSCAN_COLUMN_IMAGES;
	if (!rtscan_lost_no_image(&header))
		writer->segment->entry.kind_bits &= ~RTSCAN_ENTRY_LOST_NO_IMAGE;
	if (plain)
		rtscan_write_sparse_dictionary(writer->areas, type, column, &header);
	else
		write_dictionary(writer, type, column, &header);
	if (column->heap_order)
		header.flags |= RTSCAN_COLUMN_HEAP_ORDER;
	else if (!plain)
		write_codes(writer, column, &header);
	if (!column->heap_order && column->rows >= RTSCAN_CHUNK_ROWS)
	{
		rtscan_write_sieve(writer->areas, column, rtscan_sieve_bins(writer->index),
						   rtscan_sieve_components(writer->index), &header, &sieve);
		if (!(header.flags & RTSCAN_COLUMN_EXACT))
			write_order(writer, column, &header);
	}
	rtscan_append_part(&writer->columns, &header, sizeof(header));
	appendBinaryStringInfo(&writer->columns, sieve.data, sieve.len);
	if (plain)
		rtscan_write_plain(writer->areas, type, plain, column->rows, &writer->columns);
	if (column->images)
		rtscan_write_include(writer->areas, type, column->images, column->rows, &writer->columns);
}

/* Write INCLUDE column i. */
static void
write_include(SegmentWriter *writer, int i)
{
	rtscan_write_include(writer->areas, &writer->rows->schema->columns[i], &writer->rows->columns[i],
						 writer->rows->rows, &writer->columns);
}

/*
 * Write all columns.  Each column is loaded and written in a memory context of its own, since it needs much memory for
 * a short time.  All key columns share the work space for sorting.
 */
static void
write_columns(SegmentWriter *writer)
{
	const RtscanSchema *schema = writer->rows->schema;

	writer->sort_room = rtscan_sort_room(writer->rows);
	for (int i = 0; i < schema->ncolumns; i++)
	{
		MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan column",
													  ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(context);

		CHECK_FOR_INTERRUPTS();
		if (i == schema->nkeys)
			pfree(writer->sort_room);
		rtscan_rows_load(writer->rows, i);
		(i < schema->nkeys ? write_column : write_include) (writer, i);
		rtscan_rows_unload(writer->rows, i);
		MemoryContextSwitchTo(old);
		MemoryContextDelete(context);
	}
}

/* ---------------------------------------------------------------- the descriptor */

/* Append extents that cover the blocks of the segment's pages, and return the number of extents. */
static uint32
append_extents(StringInfo parts, const BlockNumber *blocks, uint32 pages)
{
	uint32		extents = 0;

	for (uint32 i = 0; i < pages;)
	{
		RtscanExtent extent = {blocks[i], 1};

		while (i + extent.count < pages && blocks[i + extent.count] == extent.first + extent.count)
			extent.count++;
		appendBinaryStringInfo(parts, (char *) &extent, sizeof(extent));
		extents++;
		i += extent.count;
	}
	return extents;
}

static BlockNumber
write_descriptor(SegmentWriter *writer)
{
	StringInfoData content,
				extents;
	BlockNumber *blocks = rtscan_area_finish(writer->areas, &writer->header.pages);

	initStringInfo(&content);
	initStringInfo(&extents);
	writer->header.extents = append_extents(&extents, blocks, writer->header.pages);
	rtscan_append_part(&content, &writer->header, sizeof(RtscanSegmentHeader));
	rtscan_append_part(&content, extents.data, extents.len);
	rtscan_append_part(&content, writer->tidmap_rows.data, writer->tidmap_rows.len);
	appendBinaryStringInfo(&content, writer->columns.data, writer->columns.len);
	return rtscan_write_descriptor(writer->writing, &content);
}

RtscanNewSegment
rtscan_write_segment(RtscanWriting *writing, RtscanRows *rows)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan segment writer",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	uint64		id = rtscan_writing_id(writing);
	SegmentWriter writer = {
		.index = writing->index,
		.writing = writing,
		.rows = rows,
		.areas = rtscan_area_writer(writing),
		.header = {
			.id = id,
			.rows = rows->rows,
			.nkeys = rows->schema->nkeys,
			.ncolumns = rows->schema->ncolumns,
		},
	};
	RtscanNewSegment segment = {
		.entry = {
			.id = id,
			.blocks = {
				.first = ItemPointerGetBlockNumberNoCheck(&rows->tids[0]),
				.last = ItemPointerGetBlockNumberNoCheck(&rows->tids[rows->rows - 1]),
			},
			.rows = rows->rows,
			.dead = InvalidBlockNumber,
			.kind_bits = RTSCAN_ENTRY_SEGMENT | RTSCAN_ENTRY_LOST_NO_IMAGE,
		},
	};

	Assert(rows->rows > 0 && rows->rows <= RTSCAN_SEGMENT_ROWS);
	writer.segment = &segment;
	initStringInfo(&writer.tidmap_rows);
	initStringInfo(&writer.columns);
	writer.header.tidmap = rtscan_write_tidmap(writer.areas, rows->tids, rows->rows,
											   &writer.tidmap_rows);
	write_columns(&writer);
	segment.entry.root = write_descriptor(&writer);

	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return segment;
}
