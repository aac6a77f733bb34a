/*
 * written.h
 *		Structs written as an array of integers and a list of nodes, which copyObject() knows, and read from them.
 *
 * One function describes a struct for both directions: it assigns each member what rtscan_written_int() or
 * rtscan_written_node() returns for the member.  When structs are written, that is the member itself, which is
 * appended; when they are read, it is the next integer or node.
 */
#ifndef RTSCAN_WRITTEN_H
#define RTSCAN_WRITTEN_H

#include "rtscan.h"

#include "nodes/pg_list.h"

typedef struct RtscanWritten
{
	bool		reads;			/* are structs read, or written? */
	int			next;			/* the next integer, from 0 */
	int			room;			/* when structs are written, so many integers fit into the array */
	int32	   *integers;		/* integers, enums, booleans and OIDs of all structs */
	int			next_node;		/* when structs are read, the next node, from 0 */
	List	   *nodes;			/* expressions and lists of all structs */
} RtscanWritten;

/* Describes a struct, which is NULL when it is read, and returns it. */
typedef void *(*RtscanDescribe) (RtscanWritten *written, void *described);

extern RtscanWritten rtscan_begin_written(void);
extern RtscanWritten rtscan_read_written(const List *lists);

/* A list of all that has been written, for rtscan_read_written(). */
extern List *rtscan_finish_written(RtscanWritten *written);

/* Make room for more integers. */
extern void rtscan_enlarge_written(RtscanWritten *written);

static inline int
rtscan_written_int(RtscanWritten *written, int value)
{
	if (!written->reads)
	{
		if (written->next == written->room)
			rtscan_enlarge_written(written);
		written->integers[written->next] = value;
	}
	return written->integers[written->next++];
}

static inline void *
rtscan_written_node(RtscanWritten *written, void *node)
{
	if (written->reads)
		return list_nth(written->nodes, written->next_node++);
	written->nodes = lappend(written->nodes, node);
	return node;
}

/* A struct to describe: a new one, all zero, when it is read. */
static inline void *
rtscan_written_struct(const RtscanWritten *written, void *described, Size size)
{
	return written->reads ? palloc0(size) : described;
}

/* A list of structs. */
static inline List *
rtscan_written_list(RtscanWritten *written, List *structs, RtscanDescribe describe)
{
	int			n = rtscan_written_int(written, list_length(structs));

	for (int i = 0; i < n; i++)
		if (written->reads)
			structs = lappend(structs, describe(written, NULL));
		else
			(void) describe(written, list_nth(structs, i));
	return structs;
}

#endif							/* RTSCAN_WRITTEN_H */
