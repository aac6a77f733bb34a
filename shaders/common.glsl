// SPDX-License-Identifier: PostgreSQL
/*
 * common.glsl
 *		Extensions, buffers and functions that all shaders share.
 */
#ifndef COMMON_GLSL
#define COMMON_GLSL
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int32 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

#include "layout.h"

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint32_t at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer Words4 { uvec4 at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Ranges { RangeTask at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Columns { ColumnTask at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Runs { RunTask at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer SieveTasks { SieveTask at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer RefineTasks { RefineTask at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer PublishTasks { PublishTask at[]; };

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Sets { SetTask at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer MembersTasks { MembersTask at[]; };

layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Doublewords { uint64_t at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Frames { FrameTask at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Digits { DigitTask at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Measures { MeasureTask at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer AggTasks { AggTask at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer CollectTasks { CollectTask at[]; };

layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Bundles { BundleTask at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Traces { TraceTask at[]; };

/* Load a code of code_bytes bytes.  Arrays are padded, so that one word more can be read. */
uint32_t
load_code(uint64_t codes, uint32_t code_bytes, uint32_t row)
{
	uint32_t	byte = row * code_bytes;
	uint32_t	shift = byte % 4 * 8;
	Words		words = Words(codes);
	uint32_t	code = words.at[byte / 4] >> shift;

	if (shift + code_bytes * 8 > 32)
		code |= words.at[byte / 4 + 1] << (32 - shift);
	return code & (0xFFFFFFFFu >> (32 - code_bytes * 8));
}

/* Load up to 64 bits, beginning at bit first.  Only words that contain some of the bits are read. */
uint64_t
load_bits(uint64_t address, uint32_t first, uint32_t bits)
{
	Words		words = Words(address);
	uint32_t	word = first / 32;
	uint32_t	last = (first + bits - 1) / 32;
	uint32_t	shift = first % 32;
	uint64_t	loaded = uint64_t(words.at[word]) | uint64_t(words.at[min(word + 1, last)]) << 32;

	return (loaded >> shift | uint64_t(words.at[last]) << 1 << (63 - shift)) & (0xFFFFFFFFFFFFFFFFul >> (64 - bits));
}

/* Test the bit of a chunk in a bitmap of a segment's chunks. */
bool
has_bit(uint32_t bits[3], uint32_t chunk)
{
	return (bits[chunk / 32] >> (chunk % 32) & 1) != 0;
}

#endif
