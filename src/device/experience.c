/*
 * experience.c
 *		What all backends have learnt of the devices, and of the CPU: how fast they are, and which
 *		uploads would have paid; and whose turn it is to build with one.
 */
#include "device/device.h"

#include <math.h>

#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/float.h"

/* The way there and back, before it has been measured, in nanoseconds; a measured value counts for an eighth. */
#define FIRST_REQUEST	300000.0
#define SPEED_WEIGHT	0.125
#define FORGET_WEIGHT	(1.0 / 256)
#define LARGEST_SAMPLE	4.0

/* What an upload takes a byte, in nanoseconds: reading pages, copying them, and the bus. */
#define UPLOAD_BYTE		1.0

/* A column, or a group's BVHs, that is not on a device, and what scans would have gained with it, in nanoseconds. */
typedef struct Wish
{
	uint64		of;				/* hash of its key */
	double		gain;
} Wish;

#define WISHES			4096

/* What a device takes for a chunk of a group, which counts for this much of what it is taken to take. */
typedef struct OfGroup
{
	uint64		key;			/* hash of device, its program, executor and group; 0: none */
	double		chunk;
} OfGroup;

#define GROUPS			4096
#define GROUP_WEIGHT	0.5

typedef struct OfDevice
{
	uint32		program;		/* so many have been started */
	pid_t		builder;		/* whose turn it is to build with it; 0: nobody's */
	RtscanDeviceSpeed speeds[DEVICE_EXECUTORS];
	RtscanDeviceSpeed first_speeds[DEVICE_EXECUTORS];	/* calibrated */
	double		adding;
	double		first_adding;
	double		building;
	uint64		memory;
} OfDevice;

typedef struct Experience
{
	slock_t		mutex;
	double		cpu;			/* how many times as long as its costs say the CPU takes */
	OfDevice	devices[RTSCAN_MAX_DEVICES];
	OfGroup		groups[GROUPS]; /* by hash, */
	Wish		wishes[WISHES]; /* likewise */
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

/* The place of what is known of a group, or may become known; its key says whether it is. */
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

/* One that waited for others says little: no sample counts for more than a few times what is known. */
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

/* A figure by itself. */
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
rtscan_note_device_speed(int device, DeviceExecutor executor, uint64 group, double chunks, double elapsed, double of_device)
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

/* What was measured first does not change while its program runs. */
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
 * Nobody knows how often a column will be scanned.  Uploading it when scans have lost as much
 * by its absence as the upload takes costs no more than twice what the best decision would have,
 * but for having asked.
 */
static bool
wish_pays(uint64 hash, double cost, double gain, bool forget)
{
	Wish	   *wish = &experience->wishes[hash % WISHES];
	bool		pays;

	SpinLockAcquire(&experience->mutex);
	if (wish->of != hash && wish->gain > gain)
	{
		/* Another one's place: who comes more often will have it. */
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
