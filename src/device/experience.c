/*
 * experience.c
 *		Remember what all backends have learnt about the devices and the CPU.
 *
 * That is how fast they are, and which uploads and builds of BVHs would have paid off.  Also here is whose turn
 * it is to use a device for a build.
 */
#include "device/experience.h"

#include <math.h>

#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/float.h"

/* Assumed nanoseconds of a request there and back, before any has been measured. */
#define FIRST_REQUEST	300000.0
/* Weight of a new sample in an estimate. */
#define SPEED_WEIGHT	0.125
/* Weight of the first measurement, each time that an estimate made a device or the CPU too slow to be chosen. */
#define FORGET_WEIGHT	(1.0 / 256)
/* A sample counts as no more than this multiple of the estimate: the request may have waited for others. */
#define LARGEST_SAMPLE	4.0

/* Nanoseconds that an upload needs for each byte: reading pages, copying them, and the bus. */
#define UPLOAD_BYTE		1.0

/* A column, or the BVHs of a group, that is not on a device. */
typedef struct Wish
{
	uint64		of;				/* hash of its key */
	double		gain;			/* nanoseconds that scans have lost by its absence */
} Wish;

/* Size of the hash table of wishes, which may forget. */
#define WISHES			4096

/* The speed of a device for a group. */
typedef struct OfGroup
{
	uint64		key;			/* hash of the device, its program, the executor and the group; 0: none */
	double		chunk;			/* nanoseconds of a chunk */
} OfGroup;

/* Size of the hash table of groups, which may forget. */
#define GROUPS			4096
/* Weight of a new sample in the estimate of a group. */
#define GROUP_WEIGHT	0.5

/* Facts and estimates about a device. */
typedef struct OfDevice
{
	uint32		program;		/* number of programs that have been started for it; tells measurements of an
								 * earlier one apart */
	pid_t		builder;		/* process that has the turn to use it for a build; 0: none */
	RtscanDeviceSpeed speeds[DEVICE_EXECUTORS];	/* current estimates */
	RtscanDeviceSpeed first_speeds[DEVICE_EXECUTORS];	/* first measurements, by the program */
	double		adding;			/* nanoseconds to add up a column of a chunk */
	double		first_adding;	/* its first measurement */
	double		building;		/* nanoseconds to build a BVH of a chunk */
	uint64		memory;			/* device memory in bytes */
} OfDevice;

/* The shared memory. */
typedef struct Experience
{
	slock_t		mutex;			/* protects all of it */
	double		cpu;			/* ratio of the CPU's time to its estimated cost */
	OfDevice	devices[RTSCAN_MAX_DEVICES];
	OfGroup		groups[GROUPS]; /* hash table of groups, by key */
	Wish		wishes[WISHES]; /* hash table of wishes, by key */
} Experience;

static Experience *experience;

Size
rtscan_device_experience_size(void)
{
	return sizeof(Experience);
}

void
rtscan_attach_device_experience(void)
{
	RtscanDeviceCalibration unknown = {.adding = get_float8_infinity(), .building = get_float8_infinity()};
	bool		found;

	experience = ShmemInitStruct("rtscan device experience", sizeof(Experience), &found);
	if (found)
		return;
	memset(experience, 0, sizeof(Experience));
	SpinLockInit(&experience->mutex);
	experience->cpu = 1;
	for (int i = 0; i < DEVICE_EXECUTORS; i++)
		unknown.chunk[i] = get_float8_infinity();
	for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
		rtscan_begin_device_experience(device, &unknown);
}

/* ---------------------------------------------------------------- builds */

bool
rtscan_device_take_turn(int device)
{
	pid_t	   *builder = &experience->devices[device].builder;
	bool		taken;

	SpinLockAcquire(&experience->mutex);
	if (*builder == 0)
		*builder = MyProcPid;
	taken = *builder == MyProcPid;
	SpinLockRelease(&experience->mutex);
	return taken;
}

void
rtscan_device_end_turn(void)
{
	SpinLockAcquire(&experience->mutex);
	for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
		if (experience->devices[device].builder == MyProcPid)
			experience->devices[device].builder = 0;
	SpinLockRelease(&experience->mutex);
}

/* ---------------------------------------------------------------- speed */

void
rtscan_begin_device_experience(int device, const RtscanDeviceCalibration *calibration)
{
	OfDevice   *of = &experience->devices[device];

	SpinLockAcquire(&experience->mutex);
	for (int i = 0; i < DEVICE_EXECUTORS; i++)
		of->speeds[i] = of->first_speeds[i] = (RtscanDeviceSpeed) {FIRST_REQUEST, calibration->chunk[i]};
	of->adding = of->first_adding = calibration->adding;
	of->building = calibration->building;
	of->memory = calibration->memory;
	of->program++;
	SpinLockRelease(&experience->mutex);
}

/* Return the place of a group in its hash table, and the key that the place has if the group is known. */
static OfGroup *
place_of_group(int device, DeviceExecutor executor, uint64 group, uint64 *key)
{
	uint64		of_device = hash_combine64(device + 1, experience->devices[device].program);

	*key = hash_combine64(hash_combine64(group, of_device), executor + 1);
	return &experience->groups[*key % GROUPS];
}

RtscanDeviceSpeed
rtscan_device_speed(int device, DeviceExecutor executor, uint64 group)
{
	RtscanDeviceSpeed speed;
	uint64		key;
	OfGroup    *of = place_of_group(device, executor, group, &key);

	SpinLockAcquire(&experience->mutex);
	speed = experience->devices[device].speeds[executor];
	if (of->key == key)
		speed.chunk = of->chunk;
	SpinLockRelease(&experience->mutex);
	return speed;
}

/* Move an estimate towards a sample.  The sample is limited, since a request that waited for others says little. */
static void
approach(double *estimate, double sample, double weight)
{
	if (isinf(sample))
		return;
	if (isinf(*estimate) || *estimate <= 0)
		*estimate = sample;
	else
		*estimate += weight * (Min(sample, LARGEST_SAMPLE * *estimate) - *estimate);
}

/* Read a figure. */
static double
learnt(const double *figure)
{
	double		value;

	SpinLockAcquire(&experience->mutex);
	value = *figure;
	SpinLockRelease(&experience->mutex);
	return value;
}

static void
learn(double *figure, double sample, double weight)
{
	SpinLockAcquire(&experience->mutex);
	approach(figure, sample, weight);
	SpinLockRelease(&experience->mutex);
}

void
rtscan_note_device_speed(int device, DeviceExecutor executor, uint64 group, double chunks,
						 double elapsed, double of_device)
{
	RtscanDeviceSpeed *speed = &experience->devices[device].speeds[executor];
	double		chunk = of_device / chunks;
	uint64		key;
	OfGroup    *of = place_of_group(device, executor, group, &key);

	SpinLockAcquire(&experience->mutex);
	approach(&speed->request, elapsed - of_device, SPEED_WEIGHT);
	if (of->key == key)
		approach(&of->chunk, chunk, GROUP_WEIGHT);
	else
	{
		*of = (OfGroup) {key, chunk};
		approach(&speed->chunk, chunk, SPEED_WEIGHT);
	}
	SpinLockRelease(&experience->mutex);
}

/* The first measurements do not change while the program runs. */
void
rtscan_forget_device_speed(int device, DeviceExecutor executor, uint64 group)
{
	OfDevice   *of_device = &experience->devices[device];
	RtscanDeviceSpeed *speed = &of_device->speeds[executor];
	const RtscanDeviceSpeed *first = &of_device->first_speeds[executor];
	uint64		key;
	OfGroup    *of = place_of_group(device, executor, group, &key);

	SpinLockAcquire(&experience->mutex);
	approach(&speed->request, first->request, FORGET_WEIGHT);
	approach(&speed->chunk, first->chunk, FORGET_WEIGHT);
	if (of->key == key)
		approach(&of->chunk, first->chunk, FORGET_WEIGHT);
	SpinLockRelease(&experience->mutex);
}

double
rtscan_device_building(int device)
{
	return learnt(&experience->devices[device].building);
}

double
rtscan_device_adding(int device)
{
	return learnt(&experience->devices[device].adding);
}

void
rtscan_note_device_adding(int device, double columns, double nanoseconds)
{
	learn(&experience->devices[device].adding, nanoseconds / columns, SPEED_WEIGHT);
}

void
rtscan_forget_device_adding(int device)
{
	OfDevice   *of = &experience->devices[device];

	learn(&of->adding, of->first_adding, FORGET_WEIGHT);
}

uint64
rtscan_device_total_memory(int device)
{
	uint64		memory;

	SpinLockAcquire(&experience->mutex);
	memory = experience->devices[device].memory;
	SpinLockRelease(&experience->mutex);
	return memory;
}

/* ---------------------------------------------------------------- the CPU */

void
rtscan_note_cpu_speed(double price, double elapsed)
{
	learn(&experience->cpu, elapsed / price, SPEED_WEIGHT);
}

void
rtscan_forget_cpu_speed(void)
{
	learn(&experience->cpu, 1, FORGET_WEIGHT);
}

double
rtscan_cpu_slowness(void)
{
	return experience ? learnt(&experience->cpu) : 1;
}

/* ---------------------------------------------------------------- uploads */

/*
 * Add a gain to a wish; returns whether the wish now is worth its cost.  It is not known how often a column
 * will be scanned.  If it is uploaded when scans have lost as much by its absence as the upload needs, the
 * total cost is at most twice that of the best decision.
 */
static bool
wish_pays(uint64 hash, double cost, double gain, bool forget)
{
	Wish	   *wish = &experience->wishes[hash % WISHES];
	bool		pays;

	SpinLockAcquire(&experience->mutex);
	if (wish->of != hash && wish->gain > gain)
	{
		/* the place belongs to another wish: the one that is made more often gets it */
		wish->gain -= gain;
		SpinLockRelease(&experience->mutex);
		return false;
	}
	if (wish->of != hash)
		*wish = (Wish) {.of = hash};
	wish->gain += gain;
	pays = wish->gain >= cost;
	if (pays && forget)
		*wish = (Wish) {0};
	SpinLockRelease(&experience->mutex);
	return pays;
}

bool
rtscan_device_upload_pays(const SegmentKey *key, int column, uint64 size, double gain)
{
	return wish_pays(hash_combine64(hash_bytes_extended((const unsigned char *) key, sizeof(SegmentKey), 0), column),
					 size * UPLOAD_BYTE, gain, true);
}

static uint64
wish_of_group(int device, uint64 group)
{
	return hash_combine64(group, device + 1);
}

bool
rtscan_device_build_pays(int device, uint64 group, double nanoseconds, double gain)
{
	return wish_pays(wish_of_group(device, group), nanoseconds, gain, false);
}

bool
rtscan_device_wants_build(int device, uint64 group)
{
	uint64		of = wish_of_group(device, group);
	bool		wants;

	SpinLockAcquire(&experience->mutex);
	wants = experience->wishes[of % WISHES].of == of;
	SpinLockRelease(&experience->mutex);
	return wants;
}

void
rtscan_device_has_built(int device, uint64 group)
{
	uint64		of = wish_of_group(device, group);
	Wish	   *wish = &experience->wishes[of % WISHES];

	SpinLockAcquire(&experience->mutex);
	if (wish->of == of)
		*wish = (Wish) {0};
	SpinLockRelease(&experience->mutex);
}
