// SPDX-License-Identifier: PostgreSQL
/*
 * elements.glsl
 *		Load elements of a single row, from its record or from the column.
 */
#include "common.glsl"

/*
 * Load a row's code or value from its column.  A value is the distance from the segment's least value, without
 * shift.
 */
uint64_t
load_element(ElementsTask values, uint32_t row, out bool null)
{
	uint64_t	page = CHUNK_WORDS32 * 4;

	null = false;
	if (values.frames == 0)
		return values.code_bits == 0 ? row : load_code(values.elements, values.code_bits / 8, row);
	FrameTask	frame = Frames(values.frames).at[row / CHUNK_ROWS];
	uint64_t	element = 0;

	if (frame.bits > 0)
		element = load_bits(values.elements + frame.page * page, row % CHUNK_ROWS * frame.bits, frame.bits);
	null = element == frame.null;
	return frame.above + element;
}

/* Return the number that represents NULL among the values with "bits" bits in records. */
uint64_t
null_of(uint32_t bits)
{
	return 0xFFFFFFFFFFFFFFFFul >> (64 - bits);
}

/* Load a row's code or value from its record, or from the column if the record does not have it. */
uint64_t
load_attribute(uint64_t record, uint32_t row, ElementsTask values, out bool null)
{
	uint32_t	bits = values.field & 0xFF;

	if (bits == 0)
		return load_element(values, row, null);
	uint64_t	value = load_bits(record, values.field >> 8, bits);

	null = values.frames != 0 && value == null_of(bits);
	return value;
}
