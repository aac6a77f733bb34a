// SPDX-License-Identifier: PostgreSQL
/*
 * aggregate_rows.glsl
 *		The rows of a chunk that a workgroup aggregates, and their cells; for aggregate.comp.
 *
 * Neighbouring threads handle neighbouring rows, so that elements are read in sequence.  Loads are slow, so each thread
 * loads the elements of four rows at a time, into vectors, whether or not the rows are chosen.  If at most LISTED rows
 * of a chunk are chosen, the chosen rows are first listed, and only listed rows are read.
 */
#include "measures.glsl"
#include "columns.glsl"
#include "table.glsl"
#include "tasks.glsl"

/* threads of the workgroup */
layout(constant_id = 3) const uint32_t GROUP = AGG_GROUP;

/* Rows of a chunk that can be listed, with 16 bits each. */
layout(constant_id = 4) const uint32_t LISTED = AGG_LISTED;

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
	uint32_t	tables;
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

shared Digit digits[AGG_DIGITS];
shared Measure measures[AGG_MEASURES];
shared uint32_t list[LISTED / 2];
shared uint32_t chosen_rows;
shared uint32_t listed_rows;

/* ---------------------------------------------------------------- chosen rows */

uint32_t
chosen_word(Chunk chunk, uint32_t word)
{
	uint32_t	rows = Words(chunk.bits).at[word];

	for (uint32_t g = 1; g < chunk.groups; g++)
		rows &= Words(chunk.bits + g * chunk.group_size).at[word];
	return rows;
}

/* Return the number of chosen rows in the words of a chunk that this thread handles. */
uint32_t
count_chosen(Chunk chunk)
{
	uint32_t	rows = 0;

	for (uint32_t word = gl_LocalInvocationIndex; word < CHUNK_WORDS32; word += GROUP)
		rows += bitCount(chosen_word(chunk, word));
	return rows;
}

/* List the chosen rows in the words of this thread, from the position "place" on.  The list must be all zeros. */
void
list_chosen(Chunk chunk, uint32_t place)
{
	for (uint32_t word = gl_LocalInvocationIndex; word < CHUNK_WORDS32; word += GROUP)
		for (uint32_t rows = chosen_word(chunk, word); rows != 0; rows &= rows - 1, place++)
			atomicOr(list[place / 2], (word * 32 + findLSB(rows)) << place % 2 * 16);
}

/* Count a chunk's chosen rows.  If there are at most LISTED, list them. */
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
 * Enter a chunk: locate the columns' elements, and list chosen rows.  Locations are the same for all threads, so
 * thread i finds only the locations of digit i and measure i.
 */
Chunk
enter_chunk(AggTask task, uint32_t chunk)
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

		measures[i] = Measure(none, measure.kind, measure.tables);
		if (measure.kind != MEASURE_ROWS)
			measures[i].values = enter_column(measure.values, chunk);
	}
	Chunk		entered = Chunk(task.bits + uint64_t(chunk) * bytes, uint64_t(task.chunks) * bytes, task.groups,
								min(task.rows - chunk * CHUNK_ROWS, CHUNK_ROWS), false, 0);

	look_for_chosen(entered);
	return entered;
}

/*
 * Number of rows that a workgroup handles at a time.  A thread's four rows are GROUP apart, so that neighbouring
 * threads read neighbouring rows.  "first" is the position of a thread's first row among the rows to read.
 */
#define AT_HAND	(4 * GROUP)

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

/* Return the thread's four rows from position "first" on.  A position after the last gives an arbitrary row. */
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

/* Return which of the thread's four rows are chosen.  Positions after the last one are not chosen. */
bvec4
choose(Chunk chunk, uint32_t first)
{
	uvec4		places = places_at_hand(first);

	if (chunk.listed)
		return lessThan(places, uvec4(chunk.looked_at));
	return bvec4(uvec4(is_chosen(chunk, places.x), is_chosen(chunk, places.y), is_chosen(chunk, places.z),
					   is_chosen(chunk, places.w)));
}

/* ---------------------------------------------------------------- cells */

uint32_t
number_in_map(Digit digit, uint32_t place)
{
	uint32_t	per_word = 32 / digit.map_bits;

	return Words(digit.map).at[place / per_word] >> place % per_word * digit.map_bits &
		0xFFFFFFFFu >> (32 - digit.map_bits);
}

/* Return the numbers of four integers in a map that is a table. */
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

/*
 * Load the numbers of four rows for a digit without a map.  Rows whose value is NULL are removed from "known".
 * Neighbouring integers have the same number if bits are dropped.
 */
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
find_cells(AggTask task, uvec4 rows)
{
	uvec4		cells = uvec4(0);

	for (uint32_t i = 0; i < task.digits; i++)
		cells += find_numbers(digits[i], rows) * uint32_t(digits[i].stride);
	return cells;
}

/* Return the slots of four rows' cells, assigned by hashing.  Rows whose cells have no slot are removed from chosen. */
uvec4
find_slots(AggTask task, uvec4 rows, inout bvec4 chosen)
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
