/* SPDX-License-Identifier: PostgreSQL */
/*
 * worker.c
 *		Functions that background workers share.
 */
#include "storage/worker.h"

#include "access/transam.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "utils/snapmgr.h"

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
