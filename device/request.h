/*
 * request.h
 *		A backend's request to evaluate regions, taken out of shared memory.
 */
#ifndef RTSCAN_DEVICE_REQUEST_H
#define RTSCAN_DEVICE_REQUEST_H

#include "context.h"
#include "protocol.h"

/* Memory that a backend shares; the device reads and writes memory.host. */
typedef struct Area
{
	char	   *map;
	uint64_t	size;
	bool		imported;		/* memory.host is map; else what is written there is copied */
	Memory		memory;
} Area;

/* Does an area have so many bytes from an offset on? */
static inline bool
area_has(const Area *area, uint64_t offset, uint64_t size)
{
	return offset <= area->size && size <= area->size - offset;
}

/* In place of a DeviceResult: not in this batch, for a BVH of its has been built, and it needs another. */
#define REQUEST_WAITS	((DeviceResult) 1000)

typedef struct Request
{
	Area	   *area;
	uint64_t	results;		/* in the area, */
	uint64_t	words;			/* where those of sets and maps are, too, */
	uint64_t	device_words;	/* and their offset in those of the batch */
	uint32_t	chunks;			/* of all segments */
	uint64_t	tally_words;	/* likewise */
	uint64_t	message_number;
	uint64_t	number;			/* those that came before have lower ones */
	uint64_t	built_before;	/* BVHs that had been built when it came, */
	uint64_t	built;			/* and that have been built for it */
	char	   *body;			/* a copy: the backend may scribble on the area */
	EvaluateHeader *header;
	EvaluateSegment *segments;
	EvaluateColumn *columns;
	DeviceInterval *intervals;
	EvaluateMembers *members;
	TallyDigit *digits;
	TallyMeasure *measures;
	DeviceReply reply;
} Request;

/* Copy and check what a message asks for; false if it contradicts itself. */
extern bool request_read(Request *request, Area *area, const DeviceRequest *message);
extern void request_free(Request *request);

#endif							/* RTSCAN_DEVICE_REQUEST_H */
