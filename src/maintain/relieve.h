/*
 * relieve.h
 *		What an insertion does about a long pending list.
 *
 * It asks for a background worker (maintain/worker.h), and goes on.  Only where no worker comes, or does not keep up, it flushes
 * lists itself: in a subtransaction, so that it never fails because a list cannot be flushed.  The error is logged, and the
 * next attempt waits until the list has doubled.  A cancellation, or the end of the session, is none of the list's: it ends
 * the statement, as everywhere.
 */
#ifndef RTSCAN_RELIEVE_H
#define RTSCAN_RELIEVE_H

#include "rtscan.h"

/* With a worker there, an insertion helps when the list's weight (storage/pending.h) is so many times the limit. */
#define RELIEVE_FACTOR	4

/* The open list has a weight of at least rtscan.pending_list_limit. */
extern void rtscan_relieve(Relation index, int64 weight);

#endif							/* RTSCAN_RELIEVE_H */
