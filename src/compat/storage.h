/* SPDX-License-Identifier: PostgreSQL */
/*
 * storage.h
 *		Differences between PostgreSQL's versions: files, buffers, locks, waits.
 *
 * Only compat.h includes this file, after PostgreSQL's headers.
 */
#ifndef RTSCAN_COMPAT_STORAGE_H
#define RTSCAN_COMPAT_STORAGE_H

#if PG_VERSION_NUM < 160000
/* Before PostgreSQL 16, a relation's locator and file number are called file node. */
typedef RelFileNode RelFileLocator;
#define rd_locator rd_node
#define RelFileLocatorEquals(a, b) RelFileNodeEquals(a, b)
#define dbOid dbNode
#define spcOid spcNode
#define relNumber relNode
#define rd_firstRelfilelocatorSubid rd_firstRelfilenodeSubid
#endif

#if PG_VERSION_NUM < 170000
/* From PostgreSQL 17 on, an argument tells whether to check for stronger locks, too. */
#define LockHeldByMe(tag, mode, or_stronger) LockHeldByMe(tag, mode)

/* Before PostgreSQL 17, a process's number is its backend ID. */
#define MyProcNumber MyBackendId
#endif

#if PG_VERSION_NUM >= 170000
/* From PostgreSQL 17 on, there is no old_snapshot_threshold. */
#define TestForOldSnapshot(snapshot, relation, page) ((void) 0)
#endif

#if PG_VERSION_NUM < 190000
/*
 * Does this process hold a buffer's content lock?  PostgreSQL 19 has this function.  The buffer must not be local,
 * because a local buffer has no lock.
 */
static inline bool
BufferIsLockedByMe(Buffer buffer)
{
	return LWLockHeldByMe(BufferDescriptorGetContentLock(GetBufferDescriptor(buffer - 1)));
}
#endif

/* Is a buffer's page this block of a relation's main file? */
static inline bool
rtscan_compat_tag_matches(const BufferTag *tag, const RelFileLocator *file, BlockNumber block)
{
#if PG_VERSION_NUM >= 160000
	return tag->blockNum == block && BufTagGetForkNum(tag) == MAIN_FORKNUM && BufTagMatchesRelFileLocator(tag, file);
#else
	return tag->blockNum == block && tag->forkNum == MAIN_FORKNUM && RelFileLocatorEquals(tag->rnode, *file);
#endif
}

/* 19 has 64 bits for the state of a buffer. */
#if PG_VERSION_NUM >= 190000
typedef uint64 RtscanBufferState;
#else
typedef uint32 RtscanBufferState;
#endif

/*
 * Read the LSN of the page in a buffer at once, since another process may be setting it.  PostgreSQL before 19 sets its
 * halves separately, so that an LSN from between can be read; it is one that the page has had only if the log has grown
 * by 4 GB since.  AddressSanitizer must not mind that the buffer is not pinned.
 */
__attribute__((no_sanitize("address")))
static inline XLogRecPtr
rtscan_compat_read_lsn(Buffer buffer)
{
	union
	{
		uint64		bits;
		PageXLogRecPtr lsn;
	}			page = {.bits = *(volatile uint64 *) BufferGetPage(buffer)};

#if PG_VERSION_NUM >= 190000
	return PageXLogRecPtrGet(&page.lsn);
#else
	return PageXLogRecPtrGet(page.lsn);
#endif
}

/* Unlock the header of a buffer, whose usage count becomes at least 1. */
static inline void
rtscan_compat_unlock_used(BufferDesc *header, RtscanBufferState state)
{
	RtscanBufferState use = BUF_STATE_GET_USAGECOUNT(state) == 0 ? BUF_USAGECOUNT_ONE : 0;

#if PG_VERSION_NUM >= 190000
	UnlockBufHdrExt(header, state, use, 0, 0);
#else
	UnlockBufHdr(header, state | use);
#endif
}

/*
 * Return the LSN of a permanent table's page if a buffer has it, without a pin or a lock on the page; else
 * InvalidXLogRecPtr.  While the header of the buffer is locked, it keeps the page.
 *
 * A page that is only read in this way would be the first to be evicted, so that counts as a use.
 */
static inline XLogRecPtr
rtscan_compat_peek_lsn(Buffer buffer, const RelFileLocator *file, BlockNumber block)
{
	BufferDesc *header = GetBufferDescriptor(buffer - 1);
	RtscanBufferState state = LockBufHdr(header);
	XLogRecPtr	lsn = InvalidXLogRecPtr;

	if ((state & BM_VALID) && (state & BM_TAG_VALID) && rtscan_compat_tag_matches(&header->tag, file, block))
		lsn = rtscan_compat_read_lsn(buffer);
	rtscan_compat_unlock_used(header, state);
	return lsn;
}

/* Return the buffer that has a block of a relation's main file, or InvalidBuffer; it is not pinned. */
static inline Buffer
rtscan_compat_find_buffer(const RelFileLocator *file, BlockNumber block)
{
	BufferTag	tag;
	uint32		hash;
	int			found;

#if PG_VERSION_NUM >= 160000
	InitBufferTag(&tag, file, MAIN_FORKNUM, block);
#else
	INIT_BUFFERTAG(tag, *file, MAIN_FORKNUM, block);
#endif
	hash = BufTableHashCode(&tag);
	LWLockAcquire(BufMappingPartitionLock(hash), LW_SHARED);
	found = BufTableLookup(&tag, hash);
	LWLockRelease(BufMappingPartitionLock(hash));
	return found + 1;
}

/* Fetch into the processor's caches what rtscan_compat_peek_lsn() reads. */
static inline void
rtscan_compat_prefetch_buffer(Buffer buffer)
{
	__builtin_prefetch(GetBufferDescriptor(buffer - 1), 1);
	__builtin_prefetch(BufferGetPage(buffer));
}

/*
 * rtscan_compat_named_segment() returns a segment of dynamic shared memory that all sessions share under its name; its
 * first user has it initialized.  Before PostgreSQL 17 there are none, and it returns NULL.
 */
#if PG_VERSION_NUM >= 190000
#define RTSCAN_COMPAT_INIT_SEGMENT(function) static void function(void *segment, void *unused)
#define rtscan_compat_named_segment(name, size, init) GetNamedDSMSegment(name, size, init, &(bool) {false}, NULL)
#elif PG_VERSION_NUM >= 170000
#define RTSCAN_COMPAT_INIT_SEGMENT(function) static void function(void *segment)
#define rtscan_compat_named_segment(name, size, init) GetNamedDSMSegment(name, size, init, &(bool) {false})
#else
#define RTSCAN_COMPAT_INIT_SEGMENT(function) static void function(void *segment)
#define rtscan_compat_named_segment(name, size, init) ((void) (name), (void) (init), NULL)
#endif

/* Does PostgreSQL have read streams?  If not, search/visible/read_stream.c implements the part that rtscan needs. */
#define RTSCAN_COMPAT_READ_STREAMS (PG_VERSION_NUM >= 170000)

#if PG_VERSION_NUM < 160000
/* Have the file system allocate pages of one segment file of a relation; returns false if it cannot. */
static inline bool
rtscan_compat_reserve_in_file(Relation relation, BlockNumber first, uint32 n)
{
	char	   *path = relpath(RelationGetSmgr(relation)->smgr_rnode, MAIN_FORKNUM);
	char	   *name = first < RELSEG_SIZE ? path : psprintf("%s.%u", path, first / RELSEG_SIZE);
	int			file = OpenTransientFile(name, O_RDWR | PG_BINARY);
	int			error = ENOENT;

	if (file >= 0)
	{
		pgstat_report_wait_start(WAIT_EVENT_DATA_FILE_EXTEND);
		error = posix_fallocate(file, (off_t) (first % RELSEG_SIZE) * BLCKSZ, (off_t) n * BLCKSZ);
		pgstat_report_wait_end();
		CloseTransientFile(file);
	}
	if (name != path)
		pfree(name);
	pfree(path);
	return error == 0;
}

/*
 * Have the file system allocate new pages of a relation.  If that fails, write zeros to the pages instead.  Zeros are
 * written even if the file system reports that the disk is full, because some file systems report so when it is not.
 */
static inline void
rtscan_compat_reserve(Relation relation, BlockNumber first, uint32 n)
{
	PGAlignedBlock zeros = {0};

	for (uint32 done = 0, now; done < n; done += now)
	{
		now = Min(n - done, RELSEG_SIZE - (first + done) % RELSEG_SIZE);
		if (rtscan_compat_reserve_in_file(relation, first + done, now))
			continue;
		for (uint32 i = done; i < done + now; i++)
			smgrextend(RelationGetSmgr(relation), MAIN_FORKNUM, first + i, zeros.data, false);
	}
}
#endif

/*
 * Extend an index by n pages during its build, and return their buffers, locked exclusively.  No other process can
 * find these pages yet.
 *
 * "others_extend" tells whether other processes extend the relation at the same time.  If so, the extension lock is
 * held as briefly as possible.  The file is written to as rarely as possible, because the kernel locks it for each
 * write.  In PostgreSQL 15, the last page is written first, which extends the relation by all n pages.  After
 * the lock has been released, the file system allocates the other n - 1 pages.
 */
static inline void
rtscan_compat_extend(Relation relation, bool others_extend, Buffer *buffers, uint32 n)
{
#if PG_VERSION_NUM >= 160000
	const uint32 flags = others_extend ? 0 : EB_SKIP_EXTENSION_LOCK;

	for (uint32 done = 0, now; done < n; done += now)
		ExtendBufferedRelBy(BMR_REL(relation), MAIN_FORKNUM, NULL, flags, n - done, buffers + done, &now);
	for (uint32 i = 0; i < n; i++)
		LockBuffer(buffers[i], BUFFER_LOCK_EXCLUSIVE);
#else
	PGAlignedBlock zeros = {0};
	BlockNumber first;

	if (others_extend)
		LockRelationForExtension(relation, ExclusiveLock);
	first = RelationGetNumberOfBlocks(relation);
	if ((uint64) first + n > MaxBlockNumber)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cannot extend relation \"%s\" beyond %u blocks", RelationGetRelationName(relation),
						MaxBlockNumber)));
	smgrextend(RelationGetSmgr(relation), MAIN_FORKNUM, first + n - 1, zeros.data, false);
	if (others_extend)
		UnlockRelationForExtension(relation, ExclusiveLock);
	rtscan_compat_reserve(relation, first, n - 1);
	for (uint32 i = 0; i < n; i++)
		buffers[i] = ReadBufferExtended(relation, MAIN_FORKNUM, first + i, RBM_ZERO_AND_LOCK, NULL);
#endif
}

/*
 * Create a wait event set that lives as long as the backend.  From PostgreSQL 17 on, the first argument is a resource
 * owner, which would free the set when it is released, so NULL is passed.  Before PostgreSQL 17, the first argument is
 * a memory context.
 */
static inline WaitEventSet *
rtscan_compat_create_event_set(int events)
{
#if PG_VERSION_NUM >= 170000
	return CreateWaitEventSet(NULL, events);
#else
	return CreateWaitEventSet(TopMemoryContext, events);
#endif
}

#endif							/* RTSCAN_COMPAT_STORAGE_H */
