/* SPDX-License-Identifier: PostgreSQL */
/*
 * choose_device.h
 *		Open Vulkan, and choose a device.
 *
 * Both functions end the program with DEVICE_EXIT_NO_DEVICE if there is no device that can be used.  The log says why.
 */
#ifndef RTSCAN_DEVICE_CHOOSE_DEVICE_H
#define RTSCAN_DEVICE_CHOOSE_DEVICE_H

#include "limits.h"

/* Load Vulkan's functions, and return an instance. */
extern VkInstance open_vulkan(void);

/*
 * Choose a device, and store its facts.  "wanted" is its number, a part of its name, or empty for any device that is
 * not software.  The first "passed_over" devices that match are skipped; after the last one, counting continues with
 * the first one.  "lacks" is NULL or, for tests, a limit that all devices are made to miss.
 */
extern VkPhysicalDevice choose_device(VkInstance instance, const char *wanted, uint32_t passed_over, const Limit *lacks,
									  DeviceFacts *facts);

#endif							/* RTSCAN_DEVICE_CHOOSE_DEVICE_H */
