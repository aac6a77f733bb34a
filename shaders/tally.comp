/*
 * tally.comp
 *		What the rows of some chunks come to, by cell (device/protocol.h): RTCUDB's and the 2004 paper's
 *		aggregation, without a row's leaving the device.
 *
 * Neighbouring threads have neighbouring rows, so that elements are read one after another, and each thread has several rows
 * at hand at a time, for a load takes long; it reads their elements whether they are chosen or not.  A workgroup gathers what
 * it has in its own memory, in registers if there is but one cell, and adds that to the segment's words in the end.  Its memory
 * adds up 32 bits only: sums are made of halves of the 32 bits there, where they might overflow otherwise.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_control_flow_attributes : require
#include "common.glsl"

layout(push_constant, scalar) uniform PushConstants { Tasks tasks; };

layout(local_size_x = TALLY_GROUP) in;

/* How many cells of 32 bits the workgroup's memory has room for. */
layout(constant_id = 0) const uint32_t TABLE = 4096;

/* Rows that a thread has at hand. */
#define ROWS	6

/* A column's elements in the chunk at hand. */
struct Elements
{
	uint64_t	words;
	uint64_t	above;
	uint64_t	null;
	uint32_t	bits;
	bool		narrow;			/* values have 32 bits at most */
};

struct Digit
{
	Elements	values;
	uint32_t	null;
	uint32_t	stride;
};

struct Measure
{
	Elements	values;
	uint32_t	kind;
	uint32_t	parts;
};

/* The chunk at hand. */
struct Chunk
{
	uint64_t	bits;
	uint64_t	group_size;		/* bytes, to the bits of the next group */
	uint32_t	groups;
	uint32_t	rows;
};

shared uint32_t table[TABLE];
shared uint64_t gathered[TALLY_GROUP];
shared Digit digits[TALLY_DIGITS];
shared Measure measures[TALLY_MEASURES];

/* ---------------------------------------------------------------- rows and their elements */

Elements
enter_column(ElementsTask values, uint32_t chunk)
{
	uint64_t	bytes = CHUNK_WORDS32 * 4;

	if (values.frames == 0)
		return Elements(values.elements + uint64_t(chunk) * bytes * values.code_bits, 0, 0xFFFFFFFFFFFFFFFFul,
						values.code_bits, true);
	FrameTask	frame = Frames(values.frames).at[chunk];
	uint64_t	above = frame.above + values.shift;

	return Elements(values.elements + uint64_t(frame.page) * bytes, above, frame.null, frame.bits,
					frame.bits <= 32 && above <= 0xFFFFFFFFul - ((1ul << frame.bits) - 1));
}

/* Which columns are where in a chunk is the same for all threads: some of them look that up. */
Chunk
enter_chunk(TallyTask task, uint32_t chunk)
{
	uint32_t	i = gl_LocalInvocationIndex;
	uint64_t	bytes = CHUNK_WORDS32 * 4;

	barrier();
	if (i < task.digits)
	{
		DigitTask	digit = Digits(tasks.digits).at[task.first_digit + i];

		digits[i] = Digit(enter_column(digit.values, chunk), digit.null, digit.stride);
	}
	if (i < task.measures)
	{
		MeasureTask measure = Measures(tasks.measures).at[task.first_measure + i];
		Elements	none = Elements(0, 0, 1, 0, true);	/* of rows: no value is asked for */

		measures[i] = Measure(none, measure.kind, measure.parts);
		if (measure.kind != MEASURE_ROWS)
			measures[i].values = enter_column(measure.values, chunk);
	}
	barrier();
	return Chunk(task.bits + uint64_t(chunk) * bytes, uint64_t(task.chunks) * bytes, task.groups,
				 min(task.rows - chunk * CHUNK_ROWS, CHUNK_ROWS));
}

uint32_t
chosen_word(Chunk chunk, uint32_t word)
{
	uint32_t	rows = Words(chunk.bits).at[word];

	for (uint32_t g = 1; g < chunk.groups; g++)
		rows &= Words(chunk.bits + g * chunk.group_size).at[word];
	return rows;
}

/* The rows at hand that are chosen, a bit each; those that there are not are none. */
uint32_t
choose(Chunk chunk, uint32_t first)
{
	uint32_t	chosen = 0;

	[[unroll]] for (uint32_t k = 0; k < ROWS; k++)
	{
		uint32_t	row = first + k * TALLY_GROUP;

		if (row < chunk.rows)
			chosen |= (chosen_word(chunk, row / 32) >> (row % 32) & 1) << k;
	}
	return chosen;
}

/* Where an element begins; of a row that there is not, the last one's. */
uint32_t
bit_of(Elements values, uint32_t rows, uint32_t row)
{
	return min(row, rows - 1) * values.bits;
}

/* Elements of the rows at hand, of 32 bits at most; no word is read that has none of an element's bits. */
void
load_narrow_elements(Elements values, uint32_t rows, uint32_t first, out uint32_t elements[ROWS])
{
	uint32_t	mask = 0xFFFFFFFFu >> (32 - values.bits);

	[[unroll]] for (uint32_t k = 0; k < ROWS; k++)
		elements[k] = 0;
	if (values.bits == 0)
		return;
	if (32 % values.bits == 0)
	{
		[[unroll]] for (uint32_t k = 0; k < ROWS; k++)
		{
			uint32_t	bit = bit_of(values, rows, first + k * TALLY_GROUP);

			elements[k] = Words(values.words).at[bit / 32] >> (bit % 32) & mask;
		}
		return;
	}
	[[unroll]] for (uint32_t k = 0; k < ROWS; k++)
	{
		uint32_t	bit = bit_of(values, rows, first + k * TALLY_GROUP);
		uint32_t	shift = bit % 32;

		elements[k] = Words(values.words).at[bit / 32] >> shift;
		if (shift + values.bits > 32)
			elements[k] |= Words(values.words).at[bit / 32 + 1] << (32 - shift);
		elements[k] &= mask;
	}
}

uint64_t
load_wide_element(Elements values, uint32_t bit)
{
	uint32_t	word = bit / 32;
	uint32_t	shift = bit % 32;
	uint64_t	element = Words(values.words).at[word];

	if (shift + values.bits > 32)
		element |= uint64_t(Words(values.words).at[word + 1]) << 32;
	element >>= shift;
	if (shift + values.bits > 64)
		element |= uint64_t(Words(values.words).at[word + 2]) << (64 - shift);
	return element & (0xFFFFFFFFFFFFFFFFul >> (64 - values.bits));
}

/* Values of the rows at hand; the bits of those that are NULL are cleared. */
void
load_narrow(Elements values, uint32_t rows, uint32_t first, inout uint32_t chosen, out uint32_t found[ROWS])
{
	uint32_t	above = uint32_t(values.above);
	bool		nulls = values.null <= 0xFFFFFFFFul;
	uint32_t	null = uint32_t(values.null);

	load_narrow_elements(values, rows, first, found);
	[[unroll]] for (uint32_t k = 0; k < ROWS; k++)
	{
		if (nulls && found[k] == null)
			chosen &= ~(1u << k);
		found[k] += above;
	}
}

void
load_wide(Elements values, uint32_t rows, uint32_t first, inout uint32_t chosen, out uint64_t found[ROWS])
{
	[[unroll]] for (uint32_t k = 0; k < ROWS; k++)
	{
		uint64_t	element = values.bits > 0 ? load_wide_element(values, bit_of(values, rows, first + k * TALLY_GROUP)) : 0;

		if (element == values.null)
			chosen &= ~(1u << k);
		found[k] = values.above + element;
	}
}

/* Digits have 32 bits.  Whatever is there, a cell is one that there is. */
void
find_cells(TallyTask task, Chunk chunk, uint32_t first, out uint32_t cells[ROWS])
{
	[[unroll]] for (uint32_t k = 0; k < ROWS; k++)
		cells[k] = 0;
	for (uint32_t i = 0; i < task.digits; i++)
	{
		Digit		digit = digits[i];
		uint32_t	known = 0xFFFFFFFFu;
		uint32_t	numbers[ROWS];

		if (!digit.values.narrow)
			known = 0;
		else
			load_narrow(digit.values, chunk.rows, first, known, numbers);
		[[unroll]] for (uint32_t k = 0; k < ROWS; k++)
			cells[k] += ((known >> k & 1) != 0 ? min(numbers[k], digit.null) : digit.null) * digit.stride;
	}
}

/* ---------------------------------------------------------------- measures */

/* What a value is to a measure: both are unsigned, and nothing is 0. */
uint64_t
measured(uint32_t kind, uint64_t value)
{
	switch (kind)
	{
		case MEASURE_SUM_LOWER:
			return value & 0xFFFFFFFFul;
		case MEASURE_SUM_UPPER:
			return value >> 32;
		case MEASURE_GREATEST:
			return value;
		case MEASURE_LEAST:
			return ~value;
	}
	return 1;
}

/* The lower 32 bits of that, of a value that has no others. */
uint32_t
measured_narrow(uint32_t kind, uint32_t value)
{
	switch (kind)
	{
		case MEASURE_SUM_LOWER:
		case MEASURE_GREATEST:
			return value;
		case MEASURE_SUM_UPPER:
			return 0;
		case MEASURE_LEAST:
			return ~value;
	}
	return 1;
}

bool
is_outermost(uint32_t kind)
{
	return kind == MEASURE_GREATEST || kind == MEASURE_LEAST;
}

uint64_t
join(uint32_t kind, uint64_t a, uint64_t b)
{
	return is_outermost(kind) ? max(a, b) : a + b;
}

uint64_t
words_of(TallyTask task, uint32_t measure)
{
	return task.words + uint64_t(measure) * task.cells * 8;
}

/* To a word of the segment's. */
void
add_to_word(uint64_t words, uint32_t kind, uint32_t cell, uint64_t value)
{
	if (is_outermost(kind))
		atomicMax(Doublewords(words).at[cell], value);
	else
		atomicAdd(Doublewords(words).at[cell], value);
}

/* ---------------------------------------------------------------- one cell */

uint64_t
gather_rows(Chunk chunk)
{
	uint32_t	rows = 0;

	for (uint32_t word = gl_LocalInvocationIndex; word < CHUNK_WORDS32; word += TALLY_GROUP)
		rows += bitCount(chosen_word(chunk, word));
	return rows;
}

uint64_t
gather_narrow(Chunk chunk, Measure measure)
{
	bool		outermost = is_outermost(measure.kind);
	uint64_t	sum = 0;
	uint32_t	most = 0;

	for (uint32_t first = gl_LocalInvocationIndex; first < chunk.rows; first += ROWS * TALLY_GROUP)
	{
		uint32_t	chosen = choose(chunk, first);
		uint32_t	found[ROWS];

		load_narrow(measure.values, chunk.rows, first, chosen, found);
		[[unroll]] for (uint32_t k = 0; k < ROWS; k++)
		{
			uint32_t	value = (chosen >> k & 1) != 0 ? measured_narrow(measure.kind, found[k]) : 0;

			if (outermost)
				most = max(most, value);
			else
				sum += value;
		}
	}
	if (outermost)
		sum = measure.kind == MEASURE_LEAST && most != 0 ? most | 0xFFFFFFFF00000000ul : most;
	return sum;
}

uint64_t
gather_wide(Chunk chunk, Measure measure)
{
	uint64_t	sum = 0;

	for (uint32_t first = gl_LocalInvocationIndex; first < chunk.rows; first += ROWS * TALLY_GROUP)
	{
		uint32_t	chosen = choose(chunk, first);
		uint64_t	found[ROWS];

		load_wide(measure.values, chunk.rows, first, chosen, found);
		[[unroll]] for (uint32_t k = 0; k < ROWS; k++)
			if ((chosen >> k & 1) != 0)
				sum = join(measure.kind, sum, measured(measure.kind, found[k]));
	}
	return sum;
}

uint64_t
gather_values(Chunk chunk, Measure measure)
{
	/* Of a narrow value's complement, which is all that there is to it, nothing must be 0. */
	if (measure.values.narrow && measure.values.above + (1ul << measure.values.bits) <= 0xFFFFFFFFul)
		return gather_narrow(chunk, measure);
	return gather_wide(chunk, measure);
}

void
gather(TallyTask task, Chunk chunk, uint32_t number)
{
	Measure		measure = measures[number];
	uint64_t	sum = measure.kind == MEASURE_ROWS ? gather_rows(chunk) : gather_values(chunk, measure);

	barrier();
	gathered[gl_LocalInvocationIndex] = sum;
	for (uint32_t distance = TALLY_GROUP / 2; distance > 0; distance /= 2)
	{
		barrier();
		if (gl_LocalInvocationIndex < distance)
			gathered[gl_LocalInvocationIndex] = join(measure.kind, gathered[gl_LocalInvocationIndex],
													 gathered[gl_LocalInvocationIndex + distance]);
	}
	if (gl_LocalInvocationIndex == 0 && gathered[0] != 0)
		add_to_word(words_of(task, number), measure.kind, 0, gathered[0]);
}

/* ---------------------------------------------------------------- tables */

/* Some measures of some cells, each part of which has as many cells of the table; and copies of all that. */
struct Pass
{
	uint32_t	first;
	uint32_t	end;
	uint32_t	low;
	uint32_t	cells;
	uint32_t	size;
	uint32_t	copies;
};

/*
 * In the workgroup's own memory what is outermost has 32 bits: of LEAST the complement's lower ones, whose upper ones are all set.
 * (What is wide is none, or an upper half.)
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

/* Add the rows at hand that are chosen, and in a cell of this pass. */
void
tabulate_measure(Measure measure, Chunk chunk, Pass pass, uint32_t first, uint32_t chosen, uint32_t place, uint32_t cells[ROWS])
{
	uint32_t	values[ROWS];

	if (measure.values.narrow)
	{
		load_narrow(measure.values, chunk.rows, first, chosen, values);
		[[unroll]] for (uint32_t k = 0; k < ROWS; k++)
			values[k] = measured_narrow(measure.kind, values[k]);
	}
	else
	{
		uint64_t	wide[ROWS];

		load_wide(measure.values, chunk.rows, first, chosen, wide);
		[[unroll]] for (uint32_t k = 0; k < ROWS; k++)
			values[k] = uint32_t(measured(measure.kind, wide[k]));
	}
	[[unroll]] for (uint32_t k = 0; k < ROWS; k++)
		if ((chosen >> k & 1) != 0 && cells[k] - pass.low < pass.cells)
			add_to_table(measure, place + cells[k] - pass.low, pass.cells, values[k]);
}

void
tabulate_rows(TallyTask task, Chunk chunk, Pass pass)
{
	uint32_t	copy = gl_LocalInvocationIndex % pass.copies * pass.size;

	for (uint32_t first = gl_LocalInvocationIndex; first < chunk.rows; first += ROWS * TALLY_GROUP)
	{
		uint32_t	chosen = choose(chunk, first);
		uint32_t	place = copy;
		uint32_t	cells[ROWS];

		if (chosen == 0)
			continue;
		find_cells(task, chunk, first, cells);
		for (uint32_t m = pass.first; m < pass.end; m++)
		{
			tabulate_measure(measures[m], chunk, pass, first, chosen, place, cells);
			place += measures[m].parts * pass.cells;
		}
	}
}

/* All copies of a cell together, to the segment's word. */
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

/* Of all chunks of this workgroup. */
void
tabulate(TallyTask task, uint32_t first_chunk, Pass pass)
{
	uint32_t	place = 0;

	barrier();
	for (uint32_t i = gl_LocalInvocationIndex; i < pass.copies * pass.size; i += TALLY_GROUP)
		table[i] = 0;
	for (uint32_t i = 0; i < task.span && first_chunk + i < task.chunks; i++)
	{
		uint32_t	chunk = first_chunk + i;

		if ((task.tallied[chunk / 32] >> (chunk % 32) & 1) != 0)
			tabulate_rows(task, enter_chunk(task, chunk), pass);
	}
	barrier();
	for (uint32_t m = pass.first; m < pass.end; m++)
	{
		for (uint32_t cell = gl_LocalInvocationIndex; cell < pass.cells; cell += TALLY_GROUP)
			empty_cell(task, pass, m, place, cell);
		place += measures[m].parts * pass.cells;
	}
}

/* As many measures together as there is room for; or one of them for a part of the cells.  Neighbours have copies of their own. */
void
tabulate_all(TallyTask task, uint32_t first_chunk)
{
	for (uint32_t first = 0, end; first < task.measures; first = end)
	{
		uint32_t	parts = 0;
		uint32_t	cells;

		for (end = first; end < task.measures; end++)
		{
			uint32_t	more = Measures(tasks.measures).at[task.first_measure + end].parts;

			if (end > first && (parts + more) * task.cells > TABLE)
				break;
			parts += more;
		}
		cells = min(task.cells, TABLE / parts);
		for (uint32_t low = 0; low < task.cells; low += cells)
			tabulate(task, first_chunk, Pass(first, end, low, min(cells, task.cells - low), min(cells, task.cells - low) * parts,
											 min(TABLE / (cells * parts), TALLY_COPIES)));
	}
}

/* ---------------------------------------------------------------- many cells */

void
scatter(TallyTask task, Chunk chunk)
{
	for (uint32_t first = gl_LocalInvocationIndex; first < chunk.rows; first += ROWS * TALLY_GROUP)
	{
		uint32_t	chosen = choose(chunk, first);
		uint32_t	cells[ROWS];

		if (chosen == 0)
			continue;
		find_cells(task, chunk, first, cells);
		for (uint32_t m = 0; m < task.measures; m++)
		{
			Measure		measure = measures[m];
			uint32_t	known = chosen;
			uint64_t	found[ROWS];

			load_wide(measure.values, chunk.rows, first, known, found);
			[[unroll]] for (uint32_t k = 0; k < ROWS; k++)
				if ((known >> k & 1) != 0)
					add_to_word(words_of(task, m), measure.kind, cells[k], measured(measure.kind, found[k]));
		}
	}
}

/* ---------------------------------------------------------------- all */

void
main()
{
	uint32_t	number = Words(tasks.tally_of).at[gl_WorkGroupID.x];
	TallyTask	task = TallyTasks(tasks.tallies).at[number];
	uint32_t	first_chunk = (gl_WorkGroupID.x - task.first_group) * task.span;

	if (task.way == TALLY_BY_TABLES)
	{
		tabulate_all(task, first_chunk);
		return;
	}
	/* One chunk. */
	if ((task.tallied[first_chunk / 32] >> (first_chunk % 32) & 1) == 0)
		return;
	Chunk		chunk = enter_chunk(task, first_chunk);

	if (task.way == TALLY_BY_WORDS)
		scatter(task, chunk);
	for (uint32_t m = 0; m < task.measures && task.way == TALLY_OF_ONE_CELL; m++)
		gather(task, chunk, m);
}
