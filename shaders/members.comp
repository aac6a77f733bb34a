/*
 * members.comp
 *		Clear the bits of rows whose integers are not in some sets: conditions on columns that have no order here, or with very
 *		many values, as a dimension's keys.
 *
 * Neighbouring threads have neighbouring rows, as in tally.comp.  A chunk's bits are in the workgroup's memory meanwhile.
 */
#version 460
#extension GL_GOOGLE_include_directive : require
#include "columns.glsl"

layout(push_constant, scalar) uniform PushConstants { Tasks tasks; };

layout(local_size_x = MEMBERS_GROUP) in;

shared uint32_t left[CHUNK_WORDS32];

bool
is_left(uint32_t row, uint32_t rows)
{
	return row < rows && (left[row / 32] >> row % 32 & 1) != 0;
}

bool
is_member(SetTask set, bool known, uint64_t place)
{
	if (!known)
		return set.null != 0;
	if (place > set.reach)
		return false;
	return set.words == 0 || (Words(set.words).at[uint32_t(place / 32)] >> uint32_t(place % 32) & 1) != 0;
}

/* Four rows, whose elements are on their way together. */
void
test_rows(SetTask set, Elements values, uvec4 rows, bvec4 asked)
{
	bvec4		known = bvec4(true);
	u64vec4		places = load_wide(values, rows, known);

	for (uint32_t k = 0; k < 4; k++)
		if (asked[k] && !is_member(set, known[k], places[k]))
			atomicAnd(left[rows[k] / 32], ~(1u << rows[k] % 32));
}

void
test_chunk(SetTask set, uint32_t chunk, uint32_t rows)
{
	Elements	values = enter_column(set.values, chunk);

	for (uint32_t first = gl_LocalInvocationIndex; first < rows; first += 4 * MEMBERS_GROUP)
	{
		uvec4		at_hand = first + uvec4(0, 1, 2, 3) * MEMBERS_GROUP;
		bvec4		asked = bvec4(is_left(at_hand.x, rows), is_left(at_hand.y, rows), is_left(at_hand.z, rows), is_left(at_hand.w, rows));

		if (any(asked))
			test_rows(set, values, min(at_hand, uvec4(rows - 1)), asked);
	}
}

void
main()
{
	uint32_t	number = Words(tasks.members_of).at[gl_WorkGroupID.x];
	MembersTask task = MembersTasks(tasks.members).at[number];
	uint32_t	chunk = gl_WorkGroupID.x - task.first_chunk;
	Words		bits = Words(task.bits + uint64_t(chunk) * (CHUNK_WORDS32 * 4));

	for (uint32_t i = gl_LocalInvocationIndex; i < CHUNK_WORDS32; i += MEMBERS_GROUP)
		left[i] = bits.at[i];
	for (uint32_t i = 0; i < task.sets; i++)
	{
		barrier();
		test_chunk(Sets(tasks.sets).at[task.first_set + i], chunk, min(task.rows - chunk * CHUNK_ROWS, CHUNK_ROWS));
	}
	barrier();
	for (uint32_t i = gl_LocalInvocationIndex; i < CHUNK_WORDS32; i += MEMBERS_GROUP)
		bits.at[i] = left[i];
}
