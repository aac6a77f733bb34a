// SPDX-License-Identifier: PostgreSQL
/*
 * space_triangles.comp
 *		Write the triangle and the record of each row, in the order of the rows' keys.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "space.glsl"

void
write_triangle(uint32_t primitive, vec3 corner)
{
	Floats		triangle = Floats(task.triangles + uint64_t(primitive) * 36);

	for (uint32_t vertex = 0; vertex < 3; vertex++)
		for (uint32_t axis = 0; axis < 3; axis++)
			triangle.at[vertex * 3 + axis] = corner[axis] + (vertex == axis + 1 ? task.leg : 0.0);
}

/* Store a value in a record, from bit "first" on.  The bits must be 0 before. */
void
add_bits(inout uint32_t words[SPACE_WORDS], uint32_t first, uint64_t value)
{
	uint32_t	word = first / 32;
	uint32_t	shift = first % 32;
	uint64_t	lower = value << shift;
	uint64_t	upper = shift > 0 ? value >> (64 - shift) : 0;

	words[word] |= uint32_t(lower);
	if (lower >> 32 != 0)
		words[word + 1] |= uint32_t(lower >> 32);
	if (upper != 0)
		words[word + 2] |= uint32_t(upper);
}

void
write_record(uint32_t primitive, uint32_t row)
{
	Words		record = Words(task.records + uint64_t(primitive) * task.record_words * 4);
	uint32_t	words[SPACE_WORDS];

	for (uint32_t i = 0; i < SPACE_WORDS; i++)
		words[i] = i == 0 ? row : 0;
	for (uint32_t i = 0; i < task.count; i++)
	{
		ElementsTask values = Attributes(task.attributes).at[i].values;
		uint32_t	bits = values.field & 0xFF;
		bool		null;
		uint64_t	value;

		if (bits == 0)
			continue;
		value = load_element(values, row, null);
		add_bits(words, values.field >> 8, null ? null_of(bits) : min(value, null_of(bits)));
	}
	for (uint32_t i = 0; i < task.record_words; i++)
		record.at[i] = words[i];
}

void
main()
{
	uint32_t	primitive = gl_GlobalInvocationID.x;
	uint32_t	row;

	if (primitive >= task.rows)
		return;
	row = Words(task.values).at[primitive];
	write_triangle(primitive, vec3(coordinates_of(row)));
	write_record(primitive, row);
}
