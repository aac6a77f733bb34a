// SPDX-License-Identifier: PostgreSQL
/*
 * tally.comp
 *		Tally the rows of some chunks by cell (device/protocol.h).
 *
 * This is the aggregation of RTCUDB and of the paper of 2004 on database operations; no row leaves the
 * device.
 *
 * Neighbouring threads handle neighbouring rows, so that elements are read in sequence.  Each thread handles four rows
 * at a time, in vectors, because loads are slow; it loads their elements whether or not the rows are chosen.  If few
 * rows of a chunk are chosen, they are first listed, and only listed rows are read.  A workgroup accumulates values in
 * its own memory, or in registers if there is only one cell, and adds them to the segment's words at the end.  Its own
 * memory adds only 32-bit integers: if a sum could overflow there, it is made of two sums of 16-bit halves.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "measures.glsl"
#include "columns.glsl"
#include "table.glsl"
#include "tasks.glsl"

layout(local_size_x_id = 3) in;

/*
 * There is a pipeline for each way, with and without values of more than 32 bits, because the number of
 * registers that a thread needs limits the number of threads.
 */
layout(constant_id = 0) const uint32_t WAY = TALLY_OF_ONE_CELL;
layout(constant_id = 1) const bool WIDE = false;
/* 32-bit cells that fit in the workgroup's memory */
layout(constant_id = 2) const uint32_t TABLE = 1;
/* threads of the workgroup */
layout(constant_id = 3) const uint32_t GROUP = TALLY_GROUP;

/* Rows of a chunk that can be listed, with 16 bits each. */
layout(constant_id = 4) const uint32_t LISTED = TALLY_LISTED;

struct Digit
{
	Elements	values;
	uint64_t	stride;
	uint64_t	map;
	uint64_t	reach;
	uint32_t	map_bits;
	uint32_t	slot_bits;
	uint32_t	null;
	uint32_t	dropped;
	bool		wide;
};

struct Measure
{
	Elements	values;
	uint32_t	kind;
	uint32_t	parts;
};

/* The current chunk. */
struct Chunk
{
	uint64_t	bits;
	uint64_t	group_size;		/* bytes from a group's bits to those of the next */
	uint32_t	groups;
	uint32_t	rows;
	bool		listed;
	uint32_t	looked_at;		/* number of rows to read: all, or the listed ones */
};

shared uint32_t table[TABLE];
shared uint64_t gathered[WAY == TALLY_OF_ONE_CELL ? GROUP : 1];
shared Digit digits[TALLY_DIGITS];
shared Measure measures[TALLY_MEASURES];
shared uint32_t list[LISTED / 2];
shared uint32_t chosen_rows;
shared uint32_t listed_rows;

/* ---------------------------------------------------------------- rows and their elements */

uint32_t
chosen_word(Chunk chunk, uint32_t word)
{
	uint32_t	rows = Words(chunk.bits).at[word];

	for (uint32_t g = 1; g < chunk.groups; g++)
		rows &= Words(chunk.bits + g * chunk.group_size).at[word];
	return rows;
}

/* Return this thread's share of the number of chosen rows in a chunk. */
uint32_t
count_chosen(Chunk chunk)
{
	uint32_t	rows = 0;

	for (uint32_t word = gl_LocalInvocationIndex; word < CHUNK_WORDS32; word += GROUP)
		rows += bitCount(chosen_word(chunk, word));
	return rows;
}

/* Write this thread's share of the list, beginning at place.  The list has been cleared. */
void
list_chosen(Chunk chunk, uint32_t place)
{
	for (uint32_t word = gl_LocalInvocationIndex; word < CHUNK_WORDS32; word += GROUP)
		for (uint32_t rows = chosen_word(chunk, word); rows != 0; rows &= rows - 1, place++)
			atomicOr(list[place / 2], (word * 32 + findLSB(rows)) << place % 2 * 16);
}

/* List a chunk's chosen rows, if they are few. */
void
look_for_chosen(inout Chunk chunk)
{
	uint32_t	rows = count_chosen(chunk);

	if (gl_LocalInvocationIndex == 0)
		chosen_rows = listed_rows = 0;
	for (uint32_t i = gl_LocalInvocationIndex; i < LISTED / 2; i += GROUP)
		list[i] = 0;
	barrier();
	atomicAdd(chosen_rows, rows);
	barrier();
	chunk.listed = chosen_rows <= LISTED;
	chunk.looked_at = chunk.listed ? chosen_rows : chunk.rows;
	if (chunk.listed && rows > 0)
		list_chosen(chunk, atomicAdd(listed_rows, rows));
	barrier();
}

/*
 * Enter a chunk: locate the columns' elements, and list chosen rows.  Locations are the same for all threads,
 * so some threads find those of one column each.
 */
Chunk
enter_chunk(TallyTask task, uint32_t chunk)
{
	uint32_t	i = gl_LocalInvocationIndex;
	uint64_t	bytes = CHUNK_WORDS32 * 4;

	barrier();
	if (i < task.digits)
	{
		DigitTask	digit = Digits(tasks_at(tasks.digits)).at[task.first_digit + i];

		digits[i] = Digit(enter_column(digit.values, chunk), digit.stride, digit.map, digit.reach, digit.map_bits,
						  digit.slot_bits, digit.null, digit.dropped, digit.wide != 0);
	}
	if (i < task.measures)
	{
		MeasureTask measure = Measures(tasks_at(tasks.measures)).at[task.first_measure + i];
		Elements	none = Elements(0, 0, 1, 0);	/* for MEASURE_ROWS, which reads no values */

		measures[i] = Measure(none, measure.kind, measure.parts);
		if (measure.kind != MEASURE_ROWS)
			measures[i].values = enter_column(measure.values, chunk);
	}
	Chunk		entered = Chunk(task.bits + uint64_t(chunk) * bytes, uint64_t(task.chunks) * bytes, task.groups,
								min(task.rows - chunk * CHUNK_ROWS, CHUNK_ROWS), false, 0);

	look_for_chosen(entered);
	return entered;
}

/*
 * A thread's rows in one step are STEP / 4 apart, so that neighbouring threads read neighbouring rows.  The
 * positions of these four rows count from first among the rows to read.
 */
#define STEP	(4 * GROUP)

uvec4
places_at_hand(uint32_t first)
{
	return first + uvec4(0, GROUP, 2 * GROUP, 3 * GROUP);
}

uint32_t
listed_row(Chunk chunk, uint32_t place)
{
	place = min(place, chunk.looked_at - 1);
	return list[place / 2] >> place % 2 * 16 & 0xFFFF;
}

/* Return the four rows at these positions; positions after the last return an arbitrary row. */
uvec4
rows_at_hand(Chunk chunk, uint32_t first)
{
	uvec4		places = places_at_hand(first);

	if (!chunk.listed)
		return min(places, uvec4(chunk.rows - 1));
	return uvec4(listed_row(chunk, places.x), listed_row(chunk, places.y), listed_row(chunk, places.z),
				 listed_row(chunk, places.w));
}

uint32_t
is_chosen(Chunk chunk, uint32_t row)
{
	return row < chunk.rows ? chosen_word(chunk, row / 32) >> (row % 32) & 1 : 0;
}

/* Return which of the four rows are chosen; positions after the last are not. */
bvec4
choose(Chunk chunk, uint32_t first)
{
	uvec4		places = places_at_hand(first);

	if (chunk.listed)
		return lessThan(places, uvec4(chunk.looked_at));
	return bvec4(uvec4(is_chosen(chunk, places.x), is_chosen(chunk, places.y), is_chosen(chunk, places.z),
					   is_chosen(chunk, places.w)));
}

uint32_t
number_in_map(Digit digit, uint32_t place)
{
	uint32_t	per_word = 32 / digit.map_bits;

	return Words(digit.map).at[place / per_word] >> place % per_word * digit.map_bits &
		0xFFFFFFFFu >> (32 - digit.map_bits);
}

/* Return the numbers of four integers in a table. */
uvec4
numbers_in_table(Digit digit, u64vec4 places)
{
	uvec4		numbers = uvec4(digit.null);
	uint32_t	slot;

	for (uint32_t k = 0; k < 4; k++)
		if (places[k] <= digit.reach && find_in_table(Words(digit.map), digit.slot_bits, places[k], slot))
			numbers[k] = Words(digit.map).at[(2u << digit.slot_bits) + slot];
	return numbers;
}

/* Return how many breakpoints are not above each of four integers. */
uvec4
count_breakpoints(Digit digit, u64vec4 integers)
{
	uvec4		numbers = uvec4(0);

	for (uint32_t i = 0; i <= digit.reach; i++)
	{
		uint64_t	breakpoint = uint64_t(Words(digit.map).at[2 * i]) | uint64_t(Words(digit.map).at[2 * i + 1]) << 32;

		numbers += uvec4(greaterThanEqual(integers, u64vec4(breakpoint)));
	}
	return numbers;
}

/* Return the numbers of four rows in a digit's map. */
uvec4
look_up_numbers(Digit digit, uvec4 rows)
{
	bvec4		known = bvec4(true);
	u64vec4		places = load_wide(digit.values, rows, known);

	if (digit.map_bits > 32)
		return mix(uvec4(digit.null), min(count_breakpoints(digit, places), uvec4(digit.null)), known);
	if (digit.slot_bits > 0)
		return mix(uvec4(digit.null), min(numbers_in_table(digit, places), uvec4(digit.null)), known);

	bvec4		mapped = lessThanEqual(places, u64vec4(digit.reach));
	uvec4		near = uvec4(mix(u64vec4(0), places, mapped));
	uvec4		numbers = uvec4(number_in_map(digit, near.x), number_in_map(digit, near.y),
								number_in_map(digit, near.z), number_in_map(digit, near.w));

	known = bvec4(uvec4(known) & uvec4(mapped));
	return mix(uvec4(digit.null), min(numbers, uvec4(digit.null)), known);
}

/* Load the numbers of four rows without a map.  Neighbouring integers have the same number if bits are dropped. */
uvec4
load_numbers(Digit digit, uvec4 rows, inout bvec4 known)
{
	if (!digit.wide)
		return load_narrow(digit.values, rows, known) >> digit.dropped;
	return uvec4(min(load_wide(digit.values, rows, known) >> digit.dropped, u64vec4(digit.null)));
}

/* Return a digit's numbers of four rows.  They are at most null, whatever the data, so that each cell exists. */
uvec4
find_numbers(Digit digit, uvec4 rows)
{
	bvec4		known = bvec4(true);
	uvec4		numbers;

	if (digit.map != 0)
		return look_up_numbers(digit, rows);
	numbers = load_numbers(digit, rows, known);
	return mix(uvec4(digit.null), min(numbers, uvec4(digit.null)), known);
}

/* Return the cells of four rows.  If each cell has its own slot, cell numbers fit in 32 bits. */
uvec4
find_cells(TallyTask task, uvec4 rows)
{
	uvec4		cells = uvec4(0);

	for (uint32_t i = 0; i < task.digits; i++)
		cells += find_numbers(digits[i], rows) * uint32_t(digits[i].stride);
	return cells;
}

/* Return the slots of four rows' cells, assigned by hashing.  Rows whose cells have no slot are removed from chosen. */
uvec4
find_slots(TallyTask task, uvec4 rows, inout bvec4 chosen)
{
	u64vec4		cells = u64vec4(0);
	uvec4		slots = uvec4(0);

	for (uint32_t i = 0; i < task.digits; i++)
		cells += u64vec4(find_numbers(digits[i], rows)) * digits[i].stride;
	for (uint32_t k = 0; k < 4; k++)
		if (chosen[k])
		{
			slots[k] = find_slot(task, cells[k]);
			chosen[k] = slots[k] != NO_SLOT;
		}
	return slots;
}

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

/* The accumulated values of a column without upper bits, for each of four rows at a time. */
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

/* Accumulate narrow values, two vectors at a time, so that both are loaded before either is needed. */
Gathered
gather_narrow(Chunk chunk, Elements values)
{
	Narrow		all = Narrow(uvec4(0), u64vec4(0), uvec4(0), uvec4(0));

	for (uint32_t first = gl_LocalInvocationIndex; first < chunk.looked_at; first += 2 * STEP)
	{
		bvec4		chosen = choose(chunk, first);
		bvec4		next_chosen = choose(chunk, first + STEP);
		uvec4		found = load_narrow(values, rows_at_hand(chunk, first), chosen);
		uvec4		next_found = load_narrow(values, rows_at_hand(chunk, first + STEP), next_chosen);

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

	for (uint32_t first = gl_LocalInvocationIndex; first < chunk.looked_at; first += STEP)
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

/* Join the values of all threads, and add them to the segment's word. */
void
join_threads(TallyTask task, uint32_t number, Gathered all)
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

/* Tally a chunk into a single cell.  A column is read once for all of its measures that follow each other. */
void
gather(TallyTask task, Chunk chunk)
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

/* A pass over the rows: some measures of some of the cells. */
struct Pass
{
	uint32_t	first;			/* first measure */
	uint32_t	end;			/* measure after the last */
	uint32_t	low;			/* first cell */
	uint32_t	cells;			/* number of cells of each part of a measure */
	uint32_t	size;			/* table entries of one copy */
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
	else if (measure.parts == 1)
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

/* Tabulate a chunk's rows.  Loads do not wait until it is known which rows are chosen. */
void
tabulate_rows(TallyTask task, Chunk chunk, Pass pass)
{
	for (uint32_t first = gl_LocalInvocationIndex; first < chunk.looked_at; first += STEP)
	{
		uvec4		rows = rows_at_hand(chunk, first);
		bvec4		chosen = choose(chunk, first);
		/* cells below pass.low wrap around, and are above all others */
		uvec4		cells = find_cells(task, rows) - pass.low;
		uint32_t	place = gl_LocalInvocationIndex % pass.copies * pass.size;

		for (uint32_t m = pass.first; m < pass.end; m++)
		{
			tabulate_measure(measures[m], pass, rows, chosen, place, cells);
			place += measures[m].parts * pass.cells;
		}
	}
}

/* Add all copies of a cell to the segment's word. */
void
empty_cell(TallyTask task, Pass pass, uint32_t m, uint32_t place, uint32_t cell)
{
	Measure		measure = measures[m];
	uint64_t	value = 0;

	for (uint32_t copy = 0; copy < pass.copies; copy++, place += pass.size)
	{
		value = join(measure.kind, value, table[place + cell]);
		if (measure.parts > 1)
			value += uint64_t(table[place + pass.cells + cell]) << 16;
	}
	if (value != 0)
		add_to_word(words_of(task, m), measure.kind, pass.low + cell,
					measure.kind == MEASURE_LEAST ? value | 0xFFFFFFFF00000000ul : value);
}

bool
is_tallied(TallyTask task, uint32_t chunk)
{
	return chunk < task.chunks && has_bit(task.tallied, chunk);
}

/*
 * Make a pass over all chunks of this workgroup.  At least one of them must be tallied, since measures are read
 * on entering a chunk.
 */
void
tabulate(TallyTask task, uint32_t first_chunk, Pass pass)
{
	uint32_t	place = 0;

	barrier();
	for (uint32_t i = gl_LocalInvocationIndex; i < pass.copies * pass.size; i += GROUP)
		table[i] = 0;
	for (uint32_t chunk = first_chunk; chunk < first_chunk + task.span; chunk++)
		if (is_tallied(task, chunk))
			tabulate_rows(task, enter_chunk(task, chunk), pass);
	barrier();
	for (uint32_t m = pass.first; m < pass.end; m++)
	{
		for (uint32_t cell = gl_LocalInvocationIndex; cell < pass.cells; cell += GROUP)
			empty_cell(task, pass, m, place, cell);
		place += measures[m].parts * pass.cells;
	}
}

/*
 * Make all passes.  Each has as many measures as fit in the table; if not even one fits, a measure with some of
 * the cells.  Neighbouring threads have different copies of the table.
 */
void
tabulate_all(TallyTask task, uint32_t first_chunk)
{
	for (uint32_t first = 0, end; first < task.measures; first = end)
	{
		uint32_t	parts = 0;
		uint32_t	cells;

		for (end = first; end < task.measures; end++)
		{
			uint32_t	more = Measures(tasks_at(tasks.measures)).at[task.first_measure + end].parts;

			if (end > first && (parts + more) * task.slots > TABLE)
				break;
			parts += more;
		}
		cells = min(task.slots, TABLE / parts);
		for (uint32_t low = 0; low < task.slots; low += cells)
			tabulate(task, first_chunk,
					 Pass(first, end, low, min(cells, task.slots - low), min(cells, task.slots - low) * parts,
						  min(TABLE / (cells * parts), TALLY_COPIES)));
	}
}

/* ---------------------------------------------------------------- many cells */

void
scatter(TallyTask task, Chunk chunk)
{
	if (WAY == TALLY_BY_HASH && is_lost(task))
		return;
	for (uint32_t first = gl_LocalInvocationIndex; first < chunk.looked_at; first += STEP)
	{
		uvec4		rows = rows_at_hand(chunk, first);
		bvec4		chosen = choose(chunk, first);
		uvec4		slots;

		if (!any(chosen))
			continue;
		slots = WAY == TALLY_BY_HASH ? find_slots(task, rows, chosen) : find_cells(task, rows);
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
	uint32_t	number = Words(tasks_at(tasks.tally_of)).at[gl_WorkGroupID.x];
	TallyTask	task = TallyTasks(tasks_at(tasks.tallies)).at[number];
	uint32_t	first_chunk = (gl_WorkGroupID.x - task.first_group) * task.span;
	bool		tallies = false;

	/* Tasks of other ways belong to other pipelines. */
	if (task.way != WAY || (task.wide != 0) != WIDE)
		return;
	for (uint32_t chunk = first_chunk; chunk < first_chunk + task.span; chunk++)
		tallies = tallies || is_tallied(task, chunk);
	if (!tallies)
		return;
	if (WAY == TALLY_BY_TABLES || WAY == TALLY_BY_LARGE_TABLES)
	{
		tabulate_all(task, first_chunk);
		return;
	}
	/* All other ways have one chunk for each workgroup. */
	Chunk		chunk = enter_chunk(task, first_chunk);

	if (WAY == TALLY_BY_WORDS || WAY == TALLY_BY_HASH)
		scatter(task, chunk);
	if (WAY == TALLY_OF_ONE_CELL)
		gather(task, chunk);
}
