/*
 * relation.h
 *		Open the index that an SQL function was given.
 */
#ifndef RTSCAN_RELATION_H
#define RTSCAN_RELATION_H

#include "rtscan.h"

#include "storage/lockdefs.h"

/*
 * Open an index, and check that it is an rtscan index that this session can read and whose
 * user may look into it: its owner, or a member of pg_stat_scan_tables.  Raises
 * ERRCODE_WRONG_OBJECT_TYPE, ERRCODE_INSUFFICIENT_PRIVILEGE or ERRCODE_FEATURE_NOT_SUPPORTED.
 */
extern Relation rtscan_open_index(Oid relid, LOCKMODE lock);

/* For a user who may maintain it: its owner or, where PostgreSQL has that privilege, who has MAINTAIN on the table. */
extern Relation rtscan_open_index_to_maintain(Oid relid, LOCKMODE lock);

/*
 * Are there pages to read?  An unlogged index has none on a standby.  A notice says so, as amcheck's newest does, so that a query
 * over all indexes goes on.  The purpose is a verb.
 */
extern bool rtscan_has_pages(Relation index, const char *purpose);

#endif							/* RTSCAN_RELATION_H */
