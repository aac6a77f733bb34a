/* SPDX-License-Identifier: PostgreSQL */
/*
 * events.c
 *		Create the events by which a process waits for the device programs.
 */
#include "device/events.h"

#include "miscadmin.h"
#include "storage/latch.h"

WaitEventSet *
rtscan_device_events(const int *sockets, int n)
{
	MemoryContext context = CurrentMemoryContext;
	WaitEventSet *volatile events = NULL;

	PG_TRY();
	{
		events = rtscan_compat_create_event_set(n + 2);
		AddWaitEventToSet(events, WL_LATCH_SET, PGINVALID_SOCKET, MyLatch, NULL);
		AddWaitEventToSet(events, WL_EXIT_ON_PM_DEATH, PGINVALID_SOCKET, NULL, NULL);
		for (int i = 0; i < n; i++)
			AddWaitEventToSet(events, WL_SOCKET_READABLE, sockets[i], NULL, NULL);
	}
	PG_CATCH();
	{
		/* Only a system call can have failed, and the caller can do without the events. */
		MemoryContextSwitchTo(context);
		FlushErrorState();
		if (events)
			FreeWaitEventSet(events);
		events = NULL;
	}
	PG_END_TRY();
	return events;
}
