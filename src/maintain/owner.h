/* SPDX-License-Identifier: PostgreSQL */
/*
 * owner.h
 *		Run functions written by users with the rights of a table's owner.
 *
 * Comparison functions of operator classes, and expressions and predicates of indexes, are users' code.  The
 * worker, rtscan_merge() and rtscan_check() run it as the table's owner, in a security-restricted operation
 * like VACUUM, and with a search_path that has only PostgreSQL's own objects.  So neither the caller of the
 * function nor a path set for the database determines which functions that code calls.  amcheck does the same
 * from PostgreSQL 17 on; rtscan does it in all versions.
 *
 * It is not done where PostgreSQL itself has called rtscan: CREATE INDEX, REINDEX and VACUUM become the owner
 * before they call an access method, and set the path from 17 on.  In 15 and 16 they keep the path, on which
 * functions of a btree may depend, and so may those of rtscan.  A process that helps to build has the leader's
 * identity and settings.  Insertions and scans run with the rights of their caller.
 */
#ifndef RTSCAN_OWNER_H
#define RTSCAN_OWNER_H

#include "rtscan.h"

/* The identity to return to after running as a table's owner. */
typedef struct RtscanIdentity
{
	Oid			user;			/* the user before */
	int			security_context;	/* the security context before */
	int			guc_level;		/* nesting level of the settings changed since */
} RtscanIdentity;

/*
 * Become the owner of a table; returns the identity before.  An error restores it too, when it aborts the
 * transaction or subtransaction.
 */
extern RtscanIdentity rtscan_become_owner(Relation table);

/* Return to the identity before. */
extern void rtscan_restore_user(const RtscanIdentity *before);

#endif							/* RTSCAN_OWNER_H */
