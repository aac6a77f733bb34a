/* SPDX-License-Identifier: PostgreSQL */
/*
 * written.c
 *		Writes structs as an array of integers and a list of nodes, and reads them.
 */
#include "run/plan/written.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"

/* Number of integers that fit into the first array: enough for most plans. */
#define FIRST_ROOM	120

static Size
bytes_of(int integers)
{
	return VARHDRSZ + integers * sizeof(int32);
}

RtscanWritten
rtscan_begin_written(void)
{
	bytea	   *array = palloc(bytes_of(FIRST_ROOM));

	return (RtscanWritten) {.room = FIRST_ROOM, .integers = (int32 *) VARDATA(array)};
}

void
rtscan_enlarge_written(RtscanWritten *written)
{
	char	   *array = (char *) written->integers - VARHDRSZ;

	written->room *= 2;
	written->integers = (int32 *) VARDATA(repalloc(array, bytes_of(written->room)));
}

List *
rtscan_finish_written(RtscanWritten *written)
{
	char	   *array = (char *) written->integers - VARHDRSZ;

	SET_VARSIZE(array, bytes_of(written->next));
	return list_make2(makeConst(BYTEAOID, -1, InvalidOid, -1, PointerGetDatum(array), false, false), written->nodes);
}

RtscanWritten
rtscan_read_written(const List *lists)
{
	return (RtscanWritten) {
		.reads = true,
		.integers = (int32 *) VARDATA(DatumGetPointer(linitial_node(Const, lists)->constvalue)),
		.nodes = lsecond(lists),
	};
}
