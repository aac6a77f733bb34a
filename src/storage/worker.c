/* SPDX-License-Identifier: PostgreSQL */
/*
 * worker.c
 *		Functions that background workers share.
 */
#include "storage/worker.h"

#include "access/relation.h"
#include "access/transam.h"
#include "storage/lmgr.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"

void
rtscan_configure_worker(void)
{
	SetConfigOption("statement_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE);
	SetConfigOption("lock_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE);
	SetConfigOption("idle_in_transaction_session_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE);
	SetConfigOption("default_transaction_isolation", "read committed", PGC_SUSET, PGC_S_OVERRIDE);
	SetConfigOption("search_path", "", PGC_SUSET, PGC_S_OVERRIDE);
}

Relation
rtscan_open_if_free(Oid relid, LOCKMODE mode)
{
	return OidIsValid(relid) && ConditionalLockRelationOid(relid, mode) ? try_relation_open(relid, NoLock) : NULL;
}

void
rtscan_set_in_vacuum(void)
{
	InvalidateCatalogSnapshot();
	Assert(MyProc->xid == InvalidTransactionId && MyProc->xmin == InvalidTransactionId);
	LWLockAcquire(ProcArrayLock, LW_EXCLUSIVE);
	MyProc->statusFlags |= PROC_IN_VACUUM;
	ProcGlobal->statusFlags[MyProc->pgxactoff] = MyProc->statusFlags;
	LWLockRelease(ProcArrayLock);
}
