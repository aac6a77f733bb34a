/* SPDX-License-Identifier: PostgreSQL */
/*
 * spool.c
 *		Collect the rows of a segment: in memory while there is room, then in temporary files, one for each column.
 *
 * The rows are written to the files in batches.  A column's file has for each batch: the values that are passed by
 * value, or keys, as the array of the batch; else the bytes of each value that is not NULL, MAXALIGNed; and then the
 * bits of NULLs, if a value of the batch is NULL.
 */
#include "segment/spool.h"

#include <math.h>

#include "access/htup_details.h"
#include "commands/tablespace.h"
#include "lib/hyperloglog.h"
#include "miscadmin.h"
#include "segment/images.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

/*
 * The batch takes at most this fraction of the memory.  Its arrays grow by doubling, which leaves gaps between them; a
 * batch of half the memory made the process take half as much again.
 */
#define BATCH_FRACTION	0.25

/* The limit of rows is estimated anew whenever the batch has got this many rows more. */
#define ROWS_A_MEASURE	16384

/* 2^10 registers: distinct images are estimated with a standard error of 3 %. */
#define REGISTER_BITS	10

/* A column of a batch in its file. */
typedef struct BatchColumn
{
	uint32		null_count;		/* number of NULLs */
	Size		value_bytes;	/* bytes of its values that are passed by reference */
} BatchColumn;

/* A batch in the files. */
typedef struct Batch
{
	uint32		rows;			/* number of rows */
	BatchColumn *columns;
} Batch;

/* A column of a spool: its file, and an estimate of its memory. */
typedef struct SpoolColumn
{
	bool		by_reference;	/* are values stored as pointers to Datums? */
	bool		compared;		/* is the column sorted by comparison? */
	bool		counted;		/* are its distinct images counted?  True if it is "by_reference" or "compared" */
	hyperLogLogState images;	/* estimates the number of distinct images, if "counted" is true */
	Size		value_bytes;	/* bytes of the values in the file that are passed by reference */
	BufFile    *file;			/* NULL if no batch has been written */
} SpoolColumn;

struct RtscanSpool
{
	const RtscanSchema *schema;
	int			memory_kb;
	MemoryContext context;		/* memory context of the spool */
	MemoryContext file_context; /* memory context of files and batches */
	uint32		limit;			/* maximal number of rows, as estimated */
	RtscanRows *batch;			/* rows in memory */
	uint32		block_start;	/* first row of the batch that has not been sorted by TID */
	uint32		measured;		/* number of rows of the batch whose images have been counted */
	RtscanRows *spooled;		/* all rows, if batches have been written: their TIDs */
	Size		tid_capacity;	/* size of spooled->tids[] */
	List	   *batches;		/* of Batch: the batches in the files */
	SpoolColumn *columns;
};

/* ---------------------------------------------------------------- limits */

uint32
rtscan_spool_limit(int memory_kb)
{
	return rtscan_rows_that_fit(rtscan_loaded_rows_bytes(), memory_kb);
}

uint32
rtscan_spool_count(const RtscanSpool *spool)
{
	return spool->spooled->rows + spool->batch->rows;
}

bool
rtscan_spool_is_full(const RtscanSpool *spool, uint32 more)
{
	return rtscan_spool_count(spool) + more > spool->limit;
}

/* Memory of a column's values while the column is loaded.  rtscan_loaded_rows_bytes() comes on top. */
typedef struct ValueMemory
{
	double		copied;			/* bytes, if each row has a copy of its value */
	double		shared;			/* bytes, if rows with the same image share a copy */
} ValueMemory;

static ValueMemory
value_memory(const RtscanSpool *spool, int i)
{
	SpoolColumn *column = &spool->columns[i];
	double		bytes = column->value_bytes + spool->batch->columns[i].value_bytes;
	double		images,
				table;

	if (!column->counted)
		return (ValueMemory) {0, 0};
	images = Min(estimateHyperLogLog(&column->images), Max(rtscan_spool_count(spool), 1));
	table = images * RTSCAN_IMAGE_BYTES;
	return (ValueMemory) {
		.copied = bytes + (column->compared ? table : 0),
		.shared = bytes / Max(rtscan_spool_count(spool), 1) * images + table,
	};
}

/*
 * Do rows with the same image share a copy of their value, when the column is loaded?  Finding the copies takes time,
 * so they do only if there is not enough memory for all values.
 */
static bool
shares_values(const RtscanSpool *spool, int i)
{
	ValueMemory memory = value_memory(spool, i);

	return spool->columns[i].by_reference && memory.shared < memory.copied &&
		rtscan_spool_count(spool) * rtscan_loaded_rows_bytes() + memory.copied > spool->memory_kb * 1024.0;
}

/* Return the bytes that a column's values take in memory when it is loaded. */
static double
bytes_of_values(const RtscanSpool *spool, int i)
{
	ValueMemory memory = value_memory(spool, i);

	return spool->columns[i].by_reference ? Min(memory.shared, memory.copied) : memory.copied;
}

/* Count the images of a column of the rows that have been added since the last call. */
static void
count_images(RtscanSpool *spool, int i)
{
	const RtscanColumn *type = &spool->schema->columns[i];
	const RtscanColumnRows *source = &spool->batch->columns[i];

	for (uint32 row = spool->measured; row < spool->batch->rows; row++)
		if (!rtscan_row_is_null(source, row))
			addHyperLogLog(&spool->columns[i].images, rtscan_hash_image(type, (Datum) source->values[row]));
}

/* Estimate how many rows the spool can have, if those to come are like those that it has. */
static void
measure(RtscanSpool *spool)
{
	double		widest = 0;

	for (int i = 0; i < spool->schema->ncolumns; i++)
	{
		if (spool->columns[i].counted)
			count_images(spool, i);
		widest = Max(widest, bytes_of_values(spool, i));
	}
	spool->measured = spool->batch->rows;
	spool->limit = rtscan_rows_that_fit(rtscan_loaded_rows_bytes() + widest / Max(rtscan_spool_count(spool), 1),
										spool->memory_kb);
}

/* ---------------------------------------------------------------- writing the files */

static void
write_values(const RtscanColumn *type, const RtscanColumnRows *column, uint32 rows, BufFile *file)
{
	char		padding[MAXIMUM_ALIGNOF] = {0};

	for (uint32 row = 0; row < rows; row++)
	{
		Size		size;

		if (rtscan_row_is_null(column, row))
			continue;
		size = rtscan_value_size(type, (Datum) column->values[row]);
		BufFileWrite(file, DatumGetPointer((Datum) column->values[row]), size);
		BufFileWrite(file, padding, MAXALIGN(size) - size);
	}
}

static Size
null_bytes(uint32 rows)
{
	return (rows + 63) / 64 * sizeof(uint64);
}

static void
write_column(RtscanSpool *spool, int i, BatchColumn *written)
{
	SpoolColumn *column = &spool->columns[i];
	RtscanColumnRows *source = &spool->batch->columns[i];
	uint32		rows = spool->batch->rows;

	if (column->file == NULL)
		column->file = BufFileCreateTemp(false);
	if (column->by_reference)
		write_values(&spool->schema->columns[i], source, rows, column->file);
	else
		BufFileWrite(column->file, source->values, rows * sizeof(uint64));
	if (source->null_count > 0)
		BufFileWrite(column->file, source->nulls, null_bytes(rows));
	*written = (BatchColumn) {source->null_count, source->value_bytes};
	column->value_bytes += source->value_bytes;
}

static void
append_tids(RtscanSpool *spool)
{
	RtscanRows *spooled = spool->spooled;
	uint32		rows = spooled->rows + spool->batch->rows;

	if (spooled->tids == NULL)
		spool->tid_capacity = 0;
	if (rows > spool->tid_capacity)
	{
		spool->tid_capacity = Max(rows, spool->tid_capacity * 2);
		spooled->tids = spooled->tids ? repalloc_huge(spooled->tids, spool->tid_capacity * sizeof(ItemPointerData))
			: MemoryContextAllocHuge(spool->context, spool->tid_capacity * sizeof(ItemPointerData));
	}
	memcpy(spooled->tids + spooled->rows, spool->batch->tids, spool->batch->rows * sizeof(ItemPointerData));
	spooled->rows = rows;
}

/* Write the batch to the files. */
static void
write_batch(RtscanSpool *spool)
{
	MemoryContext old;
	Batch	   *batch;

	if (spool->batch->rows == 0)
		return;
	measure(spool);
	PrepareTempTablespaces();
	old = MemoryContextSwitchTo(spool->file_context);
	batch = palloc(sizeof(Batch));
	batch->rows = spool->batch->rows;
	batch->columns = palloc(spool->schema->ncolumns * sizeof(BatchColumn));
	for (int i = 0; i < spool->schema->ncolumns; i++)
	{
		CHECK_FOR_INTERRUPTS();
		write_column(spool, i, &batch->columns[i]);
	}
	spool->batches = lappend(spool->batches, batch);
	MemoryContextSwitchTo(old);
	append_tids(spool);
	rtscan_rows_reset(spool->batch);
	spool->block_start = 0;
	spool->measured = 0;
}

/* ---------------------------------------------------------------- reading a column */

static void
read_exactly(BufFile *file, void *place, Size size)
{
	if (BufFileRead(file, place, size) != size)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("could not read from a temporary file of an index build: it is too short")));
}

/* Read the bits of a batch's NULLs; returns NULL if it has none. */
static uint64 *
read_nulls(BufFile *file, const Batch *batch, const BatchColumn *column)
{
	uint64	   *nulls;

	if (column->null_count == 0)
		return NULL;
	nulls = palloc(null_bytes(batch->rows));
	read_exactly(file, nulls, null_bytes(batch->rows));
	return nulls;
}

/* Load a batch's values of a column that are passed by value, for the rows from "first" on. */
static void
load_by_value(RtscanRows *rows, int i, uint32 first, BufFile *file, const Batch *batch, const BatchColumn *column)
{
	RtscanColumnRows *loaded = &rows->columns[i];
	uint64	   *nulls;

	read_exactly(file, loaded->values + first, batch->rows * sizeof(uint64));
	nulls = read_nulls(file, batch, column);
	for (uint32 row = 0; nulls && row < batch->rows; row++)
		if (rtscan_bit_is_set(nulls, row))
			rtscan_rows_set(rows, first + row, i, 0, true);
}

/*
 * The same for values that are passed by reference: they point to the bytes that have been read or, if "images" is not
 * NULL, to copies that rows with the same image share.
 */
static void
load_by_reference(RtscanRows *rows, int i, uint32 first, BufFile *file, const Batch *batch, const BatchColumn *column,
				  RtscanImages *images)
{
	const RtscanColumn *type = &rows->schema->columns[i];
	char	   *bytes = palloc_extended(Max(column->value_bytes, 1), MCXT_ALLOC_HUGE);
	char	   *next = bytes;
	uint64	   *nulls;

	read_exactly(file, bytes, column->value_bytes);
	nulls = read_nulls(file, batch, column);
	for (uint32 row = 0; row < batch->rows; row++)
	{
		Datum		value = PointerGetDatum(next);

		if (nulls && rtscan_bit_is_set(nulls, row))
		{
			rtscan_rows_set(rows, first + row, i, 0, true);
			continue;
		}
		next += MAXALIGN(rtscan_value_size(type, value));
		rtscan_rows_set(rows, first + row, i, (uint64) (images ? rtscan_image_copy(images, value) : value), false);
	}
	if (images)
		pfree(bytes);
}

/* RtscanColumnLoader: read a column's file. */
static void
load_column(RtscanRows *rows, int i, void *arg)
{
	RtscanSpool *spool = (RtscanSpool *) arg;
	SpoolColumn *column = &spool->columns[i];
	RtscanImages *images = shares_values(spool, i) ? rtscan_images_create(&rows->schema->columns[i]) : NULL;
	uint32		first = 0;
	ListCell   *lc;

	rtscan_rows_make_room(rows, i);
	if (BufFileSeek(column->file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not rewind a temporary file of an index build")));
	foreach(lc, spool->batches)
	{
		const Batch *batch = (const Batch *) lfirst(lc);
		const BatchColumn *part = &batch->columns[i];

		CHECK_FOR_INTERRUPTS();
		if (column->by_reference)
			load_by_reference(rows, i, first, column->file, batch, part, images);
		else
			load_by_value(rows, i, first, column->file, batch, part);
		first += batch->rows;
	}
	if (images)
	{
		uint32		n;

		pfree(rtscan_images_end(images, &n));
		rows->columns[i].shared = true;
	}
}

/* ---------------------------------------------------------------- the spool */

static void
init_column(SpoolColumn *column, const RtscanColumn *type, bool is_key)
{
	column->by_reference = !type->typbyval && !rtscan_key_tells_image(type->key_kind);
	column->compared = is_key && type->key_kind == RTSCAN_KEY_NONE;
	column->counted = column->by_reference || column->compared;
	if (column->counted)
		initHyperLogLog(&column->images, REGISTER_BITS);
}

RtscanSpool *
rtscan_spool_create(const RtscanSchema *schema, int memory_kb)
{
	RtscanSpool *spool = palloc0(sizeof(RtscanSpool));

	spool->schema = schema;
	spool->memory_kb = memory_kb;
	spool->context = CurrentMemoryContext;
	spool->file_context = AllocSetContextCreate(CurrentMemoryContext, "rtscan spool", ALLOCSET_DEFAULT_SIZES);
	spool->limit = rtscan_spool_limit(memory_kb);
	spool->batch = rtscan_rows_create(schema);
	spool->spooled = rtscan_rows_create_loaded(schema, 0, load_column, spool);
	spool->columns = palloc0(schema->ncolumns * sizeof(SpoolColumn));
	for (int i = 0; i < schema->ncolumns; i++)
		init_column(&spool->columns[i], &schema->columns[i], i < schema->nkeys);
	return spool;
}

void
rtscan_spool_add(RtscanSpool *spool, ItemPointer tid, const Datum *values, const bool *isnull)
{
	rtscan_rows_add(spool->batch, tid, values, isnull);
}

/* Return the bytes of memory that the batch takes. */
static double
batch_bytes(const RtscanSpool *spool)
{
	return (double) spool->batch->rows * (sizeof(ItemPointerData) + spool->schema->ncolumns * RTSCAN_VALUE_BYTES) +
		rtscan_rows_value_memory(spool->batch);
}

/* Sort the rows of the newest heap block by their TIDs. */
static void
sort_block(RtscanSpool *spool)
{
	rtscan_rows_sort_tids(spool->batch, spool->block_start);
	spool->block_start = spool->batch->rows;
}

void
rtscan_spool_end_block(RtscanSpool *spool)
{
	sort_block(spool);
	if (spool->batch->rows - spool->measured >= ROWS_A_MEASURE)
		measure(spool);
	if (batch_bytes(spool) > spool->memory_kb * 1024.0 * BATCH_FRACTION)
		write_batch(spool);
}

/* Can the segment be made of the batch, with all of its columns in memory at a time? */
static bool
fits_in_memory(RtscanSpool *spool)
{
	double		widest = 0;

	if (spool->spooled->rows > 0)
		return false;
	measure(spool);
	for (int i = 0; i < spool->schema->ncolumns; i++)
		if (spool->columns[i].compared)
			widest = Max(widest, value_memory(spool, i).copied - spool->batch->columns[i].value_bytes);
	return (double) spool->batch->rows * rtscan_rows_bytes(spool->schema->ncolumns) +
		rtscan_rows_value_memory(spool->batch) + widest <= spool->memory_kb * 1024.0;
}

RtscanRows *
rtscan_spool_rows(RtscanSpool *spool)
{
	sort_block(spool);
	if (fits_in_memory(spool))
		return spool->batch;
	write_batch(spool);
	rtscan_rows_release(spool->batch);
	return spool->spooled;
}

void
rtscan_spool_reset(RtscanSpool *spool)
{
	MemoryContext old = MemoryContextSwitchTo(spool->context);

	rtscan_rows_reset(spool->batch);
	spool->block_start = 0;
	spool->measured = 0;
	spool->spooled->rows = 0;
	spool->batches = NIL;
	for (int i = 0; i < spool->schema->ncolumns; i++)
	{
		SpoolColumn *column = &spool->columns[i];

		if (column->file)
			BufFileClose(column->file);
		if (column->counted)
			freeHyperLogLog(&column->images);
		memset(column, 0, sizeof(SpoolColumn));
		init_column(column, &spool->schema->columns[i], i < spool->schema->nkeys);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(spool->file_context);
}
