/*
 * build.c
 *		Whether CREATE INDEX and merges use the device.
 */
#include "device/device.h"

#include "search/executor.h"
#include "settings.h"

/* With fewer rows the CPU is done before the device has heard of them. */
#define MIN_ROWS	RTSCAN_CHUNK_ROWS

char *
rtscan_device_build_area(uint32 rows, Size size)
{
	char	   *area;

	if (rtscan_executor == RTSCAN_EXECUTOR_CPU || rows < MIN_ROWS || !rtscan_device_ready())
		return NULL;
	area = rtscan_device_area(size);
	return rtscan_executor == RTSCAN_EXECUTOR_AUTO && rtscan_device_is_software() ? NULL : area;
}
