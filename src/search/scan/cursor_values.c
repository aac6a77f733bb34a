/* SPDX-License-Identifier: PostgreSQL */
/*
 * cursor_values.c
 *		TIDs and values of a cursor's current rows.
 */
#include "search/scan/cursor_parts.h"

#include "segment/tidmap.h"
#include "segment/typed.h"
#include "utils/memutils.h"

void
rtscan_cursor_init_columns(RtscanCursor *cursor)
{
	int			ncolumns = cursor->schema->ncolumns;

	cursor->columns = (RtscanCursorColumns) {
		.context = AllocSetContextCreate(cursor->context, "rtscan cursor's segment", ALLOCSET_DEFAULT_SIZES),
		.values = MemoryContextAllocZero(cursor->context, ncolumns * sizeof(RtscanValues *)),
		.bounds = MemoryContextAllocZero(cursor->context, ncolumns * sizeof(RtscanKnownBounds)),
	};
}

void
rtscan_cursor_forget_columns(RtscanCursor *cursor)
{
	MemoryContextReset(cursor->columns.context);
	memset(cursor->columns.values, 0, cursor->schema->ncolumns * sizeof(RtscanValues *));
}

RtscanValues *
rtscan_cursor_column(RtscanCursor *cursor, int column)
{
	if (cursor->columns.values[column] == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(cursor->columns.context);

		cursor->columns.values[column] = rtscan_open_values(&cursor->segment.scan->reader, cursor->schema, column);
		cursor->columns.bounds[column].chunk = PG_UINT32_MAX;
		MemoryContextSwitchTo(old);
	}
	return cursor->columns.values[column];
}

void
rtscan_cursor_tids(RtscanCursor *cursor, ItemPointerData *tids)
{
	if (cursor->segment.scan)
		rtscan_find_tids(&cursor->segment.scan->reader, cursor->current.rows, cursor->current.n, tids);
	else
		rtscan_cursor_pending_tids(cursor, tids);
}

/* Return the end of the run of current rows, from index "first" on, that are in one chunk. */
static uint32
end_of_rows_in_chunk(const RtscanCursor *cursor, uint32 first)
{
	const RtscanCursorRows *current = &cursor->current;
	uint32		limit = (current->rows[first] / RTSCAN_CHUNK_ROWS + 1) * RTSCAN_CHUNK_ROWS;

	return current->rows[current->n - 1] < limit ? current->n :
		rtscan_find_row(current->rows, first, current->n, limit);
}

/* Return a column's values of the current rows, which must be rows of a segment. */
static void
get_segment_values(RtscanCursor *cursor, int column, Datum *datums, bool *isnull)
{
	const RtscanCursorRows *current = &cursor->current;

	for (uint32 first = 0, end; first < current->n; first = end)
	{
		end = end_of_rows_in_chunk(cursor, first);
		rtscan_get_values(rtscan_cursor_column(cursor, column), current->rows + first, end - first, datums + first,
						  isnull + first);
	}
}

void
rtscan_cursor_values(RtscanCursor *cursor, int column, Datum *datums, bool *isnull)
{
	MemoryContext old = MemoryContextSwitchTo(cursor->row_context);

	if (cursor->segment.scan)
		get_segment_values(cursor, column, datums, isnull);
	else
		rtscan_cursor_pending_values(cursor, column, datums, isnull);
	MemoryContextSwitchTo(old);
}

/* Get a column's values of the current rows, which are pending rows, as integers; see rtscan_cursor_decimals(). */
static bool
get_pending_decimals(RtscanCursor *cursor, int column, int64 *digits, bool *isnull, int *scale)
{
	Datum	   *datums = palloc(cursor->current.n * sizeof(Datum));

	rtscan_cursor_values(cursor, column, datums, isnull);
	return rtscan_find_decimals(&cursor->schema->columns[column], datums, isnull, cursor->current.n, digits, scale);
}

/*
 * Get a column's values of the current rows, which are rows of a segment, as integers.  Returns false if the values of
 * a chunk cannot be converted, or have another scale than those of the chunk before.
 */
static bool
get_segment_decimals(RtscanCursor *cursor, int column, int64 *digits, bool *isnull, int *scale)
{
	const RtscanCursorRows *current = &cursor->current;

	for (uint32 first = 0, end; first < current->n; first = end)
	{
		int			of_chunk;

		end = end_of_rows_in_chunk(cursor, first);
		if (!rtscan_get_decimals(rtscan_cursor_column(cursor, column), current->rows + first, end - first,
								 digits + first, isnull + first, &of_chunk) ||
			(first > 0 && of_chunk != *scale))
			return false;
		*scale = of_chunk;
	}
	return true;
}

bool
rtscan_cursor_decimals(RtscanCursor *cursor, int column, int64 *digits, bool *isnull, int *scale)
{
	MemoryContext old = MemoryContextSwitchTo(cursor->row_context);
	bool		decimal;

	if (cursor->segment.scan)
		decimal = get_segment_decimals(cursor, column, digits, isnull, scale);
	else
		decimal = get_pending_decimals(cursor, column, digits, isnull, scale);
	MemoryContextSwitchTo(old);
	return decimal;
}

void
rtscan_cursor_codes(RtscanCursor *cursor, int column, uint32 *codes)
{
	const RtscanCursorRows *current = &cursor->current;
	MemoryContext old = MemoryContextSwitchTo(cursor->row_context);

	Assert(cursor->segment.scan);
	for (uint32 first = 0, end; first < current->n; first = end)
	{
		end = end_of_rows_in_chunk(cursor, first);
		rtscan_get_codes(rtscan_cursor_column(cursor, column), current->rows + first, end - first, codes + first);
	}
	MemoryContextSwitchTo(old);
}

void
rtscan_cursor_offsets(RtscanCursor *cursor, int column, int64 least, uint32 of_null, uint32 *offsets)
{
	const RtscanCursorRows *current = &cursor->current;

	Assert(cursor->segment.scan);
	for (uint32 first = 0, end; first < current->n; first = end)
	{
		end = end_of_rows_in_chunk(cursor, first);
		rtscan_get_offsets(rtscan_cursor_column(cursor, column), current->rows + first, end - first, least, of_null,
						   offsets + first);
	}
}

bool
rtscan_cursor_has_codes(RtscanCursor *cursor, int column)
{
	return rtscan_has_codes(rtscan_cursor_column(cursor, column));
}

uint32
rtscan_cursor_code_count(RtscanCursor *cursor, int column)
{
	return rtscan_code_count(rtscan_cursor_column(cursor, column));
}

bool
rtscan_cursor_range(RtscanCursor *cursor, int column, int64 *least, int64 *greatest, int *scale)
{
	return rtscan_get_range(rtscan_cursor_column(cursor, column), least, greatest, scale);
}

bool
rtscan_cursor_range_of_codes(RtscanCursor *cursor, int column, int64 *least, int64 *greatest, int *scale)
{
	return rtscan_get_range_of_codes(rtscan_cursor_column(cursor, column), least, greatest, scale);
}

bool
rtscan_cursor_bounds(RtscanCursor *cursor, int column, int scale, int64 *least, int64 *greatest)
{
	RtscanValues *values = cursor->segment.scan ? rtscan_cursor_column(cursor, column) : NULL;
	RtscanKnownBounds *known = &cursor->columns.bounds[column];
	const RtscanChunkBounds *bounds = &known->bounds;
	const RtscanCursorRows *current = &cursor->current;
	uint32		chunk = current->rows[0] / RTSCAN_CHUNK_ROWS;

	if (values == NULL || chunk != current->rows[current->n - 1] / RTSCAN_CHUNK_ROWS)
		return false;
	if (known->chunk != chunk)
		*known = (RtscanKnownBounds) {chunk, rtscan_chunk_bounds(values, chunk)};
	if (bounds->kind == RTSCAN_EXACT_NONE || bounds->scale != scale ||
		bounds->nulls == rtscan_chunk_rows(cursor->segment.scan->reader.segment->header.rows, chunk))
		return false;
	*least = bounds->nulls > 0 ? Min(bounds->least, 0) : bounds->least;
	*greatest = bounds->nulls > 0 ? Max(bounds->greatest, 0) : bounds->greatest;
	return true;
}
