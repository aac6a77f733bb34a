/*
 * upload.h
 *		Columns of segments on devices.
 */
#ifndef RTSCAN_DEVICE_UPLOAD_H
#define RTSCAN_DEVICE_UPLOAD_H

#include "rtscan.h"

#include "device/program.h"
#include "segment/segment.h"

/* A segment's key on the devices; and the one that it has its place on, while there are so many as now. */
extern SegmentKey rtscan_device_key(Relation index, const pg_uuid_t *uuid, uint64 segment);
extern int	rtscan_device_of_segment(Relation index, uint64 segment);

/*
 * A column of a segment as it is to be on a device (protocol.h): as values only if they are in frames; as integers only if their range is
 * known (rtscan_get_range_of_codes()), of which the greatest is so far above the least.
 */
typedef struct RtscanDeviceColumn
{
	int			number;
	ColumnForm	form;
	uint64		largest;
	bool		empty;			/* all rows are NULL */
} RtscanDeviceColumn;

/* Bytes of device memory that it takes. */
extern uint64 rtscan_device_column_size(const RtscanSegment *segment, const RtscanDeviceColumn *column);

/* Likewise the BVH of a job (executor rtcudb), about. */
extern uint64 rtscan_device_job_size(const RtscanSegment *segment);

/* Put it there. */
extern DeviceResult rtscan_device_upload(int device, RtscanReader *reader, const SegmentKey *key, const RtscanDeviceColumn *column);

#endif							/* RTSCAN_DEVICE_UPLOAD_H */
