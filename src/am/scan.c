/*
 * scan.c
 *		Bitmap scans.
 *
 * The order matters: the executor has taken the snapshot; then come the predicate lock (a
 * relation's: any insertion may match), and the metapage, and so one image of segments and
 * pending lists.  That is what protects a bitmap, which asks for no recheck, from TIDs that
 * vacuum frees and somebody else reuses.
 */
#include "am/am.h"

#include "access/relscan.h"
#include "exec/executor.h"
#include "miscadmin.h"
#include "monitor/stats.h"
#include "pgstat.h"
#include "portability/instr_time.h"
#include "query/predicate.h"
#include "storage/dead.h"
#include "storage/pending.h"
#include "storage/predicate.h"
#include "storage/tidmap.h"
#include "utils/memutils.h"

/* Lives as long as the scan. */
typedef struct RtscanScan
{
	RtscanSchema *schema;
	MemoryContext context;		/* of one amgetbitmap, */
	MemoryContext segment_context;	/* of one segment's bits or some pending rows in it */
	const RtscanPredicate *predicate;
	RtscanExecutor executor;	/* that answered, or most of it */
	TIDBitmap  *bitmap;			/* NULL: only count */
	bool		want_bits;
	int64		ntids;
	RtscanScanStats stats;
} RtscanScan;

IndexScanDesc
rtscan_begin_scan(Relation index, int nkeys, int norderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, nkeys, norderbys);
	RtscanScan *state = palloc0(sizeof(RtscanScan));

	state->schema = rtscan_schema(index);
	state->context = AllocSetContextCreate(CurrentMemoryContext, "rtscan scan",
										   ALLOCSET_DEFAULT_SIZES);
	state->segment_context = AllocSetContextCreate(CurrentMemoryContext, "rtscan scan of a segment",
												   ALLOCSET_DEFAULT_SIZES);
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

	MemoryContextDelete(state->segment_context);
	MemoryContextDelete(state->context);
	pfree(state->schema);
	pfree(state);
}

/* RtscanTidConsumer */
static void
add_tids(ItemPointer tids, int ntids, void *arg)
{
	RtscanScan *state = (RtscanScan *) arg;

	if (state->bitmap)
		tbm_add_tuples(state->bitmap, tids, ntids, false);
	state->ntids += ntids;
}

/* Hand on the TIDs of rows, or count them. */
static void
collect_rows(RtscanScan *state, RtscanReader *reader, const RtscanRowBits *bits)
{
	if (state->bitmap == NULL)
	{
		state->ntids += rtscan_bits_count(bits);
		return;
	}
	for (uint32 chunk = 0; chunk < reader->segment->chunks; chunk++)
		if (bits->filled[chunk])
		{
			CHECK_FOR_INTERRUPTS();
			rtscan_visit_tids(reader, chunk, rtscan_bits_chunk(bits, chunk), add_tids, state);
		}
}

/* The rows of a segment of the batch at hand. */
static void
scan_segment(IndexScanDesc scan, RtscanScan *state, RtscanSegmentScan *segment)
{
	RtscanRowBits *bits;
	instr_time	start,
				middle,
				end;

	INSTR_TIME_SET_CURRENT(start);
	bits = rtscan_evaluate(segment, &state->stats.counters);
	if (bits)
		rtscan_bits_remove_dead(scan->indexRelation, segment->entry, scan->xs_snapshot, bits);
	INSTR_TIME_SET_CURRENT(middle);
	if (bits)
		collect_rows(state, &segment->reader, bits);
	INSTR_TIME_SET_CURRENT(end);

	state->stats.counters.segments++;
	state->stats.counters.pages_read += segment->reader.pages_read;
	INSTR_TIME_ACCUM_DIFF(state->stats.bits_time, middle, start);
	INSTR_TIME_ACCUM_DIFF(state->stats.tids_time, end, middle);
}

/* What the predicate means for each segment.  Here, and not later, a user's functions may be called. */
static RtscanSegmentScan *
prepare_segments(IndexScanDesc scan, RtscanScan *state, const RtscanImage *image, int *count)
{
	RtscanSegmentScan *segments = palloc0(Max(image->nentries, 1) * sizeof(RtscanSegmentScan));

	*count = 0;
	for (uint32 i = 0; i < image->nentries; i++)
	{
		RtscanSegmentScan *segment = &segments[*count];

		if (!rtscan_entry_is_live(&image->entries[i]))
			continue;
		segment->entry = &image->entries[i];
		rtscan_reader_open(&segment->reader, scan->indexRelation, segment->entry, false);
		rtscan_predicate_group(state->predicate, &segment->reader, &segment->group);
		(*count)++;
	}
	return segments;
}

/* Evaluate some segments together, then collect their rows one segment after another. */
static void
scan_batch(IndexScanDesc scan, RtscanScan *state, const RtscanImage *image, RtscanExecutor executor,
		   RtscanSegmentScan *segments, int count)
{
	instr_time	start,
				end;

	INSTR_TIME_SET_CURRENT(start);
	executor = rtscan_begin_batch(executor, scan->indexRelation, &image->meta.uuid, segments, count,
								  state->want_bits, &state->stats.counters);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_ACCUM_DIFF(state->stats.bits_time, end, start);
	if (executor != RTSCAN_EXECUTOR_CPU)
		state->executor = executor;
	for (int i = 0; i < count; i++)
	{
		MemoryContext old = MemoryContextSwitchTo(state->segment_context);

		scan_segment(scan, state, &segments[i]);
		MemoryContextSwitchTo(old);
		MemoryContextReset(state->segment_context);
	}
}

static void
scan_segments(IndexScanDesc scan, RtscanScan *state, const RtscanImage *image)
{
	RtscanSegmentScan *segments;
	RtscanExecutor executor;
	int			count;
	instr_time	start,
				end;

	INSTR_TIME_SET_CURRENT(start);
	segments = prepare_segments(scan, state, image, &count);
	executor = rtscan_choose_executor(segments, count);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_ACCUM_DIFF(state->stats.bits_time, end, start);
	for (int i = 0; i < count; i += RTSCAN_BATCH_SEGMENTS)
		scan_batch(scan, state, image, executor, segments + i, Min(count - i, RTSCAN_BATCH_SEGMENTS));
}

/* RtscanPendingVisitor */
static void
check_pending_row(IndexTuple tuple, void *arg)
{
	IndexScanDesc scan = (IndexScanDesc) arg;
	RtscanScan *state = (RtscanScan *) scan->opaque;
	MemoryContext old = MemoryContextSwitchTo(state->segment_context);
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	rtscan_deform_pending(scan->indexRelation, state->schema, tuple, values, isnull);
	if (rtscan_predicate_matches(state->predicate, values, isnull))
		add_tids(&tuple->t_tid, 1, state);
	MemoryContextSwitchTo(old);
	if (++state->stats.pending_rows % 256 == 0)
		MemoryContextReset(state->segment_context);
}

static void
scan_pending(IndexScanDesc scan, RtscanScan *state, const RtscanListRef *list)
{
	instr_time	start,
				end;

	if (list->head == InvalidBlockNumber)
		return;
	INSTR_TIME_SET_CURRENT(start);
	rtscan_pending_visit(scan->indexRelation, list, check_pending_row, scan);
	MemoryContextReset(state->segment_context);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_ACCUM_DIFF(state->stats.bits_time, end, start);
}

static void
scan_image(IndexScanDesc scan, RtscanScan *state, const RtscanImage *image)
{
	scan_segments(scan, state, image);
	scan_pending(scan, state, &image->meta.sealed);
	scan_pending(scan, state, &image->meta.open);
}

/* Scan, into the bitmap unless that is NULL; returns how many rows there are. */
static int64
scan_index(IndexScanDesc scan, TIDBitmap *bitmap, bool want_bits)
{
	RtscanScan *state = (RtscanScan *) scan->opaque;
	MemoryContext old;

	PredicateLockRelation(scan->indexRelation, scan->xs_snapshot);
	state->bitmap = bitmap;
	state->want_bits = want_bits;
	state->ntids = 0;
	state->executor = RTSCAN_EXECUTOR_CPU;
	memset(&state->stats, 0, sizeof(state->stats));

	old = MemoryContextSwitchTo(state->context);
	state->predicate = rtscan_predicate(scan->indexRelation, state->schema,
										scan->keyData, scan->numberOfKeys);
	if (!state->predicate->impossible)
		scan_image(scan, state,
				   rtscan_copy_image(rtscan_read_image(scan->indexRelation, scan->xs_snapshot, false)));
	MemoryContextSwitchTo(old);
	MemoryContextReset(state->context);
	return state->ntids;
}

int64
rtscan_get_bitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	RtscanScan *state = (RtscanScan *) scan->opaque;

	pgstat_count_index_scan(scan->indexRelation);
	scan_index(scan, bitmap, true);
	state->stats.rows = state->ntids;
	rtscan_count_scan(state->executor, &state->stats);
	return state->ntids;
}

uint64
rtscan_count_bits(IndexScanDesc scan, bool want_bits, const char **executor, double *device_time)
{
	RtscanScan *state = (RtscanScan *) scan->opaque;
	uint64		rows = scan_index(scan, NULL, want_bits);

	*executor = rtscan_executor_names[state->executor];
	*device_time = state->stats.counters.device_time / 1e6;
	return rows;
}
