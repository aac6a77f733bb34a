/*
 * metapage.c
 *		Read the image of an index, and switch it.
 */
#include "storage/metapage.h"

#include "access/generic_xlog.h"
#include "access/transam.h"
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/recycle.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#define ENTRIES_PER_PAGE	(RTSCAN_CHUNK_BYTES / sizeof(RtscanEntry))

/* ---------------------------------------------------------------- the metapage */

static void
init_metapage(Page page)
{
	RtscanMeta *meta;

	rtscan_page_init(page, RTSCAN_PAGE_META, 0, 0);
	meta = (RtscanMeta *) rtscan_page_payload(page);
	memset(meta, 0, sizeof(RtscanMeta));
	meta->magic = RTSCAN_MAGIC;
	meta->format = RTSCAN_FORMAT_VERSION;
	if (!pg_strong_random(&meta->uuid, sizeof(meta->uuid)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
	meta->version = 1;
	meta->next_id = 2;
	meta->directory = InvalidBlockNumber;
	meta->open.id = 1;
	meta->open.head = InvalidBlockNumber;
	meta->sealed.head = InvalidBlockNumber;
	rtscan_page_set_used(page, sizeof(RtscanMeta));
}

void
rtscan_create_metapage(Relation index, ForkNumber fork)
{
	Buffer		buffer = ReadBufferExtended(index, fork, P_NEW, RBM_NORMAL, NULL);
	bool		wal = RelationNeedsWAL(index) || fork == INIT_FORKNUM;

	Assert(BufferGetBlockNumber(buffer) == RTSCAN_METAPAGE_BLOCK);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	START_CRIT_SECTION();
	init_metapage(BufferGetPage(buffer));
	MarkBufferDirty(buffer);
	if (wal)
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

/* Is this a metapage that we can read?  Raises an error or, with soft, returns false. */
static bool
check_metapage(Relation index, Page page, bool soft)
{
	RtscanMeta *meta = (RtscanMeta *) rtscan_page_payload(page);

	if (!rtscan_page_is(page, RTSCAN_PAGE_META, 0, 0) || meta->magic != RTSCAN_MAGIC)
	{
		if (soft)
			return false;
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" is not an rtscan index, or its metapage is corrupted",
						RelationGetRelationName(index)),
				 errhint("Please REINDEX it.")));
	}
	if (meta->format != RTSCAN_FORMAT_VERSION)
	{
		if (soft)
			return false;
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" has format version %u, but this rtscan reads version %d",
						RelationGetRelationName(index), meta->format, RTSCAN_FORMAT_VERSION),
				 errhint("Please REINDEX it.")));
	}
	return true;
}

/* ---------------------------------------------------------------- the directory */

static RtscanImage *
make_image(MemoryContext context, const RtscanMeta *meta, uint32 nentries)
{
	RtscanImage *image = MemoryContextAlloc(context, offsetof(RtscanImage, entries) +
											(Size) nentries * sizeof(RtscanEntry));

	image->meta = *meta;
	image->nentries = nentries;
	image->tail = InvalidBlockNumber;
	return image;
}

/* An image that nobody else has yet: meta and the entries of its directory; NULL if unreadable and soft. */
static RtscanImage *
read_directory(Relation index, const RtscanMeta *meta, bool soft)
{
	RtscanImage *image = make_image(CurrentMemoryContext, meta, 0);
	BlockNumber block = meta->directory;

	for (uint32 ordinal = 0; block != InvalidBlockNumber; ordinal++)
	{
		Buffer		buffer = ReadBuffer(index, block);
		Page		page = BufferGetPage(buffer);
		Size		used;

		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		used = rtscan_page_used(page);
		if (!rtscan_page_is(page, RTSCAN_PAGE_DIRECTORY, meta->directory_version, ordinal) ||
			used == 0 || used % sizeof(RtscanEntry) != 0)
		{
			UnlockReleaseBuffer(buffer);
			if (soft)
				return NULL;
			rtscan_page_mismatch(index, block, RTSCAN_PAGE_DIRECTORY);
		}
		image = repalloc(image, offsetof(RtscanImage, entries) +
						 image->nentries * sizeof(RtscanEntry) + used);
		memcpy(&image->entries[image->nentries], rtscan_page_payload(page), used);
		image->nentries += used / sizeof(RtscanEntry);
		block = rtscan_page_opaque(page)->next;
		UnlockReleaseBuffer(buffer);
	}
	return image;
}

/* Keep an image by the relation's cache entry, as one chunk of its memory. */
static RtscanImage *
cache_image(Relation index, const RtscanImage *image)
{
	RtscanImage *cached = make_image(index->rd_indexcxt, &image->meta, image->nentries);

	memcpy(cached->entries, image->entries, image->nentries * sizeof(RtscanEntry));
	if (index->rd_amcache)
		pfree(index->rd_amcache);
	index->rd_amcache = cached;
	return cached;
}

RtscanImage *
rtscan_read_image(Relation index, Snapshot snapshot, bool soft)
{
	RtscanImage *cached = (RtscanImage *) index->rd_amcache;
	RtscanImage *image;
	RtscanMeta	meta;
	Buffer		buffer = ReadBuffer(index, RTSCAN_METAPAGE_BLOCK);
	Page		page = BufferGetPage(buffer);
	bool		readable;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	readable = check_metapage(index, page, soft);
	if (readable && snapshot)
		TestForOldSnapshot(snapshot, index, page);
	meta = *(RtscanMeta *) rtscan_page_payload(page);
	UnlockReleaseBuffer(buffer);
	if (!readable)
		return NULL;

	if (cached && cached->meta.version == meta.version &&
		memcmp(&cached->meta.uuid, &meta.uuid, UUID_LEN) == 0)
		return cached;

	image = read_directory(index, &meta, soft);
	if (image == NULL)
		return NULL;
	cached = cache_image(index, image);
	pfree(image);
	return cached;
}

RtscanImage *
rtscan_copy_image(const RtscanImage *image)
{
	RtscanImage *copy = make_image(CurrentMemoryContext, &image->meta, image->nentries);

	memcpy(copy->entries, image->entries, image->nentries * sizeof(RtscanEntry));
	return copy;
}

/* ---------------------------------------------------------------- changes of an image */

void
rtscan_image_add(RtscanImage **image, const RtscanEntry *entry)
{
	*image = repalloc(*image, offsetof(RtscanImage, entries) +
					  ((*image)->nentries + 1) * sizeof(RtscanEntry));
	(*image)->entries[(*image)->nentries++] = *entry;
}

static void
retire(RtscanImage **image, RtscanEntryKind kind, uint64 id, BlockNumber root)
{
	RtscanEntry entry = {
		.id = id,
		.safe_xid = U64FromFullTransactionId(ReadNextFullTransactionId()),
		.root = root,
		.dead = InvalidBlockNumber,
		.kind = kind,
	};

	rtscan_image_add(image, &entry);
}

void
rtscan_image_retire_list(RtscanImage **image, const RtscanListRef *list)
{
	if (list->head != InvalidBlockNumber)
		retire(image, RTSCAN_ENTRY_PENDING, list->id, list->head);
}

void
rtscan_image_retire_segment(RtscanImage *image, uint64 id)
{
	RtscanEntry *entry = rtscan_image_segment(image, id);

	if (entry == NULL)
		elog(ERROR, "segment " UINT64_FORMAT " is gone", id);
	entry->safe_xid = U64FromFullTransactionId(ReadNextFullTransactionId());
}

void
rtscan_image_remove(RtscanImage *image, uint32 i)
{
	image->nentries--;
	memmove(&image->entries[i], &image->entries[i + 1],
			(image->nentries - i) * sizeof(RtscanEntry));
}

RtscanEntry *
rtscan_image_segment(RtscanImage *image, uint64 id)
{
	for (uint32 i = 0; i < image->nentries; i++)
		if (rtscan_entry_is_live(&image->entries[i]) && image->entries[i].id == id)
			return &image->entries[i];
	return NULL;
}

/* ---------------------------------------------------------------- the switch */

/*
 * Directories that an earlier change retired, and that nobody can see any more, give
 * their blocks to the next one: a table that is never vacuumed must not grow by them.
 */
static List *
reclaim_directories(Relation index, RtscanImage *image)
{
	List	   *blocks = NIL;

	for (int i = (int) image->nentries - 1; i >= 0; i--)
	{
		RtscanEntry *entry = &image->entries[i];

		if (entry->kind == RTSCAN_ENTRY_DIRECTORY && rtscan_entry_is_removable(entry))
		{
			rtscan_log_reuse(index, entry);
			blocks = list_concat(blocks, rtscan_chain_blocks(index, RTSCAN_PAGE_DIRECTORY,
															 entry->id, entry->root));
			rtscan_image_remove(image, i);
		}
	}
	return blocks;
}

static Buffer
take_block(Relation index, List **blocks)
{
	Buffer		buffer;

	if (*blocks == NIL)
		return rtscan_allocate_page(index);
	buffer = ReadBuffer(index, llast_int(*blocks));
	*blocks = list_delete_last(*blocks);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	return buffer;
}

static void
write_directory_page(Relation index, Buffer buffer, const RtscanImage *image,
					 uint32 ordinal, BlockNumber next)
{
	Page		page = BufferGetPage(buffer);
	uint32		first = ordinal * ENTRIES_PER_PAGE;
	Size		used = Min(image->nentries - first, ENTRIES_PER_PAGE) * sizeof(RtscanEntry);

	START_CRIT_SECTION();
	rtscan_page_init(page, RTSCAN_PAGE_DIRECTORY, image->meta.directory_version, ordinal);
	memcpy(rtscan_page_payload(page), &image->entries[first], used);
	rtscan_page_set_used(page, used);
	rtscan_page_opaque(page)->next = next;
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(index))
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
}

/* Write the image's entries as a new directory, last page first, for each names its successor. */
static void
write_directory(Relation index, RtscanImage **image)
{
	BlockNumber next = InvalidBlockNumber;
	List	   *blocks = reclaim_directories(index, *image);

	if ((*image)->meta.directory != InvalidBlockNumber)
		retire(image, RTSCAN_ENTRY_DIRECTORY, (*image)->meta.directory_version,
			   (*image)->meta.directory);
	(*image)->meta.directory_version = (*image)->meta.version;

	for (int ordinal = ((int) (*image)->nentries - 1) / (int) ENTRIES_PER_PAGE;
		 (*image)->nentries > 0 && ordinal >= 0; ordinal--)
	{
		Buffer		buffer = take_block(index, &blocks);

		write_directory_page(index, buffer, *image, ordinal, next);
		next = BufferGetBlockNumber(buffer);
		UnlockReleaseBuffer(buffer);
	}
	(*image)->meta.directory = next;

	rtscan_free_blocks(index, blocks);
}

static void
write_metapage(Relation index, Buffer buffer, const RtscanMeta *meta)
{
	GenericXLogState *state = GenericXLogStart(index);
	Page		page = GenericXLogRegisterBuffer(state, buffer, 0);

	memcpy(rtscan_page_payload(page), meta, sizeof(RtscanMeta));
	GenericXLogFinish(state);
}

void
rtscan_switch(Relation index, RtscanChange change, void *arg)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan switch",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Buffer		buffer = ReadBuffer(index, RTSCAN_METAPAGE_BLOCK);
	Page		page = BufferGetPage(buffer);
	RtscanImage *before,
			   *image;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	check_metapage(index, page, false);
	before = read_directory(index, (RtscanMeta *) rtscan_page_payload(page), false);
	image = rtscan_copy_image(before);
	if (change(index, &image, arg))
	{
		image->meta.version++;
		if (image->nentries != before->nentries ||
			memcmp(image->entries, before->entries, image->nentries * sizeof(RtscanEntry)) != 0)
			write_directory(index, &image);
		write_metapage(index, buffer, &image->meta);
	}
	UnlockReleaseBuffer(buffer);

	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* ---------------------------------------------------------------- segments being written */

typedef struct BeginWriting
{
	RtscanWriterSlot slot;
	bool		first;
	uint64		id;
} BeginWriting;

/* RtscanChange: give out an id; whoever had the slot before did not finish. */
static bool
begin_writing(Relation index, RtscanImage **image, void *arg)
{
	BeginWriting *begin = (BeginWriting *) arg;
	RtscanMeta *meta = &(*image)->meta;

	if (begin->first && meta->writing[begin->slot] != 0)
		meta->leaks = true;
	begin->id = meta->writing[begin->slot] = meta->next_id++;
	return true;
}

uint64
rtscan_begin_writing(Relation index, RtscanWriterSlot slot, bool first)
{
	BeginWriting begin = {.slot = slot, .first = first};

	rtscan_switch(index, begin_writing, &begin);
	return begin.id;
}

void
rtscan_image_end_writing(RtscanImage *image, RtscanWriterSlot slot)
{
	image->meta.writing[slot] = 0;
}
