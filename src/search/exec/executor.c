/* SPDX-License-Identifier: PostgreSQL */
/*
 * executor.c
 *		The table of executors.
 */
#include "search/exec/executor.h"

const char	rtscan_not_yet[] = "A column is not on the device.";

const RtscanExecutorMethods *const rtscan_executors[] = {
	&rtscan_cpu_methods, &rtscan_device_methods, &rtscan_device_methods, &rtscan_job_methods
};

const char *
rtscan_wrong_answer(void)
{
	if (rtscan_debug_compare_executors)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg_internal("executors differ: an answer contradicts itself")));
	return "The device program's answer contradicts itself.";
}
