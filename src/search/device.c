/*
 * device.c
 *		The executors compute and rt: have the device programs evaluate a round.
 *
 * Each device is asked for the segments that have their place on it; all of them work at the same time.
 */
#include "search/executor.h"

#include "device/device.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "search/device_tally.h"
#include "utils/memutils.h"

/* A column that an index scan needs may be missing as often as there are such; then something is wrong. */
#define MAX_UPLOADS(columns)	(2 * (columns) + 8)

/* What the CPU takes for a byte of values that a tally is made of, in nanoseconds, at least. */
#define CPU_BYTE	0.25

#define LOST		"The connection to the device program was lost."
#define NOT_THERE	"The device program asks for a column that there is not."

/* Segments of less than a chunk have no sieve, and are not worth the way. */
static bool
can(const RtscanSegmentScan *scan)
{
	return scan->nregions > 0 && scan->reader.segment->header.rows >= RTSCAN_CHUNK_ROWS;
}

/* All columns of a segment's regions. */
static Bitmapset *
columns_of(const RtscanSegmentScan *scan)
{
	Bitmapset  *columns = NULL;

	for (int i = 0; i < scan->nregions; i++)
		for (int c = 0; c < scan->regions[i]->ncolumns; c++)
			columns = bms_add_member(columns, scan->regions[i]->columns[c].column);
	return columns;
}

/* Somebody must be there who can be told that there is nobody. */
static int
devices(void)
{
	int			n = rtscan_devices();

	return Max(n, 1);
}

/* Of a segment that is open. */
static int
device_of(const RtscanSegmentScan *scan)
{
	return rtscan_device_of_segment(scan->reader.index, scan->entry->id);
}

/* Bytes that columns of a segment's regions take on its device. */
static uint64
size_of(const RtscanSegmentScan *scan)
{
	Bitmapset  *columns = columns_of(scan);
	int			column = -1;
	uint64		bytes = 0;

	while ((column = bms_next_member(columns, column)) >= 0)
		bytes += rtscan_device_column_size(scan->reader.segment, column, false);
	bms_free(columns);
	return bytes;
}

/* Nothing is limited as long as there is nothing to talk to.  What does not fit into a device's part of a round is not reckoned with. */
static bool
fits(const RtscanSegmentScan *scans, int nscans)
{
	uint64		bytes[RTSCAN_MAX_DEVICES] = {0};

	for (int i = 0; i < nscans; i++)
		if (can(&scans[i]))
			bytes[device_of(&scans[i])] += size_of(&scans[i]);
	for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
		if (bytes[device] > 0 && rtscan_device_area(device, 1) != NULL && bytes[device] > rtscan_device_memory_limit(device))
			return false;
	return true;
}

static DeviceExecutor
device_executor(RtscanExecutor executor)
{
	return executor == RTSCAN_EXECUTOR_RT ? DEVICE_RT : DEVICE_COMPUTE;
}

static double
estimate_chunks(int device, RtscanExecutor executor, uint32 chunks)
{
	RtscanDeviceSpeed speed = rtscan_device_speed(device, device_executor(executor));

	return speed.request + chunks * speed.chunk;
}

/* All devices work at the same time, and the CPU after them, for those that are not there. */
static double
estimate(RtscanExecutor executor, const RtscanSegmentScan *scans, int nscans)
{
	uint32		chunks[RTSCAN_MAX_DEVICES] = {0};
	double		longest = 0,
				of_cpu = 0;

	for (int i = 0; i < nscans; i++)
	{
		int			device;

		if (!can(&scans[i]))
			continue;
		device = device_of(&scans[i]);
		if (rtscan_device_is_ready(device))
			chunks[device] += scans[i].reader.segment->chunks * scans[i].nregions;
		else
			of_cpu += rtscan_cpu_methods.estimate(RTSCAN_EXECUTOR_CPU, &scans[i], 1);
	}
	for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
		if (chunks[device] > 0)
			longest = Max(longest, estimate_chunks(device, executor, chunks[device]));
	return longest + of_cpu;
}

static void
pass_over(RtscanExecutor executor, const RtscanSegmentScan *scans, int nscans)
{
	Bitmapset  *passed = NULL;
	int			device = -1;

	for (int i = 0; i < nscans; i++)
		if (can(&scans[i]))
			passed = bms_add_member(passed, device_of(&scans[i]));
	while ((device = bms_next_member(passed, device)) >= 0)
		rtscan_forget_device_speed(device, device_executor(executor));
	bms_free(passed);
}

/* A region that is asked for. */
typedef struct Entry
{
	RtscanSegmentScan *scan;
	RtscanRegion *region;
	RtscanTally *tally;			/* that is to be made, or NULL */
	bool		joins;			/* with the last one before */
} Entry;

StaticAssertDecl(RTSCAN_ROUND_REGIONS <= DEVICE_MAX_SEGMENTS, "a request may name a segment several times");

/* A device's part of a round, and what is asked for. */
typedef struct Round
{
	int			device;
	RtscanExecutor executor;
	Relation	index;
	const pg_uuid_t *uuid;
	int			nentries;
	Entry		entries[RTSCAN_ROUND_REGIONS];
	EvaluateHeader header;
	uint32		chunks;
	uint64		tally_words;
	Size		body_size;
	char	   *area;
	DeviceRequest request;
	bool		wanted;			/* there are entries, and there is whom to ask */
	bool		asked;			/* and there is no reply yet */
	bool		connected;		/* from before */
	instr_time	start;			/* when it was asked */
	DeviceReply reply;
	const char *why;			/* there is no answer, or NULL */
} Round;

/* All parts of a round: as many as there are devices. */
typedef struct Parts
{
	int			n;
	Round	   *items;
} Parts;

/* Has an earlier round tallied rows of the segment, and only the others are to be found? */
static bool
made_before(const RtscanSegmentScan *scan)
{
	return scan->tally && scan->tally->made;
}

/* What combines regions, and dead rows, are taken out of bits, not of counts. */
static bool
wants_bits(const Entry *entry)
{
	const RtscanSegmentScan *scan = entry->scan;

	if ((entry->tally || made_before(scan)) && rtscan_tallies_all(scan->tally, scan->reader.segment))
		return false;
	return scan->want_bits || scan->filter.nincluded > 0 || scan->filter.ndisjunctions > 0 || scan->entry->dead != InvalidBlockNumber;
}

/* Only a segment's own rows can be tallied, not those of a part of its filter. */
static RtscanTally *
tally_of(const Round *round, const RtscanSegmentScan *scan)
{
	if (scan->tally == NULL || made_before(scan) || scan->nregions > 1 || scan->filter.nincluded > 0 || scan->filter.ndisjunctions > 0 ||
		(!(scan->tally->joins && round->tally_words > 0) &&
		 round->tally_words + rtscan_tally_words(scan->tally) > DEVICE_MAX_TALLY_WORDS))
		return NULL;
	return scan->tally;
}

static void
add_entry(Round *round, RtscanSegmentScan *scan, RtscanRegion *region)
{
	RtscanTally *tally = tally_of(round, scan);

	round->entries[round->nentries++] = (Entry) {scan, region, tally, tally && tally->joins && round->tally_words > 0};
	round->chunks += scan->reader.segment->chunks;
	round->header.columns += region->ncolumns;
	for (int c = 0; c < region->ncolumns; c++)
		round->header.intervals += region->columns[c].intervals.n;
	if (tally)
	{
		round->header.digits += tally->ndigits;
		round->header.measures += tally->nmeasures;
		if (!round->entries[round->nentries - 1].joins)
			round->tally_words += rtscan_tally_words(tally);
	}
}

/* What the entries take, now that they are known. */
static void
size_round(Round *round)
{
	round->header.segments = round->nentries;
	round->header.want_bits = false;
	for (int i = 0; i < round->nentries; i++)
		round->header.want_bits |= wants_bits(&round->entries[i]);
	round->body_size = sizeof(EvaluateHeader) + round->nentries * sizeof(EvaluateSegment) +
		round->header.columns * sizeof(EvaluateColumn) + (Size) round->header.intervals * sizeof(DeviceInterval) +
		round->header.digits * sizeof(TallyDigit) + round->header.measures * sizeof(TallyMeasure);
}

/* A search by "auto" does without a device that is not there, which is no failure. */
static bool
is_wanted(const Round *round)
{
	return round->nentries > 0 &&
		(round->header.prepare || rtscan_executor != RTSCAN_EXECUTOR_AUTO || rtscan_device_is_ready(round->device));
}

/* A device's part or, if that is full, another one: every device can evaluate every segment.  NULL: there is none. */
static Round *
part_with_room(const Parts *parts, int device)
{
	for (int i = 0; i < parts->n; i++)
	{
		Round	   *part = &parts->items[(device + i) % parts->n];

		if (part->nentries < RTSCAN_ROUND_REGIONS && (i == 0 || rtscan_device_is_ready(part->device)))
			return part;
	}
	return NULL;
}

/* Divide a round among the devices. */
static Parts
collect_parts(const Round *round, RtscanSegmentScan *scans, int nscans)
{
	Parts		parts = {.n = devices()};

	parts.items = palloc0(parts.n * sizeof(Round));
	for (int device = 0; device < parts.n; device++)
	{
		parts.items[device] = *round;
		parts.items[device].device = device;
		parts.items[device].header.executor = device_executor(round->executor);
	}
	for (int i = 0; i < nscans; i++)
		if (can(&scans[i]))
			for (int r = 0; r < Min(scans[i].nregions, RTSCAN_ROUND_REGIONS); r++)
			{
				Round	   *part = part_with_room(&parts, device_of(&scans[i]) % parts.n);

				if (part)
					add_entry(part, &scans[i], scans[i].regions[r]);
			}
	for (int device = 0; device < parts.n; device++)
	{
		size_round(&parts.items[device]);
		parts.items[device].wanted = is_wanted(&parts.items[device]);
	}
	return parts;
}

/* The device cannot make them, or has no room for their columns: then bits will do. */
static void
drop_tallies(Round *round)
{
	for (int i = 0; i < round->nentries; i++)
		round->entries[i].tally = NULL;
	round->header.digits = round->header.measures = 0;
	round->tally_words = 0;
	size_round(round);
}

static void
write_intervals(const RtscanIntervals *set, DeviceInterval **next)
{
	for (uint32 i = 0; i < set->n; i++)
		*(*next)++ = (DeviceInterval) {
			.low_rank = set->items[i].low.rank,
			.high_rank = set->items[i].high.rank,
			.low_code = set->items[i].low.code,
			.high_code = set->items[i].high.code,
		};
}

/* Put the request into the area. */
static void
write_body(Round *round)
{
	EvaluateHeader *header = (EvaluateHeader *) round->area;
	EvaluateSegment *segment = (EvaluateSegment *) (header + 1);
	EvaluateColumn *column = (EvaluateColumn *) (segment + round->nentries);
	DeviceInterval *interval = (DeviceInterval *) (column + round->header.columns);
	TallyDigit *digit = (TallyDigit *) (interval + round->header.intervals);
	TallyMeasure *measure = (TallyMeasure *) (digit + round->header.digits);

	*header = round->header;
	for (int i = 0; i < round->nentries; i++, segment++)
	{
		const Entry *entry = &round->entries[i];
		const RtscanSegmentScan *scan = entry->scan;
		const RtscanRegion *region = entry->region;

		*segment = (EvaluateSegment) {
			.key = rtscan_device_key(round->index, round->uuid, scan->entry->id),
			.rows = scan->reader.segment->header.rows,
			.columns = region->ncolumns,
		};
		if (entry->tally)
		{
			segment->joins = entry->joins;
			rtscan_write_tally(entry->tally, scan->reader.segment, segment, &digit, &measure);
		}
		for (int c = 0; c < region->ncolumns; c++)
		{
			*column++ = (EvaluateColumn) {region->columns[c].column, region->columns[c].intervals.n};
			write_intervals(&region->columns[c].intervals, &interval);
		}
	}
}

/* Connect, and get an area that has room for the request and its answer. */
static bool
open_area(Round *round)
{
	Size		results = TYPEALIGN(64, round->body_size);

	round->request = (DeviceRequest) {.kind = DEVICE_EVALUATE, .results = results};
	round->area = rtscan_device_area(round->device, results + device_bits_offset(round->chunks, round->tally_words) +
									 (round->header.want_bits ? (Size) round->chunks * RTSCAN_CHUNK_BYTES : 0));
	return round->area != NULL;
}

/* What the device says is missing: a column of an index, or its values. */
typedef struct Missing
{
	RtscanSegmentScan *scan;
	int			column;
	bool		is_values;
} Missing;

/* Who asks for an executor gets it; "auto" counts what an upload takes. */
static bool
is_worth_uploading(const Round *round, const Missing *missing, const SegmentKey *key)
{
	uint64		size = rtscan_device_column_size(missing->scan->reader.segment, missing->column, missing->is_values);
	double		gain = -estimate_chunks(round->device, round->executor, round->chunks);

	if (rtscan_executor != RTSCAN_EXECUTOR_AUTO || round->header.prepare)
		return true;
	for (int i = 0; i < round->nentries; i++)
		if (i == 0 || round->entries[i].scan != round->entries[i - 1].scan)
			gain += rtscan_cpu_methods.estimate(RTSCAN_EXECUTOR_CPU, round->entries[i].scan, 1);
	if (missing->is_values)
		gain = Max(gain, 0) + size * CPU_BYTE;
	return rtscan_device_upload_pays(key, missing->is_values ? INDEX_MAX_KEYS + missing->column : missing->column, size,
									 Max(gain, 0));
}

static const char *
upload_missing(Round *round, const Missing *missing)
{
	SegmentKey	key = rtscan_device_key(round->index, round->uuid, missing->scan->entry->id);
	DeviceResult result;

	if (!is_worth_uploading(round, missing, &key))
		return rtscan_not_yet;
	result = rtscan_device_upload(round->device, &missing->scan->reader, &key, missing->column, missing->is_values);
	if (result == DEVICE_NO_MEMORY)
		return "The device does not have the memory for a segment's column; rtscan.device_memory may limit it.";
	return result == DEVICE_OK ? NULL : "A column could not be put on the device.";
}

/* Upload what a reply says is missing. */
static const char *
upload_for_reply(Round *round, const DeviceReply *reply)
{
	const Entry *entry;

	if (reply->segment >= (uint32) round->nentries)
		return NOT_THERE;
	entry = &round->entries[reply->segment];
	if (!reply->in_tally)
		return reply->column >= (uint32) entry->region->ncolumns ? NOT_THERE :
			upload_missing(round, &(Missing) {entry->scan, entry->region->columns[reply->column].column, false});
	if (!entry->tally ||
		!rtscan_tally_has_column(entry->tally, entry->scan->reader.segment, reply->column, reply->is_values))
		return NOT_THERE;
	if (upload_missing(round, &(Missing) {entry->scan, reply->column, reply->is_values}))
		drop_tallies(round);
	return NULL;
}

static const char *
explain_result(DeviceResult result)
{
	switch (result)
	{
		case DEVICE_NO_MEMORY:
			return "The device does not have the memory for the scan; rtscan.device_memory may limit it.";
		case DEVICE_TOO_COMPLEX:
			return "The condition has too many intervals.";
		case DEVICE_UNSUPPORTED:
			return "The device cannot trace rays.";
		default:
			return "The device program refused the request.";
	}
}

/* Does the device have the memory for all columns of a round together?  Else they would push each other out. */
static bool
has_room_for_tallies(const Round *round)
{
	uint64		size = 0;

	for (int i = 0; i < round->nentries; i++)
	{
		const Entry *entry = &round->entries[i];

		for (int c = 0; c < entry->region->ncolumns; c++)
			size += rtscan_device_column_size(entry->scan->reader.segment, entry->region->columns[c].column, false);
		if (entry->tally)
			size += rtscan_tally_device_size(entry->tally, entry->scan->reader.segment);
	}
	return size <= rtscan_device_memory_limit(round->device) / 2;
}

/* Ask a device for its part.  False: it cannot be asked, for a reason that is noted. */
static bool
ask(Round *round)
{
	round->connected = rtscan_device_is_connected(round->device);
	if (!open_area(round))
	{
		round->why = rtscan_device_absence(round->device);
		return false;
	}
	if (round->tally_words > 0 && (!rtscan_device_makes_tallies(round->device) || !has_room_for_tallies(round)))
	{
		drop_tallies(round);
		return ask(round);
	}
	write_body(round);
	INSTR_TIME_SET_CURRENT(round->start);
	round->asked = rtscan_device_send(round->device, &round->request);
	return true;
}

/* The reply; false: the connection is lost. */
static bool
take_reply(Round *round)
{
	instr_time	end;
	bool		received = round->asked && rtscan_device_receive(round->device, &round->reply);

	round->asked = false;
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, round->start);
	if (received && round->reply.result == DEVICE_OK && !round->header.prepare && round->reply.built == 0 &&
		round->tally_words == 0 && rtscan_device_made_wait(round->device))
		rtscan_note_device_speed(round->device, round->header.executor, round->chunks,
								 INSTR_TIME_GET_DOUBLE(end) * 1e9, round->reply.nanoseconds);
	return received;
}

/* A device that has been asked: upload what it says is missing, and ask again, until it answers.  Returns why it does not, or NULL. */
static const char *
await_answer(Round *round)
{
	uint32		limit = MAX_UPLOADS(round->header.columns + round->header.digits + round->header.measures);
	bool		retried = false;

	for (uint32 uploads = 0;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (!take_reply(round))
		{
			if (!round->connected || retried)
				return rtscan_device_timed_out(round->device) ? rtscan_device_absence(round->device) : LOST;
			/* The program may have been started again since. */
			retried = true;
		}
		else if (round->reply.result == DEVICE_OK)
			return NULL;
		else if (round->reply.result == DEVICE_MISSING && !(round->tally_words > 0 && uploads == limit))
		{
			const char *why = upload_for_reply(round, &round->reply);

			if (why)
				return why;
			if (++uploads > limit)
				return "The device does not have the memory for all columns of the scan; rtscan.device_memory may limit it.";
		}
		else if (round->tally_words > 0)
		{
			drop_tallies(round);
			uploads = 0;
		}
		else
			return explain_result(round->reply.result);
		if (!ask(round))
			return retried && !rtscan_device_timed_out(round->device) ? LOST : round->why;
	}
}

/*
 * Ask all devices for their parts, and wait until all have answered, or say why not.  How long one took is best known of the first
 * that is waited for: that is each in turn.
 */
static void
ask_all(Parts *parts)
{
	static int	turn;

	CHECK_FOR_INTERRUPTS();
	turn = (turn + 1) % parts->n;
	for (Round *part = parts->items; part < parts->items + parts->n; part++)
		if (part->wanted && part->header.intervals > DEVICE_MAX_INTERVALS)
			part->why = explain_result(DEVICE_TOO_COMPLEX);
		else if (part->wanted)
			(void) ask(part);
	for (int i = 0; i < parts->n; i++)
	{
		Round	   *part = &parts->items[(turn + i) % parts->n];

		if (part->wanted && part->why == NULL)
			part->why = await_answer(part);
	}
}

/* A region's part of the answer.  Of chunks that are in a tally there are no bits. */
static RtscanRowBits *
take_region(const Entry *entry, const uint32 *counts, uint64 *words, RtscanRowBits *bits)
{
	bool		has_tally = entry->tally || made_before(entry->scan);

	rtscan_bits_reset(bits, entry->scan->reader.segment->chunks);
	bits->words = words;
	bits->room = NULL;
	bits->counted = true;
	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
	{
		bool		tallied = has_tally && rtscan_is_tallied(entry->scan->tally, chunk);

		bits->tallied += tallied ? counts[chunk] : 0;
		bits->counts[chunk] = tallied ? 0 : counts[chunk];
		bits->filled[chunk] = bits->counts[chunk] > 0;
	}
	return bits;
}

/* Hand each region its part of the answer. */
static void
take_answer(Round *round, MemoryContext context, RtscanCounters *counters)
{
	const DeviceReply *reply = &round->reply;
	char	   *answer = round->area + round->request.results;
	const uint32 *counts = (const uint32 *) answer;
	RtscanTakenTallies tallies = {.next = (const uint64 *) (answer + device_tallies_offset(round->chunks))};
	char	   *words = answer + device_bits_offset(round->chunks, round->tally_words);
	RtscanRowBits *all = MemoryContextAlloc(context, round->nentries * sizeof(RtscanRowBits));

	for (int i = 0; i < round->nentries; i++)
	{
		const Entry *entry = &round->entries[i];
		RtscanRowBits *bits = take_region(entry, counts, round->header.want_bits ? (uint64 *) words : NULL, &all[i]);

		if (entry->tally)
			rtscan_take_tally(&tallies, entry->tally, entry->joins, bits->tallied, context);
		counts += bits->chunks;
		words += (Size) bits->chunks * RTSCAN_CHUNK_BYTES;
		entry->region->evaluated = bits;
		counters->tallied_rows += bits->tallied;
	}
	rtscan_end_tallies(&tallies);
	counters->chunks_read += round->chunks;
	counters->refined_rows += reply->refined_rows;
	counters->rays += reply->rays;
	counters->device_time += reply->nanoseconds;
}

/* ---------------------------------------------------------------- who needs the area */

/* Bits go from an area to memory of their own. */
static void
move_bits(RtscanRowBits *bits, uint64 *words)
{
	for (uint32 chunk = 0; chunk < bits->chunks; chunk++)
		if (bits->filled[chunk])
			memcpy(words + (Size) chunk * RTSCAN_CHUNK_WORDS, rtscan_bits_chunk(bits, chunk), RTSCAN_CHUNK_BYTES);
	bits->words = words;
}

/* Save the bits of a segment that is still to be asked for, or let them be lost; *left: so many bytes may be taken. */
static void
save_bits(RtscanRound *round, RtscanSegmentScan *scan, Size *left)
{
	for (int i = 0; i < scan->nregions; i++)
	{
		RtscanRowBits *bits = scan->regions[i]->evaluated;
		Size		size = bits ? (Size) bits->chunks * RTSCAN_CHUNK_BYTES : 0;
		char	   *room = NULL;

		if (bits == NULL || bits->words == NULL)
			continue;
		if (size <= *left)
			room = MemoryContextAllocExtended(round->saved, size + PG_CACHE_LINE_SIZE, MCXT_ALLOC_HUGE | MCXT_ALLOC_NO_OOM);
		*left = room ? *left - size : 0;
		if (room)
			move_bits(bits, (uint64 *) TYPEALIGN(PG_CACHE_LINE_SIZE, room));
		else
			scan->lost = true;
	}
}

/* RtscanAreaSaver: an area is about to get other content.  This must not fail. */
static void
save_round(void *arg)
{
	RtscanRound *round = (RtscanRound *) arg;
	Size		left = work_mem * (Size) 1024;

	if (round->in_hand && round->in_hand->words)
		move_bits(round->in_hand, round->room->words);
	round->in_hand = NULL;
	for (int i = round->next; i < round->nscans; i++)
		save_bits(round, &round->scans[i], &left);
}

/* MemoryContextCallbackFunction: the search is over. */
static void
forget_round(void *arg)
{
	rtscan_device_leave_area(arg);
}

/* A round's bits stay in the areas for now; whatever saving them will take is there. */
static void
keep_area(RtscanRound *round)
{
	MemoryContext context = round->scratch.context;

	if (round->room == NULL)
	{
		round->room = rtscan_bits_create(context);
		round->forget = (MemoryContextCallback) {.func = forget_round, .arg = round};
		MemoryContextRegisterResetCallback(context, &round->forget);
	}
	rtscan_device_keep_area(save_round, round);
}

/* ---------------------------------------------------------------- as an executor among others */

/* Why a part has no answer, or NULL.  That a column is not there yet is the least of reasons. */
static const char *
why_not(const Parts *parts)
{
	const char *why = NULL;

	for (int i = 0; i < parts->n; i++)
		if (why == NULL || why == rtscan_not_yet)
			why = parts->items[i].why ? parts->items[i].why : why;
	return why;
}

static const char *
prepare(RtscanExecutor executor, Relation index, const pg_uuid_t *uuid,
		RtscanSegmentScan *scans, int nscans)
{
	Round		round = {.executor = executor, .index = index, .uuid = uuid, .header.prepare = true};
	Parts		parts = collect_parts(&round, scans, nscans);

	ask_all(&parts);
	return why_not(&parts);
}

/* Memory for what becomes of a round, empty. */
static MemoryContext
round_memory(RtscanRound *round)
{
	if (round->saved == NULL)
		round->saved = AllocSetContextCreate(round->scratch.context, "rtscan round", ALLOCSET_DEFAULT_SIZES);
	MemoryContextReset(round->saved);
	return round->saved;
}

static const char *
evaluate(RtscanExecutor executor, Relation index, const pg_uuid_t *uuid, RtscanRound *of_search, RtscanCounters *counters)
{
	Round		round = {.executor = executor, .index = index, .uuid = uuid};
	Parts		parts = collect_parts(&round, of_search->scans, of_search->nscans);
	MemoryContext context;
	bool		has_bits = false;

	ask_all(&parts);
	context = round_memory(of_search);
	for (Round *part = parts.items; part < parts.items + parts.n; part++)
		if (part->wanted && part->why == NULL)
		{
			take_answer(part, context, counters);
			has_bits |= part->header.want_bits;
		}
	if (has_bits)
		keep_area(of_search);
	return why_not(&parts);
}

const RtscanExecutorMethods rtscan_device_methods = {
	.is_ready = rtscan_is_any_device_ready,
	.can = can,
	.devices = devices,
	.fits = fits,
	.estimate = estimate,
	.pass_over = pass_over,
	.prepare = prepare,
	.evaluate = evaluate,
};
