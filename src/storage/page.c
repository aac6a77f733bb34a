/* SPDX-License-Identifier: PostgreSQL */
/*
 * page.c
 *		Initialise, read and check pages.
 */
#include "storage/page.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "utils/rel.h"

static const char *const kind_names[RTSCAN_PAGE_KINDS] = {
	[RTSCAN_PAGE_FREE] = "free",
	[RTSCAN_PAGE_META] = "meta",
	[RTSCAN_PAGE_DIRECTORY] = "directory",
	[RTSCAN_PAGE_LIST] = "list",
	[RTSCAN_PAGE_PENDING] = "pending",
	[RTSCAN_PAGE_DESCRIPTOR] = "descriptor",
	[RTSCAN_PAGE_DEAD_MAP] = "dead map",
	[RTSCAN_PAGE_DEAD] = "dead",
	[RTSCAN_PAGE_SHARED] = "shared",
	[RTSCAN_PAGE_TIDMAP] = "tidmap",
	[RTSCAN_PAGE_DICTIONARY] = "dictionary",
	[RTSCAN_PAGE_SIEVE] = "sieve",
	[RTSCAN_PAGE_ORDER] = "order",
	[RTSCAN_PAGE_CODES] = "codes",
	[RTSCAN_PAGE_INCLUDE] = "include",
	[RTSCAN_PAGE_TAKEN] = "taken",
};

/* Return the kind's name, for messages. */
static const char *
page_kind_name(RtscanPageKind kind)
{
	return kind < RTSCAN_PAGE_KINDS ? kind_names[kind] : "unknown";
}

/* The whole payload of the new page is its hole, which full-page images leave out. */
void
rtscan_page_init(Page page, RtscanPageKind kind, uint64 owner, uint32 ordinal)
{
	RtscanPageOpaqueData *opaque;

	PageInit(page, BLCKSZ, RTSCAN_SPECIAL_SIZE);
	rtscan_page_set_used(page, 0);

	opaque = rtscan_page_opaque(page);
	opaque->owner = owner;
	opaque->ordinal = ordinal;
	opaque->next = InvalidBlockNumber;
	opaque->kind = kind;
	opaque->page_id = RTSCAN_PAGE_ID;
}

bool
rtscan_page_is(Page page, RtscanPageKind kind, uint64 owner, uint32 ordinal)
{
	RtscanPageOpaqueData *opaque = rtscan_page_opaque(page);

	return opaque->page_id == RTSCAN_PAGE_ID && opaque->kind == kind &&
		opaque->owner == owner && opaque->ordinal == ordinal;
}

bool
rtscan_lock_page(Buffer buffer, int mode)
{
	if (!BufferIsLocal(buffer) && BufferIsLockedByMe(buffer))
		return false;
	LockBuffer(buffer, mode);
	return true;
}

Buffer
rtscan_read_page(Relation index, BlockNumber block, int mode,
				 RtscanPageKind kind, uint64 owner, uint32 ordinal)
{
	Buffer		buffer;

	if (block == InvalidBlockNumber)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" is corrupted", RelationGetRelationName(index)),
				 errdetail_internal("It needs a %s page, but has no block for it.", page_kind_name(kind)),
				 errhint("Please REINDEX it.")));

	buffer = ReadBuffer(index, block);
	if (!rtscan_lock_page(buffer, mode) || !rtscan_page_is(BufferGetPage(buffer), kind, owner, ordinal))
		rtscan_page_mismatch(index, block, kind);
	return buffer;
}

/*
 * In a generic WAL record a fragment is offset, length, bytes: see writeFragment() in PostgreSQL's
 * generic_xlog.c, whose redo function replays this record.
 */
void
rtscan_log_ranges(Buffer buffer, const RtscanPageRange *ranges, int n)
{
	Page		page = BufferGetPage(buffer);
	XLogRecPtr	lsn;

	StaticAssertStmt(sizeof(RtscanPageRange) == 2 * sizeof(OffsetNumber), "this is how a fragment begins");
	XLogBeginInsert();
	XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
	for (int i = 0; i < n; i++)
	{
		XLogRegisterBufData(0, (char *) unconstify(RtscanPageRange *, &ranges[i]), sizeof(RtscanPageRange));
		XLogRegisterBufData(0, (char *) page + ranges[i].offset, ranges[i].length);
	}
	lsn = XLogInsert(RM_GENERIC_ID, 0);
	PageSetLSN(page, lsn);
}

void
rtscan_page_mismatch(Relation index, BlockNumber block, RtscanPageKind kind)
{
	if (TransactionStartedDuringRecovery())
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("canceling statement due to conflict with recovery"),
				 errdetail("A page of index \"%s\" was recycled while the statement used it.",
						   RelationGetRelationName(index)),
				 errhint("Retry the statement.")));
	rtscan_page_corrupted(index, block, "The index expects a certain %s page there, but finds another page.",
						  page_kind_name(kind));
}

void
rtscan_page_corrupted(Relation index, BlockNumber block, const char *detail,...)
{
	char		message[256];
	va_list		args;

	va_start(args, detail);
	vsnprintf(message, sizeof(message), detail, args);
	va_end(args);
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" contains a corrupted page at block %u",
					RelationGetRelationName(index), block),
			 errdetail_internal("%s", message),
			 errhint("Please REINDEX it.")));
}
