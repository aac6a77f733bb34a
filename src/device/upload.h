/* SPDX-License-Identifier: PostgreSQL */
/*
 * upload.h
 *		Upload columns of segments to devices.
 */
#ifndef RTSCAN_DEVICE_UPLOAD_H
#define RTSCAN_DEVICE_UPLOAD_H

#include "rtscan.h"

#include "device/program.h"
#include "segment/segment.h"

/* Return the key that identifies a segment in requests to the device programs. */
extern SegmentKey rtscan_device_key(Relation index, const pg_uuid_t *uuid, uint64 segment);

/* Return the device to which a segment is assigned.  It changes only if the number of devices changes. */
extern int	rtscan_device_of_segment(Relation index, uint64 segment);

/* A column of a segment in one of the forms in which it can be on a device (protocol.h). */
typedef struct RtscanDeviceColumn
{
	int			number;			/* number of the column in the index */
	/* its form: COLUMN_VALUES only if the values are in frames, COLUMN_INTEGERS only if "largest" is known */
	ColumnForm	form;
	uint64		largest;		/* for codes and integers: greatest minus least, see rtscan_get_range_of_codes() */
	bool		empty;			/* are all rows NULL? */
} RtscanDeviceColumn;

/* Return the bytes of device memory that a column needs. */
extern uint64 rtscan_device_column_size(const RtscanSegment *segment, const RtscanDeviceColumn *column);

/* Estimate the bytes of device memory that the BVH of a job (executor rtcudb) needs. */
extern uint64 rtscan_device_job_size(const RtscanSegment *segment);

/*
 * Upload a column to a device.  Returns DEVICE_REFUSED if the device cannot be used, else the result that its program
 * replies.
 */
extern DeviceResult rtscan_device_upload(int device, RtscanReader *reader, const SegmentKey *key,
										 const RtscanDeviceColumn *column);

#endif							/* RTSCAN_DEVICE_UPLOAD_H */
