// SPDX-License-Identifier: PostgreSQL
/*
 * sieve.comp
 *		Data Sieving (RTScan, section 3.3) on the device: AND the vectors of a region's
 *		columns, in two components (src/segment/sieve.h).
 *
 * Each workgroup handles a chunk, and each thread 128 of its bits.  The pages of the vectors in the chunk are the same
 * for all threads.  For RUNS runs at a time, two threads look up the pages of each run, one thread for each end.  If
 * each thread looked up all pages, it would wait for one load after another.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "tasks.glsl"

#define THREADS		(CHUNK_WORDS32 / 4)
#define RUNS		(THREADS / 2)	/* runs that are looked up at the same time */

layout(local_size_x = THREADS) in;

/* Pages of H_h, H_{h+1}, L_l, which make F_i = H_h | (H_{h+1} & L_l), for the boundaries at both ends of each run. */
shared uvec3 first_pages[RUNS];
shared uvec3 end_pages[RUNS];

uint32_t
vector_page(RunTask run, uint32_t chunks, uint32_t vector, uint32_t chunk)
{
	return Words(run.pages).at[vector * chunks + chunk];
}

/* Return the page of H_h. */
uint32_t
high_page(RunTask run, uint32_t chunks, uint32_t h, uint32_t chunk)
{
	if (h == 0)
		return PAGE_ZEROS;
	if (h >= (run.bins + run.radix - 1) / run.radix)
		return PAGE_ONES;
	return vector_page(run, chunks, h - 1, chunk);
}

/* Return the pages of H_h, H_{h+1}, L_l, which make F_i.  If the last is PAGE_ZEROS, the second has no meaning. */
uvec3
boundary_pages(RunTask run, uint32_t chunks, uint32_t i, uint32_t chunk)
{
	uint32_t	h = i / run.radix;
	uint32_t	l = i % run.radix;

	if (i == run.bins)
		return uvec3(PAGE_ONES, PAGE_ZEROS, PAGE_ZEROS);
	if (l == 0)
		return uvec3(high_page(run, chunks, h, chunk), PAGE_ZEROS, PAGE_ZEROS);
	return uvec3(high_page(run, chunks, h, chunk), high_page(run, chunks, h + 1, chunk),
				 vector_page(run, chunks, (run.bins + run.radix - 1) / run.radix - 1 + l - 1, chunk));
}

/* Look up the pages of one end of a run. */
void
look_up(SieveTask task, uint32_t number, uint32_t chunk)
{
	uint32_t	place = gl_LocalInvocationIndex / 2;
	bool		is_end = gl_LocalInvocationIndex % 2 == 1;

	if (number + place >= task.runs)
		return;
	RunTask		run = Runs(tasks_at(tasks.runs)).at[task.first_run + number + place];

	if (run.pages == 0)
		return;
	if (is_end)
		end_pages[place] = boundary_pages(run, task.chunks, run.end, chunk);
	else
		first_pages[place] = boundary_pages(run, task.chunks, run.first, chunk);
}

/* Load this thread's bits of a page. */
uvec4
load_page(uint64_t sieve, uint32_t page)
{
	if (page == PAGE_ZEROS || page == PAGE_ONES)
		return uvec4(page == PAGE_ZEROS ? 0 : 0xFFFFFFFFu);
	return Words4(sieve + uint64_t(page) * (CHUNK_WORDS32 * 4)).at[gl_LocalInvocationIndex];
}

uvec4
load_boundary(uint64_t sieve, uvec3 pages)
{
	uvec4		high = load_page(sieve, pages.x);

	if (pages.x == PAGE_ONES || pages.z == PAGE_ZEROS)
		return high;
	return high | load_page(sieve, pages.y) & load_page(sieve, pages.z);
}

/* Return the bits of rows first .. end - 1 among the 32 rows from "row" on. */
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

/* Return this thread's bits of a run whose pages have been looked up. */
uvec4
load_run(RunTask run, uint32_t place, uint32_t row)
{
	if (run.pages == 0)
		return row_bits4(row, run.first, run.end);
	return load_boundary(run.sieve, end_pages[place]) & ~load_boundary(run.sieve, first_pages[place]);
}

void
main()
{
	uint32_t	number = Words(tasks_at(tasks.sieve_of)).at[gl_WorkGroupID.x];
	SieveTask	task = SieveTasks(tasks_at(tasks.sieve)).at[number];
	uint32_t	chunk = gl_WorkGroupID.x - task.first_chunk;
	uint32_t	row = chunk * CHUNK_ROWS + gl_LocalInvocationIndex * 128;
	uvec4		bits = row_bits4(row, 0, task.rows);
	uvec4		any = uvec4(0);

	for (uint32_t r = 0; r < task.runs; r++)
	{
		if (r % RUNS == 0)
		{
			barrier();
			look_up(task, r, chunk);
			barrier();
		}
		RunTask		run = Runs(tasks_at(tasks.runs)).at[task.first_run + r];

		any |= load_run(run, r % RUNS, row);
		if (run.last != 0)
		{
			bits &= any;
			any = uvec4(0);
		}
	}
	Words4(task.bits + uint64_t(chunk) * (CHUNK_WORDS32 * 4)).at[gl_LocalInvocationIndex] = bits;
}
