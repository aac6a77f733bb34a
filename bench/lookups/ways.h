/* SPDX-License-Identifier: PostgreSQL */
/*
 * ways.h
 *		The ways to look up: what each builds, and how it looks up.
 */
#ifndef RTSCAN_LOOKUPS_WAYS_H
#define RTSCAN_LOOKUPS_WAYS_H

#include "column.h"
#include "scene.h"

/* The kind of entries (layout.h) that a way has. */
typedef enum Entries
{
	ENTRIES_ROWS,				/* rows, in no order */
	ENTRIES_KEYS,				/* distinct keys, sorted: duplicates are compressed */
	ENTRIES_SIMPLEST			/* rows if keys are distinct, otherwise distinct keys */
} Entries;

typedef enum Method
{
	METHOD_SEARCH,
	METHOD_SEARCH_TOP,
	METHOD_HASH,
	METHOD_RAYS,
	METHOD_BUCKETS
} Method;

/* Flags of a way. */
#define KEYS_ONLY		1		/* does not look up ranges */
#define DUPLICATES_ONLY	2		/* is the same as another way if there are no duplicates */
#define VARIANT			4		/* is a variant of another way, for some figures only */

typedef struct Way
{
	const char *name;
	Method		method;
	Entries		entries;
	Tracer		tracer;			/* the tracer of methods that trace rays */
	uint32_t	bucket;			/* entries of a bucket */
	uint32_t	flags;
} Way;

extern const Way ways[];
extern const uint32_t ways_count;

typedef struct Structure
{
	const Way  *way;
	LookupTask	task;			/* without the lookups */
	Memory		memory;			/* slots, or the top of the array */
	Scene		scene;
	uint64_t	bytes;			/* bytes that lookups read */
	uint64_t	nanoseconds;	/* device time of the build, beginning with the column's keys */
} Structure;

/* Return true if a way traces rays. */
static inline bool
way_casts_rays(const Way *way)
{
	return way->method == METHOD_RAYS || way->method == METHOD_BUCKETS;
}

/* Return true if a way supports these lookups on this device, and differs from all other ways there. */
extern bool way_looks_up(const Way *way, const Workbench *workbench, const Shape *shape, const Kind *kind);

/* Build a structure.  Returns false if there is no memory for it. */
extern bool way_build(Structure *structure, const Way *way, Workbench *workbench, const Column *column);

/* Record the lookups of a task, which is the structure's task with lookups added. */
extern void way_look_up(const Structure *structure, const Programs *programs, const LookupTask *task);

extern void way_free(Structure *structure, Workbench *workbench);

#endif							/* RTSCAN_LOOKUPS_WAYS_H */
