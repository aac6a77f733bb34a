/* SPDX-License-Identifier: PostgreSQL */
/*
 * request.h
 *		A backend's request to evaluate regions, copied from shared memory.
 */
#ifndef RTSCAN_DEVICE_REQUEST_H
#define RTSCAN_DEVICE_REQUEST_H

#include "device_memory.h"
#include "protocol.h"

/* Memory that a backend shares.  The device reads and writes memory.host. */
typedef struct Area
{
	char	   *map;			/* address of the shared memory */
	uint64_t	size;
	bool		imported;		/* true if memory.host is map; otherwise data is copied between them */
	Memory		memory;
} Area;

/* Return true if "size" bytes from "offset" on are within an area. */
static inline bool
area_has(const Area *area, uint64_t offset, uint64_t size)
{
	return offset <= area->size && size <= area->size - offset;
}

/*
 * An internal result, which no backend receives: the request needs a BVH that its batch may not build, and must be
 * put into a later batch.
 */
#define REQUEST_WAITS	((DeviceResult) 1000)

typedef struct Request
{
	Area	   *area;
	uint64_t	results;		/* offset of the answer in the area */
	uint64_t	words;			/* offset of the words of sets and maps in the area */
	uint64_t	device_words;	/* offset of the words of sets and maps in the words of the batch */
	uint32_t	chunks;			/* number of chunks of all segments */
	uint64_t	agg_words;		/* number of words of all aggregates */
	uint64_t	message_number; /* number of the message, for the reply */
	uint64_t	number;			/* number of the request; requests that arrived earlier have lower numbers */
	uint64_t	built_before;	/* value of bvhs.builds when the request arrived */
	uint64_t	built;			/* number of BVHs that were built for the request */
	char	   *body;			/* copy of the request, since the backend may change the area at any time */
	EvaluateHeader *header;
	EvaluateSegment *segments;
	EvaluateColumn *columns;
	DeviceInterval *intervals;
	EvaluateMembers *members;
	AggDigit   *digits;
	AggMeasure *measures;
	DeviceReply reply;
} Request;

/* Copy and check the request of a message.  Returns false if it is invalid. */
extern bool request_read(Request *request, Area *area, const DeviceRequest *message);
extern void request_free(Request *request);

#endif							/* RTSCAN_DEVICE_REQUEST_H */
