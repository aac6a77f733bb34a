/*
 * build.c
 *		Whether CREATE INDEX and merges use the device.
 */
#include "device/device.h"

#include "settings.h"

/* With fewer rows the CPU is done before the device has heard of them. */
#define MIN_ROWS	RTSCAN_CHUNK_ROWS

char *
rtscan_device_build_area(uint32 rows, Size size)
{
	bool		automatic = rtscan_executor == RTSCAN_EXECUTOR_AUTO;
	char	   *area;

	if (rtscan_executor == RTSCAN_EXECUTOR_CPU || rows < MIN_ROWS || !rtscan_device_ready() ||
		(automatic && !rtscan_device_take_turn()))
		return NULL;
	area = rtscan_device_area(size);
	if (automatic && rtscan_device_is_software())
		area = NULL;
	if (area == NULL)
		rtscan_device_end_turn();
	return area;
}

bool
rtscan_device_ask_for_build(const DeviceRequest *request)
{
	DeviceReply reply;
	bool		answered = rtscan_device_ask(request, &reply);

	rtscan_device_end_turn();
	return answered && reply.result == DEVICE_OK;
}

void
rtscan_init_device_build(void)
{
	rtscan_assistant = (RtscanAssistant) {
		.sort = rtscan_device_sort,
		.make_vectors = rtscan_device_vectors,
		.dismiss = rtscan_device_trim_area,
	};
}
