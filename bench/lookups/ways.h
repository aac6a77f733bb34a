/*
 * ways.h
 *		The ways to look up: what each builds, and how it looks up.
 */
#ifndef RTSCAN_LOOKUPS_WAYS_H
#define RTSCAN_LOOKUPS_WAYS_H

#include "column.h"
#include "scene.h"

/* Which entries (layout.h) a way has. */
typedef enum Entries
{
	ENTRIES_ROWS,				/* a row each, in no order */
	ENTRIES_KEYS,				/* a distinct key each, sorted: duplicates are compressed */
	ENTRIES_SIMPLEST			/* rows if each has its own key, else keys */
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
#define KEYS_ONLY		1		/* it looks up no ranges */
#define DUPLICATES_ONLY	2		/* without duplicates another way is the same */
#define VARIANT			4		/* of another way, for some figures only */

typedef struct Way
{
	const char *name;
	Method		method;
	Entries		entries;
	Tracer		tracer;			/* of the methods that cast rays */
	uint32_t	bucket;			/* entries of a bucket */
	uint32_t	flags;
} Way;

extern const Way ways[];
extern const uint32_t ways_count;

typedef struct Structure
{
	const Way  *way;
	LookupTask	task;			/* but for the lookups */
	Memory		memory;			/* slots, or the top of the array */
	Scene		scene;
	uint64_t	bytes;			/* that lookups need */
	uint64_t	nanoseconds;	/* of the device, from the column's keys on */
} Structure;

/* Does a way cast rays? */
static inline bool
way_casts_rays(const Way *way)
{
	return way->method == METHOD_RAYS || way->method == METHOD_BUCKETS;
}

/* Does a way look up like this, on this device, and is it no other way's double there? */
extern bool way_looks_up(const Way *way, const Workbench *workbench, const Shape *shape, const Kind *kind);

/* False: there is no memory for it. */
extern bool way_build(Structure *structure, const Way *way, Workbench *workbench, const Column *column);

/* Record the lookups of a task: the structure's, with the lookups. */
extern void way_look_up(const Structure *structure, const Programs *programs, const LookupTask *task);

extern void way_free(Structure *structure, Workbench *workbench);

#endif							/* RTSCAN_LOOKUPS_WAYS_H */
