/* SPDX-License-Identifier: PostgreSQL */
/*
 * relation.c
 *		Open the index that is passed to an SQL function.
 */
#include "monitor/relation.h"

#include "access/relation.h"
#include "access/xlog.h"
#include "am/am.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"

/* Is the relation an index of this access method? */
static bool
is_index(Relation relation)
{
	return relation->rd_rel->relkind == RELKIND_INDEX && relation->rd_indam->ambuild == rtscan_build;
}

/* Open an index.  Raises an error unless may() returns true, which means that the user has the required privilege. */
static Relation
open_index(Oid relid, LOCKMODE lock, bool (*may) (Relation index))
{
	Relation	relation = relation_open(relid, lock);

	if (relation->rd_rel->relkind == RELKIND_PARTITIONED_INDEX)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is a partitioned index", RelationGetRelationName(relation)),
				 errhint("Name an index of one of the partitions.")));
	if (!is_index(relation))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not an rtscan index", RelationGetRelationName(relation))));
	if (RELATION_IS_OTHER_TEMP(relation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary indexes of other sessions")));
	if (!may(relation))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX, RelationGetRelationName(relation));
	if (!relation->rd_index->indisready)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not ready", RelationGetRelationName(relation)),
				 errhint("Drop it and create it again, or REINDEX it.")));
	return relation;
}

static bool
is_own(Relation index)
{
	return object_ownercheck(RelationRelationId, RelationGetRelid(index), GetUserId());
}

static bool
may_inspect(Relation index)
{
	return is_own(index) || has_privs_of_role(GetUserId(), ROLE_PG_STAT_SCAN_TABLES);
}

static bool
may_maintain(Relation index)
{
	return is_own(index) || rtscan_compat_may_maintain(index->rd_index->indrelid);
}

Relation
rtscan_open_index(Oid relid, LOCKMODE lock)
{
	return open_index(relid, lock, may_inspect);
}

Relation
rtscan_open_index_to_maintain(Oid relid, LOCKMODE lock)
{
	return open_index(relid, lock, may_maintain);
}

bool
rtscan_has_pages(Relation index, const char *purpose)
{
	if (index->rd_rel->relpersistence != RELPERSISTENCE_UNLOGGED || !RecoveryInProgress())
		return true;
	ereport(NOTICE,
			(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
			 errmsg("cannot %s unlogged index \"%s\" during recovery, skipping",
					purpose, RelationGetRelationName(index))));
	return false;
}
