// SPDX-License-Identifier: PostgreSQL
/*
 * columns.glsl
 *		Load elements of a column in a chunk, four rows at a time.
 */
#include "common.glsl"

/* A column's elements in the current chunk. */
struct Elements
{
	uint64_t	words;
	uint64_t	above;
	uint64_t	null;
	uint32_t	bits;
};

Elements
enter_column(ElementsTask values, uint32_t chunk)
{
	uint64_t	bytes = CHUNK_WORDS32 * 4;

	if (values.frames == 0)
		return Elements(values.elements + uint64_t(chunk) * bytes * values.code_bits, 0, 0xFFFFFFFFFFFFFFFFul,
						values.code_bits);
	FrameTask	frame = Frames(values.frames).at[chunk];

	return Elements(values.elements + uint64_t(frame.page) * bytes, frame.above + values.shift, frame.null, frame.bits);
}

/*
 * Load an element of at most 32 bits that begins at bit number "bit".  The word of the element's last bit is always
 * read, even if it is the first word again, so that loads do not wait for a branch.  Bits of other elements are
 * shifted or masked out.
 */
uint32_t
load_narrow_element(Elements values, uint32_t bit)
{
	uint32_t	shift = bit % 32;
	uint32_t	first = Words(values.words).at[bit / 32];
	uint32_t	last = Words(values.words).at[(bit + values.bits - 1) / 32];

	return (first >> shift | last << 1 << (31 - shift)) & 0xFFFFFFFFu >> (32 - values.bits);
}

uint64_t
load_wide_element(Elements values, uint32_t bit)
{
	return load_bits(values.words, bit, values.bits);
}

/* Load the values of four rows.  Rows whose value is NULL are removed from chosen. */
uvec4
load_narrow(Elements values, uvec4 rows, inout bvec4 chosen)
{
	uvec4		bits = rows * values.bits;
	uvec4		elements = uvec4(0);

	if (values.bits > 0)
		elements = uvec4(load_narrow_element(values, bits.x), load_narrow_element(values, bits.y),
						 load_narrow_element(values, bits.z), load_narrow_element(values, bits.w));
	if (values.null <= 0xFFFFFFFFul)
		chosen = bvec4(uvec4(chosen) & uvec4(notEqual(elements, uvec4(uint32_t(values.null)))));
	return elements + uint32_t(values.above);
}

u64vec4
load_wide(Elements values, uvec4 rows, inout bvec4 chosen)
{
	uvec4		bits = rows * values.bits;
	u64vec4		elements = u64vec4(0);

	if (values.bits > 0)
		elements = u64vec4(load_wide_element(values, bits.x), load_wide_element(values, bits.y),
						   load_wide_element(values, bits.z), load_wide_element(values, bits.w));
	chosen.x = chosen.x && elements.x != values.null;
	chosen.y = chosen.y && elements.y != values.null;
	chosen.z = chosen.z && elements.z != values.null;
	chosen.w = chosen.w && elements.w != values.null;
	return elements + values.above;
}
