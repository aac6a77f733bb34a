// SPDX-License-Identifier: PostgreSQL
/*
 * bvh_ranks.comp
 *		Write the rank of each row in a column, from the sorted rows.
 *
 * Rows have not been sorted if the column is in heap order (rank = row), or if all values differ (rank = code).
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "bvh.glsl"

void
main()
{
	uint32_t	i = gl_GlobalInvocationID.x;
	Words		ranks = Words(task.ranks + uint64_t(task.column) * task.rows * 4);

	if (i >= task.rows)
		return;
	if (task.values != 0)
		ranks.at[Words(task.values).at[i]] = i;
	else
		ranks.at[i] = task.codes == 0 ? i : load_code(task.codes, task.code_bytes, i);
}
