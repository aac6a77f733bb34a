/* SPDX-License-Identifier: PostgreSQL */
/*
 * module.c
 *		Load the library: define its settings and options, and install its hooks.
 */
#include "compat.h"
#include "rtscan.h"

#include "device/assist.h"
#include "device/device.h"
#include "fmgr.h"
#include "plan/aggregate/path.h"
#include "plan/offers/offers.h"
#include "plan/cost/distinct_values.h"
#include "plan/cost/hypothetical.h"
#include "plan/rows/join_rows.h"
#include "plan/rows/subquery_rows.h"
#include "plan/scan/scan_path.h"
#include "plan/star/star.h"
#include "search/exec/stats.h"
#include "search/visible/page_groups.h"
#include "settings.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

void
_PG_init(void)
{
	rtscan_init_settings();
	rtscan_init_device_build();
	rtscan_init_device();
	rtscan_init_scan();
	rtscan_init_aggregate();
	rtscan_init_memoize();
	rtscan_init_star();
	rtscan_init_distinct_values();
	rtscan_init_total();
	rtscan_init_hypothetical();
	rtscan_init_offers();
	rtscan_init_explain_choice();
	rtscan_init_join_rows();
	rtscan_init_subquery_rows();
	rtscan_init_stats();
	rtscan_init_page_groups();
}
