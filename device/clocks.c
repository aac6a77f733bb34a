/*
 * clocks.c
 *		Keep a device's clocks up while it is used.
 */
#define _GNU_SOURCE
#include "clocks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "context.h"

/* CUDA's driver interface, as far as it is needed: cuda.h is not there where this is built.  0 is success. */
typedef struct Cuda
{
	int			(*init) (unsigned int flags);
	int			(*count) (int *count);
	int			(*get) (int *device, int number);
	int			(*uuid) (uint8_t *uuid, int device);
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
	cuda->create = (int (*) (void **, unsigned int, int)) dlsym(handle, "cuCtxCreate_v2");
	cuda->destroy = (int (*) (void *)) dlsym(handle, "cuCtxDestroy_v2");
	return cuda->init && cuda->count && cuda->get && cuda->uuid && cuda->create && cuda->destroy;
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
open_cuda(Cuda *cuda)
{
	int			result = cuda->create(&cuda->context, 0, cuda->device);

	if (result != 0)
		report("the device's clocks are left to its driver, for cuCtxCreate returned %d", result);
	return result == 0;
}

/* The thread.  Who has no context once goes on without. */
static void *
keep_clocks(void *arg)
{
	Clocks	   *clocks = arg;
	Cuda		cuda = {0};

	if (!load_functions(&cuda, clocks->library) || !find_device(&cuda, clocks->uuid))
		return NULL;
	for (;;)
	{
		while (sem_wait(&clocks->uses) != 0)
			continue;
		if (!open_cuda(&cuda))
			return NULL;
		do
		{
			atomic_store(&clocks->used, false);
			sleep(clocks->idle_seconds);
		} while (sem_trywait(&clocks->uses) == 0);
		cuda.destroy(cuda.context);
	}
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
	if (sem_init(&clocks->uses, 0, 0) != 0)
		return;
	/* Signals are the main thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	clocks->kept = pthread_create(&thread, NULL, keep_clocks, clocks) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (clocks->kept)
		pthread_detach(thread);
}

void
clocks_note_use(Clocks *clocks)
{
	if (clocks->kept && !atomic_exchange(&clocks->used, true))
		sem_post(&clocks->uses);
}
