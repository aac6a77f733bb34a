/* SPDX-License-Identifier: PostgreSQL */
/*
 * values_codes.c
 *		Read the codes of rows, which are stored or, for a column in heap order, follow from the rows' ranks.
 */
#include "segment/values_parts.h"

#include "bits/gather.h"
#include "bits/packed.h"
#include "segment/dictionary.h"
#include "segment/frames.h"
#include "segment/look_ahead.h"

/* ---------------------------------------------------------------- columns in heap order */

/* Rows of a key column in heap order, and their codes or values.  In heap order the rank of a row is its row number. */
typedef struct RankedRows
{
	const uint32 *rows;			/* ascending rows that are not NULL */
	uint32		n;				/* number of rows */
	uint32		next;			/* number of rows whose codes are known */
	uint32		wanted;			/* rank of the first row whose code is not known; PG_UINT32_MAX if all codes are
								 * known */
	uint32	   *codes;			/* receives codes, if "datums" is NULL */
	const RtscanColumn *type;	/* the column */
	Datum	   *datums;			/* receives values; or NULL */
} RankedRows;

/* Store the code or the value of the rows in a range of ranks. */
static void
give_rows(RankedRows *ranked, uint32 code, uint64 value, uint32 end_rank)
{
	Datum		datum = (Datum) 0;

	if (ranked->datums && ranked->next < ranked->n && ranked->rows[ranked->next] < end_rank)
		datum = rtscan_visited_value(ranked->type, value);
	for (; ranked->next < ranked->n && ranked->rows[ranked->next] < end_rank; ranked->next++)
		if (ranked->datums)
			ranked->datums[ranked->next] = datum;
		else
			ranked->codes[ranked->next] = code;
}

/* The same for consecutive entries that have one rank each, and keys. */
static void
give_single_ranks(RankedRows *ranked, const RtscanDictionaryEntries *entries)
{
	uint32		first_rank = entries->ranks[0],
				end_rank = entries->ranks[entries->n],
				from = ranked->next;

	for (; ranked->next < ranked->n && ranked->rows[ranked->next] < end_rank; ranked->next++)
	{
		uint32		entry = Max(ranked->rows[ranked->next], first_rank) - first_rank;

		if (ranked->datums)
			ranked->datums[ranked->next] = (Datum) entries->keys[entry];
		else
			ranked->codes[ranked->next] = entries->code + entry;
	}
	if (ranked->datums)
		rtscan_key_decode_all(ranked->type->key_kind, (const uint64 *) ranked->datums + from, ranked->next - from,
							  ranked->datums + from);
}

/* RtscanDictionaryEntriesVisitor.  Stores the codes or the values of the rows of entries. */
static void
give_entries(const RtscanDictionaryEntries *entries, void *arg)
{
	RankedRows *ranked = (RankedRows *) arg;

	if (entries->n > 1 && entries->ranks[entries->n] - entries->ranks[0] == entries->n)
		give_single_ranks(ranked, entries);
	else
		for (uint32 i = 0; i < entries->n; i++)
			give_rows(ranked, entries->code + i, entries->keys[i], entries->ranks[i + 1]);
	ranked->wanted = ranked->next < ranked->n ? ranked->rows[ranked->next] : PG_UINT32_MAX;
}

/* Find the codes or values of rows of a column in heap order. */
static void
visit_ranks(RtscanValues *values, RankedRows *ranked)
{
	uint32		first = rtscan_code_at_rank(values->reader, values->column, values->type, ranked->rows[0]);
	uint32		ranks = ranked->rows[ranked->n - 1] - ranked->rows[0];

	/* Each code has at least one rank, so the rows from the first to the last have at most ranks + 1 codes. */
	rtscan_dictionary_visit_ranks(values->reader, values->column, values->type, first,
								  Min(values->distinct, first + ranks + 1), &ranked->wanted, give_entries, ranked);
	if (ranked->next < ranked->n)
		rtscan_fault(values->reader, &values->header->dictionary, 0, "The dictionary has fewer ranks than it should.");
}

/* Return how many of n ascending rows of a column in heap order are not NULL.  NULLs are the last rows. */
static uint32
count_nonnull(const RtscanValues *values, const uint32 *rows, uint32 n)
{
	while (n > 0 && rows[n - 1] >= values->header->nonnull)
		n--;
	return n;
}

static void
get_ranked_codes(RtscanValues *values, const uint32 *rows, uint32 n, uint32 *codes)
{
	uint32		nonnull = count_nonnull(values, rows, n);

	if (nonnull > 0)
		visit_ranks(values, &(RankedRows) {.rows = rows, .n = nonnull, .codes = codes});
	for (uint32 i = nonnull; i < n; i++)
		codes[i] = values->distinct;
}

void
rtscan_get_ranked_values(RtscanValues *values, const uint32 *rows, uint32 n, Datum *datums, bool *isnull)
{
	uint32		nonnull = count_nonnull(values, rows, n);

	if (nonnull > 0)
		visit_ranks(values, &(RankedRows) {.rows = rows, .n = nonnull, .type = values->type, .datums = datums});
	for (uint32 i = 0; i < n; i++)
	{
		isnull[i] = i >= nonnull;
		if (isnull[i])
			datums[i] = (Datum) 0;
	}
}

/* ---------------------------------------------------------------- codes */

static void
get_stored_codes(RtscanValues *values, const uint32 *rows, uint32 n, uint32 *codes)
{
	const RtscanColumnHeader *header = values->header;
	uint32		per_page = rtscan_per_page(header->code_bytes);
	RtscanLookAhead ahead = rtscan_begin_looking_ahead(&header->codes, 0, 0, header->code_bytes * 8, rows, n);

	for (uint32 i = 0; i < n;)
	{
		uint32		page = rows[i] / per_page;
		uint32		from = i;
		Buffer		buffer;
		const char *payload;
		uint64		largest;

		rtscan_look_ahead(values->reader, &ahead, i);
		payload = rtscan_get_page(values->reader, &header->codes, page, &buffer, NULL);
		i = rtscan_find_row(rows, i, n, (page + 1) * per_page);
		largest = rtscan_unpack_small_rows(payload, header->code_bytes * 8, page * per_page, rows + from, i - from, 0,
										   codes + from);
		rtscan_release(values->reader, buffer);
		if (largest > header->distinct)
			rtscan_fault(values->reader, &header->codes, page, "There is a code that the dictionary does not have.");
	}
}

bool
rtscan_has_codes(const RtscanValues *values)
{
	return values->include == NULL || rtscan_values_have_codes(values);
}

uint32
rtscan_code_count(const RtscanValues *values)
{
	return rtscan_has_codes(values) && values->images == NULL ? values->distinct + 1 : PG_UINT32_MAX;
}

void
rtscan_get_codes(RtscanValues *values, const uint32 *rows, uint32 n, uint32 *codes)
{
	Assert(rtscan_has_codes(values));
	if (values->include)
		rtscan_get_frame_rows_codes(values->reader, &values->include->frames, rows, n, 0, values->distinct, codes);
	else if (values->header->flags & RTSCAN_COLUMN_HEAP_ORDER)
		get_ranked_codes(values, rows, n, codes);
	else
		get_stored_codes(values, rows, n, codes);
}
