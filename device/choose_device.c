/* SPDX-License-Identifier: PostgreSQL */
/*
 * choose_device.c
 *		Open Vulkan, and choose a device.
 */
#include "choose_device.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "protocol.h"
#include "report.h"

#define MAX_DEVICES			32
#define MAX_EXTENSIONS		1024

static void
no_device(const char *why)
{
	report("%s", why);
	_Exit(DEVICE_EXIT_NO_DEVICE);
}

VkInstance
open_vulkan(void)
{
	VkApplicationInfo application = {
		.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
		.pApplicationName = "rtscan",
		.apiVersion = VK_API_VERSION_1_2,
	};
	VkInstanceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
		.pApplicationInfo = &application,
	};

	VkInstance	instance;

	if (volkInitialize() != VK_SUCCESS)
		no_device("there is no Vulkan loader (libvulkan.so.1)");
	if (vkCreateInstance(&info, NULL, &instance) != VK_SUCCESS)
		no_device("there is no Vulkan driver");
	volkLoadInstance(instance);
	return instance;
}

/* ---------------------------------------------------------------- facts */

static bool
has_extension(const VkExtensionProperties *extensions, uint32_t count, const char *name)
{
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(extensions[i].extensionName, name) == 0)
			return true;
	return false;
}

/* Find the first queue family for compute shaders with timestamps. */
static void
find_family(VkPhysicalDevice device, DeviceFacts *facts)
{
	VkQueueFamilyProperties families[16];
	uint32_t	count = 16;

	vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families);
	for (uint32_t i = 0; i < count && facts->timestamp_bits == 0; i++)
		if (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT)
		{
			facts->family = i;
			facts->timestamp_bits = families[i].timestampValidBits;
		}
}

static void
find_extensions(VkPhysicalDevice device, DeviceFacts *facts)
{
	static VkExtensionProperties extensions[MAX_EXTENSIONS];
	uint32_t	count = MAX_EXTENSIONS;

	if (vkEnumerateDeviceExtensionProperties(device, NULL, &count, extensions) < 0)
		return;
	facts->has_deferred_operations = has_extension(extensions, count, VK_KHR_DEFERRED_HOST_OPERATIONS_EXTENSION_NAME);
	facts->has_external_memory = has_extension(extensions, count, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
}

/* Read the facts of a device that supports Vulkan 1.2. */
static void
find_features(VkPhysicalDevice device, DeviceFacts *facts)
{
	VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
		.pNext = &facts->twelve};
	VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
		.pNext = &facts->structure};

	facts->twelve = (VkPhysicalDeviceVulkan12Features) {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, .pNext = &facts->structures};
	facts->structures = (VkPhysicalDeviceAccelerationStructureFeaturesKHR) {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_FEATURES_KHR, .pNext = &facts->pipelines};
	facts->pipelines = (VkPhysicalDeviceRayTracingPipelineFeaturesKHR) {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_FEATURES_KHR};
	facts->structure = (VkPhysicalDeviceAccelerationStructurePropertiesKHR) {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ACCELERATION_STRUCTURE_PROPERTIES_KHR, .pNext = &facts->tracing};
	facts->tracing = (VkPhysicalDeviceRayTracingPipelinePropertiesKHR) {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_RAY_TRACING_PIPELINE_PROPERTIES_KHR};
	vkGetPhysicalDeviceFeatures2(device, &features);
	vkGetPhysicalDeviceProperties2(device, &properties);
	facts->features = features.features;
}

/* Read the facts of a device.  If "lacks" is not NULL (for tests), change them so that the device misses this limit. */
static void
find_facts(VkPhysicalDevice device, const Limit *lacks, DeviceFacts *facts)
{
	memset(facts, 0, sizeof(*facts));
	vkGetPhysicalDeviceProperties(device, &facts->properties);
	find_family(device, facts);
	find_extensions(device, facts);
	if (facts->properties.apiVersion >= VK_API_VERSION_1_2)
		find_features(device, facts);
	if (lacks)
		limits_miss(facts, lacks);
}

/* ---------------------------------------------------------------- the choice */

/*
 * Return true if a device is wanted: "wanted" is its number, or a part of its name.  If "wanted" is empty, all
 * devices are wanted except software.
 */
static bool
is_wanted(const VkPhysicalDeviceProperties *properties, uint32_t number, const char *wanted)
{
	char	   *end;
	unsigned long wanted_number = strtoul(wanted, &end, 10);

	if (*wanted == '\0')
		return properties->deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU;
	if (*end == '\0')
		return wanted_number == number;
	for (const char *place = properties->deviceName; *place; place++)
		if (strncasecmp(place, wanted, strlen(wanted)) == 0)
			return true;
	return false;
}

/* Return why a device cannot be used, or NULL if it can. */
static const char *
reject(const DeviceFacts *facts, uint32_t number, const char *wanted)
{
	if (!is_wanted(&facts->properties, number, wanted))
		return *wanted ? "it is not the one that rtscan.device names" :
			"it is a software device, which is used only if rtscan.device names it";
	return limits_missing(facts, LIMIT_OF_ALL);
}

VkPhysicalDevice
choose_device(VkInstance instance, const char *wanted, uint32_t passed_over, const Limit *lacks, DeviceFacts *facts)
{
	VkPhysicalDevice devices[MAX_DEVICES];
	uint32_t	fitting[MAX_DEVICES];
	uint32_t	nfitting = 0;
	uint32_t	count = MAX_DEVICES;
	VkPhysicalDevice chosen;

	if (vkEnumeratePhysicalDevices(instance, &count, devices) < 0)
		count = 0;
	for (uint32_t i = 0; i < count; i++)
	{
		const char *why;

		find_facts(devices[i], lacks, facts);
		why = reject(facts, i, wanted);
		if (why == NULL)
			fitting[nfitting++] = i;
		else if (nfitting == 0)
			report("device %u, %s, is not used: %s", i, facts->properties.deviceName, why);
	}
	if (nfitting == 0)
		no_device(count > 0 ? "there is no other Vulkan device" : "there is no Vulkan device");
	chosen = devices[fitting[passed_over % nfitting]];
	find_facts(chosen, lacks, facts);
	return chosen;
}
