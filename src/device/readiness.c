/* SPDX-License-Identifier: PostgreSQL */
/*
 * readiness.c
 *		Shared memory of the worker and all backends: the number of devices, and which of them are ready.
 */
#include "device/readiness.h"

#include "device/adaptive_cost.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "settings.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

/* Shared state of a device. */
typedef struct DeviceState
{
	pg_atomic_uint32 ready;		/* can backends connect to its program? */
	pg_atomic_uint32 suspect;	/* has a backend waited in vain for a reply? */
} DeviceState;

/* The shared memory. */
typedef struct DeviceStates
{
	pg_atomic_uint32 n;			/* number of devices that rtscan.device names */
	DeviceState devices[RTSCAN_MAX_DEVICES];
} DeviceStates;

static DeviceStates *states;
static shmem_request_hook_type previous_request_hook;
static shmem_startup_hook_type previous_startup_hook;

static void
request_shared_memory(void)
{
	if (previous_request_hook)
		previous_request_hook();
	RequestAddinShmemSpace(add_size(sizeof(DeviceStates), rtscan_adaptive_cost_size()));
}

static void
attach_shared_memory(void)
{
	bool		found;

	if (previous_startup_hook)
		previous_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	states = ShmemInitStruct("rtscan device", sizeof(DeviceStates), &found);
	if (!found)
	{
		pg_atomic_init_u32(&states->n, 0);
		for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
		{
			pg_atomic_init_u32(&states->devices[device].ready, false);
			pg_atomic_init_u32(&states->devices[device].suspect, false);
		}
	}
	rtscan_attach_adaptive_cost();
	LWLockRelease(AddinShmemInitLock);
}

void
rtscan_init_readiness(void)
{
	previous_request_hook = shmem_request_hook;
	shmem_request_hook = request_shared_memory;
	previous_startup_hook = shmem_startup_hook;
	shmem_startup_hook = attach_shared_memory;
}

/* ---------------------------------------------------------------- for all processes */

bool
rtscan_devices_are_off(void)
{
	char	   *rest = pstrdup(rtscan_device);

	return pg_strcasecmp(rtscan_next_device(&rest), "off") == 0;
}

int
rtscan_devices(void)
{
	return states != NULL ? pg_atomic_read_u32(&states->n) : 0;
}

bool
rtscan_device_is_ready(int device)
{
	return states != NULL && pg_atomic_read_u32(&states->devices[device].ready);
}

bool
rtscan_is_any_device_ready(void)
{
	int			n = rtscan_devices();

	for (int device = 0; device < n; device++)
		if (rtscan_device_is_ready(device))
			return true;
	return false;
}

const char *
rtscan_device_not_ready(void)
{
	if (states == NULL)
		return "There is no device, because rtscan is not in shared_preload_libraries.";
	if (rtscan_devices_are_off())
		return "There is no device, because rtscan.device is \"off\".";
	return "There is no device, or its program is still starting. The server's log says which.";
}

void
rtscan_suspect_device(int device)
{
	pg_atomic_write_u32(&states->devices[device].suspect, true);
}

/* ---------------------------------------------------------------- for the worker */

void
rtscan_set_devices(int n)
{
	pg_atomic_write_u32(&states->n, n);
}

void
rtscan_set_device_ready(int device, bool ready)
{
	pg_atomic_write_u32(&states->devices[device].ready, ready);
}

bool
rtscan_clear_suspicion(int device)
{
	return pg_atomic_exchange_u32(&states->devices[device].suspect, false);
}
