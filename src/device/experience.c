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

/* A column that is not on the device, and what scans would have gained with it, in nanoseconds. */
typedef struct Wish
{
	uint64		column;			/* hash of its key */
	double		gain;
} Wish;

#define WISHES			4096

typedef struct OfDevice
{
	pid_t		builder;		/* whose turn it is to build with it; 0: nobody's */
	RtscanDeviceSpeed speeds[DEVICE_EXECUTORS];
	RtscanDeviceSpeed first_speeds[DEVICE_EXECUTORS];	/* calibrated */
	double		adding;
	double		first_adding;
	uint64		memory;
} OfDevice;

typedef struct Experience
{
	slock_t		mutex;
	double		cpu;			/* how many times as long as its costs say the CPU takes; 0: nobody knows */
	OfDevice	devices[RTSCAN_MAX_DEVICES];
	Wish		wishes[WISHES]; /* by hash */
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
	double		unknown[DEVICE_EXECUTORS];
	bool		found;

	experience = ShmemInitStruct("rtscan device experience", sizeof(Experience), &found);
	if (found)
		return;
	memset(experience, 0, sizeof(Experience));
	SpinLockInit(&experience->mutex);
	for (int i = 0; i < DEVICE_EXECUTORS; i++)
		unknown[i] = get_float8_infinity();
	for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
		rtscan_begin_device_experience(device, unknown, get_float8_infinity(), 0);
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
rtscan_begin_device_experience(int device, const double *chunk, double adding, uint64 memory)
{
	OfDevice   *of = &experience->devices[device];

	SpinLockAcquire(&experience->mutex);
	for (int i = 0; i < DEVICE_EXECUTORS; i++)
		of->speeds[i] = of->first_speeds[i] = (RtscanDeviceSpeed) {FIRST_REQUEST, chunk[i]};
	of->adding = of->first_adding = adding;
	of->memory = memory;
	SpinLockRelease(&experience->mutex);
}

RtscanDeviceSpeed
rtscan_device_speed(int device, DeviceExecutor executor)
{
	RtscanDeviceSpeed speed;

	SpinLockAcquire(&experience->mutex);
	speed = experience->devices[device].speeds[executor];
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

static void
approach_speed(RtscanDeviceSpeed *speed, double request, double chunk, double weight)
{
	SpinLockAcquire(&experience->mutex);
	approach(&speed->request, request, weight);
	approach(&speed->chunk, chunk, weight);
	SpinLockRelease(&experience->mutex);
}

static void
approach_adding(double *adding, double sample, double weight)
{
	SpinLockAcquire(&experience->mutex);
	approach(adding, sample, weight);
	SpinLockRelease(&experience->mutex);
}

void
rtscan_note_device_speed(int device, DeviceExecutor executor, double chunks, double elapsed, double of_device)
{
	approach_speed(&experience->devices[device].speeds[executor], elapsed - of_device, of_device / chunks, SPEED_WEIGHT);
}

/* What was measured first does not change while its program runs. */
void
rtscan_forget_device_speed(int device, DeviceExecutor executor)
{
	OfDevice   *of = &experience->devices[device];
	const RtscanDeviceSpeed *first = &of->first_speeds[executor];

	approach_speed(&of->speeds[executor], first->request, first->chunk, FORGET_WEIGHT);
}

double
rtscan_device_adding(int device)
{
	double		adding;

	SpinLockAcquire(&experience->mutex);
	adding = experience->devices[device].adding;
	SpinLockRelease(&experience->mutex);
	return adding;
}

void
rtscan_note_device_adding(int device, double columns, double nanoseconds)
{
	approach_adding(&experience->devices[device].adding, nanoseconds / columns, SPEED_WEIGHT);
}

void
rtscan_forget_device_adding(int device)
{
	OfDevice   *of = &experience->devices[device];

	approach_adding(&of->adding, of->first_adding, FORGET_WEIGHT);
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
	SpinLockAcquire(&experience->mutex);
	approach(&experience->cpu, elapsed / price, SPEED_WEIGHT);
	SpinLockRelease(&experience->mutex);
}

double
rtscan_cpu_slowness(void)
{
	double		slowness;

	if (experience == NULL)
		return 1;
	SpinLockAcquire(&experience->mutex);
	slowness = experience->cpu;
	SpinLockRelease(&experience->mutex);
	return slowness > 0 ? slowness : 1;
}

/* ---------------------------------------------------------------- uploads */

/*
 * Nobody knows how often a column will be scanned.  Uploading it when scans have lost as much
 * by its absence as the upload takes costs no more than twice what the best decision would have,
 * but for having asked.
 */
bool
rtscan_device_upload_pays(const SegmentKey *key, int column, uint64 size, double gain)
{
	uint64		hash = hash_combine64(hash_bytes_extended((const unsigned char *) key, sizeof(SegmentKey), 0), column);
	Wish	   *wish = &experience->wishes[hash % WISHES];
	bool		pays;

	SpinLockAcquire(&experience->mutex);
	if (wish->column != hash && wish->gain > gain)
	{
		/* Another column's place: who comes more often will have it. */
		wish->gain -= gain;
		SpinLockRelease(&experience->mutex);
		return false;
	}
	if (wish->column != hash)
		*wish = (Wish) {.column = hash};
	wish->gain += gain;
	pays = wish->gain >= size * UPLOAD_BYTE;
	if (pays)
		wish->gain = 0;
	SpinLockRelease(&experience->mutex);
	return pays;
}
