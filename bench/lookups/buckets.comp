// SPDX-License-Identifier: PostgreSQL
/*
 * buckets.comp
 *		Write the triangles of each bucket of sorted entries.
 *
 * A bucket has a triangle at its last key.  It has a second one, a mark, at x = -1 if it is the first bucket that
 * ends in its row (keys that differ only in x), and a third one at x = y = -1 if it is the first that ends in its
 * plane (keys with the same z).  Marks follow the buckets' triangles, in any order.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "build.glsl"

uint64_t
last_key(uint32_t bucket)
{
	return load_key(task.keys, min((bucket + 1) * task.slots, task.entries) - 1);
}

void
add_mark(uint32_t buckets, uint32_t bucket, vec3 place)
{
	uint32_t	number = atomicAdd(Words(task.marks).at[0], 1);

	Words(task.marks).at[1 + number] = bucket;
	store_triangle(buckets + number, place);
}

void
main()
{
	uint32_t	bucket = gl_GlobalInvocationID.x;
	uint32_t	buckets = (task.entries + task.slots - 1) / task.slots;

	if (bucket >= buckets)
		return;
	uint64_t	key = last_key(bucket);
	uint64_t	before = bucket == 0 ? 0 : last_key(bucket - 1);
	vec3		place = vec3(place_of(key, task.x_bits, task.y_bits));

	store_triangle(bucket, place);
	if (bucket == 0 || key >> task.x_bits != before >> task.x_bits)
		add_mark(buckets, bucket, vec3(-1.0, place.yz));
	if (bucket == 0 || key >> (task.x_bits + task.y_bits) != before >> (task.x_bits + task.y_bits))
		add_mark(buckets, bucket, vec3(-1.0, -1.0, place.z));
}
