/*
 * read_stream.h
 *		Blocks of a relation, one after another, that are read before they are asked for.
 *
 * This is what PostgreSQL 17 calls a read stream, and what there is of it for older versions.  A callback names the next block, or
 * InvalidBlockNumber at the end; then the stream may be reset, to go on with others.  Buffers are returned pinned.
 */
#ifndef RTSCAN_READ_STREAM_H
#define RTSCAN_READ_STREAM_H

#include "rtscan.h"

#include "storage/bufmgr.h"

#if RTSCAN_COMPAT_READ_STREAMS

#include "storage/read_stream.h"

#else

#define READ_STREAM_DEFAULT		0
#define READ_STREAM_SEQUENTIAL	2	/* the kernel reads ahead by itself */

typedef struct ReadStream ReadStream;
typedef BlockNumber (*ReadStreamBlockNumberCB) (ReadStream *stream, void *callback_private_data, void *per_buffer_data);

/* Without data for each buffer; in the current memory context. */
extern ReadStream *read_stream_begin_relation(int flags, BufferAccessStrategy strategy, Relation relation, ForkNumber fork,
											  ReadStreamBlockNumberCB callback, void *callback_private_data,
											  size_t per_buffer_data_size);
extern Buffer read_stream_next_buffer(ReadStream *stream, void **per_buffer_data);
extern void read_stream_reset(ReadStream *stream);
extern void read_stream_end(ReadStream *stream);

#endif

#endif							/* RTSCAN_READ_STREAM_H */
