/* SPDX-License-Identifier: PostgreSQL */
/*
 * own_columns.c
 *		Read the index's own columns, not those of dimensions, for the rows of a batch.
 */
#include "run/vector/own_columns.h"

/*
 * A column of the index for the rows that have been fetched.  It is read only once for each fetch, since the
 * memory that reading takes is not freed before the next fetch.
 */
typedef struct FetchedColumn
{
	uint64		fetch;			/* number of the fetch that values and isnull are for */
	Datum	   *values;			/* by row: its value */
	bool	   *isnull;			/* by row: its value is NULL */
	uint64		integers_fetch; /* number of the fetch that integers and integers_isnull are for */
	bool		has_integers;	/* the column has integers */
	int			scale;			/* scale of the integers */
	int64	   *integers;		/* by row: its integer */
	bool	   *integers_isnull;	/* by row: its integer is NULL */
} FetchedColumn;

/*
 * Columns of the index for the rows that have been fetched.  If the batch consists of copies of these rows (batch.h),
 * the copies' values are taken from here; "sources" and "codes" are work space for that.
 */
typedef struct RtscanFetched
{
	uint16		sources[RTSCAN_CURSOR_ROWS];	/* room for RtscanBatch.sources */
	uint32		codes[RTSCAN_CURSOR_ROWS];	/* room for codes or offsets of the rows fetched */
	FetchedColumn columns[FLEXIBLE_ARRAY_MEMBER];	/* by column of the index */
} RtscanFetched;

/* ---------------------------------------------------------------- room */

void
rtscan_make_room_for_column(RtscanBatch *batch, Datum **values, bool **isnull)
{
	if (*values == NULL)
	{
		*values = MemoryContextAlloc(GetMemoryChunkContext(batch), RTSCAN_CURSOR_ROWS * sizeof(Datum));
		*isnull = MemoryContextAlloc(GetMemoryChunkContext(batch), RTSCAN_CURSOR_ROWS * sizeof(bool));
	}
}

static void
create_fetched(RtscanBatch *batch)
{
	if (batch->fetched == NULL)
		batch->fetched = MemoryContextAllocZero(GetMemoryChunkContext(batch), offsetof(RtscanFetched, columns) +
												batch->schema->ncolumns * sizeof(FetchedColumn));
}

uint16 *
rtscan_room_for_sources(RtscanBatch *batch)
{
	create_fetched(batch);
	return batch->fetched->sources;
}

/* ---------------------------------------------------------------- columns */

static const FetchedColumn *
fetch_column(RtscanBatch *batch, int column)
{
	FetchedColumn *fetched = &batch->fetched->columns[column];

	rtscan_make_room_for_column(batch, &fetched->values, &fetched->isnull);
	if (fetched->fetch != batch->fetch)
		rtscan_cursor_values(batch->cursor, column, fetched->values, fetched->isnull);
	fetched->fetch = batch->fetch;
	return fetched;
}

static void
copy_fetched(RtscanBatch *batch, int column, Datum *values, bool *isnull)
{
	const FetchedColumn *fetched = fetch_column(batch, column);

	for (uint32 i = 0; i < batch->n; i++)
	{
		values[i] = fetched->values[batch->sources[i]];
		isnull[i] = fetched->isnull[batch->sources[i]];
	}
}

void
rtscan_load_own_column(RtscanBatch *batch, int column)
{
	if (batch->loaded[column])
		return;
	rtscan_make_room_for_column(batch, &batch->values[column], &batch->isnull[column]);
	if (batch->ordered)
		rtscan_ordered_values(batch->ordered, column, batch->values[column], batch->isnull[column]);
	else if (batch->sources)
		copy_fetched(batch, column, batch->values[column], batch->isnull[column]);
	else
		rtscan_cursor_values(batch->cursor, column, batch->values[column], batch->isnull[column]);
	batch->loaded[column] = true;
}

static const FetchedColumn *
fetch_integers(RtscanBatch *batch, int column)
{
	FetchedColumn *fetched = &batch->fetched->columns[column];
	MemoryContext context = GetMemoryChunkContext(batch);

	if (fetched->integers == NULL)
	{
		fetched->integers = MemoryContextAlloc(context, RTSCAN_CURSOR_ROWS * sizeof(int64));
		fetched->integers_isnull = MemoryContextAlloc(context, RTSCAN_CURSOR_ROWS * sizeof(bool));
	}
	if (fetched->integers_fetch != batch->fetch)
		fetched->has_integers = rtscan_cursor_decimals(batch->cursor, column, fetched->integers,
													   fetched->integers_isnull, &fetched->scale);
	fetched->integers_fetch = batch->fetch;
	return fetched;
}

static bool
copy_integers(RtscanBatch *batch, int column, int64 *integers, bool *isnull, int *scale)
{
	const FetchedColumn *fetched = fetch_integers(batch, column);

	for (uint32 i = 0; i < batch->n && fetched->has_integers; i++)
	{
		integers[i] = fetched->integers[batch->sources[i]];
		isnull[i] = fetched->integers_isnull[batch->sources[i]];
	}
	*scale = fetched->scale;
	return fetched->has_integers;
}

bool
rtscan_load_own_integers(RtscanBatch *batch, int column, int64 *integers, bool *isnull, int *scale)
{
	if (batch->sources)
		return copy_integers(batch, column, integers, isnull, scale);
	if (batch->cursor)
		return rtscan_cursor_decimals(batch->cursor, column, integers, isnull, scale);
	rtscan_load_own_column(batch, column);
	memcpy(isnull, batch->isnull[column], batch->n * sizeof(bool));
	return rtscan_find_decimals(&batch->schema->columns[column], batch->values[column], isnull, batch->n,
								integers, scale);
}

/* Set the codes of the batch's rows, given the codes of the rows fetched. */
static void
copy_codes(const RtscanBatch *batch, const uint32 *fetched, uint32 *codes)
{
	for (uint32 i = 0; i < batch->n; i++)
		codes[i] = fetched[batch->sources[i]];
}

void
rtscan_load_own_codes(RtscanBatch *batch, int column, uint32 *codes)
{
	rtscan_cursor_codes(batch->cursor, column, batch->sources ? batch->fetched->codes : codes);
	if (batch->sources)
		copy_codes(batch, batch->fetched->codes, codes);
}

void
rtscan_load_offsets(RtscanBatch *batch, int column, int64 least, uint32 null, uint32 *offsets)
{
	rtscan_cursor_offsets(batch->cursor, column, least, null, batch->sources ? batch->fetched->codes : offsets);
	if (batch->sources)
		copy_codes(batch, batch->fetched->codes, offsets);
}
