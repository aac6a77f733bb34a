/* SPDX-License-Identifier: PostgreSQL */
/*
 * page.h
 *		The format that all pages of an rtscan index share, and how they are read.
 *
 *		   0 ┌──────────────────────────────┐
 *			 │ PageHeaderData               │
 *		  24 ├──────────────────────────────┤
 *			 │ (nothing, for alignment)     │
 *		  64 ├──────────────────────────────┤
 *			 │ payload, RTSCAN_CHUNK_BYTES, │  whole cache lines, in shared buffers
 *			 │ used up to pd_lower          │
 *		8128 ├──────────────────────────────┤
 *			 │ RtscanPageOpaqueData         │  identifies the page
 *		8192 └──────────────────────────────┘
 *
 * Each page has its kind, its owner (the id of a segment or of a pending list, the version of a directory, or a
 * writing slot) and its ordinal among the pages of that owner.  A reader passes the kind, owner and ordinal that it
 * expects, and all three are checked.  There are two reasons.  On a hot standby, a page can be recycled while a reader
 * needs it, and the reader must be told to retry.  And a damaged index must not crash the server.
 *
 * Pages of a segment, except for its dead bits and dead map, never change: on a primary a pin is enough to read them.
 * On a standby, replay can recycle them, so a page is checked and read under its content lock.  All other pages are
 * always read under their content locks.
 */
#ifndef RTSCAN_PAGE_H
#define RTSCAN_PAGE_H

#include "rtscan.h"

#include "storage/block.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"

typedef enum RtscanPageKind
{
	RTSCAN_PAGE_FREE,			/* initialised, free to be allocated */
	RTSCAN_PAGE_META,			/* the metapage, block 0; storage/metapage.h */
	RTSCAN_PAGE_DIRECTORY,		/* records of segments and lists; storage/directory.h */
	RTSCAN_PAGE_LIST,			/* first page of a pending list; storage/pending.h */
	RTSCAN_PAGE_PENDING,		/* rows of a pending list */
	RTSCAN_PAGE_DESCRIPTOR,		/* describes a segment; segment/segment.h */
	RTSCAN_PAGE_DEAD_MAP,		/* block numbers of a segment's dead bits, and how many bits are set; storage/dead.h */
	RTSCAN_PAGE_DEAD,			/* dead bits of one chunk */
	RTSCAN_PAGE_SHARED,			/* several small arrays of one segment */
	RTSCAN_PAGE_TIDMAP,			/* TIDs of a segment's rows */
	RTSCAN_PAGE_DICTIONARY,		/* distinct values of a column */
	RTSCAN_PAGE_SIEVE,			/* sieve vectors of a column */
	RTSCAN_PAGE_ORDER,			/* order of a column: rank -> row */
	RTSCAN_PAGE_CODES,			/* codes of a column's rows */
	RTSCAN_PAGE_INCLUDE,		/* values of an INCLUDEd column */
	RTSCAN_PAGE_TAKEN,			/* pages taken by an attempt to write; storage/writing.h */
	RTSCAN_PAGE_KINDS			/* number of kinds; a new kind goes directly before it, since the numbers are on disk */
} RtscanPageKind;

#define RTSCAN_PAGE_ID			0xFF52	/* lets pg_filedump and the like recognise the access method */

/* The special area of a page. */
typedef struct RtscanPageOpaqueData
{
	uint64		owner;			/* id of a segment or pending list, version of a directory, or writing slot; 0: none */
	uint32		ordinal;		/* position among the owner's pages */
	BlockNumber next;			/* next page in a chain (directory, list and pending, descriptor, taken), or
								 * InvalidBlockNumber */
	uint32		full;			/* pending page: number of full pages that the list had when this page was added */
	uint16		sealed;			/* list and pending pages: no rows are added any more */
	uint16		unused[19];
	uint16		kind;			/* RtscanPageKind */
	uint16		page_id;		/* RTSCAN_PAGE_ID; in the last two bytes of the page, as in all access methods */
} RtscanPageOpaqueData;

#define RTSCAN_PAYLOAD_OFFSET	64
#define RTSCAN_SPECIAL_SIZE		64
#define RTSCAN_SPECIAL_OFFSET	(BLCKSZ - RTSCAN_SPECIAL_SIZE)

StaticAssertDecl(sizeof(RtscanPageOpaqueData) == RTSCAN_SPECIAL_SIZE,
				 "the special area ends the page");
StaticAssertDecl(offsetof(RtscanPageOpaqueData, page_id) == RTSCAN_SPECIAL_SIZE - sizeof(uint16),
				 "the page id ends the special area");
StaticAssertDecl(RTSCAN_PAYLOAD_OFFSET + RTSCAN_CHUNK_BYTES == RTSCAN_SPECIAL_OFFSET,
				 "a chunk's bits fill the payload");

/* Return the special area.  It is found without pd_special, which may be damaged. */
static inline RtscanPageOpaqueData *
rtscan_page_opaque(Page page)
{
	return (RtscanPageOpaqueData *) ((char *) page + RTSCAN_SPECIAL_OFFSET);
}

static inline char *
rtscan_page_payload(Page page)
{
	return (char *) page + RTSCAN_PAYLOAD_OFFSET;
}

/* Return the number of used bytes of the payload: at most RTSCAN_CHUNK_BYTES, even if the page is damaged. */
static inline Size
rtscan_page_used(Page page)
{
	LocationIndex lower = ((PageHeader) page)->pd_lower;

	if (lower < RTSCAN_PAYLOAD_OFFSET)
		return 0;
	return Min((Size) lower - RTSCAN_PAYLOAD_OFFSET, RTSCAN_CHUNK_BYTES);
}

static inline void
rtscan_page_set_used(Page page, Size used)
{
	Assert(used <= RTSCAN_CHUNK_BYTES);
	((PageHeader) page)->pd_lower = RTSCAN_PAYLOAD_OFFSET + used;
}

/* Initialise an empty page: its kind, owner and ordinal, with all of the payload unused. */
extern void rtscan_page_init(Page page, RtscanPageKind kind, uint64 owner, uint32 ordinal);

/* Does the page have this kind, owner and ordinal? */
extern bool rtscan_page_is(Page page, RtscanPageKind kind, uint64 owner, uint32 ordinal);

/*
 * Lock a page whose block number was read from another page.  The caller may have locked other pages.  Returns false,
 * and does not wait, if this backend has locked the page already, as can happen if pages are damaged: a process that
 * waits for its own lock cannot be cancelled.
 */
extern bool rtscan_lock_page(Buffer buffer, int mode);

/*
 * Read a page of the main fork, lock it in "mode" (a BUFFER_LOCK_* constant), and check its kind, owner and ordinal.
 * Raises an error if they are different: see rtscan_page_mismatch().
 */
extern Buffer rtscan_read_page(Relation index, BlockNumber block, int mode,
							   RtscanPageKind kind, uint64 owner, uint32 ordinal);

/*
 * Raise the error for a block that does not have the page that a reader expects.  In a transaction that began on a hot
 * standby this is a serialization failure, since the page was recycled.  Otherwise the index is corrupted.
 */
pg_noreturn extern void rtscan_page_mismatch(Relation index, BlockNumber block, RtscanPageKind kind);

/* A range of bytes of a page. */
typedef struct RtscanPageRange
{
	uint16		offset;
	uint16		length;
} RtscanPageRange;

/*
 * Log that ranges of bytes of a page have changed, in one generic WAL record made by hand, since GenericXLog
 * would copy and compare the whole page.  The ranges ascend.  Called in the critical section that makes the
 * change.
 */
extern void rtscan_log_ranges(Buffer buffer, const RtscanPageRange *ranges, int n);

/* Raise the error for a page of the right kind whose content is inconsistent; "detail" says how. */
pg_noreturn extern void rtscan_page_corrupted(Relation index, BlockNumber block,
											  const char *detail,...) pg_attribute_printf(3, 4);

#endif							/* RTSCAN_PAGE_H */
