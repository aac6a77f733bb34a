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
 *			 │ RtscanPageOpaqueData         │  what the page is, and of whom
 *		8192 └──────────────────────────────┘
 *
 * Each page says what it is (its kind), to what it belongs (its owner: the id of a
 * segment or of a pending list, the version of a directory, or a writing slot) and its ordinal among
 * the pages of that owner.  Whoever reads a page names the three, and all are checked:
 * a page can be recycled under a reader of a hot standby, who must then be told to
 * retry, and a damaged index must not crash the server.
 *
 * Pages of a segment but for its dead bits and dead map never change: on a primary a pin is enough
 * to read them.  On a standby replay can recycle them, so check and read happen under
 * the content lock.  All other pages are always read under it.
 */
#ifndef RTSCAN_PAGE_H
#define RTSCAN_PAGE_H

#include "rtscan.h"

#include "storage/block.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"

typedef enum RtscanPageKind
{
	RTSCAN_PAGE_FREE,			/* initialised, for anyone to take */
	RTSCAN_PAGE_META,
	RTSCAN_PAGE_DIRECTORY,
	RTSCAN_PAGE_LIST,			/* begins a pending list; storage/pending.h */
	RTSCAN_PAGE_PENDING,		/* rows of a pending list */
	RTSCAN_PAGE_DESCRIPTOR,		/* describes a segment; segment/segment.h */
	RTSCAN_PAGE_DEAD_MAP,		/* block numbers of a segment's dead bits, and how many are set */
	RTSCAN_PAGE_DEAD,			/* dead bits of one chunk */
	RTSCAN_PAGE_SHARED,			/* several small arrays of one segment */
	RTSCAN_PAGE_TIDMAP,
	RTSCAN_PAGE_DICTIONARY,
	RTSCAN_PAGE_SIEVE,
	RTSCAN_PAGE_ORDER,
	RTSCAN_PAGE_CODES,
	RTSCAN_PAGE_INCLUDE,
	RTSCAN_PAGE_TAKEN,			/* what is being written; storage/writing.h */
	RTSCAN_PAGE_KINDS			/* how many there are; the numbers are on disk */
} RtscanPageKind;

#define RTSCAN_PAGE_ID			0xFF52	/* for pg_filedump and the like */

typedef struct RtscanPageOpaqueData
{
	uint64		owner;
	uint32		ordinal;
	BlockNumber next;			/* in chains: directory, list and pending, descriptor */
	uint32		full;			/* pending: full pages that the list had before this one */
	uint16		sealed;			/* list, pending: nobody adds to it any more */
	uint16		unused[19];
	uint16		kind;
	uint16		page_id;		/* the last two bytes, like all access methods */
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

/* The special area is found without pd_special, which may be damaged. */
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

/* Bytes of the payload in use; never more than there are, whatever the page says. */
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

extern void rtscan_page_init(Page page, RtscanPageKind kind, uint64 owner, uint32 ordinal);
extern bool rtscan_page_is(Page page, RtscanPageKind kind, uint64 owner, uint32 ordinal);
extern const char *rtscan_page_kind_name(RtscanPageKind kind);

/*
 * Lock a page that another one names, while more of them may be locked.  Returns false if we have locked it ourselves: damaged
 * pages can lead there, and who waits for itself cannot be cancelled.
 */
extern bool rtscan_lock_page(Buffer buffer, int mode);

/*
 * Read a page of the main fork, locked in mode (a BUFFER_LOCK_* constant), and check
 * what it is.  Raises an error where it is not that: see rtscan_page_mismatch().
 */
extern Buffer rtscan_read_page(Relation index, BlockNumber block, int mode,
							   RtscanPageKind kind, uint64 owner, uint32 ordinal);

/*
 * The page at block is not what a reader was led to expect.  On a hot standby it was
 * recycled: a serialization failure.  Elsewhere the index is corrupted.
 */
pg_noreturn extern void rtscan_page_mismatch(Relation index, BlockNumber block, RtscanPageKind kind);

/*
 * Log that bytes of a page have changed, as one generic WAL record made by hand: GenericXLog would copy and
 * compare the whole page.  Ranges ascend; call it in the critical section of the change.
 */
typedef struct RtscanPageRange
{
	uint16		offset;
	uint16		length;
} RtscanPageRange;

extern void rtscan_log_ranges(Buffer buffer, const RtscanPageRange *ranges, int n);

/* The content of a page of the right kind contradicts itself; detail says how. */
pg_noreturn extern void rtscan_page_corrupted(Relation index, BlockNumber block,
											  const char *detail,...) pg_attribute_printf(3, 4);

#endif							/* RTSCAN_PAGE_H */
