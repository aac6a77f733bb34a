// SPDX-License-Identifier: PostgreSQL
/*
 * bvh_keys.comp
 *		Make sort keys that give rows unique ranks in a column.
 *
 * Rows are sorted by code, and rows with equal codes by a hash that differs from column to column: an order
 * by row number would correlate the columns.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "bvh.glsl"

/* Murmur3's finalizer: a permutation of all 32-bit numbers, with a different one for each column. */
uint32_t
hash(uint32_t row, uint32_t column)
{
	uint32_t	h = row ^ (column + 1) * 0x9E3779B9u;

	h = (h ^ h >> 16) * 0x85EBCA6Bu;
	h = (h ^ h >> 13) * 0xC2B2AE35u;
	return h ^ h >> 16;
}

void
main()
{
	uint32_t	row = gl_GlobalInvocationID.x;

	if (row < task.rows)
		Keys(task.keys).at[row] = uint64_t(load_code(task.codes, task.code_bytes, row)) << 32 | hash(row, task.column);
}
