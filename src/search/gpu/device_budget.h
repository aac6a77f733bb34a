/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_budget.h
 *		The second phase of a request to a device: find out whether the device can and should evaluate its part of a
 *		round (device_round.h).
 *
 * A device can evaluate its part if there are a connection and memory for the request and its answer and, for device
 * aggregates, if there is device memory for all columns.  With "auto", BVHs for rays are built only if that pays;
 * otherwise the device uses compute.  Columns that are missing are uploaded only if that pays; otherwise the device
 * does not evaluate its part, or makes no device aggregates.  Only this file asks src/device/ about memory, and whether
 * builds and uploads pay.
 */
#ifndef RTSCAN_DEVICE_BUDGET_H
#define RTSCAN_DEVICE_BUDGET_H

#include "search/gpu/device_part.h"

/*
 * Return the nanoseconds that a device needs for a request that searches "chunks" chunks (counted once for each region)
 * and adds up "added" chunks (counted once for each column).
 */
extern double rtscan_estimate_device(int device, DeviceExecutor executor, uint64 group, double chunks, double added);

/*
 * Decide whether the request of a part that has been collected can be written and sent.  If so, returns true, and
 * part->budget.area has room for the request and its answer.  If not, either part->budget.wanted is false, or part->why
 * is the reason.  Replaces rays by compute if the rays need BVHs that do not pay yet, and drops device aggregates that
 * the device cannot make.
 */
extern bool rtscan_budget_part(RtscanDevicePart *part);

/*
 * Decide only about memory and device aggregates, as rtscan_budget_part() does.  Call this after the part or the
 * connection has changed.  Returns NULL if the request can be written and sent; otherwise, the reason why it cannot.
 */
extern const char *rtscan_fit_part(RtscanDevicePart *part);

/*
 * Does it pay to build the BVHs that the part's rays need?  It does if scans have lost as much time without these
 * BVHs as building them takes.  Each call records the loss of one scan.
 */
extern bool rtscan_builds_pay(const RtscanDevicePart *part);

/*
 * Does it pay to upload a segment's column that is missing?  Always, unless rtscan.executor is "auto", and also to
 * prepare the device, or after all uploads of the part have been found to pay.  Otherwise, each call records the loss
 * of a scan that did without the column.
 */
extern bool rtscan_upload_pays(RtscanDevicePart *part, const RtscanSegmentScan *scan, const RtscanDeviceColumn *column);

/*
 * Return the most uploads for a part.  If columns are still missing after that many, the device does not have enough
 * memory for all of them.
 */
extern uint32 rtscan_most_uploads(const RtscanDevicePart *part);

/* Return the reason to report if a device program refuses a request with this result. */
extern const char *rtscan_explain_result(DeviceResult result);

#endif							/* RTSCAN_DEVICE_BUDGET_H */
