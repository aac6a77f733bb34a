/*
 * clocks_test.c
 *		Clocks are kept up from the first use on until there has been none for a while, and again; only the device's own, if it is shared, and
 *		when CUDA has a context for it.  The program has CUDA's functions itself.
 */
#include "../clocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Seconds; longer than that nothing takes. */
#define PATIENCE	60

#define DEVICES		3
#define REFUSED		2

static atomic_int created,
			destroyed,
			refused;
static atomic_int wrong_device;
static atomic_bool refuses;

/* ---------------------------------------------------------------- CUDA */

int			cuInit(unsigned int flags);
int			cuDeviceGetCount(int *count);
int			cuDeviceGet(int *device, int number);
int			cuDeviceGetUuid(uint8_t *uuid, int device);
int			cuDeviceGetAttribute(int *value, int attribute, int device);
int			cuCtxCreate_v2(void **context, unsigned int flags, int device);
int			cuCtxDestroy_v2(void *context);

int
cuInit(unsigned int flags)
{
	return (int) flags;
}

int
cuDeviceGetCount(int *count)
{
	*count = DEVICES;
	return 0;
}

int
cuDeviceGet(int *device, int number)
{
	*device = 100 + number;
	return 0;
}

/* Each of the device's number. */
int
cuDeviceGetUuid(uint8_t *uuid, int device)
{
	memset(uuid, device - 100, CLOCKS_UUID_BYTES);
	return 0;
}

/* The last one's mode is exclusive. */
int
cuDeviceGetAttribute(int *value, int attribute, int device)
{
	*value = attribute == 20 && device == 100 + DEVICES - 1 ? 3 : 0;
	return 0;
}

int
cuCtxCreate_v2(void **context, unsigned int flags, int device)
{
	wrong_device += device != 101 || flags != 0;
	if (refuses)
	{
		refused++;
		return REFUSED;
	}
	*context = &created;
	created++;
	return 0;
}

int
cuCtxDestroy_v2(void *context)
{
	wrong_device += context != &created;
	destroyed++;
	return 0;
}

/* ---------------------------------------------------------------- tests */

static void
expect(bool right, const char *what)
{
	if (right)
		return;
	printf("%s: %d contexts, %d of them closed, %d refused\n", what, created, destroyed, refused);
	exit(EXIT_FAILURE);
}

static void
wait_a_bit(void)
{
	nanosleep(&(struct timespec) {.tv_nsec = 20000000}, NULL);
}

static void
wait_for(const atomic_int *count, int value, const char *what)
{
	for (int i = 0; i < PATIENCE * 50 && *count != value; i++)
		wait_a_bit();
	expect(*count == value, what);
}

/* A use right after the one before is none that is told of. */
static void
use_until(Clocks *clocks, const atomic_int *count, int value, const char *what)
{
	for (int i = 0; i < PATIENCE * 50 && *count < value; i++)
	{
		clocks_note_use(clocks);
		wait_a_bit();
	}
	expect(*count >= value, what);
}

static void
keep(Clocks *clocks, int device, unsigned int idle_seconds)
{
	uint8_t		uuid[CLOCKS_UUID_BYTES];

	memset(uuid, device, CLOCKS_UUID_BYTES);
	clocks_keep(clocks, NULL, uuid, idle_seconds);
}

int
main(void)
{
	static Clocks unkept,
				unknown,
				exclusive,
				short_lived,
				long_lived,
				without;

	clocks_note_use(&unkept);
	clocks_wait(&unkept, PATIENCE);
	keep(&unknown, DEVICES, 0);
	clocks_wait(&unknown, PATIENCE);
	keep(&exclusive, DEVICES - 1, 0);
	clocks_wait(&exclusive, PATIENCE);
	keep(&short_lived, 1, 1);
	for (int use = 1; use <= 3; use++)
	{
		expect(created == use - 1, "opened unused");
		clocks_note_use(&short_lived);
		wait_for(&created, use, "a use");
		wait_for(&destroyed, use, "no use");
	}
	keep(&long_lived, 1, PATIENCE);
	clocks_wait(&long_lived, PATIENCE);
	expect(created == 4, "waited for");
	for (int i = 0; i < 50; i++)
	{
		clocks_note_use(&long_lived);
		wait_a_bit();
	}
	wait_for(&created, 4, "many uses");
	expect(destroyed == 3, "many uses");
	refuses = true;
	keep(&without, 1, 0);
	clocks_wait(&without, PATIENCE);
	expect(refused == 1 && created == 4, "no context");
	use_until(&without, &refused, 2, "no context again");
	refuses = false;
	use_until(&without, &created, 5, "a context at last");
	expect(wrong_device == 0, "other devices");
	printf("ok\n");
	return 0;
}
