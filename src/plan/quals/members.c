/* SPDX-License-Identifier: PostgreSQL */
/*
 * members.c
 *		Looks operators up in operator families, and remembers their strategies and types.
 */
#include "plan/quals/members.h"

#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* Number of entries in the cache.  An operator of a family can be in only one of them. */
#define PLACES	64

static RtscanMember members[PLACES];

/* SyscacheCallbackFunction */
static void
forget_members(Datum arg, int cache, uint32 hash)
{
	memset(members, 0, sizeof(members));
}

static void
begin(void)
{
	static bool begun;

	if (begun)
		return;
	CacheRegisterSyscacheCallback(AMOPOPID, forget_members, (Datum) 0);
	CacheRegisterSyscacheCallback(OPEROID, forget_members, (Datum) 0);
	begun = true;
}

/*
 * Look an operator up in the catalogs.  That may invalidate the cache, so the caller stores the result only afterwards.
 */
static RtscanMember
look_up(Oid family, Oid operator)
{
	RtscanMember member = {.family = family, .operator = operator};

	if (!op_in_opfamily(operator, family))
		return member;
	get_op_opfamily_properties(operator, family, false, &member.strategy, &member.lefttype, &member.righttype);
	member.function = get_opcode(operator);
	return member;
}

const RtscanMember *
rtscan_member_of(Oid family, Oid operator)
{
	RtscanMember *member = &members[(family * 31 + operator) % PLACES];

	if (member->family != family || member->operator != operator || !OidIsValid(family))
	{
		begin();
		*member = look_up(family, operator);
	}
	return member;
}
