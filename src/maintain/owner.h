/*
 * owner.h
 *		Run functions that users have written with the rights of a table's owner.
 *
 * Comparison functions of operator classes, expressions and predicates of indexes are code of users.  The worker, rtscan_merge() and
 * rtscan_check() run it as the table's owner, in an operation that is restricted as VACUUM's are, and by a search_path in which
 * only PostgreSQL's own objects are: who calls the function, or has set a path for the database, does not choose which functions it
 * calls.  amcheck does so from PostgreSQL 17 on; here it is the same in all versions.
 *
 * Not so where PostgreSQL itself has called: CREATE INDEX, REINDEX and VACUUM become the owner before they call an access method, and
 * set the path from 17 on.  In 15 and 16 they keep it, which a btree's functions may depend on, and so may ours.  A process that
 * helps to build has the leader's identity and settings.  Insertions and scans are their callers' own: nobody's rights change.
 */
#ifndef RTSCAN_OWNER_H
#define RTSCAN_OWNER_H

#include "rtscan.h"

/* The user that we were, while we are a table's owner. */
typedef struct RtscanIdentity
{
	Oid			user;
	int			security_context;
	int			guc_level;
} RtscanIdentity;

/* An error ends it, too, with the transaction or subtransaction. */
extern RtscanIdentity rtscan_become_owner(Relation table);
extern void rtscan_restore_user(const RtscanIdentity *before);

#endif							/* RTSCAN_OWNER_H */
