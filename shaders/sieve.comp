/*
 * sieve.comp
 *		Data Sieving (RTScan, section 3.3) on the device: AND the vectors of a group's
 *		columns, in two components (src/encode/sieve.h).
 *
 * A workgroup has a chunk, a thread four times 128 of its bits.  Which pages a vector has in
 * the chunk is the same for all threads: some of them look that up, each for one end of a
 * run, all at the same time, for otherwise the workgroup would wait for one load after another.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common.glsl"

layout(push_constant, scalar) uniform PushConstants { Tasks tasks; };

#define THREADS		126
#define QUADS		(CHUNK_WORDS32 / 4 / THREADS)
#define RUNS		(THREADS / 2)	/* that are looked up together */

layout(local_size_x = THREADS) in;

/* Pages of the two ends of each run: high, next and low of F_i = H_h | (H_{h+1} & L_l). */
shared uvec3 first_pages[RUNS];
shared uvec3 end_pages[RUNS];

uint32_t
vector_page(RunTask run, uint32_t chunks, uint32_t vector, uint32_t chunk)
{
	return Words(run.pages).at[vector * chunks + chunk];
}

/* The page of H_h. */
uint32_t
high_page(RunTask run, uint32_t chunks, uint32_t h, uint32_t chunk)
{
	if (h == 0)
		return PAGE_ZEROS;
	if (h >= (run.bins + run.radix - 1) / run.radix)
		return PAGE_ONES;
	return vector_page(run, chunks, h - 1, chunk);
}

/* The pages of F_i.  If low is zeros, next is of no meaning. */
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

/* Look up one end of a run. */
void
look_up(SieveTask task, uint32_t number, uint32_t chunk)
{
	uint32_t	place = gl_LocalInvocationIndex / 2;
	bool		is_end = gl_LocalInvocationIndex % 2 == 1;

	if (number + place >= task.runs)
		return;
	RunTask		run = Runs(tasks.runs).at[task.first_run + number + place];

	if (run.pages == 0)
		return;
	if (is_end)
		end_pages[place] = boundary_pages(run, task.chunks, run.end, chunk);
	else
		first_pages[place] = boundary_pages(run, task.chunks, run.first, chunk);
}

uint32_t
quad_of(int i)
{
	return i * THREADS + gl_LocalInvocationIndex;
}

/* This thread's bits of a page: all loads before the first use. */
void
load_page(uint64_t sieve, uint32_t page, out uvec4 bits[QUADS])
{
	if (page == PAGE_ZEROS || page == PAGE_ONES)
	{
		for (int i = 0; i < QUADS; i++)
			bits[i] = uvec4(page == PAGE_ZEROS ? 0 : 0xFFFFFFFFu);
		return;
	}
	Words4		words = Words4(sieve + uint64_t(page) * (CHUNK_WORDS32 * 4));

	for (int i = 0; i < QUADS; i++)
		bits[i] = words.at[quad_of(i)];
}

void
load_boundary(uint64_t sieve, uvec3 pages, out uvec4 bits[QUADS])
{
	uvec4		next[QUADS];
	uvec4		low[QUADS];

	load_page(sieve, pages.x, bits);
	if (pages.x == PAGE_ONES || pages.z == PAGE_ZEROS)
		return;
	load_page(sieve, pages.y, next);
	load_page(sieve, pages.z, low);
	for (int i = 0; i < QUADS; i++)
		bits[i] |= next[i] & low[i];
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

/* OR the bits of a run that has been looked up into any. */
void
add_run(RunTask run, uint32_t place, uint32_t chunk, inout uvec4 any[QUADS])
{
	uvec4		end[QUADS];
	uvec4		first[QUADS];

	if (run.pages == 0)
	{
		for (int i = 0; i < QUADS; i++)
			any[i] |= row_bits4(chunk * CHUNK_ROWS + quad_of(i) * 128, run.first, run.end);
		return;
	}
	load_boundary(run.sieve, end_pages[place], end);
	load_boundary(run.sieve, first_pages[place], first);
	for (int i = 0; i < QUADS; i++)
		any[i] |= end[i] & ~first[i];
}

void
main()
{
	uint32_t	number = Words(tasks.sieve_of).at[gl_WorkGroupID.x];
	SieveTask	task = SieveTasks(tasks.sieve).at[number];
	uint32_t	chunk = gl_WorkGroupID.x - task.first_chunk;
	Words4		target = Words4(task.bits + uint64_t(chunk) * (CHUNK_WORDS32 * 4));
	uvec4		bits[QUADS];
	uvec4		any[QUADS];

	for (int i = 0; i < QUADS; i++)
	{
		bits[i] = row_bits4(chunk * CHUNK_ROWS + quad_of(i) * 128, 0, task.rows);
		any[i] = uvec4(0);
	}
	for (uint32_t r = 0; r < task.runs; r++)
	{
		if (r % RUNS == 0)
		{
			barrier();
			look_up(task, r, chunk);
			barrier();
		}
		RunTask		run = Runs(tasks.runs).at[task.first_run + r];

		add_run(run, r % RUNS, chunk, any);
		for (int i = 0; i < QUADS && run.last != 0; i++)
		{
			bits[i] &= any[i];
			any[i] = uvec4(0);
		}
	}
	for (int i = 0; i < QUADS; i++)
		target.at[quad_of(i)] = bits[i];
}
