// SPDX-License-Identifier: PostgreSQL
/*
 * aggregate.comp
 *		Aggregate the rows of some chunks by cell (device/protocol.h).
 *
 * No row leaves the device, which is how RTCUDB and Govindaraju et al. (2004) aggregate, too.
 *
 * A workgroup accumulates values in shared memory, or in registers if there is only one cell, and adds them to the
 * segment's words at the end.  If it cannot (AGG_BY_WORDS, AGG_BY_HASH), it adds each value to the words directly.
 * Atomics in shared memory have 32 bits.  A sum that could overflow 32 bits is made of two sums: of the lower and of
 * the upper 16 bits of the values.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "aggregate_rows.glsl"

layout(local_size_x_id = 3) in;

/*
 * There is a pipeline for each way, with and without values of more than 32 bits, because the number of
 * registers that a thread needs limits the number of threads.
 */
layout(constant_id = 0) const uint32_t WAY = AGG_OF_ONE_CELL;
layout(constant_id = 1) const bool WIDE = false;
/* 32-bit cells that fit in the workgroup's memory */
layout(constant_id = 2) const uint32_t TABLE = 1;

shared uint32_t table[TABLE];
shared uint64_t gathered[WAY == AGG_OF_ONE_CELL ? GROUP : 1];

/* ---------------------------------------------------------------- measures */

/* Return the lower 32 bits of measured(), for values that have no upper bits. */
uvec4
measured_narrow(uint32_t kind, uvec4 values)
{
	switch (kind)
	{
		case MEASURE_SUM_LOWER:
		case MEASURE_GREATEST:
			return values;
		case MEASURE_SUM_UPPER:
			return uvec4(0);
		case MEASURE_LEAST:
			return ~values;
	}
	return uvec4(1);
}

uint64_t
join(uint32_t kind, uint64_t a, uint64_t b)
{
	return is_outermost(kind) ? max(a, b) : a + b;
}

/* ---------------------------------------------------------------- one cell */

/* The accumulated values of a column, for all kinds of measures. */
struct Gathered
{
	uint32_t	count;
	uint64_t	lower;
	uint64_t	upper;
	uint64_t	greatest;
	uint64_t	least;			/* greatest complement */
};

uint64_t
gathered_measure(uint32_t kind, Gathered all)
{
	switch (kind)
	{
		case MEASURE_SUM_LOWER:
			return all.lower;
		case MEASURE_SUM_UPPER:
			return all.upper;
		case MEASURE_GREATEST:
			return all.greatest;
		case MEASURE_LEAST:
			return all.least;
	}
	return all.count;
}

/*
 * The accumulated values of a column without upper bits, as vectors with one element for each of the four rows that
 * a thread handles at a time.
 */
struct Narrow
{
	uvec4		count;
	u64vec4		sum;
	uvec4		greatest;
	uvec4		least;
};

void
gather_vector(inout Narrow all, uvec4 found, bvec4 chosen)
{
	uvec4		taken = mix(uvec4(0), found, chosen);

	all.count += uvec4(chosen);
	all.sum += u64vec4(taken);
	all.greatest = max(all.greatest, taken);
	all.least = max(all.least, mix(uvec4(0), ~found, chosen));
}

/* Accumulate narrow values, two vectors at a time, so that both vectors are loaded before the first one is needed. */
Gathered
gather_narrow(Chunk chunk, Elements values)
{
	Narrow		all = Narrow(uvec4(0), u64vec4(0), uvec4(0), uvec4(0));

	for (uint32_t first = gl_LocalInvocationIndex; first < chunk.looked_at; first += 2 * AT_HAND)
	{
		bvec4		chosen = choose(chunk, first);
		bvec4		next_chosen = choose(chunk, first + AT_HAND);
		uvec4		found = load_narrow(values, rows_at_hand(chunk, first), chosen);
		uvec4		next_found = load_narrow(values, rows_at_hand(chunk, first + AT_HAND), next_chosen);

		gather_vector(all, found, chosen);
		gather_vector(all, next_found, next_chosen);
	}
	all.least.xy = max(all.least.xy, all.least.zw);
	all.greatest.xy = max(all.greatest.xy, all.greatest.zw);
	all.least.x = max(all.least.x, all.least.y);
	return Gathered(all.count.x + all.count.y + all.count.z + all.count.w,
					all.sum.x + all.sum.y + all.sum.z + all.sum.w, 0,
					max(all.greatest.x, all.greatest.y), all.least.x != 0 ? all.least.x | 0xFFFFFFFF00000000ul : 0);
}

void
gather_value(inout Gathered all, bool chosen, uint64_t value)
{
	if (!chosen)
		return;
	all.count++;
	all.lower += value & 0xFFFFFFFFul;
	all.upper += value >> 32;
	all.greatest = max(all.greatest, value);
	all.least = max(all.least, ~value);
}

Gathered
gather_wide(Chunk chunk, Elements values)
{
	Gathered	all = Gathered(0, 0, 0, 0, 0);

	for (uint32_t first = gl_LocalInvocationIndex; first < chunk.looked_at; first += AT_HAND)
	{
		bvec4		chosen = choose(chunk, first);
		u64vec4		found = load_wide(values, rows_at_hand(chunk, first), chosen);

		gather_value(all, chosen.x, found.x);
		gather_value(all, chosen.y, found.y);
		gather_value(all, chosen.z, found.z);
		gather_value(all, chosen.w, found.w);
	}
	return all;
}

/* Join a measure's values of all threads, and add the result to the segment's word. */
void
join_threads(AggTask task, uint32_t number, Gathered all)
{
	uint32_t	kind = measures[number].kind;

	barrier();
	gathered[gl_LocalInvocationIndex] = gathered_measure(kind, all);
	for (uint32_t distance = GROUP / 2; distance > 0; distance /= 2)
	{
		barrier();
		if (gl_LocalInvocationIndex < distance)
			gathered[gl_LocalInvocationIndex] = join(kind, gathered[gl_LocalInvocationIndex],
													 gathered[gl_LocalInvocationIndex + distance]);
	}
	if (gl_LocalInvocationIndex == 0 && gathered[0] != 0)
		add_to_word(words_of(task, number), kind, 0, gathered[0]);
}

/* Aggregate a chunk into a single cell.  A column is read once for all of its measures that follow each other. */
void
gather(AggTask task, Chunk chunk)
{
	for (uint32_t first = 0, end; first < task.measures; first = end)
	{
		Measure		measure = measures[first];
		Gathered	all;

		if (measure.kind == MEASURE_ROWS)
			all = Gathered(gl_LocalInvocationIndex == 0 ? chosen_rows : 0, 0, 0, 0, 0);
		else if (WIDE)
			all = gather_wide(chunk, measure.values);
		else
			all = gather_narrow(chunk, measure.values);
		for (end = first; end < task.measures && measures[end].values == measure.values; end++)
			join_threads(task, end, all);
	}
}

/* ---------------------------------------------------------------- tables */

/* A pass over the rows, which computes some of the measures for some of the cells. */
struct Pass
{
	uint32_t	first;			/* first measure */
	uint32_t	end;			/* measure after the last */
	uint32_t	low;			/* first cell */
	uint32_t	cells;			/* number of cells in each table of a measure */
	uint32_t	size;			/* table cells of one copy */
	uint32_t	copies;			/* copies of the table, to spread the atomics of neighbouring threads */
};

/*
 * Add a value to a cell of a table.  Table cells have 32 bits.  MEASURE_LEAST keeps only the lower bits of the
 * complement; its upper bits are all set.  (Greatest and least values of more than 32 bits are never in
 * tables.)
 */
void
add_to_table(Measure measure, uint32_t place, uint32_t cells, uint32_t value)
{
	if (is_outermost(measure.kind))
		atomicMax(table[place], value);
	else if (measure.tables == 1)
		atomicAdd(table[place], value);
	else
	{
		atomicAdd(table[place], value & 0xFFFF);
		atomicAdd(table[place + cells], value >> 16);
	}
}

/* Add the chosen rows whose cells are in this pass to one measure. */
void
tabulate_measure(Measure measure, Pass pass, uvec4 rows, bvec4 chosen, uint32_t place, uvec4 cells)
{
	uvec4		values;

	if (WIDE)
	{
		u64vec4		wide = load_wide(measure.values, rows, chosen);

		values = uvec4(measured(measure.kind, wide.x), measured(measure.kind, wide.y),
					   measured(measure.kind, wide.z), measured(measure.kind, wide.w));
	}
	else
		values = measured_narrow(measure.kind, load_narrow(measure.values, rows, chosen));
	chosen = bvec4(uvec4(chosen) & uvec4(lessThan(cells, uvec4(pass.cells))));
	cells += place;
	if (chosen.x)
		add_to_table(measure, cells.x, pass.cells, values.x);
	if (chosen.y)
		add_to_table(measure, cells.y, pass.cells, values.y);
	if (chosen.z)
		add_to_table(measure, cells.z, pass.cells, values.z);
	if (chosen.w)
		add_to_table(measure, cells.w, pass.cells, values.w);
}

/*
 * Add a chunk's rows to the tables of a pass.  Values are loaded whether or not their rows are chosen, so that loads
 * do not wait for the choice.
 */
void
tabulate_rows(AggTask task, Chunk chunk, Pass pass)
{
	for (uint32_t first = gl_LocalInvocationIndex; first < chunk.looked_at; first += AT_HAND)
	{
		uvec4		rows = rows_at_hand(chunk, first);
		bvec4		chosen = choose(chunk, first);
		/* cells below pass.low wrap around to numbers above all cells of the pass */
		uvec4		cells = find_cells(task, rows) - pass.low;
		uint32_t	place = gl_LocalInvocationIndex % pass.copies * pass.size;

		for (uint32_t m = pass.first; m < pass.end; m++)
		{
			tabulate_measure(measures[m], pass, rows, chosen, place, cells);
			place += measures[m].tables * pass.cells;
		}
	}
}

/* Add all copies of a cell to the segment's word. */
void
empty_cell(AggTask task, Pass pass, uint32_t m, uint32_t place, uint32_t cell)
{
	Measure		measure = measures[m];
	uint64_t	value = 0;

	for (uint32_t copy = 0; copy < pass.copies; copy++, place += pass.size)
	{
		value = join(measure.kind, value, table[place + cell]);
		if (measure.tables > 1)
			value += uint64_t(table[place + pass.cells + cell]) << 16;
	}
	if (value != 0)
		add_to_word(words_of(task, m), measure.kind, pass.low + cell,
					measure.kind == MEASURE_LEAST ? value | 0xFFFFFFFF00000000ul : value);
}

bool
is_aggregated(AggTask task, uint32_t chunk)
{
	return chunk < task.chunks && has_bit(task.aggregated, chunk);
}

/*
 * Make a pass over all chunks of this workgroup.  At least one chunk must be aggregated: enter_chunk(), which is
 * called only for aggregated chunks, sets the array "measures".
 */
void
tabulate(AggTask task, uint32_t first_chunk, Pass pass)
{
	uint32_t	place = 0;

	barrier();
	for (uint32_t i = gl_LocalInvocationIndex; i < pass.copies * pass.size; i += GROUP)
		table[i] = 0;
	for (uint32_t chunk = first_chunk; chunk < first_chunk + task.span; chunk++)
		if (is_aggregated(task, chunk))
			tabulate_rows(task, enter_chunk(task, chunk), pass);
	barrier();
	for (uint32_t m = pass.first; m < pass.end; m++)
	{
		for (uint32_t cell = gl_LocalInvocationIndex; cell < pass.cells; cell += GROUP)
			empty_cell(task, pass, m, place, cell);
		place += measures[m].tables * pass.cells;
	}
}

/*
 * Make all passes.  A pass computes as many measures as fit in the table.  If a measure does not fit by itself, it
 * takes several passes, each for some of the cells.  Neighbouring threads use different copies of the table.
 */
void
tabulate_all(AggTask task, uint32_t first_chunk)
{
	for (uint32_t first = 0, end; first < task.measures; first = end)
	{
		uint32_t	tables = 0;
		uint32_t	cells;

		for (end = first; end < task.measures; end++)
		{
			uint32_t	more = Measures(tasks_at(tasks.measures)).at[task.first_measure + end].tables;

			if (end > first && (tables + more) * task.slots > TABLE)
				break;
			tables += more;
		}
		cells = min(task.slots, TABLE / tables);
		for (uint32_t low = 0; low < task.slots; low += cells)
			tabulate(task, first_chunk,
					 Pass(first, end, low, min(cells, task.slots - low), min(cells, task.slots - low) * tables,
						  min(TABLE / (cells * tables), AGG_COPIES)));
	}
}

/* ---------------------------------------------------------------- many cells */

void
scatter(AggTask task, Chunk chunk)
{
	if (WAY == AGG_BY_HASH && is_lost(task))
		return;
	for (uint32_t first = gl_LocalInvocationIndex; first < chunk.looked_at; first += AT_HAND)
	{
		uvec4		rows = rows_at_hand(chunk, first);
		bvec4		chosen = choose(chunk, first);
		uvec4		slots;

		if (!any(chosen))
			continue;
		slots = WAY == AGG_BY_HASH ? find_slots(task, rows, chosen) : find_cells(task, rows);
		for (uint32_t m = 0; m < task.measures; m++)
		{
			Measure		measure = measures[m];
			bvec4		known = chosen;
			u64vec4		found = load_wide(measure.values, rows, known);

			for (uint32_t k = 0; k < 4; k++)
				if (known[k])
					add_to_word(words_of(task, m), measure.kind, slots[k], measured(measure.kind, found[k]));
		}
	}
}

/* ---------------------------------------------------------------- all */

void
main()
{
	uint32_t	number = Words(tasks_at(tasks.agg_of)).at[gl_WorkGroupID.x];
	AggTask		task = AggTasks(tasks_at(tasks.aggs)).at[number];
	uint32_t	first_chunk = (gl_WorkGroupID.x - task.first_group) * task.span;
	bool		aggregates = false;

	/* Tasks of other ways belong to other pipelines. */
	if (task.way != WAY || (task.wide != 0) != WIDE)
		return;
	for (uint32_t chunk = first_chunk; chunk < first_chunk + task.span; chunk++)
		aggregates = aggregates || is_aggregated(task, chunk);
	if (!aggregates)
		return;
	if (WAY == AGG_BY_TABLES || WAY == AGG_BY_LARGE_TABLES)
	{
		tabulate_all(task, first_chunk);
		return;
	}
	/* All other ways have one chunk for each workgroup. */
	Chunk		chunk = enter_chunk(task, first_chunk);

	if (WAY == AGG_BY_WORDS || WAY == AGG_BY_HASH)
		scatter(task, chunk);
	if (WAY == AGG_OF_ONE_CELL)
		gather(task, chunk);
}
