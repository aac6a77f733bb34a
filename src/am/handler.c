/*
 * handler.c
 *		What the access method offers.
 */
#include "am/am.h"

#include "commands/vacuum.h"
#include "fmgr.h"
#include "plan/cost.h"
#include "settings.h"

PG_FUNCTION_INFO_V1(rtscan_handler);

Datum
rtscan_handler(PG_FUNCTION_ARGS)
{
	IndexAmRoutine *routine = makeNode(IndexAmRoutine);

	routine->amstrategies = RTSCAN_STRATEGIES;
	routine->amsupport = RTSCAN_SUPPORT_PROCS;
	routine->amcanmulticol = true;
	routine->amoptionalkey = true;
	routine->amsearcharray = true;
	routine->amsearchnulls = true;
	routine->ampredlocks = true;
	routine->amcaninclude = true;
	routine->amusemaintenanceworkmem = true;
	routine->amparallelvacuumoptions = VACUUM_OPTION_PARALLEL_BULKDEL | VACUUM_OPTION_PARALLEL_CLEANUP;
	routine->amkeytype = InvalidOid;

	routine->ambuild = rtscan_build;
	routine->ambuildempty = rtscan_build_empty;
	routine->aminsert = rtscan_insert;
	routine->ambulkdelete = rtscan_bulk_delete;
	routine->amvacuumcleanup = rtscan_vacuum_cleanup;
	routine->amcostestimate = rtscan_cost_estimate;
	routine->amoptions = rtscan_options;
	routine->ambuildphasename = rtscan_build_phase_name;
	routine->amvalidate = rtscan_validate;
	routine->amadjustmembers = rtscan_adjust_members;
	routine->ambeginscan = rtscan_begin_scan;
	routine->amrescan = rtscan_rescan;
	routine->amcanreturn = rtscan_can_return;
	routine->amgettuple = rtscan_get_tuple;
	routine->amgetbitmap = rtscan_get_bitmap;
	routine->amendscan = rtscan_end_scan;

	PG_RETURN_POINTER(routine);
}
