/* SPDX-License-Identifier: PostgreSQL */
/*
 * written.h
 *		Writes structs as an array of integers and a list of nodes, which copyObject() can copy, and reads them.
 *
 * One function describes a struct for both directions: it assigns each member what rtscan_written_int() or
 * rtscan_written_node() returns for the member.  When structs are written, these functions append the member and
 * return it unchanged; when structs are read, they return the next integer or node.
 */
#ifndef RTSCAN_WRITTEN_H
#define RTSCAN_WRITTEN_H

#include "rtscan.h"

#include "nodes/pg_list.h"

typedef struct RtscanWritten
{
	bool		reads;			/* structs are read; false: written */
	int			next;			/* number of the next integer, from 0 */
	int			room;			/* when structs are written, the number of integers that fit into the array */
	int32	   *integers;		/* the integers, enums, booleans and OIDs of all structs */
	int			next_node;		/* when structs are read, number of the next node, from 0 */
	List	   *nodes;			/* the expressions and lists of all structs */
} RtscanWritten;

/* Describe a struct and return it.  When structs are read, "described" is NULL, and a new struct is returned. */
typedef void *(*RtscanDescribe) (RtscanWritten *written, void *described);

extern RtscanWritten rtscan_begin_written(void);
extern RtscanWritten rtscan_read_written(const List *lists);

/* Return all that has been written as a list, from which rtscan_read_written() reads. */
extern List *rtscan_finish_written(RtscanWritten *written);

/* Double the room for integers. */
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

/* Return the struct to describe: "described" if structs are written; a new one, all zero, if structs are read. */
static inline void *
rtscan_written_struct(const RtscanWritten *written, void *described, Size size)
{
	return written->reads ? palloc0(size) : described;
}

/* Describe a list of structs, and return the list. */
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
