/* SPDX-License-Identifier: PostgreSQL */
/*
 * read_stream.h
 *		Read streams, which read blocks of a relation ahead, for all versions of PostgreSQL.
 *
 * From PostgreSQL 17 on, the read streams are PostgreSQL's own.  For older versions, read_stream.c has the functions
 * that rtscan needs.  A callback returns the next block, or InvalidBlockNumber at the end.  After the end the stream
 * may be reset, to continue with other blocks.  Buffers are returned pinned.
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

/* Begin a stream in the current memory context.  Data for each buffer is not supported: its size must be 0. */
extern ReadStream *read_stream_begin_relation(int flags, BufferAccessStrategy strategy, Relation relation,
											  ForkNumber fork, ReadStreamBlockNumberCB callback,
											  void *callback_private_data, size_t per_buffer_data_size);
extern Buffer read_stream_next_buffer(ReadStream *stream, void **per_buffer_data);
extern void read_stream_reset(ReadStream *stream);
extern void read_stream_end(ReadStream *stream);

#endif

#endif							/* RTSCAN_READ_STREAM_H */
