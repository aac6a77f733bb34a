/* SPDX-License-Identifier: PostgreSQL */
/*
 * handler.c
 *		The handler of the access method: its properties and callbacks.
 */
#include "am/am.h"

#include "commands/vacuum.h"
#include "fmgr.h"
#include "plan/cost/cost.h"
#include "settings.h"

PG_FUNCTION_INFO_V1(rtscan_handler);

Datum
rtscan_handler(PG_FUNCTION_ARGS)
{
	static const IndexAmRoutine routine = {
		.type = T_IndexAmRoutine,
		.amstrategies = RTSCAN_STRATEGIES,
		.amsupport = RTSCAN_SUPPORT_PROCS,
		.amcanmulticol = true,
		.amoptionalkey = true,
		.amsearcharray = true,
		.amsearchnulls = true,
		.ampredlocks = true,
		.amcaninclude = true,
		RTSCAN_COMPAT_BUILDS_IN_PARALLEL
		.amusemaintenanceworkmem = true,
		.amparallelvacuumoptions = VACUUM_OPTION_PARALLEL_BULKDEL | VACUUM_OPTION_PARALLEL_CLEANUP,
		.amkeytype = InvalidOid,
		.ambuild = rtscan_build,
		.ambuildempty = rtscan_build_empty,
		.aminsert = rtscan_insert,
		.ambulkdelete = rtscan_bulk_delete,
		.amvacuumcleanup = rtscan_vacuum_cleanup,
		.amcostestimate = rtscan_cost_estimate,
		.amoptions = rtscan_options,
		.ambuildphasename = rtscan_build_phase_name,
		.amvalidate = rtscan_validate,
		.amadjustmembers = rtscan_adjust_members,
		.ambeginscan = rtscan_begin_scan,
		.amrescan = rtscan_rescan,
		.amcanreturn = rtscan_can_return,
		.amgetbitmap = rtscan_get_bitmap,
		.amendscan = rtscan_end_scan,
	};

	PG_RETURN_POINTER(rtscan_compat_routine(&routine));
}
