/* SPDX-License-Identifier: PostgreSQL */
/*
 * relation.h
 *		Open the index that is passed to an SQL function.
 */
#ifndef RTSCAN_RELATION_H
#define RTSCAN_RELATION_H

#include "rtscan.h"

#include "storage/lockdefs.h"

/*
 * Open an index, and check that it is an rtscan index, that this session can read it, and that the user may inspect
 * it, as its owner or as a member of pg_stat_scan_tables.  Raises ERRCODE_WRONG_OBJECT_TYPE,
 * ERRCODE_INSUFFICIENT_PRIVILEGE, ERRCODE_FEATURE_NOT_SUPPORTED or ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE.
 */
extern Relation rtscan_open_index(Oid relid, LOCKMODE lock);

/*
 * Open an index as rtscan_open_index() does, but for a user who may maintain it: its owner or, in versions of
 * PostgreSQL that have the privilege MAINTAIN, a user with this privilege on the table.
 */
extern Relation rtscan_open_index_to_maintain(Oid relid, LOCKMODE lock);

/*
 * Does the index have pages to read?  An unlogged index has none on a standby.  For an index without pages, the
 * function raises a NOTICE and not an error, as the newest amcheck does, so that a query over all indexes can go on.
 * "purpose" is a verb for the message.
 */
extern bool rtscan_has_pages(Relation index, const char *purpose);

#endif							/* RTSCAN_RELATION_H */
