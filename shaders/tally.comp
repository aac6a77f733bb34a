/*
 * tally.comp
 *		What the rows of a chunk come to, by cell (device/protocol.h): RTCUDB's and the 2004 paper's
 *		aggregation, without a row's leaving the device.
 *
 * One measure after another: neighbouring threads have neighbouring rows, so that elements are read
 * one after another.  A workgroup gathers what it has in its own memory, in registers if there is but
 * one cell, and adds that to the segment's words in the end.  Its memory adds up 32 bits only: sums are
 * made of halves of the 32 bits there, which a chunk's rows cannot make overflow.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_shader_atomic_int64 : require
#include "common.glsl"

layout(push_constant, scalar) uniform PushConstants { Tasks tasks; };

layout(local_size_x = TALLY_GROUP) in;

/* A column's elements in this chunk. */
struct Elements
{
	uint64_t	words;
	uint64_t	above;
	uint64_t	null;
	uint32_t	bits;
};

struct Digit
{
	Elements	values;
	uint32_t	null;
	uint32_t	stride;
};

shared uint32_t chosen[CHUNK_WORDS32];	/* the rows' bits */
shared uint32_t table[TALLY_TABLE];
shared uint64_t gathered[TALLY_GROUP];
shared Digit digits[TALLY_DIGITS];

Elements
enter_chunk(ElementsTask values, uint32_t chunk)
{
	if (values.frames == 0)
		return Elements(values.elements + uint64_t(chunk) * (CHUNK_WORDS32 * 4) * values.code_bits, 0,
						0xFFFFFFFFFFFFFFFFul, values.code_bits);
	FrameTask	frame = Frames(values.frames).at[chunk];

	return Elements(values.elements + uint64_t(frame.page) * (CHUNK_WORDS32 * 4), frame.above, frame.null, frame.bits);
}

/* The element of a row of the chunk; no word is read that has none of its bits. */
uint64_t
load_element(Elements values, uint32_t row)
{
	uint32_t	bit = row * values.bits;
	uint32_t	word = bit / 32;
	uint32_t	shift = bit % 32;
	uint64_t	element;

	if (values.bits == 0)
		return 0;
	element = Words(values.words).at[word];
	if (shift + values.bits > 32)
		element |= uint64_t(Words(values.words).at[word + 1]) << 32;
	element >>= shift;
	if (shift + values.bits > 64)
		element |= uint64_t(Words(values.words).at[word + 2]) << (64 - shift);
	return element & (0xFFFFFFFFFFFFFFFFul >> (64 - values.bits));
}

uint32_t
cell_of(uint32_t row, uint32_t ndigits)
{
	uint32_t	cell = 0;

	for (uint32_t i = 0; i < ndigits; i++)
	{
		Digit		digit = digits[i];
		uint64_t	element = load_element(digit.values, row);
		uint64_t	number = element == digit.values.null ? digit.null : digit.values.above + element;

		/* Whatever is there, the cell is one. */
		cell += uint32_t(min(number, uint64_t(digit.null))) * digit.stride;
	}
	return cell;
}

bool
is_chosen(uint32_t row)
{
	return (chosen[row / 32] >> (row % 32) & 1) != 0;
}

void
choose_rows(TallyTask task, uint32_t chunk)
{
	uint64_t	group_size = uint64_t(task.chunks) * (CHUNK_WORDS32 * 4);
	uint64_t	bits = task.bits + uint64_t(chunk) * (CHUNK_WORDS32 * 4);

	for (uint32_t word = gl_LocalInvocationIndex; word < CHUNK_WORDS32; word += TALLY_GROUP)
	{
		uint32_t	rows = Words(bits).at[word];

		for (uint32_t g = 1; g < task.groups; g++)
			rows &= Words(bits + g * group_size).at[word];
		chosen[word] = rows;
	}
}

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

bool
is_outermost(uint32_t kind)
{
	return kind == MEASURE_GREATEST || kind == MEASURE_LEAST;
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
join(uint32_t kind, uint64_t a, uint64_t b)
{
	return is_outermost(kind) ? max(a, b) : a + b;
}

void
gather(uint32_t kind, Elements values, uint64_t words)
{
	uint64_t	sum = 0;

	for (uint32_t row = gl_LocalInvocationIndex; row < CHUNK_ROWS; row += TALLY_GROUP)
	{
		if (!is_chosen(row))
			continue;
		uint64_t	element = load_element(values, row);

		if (element != values.null)
			sum = join(kind, sum, measured(kind, values.above + element));
	}
	barrier();
	gathered[gl_LocalInvocationIndex] = sum;
	for (uint32_t distance = TALLY_GROUP / 2; distance > 0; distance /= 2)
	{
		barrier();
		if (gl_LocalInvocationIndex < distance)
			gathered[gl_LocalInvocationIndex] = join(kind, gathered[gl_LocalInvocationIndex],
													 gathered[gl_LocalInvocationIndex + distance]);
	}
	if (gl_LocalInvocationIndex == 0 && gathered[0] != 0)
		add_to_word(words, kind, 0, gathered[0]);
}

/* ---------------------------------------------------------------- few cells */

/* In the workgroup's own memory what is outermost has 32 bits: of LEAST the complement's lower ones, whose upper ones are all set. */
void
add_to_table(MeasureTask measure, uint32_t place, uint32_t cells, uint64_t value)
{
	if (is_outermost(measure.kind))
		atomicMax(table[place], uint32_t(value));
	else
	{
		atomicAdd(table[place], uint32_t(value) & 0xFFFF);
		if (measure.parts > 1)
			atomicAdd(table[place + cells], uint32_t(value) >> 16);
	}
}

/* All copies of a cell together, to the segment's word. */
void
empty_cell(MeasureTask measure, uint32_t cell, uint32_t cells, uint32_t copies, uint64_t words)
{
	uint64_t	value = 0;

	for (uint32_t copy = 0; copy < copies; copy++)
	{
		uint32_t	place = copy * cells * measure.parts + cell;

		value = join(measure.kind, value, table[place]);
		if (measure.parts > 1)
			value += uint64_t(table[place + cells]) << 16;
	}
	if (value != 0)
		add_to_word(words, measure.kind, cell, measure.kind == MEASURE_LEAST ? value | 0xFFFFFFFF00000000ul : value);
}

/* Rows of one cell are in each other's way: where there is room neighbours have copies of their own. */
void
tabulate(TallyTask task, MeasureTask measure, Elements values, uint64_t words)
{
	uint32_t	size = task.cells * measure.parts;
	uint32_t	copies = min(TALLY_TABLE / size, 32);
	uint32_t	copy = gl_LocalInvocationIndex % copies * size;

	barrier();
	for (uint32_t i = gl_LocalInvocationIndex; i < copies * size; i += TALLY_GROUP)
		table[i] = 0;
	barrier();
	for (uint32_t row = gl_LocalInvocationIndex; row < CHUNK_ROWS; row += TALLY_GROUP)
	{
		if (!is_chosen(row))
			continue;
		uint64_t	element = load_element(values, row);

		if (element != values.null)
			add_to_table(measure, copy + cell_of(row, task.digits), task.cells, measured(measure.kind, values.above + element));
	}
	barrier();
	for (uint32_t cell = gl_LocalInvocationIndex; cell < task.cells; cell += TALLY_GROUP)
		empty_cell(measure, cell, task.cells, copies, words);
}

/* ---------------------------------------------------------------- many cells */

void
scatter(TallyTask task, MeasureTask measure, Elements values, uint64_t words)
{
	for (uint32_t row = gl_LocalInvocationIndex; row < CHUNK_ROWS; row += TALLY_GROUP)
	{
		if (!is_chosen(row))
			continue;
		uint64_t	element = load_element(values, row);

		if (element != values.null)
			add_to_word(words, measure.kind, cell_of(row, task.digits), measured(measure.kind, values.above + element));
	}
}

/* ---------------------------------------------------------------- all */

void
tally(TallyTask task, MeasureTask measure, Elements values, uint64_t words)
{
	if (task.cells == 1)
		gather(measure.kind, values, words);
	else if (measure.parts > 0)
		tabulate(task, measure, values, words);
	else
		scatter(task, measure, values, words);
}

void
main()
{
	uint32_t	number = Words(tasks.tally_of).at[gl_WorkGroupID.x];
	TallyTask	task = TallyTasks(tasks.tallies).at[number];
	uint32_t	chunk = gl_WorkGroupID.x - task.first_chunk;

	if ((task.tallied[chunk / 32] >> (chunk % 32) & 1) == 0)
		return;
	choose_rows(task, chunk);
	if (gl_LocalInvocationIndex < task.digits)
	{
		DigitTask	digit = Digits(tasks.digits).at[task.first_digit + gl_LocalInvocationIndex];

		digits[gl_LocalInvocationIndex] = Digit(enter_chunk(digit.values, chunk), digit.null, digit.stride);
	}
	barrier();
	for (uint32_t i = 0; i < task.measures; i++)
	{
		MeasureTask measure = Measures(tasks.measures).at[task.first_measure + i];
		Elements	values = Elements(0, 0, 1, 0);	/* of rows, whose value does not matter */

		if (measure.kind != MEASURE_ROWS)
			values = enter_chunk(measure.values, chunk);
		tally(task, measure, values, task.words + uint64_t(i) * task.cells * 8);
	}
}
