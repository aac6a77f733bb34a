/* SPDX-License-Identifier: PostgreSQL */
/*
 * server.c
 *		Serve backends.
 *
 * There is one thread.  It handles the messages of all connections as they arrive, and evaluates requests
 * in batches.  While the device is busy, further requests are collected.
 */
#define _GNU_SOURCE
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_CLIENTS		2048

/* Most boundaries of a column.  check_shape() accepts up to DEVICE_MAX_BINS + 2 bins. */
#define MAX_BOUNDARIES	(DEVICE_MAX_BINS + 3)

typedef struct Client
{
	int			socket;
	Area		area;
	Resident   *uploading;
	uint64_t	uploaded;		/* bytes of the column "uploading" that have arrived */
	bool		asks;			/* request has been received, but not answered */
	bool		evaluating;		/* request belongs to a batch in progress */
	Request		request;
} Client;

typedef struct Server
{
	Context    *context;
	Cache	   *cache;
	Evaluator  *evaluator;
	PairSorter *pairs;
	VectorMaker *vectors;
	int			listener;
	int			spare;			/* a file descriptor to be closed when another one is needed */
	uint32_t	count;
	Client	   *clients[MAX_CLIENTS];
	uint32_t	turn;			/* number of clients examined for requests, so that each gets its turn */
	uint64_t	arrivals;		/* number of requests received */
	uint64_t	requests;		/* number of requests answered */
	uint64_t	uploads;
	uint64_t	failures;		/* requests that failed for other reasons than a missing column or BVH */
	uint64_t	changed;		/* time when the last batch was begun or ended */
} Server;

/* ---------------------------------------------------------------- connections */

static bool
is_own_user(int socket)
{
	struct ucred peer;
	socklen_t	size = sizeof(peer);

	return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

/* Accept and close a connection for which there is no file descriptor, since the backend would wait otherwise. */
static void
refuse_client(Server *server)
{
	close(server->spare);
	close(accept4(server->listener, NULL, NULL, SOCK_CLOEXEC));
	server->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void
accept_client(Server *server)
{
	int			socket = accept4(server->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	Client	   *client;

	if (socket < 0)
	{
		if (errno == EMFILE || errno == ENFILE)
			refuse_client(server);
		return;
	}
	if (server->count == MAX_CLIENTS || !is_own_user(socket) || !(client = calloc(1, sizeof(Client))))
	{
		close(socket);
		return;
	}
	client->socket = socket;
	server->clients[server->count++] = client;
}

static void
release_area(Context *context, Area *area)
{
	if (area->map == NULL)
		return;
	memory_free(context, &area->memory);
	munmap(area->map, area->size);
	memset(area, 0, sizeof(*area));
}

static void end_batch(Server *server);

static void
drop_client(Server *server, uint32_t number)
{
	Client	   *client = server->clients[number];

	/* The device may still be writing to the client's area. */
	while (client->evaluating)
		end_batch(server);
	if (client->uploading)
		cache_free(server->cache, client->uploading);
	if (client->asks)
		request_free(&client->request);
	release_area(server->context, &client->area);
	close(client->socket);
	free(client);
	server->clients[number] = server->clients[--server->count];
}

/* ---------------------------------------------------------------- messages */

/* Map a backend's shared memory.  It must be sealed against shrinking, so that the backend cannot truncate it. */
static bool
map_area(Context *context, Area *area, int file, uint64_t size)
{
	struct stat status;
	int			seals = fcntl(file, F_GET_SEALS);
	void	   *map;

	if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(file, &status) != 0 ||
		size == 0 || (uint64_t) status.st_size < size)
		return false;
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (map == MAP_FAILED)
		return false;
	area->map = map;
	area->size = size;
	area->imported = memory_import(context, map, size, &area->memory);
	if (area->imported || memory_on_host(context, HOST_READS_AND_WRITES, size, 0, &area->memory))
		return true;
	release_area(context, area);
	return false;
}

static DeviceResult
say_hello(Server *server, Client *client, const DeviceRequest *message, int file)
{
	if (message->version != DEVICE_PROTOCOL_VERSION || file < 0)
		return DEVICE_REFUSED;
	release_area(server->context, &client->area);
	return map_area(server->context, &client->area, file, message->size) ? DEVICE_OK : DEVICE_NO_MEMORY;
}

/* Copy the boundaries before they are checked, since the backend can change them at any time. */
static void
copy_boundaries(const Area *area, const DeviceRequest *message, uint32_t *boundaries)
{
	memcpy(boundaries, area->map + message->offset, (message->shape.bins + 1) * sizeof(uint32_t));
}

static bool
check_boundaries(const ColumnShape *shape, const uint32_t *boundaries)
{
	for (uint32_t i = 1; i <= shape->bins; i++)
		if (boundaries[i - 1] >= boundaries[i])
			return false;
	return shape->heap_order || shape->form != COLUMN_KEY ||
		(boundaries[0] == 0 && boundaries[shape->bins] == shape->rows);
}

/* Check the shape of a column in frames; a value has at most 64 bits. */
static bool
check_values_shape(const ColumnShape *shape)
{
	return shape->bins == 0 && shape->element_pages <= device_chunks(shape->rows) * 64;
}

static bool
check_shape(const ColumnShape *shape)
{
	if (shape->rows == 0 || shape->rows > DEVICE_SEGMENT_CHUNKS * DEVICE_CHUNK_ROWS || shape->form >= COLUMN_FORMS)
		return false;
	if (shape->form != COLUMN_KEY)
		return check_values_shape(shape);
	return shape->nonnull <= shape->rows && shape->distinct <= shape->nonnull && shape->bins <= DEVICE_MAX_BINS + 2 &&
		(shape->heap_order ||
		 (shape->bins > 0 && shape->radix > 0 && shape->vectors < shape->bins + 2 &&
		  shape->code_bytes >= 1 && shape->code_bytes <= 3));
}

static DeviceResult
begin_upload(Server *server, Client *client, const DeviceRequest *message)
{
	uint32_t	boundaries[MAX_BOUNDARIES];
	ResidentKey key;

	if (client->uploading)
		cache_free(server->cache, client->uploading);
	client->uploading = NULL;
	client->uploaded = 0;
	if (!check_shape(&message->shape) || message->offset % 4 != 0 ||
		!area_has(&client->area, message->offset, (message->shape.bins + 1) * sizeof(uint32_t)))
		return DEVICE_REFUSED;
	copy_boundaries(&client->area, message, boundaries);
	if (!check_boundaries(&message->shape, boundaries))
		return DEVICE_REFUSED;
	key = cache_column_key(&message->key, message->column, message->shape.form);
	client->uploading = cache_create_column(server->cache, &key, &message->shape, boundaries);
	return client->uploading ? DEVICE_OK : DEVICE_NO_MEMORY;
}

static DeviceResult
upload_data(Server *server, Client *client, const DeviceRequest *message)
{
	Resident   *column = client->uploading;
	VkBufferCopy copy = {message->offset, message->destination, message->size};

	if (column == NULL || message->size == 0 || !area_has(&client->area, message->offset, message->size) ||
		message->destination > column->memory.size || message->size > column->memory.size - message->destination)
		return DEVICE_REFUSED;
	if (!client->area.imported)
		memcpy(client->area.memory.host + message->offset, client->area.map + message->offset, message->size);
	vkCmdCopyBuffer(context_begin(server->context), client->area.memory.buffer, column->memory.buffer, 1, &copy);
	context_submit(server->context);
	client->uploaded += message->size;
	return DEVICE_OK;
}

static DeviceResult
end_upload(Server *server, Client *client)
{
	if (client->uploading == NULL || client->uploaded != client->uploading->layout.size)
		return DEVICE_REFUSED;
	cache_add(server->cache, client->uploading);
	client->uploading = NULL;
	server->uploads++;
	return DEVICE_OK;
}

static DeviceResult
sort_pairs(Server *server, Client *client, const DeviceRequest *message)
{
	const Area *area = &client->area;
	uint64_t	size = message->size * sizeof(SortPair);

	if (message->size == 0 || message->size > DEVICE_MAX_PAIRS || message->offset % sizeof(SortPair) != 0 ||
		!area_has(&client->area, message->offset, size) || message->first_bit > 63 ||
		message->bits > 64 - message->first_bit)
		return DEVICE_REFUSED;
	if (!area->imported)
		memcpy(area->memory.host + message->offset, area->map + message->offset, size);
	if (!pairs_sort(server->pairs, &area->memory, message->offset, (uint32_t) message->size,
					message->first_bit, message->bits))
		return DEVICE_NO_MEMORY;
	if (!area->imported)
		memcpy(area->map + message->offset, area->memory.host + message->offset, size);
	return DEVICE_OK;
}

/* Check the shape of a column whose sieve vectors are to be made; it must have vectors. */
static bool
check_sieve_shape(const ColumnShape *shape)
{
	return shape->rows > 0 && shape->rows <= DEVICE_SEGMENT_CHUNKS * DEVICE_CHUNK_ROWS && !shape->heap_order &&
		shape->bins > 0 && shape->bins <= DEVICE_MAX_BINS && shape->radix > 0 && shape->radix <= shape->bins &&
		shape->vectors > 0 && shape->vectors == device_high_vectors(shape) + shape->radix - 1;
}

static bool
check_sieve(const Area *area, const DeviceRequest *message)
{
	const ColumnShape *shape = &message->shape;

	return check_sieve_shape(shape) && message->offset % 64 == 0 && message->results % 64 == 0 &&
		area_has(area, message->offset, device_order_offset(shape->bins) + shape->rows * sizeof(uint32_t)) &&
		area_has(area, message->results, device_vectors_size(shape));
}

static DeviceResult
make_vectors(Server *server, Client *client, const DeviceRequest *message)
{
	const Area *area = &client->area;
	const ColumnShape *shape = &message->shape;
	uint64_t	order = message->offset + device_order_offset(shape->bins);
	uint32_t	boundaries[MAX_BOUNDARIES];
	VectorSource source = {.shape = shape, .order = order, .boundaries = boundaries};

	if (!check_sieve(area, message))
		return DEVICE_REFUSED;
	copy_boundaries(area, message, boundaries);
	if (!check_boundaries(shape, boundaries))
		return DEVICE_REFUSED;
	if (!area->imported)
		memcpy(area->memory.host + order, area->map + order, shape->rows * sizeof(uint32_t));
	if (!vectors_make(server->vectors, &source, &area->memory, message->results))
		return DEVICE_NO_MEMORY;
	if (!area->imported)
		memcpy(area->map + message->results, area->memory.host + message->results, device_vectors_size(shape));
	return DEVICE_OK;
}

static void
fill_status(const Server *server, DeviceStatus *status)
{
	const Context *context = server->context;

	*status = (DeviceStatus) {
		.software = context->software,
		.ray_tracing = context->ray_tracing,
		.can_aggregate = context->int64_atomics,
		.memory_limit = context->memory_limit,
		.memory_used = context->memory_used,
		.columns = server->cache->columns,
		.bvhs = server->cache->bvhs,
		.requests = server->requests,
		.submissions = context->submissions,
		.uploads = server->uploads,
		.builds = server->evaluator->bvhs.builds,
		.sorts = server->pairs->sorts,
		.sieves = server->vectors->sieves,
		.build_nanoseconds = server->pairs->nanoseconds + server->vectors->nanoseconds +
		server->evaluator->bvhs.nanoseconds,
		.evictions = server->cache->evictions,
		.failures = server->failures,
	};
	snprintf(status->name, sizeof(status->name), "%.127s", context->properties.deviceName);
}

/* Send a reply.  If the backend does not receive it, close the connection. */
static void
send_reply(Client *client, uint64_t number, DeviceReply *reply)
{
	reply->number = number;
	if (send(client->socket, reply, sizeof(*reply), MSG_NOSIGNAL) != sizeof(*reply))
		shutdown(client->socket, SHUT_RDWR);
}

/* Handle a message.  A valid request to evaluate regions is only kept, and evaluated in a later batch. */
static void
handle_message(Server *server, Client *client, const DeviceRequest *message, int file)
{
	DeviceReply reply = {.result = DEVICE_REFUSED};

	switch (message->kind)
	{
		case DEVICE_HELLO:
			reply.result = say_hello(server, client, message, file);
			fill_status(server, &reply.status);
			break;
		case DEVICE_UPLOAD_BEGIN:
			reply.result = begin_upload(server, client, message);
			break;
		case DEVICE_UPLOAD_DATA:
			reply.result = upload_data(server, client, message);
			break;
		case DEVICE_UPLOAD_END:
			reply.result = end_upload(server, client);
			break;
		case DEVICE_EVALUATE:
			client->asks = client->area.map && request_read(&client->request, &client->area, message);
			client->request.number = ++server->arrivals;
			client->request.built_before = server->evaluator->bvhs.builds;
			if (client->asks)
				return;
			break;
		case DEVICE_SORT:
			reply.result = sort_pairs(server, client, message);
			break;
		case DEVICE_SIEVE:
			reply.result = make_vectors(server, client, message);
			break;
		case DEVICE_STATUS:
			reply.result = DEVICE_OK;
			fill_status(server, &reply.status);
			break;
	}
	send_reply(client, message->number, &reply);
}

/* Receive a message, and the file passed with it or -1.  Returns 1; 0 without a message; -1 at the end or on error. */
static int
receive_message(int socket, DeviceRequest *message, int *file)
{
	union
	{
		struct cmsghdr header;
		char		space[CMSG_SPACE(sizeof(int))];
	}			control;
	struct iovec vector = {message, sizeof(*message)};
	struct msghdr header = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = CMSG_LEN(sizeof(int))};
	ssize_t		size = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *first = size > 0 ? CMSG_FIRSTHDR(&header) : NULL;

	*file = -1;
	if (first && first->cmsg_type == SCM_RIGHTS)
		memcpy(file, CMSG_DATA(first), sizeof(*file));
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return size == sizeof(*message) ? 1 : -1;
}

/* Handle a client's messages, up to a request that has to be evaluated.  Returns false if the connection is closed. */
static bool
take_messages(Server *server, Client *client)
{
	while (!client->asks)
	{
		DeviceRequest message;
		int			file;
		int			received = receive_message(client->socket, &message, &file);

		if (received > 0)
			handle_message(server, client, &message, file);
		if (file >= 0)
			close(file);
		if (received <= 0)
			return received == 0;
	}
	return true;
}

/* Return true if the peer has closed the connection; its requests need not be evaluated or answered. */
static bool
is_gone(short events)
{
	return events & (POLLHUP | POLLERR | POLLNVAL);
}

/* ---------------------------------------------------------------- the loop */

/* Answer the worker, which checks that the program is alive.  Returns false if the worker is gone. */
static bool
answer_worker(void)
{
	char		question;

	if (read(STDIN_FILENO, &question, 1) != 1)
		return false;
	printf("alive\n");
	fflush(stdout);
	return true;
}

/* Return the number of requests that are not in a batch yet. */
static uint32_t
count_waiting(const Server *server)
{
	uint32_t	waiting = 0;

	for (uint32_t i = 0; i < server->count; i++)
		waiting += server->clients[i]->asks && !server->clients[i]->evaluating;
	return waiting;
}

static uint32_t
count_evaluating(const Server *server)
{
	uint32_t	evaluating = 0;

	for (uint32_t i = 0; i < server->count; i++)
		evaluating += server->clients[i]->evaluating;
	return evaluating;
}

static int
compare_arrivals(const void *a, const void *b)
{
	uint64_t	left = (*(Request *const *) a)->number;
	uint64_t	right = (*(Request *const *) b)->number;

	return left < right ? -1 : left > right;
}

/* Choose waiting requests, from clients in turn.  Sort them by arrival: only the first that lacks a BVH builds it. */
static uint32_t
choose_requests(Server *server, uint32_t limit, Request **requests)
{
	uint32_t	chosen = 0;

	for (uint32_t i = 0; i < server->count && chosen < limit; i++)
	{
		Client	   *client = server->clients[server->turn++ % server->count];

		if (!client->asks || client->evaluating)
			continue;
		client->evaluating = true;
		requests[chosen++] = &client->request;
	}
	qsort(requests, chosen, sizeof(Request *), compare_arrivals);
	return chosen;
}

/* Begin a batch with half of all requests.  Meanwhile the other half is answered, and backends send new requests. */
static void
begin_batch(Server *server, uint32_t waiting)
{
	uint32_t	half = (waiting + count_evaluating(server) + 1) / 2;
	Request    *requests[BATCH_REQUESTS];
	uint32_t	count = choose_requests(server, half < BATCH_REQUESTS ? half : BATCH_REQUESTS, requests);

	evaluate_begin(server->evaluator, requests, count);
	server->changed = clock_now();
}

static Client *
client_of(Request *request)
{
	return (Client *) ((char *) request - offsetof(Client, request));
}

/* End the oldest batch, and answer its requests. */
static void
end_batch(Server *server)
{
	Request    *requests[BATCH_REQUESTS];
	uint32_t	count = evaluate_end(server->evaluator, requests);

	for (uint32_t i = 0; i < count; i++)
	{
		Client	   *client = client_of(requests[i]);
		DeviceReply *reply = &requests[i]->reply;

		client->evaluating = false;
		if (reply->result == REQUEST_WAITS)
			continue;
		server->requests++;
		server->failures += reply->result > DEVICE_NOT_BUILT;
		send_reply(client, requests[i]->message_number, reply);
		request_free(requests[i]);
		client->asks = false;
	}
	server->changed = clock_now();
}

/* Begin and end batches as far as possible without waiting. */
static void
advance_batches(Server *server)
{
	const Evaluator *evaluator = server->evaluator;
	uint32_t	waiting;

	/* Do not poll software: polling would take processor time from it. */
	while (evaluate_running(evaluator) > 0 && (server->context->software || evaluate_is_done(evaluator)))
		end_batch(server);
	if (evaluate_running(evaluator) > 0 && clock_now() - server->changed > submission_limit(server->context))
		fail("the device has not finished its work in time");
	while (evaluate_running(evaluator) < BATCHES && (waiting = count_waiting(server)) > 0)
		begin_batch(server, waiting);
}

/* Return how many ms to wait for messages; -1: no limit.  It is 0 at first, since a batch may need microseconds. */
static int
poll_timeout(const Server *server)
{
	if (evaluate_running(server->evaluator) == 0)
		return -1;
	return server->context->software || clock_now() - server->changed < WATCH_TIME ? 0 : 1;
}

void
serve(Context *context, Cache *cache, Evaluator *evaluator, PairSorter *pairs, VectorMaker *vectors, int listener)
{
	static Server server;
	static struct pollfd files[MAX_CLIENTS + 2];

	server = (Server) {.context = context, .cache = cache, .evaluator = evaluator, .pairs = pairs,
		.vectors = vectors, .listener = listener, .spare = open("/dev/null", O_RDONLY | O_CLOEXEC)};
	for (;;)
	{
		uint32_t	count = server.count;

		files[0] = (struct pollfd) {.fd = STDIN_FILENO, .events = POLLIN};
		files[1] = (struct pollfd) {.fd = listener, .events = POLLIN};
		for (uint32_t i = 0; i < count; i++)
			files[2 + i] = (struct pollfd) {.fd = server.clients[i]->socket, .events = POLLIN};
		if (poll(files, 2 + count, poll_timeout(&server)) < 0 && errno != EINTR)
			fail("could not wait for messages: %s", strerror(errno));
		if (files[0].revents && !answer_worker())
			return;
		/* Go backwards, because a client that is dropped is replaced by the last one. */
		for (uint32_t i = count; i-- > 0;)
			if (files[2 + i].revents && (is_gone(files[2 + i].revents) ||
										 !take_messages(&server, server.clients[i])))
				drop_client(&server, i);
		if (files[1].revents)
			accept_client(&server);
		advance_batches(&server);
	}
}
