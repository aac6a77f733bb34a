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
	RtscanNewSegment *segment;	/* the result, whose bounds and flags are filled in column by column */
	RtscanSegmentHeader header;
	StringInfoData tidmap_rows; /* a part of the descriptor: the first row of each tidmap page */
	StringInfoData columns;		/* a part of the descriptor: all columns */
} SegmentWriter;

/* ---------------------------------------------------------------- columns */

static void
write_dictionary(SegmentWriter *writer, const RtscanSortedColumn *column, RtscanColumnHeader *header)
{
	RtscanDictionaryWriter *dictionary = rtscan_dictionary_writer(writer->areas, column->type);

	for (uint32 rank = 0; rank < column->nonnull; rank++)
		if (rtscan_starts_value(column, rank))
			rtscan_dictionary_add(dictionary, rtscan_value_at(column, rank), rank);
	rtscan_dictionary_end(dictionary, column->nonnull, header);
}

/*
 * Write the codes, from row to code; NULLs have the code after the last value's.  The array "codes" has room for the
 * codes of all rows.
 */
static void
write_codes(SegmentWriter *writer, const RtscanSortedColumn *column, uint32 *codes, RtscanColumnHeader *header)
{
	uint32		code = 0;
	RtscanPacker packer;

	for (uint32 rank = 0; rank < column->rows; rank++)
	{
		if (rank == column->nonnull || (rank > 0 && rank < column->nonnull && rtscan_starts_value(column, rank)))
			code++;
		codes[column->order[rank]] = rank < column->nonnull ? code : column->distinct;
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
		rtscan_packer_add(&packer, column->order[rank]);
	header->order = rtscan_packer_end(&packer);
}

/* Return the bounds of a column's keys for the directory. */
static RtscanKeyBounds
bounds_of(const RtscanSortedColumn *column)
{
	if (column->type->key_kind == RTSCAN_KEY_NONE)
		return RTSCAN_NO_BOUNDS;
	if (column->nonnull == 0)
		return (RtscanKeyBounds) {PG_UINT64_MAX, 0};
	return (RtscanKeyBounds) {rtscan_value_at(column, 0), rtscan_value_at(column, column->nonnull - 1)};
}

/* Write the sieve and, unless the sieve tells ranks exactly, the order; append the sieve's part to the descriptor. */
static void
write_sieve(SegmentWriter *writer, const RtscanSortedColumn *column, RtscanColumnHeader *header, StringInfo descriptor)
{
	if (column->heap_order || column->rows < RTSCAN_CHUNK_ROWS)
		return;
	rtscan_write_sieve(writer->areas, column, rtscan_sieve_bins(writer->index), rtscan_sieve_components(writer->index),
					   header, descriptor);
	if (!(header->flags & RTSCAN_COLUMN_EXACT))
		write_order(writer, column, header);
}

/* Return the flags of a column that do not depend on its sieve. */
static uint32
column_flags(const RtscanSortedColumn *column, const RtscanPlain *plain)
{
	return (plain ? RTSCAN_COLUMN_PLAIN : 0) |
		(column->identical ? RTSCAN_COLUMN_IDENTICAL : 0) |
		(column->has_images ? RTSCAN_COLUMN_IMAGES : 0) |
		(column->heap_order ? RTSCAN_COLUMN_HEAP_ORDER : 0);
}

/* Fill in what the segment's entry in the directory tells of key column i. */
static void
describe_column(RtscanNewSegment *segment, int i, const RtscanSortedColumn *column, const RtscanColumnHeader *header)
{
	segment->bounds[i] = bounds_of(column);
	if (i < RTSCAN_NONNULL_COLUMNS && column->nonnull == column->rows)
		segment->entry.kind_bits |= RTSCAN_ENTRY_NONNULL(i);
	if (!rtscan_lost_no_image(header))
		segment->entry.kind_bits &= ~RTSCAN_ENTRY_LOST_NO_IMAGE;
}

/*
 * Write the codes of a column.  Returns the images that its dictionary does not have, which are to be written behind
 * the column, or NULL.  The values of the rows are not needed any more, so codes or images take their place.
 */
static RtscanColumnRows *
write_codes_and_take_images(SegmentWriter *writer, RtscanSortedColumn *column, RtscanColumnHeader *header)
{
	uint32	   *codes = (uint32 *) column->source->values;
	RtscanColumnRows *images = NULL;

	if (column->has_images)
	{
		images = rtscan_take_images(column);
		codes = palloc_extended(column->rows * sizeof(uint32), MCXT_ALLOC_HUGE);
	}
	if (!column->heap_order)
		write_codes(writer, column, codes, header);
	if (images)
		pfree(codes);
	return images;
}

/* Write key column i. */
static void
write_column(SegmentWriter *writer, int i)
{
	RtscanSortedColumn *column = rtscan_sort_column(writer->index, writer->rows, i);
	RtscanPlain *plain = rtscan_choose_plain(column);
	RtscanColumnHeader header = {.flags = column_flags(column, plain), .nonnull = column->nonnull};
	RtscanColumnRows *images = NULL;
	StringInfoData sieve;

	initStringInfo(&sieve);
	describe_column(writer->segment, i, column, &header);
	if (plain)
		rtscan_write_sparse_dictionary(writer->areas, column, &header);
	else
		write_dictionary(writer, column, &header);
	write_sieve(writer, column, &header, &sieve);
	if (!plain)
		images = write_codes_and_take_images(writer, column, &header);
	pfree(column->order);
	rtscan_append_part(&writer->columns, &header, sizeof(header));
	appendBinaryStringInfo(&writer->columns, sieve.data, sieve.len);
	if (plain)
		rtscan_write_plain(writer->areas, plain, &writer->columns);
	if (images)
		rtscan_write_include(writer->areas, column->type, images, column->rows, &writer->columns);
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
 * a short time.
 */
static void
write_columns(SegmentWriter *writer)
{
	const RtscanSchema *schema = writer->rows->schema;

	for (int i = 0; i < schema->ncolumns; i++)
	{
		MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan column",
													  ALLOCSET_DEFAULT_SIZES);
		MemoryContext old = MemoryContextSwitchTo(context);

		CHECK_FOR_INTERRUPTS();
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
	rtscan_rows_forget_tids(rows);
	write_columns(&writer);
	segment.entry.root = write_descriptor(&writer);

	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return segment;
}
