/* SPDX-License-Identifier: PostgreSQL */
/*
 * encoding.c
 *		Measure what encoding values as ranks gains if rays look for rows: an ablation, as in
 *		RTScan's section 5.7.
 *
 *	encoding SOCKET [CHUNKS [REPETITIONS]]
 *
 * rtscan always encodes.  So this is a client of the device program (device/protocol.h), whose socket is
 * DATA/pg_stat_tmp/rtscan_device.0, and must be run as the user that runs that program.  It uploads synthetic
 * segments of three columns, all of the same shape but with different codes of the rows:
 *
 *	ranks		unique ranks of the values; the order of equal values is random
 *	values		the values themselves, scaled to 0 .. rows - 1 and rounded down
 *
 * The program treats either as ranks, since the segment claims as many distinct values as rows: boxes
 * are at the codes.  Bins divide the codes with equal depth, which is that of the ranks
 * whatever the codes are; or with equal width, as a sieve does that does not know the
 * distribution.  So one thing changes at a time: first the position of the boxes, then the bins.
 *
 * The predicates are "less than" on all columns.  They end at quantiles of the scaled
 * values and include equal values, so that the same rows match with either encoding.  The
 * host counts these rows in each chunk.  If the program counts differently, the benchmark ends.
 *
 * Times are the device's, up to counting, in milliseconds.  They are medians of the repetitions, of which
 * there are fewer if they reach TIME_LIMIT.  "-" means that there would be too many rays.  The uploaded
 * data stays on the device until the program needs the memory.
 */
#define _GNU_SOURCE
#include "../device/protocol.h"

#include <err.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MAX_ROWS		(DEVICE_SEGMENT_CHUNKS * DEVICE_CHUNK_ROWS)
#define MAX_REPETITIONS	1000000
#define COLUMNS			3
#define CODE_BYTES		3
#define RADIX			16
#define BINS			(RADIX * RADIX)
#define VECTORS			(2 * (RADIX - 1))

#define AREA_UNIT		(UINT64_C(1) << 20)
#define RESULTS			4096	/* in the area, after a request's body */

#define ZIPF_VALUES		1000000
#define ZIPF_EXPONENT	1.1

/* Sort keys consist of a scaled value, random bits, and the row. */
#define ROW_BITS		22
#define RANDOM_BITS		20

/* Factor for quantiles, so that predicates do not end exactly where bins do. */
#define A_BIT_MORE		1.005

/* Nanoseconds of device time for the repetitions of one request. */
#define TIME_LIMIT		UINT64_C(5000000000)

/* Nanoseconds of warm-up before them, so that the device's clock rises. */
#define WARM_UP			UINT64_C(500000000)

static const double selectivities[] = {0.01, 0.1, 0.2, 0.5, 0.9};

#define SELECTIVITIES	(sizeof(selectivities) / sizeof(selectivities[0]))

typedef enum Encoding
{
	ENCODING_RANKS,
	ENCODING_VALUES,
	ENCODINGS
} Encoding;

/* A variant to be measured. */
typedef struct Variant
{
	const char *name;
	Encoding	encoding;
	bool		equal_depth;
} Variant;

static const Variant variants[] = {
	{"ranks, bins of equal depth", ENCODING_RANKS, true},
	{"values, bins of equal depth", ENCODING_VALUES, true},
	{"values, bins of equal width", ENCODING_VALUES, false},
};

#define VARIANTS		(sizeof(variants) / sizeof(variants[0]))

/* A column's codes.  A predicate selects the rows with codes below an end. */
typedef struct Column
{
	uint32_t	codes[ENCODINGS][MAX_ROWS];
	uint32_t	ends[ENCODINGS][SELECTIVITIES];
	uint32_t	quantiles[BINS];	/* values at the ranks at which bins of equal depth begin */
} Column;

typedef struct Benchmark
{
	int			socket;
	char	   *area;			/* a column's data, or a request's body and RESULTS */
	uint32_t	repetitions;
	SegmentKey	key;
	ColumnShape shape;
	ColumnLayout layout;
	Column		columns[COLUMNS];
	uint32_t	counts[SELECTIVITIES][DEVICE_SEGMENT_CHUNKS];	/* expected numbers of rows */
} Benchmark;

/* The request of EVALUATE in the area. */
typedef struct Body
{
	EvaluateHeader header;
	EvaluateSegment segment;
	EvaluateColumn columns[COLUMNS];
	DeviceInterval intervals[COLUMNS];
} Body;

_Static_assert(MAX_ROWS <= 1 << ROW_BITS && 2 * ROW_BITS + RANDOM_BITS <= 64, "a key has room for its parts");
_Static_assert(sizeof(Body) == sizeof(EvaluateHeader) + sizeof(EvaluateSegment) +
			   COLUMNS * (sizeof(EvaluateColumn) + sizeof(DeviceInterval)), "its parts follow one another");

/* ---------------------------------------------------------------- distributions */

/* Random numbers: xorshift64*. */
static uint64_t
next_random(void)
{
	static uint64_t state = 1;

	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * UINT64_C(0x2545F4914F6CDD1D);
}

static double
draw_uniform(void)
{
	return (double) (next_random() >> 11) / (double) (UINT64_C(1) << 53);
}

static double
draw_normal(void)
{
	double		radius = sqrt(-2 * log(1 - draw_uniform()));

	return radius * cos(2 * M_PI * draw_uniform());
}

static double
draw_zipf(void)
{
	static double cumulative[ZIPF_VALUES + 1];	/* weight of the values 1 .. i */
	uint32_t	below = 0;
	double		drawn;

	for (uint32_t i = 1; cumulative[ZIPF_VALUES] == 0 && i <= ZIPF_VALUES; i++)
		cumulative[i] = cumulative[i - 1] + pow(i, -ZIPF_EXPONENT);
	drawn = draw_uniform() * cumulative[ZIPF_VALUES];
	for (uint32_t step = 1 << 19; step > 0; step /= 2)
		if (below + step < ZIPF_VALUES && cumulative[below + step] <= drawn)
			below += step;
	return below + 1;
}

typedef struct Distribution
{
	const char *name;
	double		(*draw) (void);
} Distribution;

static const Distribution distributions[] = {
	{"uniform", draw_uniform}, {"normal", draw_normal}, {"Zipf 1.1", draw_zipf}
};

#define DISTRIBUTIONS	(sizeof(distributions) / sizeof(distributions[0]))

/* ---------------------------------------------------------------- codes */

static void
draw_values(uint32_t rows, const Distribution *distribution, uint32_t *scaled)
{
	static double values[MAX_ROWS];
	double		least = INFINITY;
	double		largest = -INFINITY;

	for (uint32_t row = 0; row < rows; row++)
	{
		values[row] = distribution->draw();
		least = fmin(least, values[row]);
		largest = fmax(largest, values[row]);
	}
	for (uint32_t row = 0; row < rows; row++)
		scaled[row] = (uint32_t) ((values[row] - least) / (largest - least) * (rows - 1));
}

static int
compare_numbers(const void *a, const void *b)
{
	uint64_t	left = *(const uint64_t *) a;
	uint64_t	right = *(const uint64_t *) b;

	return left < right ? -1 : left > right;
}

static uint32_t
key_value(uint64_t key)
{
	return (uint32_t) (key >> (RANDOM_BITS + ROW_BITS));
}

/* Choose the ends of the predicates: after the value at each quantile, and after the last rank with this value. */
static void
choose_ends(Column *column, const uint64_t *keys, uint32_t rows)
{
	for (size_t i = 0; i < SELECTIVITIES; i++)
	{
		uint32_t	rank = (uint32_t) (selectivities[i] * A_BIT_MORE * rows);
		uint32_t	value = key_value(keys[rank]);

		while (rank < rows && key_value(keys[rank]) == value)
			rank++;
		column->ends[ENCODING_RANKS][i] = rank;
		column->ends[ENCODING_VALUES][i] = value + 1;
	}
}

/* Return the rank at which a bin begins. */
static uint32_t
bin_rank(uint32_t bin, uint32_t rows)
{
	return (uint32_t) (((uint64_t) bin * rows + BINS - 1) / BINS);
}

static void
make_column(Column *column, uint32_t rows, const Distribution *distribution)
{
	static uint64_t keys[MAX_ROWS];
	uint32_t   *scaled = column->codes[ENCODING_VALUES];

	draw_values(rows, distribution, scaled);
	for (uint32_t row = 0; row < rows; row++)
		keys[row] = (((uint64_t) scaled[row] << RANDOM_BITS | next_random() >> (64 - RANDOM_BITS)) << ROW_BITS) | row;
	qsort(keys, rows, sizeof(uint64_t), compare_numbers);
	for (uint32_t rank = 0; rank < rows; rank++)
		column->codes[ENCODING_RANKS][keys[rank] & ((1 << ROW_BITS) - 1)] = rank;
	choose_ends(column, keys, rows);
	for (uint32_t bin = 0; bin < BINS; bin++)
		column->quantiles[bin] = key_value(keys[bin_rank(bin, rows)]);
}

/* Count the matching rows in each chunk.  Returns their total. */
static uint32_t
count_rows(const Benchmark *benchmark, Encoding encoding, size_t selectivity, uint32_t *counts)
{
	const Column *columns = benchmark->columns;
	uint32_t	sum = 0;

	memset(counts, 0, DEVICE_SEGMENT_CHUNKS * sizeof(uint32_t));
	for (uint32_t row = 0; row < benchmark->shape.rows; row++)
	{
		bool		matches = true;

		for (int c = 0; c < COLUMNS; c++)
			matches &= columns[c].codes[encoding][row] < columns[c].ends[encoding][selectivity];
		counts[row / DEVICE_CHUNK_ROWS] += matches;
		sum += matches;
	}
	return sum;
}

/* ---------------------------------------------------------------- the program */

/* Send a request, with a file descriptor if there is one, and wait for the reply. */
static DeviceReply
ask(const Benchmark *benchmark, DeviceRequest *request, int file)
{
	union
	{
		struct cmsghdr header;
		char		space[CMSG_SPACE(sizeof(int))];
	}			control = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct iovec vector = {request, sizeof(*request)};
	struct msghdr header = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = file >= 0 ? sizeof(control) : 0};
	DeviceReply reply;

	memcpy(CMSG_DATA(&control.header), &file, sizeof(file));
	if (sendmsg(benchmark->socket, &header, MSG_NOSIGNAL) != sizeof(*request) ||
		recv(benchmark->socket, &reply, sizeof(reply), 0) != sizeof(reply))
		errx(EXIT_FAILURE, "the device program has ended the connection: is this its user? See the server's log");
	return reply;
}

static void
demand(const Benchmark *benchmark, DeviceRequest request, int file)
{
	DeviceReply reply = ask(benchmark, &request, file);

	if (reply.result != DEVICE_OK)
		errx(EXIT_FAILURE, "a request of kind %u has the result %u", request.kind, reply.result);
}

static int
connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int			connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(address.sun_path))
		errx(EXIT_FAILURE, "\"%s\" is too long for a socket", path);
	strcpy(address.sun_path, path);
	if (connection < 0 || connect(connection, (struct sockaddr *) &address, sizeof(address)) != 0)
		err(EXIT_FAILURE, "could not connect to \"%s\"", path);
	return connection;
}

/* Allocate memory and share it with the program. */
static void
share_area(Benchmark *benchmark)
{
	uint64_t	size = device_align(benchmark->layout.size, AREA_UNIT);
	int			file = memfd_create("encoding", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (file < 0 || ftruncate(file, (off_t) size) != 0 || fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
		err(EXIT_FAILURE, "could not create memory to share");
	benchmark->area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
	if (benchmark->area == MAP_FAILED)
		err(EXIT_FAILURE, "could not map memory");
	demand(benchmark, (DeviceRequest) {.kind = DEVICE_HELLO, .version = DEVICE_PROTOCOL_VERSION, .size = size}, file);
	close(file);
}

/* ---------------------------------------------------------------- uploading */

/* Choose strictly ascending boundaries in 0 .. rows; a bin has the codes from its boundary to the next. */
static void
choose_boundaries(const Column *column, const Variant *variant, uint32_t rows, uint32_t *boundaries)
{
	bool		quantiles = variant->equal_depth && variant->encoding == ENCODING_VALUES;

	boundaries[0] = 0;
	boundaries[BINS] = rows;
	for (uint32_t bin = 1; bin < BINS; bin++)
	{
		uint32_t	boundary = quantiles ? column->quantiles[bin] : bin_rank(bin, rows);

		boundaries[bin] = boundary > boundaries[bin - 1] ? boundary : boundaries[bin - 1] + 1;
	}
}

/* Set a row's bits in H_1 .. H_15 and L_1 .. L_15 (src/segment/sieve.h), according to its bin. */
static void
set_vectors(char *sieve, uint32_t chunks, uint32_t row, uint32_t bin)
{
	uint32_t	bit = row % DEVICE_CHUNK_ROWS;
	char	   *byte = sieve + (size_t) (row / DEVICE_CHUNK_ROWS) * DEVICE_CHUNK_BYTES + bit / 8;
	size_t		vector_bytes = (size_t) chunks * DEVICE_CHUNK_BYTES;

	for (uint32_t high = bin / RADIX; high < RADIX - 1; high++)
		byte[high * vector_bytes] |= (char) (1 << bit % 8);
	for (uint32_t low = bin % RADIX; low < RADIX - 1; low++)
		byte[(RADIX - 1 + low) * vector_bytes] |= (char) (1 << bit % 8);
}

static void
fill_area(const Benchmark *benchmark, const uint32_t *codes, const uint32_t *boundaries)
{
	static uint16_t bin_of[MAX_ROWS];	/* bin of each code */
	const ColumnLayout *layout = &benchmark->layout;
	uint32_t	rows = benchmark->shape.rows;
	uint32_t   *pages = (uint32_t *) (benchmark->area + layout->pages);

	for (uint32_t bin = 0; bin < BINS; bin++)
		for (uint32_t code = boundaries[bin]; code < boundaries[bin + 1]; code++)
			bin_of[code] = (uint16_t) bin;
	memset(benchmark->area, 0, layout->size);
	for (uint32_t i = 0; i < benchmark->shape.sieve_pages; i++)
		pages[i] = i;
	for (uint32_t row = 0; row < rows; row++)
	{
		set_vectors(benchmark->area + layout->sieve, device_chunks(rows), row, bin_of[codes[row]]);
		for (uint32_t byte = 0; byte < CODE_BYTES; byte++)
			benchmark->area[layout->codes + (size_t) row * CODE_BYTES + byte] = (char) (codes[row] >> (8 * byte));
	}
}

static void
upload_column(const Benchmark *benchmark, uint32_t number, const Variant *variant)
{
	const Column *column = &benchmark->columns[number];
	uint32_t	boundaries[BINS + 1];

	choose_boundaries(column, variant, benchmark->shape.rows, boundaries);
	memcpy(benchmark->area, boundaries, sizeof(boundaries));
	demand(benchmark, (DeviceRequest) {.kind = DEVICE_UPLOAD_BEGIN, .key = benchmark->key, .column = number,
									   .shape = benchmark->shape}, -1);
	fill_area(benchmark, column->codes[variant->encoding], boundaries);
	demand(benchmark, (DeviceRequest) {.kind = DEVICE_UPLOAD_DATA, .size = benchmark->layout.size}, -1);
	demand(benchmark, (DeviceRequest) {.kind = DEVICE_UPLOAD_END}, -1);
}

/* ---------------------------------------------------------------- measuring */

static DeviceReply
evaluate(const Benchmark *benchmark, Encoding encoding, size_t selectivity, bool prepare)
{
	Body	   *body = (Body *) benchmark->area;
	uint32_t	rows = benchmark->shape.rows;

	body->header = (EvaluateHeader) {.executor = DEVICE_RT, .segments = 1, .columns = COLUMNS,
		.intervals = COLUMNS, .prepare = prepare};
	body->segment = (EvaluateSegment) {.key = benchmark->key, .rows = rows, .columns = COLUMNS};
	for (uint32_t c = 0; c < COLUMNS; c++)
	{
		uint32_t	end = benchmark->columns[c].ends[encoding][selectivity];

		body->columns[c] = (EvaluateColumn) {c, 1};
		body->intervals[c] = (DeviceInterval) {0, end, 0, end};
	}
	memset(benchmark->area + RESULTS, 0xFF, device_chunks(rows) * sizeof(uint32_t));
	return ask(benchmark, &(DeviceRequest) {.kind = DEVICE_EVALUATE, .results = RESULTS}, -1);
}

/* Upload the columns and have the BVH built, before the measurement. */
static void
prepare(Benchmark *benchmark, const Variant *variant)
{
	DeviceReply reply;

	benchmark->key.segment++;
	for (uint32_t c = 0; c < COLUMNS; c++)
		upload_column(benchmark, c, variant);
	reply = evaluate(benchmark, variant->encoding, 0, true);
	if (reply.result == DEVICE_UNSUPPORTED)
		errx(EXIT_FAILURE, "the device cannot trace rays");
	if (reply.result != DEVICE_OK || reply.built != 1)
		errx(EXIT_FAILURE, "no BVH was built: result %u", reply.result);
}

/* Return the nanoseconds of one request; infinite if it is too complex. */
static uint64_t
time_request(const Benchmark *benchmark, const Variant *variant, size_t selectivity)
{
	DeviceReply reply = evaluate(benchmark, variant->encoding, selectivity, false);
	size_t		size = device_chunks(benchmark->shape.rows) * sizeof(uint32_t);

	if (reply.result == DEVICE_TOO_COMPLEX)
		return UINT64_MAX;
	if (reply.result != DEVICE_OK)
		errx(EXIT_FAILURE, "a scan has the result %u", reply.result);
	if (memcmp(benchmark->area + RESULTS, benchmark->counts[selectivity], size) != 0)
		errx(EXIT_FAILURE, "%s, %g: the device counts other rows than the host", variant->name,
			 selectivities[selectivity]);
	return reply.nanoseconds;
}

/* Measure the median, in milliseconds. */
static void
measure(const Benchmark *benchmark, const Variant *variant, size_t selectivity)
{
	static uint64_t times[MAX_REPETITIONS];
	uint32_t	count = 0;

	for (uint64_t sum = 0, taken; sum < WARM_UP; sum += taken)
	{
		taken = time_request(benchmark, variant, selectivity);
		if (taken == UINT64_MAX)
		{
			printf("| - ");
			return;
		}
	}
	for (uint64_t sum = 0; count < benchmark->repetitions && sum < TIME_LIMIT; count++)
		sum += times[count] = time_request(benchmark, variant, selectivity);
	qsort(times, count, sizeof(uint64_t), compare_numbers);
	printf("| %.4f ", (double) (times[(count - 1) / 2] + times[count / 2]) / 2e6);
	fflush(stdout);
}

/* Count the expected rows; they must not depend on the encoding. */
static void
count_answers(Benchmark *benchmark)
{
	uint32_t	others[DEVICE_SEGMENT_CHUNKS];

	for (size_t i = 0; i < SELECTIVITIES; i++)
	{
		printf("| %u ", count_rows(benchmark, ENCODING_VALUES, i, benchmark->counts[i]));
		count_rows(benchmark, ENCODING_RANKS, i, others);
		if (memcmp(benchmark->counts[i], others, sizeof(others)) != 0)
			errx(EXIT_FAILURE, "%g: the encodings ask for different rows", selectivities[i]);
	}
}

static void
measure_distribution(Benchmark *benchmark, const Distribution *distribution)
{
	for (int c = 0; c < COLUMNS; c++)
		make_column(&benchmark->columns[c], benchmark->shape.rows, distribution);
	printf("| %s | rows of the answer ", distribution->name);
	count_answers(benchmark);
	puts("|");
	for (size_t v = 0; v < VARIANTS; v++)
	{
		prepare(benchmark, &variants[v]);
		printf("| %s | %s ", distribution->name, variants[v].name);
		for (size_t i = 0; i < SELECTIVITIES; i++)
			measure(benchmark, &variants[v], i);
		puts("|");
	}
}

/* ---------------------------------------------------------------- setup */

static uint32_t
read_number(const char *argument, uint32_t largest)
{
	char	   *end;
	unsigned long number = strtoul(argument, &end, 10);

	if (*end != '\0' || number == 0 || number > largest)
		errx(EXIT_FAILURE, "\"%s\" is not a number from 1 to %u", argument, largest);
	return (uint32_t) number;
}

/* Open the benchmark.  Segments have new keys, since those of an earlier run may still be on the device. */
static void
open_benchmark(Benchmark *benchmark, const char *path, uint32_t chunks, uint32_t repetitions)
{
	uint32_t	rows = chunks * DEVICE_CHUNK_ROWS;

	benchmark->socket = connect_to(path);
	benchmark->repetitions = repetitions;
	benchmark->shape = (ColumnShape) {.rows = rows, .nonnull = rows, .distinct = rows, .code_bytes = CODE_BYTES,
		.bins = BINS, .radix = RADIX, .vectors = VECTORS, .sieve_pages = VECTORS * chunks};
	benchmark->layout = device_column_layout(&benchmark->shape);
	if (getrandom(benchmark->key.uuid, sizeof(benchmark->key.uuid), 0) != sizeof(benchmark->key.uuid))
		err(EXIT_FAILURE, "could not draw a key");
	share_area(benchmark);
}

int
main(int argc, char **argv)
{
	static Benchmark benchmark;

	if (argc < 2 || argc > 4)
		errx(EXIT_FAILURE, "usage: encoding SOCKET [CHUNKS [REPETITIONS]]");
	open_benchmark(&benchmark, argv[1], argc > 2 ? read_number(argv[2], DEVICE_SEGMENT_CHUNKS) : DEVICE_SEGMENT_CHUNKS,
				   argc > 3 ? read_number(argv[3], MAX_REPETITIONS) : 200);
	printf("| distribution, %u rows | encoding ", benchmark.shape.rows);
	for (size_t i = 0; i < SELECTIVITIES; i++)
		printf("| %s%g ", i == 0 ? "rt " : "", selectivities[i]);
	printf("|\n| --- | --- ");
	for (size_t i = 0; i < SELECTIVITIES; i++)
		printf("| --- ");
	puts("|");
	for (size_t i = 0; i < DISTRIBUTIONS; i++)
		measure_distribution(&benchmark, &distributions[i]);
	return EXIT_SUCCESS;
}
