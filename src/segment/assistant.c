/*
 * assistant.c
 *		The default assistant, which refuses everything.
 */
#include "segment/assistant.h"

static bool
sort_nothing(const RtscanSorted *unsorted, RtscanSorted *sorted, uint32 n)
{
	return false;
}

static uint64 *
make_no_vectors(const RtscanColumnHeader *header, const uint32 *boundaries, const RtscanSorted *sorted, uint32 rows)
{
	return NULL;
}

static void
do_nothing(void)
{
}

RtscanAssistant rtscan_assistant = {sort_nothing, make_no_vectors, do_nothing};
