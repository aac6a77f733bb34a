/* SPDX-License-Identifier: PostgreSQL */
/*
 * owner.h
 *		Run users' functions with the rights of a table's owner.
 *
 * Comparison functions of operator classes, and expressions and predicates of indexes, are users' code.  The worker,
 * rtscan_merge() and rtscan_check() run this code as the table's owner, in a security-restricted operation like
 * VACUUM, and with a search_path that has only PostgreSQL's own objects.  Therefore neither the caller of the SQL
 * function nor a path set for the database determines which functions the users' code calls.  amcheck does the same
 * from PostgreSQL 17 on; rtscan does it in all versions.
 *
 * When PostgreSQL itself calls rtscan, rtscan keeps the identity: CREATE INDEX, REINDEX and VACUUM become the owner
 * before they call an access method, and from 17 on they also set the path.  In 15 and 16 these commands keep the
 * caller's path.  The functions called for a btree may depend on the caller's path, and so may the functions called
 * for an rtscan index.  A parallel worker of a build has the leader's identity and settings.  Insertions and scans run
 * with the rights of their caller.
 */
#ifndef RTSCAN_OWNER_H
#define RTSCAN_OWNER_H

#include "rtscan.h"

/* The identity before rtscan_become_owner(), to be restored later. */
typedef struct RtscanIdentity
{
	Oid			user;			/* the previous user */
	int			security_context;	/* the previous security context */
	int			guc_level;		/* nesting level of the settings that are changed */
} RtscanIdentity;

/*
 * Become the owner of a table.  Returns the previous identity.  If an error aborts the transaction or subtransaction,
 * the abort restores the identity, too.
 */
extern RtscanIdentity rtscan_become_owner(Relation table);

/* Restore the identity that rtscan_become_owner() has returned. */
extern void rtscan_restore_user(const RtscanIdentity *before);

#endif							/* RTSCAN_OWNER_H */
