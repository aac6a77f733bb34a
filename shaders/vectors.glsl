// SPDX-License-Identifier: PostgreSQL
/*
 * vectors.glsl
 *		Declarations shared by the shaders that make a column's sieve vectors (device/vectors.h).
 *
 * A bin's digits are high = bin / radix and low = bin % radix; both fit in 16 bits.  A row without a rank has
 * digits greater than all others, so that it is in no vector.
 */
#include "common.glsl"

layout(local_size_x = VECTOR_GROUP) in;

layout(push_constant, scalar) uniform PushConstants { VectorTask task; };

#define HIGH_SHIFT	16
#define LOW_SHIFT	0
#define DIGIT_MASK	0xFFFFu
