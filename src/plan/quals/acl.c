/* SPDX-License-Identifier: PostgreSQL */
/*
 * acl.c
 *		Decides whether the user may learn the values of an index's columns from estimates.
 */
#include "plan/quals/acl.h"

#include "miscadmin.h"
#include "optimizer/pathnode.h"
#include "parser/parsetree.h"
#include "utils/acl.h"

/*
 * Return the number of the table whose privileges and policies apply: "relid" or, if it is a partition or child, its
 * topmost parent, which the query names.  (Arms of UNION ALL have privileges of their own.)
 */
static Index
named_table(PlannerInfo *root, Index relid)
{
	while (root->append_rel_array && root->append_rel_array[relid] &&
		   planner_rt_fetch(root->append_rel_array[relid]->parent_relid, root)->rtekind == RTE_RELATION)
		relid = root->append_rel_array[relid]->parent_relid;
	return relid;
}

bool
rtscan_has_security_barrier(const PlannerInfo *root)
{
	ListCell   *cell;

	for (; root; root = root->parent_root)
		foreach(cell, root->parse->rtable)
			if (lfirst_node(RangeTblEntry, cell)->security_barrier)
				return true;
	return false;
}

static bool
may_select_keys(const IndexOptInfo *info, Oid table, Oid user)
{
	for (int i = 0; i < info->nkeycolumns; i++)
		if (info->indexkeys[i] == 0 ||
			pg_attribute_aclcheck(table, info->indexkeys[i], user, ACL_SELECT) != ACLCHECK_OK)
			return false;
	return true;
}

bool
rtscan_acl_ok(PlannerInfo *root, const IndexOptInfo *info)
{
	Index		named = named_table(root, info->rel->relid);
	const RangeTblEntry *table = planner_rt_fetch(named, root);
	Oid			view_owner = find_base_rel(root, named)->userid;
	Oid			user = OidIsValid(view_owner) ? view_owner : GetUserId();

	if (table->securityQuals != NIL)
		return false;
	return pg_class_aclcheck(table->relid, user, ACL_SELECT) == ACLCHECK_OK ||
		(named == info->rel->relid && may_select_keys(info, table->relid, user));
}
