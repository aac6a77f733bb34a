/* SPDX-License-Identifier: PostgreSQL */
/*
 * client.c
 *		A backend's connections to the device programs.
 *
 * Each connection is opened when it is first needed, and kept.  An interrupt between a request and its reply, or
 * during an upload, leaves the connection in an undefined state, and the end of the transaction closes the
 * connection.  If a reply is missing, the area is given back, too, since the program may still write to the area.
 */
#include "device/client.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "access/xact.h"
#include "device/adaptive_cost.h"
#include "device/events.h"
#include "device/readiness.h"
#include "libpq/pqsignal.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "settings.h"
#include "storage/fd.h"
#include "storage/latch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* Areas are allocated in multiples of this size, in bytes. */
#define AREA_UNIT	((Size) 1024 * 1024)

/* The largest area kept after a build, in bytes: about what the bits of a device's part of a round need. */
#define LARGEST_KEPT_AREA	(32 * AREA_UNIT)

/* Time in ms for which a backend does not use a device whose program has not answered in time. */
#define AWAY				30000

/* A connection to a device program. */
typedef struct Connection
{
	bool		open;			/* is there a socket? */
	int			socket;			/* the socket, if open */
	bool		greeted;		/* has the program accepted the area (DEVICE_HELLO)? */
	bool		uploading;		/* has the upload of a column begun, and not ended? */
	uint64		sent_requests;	/* number of requests sent on this socket */
	int			outstanding;	/* number of requests without a reply so far */
	TimestampTz sent;			/* when the last request was sent */
	bool		made_wait;		/* did the last rtscan_device_receive() have to wait? */
	TimestampTz away_until;		/* until when the device is not used, since its program has not answered in time */
	WaitEventSet *events;		/* what to wait for, such as a reply; NULL if the connection is not open */
	char	   *area;			/* shared memory; NULL: there is none */
	Size		area_size;		/* size of the area in bytes */
	int			area_file;		/* file descriptor of the area */
	uint64		memory_limit;	/* device memory that may be used, in bytes */
	bool		software;		/* is the device software? */
	bool		can_aggregate;	/* can the device aggregate rows? */
} Connection;

static Connection connections[RTSCAN_MAX_DEVICES];

/*
 * Function that saves the content of the areas before it is lost, and the argument of the function.  NULL if the
 * content is not needed.
 */
static RtscanAreaSaver save_area;
static void *save_area_arg;

void
rtscan_device_keep_area(RtscanAreaSaver save, void *arg)
{
	save_area = save;
	save_area_arg = arg;
}

void
rtscan_device_leave_area(const void *arg)
{
	if (save_area_arg == arg)
		rtscan_device_keep_area(NULL, NULL);
}

/* Call the function that saves the content of the areas, if it is set, before an area is overwritten or given back. */
static void
empty_area(void)
{
	RtscanAreaSaver save = save_area;
	void	   *arg = save_area_arg;

	rtscan_device_keep_area(NULL, NULL);
	if (save)
		save(arg);
}

static void
close_area_file(Connection *connection)
{
	close(connection->area_file);
	ReleaseExternalFD();
	connection->area_size = 0;
}

static void
free_area(Connection *connection)
{
	empty_area();
	connection->greeted = false;
	if (connection->area == NULL)
		return;
	munmap(connection->area, connection->area_size);
	connection->area = NULL;
	close_area_file(connection);
}

static void
disconnect(Connection *connection)
{
	if (connection->outstanding > 0)
		free_area(connection);
	if (connection->events)
		FreeWaitEventSet(connection->events);
	connection->events = NULL;
	if (connection->open)
	{
		close(connection->socket);
		ReleaseExternalFD();
	}
	connection->open = false;
	connection->greeted = false;
	connection->uploading = false;
	connection->outstanding = 0;
}

/* XactCallback: close connections on which a request or an upload was interrupted. */
static void
end_of_transaction(XactEvent event, void *arg)
{
	/* no scan outlives the transaction, so the content of the areas is not needed any more */
	rtscan_device_keep_area(NULL, NULL);
	rtscan_device_end_turn();
	for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
		if (connections[device].outstanding > 0 || connections[device].uploading)
			disconnect(&connections[device]);
	if (event == XACT_EVENT_ABORT || event == XACT_EVENT_PARALLEL_ABORT)
		rtscan_device_trim_areas();
}

/*
 * Open a connection.  Does not wait: if the queue of the program is full, the program has too much to do to be of
 * use.
 */
static bool
open_socket(Connection *connection)
{
	static bool registered;
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), DEVICE_SOCKET, (int) (connection - connections));
	if (!registered)
		RegisterXactCallback(end_of_transaction, NULL);
	registered = true;
	if (!AcquireExternalFD())
		return false;
	connection->socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (connection->socket < 0)
	{
		ReleaseExternalFD();
		return false;
	}
	connection->open = true;
	connection->sent_requests = 0;
	if (connect(connection->socket, (struct sockaddr *) &address, sizeof(address)) == 0)
		connection->events = rtscan_device_events(&connection->socket, 1);
	if (connection->events)
		return true;
	disconnect(connection);
	return false;
}

/* ---------------------------------------------------------------- the area */

/* Allocate the pages of a file, with signals blocked: they would interrupt posix_fallocate() again and again. */
static bool
allocate_file(int file, Size size)
{
	int			error;

	sigprocmask(SIG_SETMASK, &BlockSig, NULL);
	do
		error = posix_fallocate(file, 0, size);
	while (error == EINTR);
	sigprocmask(SIG_SETMASK, &UnBlockSig, NULL);
	return error == 0;
}

/*
 * Create an area: anonymous shared memory, which is allocated completely, so that a lack of memory is found at once,
 * and not by a later SIGBUS.  It is not in /dev/shm, which containers often make small.
 */
static bool
create_area(Connection *connection, Size size)
{
	void	   *map;

	free_area(connection);
	if (!AcquireExternalFD())
		return false;
	connection->area_size = TYPEALIGN(AREA_UNIT, size);
	connection->area_file = memfd_create("rtscan", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (connection->area_file < 0)
	{
		connection->area_size = 0;
		ReleaseExternalFD();
		return false;
	}
	if (!allocate_file(connection->area_file, connection->area_size) ||
		fcntl(connection->area_file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
	{
		close_area_file(connection);
		return false;
	}
	map = mmap(NULL, connection->area_size, PROT_READ | PROT_WRITE, MAP_SHARED, connection->area_file, 0);
	if (map == MAP_FAILED)
	{
		close_area_file(connection);
		return false;
	}
	connection->area = map;
	return true;
}

/* Send a request, with a file descriptor if file >= 0. */
static bool
send_message(Connection *connection, const DeviceRequest *request, int file)
{
	char		control[CMSG_SPACE(sizeof(int))] = {0};
	DeviceRequest numbered = *request;
	struct iovec vector = {&numbered, sizeof(numbered)};
	struct msghdr header = {.msg_iov = &vector, .msg_iovlen = 1};

	numbered.number = connection->sent_requests;
	if (file >= 0)
	{
		struct cmsghdr *first;

		header.msg_control = control;
		header.msg_controllen = sizeof(control);
		first = CMSG_FIRSTHDR(&header);
		first->cmsg_level = SOL_SOCKET;
		first->cmsg_type = SCM_RIGHTS;
		first->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(first), &file, sizeof(int));
	}
	if (sendmsg(connection->socket, &header, MSG_NOSIGNAL) != sizeof(*request))
	{
		disconnect(connection);
		return false;
	}
	connection->sent_requests++;
	connection->outstanding++;
	connection->sent = GetCurrentTimestamp();
	return true;
}


/* Pass the area to the program.  If the program refuses it, closes the connection and returns false. */
static bool
say_hello(int device)
{
	Connection *connection = &connections[device];
	DeviceRequest request = {.kind = DEVICE_HELLO, .version = DEVICE_PROTOCOL_VERSION,
		.size = connection->area_size};
	DeviceReply reply;

	if (!send_message(connection, &request, connection->area_file) || !rtscan_device_receive(device, &reply))
		return false;
	connection->software = reply.status.software;
	connection->can_aggregate = reply.status.can_aggregate;
	connection->memory_limit = reply.status.memory_limit;
	connection->greeted = reply.result == DEVICE_OK;
	if (!connection->greeted)
		disconnect(connection);
	return connection->greeted;
}

uint64
rtscan_device_memory_limit(int device)
{
	return connections[device].memory_limit;
}

bool
rtscan_device_can_aggregate(int device)
{
	return connections[device].can_aggregate;
}

bool
rtscan_device_is_software(int device)
{
	return connections[device].software;
}

void
rtscan_device_trim_areas(void)
{
	for (int device = 0; device < RTSCAN_MAX_DEVICES; device++)
		if (connections[device].area_size > LARGEST_KEPT_AREA)
		{
			disconnect(&connections[device]);
			free_area(&connections[device]);
		}
}

bool
rtscan_device_is_connected(int device)
{
	return connections[device].greeted;
}

char *
rtscan_device_area(int device, Size size)
{
	Connection *connection = &connections[device];

	empty_area();
	if (connection->outstanding > 0 || connection->uploading)
		disconnect(connection);
	if (connection->greeted && connection->area_size >= size)
		return connection->area;
	if (!rtscan_device_is_ready(device) || rtscan_device_timed_out(device) ||
		(!connection->open && !open_socket(connection)) ||
		(connection->area_size < size && !create_area(connection, size)) || !say_hello(device))
		return NULL;
	return connection->area;
}

int
rtscan_first_device(void)
{
	for (int device = 0; device < rtscan_devices(); device++)
		if (rtscan_device_area(device, 1) != NULL)
			return device;
	return -1;
}

bool
rtscan_device_timed_out(int device)
{
	return GetCurrentTimestamp() < connections[device].away_until;
}

const char *
rtscan_device_absence(int device)
{
	if (!rtscan_device_is_ready(device))
		return rtscan_device_not_ready();
	if (rtscan_device_timed_out(device))
		return "The device program has not answered within rtscan.device_timeout. This session will try it again in half a minute.";
	return "The device program accepts no connection, or there is no memory to share with it.";
}

/* ---------------------------------------------------------------- requests */

bool
rtscan_device_send(int device, const DeviceRequest *request)
{
	if (request->kind == DEVICE_UPLOAD_BEGIN)
		connections[device].uploading = true;
	return send_message(&connections[device], request, -1);
}

/* Wait for the socket or the latch, and handle interrupts.  Returns false if the deadline has passed. */
static bool
wait_for_reply(int device, TimestampTz deadline)
{
	WaitEvent	event;
	TimestampTz now = GetCurrentTimestamp();
	long		timeout = TimestampDifferenceMilliseconds(now, deadline);

	if (timeout <= 0)
	{
		connections[device].away_until = TimestampTzPlusMilliseconds(now, AWAY);
		rtscan_suspect_device(device);
		return false;
	}
	if (WaitEventSetWait(connections[device].events, timeout, &event, 1, PG_WAIT_EXTENSION) > 0 &&
		(event.events & WL_LATCH_SET))
	{
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	return true;
}

/* Is the message the reply to the oldest outstanding request?  Any other message is an error. */
static bool
is_reply(const Connection *connection, const DeviceReply *reply, ssize_t size)
{
	return size == sizeof(*reply) && reply->number == connection->sent_requests - connection->outstanding;
}

bool
rtscan_device_receive(int device, DeviceReply *reply)
{
	Connection *connection = &connections[device];
	TimestampTz deadline = 0;

	connection->made_wait = false;
	for (;;)
	{
		ssize_t		size = recv(connection->socket, reply, sizeof(*reply), MSG_TRUNC);

		if (is_reply(connection, reply, size))
		{
			connection->outstanding--;
			return true;
		}
		if (deadline == 0)
			deadline = TimestampTzPlusMilliseconds(connection->sent, rtscan_device_timeout);
		connection->made_wait = true;
		if (size >= 0 || (errno != EAGAIN && errno != EINTR) || !wait_for_reply(device, deadline))
			break;
	}
	disconnect(connection);
	return false;
}

bool
rtscan_device_made_wait(int device)
{
	return connections[device].made_wait;
}

bool
rtscan_device_ask(int device, const DeviceRequest *request, DeviceReply *reply)
{
	bool		received = rtscan_device_send(device, request) && rtscan_device_receive(device, reply);

	if (request->kind == DEVICE_UPLOAD_END)
		connections[device].uploading = false;
	return received;
}
