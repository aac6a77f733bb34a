/*
 * metapage.c
 *		Read the image of an index, and switch it.
 */
#include "storage/metapage.h"

#include "access/generic_xlog.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/allocate.h"
#include "storage/pending.h"
#include "storage/proc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

/* ---------------------------------------------------------------- the metapage */

static void
init_metapage(Page page, const pg_uuid_t *uuid)
{
	RtscanMeta *meta;

	rtscan_page_init(page, RTSCAN_PAGE_META, 0, 0);
	meta = (RtscanMeta *) rtscan_page_payload(page);
	memset(meta, 0, sizeof(RtscanMeta));
	meta->magic = RTSCAN_MAGIC;
	meta->format = RTSCAN_FORMAT_VERSION;
	meta->uuid = *uuid;
	meta->version = 1;
	meta->next_id = 2;
	meta->directory = InvalidBlockNumber;
	meta->spare = InvalidBlockNumber;
	meta->open.id = 1;
	meta->open.head = InvalidBlockNumber;
	rtscan_page_set_used(page, sizeof(RtscanMeta));
}

void
rtscan_create_metapage(Relation index, ForkNumber fork)
{
	Buffer		buffer = ReadBufferExtended(index, fork, P_NEW, RBM_NORMAL, NULL);
	bool		wal = RelationNeedsWAL(index) || fork == INIT_FORKNUM;
	pg_uuid_t	uuid;

	if (!pg_strong_random(&uuid, sizeof(uuid)))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
	Assert(BufferGetBlockNumber(buffer) == RTSCAN_METAPAGE_BLOCK);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	START_CRIT_SECTION();
	init_metapage(BufferGetPage(buffer), &uuid);
	MarkBufferDirty(buffer);
	if (wal)
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

/* What a metapage of a format holds. */
static Size
meta_size(uint32 format)
{
	return format == 3 ? offsetof(RtscanMeta, flush_attempts) : sizeof(RtscanMeta);
}

/* Is this a metapage, of whatever format? */
static bool
is_metapage(Page page)
{
	const RtscanMeta *meta = (RtscanMeta *) rtscan_page_payload(page);

	return rtscan_page_is(page, RTSCAN_PAGE_META, 0, 0) && meta->magic == RTSCAN_MAGIC;
}

static bool
is_readable(uint32 format)
{
	return format >= RTSCAN_OLDEST_FORMAT && format <= RTSCAN_FORMAT_VERSION;
}

static void
raise_not_metapage(Relation index)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is not an rtscan index, or its metapage is corrupted",
					RelationGetRelationName(index)),
			 errhint("Please REINDEX it.")));
}

static void
raise_unknown_format(Relation index, uint32 format)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" has format version %u, but this rtscan reads versions %d to %d",
					RelationGetRelationName(index), format, RTSCAN_OLDEST_FORMAT, RTSCAN_FORMAT_VERSION),
			 format > RTSCAN_FORMAT_VERSION ?
			 errhint("A newer rtscan has written it. Install that, and restart the server or reconnect; or REINDEX it.") :
			 errhint("Please REINDEX it.")));
}

/* Does the metapage of a readable format say what it may? */
static bool
meta_is_sane(Relation index, Page page)
{
	const RtscanMeta *meta = (RtscanMeta *) rtscan_page_payload(page);

	return rtscan_page_used(page) == meta_size(meta->format) &&
		(meta->format == 3 || meta->bounded == 0 || meta->bounded == (uint32) IndexRelationGetNumberOfKeyAttributes(index));
}

/* Is this a metapage that we can read?  Raises an error or, with soft, returns false. */
static bool
check_metapage(Relation index, Page page, bool soft)
{
	uint32		format = ((RtscanMeta *) rtscan_page_payload(page))->format;

	if (is_metapage(page) && is_readable(format) && meta_is_sane(index, page))
		return true;
	if (soft)
		return false;
	if (is_metapage(page) && !is_readable(format))
		raise_unknown_format(index, format);
	raise_not_metapage(index);
	return false;
}

uint32
rtscan_stored_format(Relation index)
{
	Buffer		buffer = ReadBuffer(index, RTSCAN_METAPAGE_BLOCK);
	Page		page = BufferGetPage(buffer);
	uint32		format;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (!is_metapage(page))
		raise_not_metapage(index);
	format = ((RtscanMeta *) rtscan_page_payload(page))->format;
	UnlockReleaseBuffer(buffer);
	return format;
}

/* What a metapage of any format says that has been checked: what came later is zero in an older one. */
static RtscanMeta
read_meta(Page page)
{
	RtscanMeta	meta = {0};

	memcpy(&meta, rtscan_page_payload(page), rtscan_page_used(page));
	return meta;
}

/* Make an image that has just been read one of today's format. */
static void
upgrade_image(RtscanImage **image)
{
	RtscanListRef sealed = (*image)->meta.format_3_sealed;

	(*image)->meta.format = RTSCAN_FORMAT_VERSION;
	(*image)->meta.format_3_sealed = (RtscanListRef) {.id = 0};
	if (sealed.id != 0)
		rtscan_image_add_list(image, &sealed);
}

/* ---------------------------------------------------------------- the directory */

/* An entry with its bounds, as the directory has it. */
static Size
stored_size(const RtscanMeta *meta)
{
	return sizeof(RtscanEntry) + meta->bounded * sizeof(RtscanKeyBounds);
}

/* An image of no entries. */
static RtscanImage *
make_image(Relation index, const RtscanMeta *meta)
{
	RtscanImage *image = palloc(offsetof(RtscanImage, entries));

	image->meta = *meta;
	image->nkeys = IndexRelationGetNumberOfKeyAttributes(index);
	image->nentries = 0;
	image->own_page = InvalidBlockNumber;
	image->own_buffer = InvalidBuffer;
	image->told = 0;
	return image;
}

/* Make room for n more entries behind the others; they and their bounds are to be set. */
static void
enlarge_image(RtscanImage **image, uint32 n)
{
	uint32		before = (*image)->nentries;
	Size		bounds = (Size) before * (*image)->nkeys * sizeof(RtscanKeyBounds);

	(*image)->nentries += n;
	*image = repalloc(*image, rtscan_image_size(*image));
	memmove(rtscan_image_bounds(*image, 0), &(*image)->entries[before], bounds);
}

/* Take the entries of a directory page. */
static void
add_stored(RtscanImage **image, const char *payload, uint32 n)
{
	Size		size = stored_size(&(*image)->meta);
	uint32		first = (*image)->nentries;

	enlarge_image(image, n);
	for (uint32 i = 0; i < n; i++)
	{
		const char *stored = payload + i * size;
		RtscanKeyBounds *bounds = rtscan_image_bounds(*image, first + i);

		memcpy(&(*image)->entries[first + i], stored, sizeof(RtscanEntry));
		for (uint32 column = 0; column < (*image)->nkeys; column++)
			bounds[column] = RTSCAN_NO_BOUNDS;
		memcpy(bounds, stored + sizeof(RtscanEntry), (*image)->meta.bounded * sizeof(RtscanKeyBounds));
	}
}

static bool
entry_is_sane(const RtscanEntry *entry, const RtscanMeta *meta)
{
	return entry->kind <= RTSCAN_ENTRY_PENDING && entry->id > 0 && entry->id < meta->next_id;
}

/* Entries of another size than the metapage says would not be sane, or not fill it. */
static bool
is_directory_page(Page page, const RtscanMeta *meta, uint32 ordinal)
{
	const char *payload = rtscan_page_payload(page);
	Size		size = stored_size(meta);
	Size		at = 0;

	if (!rtscan_page_is(page, RTSCAN_PAGE_DIRECTORY, meta->directory_version, ordinal))
		return false;
	while (at + size <= rtscan_page_used(page) && entry_is_sane((const RtscanEntry *) (payload + at), meta))
		at += size;
	return at == rtscan_page_used(page);
}

/*
 * An image that nobody else has yet: meta and the entries of its directory; NULL if
 * unreadable and soft.  The caller holds the metapage's lock.
 */
static RtscanImage *
read_directory(Relation index, const RtscanMeta *meta, bool soft)
{
	RtscanImage *image = make_image(index, meta);
	BlockNumber block = meta->directory;

	for (uint32 ordinal = 0; block != InvalidBlockNumber; ordinal++)
	{
		Buffer		buffer = ReadBuffer(index, block);
		Page		page = BufferGetPage(buffer);
		bool		locked = rtscan_lock_page(buffer, BUFFER_LOCK_SHARE);

		if (!locked || !is_directory_page(page, meta, ordinal))
		{
			if (locked)
				LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
			ReleaseBuffer(buffer);
			if (soft)
				return NULL;
			rtscan_page_mismatch(index, block, RTSCAN_PAGE_DIRECTORY);
		}
		add_stored(&image, rtscan_page_payload(page), rtscan_page_used(page) / stored_size(meta));
		block = rtscan_page_opaque(page)->next;
		UnlockReleaseBuffer(buffer);
	}
	return image;
}

static RtscanImage *
copy_image(MemoryContext context, const RtscanImage *image)
{
	Size		size = rtscan_image_size(image);

	return memcpy(MemoryContextAlloc(context, size), image, size);
}

/* Keep an image by the relation's cache entry, as one chunk of its memory. */
static RtscanImage *
cache_image(Relation index, const RtscanImage *image)
{
	RtscanImage *cached = copy_image(index->rd_indexcxt, image);
	RtscanImage *before = (RtscanImage *) index->rd_amcache;

	if (before && memcmp(&before->meta.uuid, &image->meta.uuid, UUID_LEN) == 0)
		cached->told = before->told;
	if (before)
		pfree(before);
	index->rd_amcache = cached;
	return cached;
}

static bool
is_current(const RtscanImage *image, const RtscanMeta *meta)
{
	return image && image->meta.version == meta->version &&
		memcmp(&image->meta.uuid, &meta->uuid, UUID_LEN) == 0;
}

RtscanImage *
rtscan_read_image(Relation index, Snapshot snapshot, bool soft)
{
	RtscanImage *cached = (RtscanImage *) index->rd_amcache;
	RtscanImage *image = NULL;
	Buffer		buffer = ReadBuffer(index, RTSCAN_METAPAGE_BLOCK);
	Page		page = BufferGetPage(buffer);
	const RtscanMeta *meta = (RtscanMeta *) rtscan_page_payload(page);

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (!check_metapage(index, page, soft))
		cached = NULL;
	else
	{
		if (snapshot)
			TestForOldSnapshot(snapshot, index, page);
		if (!is_current(cached, meta))
		{
			RtscanMeta	copy = read_meta(page);

			cached = NULL;
			image = read_directory(index, &copy, soft);
		}
	}
	UnlockReleaseBuffer(buffer);
	if (image)
	{
		upgrade_image(&image);
		cached = cache_image(index, image);
		pfree(image);
	}
	return cached;
}

RtscanImage *
rtscan_read_directories(Relation index, List **blocks)
{
	Buffer		buffer = ReadBuffer(index, RTSCAN_METAPAGE_BLOCK);
	RtscanImage *image;
	RtscanMeta	meta;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	check_metapage(index, BufferGetPage(buffer), false);
	meta = read_meta(BufferGetPage(buffer));
	image = read_directory(index, &meta, false);
	*blocks = list_concat(rtscan_chain_blocks(index, RTSCAN_PAGE_DIRECTORY, meta.directory_version, meta.directory),
						  rtscan_chain_blocks(index, RTSCAN_PAGE_DIRECTORY, meta.spare_version, meta.spare));
	UnlockReleaseBuffer(buffer);
	upgrade_image(&image);
	return image;
}

RtscanImage *
rtscan_copy_image(const RtscanImage *image)
{
	RtscanImage *copy = copy_image(CurrentMemoryContext, image);

	copy->own_page = InvalidBlockNumber;
	copy->own_buffer = InvalidBuffer;
	copy->told = 0;
	return copy;
}

/* ---------------------------------------------------------------- changes of an image */

void
rtscan_image_add_segment(RtscanImage **image, const RtscanNewSegment *segment)
{
	uint32		i = (*image)->nentries;

	enlarge_image(image, 1);
	(*image)->entries[i] = segment->entry;
	memcpy(rtscan_image_bounds(*image, i), segment->bounds, (*image)->nkeys * sizeof(RtscanKeyBounds));
}

void
rtscan_image_add_list(RtscanImage **image, const RtscanListRef *list)
{
	RtscanNewSegment added = {
		.entry = {
			.id = list->id,
			.root = list->head,
			.dead = InvalidBlockNumber,
			.kind = RTSCAN_ENTRY_PENDING,
		},
	};

	for (uint32 column = 0; column < (*image)->nkeys; column++)
		added.bounds[column] = RTSCAN_NO_BOUNDS;
	rtscan_image_add_segment(image, &added);
}

/* The entry of this kind that is not retired. */
static RtscanEntry *
find_entry(RtscanImage *image, RtscanEntryKind kind, uint64 id)
{
	for (uint32 i = 0; i < image->nentries; i++)
		if (image->entries[i].kind == kind && image->entries[i].id == id && image->entries[i].safe_xid == 0)
			return &image->entries[i];
	return NULL;
}

bool
rtscan_image_has_pending(const RtscanImage *image)
{
	for (uint32 i = 0; i < image->nentries; i++)
		if (rtscan_entry_is_sealed_list(&image->entries[i]))
			return true;
	return image->meta.open.head != InvalidBlockNumber;
}

RtscanEntry *
rtscan_image_segment(RtscanImage *image, uint64 id)
{
	return find_entry(image, RTSCAN_ENTRY_SEGMENT, id);
}

/*
 * An xid such that no snapshot that exists by now has a later xmin: our own, for it is running, or the next
 * one.  With our own the pages can be reused as soon as we are done.  But snapshots take no notice of vacuum's.
 */
static uint64
choose_safe_xid(void)
{
	FullTransactionId own = GetTopFullTransactionIdIfAny();

	if (!FullTransactionIdIsValid(own) || (MyProc->statusFlags & (PROC_IN_VACUUM | PROC_IN_LOGICAL_DECODING)))
		own = ReadNextFullTransactionId();
	return U64FromFullTransactionId(own);
}

static void
retire(RtscanEntry *entry)
{
	entry->safe_xid = choose_safe_xid();
	entry->retired_at = GetCurrentTimestamp();
}

void
rtscan_image_retire_list(RtscanImage *image, uint64 id)
{
	RtscanEntry *entry = find_entry(image, RTSCAN_ENTRY_PENDING, id);

	if (entry == NULL)
		elog(ERROR, "pending list " UINT64_FORMAT " is gone", id);
	retire(entry);
}

void
rtscan_image_retire_segment(RtscanImage *image, uint64 id)
{
	RtscanEntry *entry = rtscan_image_segment(image, id);

	if (entry == NULL)
		elog(ERROR, "segment " UINT64_FORMAT " is gone", id);
	retire(entry);
}

void
rtscan_image_remove(RtscanImage *image, uint32 i)
{
	RtscanKeyBounds *bounds = rtscan_image_bounds(image, 0);
	uint32		behind = image->nentries - i - 1;

	memmove(&image->entries[i], &image->entries[i + 1], behind * sizeof(RtscanEntry));
	memmove(rtscan_image_bounds(image, i), rtscan_image_bounds(image, i + 1), behind * image->nkeys * sizeof(RtscanKeyBounds));
	image->nentries--;
	memmove(rtscan_image_bounds(image, 0), bounds, image->nentries * image->nkeys * sizeof(RtscanKeyBounds));
}

/* ---------------------------------------------------------------- the switch */

static uint32
entries_per_page(const RtscanImage *image)
{
	return RTSCAN_CHUNK_BYTES / stored_size(&image->meta);
}

/* The blocks of the spare directory, and as many more as the image needs. */
static List *
directory_blocks(Relation index, const RtscanImage *image)
{
	uint32		per_page = entries_per_page(image);
	int			needed = (image->nentries + per_page - 1) / per_page;
	List	   *blocks = rtscan_chain_blocks(index, RTSCAN_PAGE_DIRECTORY, image->meta.spare_version,
											 image->meta.spare);

	while (list_length(blocks) < needed)
	{
		Buffer		buffer = rtscan_allocate_page(index);

		rtscan_write_page(index, buffer, RTSCAN_PAGE_DIRECTORY, image->meta.version, 0, NULL, 0,
						  InvalidBlockNumber);
		blocks = lappend_int(blocks, BufferGetBlockNumber(buffer));
		UnlockReleaseBuffer(buffer);
	}
	return blocks;
}

/* As a directory page has them. */
static Size
store_entries(const RtscanImage *image, uint32 first, uint32 n, char *payload)
{
	Size		size = stored_size(&image->meta);

	for (uint32 i = 0; i < n; i++)
	{
		memcpy(payload + i * size, &image->entries[first + i], sizeof(RtscanEntry));
		memcpy(payload + i * size + sizeof(RtscanEntry), rtscan_image_bounds(image, first + i),
			   image->nkeys * sizeof(RtscanKeyBounds));
	}
	return n * size;
}

/* Write the image's entries over the spare directory, which becomes the directory. */
static void
write_directory(Relation index, RtscanImage *image)
{
	RtscanMeta *meta = &image->meta;
	char	   *payload = palloc(RTSCAN_CHUNK_BYTES);
	List	   *blocks;
	uint32		pages,
				per_page;

	meta->bounded = image->nkeys;
	per_page = entries_per_page(image);
	blocks = directory_blocks(index, image);
	pages = list_length(blocks);
	for (uint32 ordinal = 0; ordinal < pages; ordinal++)
	{
		uint32		first = Min(ordinal * per_page, image->nentries);
		uint32		n = Min(image->nentries - first, per_page);
		Size		used = store_entries(image, first, n, payload);
		Buffer		buffer = ReadBuffer(index, list_nth_int(blocks, ordinal));

		LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
		rtscan_write_page(index, buffer, RTSCAN_PAGE_DIRECTORY, meta->version, ordinal,
						  payload, used,
						  ordinal + 1 < pages ? (BlockNumber) list_nth_int(blocks, ordinal + 1) : InvalidBlockNumber);
		UnlockReleaseBuffer(buffer);
	}
	meta->spare = meta->directory;
	meta->spare_version = meta->directory_version;
	meta->directory = pages > 0 ? (BlockNumber) linitial_int(blocks) : InvalidBlockNumber;
	meta->directory_version = meta->version;
}

/* Nobody appends to a pending page any more; part of a critical section. */
static void
seal_page(Relation index, Buffer buffer)
{
	RtscanPageRange range = {RTSCAN_SPECIAL_OFFSET + offsetof(RtscanPageOpaqueData, sealed), sizeof(uint16)};

	rtscan_page_opaque(BufferGetPage(buffer))->sealed = true;
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(index))
		rtscan_log_ranges(buffer, &range, 1);
}

/*
 * Write the metapage, and what becomes of a pending list if one is given.  A record has no room for all its pages; a crash
 * between records leaves pages without the mark, but nobody either who remembers to append to them: the
 * metapage leads to another list, and the list page is sealed.
 */
static void
write_metapage(Relation index, Buffer buffer, const RtscanMeta *meta, const RtscanListPages *pages)
{
	GenericXLogState *state = GenericXLogStart(index);
	Page		page = GenericXLogRegisterBuffer(state, buffer, 0);

	memcpy(rtscan_page_payload(page), meta, sizeof(RtscanMeta));
	rtscan_page_set_used(page, sizeof(RtscanMeta));
	if (pages && pages->is_new)
		rtscan_init_list_page(GenericXLogRegisterBuffer(state, pages->list, GENERIC_XLOG_FULL_IMAGE), meta->open.id);
	else if (pages)
		rtscan_page_opaque(GenericXLogRegisterBuffer(state, pages->list, 0))->sealed = true;
	START_CRIT_SECTION();
	GenericXLogFinish(state);
	for (int i = 0; pages && i < pages->ninsertion; i++)
		seal_page(index, pages->insertion[i]);
	END_CRIT_SECTION();
}

bool
rtscan_switch_list(Relation index, RtscanChange change, void *arg, const RtscanListPages *pages)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "rtscan switch",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Buffer		buffer = ReadBuffer(index, RTSCAN_METAPAGE_BLOCK);
	Page		page = BufferGetPage(buffer);
	RtscanMeta	meta;
	RtscanImage *before,
			   *image;
	bool		changed;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	check_metapage(index, page, false);
	meta = read_meta(page);
	before = read_directory(index, &meta, false);
	image = rtscan_copy_image(before);
	upgrade_image(&image);
	changed = change(index, &image, arg);
	if (changed)
	{
		image->meta.version++;
		image->meta.format = RTSCAN_FORMAT_VERSION;
		if (image->nentries != before->nentries ||
			memcmp(image->entries, before->entries, image->nentries * sizeof(RtscanEntry)) != 0)
			write_directory(index, image);
		write_metapage(index, buffer, &image->meta, pages);
	}
	UnlockReleaseBuffer(buffer);

	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	return changed;
}

void
rtscan_switch(Relation index, RtscanChange change, void *arg)
{
	(void) rtscan_switch_list(index, change, arg, NULL);
}

void
rtscan_image_end_writing(RtscanImage *image, RtscanWriterSlot slot)
{
	image->meta.writing[slot] = 0;
}
