/* SPDX-License-Identifier: PostgreSQL */
/*
 * back_pressure.c
 *		Flush pending lists within an insertion.
 */
#include "maintain/back_pressure.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "maintain/flush.h"
#include "maintain/worker_request.h"
#include "settings.h"
#include "storage/locks.h"
#include "storage/pending.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

static bool
ends_statement(const ErrorData *error)
{
	return ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_OPERATOR_INTERVENTION;
}

static void
log_failure(Relation index, const ErrorData *error)
{
	ereport(LOG,
			(errcode(error->sqlerrcode),
			 errmsg("could not flush pending rows of index \"%s\": %s",
					RelationGetRelationName(index), error->message),
			 error->detail ? errdetail_internal("%s", error->detail) : 0,
			 errhint("The rows stay in the pending list. VACUUM flushes it, and insertions try again when it is twice as long.")));
}

/*
 * Set *list to the next list after *list (see rtscan_next_list()), and flush it.  An error is logged, unless the error
 * is a cancellation or the end of the session, which ends the statement.  Returns false if no next list was found.
 */
static bool
flush_in_subtransaction(Relation index, RtscanListRef *list)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;
	volatile bool found = false;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		found = rtscan_next_list(index, list->id, rtscan_pending_list_limit, list);
		if (found)
			rtscan_flush_list(index, list);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	if (error && ends_statement(error))
		ReThrowError(error);
	if (error)
		log_failure(index, error);
	return found;
}

static void
flush_lists(Relation index)
{
	uint64		last = rtscan_read_image(index, NULL, false)->meta.open.id;
	RtscanListRef list = {.id = 0};

	while (list.id < last && flush_in_subtransaction(index, &list))
		continue;
}

void
rtscan_apply_back_pressure(Relation index, int64 weight)
{
	int64		limit = (int64) rtscan_pending_list_limit * (rtscan_request_worker(index) ? BACK_PRESSURE_FACTOR : 1);

	if (weight < limit || IsInParallelMode() || !rtscan_try_lock(index, RTSCAN_LOCK_FLUSH))
		return;
	/* another process may have flushed before we got the lock */
	if (rtscan_pending_weight(index) >= limit)
		flush_lists(index);
	rtscan_unlock(index, RTSCAN_LOCK_FLUSH);
}
