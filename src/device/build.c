/* SPDX-License-Identifier: PostgreSQL */
/*
 * build.c
 *		Use a device to help CREATE INDEX and merges.
 */
#include "device/build.h"

#include "device/adaptive_cost.h"
#include "device/client.h"
#include "device/readiness.h"
#include "miscadmin.h"
#include "settings.h"

/* With fewer rows the CPU is faster than a request to the device. */
#define MIN_ROWS	RTSCAN_CHUNK_ROWS

/*
 * Return an area of the first device that can be used, and set *device.  Returns NULL if no device can be used.  The
 * search begins at a device that depends on the process id, so that not all processes wait for the same device.  If
 * "automatic" is true, skips software devices, and devices whose turn another process has.
 */
static char *
any_area(bool automatic, Size size, int *device)
{
	int			n = rtscan_devices();

	for (int i = 0; i < n; i++)
	{
		char	   *area;

		*device = (MyProcPid + i) % n;
		if (!rtscan_device_is_ready(*device) || (automatic && !rtscan_device_take_turn(*device)))
			continue;
		area = rtscan_device_area(*device, size);
		if (area && !(automatic && rtscan_device_is_software(*device)))
			return area;
		rtscan_device_end_turn();
	}
	return NULL;
}

char *
rtscan_device_build_area(uint32 rows, Size size, int *device)
{
	if (rtscan_executor == RTSCAN_EXECUTOR_CPU || rows < MIN_ROWS)
		return NULL;
	return any_area(rtscan_executor == RTSCAN_EXECUTOR_AUTO, size, device);
}

bool
rtscan_device_ask_for_build(int device, const DeviceRequest *request)
{
	DeviceReply reply;
	bool		answered = rtscan_device_ask(device, request, &reply);

	rtscan_device_end_turn();
	return answered && reply.result == DEVICE_OK;
}
