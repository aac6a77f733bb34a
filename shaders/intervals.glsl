// SPDX-License-Identifier: PostgreSQL
/*
 * intervals.glsl
 *		Test whether a column's code is in the exact result, for shaders of rays.
 */
#include "tasks.glsl"

bool
is_in(ColumnTask column, uint32_t code)
{
	Ranges		ranges = Ranges(tasks_at(tasks.ranges));
	uint32_t	low = column.first_interval;
	uint32_t	high = low + column.intervals;

	/* Find the last interval that begins at or before the code. */
	while (high - low > 1)
	{
		uint32_t	middle = (low + high) / 2;

		if (ranges.at[middle].first <= code)
			low = middle;
		else
			high = middle;
	}
	return code >= ranges.at[low].first && code < ranges.at[low].end;
}
