/* SPDX-License-Identifier: PostgreSQL */
/*
 * make_tasks.c
 *		Make the tasks of a request.
 */
#include "make_tasks.h"

#include <string.h>

#include "add_tasks.h"
#include "make_aggregate.h"
#include "make_job.h"
#include "make_region.h"

/* Most 64-bit words of all aggregates of a batch.  A single request has fewer, because of DEVICE_MAX_AGG_WORDS. */
#define MAX_AGG_WORDS	(UINT64_C(1) << 25)

/* ---------------------------------------------------------------- rows to return */

/* Return true if some chunks are only partly aggregated. */
static bool
has_masks(const EvaluateSegment *segment)
{
	uint32_t	any = 0;

	for (uint32_t i = 0; i < DEVICE_AGG_MASKS; i++)
		any |= segment->partly[i];
	return any != 0;
}

static void
add_publish(Work *work, uint32_t chunk, uint32_t groups, uint32_t alternatives)
{
	Request    *request = work->request;
	uint64_t	results = request->area->memory.address + request->results;
	uint32_t	chunks = device_chunks(work->segment->rows);
	Evaluator  *evaluator = work->evaluator;
	PublishTask task = {
		.bits = work->bits,
		.counts = results + chunk * sizeof(ChunkCount),
		.first_chunk = evaluator->publish_of.count,
		.chunks = chunks,
		.groups = groups,
		.alternatives = alternatives,
	};

	memcpy(task.aggregated, work->segment->aggregated, sizeof(task.aggregated));
	memcpy(task.partly, work->segment->partly, sizeof(task.partly));
	evaluator->takes_out |= has_masks(work->segment) || alternatives != 0;
	if (request->header->want_bits)
		task.words = results + device_bits_offset(request->chunks, request->agg_words) +
			(uint64_t) chunk * DEVICE_CHUNK_BYTES;
	tasks_add_workgroups(&evaluator->publish_of, evaluator->publish_tasks.count, chunks);
	*(PublishTask *) array_extend(&evaluator->publish_tasks, 1) = task;
}

/* ---------------------------------------------------------------- members */

/* Add a set: a row matches only if its integer is a member.  If the column is missing, the reply says which. */
static DeviceResult
add_set(Work *work, const EvaluateMembers *members)
{
	DeviceReply *reply = &work->request->reply;
	ResidentKey key = cache_column_key(&work->segment->key, members->column, members->form);
	Resident   *column = cache_find(work->evaluator->cache, &key);

	if (column == NULL)
	{
		reply->of_rows = 1;
		reply->column = members->column;
		reply->form = members->form;
		return DEVICE_MISSING;
	}
	if (column->shape.rows != work->segment->rows)
		return DEVICE_REFUSED;
	if (!work->request->header->prepare)
		*(SetTask *) array_extend(&work->evaluator->sets, 1) = (SetTask) {
			.values = cache_elements(column, members->shift),
			.words = members->words != DEVICE_NO_WORDS ?
			work->request->device_words + members->words * sizeof(uint32_t) : 0,
			.reach = members->reach,
			.null = members->null != 0,
			.slot_bits = members->slot_bits,
			.lacks = members->lacks != 0,
		};
	return DEVICE_OK;
}

/* Test the rows in work->bits for membership in all of the segment's sets. */
static DeviceResult
add_members(Work *work, const EvaluateMembers *members)
{
	Evaluator  *evaluator = work->evaluator;
	MembersTask task = {
		.bits = work->bits,
		.first_chunk = evaluator->members_of.count,
		.first_set = evaluator->sets.count,
		.sets = work->segment->members,
	};
	DeviceResult result = DEVICE_OK;

	for (uint32_t i = 0; i < work->segment->members && result == DEVICE_OK; i++)
		result = add_set(work, &members[i]);
	if (result != DEVICE_OK || work->request->header->prepare || task.sets == 0)
		return result;
	tasks_add_workgroups(&evaluator->members_of, evaluator->members_tasks.count, device_chunks(work->segment->rows));
	*(MembersTask *) array_extend(&evaluator->members_tasks, 1) = task;
	return DEVICE_OK;
}

/* ---------------------------------------------------------------- columns and aggregate */

/* Find a segment's columns on the device. */
static DeviceResult
find_columns(Work *work, const EvaluateColumn *wanted, const DeviceInterval *intervals)
{
	for (uint32_t c = 0; c < work->segment->columns; c++)
	{
		ResidentKey key = cache_column_key(&work->segment->key, wanted[c].column, COLUMN_KEY);
		Resident   *resident = cache_find(work->evaluator->cache, &key);

		work->request->reply.column = c;
		if (resident == NULL)
			return DEVICE_MISSING;
		if (resident->shape.rows != work->segment->rows)
			return DEVICE_REFUSED;
		work->columns[work->ncolumns++] = (WorkColumn) {resident, intervals, wanted[c].intervals};
		intervals += wanted[c].intervals;
	}
	return DEVICE_OK;
}

/* The current segment's positions in the arrays of the request and in the answer. */
typedef struct Place
{
	uint32_t	chunk;
	const EvaluateColumn *columns;
	const DeviceInterval *intervals;
	const EvaluateMembers *members;
	const AggDigit *digits;
	const AggMeasure *measures;
	uint64_t	agg;			/* offset of the words of the last aggregate */
	uint64_t	answer;			/* address of the next aggregate's entries in the answer */
} Place;

static uint32_t
count_intervals(const EvaluateColumn *columns, uint32_t count)
{
	uint32_t	intervals = 0;

	for (uint32_t c = 0; c < count; c++)
		intervals += columns[c].intervals;
	return intervals;
}

static void
skip_columns(Place *place, const EvaluateSegment *segment)
{
	place->intervals += count_intervals(place->columns, segment->columns);
	place->columns += segment->columns;
	place->members += segment->members;
}

/* Advance *place to the next segment. */
static void
skip_segment(Place *place, const EvaluateSegment *segment)
{
	if (segment->part == PART_FIRST)
		place->chunk += device_chunks(segment->rows);
	skip_columns(place, segment);
	place->digits += segment->digits;
	place->measures += segment->measures;
}

static AggSource
agg_source(const Work *work, Place *place, uint32_t groups)
{
	return (AggSource) {
		.segment = work->segment, .digits = place->digits, .measures = place->measures,
		.bits = work->bits, .groups = groups, .maps = work->request->device_words, .words = &place->agg,
		.answer = &place->answer};
}

/* Add a segment's aggregate, if it has one. */
static DeviceResult
add_agg_of(Work *work, Place *place, uint32_t groups)
{
	AggSource	source = agg_source(work, place, groups);

	if (work->segment->cells == 0)
		return DEVICE_OK;
	if (work->evaluator->agg[0][0] == VK_NULL_HANDLE)
		return DEVICE_UNSUPPORTED;
	return (work->request->header->prepare ? find_agg : add_agg) (work->evaluator, &source, &work->request->reply);
}

/* ---------------------------------------------------------------- jobs */

/*
 * Add an aggregate of the chunks with masks.  It runs after publish, which removes the rows of the masks from the
 * bits that the rays have set.
 */
static DeviceResult
add_rest_of_job(Work *work, Place *place)
{
	EvaluateSegment rest = *work->segment;
	AggSource	source = agg_source(work, place, 1);

	source.segment = &rest;
	rest.joins = true;
	memcpy(rest.aggregated, rest.partly, sizeof(rest.aggregated));
	return add_agg(work->evaluator, &source, &work->request->reply);
}

/*
 * Return true if the rays of a job cannot aggregate the rows that they meet, because the rows have yet to be tested
 * for members, or because digits have maps, which job.rahit does not read.
 */
static bool
is_aggregated_apart(const EvaluateSegment *segment, const AggDigit *digits)
{
	bool		apart = segment->members > 0;

	for (uint32_t i = 0; i < segment->digits; i++)
		apart |= digits[i].map != DEVICE_NO_WORDS;
	return apart;
}

/* Add a job whose rays only find the rows, which are tested and aggregated afterwards. */
static DeviceResult
add_job_of_rows(Work *work, Place *place)
{
	const EvaluateSegment *segment = work->segment;
	EvaluateSegment rows = *segment;
	AggSource	source = agg_source(work, place, 1);
	DeviceResult result;

	rows.cells = 0;
	rows.digits = rows.measures = 0;
	source.segment = work->segment = &rows;
	result = add_job(work, &source);
	work->segment = segment;
	if (result == DEVICE_OK)
		result = add_members(work, place->members);
	if (result == DEVICE_OK && !work->request->header->prepare)
		add_publish(work, place->chunk, 1, 0);
	return result == DEVICE_OK ? add_agg_of(work, place, 1) : result;
}

/* Add a segment for the executor rtcudb.  If possible, the rays of its job aggregate the rows, too. */
static DeviceResult
add_segment_as_job(Work *work, Place *place)
{
	AggSource	source = agg_source(work, place, 1);
	DeviceResult result;

	if (is_aggregated_apart(work->segment, place->digits))
		return add_job_of_rows(work, place);
	result = add_job(work, &source);
	if (result != DEVICE_OK || work->request->header->prepare)
		return result;
	add_publish(work, place->chunk, 1, 0);
	return has_masks(work->segment) ? add_rest_of_job(work, place) : DEVICE_OK;
}

/* ---------------------------------------------------------------- segments */

static DeviceResult
add_segment(Work *work, Place *place)
{
	uint32_t	groups = 1;
	DeviceResult result = find_columns(work, place->columns, place->intervals);

	if (result != DEVICE_OK)
		return result;
	/* If all rows match, there is nothing to trace rays for. */
	if (work->request->header->executor == DEVICE_RTCUDB && work->ncolumns > 0)
		return add_segment_as_job(work, place);
	if (work->request->header->executor == DEVICE_RT && work->ncolumns > 0)
		result = add_rt(work, &groups);
	else if (!work->request->header->prepare)
		result = add_compute(work);
	if (result == DEVICE_OK)
		result = add_members(work, place->members);
	if (result == DEVICE_OK && !work->request->header->prepare)
		add_publish(work, place->chunk, groups, 0);
	if (result == DEVICE_OK)
		result = add_agg_of(work, place, groups);
	return result;
}

/* ---------------------------------------------------------------- filters with alternatives */

/* Return the number of segments, from first on, that are parts of one filter. */
static uint32_t
count_parts(const Request *request, uint32_t first)
{
	uint32_t	n = 1;

	while (first + n < request->header->segments && request->segments[first + n].part != PART_FIRST)
		n++;
	return n;
}

/* Return a bit for each part that is an alternative to the one before. */
static uint32_t
find_alternatives(const EvaluateSegment *parts, uint32_t n)
{
	uint32_t	alternatives = 0;

	for (uint32_t i = 1; i < n; i++)
		alternatives |= (uint32_t) (parts[i].part == PART_OR) << i;
	return alternatives;
}

/*
 * Add the parts of a filter.  Each part is a group of its own.  Parts always use the executor compute, since rays
 * would divide a part with more than three columns into several groups.  If a part fails, *failed is its index in
 * the request.
 */
static DeviceResult
add_filter(Request *request, Evaluator *evaluator, uint32_t first, uint32_t n, Place *place, uint32_t *failed)
{
	Work		whole = {.evaluator = evaluator, .request = request, .segment = &request->segments[first]};
	uint32_t	alternatives = find_alternatives(&request->segments[first], n);
	Place		of_part = *place;

	whole.bits = (uint64_t) evaluator->sieve_of.count * DEVICE_CHUNK_BYTES;
	for (uint32_t i = 0; i < n; i++)
	{
		Work		part = {.evaluator = evaluator, .request = request, .segment = &request->segments[first + i]};
		DeviceResult result = find_columns(&part, of_part.columns, of_part.intervals);

		*failed = first + i;
		if (result == DEVICE_OK && !request->header->prepare)
			result = add_compute(&part);
		if (result == DEVICE_OK)
			result = add_members(&part, of_part.members);
		if (result != DEVICE_OK)
			return result;
		skip_columns(&of_part, part.segment);
	}
	*failed = first;
	if (!request->header->prepare)
		add_publish(&whole, place->chunk, n, alternatives);
	return add_agg_of(&whole, place, alternatives != 0 ? 1 : n);
}

/* ---------------------------------------------------------------- the request */

static bool
fits_submission(const Evaluator *evaluator)
{
	return evaluator->sieve_of.count <= MAX_WORKGROUPS && evaluator->refine_of.count <= MAX_WORKGROUPS &&
		evaluator->publish_of.count <= MAX_WORKGROUPS && evaluator->members_of.count <= MAX_WORKGROUPS &&
		evaluator->agg_of.count <= MAX_WORKGROUPS &&
		evaluator->collect_of.count <= MAX_WORKGROUPS && evaluator->agg_words <= MAX_AGG_WORDS &&
		(evaluator->trace_tasks.count == 0 ||
		 raytrace_fits(&evaluator->raytracer, evaluator->largest_trace, evaluator->trace_tasks.count)) &&
		(evaluator->job_tasks.count == 0 ||
		 raytrace_fits(&evaluator->job_raytracer, evaluator->largest_job, evaluator->job_tasks.count));
}

/* Reserve room in the batch for the words of a request's sets and maps. */
static void
place_words(Evaluator *evaluator, Request *request)
{
	if (evaluator->words_size == 0)
		evaluator->words_size = WORDS_ALIGNMENT;
	request->device_words = evaluator->words_size;
	evaluator->words_size += device_align(request->header->words * sizeof(uint32_t), WORDS_ALIGNMENT);
}

/*
 * Return how many BVHs this batch may build for a request; 0 if the request's "build" is not set.  Normally a batch
 * builds one BVH, so that other requests do not wait for more than one build.  If more BVHs have been built for a
 * request than it has segments and columns, some of them have been evicted again.  Then the request may build all
 * missing BVHs at once.
 */
static uint32_t
allowed_builds(const Evaluator *evaluator, const Request *request)
{
	if (!request->header->build)
		return 0;
	if (request->built > request->header->segments + request->header->columns)
		return UINT32_MAX;
	return evaluator->bvhs.builds == evaluator->built_before;
}

static DeviceResult
make_segments(Evaluator *evaluator, Request *request)
{
	Place		place = {
		.columns = request->columns, .intervals = request->intervals, .members = request->members,
		.digits = request->digits, .measures = request->measures,
		.answer = request->area->memory.address + request->results + device_aggs_offset(request->chunks)};

	place_words(evaluator, request);
	for (uint32_t s = 0, parts; s < request->header->segments; s += parts)
	{
		Work		work = {.evaluator = evaluator, .request = request, .segment = &request->segments[s]};
		uint32_t	failed = s;
		DeviceResult result;

		parts = count_parts(request, s);
		result = parts > 1 ? add_filter(request, evaluator, s, parts, &place, &failed) : add_segment(&work, &place);
		if (result != DEVICE_OK)
		{
			request->reply.segment = failed;
			return result;
		}
		for (uint32_t i = 0; i < parts; i++)
			skip_segment(&place, &request->segments[s + i]);
	}
	return fits_submission(evaluator) ? DEVICE_OK : DEVICE_TOO_COMPLEX;
}

DeviceResult
make_tasks(Evaluator *evaluator, Request *request)
{
	uint64_t	built = evaluator->bvhs.builds;
	DeviceResult result;

	evaluator->bvhs.allowed = allowed_builds(evaluator, request);
	result = make_segments(evaluator, request);
	request->built += evaluator->bvhs.builds - built;
	return result == DEVICE_NOT_BUILT && request->header->build ? REQUEST_WAITS : result;
}
