/* SPDX-License-Identifier: PostgreSQL */
/*
 * device_budget.h
 *		The second phase of a request to a device: find out whether the device can and should do it (device_round.h).
 *
 * Can it?  There must be a connection, memory for the request and its answer, and, for device aggregates, device
 * memory for all columns.  Should it?  With "auto", it has to pay to build BVHs for rays, and to upload columns that
 * are missing.  These questions are asked of src/device/ here, and nowhere else in a request.
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
 * Decide about a part that has been collected: rays become compute where they need BVHs that do not pay yet, and
 * device aggregates are dropped if the device cannot make them.  Returns true if the request can be written and sent:
 * then part->budget.area has room for it and its answer.  Otherwise the part is not wanted, or part->why says why
 * not.
 */
extern bool rtscan_budget_part(RtscanDevicePart *part);

/*
 * Decide only about memory and device aggregates, after the part or the connection has changed.  Returns NULL if the
 * request can be written and sent, or the reason why not.
 */
extern const char *rtscan_fit_part(RtscanDevicePart *part);

/*
 * Does it pay to build the BVHs that the part's rays need?  It does if rays would have saved as much time by now as
 * building takes.  Each call counts as a scan that did without them.
 */
extern bool rtscan_builds_pay(const RtscanDevicePart *part);

/*
 * Does it pay to upload a segment's column that is missing?  An executor that is set by name always gets it.  Each call
 * counts as a scan that did without the column.
 */
extern bool rtscan_upload_pays(RtscanDevicePart *part, const RtscanSegmentScan *scan, const RtscanDeviceColumn *column);

/* Return the most uploads for a part.  If columns are missing more often, something is wrong. */
extern uint32 rtscan_most_uploads(const RtscanDevicePart *part);

/* Return the reason to give if a device program refuses a request with this result. */
extern const char *rtscan_explain_result(DeviceResult result);

#endif							/* RTSCAN_DEVICE_BUDGET_H */
