/* SPDX-License-Identifier: PostgreSQL */
/*
 * transition.c
 *		Read transition states from temporary files.
 */
#include "run/aggregate/transition.h"

void
rtscan_read_exactly(BufFile *file, void *place, Size size)
{
	if (BufFileRead(file, place, size) != size)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from a temporary file of groups: it is too short")));
}
