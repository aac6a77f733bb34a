/* SPDX-License-Identifier: PostgreSQL */
/*
 * check_include.c
 *		Check an INCLUDE column of a segment, or the images of a key column, which are stored as an INCLUDE column.
 */
#include "monitor/check.h"

#include "miscadmin.h"
#include "segment/dictionary.h"
#include "segment/frames.h"
#include "segment/include.h"
#include "segment/values.h"
#include "utils/memutils.h"

#define BATCH	1024			/* number of rows read at once */

/* Maximal number of a column's images that are looked up in its dictionary. */
#define IMAGE_LOOKUPS	1000

/* A check of a column. */
typedef struct IncludeCheck
{
	RtscanReader *reader;
	const RtscanEntry *entry;
	int			number;			/* index of the column */
	const RtscanSchema *schema;
	const RtscanSegmentInclude *include;
	uint64	   *fingerprints;	/* fingerprints of the segment's rows, or NULL */
	const RtscanHasher *hasher;
} IncludeCheck;

static void
fail(const IncludeCheck *check, const char *what, uint64 number)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is corrupted", RelationGetRelationName(check->reader->index)),
			 errdetail_internal("Segment " UINT64_FORMAT " (descriptor at block %u), column %d: %s " UINT64_FORMAT ".",
								check->entry->id, check->entry->root, check->number + 1, what, number),
			 errhint("Please REINDEX it.")));
}

/* ---------------------------------------------------------------- values */

static void
add_fingerprints(const IncludeCheck *check, uint32 first, uint32 n, const Datum *values, const bool *isnull)
{
	for (uint32 i = 0; i < n && check->fingerprints; i++)
		check->fingerprints[first + i] = rtscan_hash_add(check->fingerprints[first + i], isnull[i],
														 isnull[i] ? 0 : rtscan_hash_value(check->hasher, values[i]));
}

/* Check that all values can be read, and add them to the fingerprints. */
static void
check_values(const IncludeCheck *check)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan check values", ALLOCSET_DEFAULT_SIZES);
	RtscanValues *values = rtscan_open_values(check->reader, check->schema, check->number);
	uint32		all = check->reader->segment->header.rows;
	uint32		rows[BATCH];
	Datum		datums[BATCH];
	bool		isnull[BATCH];

	StaticAssertStmt(RTSCAN_CHUNK_ROWS % BATCH == 0, "a batch has rows of one chunk");
	for (uint32 first = 0; first < all; first += BATCH)
	{
		uint32		n = Min(all - first, BATCH);
		MemoryContext old = MemoryContextSwitchTo(context);

		CHECK_FOR_INTERRUPTS();
		for (uint32 i = 0; i < n; i++)
			rows[i] = first + i;
		rtscan_get_values(values, rows, n, datums, isnull);
		add_fingerprints(check, first, n, datums, isnull);
		MemoryContextSwitchTo(old);
		MemoryContextReset(context);
	}
}

/* ---------------------------------------------------------------- frames */

/* Check that the bounds and the number of NULLs in a chunk's frame are those of the chunk's rows. */
static void
check_frame(const IncludeCheck *check, const RtscanFrames *frames, uint32 chunk, int64 *integers)
{
	const RtscanFrame *frame = &frames->frames[chunk];
	uint32		rows = rtscan_chunk_rows(check->reader->segment->header.rows, chunk);
	RtscanFrame found = {.least = PG_INT64_MAX, .greatest = PG_INT64_MIN};

	rtscan_get_frame(check->reader, frames, chunk, integers);
	for (uint32 row = 0; row < rows; row++)
		if (frame->nulls > 0 && integers[row] == rtscan_frame_marker(frame))
			found.nulls++;
		else
		{
			found.least = Min(found.least, integers[row]);
			found.greatest = Max(found.greatest, integers[row]);
		}
	if (found.nulls != frame->nulls)
		fail(check, "wrong number of NULLs in chunk", chunk);
	if (found.nulls < rows && (found.least != frame->least || found.greatest != frame->greatest))
		fail(check, "wrong bounds of chunk", chunk);
}

void
rtscan_check_frames(RtscanReader *reader, const RtscanEntry *entry, int column, const RtscanFrames *frames)
{
	IncludeCheck check = {.reader = reader, .entry = entry, .number = column};
	int64	   *integers = palloc(RTSCAN_CHUNK_ROWS * sizeof(int64));

	for (uint32 chunk = 0; chunk < reader->segment->chunks; chunk++)
	{
		CHECK_FOR_INTERRUPTS();
		check_frame(&check, frames, chunk, integers);
	}
	pfree(integers);
}

/* ---------------------------------------------------------------- dictionaries */

/* Check that exact integers ascend with their codes: comparisons search the dictionary by bisection. */
static void
check_dictionary(const IncludeCheck *check)
{
	uint32		distinct = check->include->codes.distinct;
	int64	   *integers;

	if (check->include->header.exact == RTSCAN_EXACT_NONE)
		return;
	integers = palloc(Max(distinct, 1) * sizeof(int64));
	rtscan_get_dictionary_integers(check->reader, check->include, 0, distinct, integers);
	for (uint32 code = 1; code < distinct; code++)
		if (integers[code - 1] >= integers[code])
			fail(check, "the dictionary does not ascend at code", code);
	pfree(integers);
}

static void
check_stored(const IncludeCheck *check)
{
	if (check->include->header.storage != RTSCAN_STORED_PLAIN)
		rtscan_check_frames(check->reader, check->entry, check->number, &check->include->frames);
	if (check->include->header.storage == RTSCAN_STORED_CODES)
		check_dictionary(check);
}

void
rtscan_check_include(RtscanReader *reader, const RtscanSchema *schema, const RtscanEntry *entry, int column,
					 uint64 *fingerprints, const RtscanHasher *hasher)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan check INCLUDE", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	IncludeCheck check = {
		.reader = reader,
		.schema = schema,
		.entry = entry,
		.number = column,
		.include = &reader->segment->includes[column - schema->nkeys],
		.fingerprints = fingerprints,
		.hasher = hasher,
	};

	check_stored(&check);
	check_values(&check);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* ---------------------------------------------------------------- images of key columns */

/* Check that the image of a row is equal to the value of the row's code. */
static void
look_up_image(const IncludeCheck *check, uint32 row, Datum value, uint32 code)
{
	const RtscanColumn *type = &check->schema->columns[check->number];
	RtscanProbe probe = {
		.column = type,
		.has_key = type->key_kind != RTSCAN_KEY_NONE,
		.compare = type->compare,
		.value = value,
	};
	RtscanPosition before,
				after;

	if (probe.has_key)
		probe.key = rtscan_key_encode(type->key_kind, value);
	rtscan_dictionary_find(check->reader, check->number, &probe, false, &before);
	rtscan_dictionary_find(check->reader, check->number, &probe, true, &after);
	if (before.code != code || after.code != code + 1)
		fail(check, "another value's image in row", row);
}

/*
 * Check that all images can be read, that no row with NULL has one, and that the first IMAGE_LOOKUPS images are equal
 * to the values of their rows' codes.
 */
static void
check_images(const IncludeCheck *check, const uint32 *codes)
{
	RtscanValues *images = rtscan_open_images(check->reader, check->schema, check->number);
	uint32		null_code = rtscan_null_code(&check->reader->segment->columns[check->number].header);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan check images", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	uint32		found = 0;

	for (uint32 row = 0; row < check->reader->segment->header.rows; row++)
	{
		Datum		value;
		bool		none;

		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(context);
		rtscan_get_values(images, &row, 1, &value, &none);
		if (!none && codes[row] >= null_code)
			fail(check, "NULL has an image in row", row);
		if (!none && found++ < IMAGE_LOOKUPS)
			look_up_image(check, row, value, codes[row]);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

void
rtscan_check_images(RtscanReader *reader, const RtscanSchema *schema, const RtscanEntry *entry, int column,
					const uint32 *codes)
{
	IncludeCheck check = {
		.reader = reader,
		.schema = schema,
		.entry = entry,
		.number = column,
		.include = &reader->segment->columns[column].images,
	};

	check_stored(&check);
	check_images(&check, codes);
}
