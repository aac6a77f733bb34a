/* SPDX-License-Identifier: PostgreSQL */
/*
 * probe.c
 *		Compare values with a probe.
 */
#include "segment/probe.h"

bool
rtscan_value_is_before(const RtscanProbe *probe, bool after, Datum value)
{
	int32		order = DatumGetInt32(FunctionCall2Coll(probe->compare, probe->column->collation,
														value, probe->value));

	return after ? order <= 0 : order < 0;
}
