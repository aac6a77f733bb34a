/*
 * module.c
 *		Load the library: settings, reloptions, statistics.
 */
#include "compat.h"
#include "rtscan.h"

#include "am/am.h"
#include "device/device.h"
#include "fmgr.h"
#include "maintain/worker.h"
#include "monitor/stats.h"
#include "plan/index_only.h"
#include "run/aggregate.h"
#include "search/executor.h"
#include "search/visibility.h"
#include "utils/guc.h"

PG_MODULE_MAGIC;

int			rtscan_pending_list_limit;

void		_PG_init(void);

void
_PG_init(void)
{
	DefineCustomIntVariable("rtscan.pending_list_limit",
							"Sets the size at which an rtscan index's pending list is made into a segment.",
							"A background worker does it, or where none comes an insertion.",
							&rtscan_pending_list_limit,
							512, 64, MAX_KILOBYTES,
							PGC_USERSET, GUC_UNIT_KB, NULL, NULL, NULL);
	rtscan_init_worker();
	rtscan_init_executors();
	rtscan_init_device();
	rtscan_init_visibility();
	rtscan_init_index_only();
	rtscan_init_aggregate();
	MarkGUCPrefixReserved("rtscan");
	rtscan_init_options();
	rtscan_init_stats();
}
