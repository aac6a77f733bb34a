/* SPDX-License-Identifier: PostgreSQL */
/*
 * device.h
 *		A backend's view of the device programs: whether they run, and how to send requests to them.
 *
 * There is a program for each device that rtscan.device names; a device's number is its position in rtscan.device.
 * rtscan's background worker (worker.c) keeps the programs running if the library is preloaded.  A backend connects
 * to a program (client.c) when a scan first needs its device.  Each segment is assigned to one of the devices.  The
 * functions of the headers below raise no errors because of a device: they tell the caller that they have failed, and
 * the caller goes on without the device.  The only exceptions are interrupts, which are handled while a function waits.
 *
 * device/protocol.h describes the requests and replies.
 */
#ifndef RTSCAN_DEVICE_H
#define RTSCAN_DEVICE_H

#include "rtscan.h"

#include "device/adaptive_cost.h"
#include "device/client.h"
#include "device/program.h"
#include "device/readiness.h"
#include "device/upload.h"
#include "device/worker.h"

#endif							/* RTSCAN_DEVICE_H */
