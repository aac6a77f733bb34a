/* SPDX-License-Identifier: PostgreSQL */
/*
 * read_stream.c
 *		Implement read streams for PostgreSQL before 17.
 *
 * The kernel is asked to read blocks ahead.  Their number is effective_io_concurrency of the relation's tablespace.
 * If a block is in shared buffers already, PrefetchBuffer() returns its buffer.  Then the buffer need not be searched
 * for again, and the head of its page is prefetched into the processor's caches.
 */
#include "search/visible/read_stream.h"

#if !RTSCAN_COMPAT_READ_STREAMS

#include "pgstat.h"
#include "utils/rel.h"
#include "utils/spccache.h"

/* Bytes at the start of a page that are prefetched: its header and most line pointers. */
#define HEAD_BYTES		512
/* Bytes of a cache line. */
#define CACHE_LINE		64

/* A block that has been requested, but not returned yet. */
typedef struct BlockAhead
{
	BlockNumber block;			/* number of the block */
	Buffer		recent;			/* shared buffer that had the block when it was prefetched, or InvalidBuffer */
} BlockAhead;

struct ReadStream
{
	BufferAccessStrategy strategy;
	Relation	relation;
	ForkNumber	fork;
	ReadStreamBlockNumberCB callback;
	void	   *private_data;
	uint32		distance;		/* number of blocks that are prefetched ahead of the one that is returned */
	uint32		first;			/* place in the ring of the next block to return */
	uint32		n;				/* number of blocks in the ring */
	BlockAhead	ring[FLEXIBLE_ARRAY_MEMBER];	/* the blocks ahead; has distance + 1 places */
};

ReadStream *
read_stream_begin_relation(int flags, BufferAccessStrategy strategy, Relation relation, ForkNumber fork,
						   ReadStreamBlockNumberCB callback, void *callback_private_data, size_t per_buffer_data_size)
{
	uint32		distance = flags == READ_STREAM_SEQUENTIAL ? 0 :
		get_tablespace_io_concurrency(relation->rd_rel->reltablespace);
	ReadStream *stream = palloc(offsetof(ReadStream, ring) + (distance + 1) * sizeof(BlockAhead));

	Assert(per_buffer_data_size == 0);
	*stream = (ReadStream) {
		.strategy = strategy,
		.relation = relation,
		.fork = fork,
		.callback = callback,
		.private_data = callback_private_data,
		.distance = distance,
	};
	return stream;
}

static void
prefetch_page_head(Buffer buffer)
{
	const char *page = BufferGetPage(buffer);

	for (Size byte = 0; byte < HEAD_BYTES; byte += CACHE_LINE)
		__builtin_prefetch(page + byte);
}

/* Add a block to the ring. */
static void
ask_for(ReadStream *stream, BlockNumber block)
{
	BlockAhead *ahead = &stream->ring[(stream->first + stream->n) % (stream->distance + 1)];

	*ahead = (BlockAhead) {block, InvalidBuffer};
	/* If the ring is empty, the block is read next, without prefetching. */
	if (stream->n++ > 0)
		ahead->recent = PrefetchBuffer(stream->relation, stream->fork, block).recent_buffer;
	if (BufferIsValid(ahead->recent))
		prefetch_page_head(ahead->recent);
}

static Buffer
read_block(ReadStream *stream, const BlockAhead *ahead)
{
	if (!BufferIsValid(ahead->recent) ||
		!ReadRecentBuffer(stream->relation->rd_locator, stream->fork, ahead->block, ahead->recent))
		return ReadBufferExtended(stream->relation, stream->fork, ahead->block, RBM_NORMAL, stream->strategy);
	pgstat_count_buffer_read(stream->relation);
	pgstat_count_buffer_hit(stream->relation);
	return ahead->recent;
}

Buffer
read_stream_next_buffer(ReadStream *stream, void **per_buffer_data)
{
	BlockAhead *ahead = &stream->ring[stream->first];

	while (stream->n <= stream->distance)
	{
		BlockNumber block = stream->callback(stream, stream->private_data, NULL);

		if (block == InvalidBlockNumber)
			break;
		ask_for(stream, block);
	}
	if (stream->n == 0)
		return InvalidBuffer;
	stream->first = (stream->first + 1) % (stream->distance + 1);
	stream->n--;
	return read_block(stream, ahead);
}

void
read_stream_reset(ReadStream *stream)
{
	stream->n = 0;
}

void
read_stream_end(ReadStream *stream)
{
	pfree(stream);
}

#endif
