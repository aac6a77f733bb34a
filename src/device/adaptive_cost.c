/* SPDX-License-Identifier: PostgreSQL */
/*
 * adaptive_cost.c
 *		Adapt the cost model of devices and the CPU to what all backends have measured.
 *
 * Shared memory holds the speeds of devices and the CPU, the time that scans have lost because columns or BVHs were
 * not on a device, and the process whose turn it is to use a device for a build.
 */
#include "device/adaptive_cost.h"

#include <math.h>

#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/float.h"

/* Nanoseconds assumed for sending a request and receiving its reply, until the first one is measured. */
#define FIRST_REQUEST	300000.0
/* Weight of a new sample in an estimate. */
#define SPEED_WEIGHT	0.125
/*
 * Weight with which an estimate moves back to the first measurement, or to 1 for the CPU, each time that the estimate
 * has kept "auto" from choosing the device or the CPU.
 */
#define FORGET_WEIGHT	(1.0 / 256)
/* A sample counts as no more than this multiple of the estimate: the request may have waited for other requests. */
#define LARGEST_SAMPLE	4.0

/* Nanoseconds that an upload needs for each byte: to read pages, to copy them, and to transfer them over the bus. */
#define UPLOAD_BYTE		1.0

/* A column, or the BVHs of a group, that were not on a device when scans needed them. */
typedef struct Miss
{
	uint64		hash;			/* hash of the segment and the column, or of the device and the group */
	/* nanoseconds that scans have lost because the column or the BVHs were not on the device */
	double		gain;
} Miss;

/* Number of slots in the hash table of misses.  A miss may replace another one in its slot. */
#define MISSES			4096

/* The speed of a device for a group of columns and regions (see RtscanDeviceSpeed). */
typedef struct GroupSpeed
{
	uint64		key;			/* hash of the device, its program, the executor and the group; 0: the slot is empty */
	double		chunk;			/* nanoseconds to search a chunk */
} GroupSpeed;

/* Number of slots in the hash table of groups.  A group replaces another one in its slot. */
#define GROUPS			4096
/* Weight of a new sample in the estimate of a group. */
#define GROUP_WEIGHT	0.5

/* Facts and estimates about a device. */
typedef struct DeviceCosts
{
	uint32		program;		/* number of programs started for the device so far; keeps the groups of earlier
								 * programs apart */
	pid_t		builder;		/* process that has the turn to use the device for a build; 0: no process */
	RtscanDeviceSpeed speeds[DEVICE_EXECUTORS]; /* current estimates */
	RtscanDeviceSpeed first_speeds[DEVICE_EXECUTORS];	/* first measurements, by the program */
	double		adding;			/* nanoseconds to add up a column of a chunk */
	double		first_adding;	/* first measurement of adding, by the program */
	double		building;		/* nanoseconds to build a BVH of a chunk */
	uint64		memory;			/* device memory in bytes */
} DeviceCosts;

/* The shared memory. */
typedef struct AdaptiveCosts
{
	slock_t		mutex;			/* protects all members */
	double		cpu;			/* ratio of the CPU's time to its estimated cost */
	DeviceCosts devices[RTSCAN_MAX_DEVICES];
	GroupSpeed	groups[GROUPS]; /* hash table of groups, by key */
	Miss		misses[MISSES]; /* hash table of misses, by hash */
} AdaptiveCosts;

static AdaptiveCosts *costs;

Size
rtscan_adaptive_cost_size(void)
{
	return sizeof(AdaptiveCosts);
}

void
rtscan_attach_adaptive_cost(void)
{
	RtscanDeviceCalibration unknown = {.adding = get_float8_infinity(), .building = get_float8_infinity()};
	bool		found;

	costs = ShmemInitStruct("rtscan adaptive cost", sizeof(AdaptiveCosts), &found);
	if (found)
		return;
	memset(costs, 0, sizeof(AdaptiveCosts));
	SpinLockInit(&costs->mutex);
	costs->cpu = 1;
	for (int i = 0; i < DEVICE_EXECUTORS; i++)
		unknown.chunk[i] = get_float8_infinity();
	for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
		rtscan_begin_adaptive_cost(device, &unknown);
}

/* ---------------------------------------------------------------- builds */

bool
rtscan_device_take_turn(int device)
{
	pid_t	   *builder = &costs->devices[device].builder;
	bool		taken;

	SpinLockAcquire(&costs->mutex);
	if (*builder == 0)
		*builder = MyProcPid;
	taken = *builder == MyProcPid;
	SpinLockRelease(&costs->mutex);
	return taken;
}

void
rtscan_device_end_turn(void)
{
	SpinLockAcquire(&costs->mutex);
	for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
		if (costs->devices[device].builder == MyProcPid)
			costs->devices[device].builder = 0;
	SpinLockRelease(&costs->mutex);
}

/* ---------------------------------------------------------------- speed */

void
rtscan_begin_adaptive_cost(int device, const RtscanDeviceCalibration *calibration)
{
	DeviceCosts *own = &costs->devices[device];

	SpinLockAcquire(&costs->mutex);
	for (int i = 0; i < DEVICE_EXECUTORS; i++)
		own->speeds[i] = own->first_speeds[i] = (RtscanDeviceSpeed) {FIRST_REQUEST, calibration->chunk[i]};
	own->adding = own->first_adding = calibration->adding;
	own->building = calibration->building;
	own->memory = calibration->memory;
	own->program++;
	SpinLockRelease(&costs->mutex);
}

/*
 * Return the slot of a group in the hash table, and set *key to the group's key.  The slot holds the group if it has
 * this key.
 */
static GroupSpeed *
place_of_group(int device, DeviceExecutor executor, uint64 group, uint64 *key)
{
	uint64		of_device = hash_combine64(device + 1, costs->devices[device].program);

	*key = hash_combine64(hash_combine64(group, of_device), executor + 1);
	return &costs->groups[*key % GROUPS];
}

RtscanDeviceSpeed
rtscan_device_speed(int device, DeviceExecutor executor, uint64 group)
{
	RtscanDeviceSpeed speed;
	uint64		key;
	GroupSpeed *known = place_of_group(device, executor, group, &key);

	SpinLockAcquire(&costs->mutex);
	speed = costs->devices[device].speeds[executor];
	if (known->key == key)
		speed.chunk = known->chunk;
	SpinLockRelease(&costs->mutex);
	return speed;
}

/*
 * Move an estimate towards a sample.  The sample is limited to LARGEST_SAMPLE times the estimate, since a request
 * that had to wait for other requests tells little about the speed.
 */
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

/* Return an estimate.  Takes the mutex to read it. */
static double
read_estimate(const double *estimate)
{
	double		value;

	SpinLockAcquire(&costs->mutex);
	value = *estimate;
	SpinLockRelease(&costs->mutex);
	return value;
}

static void
update_estimate(double *estimate, double sample, double weight)
{
	SpinLockAcquire(&costs->mutex);
	approach(estimate, sample, weight);
	SpinLockRelease(&costs->mutex);
}

void
rtscan_note_device_speed(int device, DeviceExecutor executor, uint64 group, double chunks,
						 double elapsed, double of_device)
{
	RtscanDeviceSpeed *speed = &costs->devices[device].speeds[executor];
	double		chunk = of_device / chunks;
	uint64		key;
	GroupSpeed *known = place_of_group(device, executor, group, &key);

	SpinLockAcquire(&costs->mutex);
	approach(&speed->request, elapsed - of_device, SPEED_WEIGHT);
	if (known->key == key)
		approach(&known->chunk, chunk, GROUP_WEIGHT);
	else
	{
		*known = (GroupSpeed) {key, chunk};
		approach(&speed->chunk, chunk, SPEED_WEIGHT);
	}
	SpinLockRelease(&costs->mutex);
}

void
rtscan_forget_device_speed(int device, DeviceExecutor executor, uint64 group)
{
	DeviceCosts *own = &costs->devices[device];
	RtscanDeviceSpeed *speed = &own->speeds[executor];
	const RtscanDeviceSpeed *first = &own->first_speeds[executor];
	uint64		key;
	GroupSpeed *known = place_of_group(device, executor, group, &key);

	SpinLockAcquire(&costs->mutex);
	approach(&speed->request, first->request, FORGET_WEIGHT);
	approach(&speed->chunk, first->chunk, FORGET_WEIGHT);
	if (known->key == key)
		approach(&known->chunk, first->chunk, FORGET_WEIGHT);
	SpinLockRelease(&costs->mutex);
}

double
rtscan_device_building(int device)
{
	return read_estimate(&costs->devices[device].building);
}

double
rtscan_device_adding(int device)
{
	return read_estimate(&costs->devices[device].adding);
}

void
rtscan_note_device_adding(int device, double columns, double nanoseconds)
{
	update_estimate(&costs->devices[device].adding, nanoseconds / columns, SPEED_WEIGHT);
}

void
rtscan_forget_device_adding(int device)
{
	DeviceCosts *own = &costs->devices[device];

	update_estimate(&own->adding, own->first_adding, FORGET_WEIGHT);
}

uint64
rtscan_device_total_memory(int device)
{
	uint64		memory;

	SpinLockAcquire(&costs->mutex);
	memory = costs->devices[device].memory;
	SpinLockRelease(&costs->mutex);
	return memory;
}

/* ---------------------------------------------------------------- the CPU */

void
rtscan_note_cpu_speed(double price, double elapsed)
{
	update_estimate(&costs->cpu, elapsed / price, SPEED_WEIGHT);
}

void
rtscan_forget_cpu_speed(void)
{
	update_estimate(&costs->cpu, 1, FORGET_WEIGHT);
}

double
rtscan_cpu_slowness(void)
{
	return costs ? read_estimate(&costs->cpu) : 1;
}

/* ---------------------------------------------------------------- uploads */

/*
 * Add "gain", the nanoseconds that a scan has lost, to a miss.  Returns true if the sum is at least "cost", the
 * nanoseconds of the upload or build that would end the miss.  If true is returned and "forget" is true, the miss is
 * removed.  If the slot holds another miss with a larger gain, "gain" is subtracted from that miss, and false is
 * returned.
 *
 * How often a column will be scanned is not known.  If the column is uploaded as soon as scans have lost as much time
 * as the upload takes, the lost time and the upload together take at most twice the time of the best decision.
 */
static bool
miss_pays(uint64 hash, double cost, double gain, bool forget)
{
	Miss	   *miss = &costs->misses[hash % MISSES];
	bool		pays;

	SpinLockAcquire(&costs->mutex);
	if (miss->hash != hash && miss->gain > gain)
	{
		/* the slot holds another miss, which stays as long as its gain is larger */
		miss->gain -= gain;
		SpinLockRelease(&costs->mutex);
		return false;
	}
	if (miss->hash != hash)
		*miss = (Miss) {.hash = hash};
	miss->gain += gain;
	pays = miss->gain >= cost;
	if (pays && forget)
		*miss = (Miss) {0};
	SpinLockRelease(&costs->mutex);
	return pays;
}

bool
rtscan_device_upload_pays(const SegmentKey *key, int column, uint64 size, double gain)
{
	return miss_pays(hash_combine64(hash_bytes_extended((const unsigned char *) key, sizeof(SegmentKey), 0), column),
					 size * UPLOAD_BYTE, gain, true);
}

static uint64
miss_of_group(int device, uint64 group)
{
	return hash_combine64(group, device + 1);
}

bool
rtscan_device_build_pays(int device, uint64 group, double nanoseconds, double gain)
{
	return miss_pays(miss_of_group(device, group), nanoseconds, gain, false);
}

bool
rtscan_device_wants_build(int device, uint64 group)
{
	uint64		hash = miss_of_group(device, group);
	bool		wants;

	SpinLockAcquire(&costs->mutex);
	wants = costs->misses[hash % MISSES].hash == hash;
	SpinLockRelease(&costs->mutex);
	return wants;
}

void
rtscan_device_has_built(int device, uint64 group)
{
	uint64		hash = miss_of_group(device, group);
	Miss	   *miss = &costs->misses[hash % MISSES];

	SpinLockAcquire(&costs->mutex);
	if (miss->hash == hash)
		*miss = (Miss) {0};
	SpinLockRelease(&costs->mutex);
}
