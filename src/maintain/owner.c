/* SPDX-License-Identifier: PostgreSQL */
/*
 * owner.c
 *		Run users' functions with the rights of a table's owner.
 */
#include "maintain/owner.h"

#include "miscadmin.h"
#include "utils/guc.h"

RtscanIdentity
rtscan_become_owner(Relation table)
{
	RtscanIdentity before;

	GetUserIdAndSecContext(&before.user, &before.security_context);
	SetUserIdAndSecContext(table->rd_rel->relowner, before.security_context | SECURITY_RESTRICTED_OPERATION);
	before.guc_level = NewGUCNestLevel();
	RestrictSearchPath();
	return before;
}

void
rtscan_restore_user(const RtscanIdentity *before)
{
	AtEOXact_GUC(false, before->guc_level);
	SetUserIdAndSecContext(before->user, before->security_context);
}
