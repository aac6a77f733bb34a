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

#endif							/* RTSCAN_RELATION_H */
