/* SPDX-License-Identifier: PostgreSQL */
/*
 * privileges.h
 *		Differences between PostgreSQL's versions: checks of privileges, and the search path.
 *
 * Only compat.h includes this file, after PostgreSQL's headers.
 */
#ifndef RTSCAN_COMPAT_PRIVILEGES_H
#define RTSCAN_COMPAT_PRIVILEGES_H

#if PG_VERSION_NUM < 160000
/* From PostgreSQL 16 on, one function checks the ownership of all kinds of objects; rtscan needs it for relations. */
static inline bool
object_ownercheck(Oid class, Oid object, Oid role)
{
	Assert(class == RelationRelationId);
	return pg_class_ownercheck(object, role);
}

/* From PostgreSQL 16 on, one function checks the privileges on all kinds of objects; rtscan needs it for functions. */
static inline AclResult
object_aclcheck(Oid class, Oid object, Oid role, AclMode mode)
{
	Assert(class == ProcedureRelationId);
	return pg_proc_aclcheck(object, role, mode);
}
#endif

#if PG_VERSION_NUM < 170000
/*
 * Restrict the search path to pg_catalog until the end of the GUC nest level.  PostgreSQL 17 and later have this
 * function.
 */
static inline void
RestrictSearchPath(void)
{
	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
							 false);
}
#endif

/*
 * May the user maintain a table of another owner, as VACUUM and REINDEX do?  Before PostgreSQL 17, there is no
 * privilege for that, so the result is false.
 */
static inline bool
rtscan_compat_may_maintain(Oid table)
{
#if PG_VERSION_NUM >= 170000
	return pg_class_aclcheck(table, GetUserId(), ACL_MAINTAIN) == ACLCHECK_OK;
#else
	return false;
#endif
}

/* Raise an error if the user may not execute a plan.  From PostgreSQL 16 on, privileges are apart from tables. */
static inline void
rtscan_compat_check_permissions(PlannedStmt *plan)
{
#if PG_VERSION_NUM >= 160000
	(void) ExecCheckPermissions(plan->rtable, plan->permInfos, true);
#else
	(void) ExecCheckRTPerms(plan->rtable, true);
#endif
}

#endif							/* RTSCAN_COMPAT_PRIVILEGES_H */
