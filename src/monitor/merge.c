/* SPDX-License-Identifier: PostgreSQL */
/*
 * merge.c
 *		rtscan_merge(): maintain an index at once.
 */
#include "maintain/maintain.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "fmgr.h"
#include "maintain/merge.h"
#include "maintain/owner.h"
#include "miscadmin.h"
#include "monitor/relation.h"
#include "pgstat.h"
#include "storage/latch.h"
#include "storage/locks.h"
#include "storage/metapage.h"
#include "storage/proc.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

/* Time in ms between two attempts to take the merge lock. */
#define MERGE_LOCK_INTERVAL	50

PG_FUNCTION_INFO_V1(rtscan_merge_index);

/* Return the number of live segments. */
static int64
count_segments(Relation index)
{
	const RtscanImage *image = rtscan_read_image(index, NULL, false);
	int64		count = 0;

	for (uint32 i = 0; i < image->nentries; i++)
		count += rtscan_entry_is_live(&image->entries[i]);
	return count;
}

/* Open the table of an index.  The table must be locked before the index. */
static Relation
open_table_of(Oid index_oid)
{
	Oid			table_oid = IndexGetRelation(index_oid, true);

	/* if the relation is no index, or is gone, open_index_of() raises an error with a better message */
	return OidIsValid(table_oid) ? table_open(table_oid, RowExclusiveLock) : NULL;
}

static Relation
open_index_of(Oid index_oid, Relation table)
{
	Relation	index = rtscan_open_index_to_maintain(index_oid, RowExclusiveLock);

	if (table == NULL || index->rd_index->indrelid != RelationGetRelid(table))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("could not open parent table of index \"%s\"", RelationGetRelationName(index))));
	return index;
}

/* Raise a NOTICE if there are segments that could not be merged yet. */
static void
report_waiting(Relation index)
{
	if (rtscan_merge_waits(index))
		ereport(NOTICE,
				(errmsg("index \"%s\" has more segments to merge", RelationGetRelationName(index)),
				 errdetail(
						   "Pages of segments that were merged before cannot be reused yet, because a transaction may still read them."),
				 errhint("Call rtscan_merge() again when the transactions that run now have ended.")));
}

/*
 * Wait for the merge lock without queueing for it: a process in the queue would, after deadlock_timeout, cancel
 * an autovacuum that holds the lock.
 */
static void
await_merge_lock(Relation index)
{
	TimestampTz start = GetCurrentTimestamp();

	if (rtscan_has_lock(index, RTSCAN_LOCK_MERGE))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("index \"%s\" is being merged by this session", RelationGetRelationName(index))));
	while (!rtscan_try_lock(index, RTSCAN_LOCK_MERGE))
	{
		if (LockTimeout > 0 && TimestampDifferenceExceeds(start, GetCurrentTimestamp(), LockTimeout))
			ereport(ERROR,
					(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
					 errmsg("canceling statement due to lock timeout")));
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 MERGE_LOCK_INTERVAL, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

/* rtscan_merge(index regclass) RETURNS bigint: maintain an index; returns the number of segments that remain. */
Datum
rtscan_merge_index(PG_FUNCTION_ARGS)
{
	Relation	table,
				index;
	RtscanIdentity before;
	int64		segments;

	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("recovery is in progress"),
				 errhint("rtscan_merge() cannot be executed during recovery.")));
	table = open_table_of(PG_GETARG_OID(0));
	index = open_index_of(PG_GETARG_OID(0), table);
	before = rtscan_become_owner(table);
	await_merge_lock(index);
	rtscan_maintain(index);
	report_waiting(index);
	rtscan_unlock(index, RTSCAN_LOCK_MERGE);
	rtscan_restore_user(&before);
	segments = count_segments(index);
	index_close(index, RowExclusiveLock);
	table_close(table, RowExclusiveLock);
	PG_RETURN_INT64(segments);
}
