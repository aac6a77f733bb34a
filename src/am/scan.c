/* SPDX-License-Identifier: PostgreSQL */
/*
 * scan.c
 *		Bitmap scans.
 *
 * The access method returns only bitmaps.  Rows are returned by a custom scan node (run/node/scan_node.c), since an
 * access method cannot return them fast.
 *
 * The order of the steps matters.  PostgreSQL's executor has taken the snapshot before.  The scan first takes the
 * predicate lock (on the relation, since any insertion may match).  Then it reads an image of segments and pending
 * lists from the metapage.  This order protects a bitmap, which needs no recheck, from TIDs that VACUUM frees and
 * that are then used for other rows.
 */
#include "am/am.h"

#include "access/relscan.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "search/scan/search.h"
#include "segment/tidmap.h"
#include "storage/predicate.h"
#include "utils/memutils.h"

/*
 * State of a scan from rtscan_begin_scan() to rtscan_end_scan().  It is small, since many scans below an Append are
 * begun at the same time.
 */
typedef struct RtscanScan
{
	RtscanSchema *schema;
	TIDBitmap  *bitmap;			/* bitmap to add TIDs to; NULL: only count */
	bool		want_bits;		/* are row bits needed, or counts only? */
	int64		ntids;			/* number of rows found */
	RtscanSearch search;
} RtscanScan;

IndexScanDesc
rtscan_begin_scan(Relation index, int nkeys, int norderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, nkeys, norderbys);
	RtscanScan *state = palloc0(sizeof(RtscanScan));

	state->schema = rtscan_schema(index);
	scan->opaque = state;
	return scan;
}

void
rtscan_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys, int norderbys)
{
	if (keys && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
}

void
rtscan_end_scan(IndexScanDesc scan)
{
	RtscanScan *state = (RtscanScan *) scan->opaque;

	pfree(state->schema);
	pfree(state);
}

/* RtscanTidConsumer: add TIDs to the bitmap. */
static void
add_tids(ItemPointer tids, int ntids, void *arg)
{
	RtscanScan *state = (RtscanScan *) arg;

	if (state->bitmap)
		tbm_add_tuples(state->bitmap, tids, ntids, false);
	state->ntids += ntids;
}

/* Add the TIDs of a segment's rows to the bitmap, or count the rows. */
static void
take_segment(RtscanScan *state, RtscanSegmentScan *segment, const RtscanRowBits *bits)
{
	if (state->bitmap == NULL)
	{
		state->ntids += rtscan_bits_count(bits);
		return;
	}
	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
		if (bits->filled[chunk])
		{
			CHECK_FOR_INTERRUPTS();
			rtscan_visit_tids(&segment->reader, chunk, rtscan_bits_chunk(bits, chunk), add_tids, state);
		}
}

/* RtscanPrepareSegment: set whether row bits are needed. */
static void
prepare_segment(RtscanSegmentScan *segment, void *arg)
{
	segment->asked.want_bits = ((const RtscanScan *) arg)->want_bits;
}

static void
take_segments(RtscanScan *state)
{
	RtscanSearch *search = &state->search;
	RtscanSegmentScan *segment;
	RtscanRowBits *bits;

	while ((segment = rtscan_next_segment(search, &bits)))
	{
		instr_time	start,
					end;

		INSTR_TIME_SET_CURRENT(start);
		take_segment(state, segment, bits);
		INSTR_TIME_SET_CURRENT(end);
		INSTR_TIME_ACCUM_DIFF(search->stats.tids_time, end, start);
	}
}

static void
take_pending(RtscanScan *state)
{
	IndexTuple	tuple;
	instr_time	start,
				end;

	INSTR_TIME_SET_CURRENT(start);
	while ((tuple = rtscan_next_pending(&state->search)))
		add_tids(&tuple->t_tid, 1, state);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_ACCUM_DIFF(state->search.stats.bits_time, end, start);
}

/*
 * Scan the index, and add the TIDs of its rows to the bitmap; if "bitmap" is NULL, only count the rows.  Returns the
 * number of rows.
 */
static int64
scan_index(IndexScanDesc scan, TIDBitmap *bitmap, bool want_bits)
{
	RtscanScan *state = (RtscanScan *) scan->opaque;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan scan", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	RtscanFilter filter;

	PredicateLockRelation(scan->indexRelation, scan->xs_snapshot);
	state->bitmap = bitmap;
	state->want_bits = want_bits;
	state->ntids = 0;
	state->search = (RtscanSearch) {
		.asked = {
			.index = scan->indexRelation,
			.snapshot = scan->xs_snapshot,
			.schema = state->schema,
			.filter = &filter,
			.prepare = prepare_segment,
			.prepare_arg = state,
			.may_test = true,
		},
	};

	filter = rtscan_key_filter(scan->indexRelation, state->schema, scan->keyData, scan->numberOfKeys);
	rtscan_begin_search(&state->search,
						rtscan_copy_image(rtscan_read_image(scan->indexRelation, scan->xs_snapshot, false)));
	take_segments(state);
	take_pending(state);
	rtscan_end_search(&state->search);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return state->ntids;
}

int64
rtscan_get_bitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	RtscanScan *state = (RtscanScan *) scan->opaque;

	pgstat_count_index_scan(scan->indexRelation);
	rtscan_compat_count_search(scan);
	scan_index(scan, bitmap, true);
	state->search.stats.rows = state->ntids;
	rtscan_count_scan(state->search.executor, &state->search.stats);
	return state->ntids;
}

uint64
rtscan_count_bits(IndexScanDesc scan, bool want_bits, const char **executor, double *device_time)
{
	RtscanScan *state = (RtscanScan *) scan->opaque;
	uint64		rows = scan_index(scan, NULL, want_bits);

	*executor = rtscan_executor_names[state->search.executor];
	*device_time = state->search.stats.counters.device_time / 1e6;
	return rows;
}
