/* SPDX-License-Identifier: PostgreSQL */
/*
 * layout_test.c
 *		Test that the compiled shaders agree with C on the structures of ../../shaders/layout.h, and require no
 *		more than ../limits.h says.
 *
 * Shaders are compiled with the names of structures and members, so that their offsets can be read from the code.
 */
#include "../tasks.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Make the shaders' arrays static, since the program's objects define the same arrays. */
#define const static const
#include "aggregate.h"
#include "bvh_boxes.h"
#include "bvh_keys.h"
#include "bvh_order.h"
#include "bvh_ranks.h"
#include "collect.h"
#include "job_rahit.h"
#include "members.h"
#include "publish.h"
#include "refine.h"
#include "sieve.h"
#include "sort_count.h"
#include "sort_join.h"
#include "sort_scan.h"
#include "sort_scatter.h"
#include "sort_split.h"
#include "space_keys.h"
#include "space_triangles.h"
#include "trace_rgen.h"
#include "trace_rint.h"
#include "trace_rmiss.h"
#include "vectors_bits.h"
#include "vectors_digits.h"
#undef const

#include "../context.h"

/* SPIR-V instructions and decorations. */
#define OP_NAME					5
#define OP_MEMBER_NAME			6
#define OP_EXECUTION_MODE		16
#define OP_CAPABILITY			17
#define OP_TYPE_RUNTIME_ARRAY	29
#define OP_DECORATE				71
#define OP_MEMBER_DECORATE		72
#define HEADER_WORDS			5
#define ARRAY_STRIDE			6
#define OFFSET					35
#define LOCAL_SIZE				17

#define MAX_IDS		8192
#define MAX_MEMBERS	32

typedef struct Module
{
	const char *name;
	const uint32_t *words;
	size_t		count;
} Module;

#define MODULE(name)	{#name, name##_spirv, sizeof(name##_spirv) / sizeof(uint32_t)}

static const Module modules[] = {
	MODULE(bvh_boxes),
	MODULE(bvh_keys),
	MODULE(bvh_order),
	MODULE(bvh_ranks),
	MODULE(collect),
	MODULE(job_rahit),
	MODULE(members),
	MODULE(publish),
	MODULE(refine),
	MODULE(sieve),
	MODULE(sort_count),
	MODULE(sort_join),
	MODULE(sort_scan),
	MODULE(sort_scatter),
	MODULE(sort_split),
	MODULE(space_keys),
	MODULE(space_triangles),
	MODULE(aggregate),
	MODULE(trace_rgen),
	MODULE(trace_rint),
	MODULE(trace_rmiss),
	MODULE(vectors_bits),
	MODULE(vectors_digits),
};

typedef struct Member
{
	const char *structure;
	const char *name;
	uint32_t	offset;
	uint32_t	size;			/* bytes of the structure */
} Member;

#define MEMBER(structure, member)	{#structure, #member, offsetof(struct structure, member), sizeof(struct structure)}

static const Member members[] = {
	MEMBER(RangeTask, first), MEMBER(RangeTask, end),
	MEMBER(RunTask, pages), MEMBER(RunTask, sieve), MEMBER(RunTask, bins), MEMBER(RunTask, radix),
	MEMBER(RunTask, first), MEMBER(RunTask, end), MEMBER(RunTask, last), MEMBER(RunTask, unused),
	MEMBER(SieveTask, bits), MEMBER(SieveTask, first_chunk), MEMBER(SieveTask, chunks), MEMBER(SieveTask, rows),
	MEMBER(SieveTask, first_run), MEMBER(SieveTask, runs), MEMBER(SieveTask, unused),
	MEMBER(ColumnTask, codes), MEMBER(ColumnTask, code_bytes), MEMBER(ColumnTask, first_interval),
	MEMBER(ColumnTask, intervals), MEMBER(ColumnTask, field),
	MEMBER(RefineTask, order), MEMBER(RefineTask, bits), MEMBER(RefineTask, first), MEMBER(RefineTask, end),
	MEMBER(RefineTask, rows), MEMBER(RefineTask, first_block),
	MEMBER(PublishTask, bits), MEMBER(PublishTask, counts), MEMBER(PublishTask, words),
	MEMBER(PublishTask, first_chunk), MEMBER(PublishTask, chunks), MEMBER(PublishTask, groups),
	MEMBER(PublishTask, aggregated), MEMBER(PublishTask, partly), MEMBER(PublishTask, alternatives),
	MEMBER(FrameTask, above), MEMBER(FrameTask, null), MEMBER(FrameTask, page), MEMBER(FrameTask, bits),
	MEMBER(ElementsTask, frames), MEMBER(ElementsTask, elements), MEMBER(ElementsTask, shift),
	MEMBER(ElementsTask, code_bits), MEMBER(ElementsTask, field),
	MEMBER(SetTask, values), MEMBER(SetTask, words), MEMBER(SetTask, reach), MEMBER(SetTask, null),
	MEMBER(SetTask, slot_bits), MEMBER(SetTask, lacks), MEMBER(SetTask, unused),
	MEMBER(MembersTask, bits), MEMBER(MembersTask, first_chunk), MEMBER(MembersTask, first_set),
	MEMBER(MembersTask, sets), MEMBER(MembersTask, unused),
	MEMBER(DigitTask, values), MEMBER(DigitTask, stride), MEMBER(DigitTask, map), MEMBER(DigitTask, reach),
	MEMBER(DigitTask, map_bits), MEMBER(DigitTask, slot_bits), MEMBER(DigitTask, null), MEMBER(DigitTask, dropped),
	MEMBER(DigitTask, wide), MEMBER(DigitTask, unused),
	MEMBER(MeasureTask, values), MEMBER(MeasureTask, kind), MEMBER(MeasureTask, tables),
	MEMBER(AggTask, bits), MEMBER(AggTask, words), MEMBER(AggTask, first_group), MEMBER(AggTask, span),
	MEMBER(AggTask, chunks), MEMBER(AggTask, groups), MEMBER(AggTask, rows), MEMBER(AggTask, way),
	MEMBER(AggTask, wide), MEMBER(AggTask, slots), MEMBER(AggTask, first_digit), MEMBER(AggTask, digits),
	MEMBER(AggTask, first_measure), MEMBER(AggTask, measures), MEMBER(AggTask, aggregated),
	MEMBER(AggTask, unused),
	MEMBER(CollectTask, words), MEMBER(CollectTask, answer), MEMBER(CollectTask, first_group),
	MEMBER(CollectTask, slots), MEMBER(CollectTask, measures), MEMBER(CollectTask, hashed),
	MEMBER(CollectTask, entries), MEMBER(CollectTask, unused),
	MEMBER(BundleTask, origin), MEMBER(BundleTask, stride), MEMBER(BundleTask, count), MEMBER(BundleTask, axis),
	MEMBER(BundleTask, reach), MEMBER(BundleTask, first_ray),
	MEMBER(TraceTask, structure), MEMBER(TraceTask, kept), MEMBER(TraceTask, bits), MEMBER(TraceTask, first_bundle),
	MEMBER(TraceTask, bundles), MEMBER(TraceTask, rays), MEMBER(TraceTask, first_column), MEMBER(TraceTask, columns),
	MEMBER(TraceTask, rows), MEMBER(TraceTask, agg), MEMBER(TraceTask, record_words),
	MEMBER(Tasks, base), MEMBER(Tasks, ranges), MEMBER(Tasks, runs), MEMBER(Tasks, columns), MEMBER(Tasks, sieve),
	MEMBER(Tasks, refine), MEMBER(Tasks, publish), MEMBER(Tasks, bundles), MEMBER(Tasks, traces),
	MEMBER(Tasks, sieve_of), MEMBER(Tasks, refine_of), MEMBER(Tasks, publish_of), MEMBER(Tasks, digits),
	MEMBER(Tasks, measures), MEMBER(Tasks, aggs), MEMBER(Tasks, agg_of), MEMBER(Tasks, collects),
	MEMBER(Tasks, collect_of), MEMBER(Tasks, sets), MEMBER(Tasks, members), MEMBER(Tasks, members_of),
	MEMBER(BvhTask, codes), MEMBER(BvhTask, keys), MEMBER(BvhTask, values), MEMBER(BvhTask, ranks),
	MEMBER(BvhTask, boxes), MEMBER(BvhTask, primitives), MEMBER(BvhTask, rows), MEMBER(BvhTask, code_bytes),
	MEMBER(BvhTask, column), MEMBER(BvhTask, columns), MEMBER(BvhTask, half_width), MEMBER(BvhTask, shift),
	MEMBER(AttributeTask, values), MEMBER(AttributeTask, axis), MEMBER(AttributeTask, shift),
	MEMBER(AttributeTask, slots), MEMBER(AttributeTask, stride),
	MEMBER(SpaceTask, attributes), MEMBER(SpaceTask, keys), MEMBER(SpaceTask, values), MEMBER(SpaceTask, triangles),
	MEMBER(SpaceTask, records), MEMBER(SpaceTask, rows), MEMBER(SpaceTask, count), MEMBER(SpaceTask, places),
	MEMBER(SpaceTask, record_words), MEMBER(SpaceTask, scan_bits), MEMBER(SpaceTask, leg),
	MEMBER(SortPass, keys), MEMBER(SortPass, values), MEMBER(SortPass, sorted_keys), MEMBER(SortPass, sorted_values),
	MEMBER(SortPass, counts), MEMBER(SortPass, totals), MEMBER(SortPass, n), MEMBER(SortPass, blocks),
	MEMBER(SortPass, first_bit), MEMBER(SortPass, digit_mask),
	MEMBER(PairTask, pairs), MEMBER(PairTask, keys), MEMBER(PairTask, values), MEMBER(PairTask, n),
	MEMBER(PairTask, unused),
	MEMBER(VectorTask, boundaries), MEMBER(VectorTask, order), MEMBER(VectorTask, digits), MEMBER(VectorTask, bits),
	MEMBER(VectorTask, rows), MEMBER(VectorTask, bins), MEMBER(VectorTask, radix), MEMBER(VectorTask, high_vectors),
	MEMBER(VectorTask, low_vectors), MEMBER(VectorTask, words),
};

#define MEMBERS	(sizeof(members) / sizeof(members[0]))

/*
 * The capabilities that shaders may declare: Shader, Int64, Int64Atomics, PhysicalStorageBufferAddresses,
 * RayTracingKHR.  The program requires no others of a device.
 */
static const uint32_t capabilities[] = {1, 11, 12, 5347, 4479};

static const char *names[MAX_IDS];
static const char *member_names[MAX_IDS][MAX_MEMBERS];
static uint32_t strides[MAX_IDS];
static bool seen[MEMBERS];
static unsigned long ncases = 0;

static const Member *
find_member(const char *structure, const char *name)
{
	for (size_t i = 0; i < MEMBERS; i++)
		if (strcmp(members[i].structure, structure) == 0 && strcmp(members[i].name, name) == 0)
			return &members[i];
	return NULL;
}

static bool
is_ours(const char *structure)
{
	for (size_t i = 0; i < MEMBERS; i++)
		if (structure && strcmp(members[i].structure, structure) == 0)
			return true;
	return false;
}

/* Check the offset of a member in a shader. */
static void
check_offset(const Module *module, const char *structure, const char *name, uint32_t offset)
{
	const Member *member;

	if (!is_ours(structure))
		return;
	member = name ? find_member(structure, name) : NULL;
	if (member == NULL || member->offset != offset)
		fail("%s: %s.%s is at %u", module->name, structure, name ? name : "?", offset);
	seen[member - members] = true;
	ncases++;
}

/* Check the size of a structure by the stride of its arrays in a shader. */
static void
check_stride(const Module *module, const char *structure, uint32_t stride)
{
	for (size_t i = 0; i < MEMBERS; i++)
		if (structure && strcmp(members[i].structure, structure) == 0)
		{
			if (stride != members[i].size)
				fail("%s: elements %s have %u bytes", module->name, structure, stride);
			ncases++;
			return;
		}
}

static void
check_capability(const Module *module, uint32_t capability)
{
	for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++)
		if (capabilities[i] == capability)
			return;
	fail("%s needs capability %u", module->name, capability);
}

static uint32_t
id(uint32_t word)
{
	if (word >= MAX_IDS)
		fail("more than %u names", MAX_IDS);
	return word;
}

static void
take_instruction(const Module *module, const uint32_t *words)
{
	switch (words[0] & 0xFFFF)
	{
		case OP_CAPABILITY:
			check_capability(module, words[1]);
			break;
		case OP_EXECUTION_MODE:
			if (words[2] == LOCAL_SIZE && words[3] * words[4] * words[5] > 512)
				fail("%s has workgroups of %u threads", module->name, words[3] * words[4] * words[5]);
			break;
		case OP_NAME:
			names[id(words[1])] = (const char *) &words[2];
			break;
		case OP_MEMBER_NAME:
			if (words[2] < MAX_MEMBERS)
				member_names[id(words[1])][words[2]] = (const char *) &words[3];
			break;
		case OP_DECORATE:
			if (words[2] == ARRAY_STRIDE)
				strides[id(words[1])] = words[3];
			break;
		case OP_MEMBER_DECORATE:
			if (words[3] == OFFSET && words[2] < MAX_MEMBERS)
				check_offset(module, names[id(words[1])], member_names[words[1]][words[2]], words[4]);
			break;
		case OP_TYPE_RUNTIME_ARRAY:
			check_stride(module, names[id(words[2])], strides[id(words[1])]);
			break;
	}
}

static void
check_module(const Module *module)
{
	memset(names, 0, sizeof(names));
	memset(member_names, 0, sizeof(member_names));
	memset(strides, 0, sizeof(strides));
	for (size_t place = HEADER_WORDS; place < module->count; place += module->words[place] >> 16)
		take_instruction(module, module->words + place);
}

int
main(void)
{
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		check_module(&modules[i]);
	for (size_t i = 0; i < MEMBERS; i++)
		if (!seen[i])
			fail("%s.%s is in no shader", members[i].structure, members[i].name);
	printf("ok %lu cases\n", ncases);
	return EXIT_SUCCESS;
}
