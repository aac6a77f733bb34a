/*
 * clocks.c
 *		Keep a device's clocks up while it is used.
 */
#define _GNU_SOURCE
#include "clocks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "context.h"

/* CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, and CU_COMPUTEMODE_DEFAULT: several programs may have contexts. */
#define COMPUTE_MODE	20
#define SHARED_MODE		0

/* CUDA's driver interface, as far as it is needed: cuda.h is not there where this is built.  0 is success. */
typedef struct Cuda
{
	int			(*init) (unsigned int flags);
	int			(*count) (int *count);
	int			(*get) (int *device, int number);
	int			(*uuid) (uint8_t *uuid, int device);
	int			(*attribute) (int *value, int attribute, int device);
	int			(*create) (void **context, unsigned int flags, int device);
	int			(*destroy) (void *context);
	int			device;
	void	   *context;
} Cuda;

static bool
load_functions(Cuda *cuda, const char *library)
{
	void	   *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

	if (handle == NULL)
		return false;
	cuda->init = (int (*) (unsigned int)) dlsym(handle, "cuInit");
	cuda->count = (int (*) (int *)) dlsym(handle, "cuDeviceGetCount");
	cuda->get = (int (*) (int *, int)) dlsym(handle, "cuDeviceGet");
	cuda->uuid = (int (*) (uint8_t *, int)) dlsym(handle, "cuDeviceGetUuid");
	cuda->attribute = (int (*) (int *, int, int)) dlsym(handle, "cuDeviceGetAttribute");
	cuda->create = (int (*) (void **, unsigned int, int)) dlsym(handle, "cuCtxCreate_v2");
	cuda->destroy = (int (*) (void *)) dlsym(handle, "cuCtxDestroy_v2");
	return cuda->init && cuda->count && cuda->get && cuda->uuid && cuda->attribute && cuda->create && cuda->destroy;
}

/* Of those that CUDA shows. */
static bool
find_device(Cuda *cuda, const uint8_t *wanted)
{
	int			count = 0;

	if (cuda->init(0) != 0 || cuda->count(&count) != 0)
		return false;
	for (int i = 0; i < count; i++)
	{
		uint8_t		uuid[CLOCKS_UUID_BYTES];

		if (cuda->get(&cuda->device, i) == 0 && cuda->uuid(uuid, cuda->device) == 0 && memcmp(uuid, wanted, CLOCKS_UUID_BYTES) == 0)
			return true;
	}
	return false;
}

static bool
is_shared(const Cuda *cuda)
{
	int			mode;

	return cuda->attribute(&mode, COMPUTE_MODE, cuda->device) == 0 && mode == SHARED_MODE;
}

/* Why clocks cannot be kept up, or NULL. */
static const char *
begin_cuda(Cuda *cuda, const Clocks *clocks)
{
	if (!load_functions(cuda, clocks->library))
		return "there is no CUDA library (libcuda.so.1)";
	if (!find_device(cuda, clocks->uuid))
		return "CUDA does not show the device";
	return is_shared(cuda) ? NULL : "the device is not in its default compute mode";
}

/* There may be no memory for it, or not yet. */
static bool
open_cuda(Cuda *cuda, bool *reported)
{
	int			result = cuda->create(&cuda->context, 0, cuda->device);

	if (result != 0 && !*reported)
		report("the device's clocks are left to its driver, for cuCtxCreate returned %d", result);
	*reported |= result != 0;
	return result == 0;
}

/* A use has been told of: return when there has been none for so long. */
static void
wait_for_idleness(Clocks *clocks)
{
	do
	{
		atomic_store(&clocks->used, false);
		sleep(clocks->idle_seconds);
	} while (sem_trywait(&clocks->uses) == 0);
}

/* The thread. */
static void *
keep_clocks(void *arg)
{
	Clocks	   *clocks = arg;
	Cuda		cuda = {0};
	const char *why = begin_cuda(&cuda, clocks);
	bool		reported = false;

	if (why)
	{
		report("the device's clocks are left to its driver: %s", why);
		sem_post(&clocks->settled);
		return NULL;
	}
	for (;;)
	{
		bool		open;

		while (sem_wait(&clocks->uses) != 0)
			continue;
		open = open_cuda(&cuda, &reported);
		sem_post(&clocks->settled);
		wait_for_idleness(clocks);
		if (open)
			cuda.destroy(cuda.context);
	}
}

/* CUDA would open all devices that it shows, which others may want to reset. */
static void
show_one_device(const uint8_t *uuid)
{
	char		name[64];
	int			length = snprintf(name, sizeof(name), "GPU-");

	for (int i = 0; i < CLOCKS_UUID_BYTES; i++)
		length += snprintf(name + length, sizeof(name) - length, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
	setenv("CUDA_VISIBLE_DEVICES", name, 0);
}

void
clocks_keep(Clocks *clocks, const char *library, const uint8_t *uuid, unsigned int idle_seconds)
{
	pthread_t	thread;
	sigset_t	all,
				before;

	clocks->library = library;
	clocks->idle_seconds = idle_seconds;
	memcpy(clocks->uuid, uuid, CLOCKS_UUID_BYTES);
	if (sem_init(&clocks->uses, 0, 0) != 0 || sem_init(&clocks->settled, 0, 0) != 0)
		return;
	show_one_device(uuid);
	/* Signals are the main thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	clocks->kept = pthread_create(&thread, NULL, keep_clocks, clocks) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (clocks->kept)
		pthread_detach(thread);
}

void
clocks_wait(Clocks *clocks, unsigned int seconds)
{
	struct timespec until;

	if (!clocks->kept)
		return;
	clocks_note_use(clocks);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += seconds;
	(void) sem_timedwait(&clocks->settled, &until);
}

void
clocks_note_use(Clocks *clocks)
{
	if (clocks->kept && !atomic_exchange(&clocks->used, true))
		sem_post(&clocks->uses);
}
