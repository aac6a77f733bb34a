/*
 * privacy.c
 *		May who asks a query know what the values of an index's columns are?
 */
#include "am/privacy.h"

#include "miscadmin.h"
#include "parser/parsetree.h"
#include "utils/acl.h"

/* The table that the query names: privileges and policies of partitions and children are its. */
static const RangeTblEntry *
named_table(PlannerInfo *root, RelOptInfo *rel)
{
	return planner_rt_fetch(rel->top_parent_relids ? (Index) bms_singleton_member(rel->top_parent_relids) : rel->relid,
							root);
}

/* Is the query, or one around it, about a view whose rows its user may not all see?  Which one its quals come from is not known. */
static bool
has_barrier(const PlannerInfo *root)
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
rtscan_may_know_values(PlannerInfo *root, const IndexOptInfo *info)
{
	const RangeTblEntry *table = named_table(root, info->rel);
	Oid			user = OidIsValid(table->checkAsUser) ? table->checkAsUser : GetUserId();

	if (table->securityQuals != NIL || has_barrier(root))
		return false;
	return pg_class_aclcheck(table->relid, user, ACL_SELECT) == ACLCHECK_OK ||
		(info->rel->top_parent_relids == NULL && may_select_keys(info, table->relid, user));
}
