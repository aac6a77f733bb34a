/*
 * vectors.glsl
 *		What the shaders share that make a column's sieve vectors (device/vectors.h).
 *
 * A bin's digits are high = bin / radix and low = bin % radix, which both fit 16 bits.  A row
 * that no rank names has digits above all others, so that it is in no vector.
 */
#include "common.glsl"

layout(local_size_x = VECTOR_GROUP) in;

layout(push_constant, scalar) uniform PushConstants { VectorTask task; };

#define HIGH_SHIFT	16
#define LOW_SHIFT	0
#define DIGIT_MASK	0xFFFFu
