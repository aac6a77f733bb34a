/*
 * sieve.comp
 *		Data Sieving (RTScan, section 3.3) on the device: AND the vectors of a group's
 *		columns, in two components (src/encode/sieve.h).
 *
 * A workgroup has a chunk, a thread four times 128 of its bits.  Which pages a vector has
 * in a chunk is the same for all threads, so that constant pages cost nothing.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(push_constant, scalar) uniform PushConstants { Tasks tasks; };

#define THREADS 126
#define QUADS	(CHUNK_WORDS32 / 4 / THREADS)

layout(local_size_x = THREADS) in;

uint32_t
vector_page(ColumnTask column, uint32_t chunks, uint32_t vector, uint32_t chunk)
{
	return Words(column.pages).at[vector * chunks + chunk];
}

/* The page of H_h. */
uint32_t
high_page(ColumnTask column, uint32_t chunks, uint32_t h, uint32_t chunk)
{
	if (h == 0)
		return PAGE_ZEROS;
	if (h >= (column.bins + column.radix - 1) / column.radix)
		return PAGE_ONES;
	return vector_page(column, chunks, h - 1, chunk);
}

/* The pages of F_i = H_h | (H_{h+1} & L_l): high, next, low. */
uvec3
boundary_pages(ColumnTask column, uint32_t chunks, uint32_t i, uint32_t chunk)
{
	uint32_t	h = i / column.radix;
	uint32_t	l = i % column.radix;
	uvec3		pages = uvec3(PAGE_ONES, PAGE_ZEROS, PAGE_ZEROS);

	if (i == column.bins)
		return pages;
	pages.x = high_page(column, chunks, h, chunk);
	if (l == 0 || pages.x == PAGE_ONES)
		return pages;
	pages.y = high_page(column, chunks, h + 1, chunk);
	if (pages.y == PAGE_ZEROS)
		return pages;
	pages.z = vector_page(column, chunks, (column.bins + column.radix - 1) / column.radix - 1 + l - 1, chunk);
	return pages;
}

uvec4
page_bits(uint64_t sieve, uint32_t page, uint32_t quad)
{
	if (page == PAGE_ZEROS)
		return uvec4(0);
	if (page == PAGE_ONES)
		return uvec4(0xFFFFFFFFu);
	return Words4(sieve + uint64_t(page) * (CHUNK_WORDS32 * 4)).at[quad];
}

uvec4
boundary_bits(ColumnTask column, uvec3 pages, uint32_t quad)
{
	uvec4		bits = page_bits(column.sieve, pages.x, quad);

	if (pages.z != PAGE_ZEROS)
		bits |= page_bits(column.sieve, pages.y, quad) & page_bits(column.sieve, pages.z, quad);
	return bits;
}

/* Bits of the rows first .. end - 1, of the 32 rows from row. */
uint32_t
row_bits(uint32_t row, uint32_t first, uint32_t end)
{
	uint32_t	low = clamp(first, row, row + 32) - row;
	uint32_t	high = clamp(end, row, row + 32) - row;
	uint32_t	below_low = low == 32 ? 0xFFFFFFFFu : (1u << low) - 1;
	uint32_t	below_high = high == 32 ? 0xFFFFFFFFu : (1u << high) - 1;

	return below_high & ~below_low;
}

uvec4
row_bits4(uint32_t row, uint32_t first, uint32_t end)
{
	return uvec4(row_bits(row, first, end), row_bits(row + 32, first, end),
				 row_bits(row + 64, first, end), row_bits(row + 96, first, end));
}

/* AND one column's runs into the bits of this thread. */
void
and_column(ColumnTask column, SieveTask task, uint32_t chunk, inout uvec4 bits[QUADS])
{
	uvec4		any[QUADS];

	for (int i = 0; i < QUADS; i++)
		any[i] = uvec4(0);
	for (uint32_t r = 0; r < column.runs; r++)
	{
		RangeTask	run = Ranges(tasks.ranges).at[column.first_run + r];

		if (column.pages == 0)
		{
			for (int i = 0; i < QUADS; i++)
				any[i] |= row_bits4(chunk * CHUNK_ROWS + (i * THREADS + gl_LocalInvocationIndex) * 128,
									run.first, run.end);
			continue;
		}
		uvec3		end = boundary_pages(column, task.chunks, run.end, chunk);
		uvec3		first = boundary_pages(column, task.chunks, run.first, chunk);

		for (int i = 0; i < QUADS; i++)
		{
			uint32_t	quad = i * THREADS + gl_LocalInvocationIndex;

			any[i] |= boundary_bits(column, end, quad) & ~boundary_bits(column, first, quad);
		}
	}
	for (int i = 0; i < QUADS; i++)
		bits[i] &= any[i];
}

void
main()
{
	SieveTasks	all = SieveTasks(tasks.sieve);
	FIND_TASK(number, all, tasks.sieve_count, first_chunk, gl_WorkGroupID.x)
	SieveTask	task = all.at[number];
	uint32_t	chunk = gl_WorkGroupID.x - task.first_chunk;
	Words4		target = Words4(task.bits + uint64_t(chunk) * (CHUNK_WORDS32 * 4));
	uvec4		bits[QUADS];

	for (int i = 0; i < QUADS; i++)
		bits[i] = row_bits4(chunk * CHUNK_ROWS + (i * THREADS + gl_LocalInvocationIndex) * 128, 0, task.rows);
	for (uint32_t c = 0; c < task.columns; c++)
		and_column(Columns(tasks.columns).at[task.first_column + c], task, chunk, bits);
	for (int i = 0; i < QUADS; i++)
		target.at[i * THREADS + gl_LocalInvocationIndex] = bits[i];
}
