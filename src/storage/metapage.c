/*
 * metapage.c
 *		Read the image of an index, and switch it.
 */
#include "storage/metapage.h"

#include "access/generic_xlog.h"
#include "access/transam.h"
#include "access/xact.h"
#include "access/xloginsert.h"
#include "lib/stringinfo.h"
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

/* What a metapage of a format begins with. */
static Size
meta_size(uint32 format)
{
	return format == 3 ? offsetof(RtscanMeta, flush_attempts) : sizeof(RtscanMeta);
}

/* An entry with its bounds, as directory and metapage have it. */
static Size
record_size(const RtscanMeta *meta)
{
	return sizeof(RtscanEntry) + meta->bounded * sizeof(RtscanKeyBounds);
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
	bool		bounded = meta->format > 3 && meta->bounded == (uint32) IndexRelationGetNumberOfKeyAttributes(index);
	Size		size = meta_size(meta->format);
	Size		used = rtscan_page_used(page);

	if (bounded)
		return used >= size && (used - size) % record_size(meta) == 0;
	return used == size && (meta->format == 3 || meta->bounded == 0);
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

	memcpy(&meta, rtscan_page_payload(page), meta_size(((RtscanMeta *) rtscan_page_payload(page))->format));
	return meta;
}

/* ---------------------------------------------------------------- records of directory and metapage */

static const RtscanEntry *
record_entry(const char *records, uint32 i, Size size)
{
	return (const RtscanEntry *) (records + i * size);
}

static bool
record_is_sane(const char *record, const RtscanMeta *meta, RtscanEntryKind last_kind)
{
	const RtscanEntry *entry = (const RtscanEntry *) record;

	return rtscan_entry_kind(entry) <= last_kind && entry->id > 0 && entry->id < meta->next_id;
}

/* Records of another size than the metapage says would not be sane, or not fill it. */
static bool
are_records(const char *records, Size size, const RtscanMeta *meta, RtscanEntryKind last_kind)
{
	Size		at = 0;

	while (at + record_size(meta) <= size && record_is_sane(records + at, meta, last_kind))
		at += record_size(meta);
	return at == size;
}

static bool
is_directory_page(Page page, const RtscanMeta *meta, uint32 ordinal)
{
	return rtscan_page_is(page, RTSCAN_PAGE_DIRECTORY, meta->directory_version, ordinal) &&
		are_records(rtscan_page_payload(page), rtscan_page_used(page), meta, RTSCAN_ENTRY_PENDING);
}

/* The directory's records; false if unreadable and soft.  The caller holds the metapage's lock. */
static bool
read_directory(Relation index, const RtscanMeta *meta, bool soft, StringInfo records)
{
	BlockNumber block = meta->directory;

	initStringInfo(records);
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
				return false;
			rtscan_page_mismatch(index, block, RTSCAN_PAGE_DIRECTORY);
		}
		appendBinaryStringInfo(records, rtscan_page_payload(page), rtscan_page_used(page));
		block = rtscan_page_opaque(page)->next;
		UnlockReleaseBuffer(buffer);
	}
	return true;
}

/* ---------------------------------------------------------------- differences from the directory */

/* Bytes that a metapage has for them. */
#define DIFFERENCES_ROOM	((int) (RTSCAN_CHUNK_BYTES - sizeof(RtscanMeta)))

/* The records of the directory, as the metapage's differences change them; false if these cannot be. */
static bool
apply_differences(Page metapage, const RtscanMeta *meta, const StringInfoData *directory, StringInfo records)
{
	Size		size = record_size(meta);
	const char *differences = rtscan_page_payload(metapage) + meta_size(meta->format);
	uint32		n = (rtscan_page_used(metapage) - meta_size(meta->format)) / size;
	uint32		next = 0;

	initStringInfo(records);
	if (!are_records(differences, n * size, meta, RTSCAN_ENTRY_REMOVED))
		return false;
	for (uint32 i = 0; i < directory->len / size; i++)
	{
		const RtscanEntry *entry = record_entry(directory->data, i, size);
		const RtscanEntry *difference = next < n ? record_entry(differences, next, size) : NULL;

		if (difference == NULL || difference->id != entry->id)
			appendBinaryStringInfo(records, (const char *) entry, size);
		else if (rtscan_entry_kind(difference) != RTSCAN_ENTRY_REMOVED)
			appendBinaryStringInfo(records, (const char *) difference, size);
		next += difference && difference->id == entry->id;
	}
	appendBinaryStringInfo(records, differences + next * size, (n - next) * size);
	return are_records(records->data, records->len, meta, RTSCAN_ENTRY_PENDING);
}

static void
append_removal(StringInfo differences, const RtscanEntry *entry, Size size)
{
	RtscanNewSegment removed = {.entry = {.id = entry->id, .kind_bits = RTSCAN_ENTRY_REMOVED}};

	appendBinaryStringInfo(differences, (const char *) &removed, size);
}

/* What makes the directory's records others: those that replace one or remove it, in the order of the directory; then those that are new. */
static void
find_differences(const StringInfoData *directory, const StringInfoData *records, Size size, StringInfo differences)
{
	uint32		n = records->len / size;
	uint32		next = 0;

	initStringInfo(differences);
	for (uint32 i = 0; i < directory->len / size; i++)
	{
		const RtscanEntry *entry = record_entry(directory->data, i, size);
		const RtscanEntry *now = next < n ? record_entry(records->data, next, size) : NULL;

		if (now == NULL || now->id != entry->id)
			append_removal(differences, entry, size);
		else if (memcmp(now, entry, size) != 0)
			appendBinaryStringInfo(differences, (const char *) now, size);
		next += now && now->id == entry->id;
	}
	appendBinaryStringInfo(differences, records->data + next * size, (n - next) * size);
}

/* ---------------------------------------------------------------- images */

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

/* An image that nobody else has yet. */
static RtscanImage *
unpack_image(Relation index, const RtscanMeta *meta, const StringInfoData *records)
{
	RtscanImage *image = make_image(index, meta);
	Size		size = record_size(meta);

	enlarge_image(&image, records->len / size);
	for (uint32 i = 0; i < image->nentries; i++)
	{
		const char *record = records->data + i * size;
		RtscanKeyBounds *bounds = rtscan_image_bounds(image, i);

		memcpy(&image->entries[i], record, sizeof(RtscanEntry));
		for (uint32 column = 0; column < image->nkeys; column++)
			bounds[column] = RTSCAN_NO_BOUNDS;
		memcpy(bounds, record + sizeof(RtscanEntry), meta->bounded * sizeof(RtscanKeyBounds));
	}
	return image;
}

/* The records of an image's entries. */
static void
pack_image(const RtscanImage *image, StringInfo records)
{
	initStringInfo(records);
	for (uint32 i = 0; i < image->nentries; i++)
	{
		appendBinaryStringInfo(records, (const char *) &image->entries[i], sizeof(RtscanEntry));
		appendBinaryStringInfo(records, (const char *) rtscan_image_bounds(image, i), image->nkeys * sizeof(RtscanKeyBounds));
	}
}

/* What a metapage, which is locked, and its directory say, whose records the caller gets, too; NULL if that is unreadable, and soft. */
static RtscanImage *
read_entries(Relation index, Page metapage, bool soft, StringInfo directory)
{
	RtscanMeta	meta = read_meta(metapage);
	RtscanImage *image = NULL;
	StringInfoData records;

	if (!read_directory(index, &meta, soft, directory))
		return NULL;
	if (apply_differences(metapage, &meta, directory, &records))
		image = unpack_image(index, &meta, &records);
	else if (!soft)
		raise_not_metapage(index);
	pfree(records.data);
	return image;
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
	StringInfoData directory;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (!check_metapage(index, page, soft))
		cached = NULL;
	else
	{
		if (snapshot)
			TestForOldSnapshot(snapshot, index, page);
		if (!is_current(cached, meta))
		{
			cached = NULL;
			image = read_entries(index, page, soft, &directory);
			pfree(directory.data);
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
	StringInfoData directory;
	const RtscanMeta *meta;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	check_metapage(index, BufferGetPage(buffer), false);
	image = read_entries(index, BufferGetPage(buffer), false, &directory);
	pfree(directory.data);
	meta = &image->meta;
	*blocks = list_concat(rtscan_chain_blocks(index, RTSCAN_PAGE_DIRECTORY, meta->directory_version, meta->directory),
						  rtscan_chain_blocks(index, RTSCAN_PAGE_DIRECTORY, meta->spare_version, meta->spare));
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
			.kind_bits = RTSCAN_ENTRY_PENDING,
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
		if (rtscan_entry_kind(&image->entries[i]) == kind && image->entries[i].id == id && image->entries[i].safe_xid == 0)
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

/* The blocks of the spare directory, and as many more as are needed. */
static List *
directory_blocks(Relation index, const RtscanMeta *meta, int needed)
{
	List	   *blocks = rtscan_chain_blocks(index, RTSCAN_PAGE_DIRECTORY, meta->spare_version, meta->spare);

	while (list_length(blocks) < needed)
	{
		Buffer		buffer = rtscan_allocate_page(index);

		rtscan_write_page(index, buffer, RTSCAN_PAGE_DIRECTORY, meta->version, 0, NULL, 0, InvalidBlockNumber);
		blocks = lappend_int(blocks, BufferGetBlockNumber(buffer));
		UnlockReleaseBuffer(buffer);
	}
	return blocks;
}

/* Write records over the spare directory, which becomes the directory. */
static void
write_directory(Relation index, RtscanMeta *meta, const StringInfoData *records)
{
	int			page_bytes = RTSCAN_CHUNK_BYTES / record_size(meta) * record_size(meta);
	List	   *blocks = directory_blocks(index, meta, (records->len + page_bytes - 1) / page_bytes);
	int			pages = list_length(blocks);

	for (int ordinal = 0; ordinal < pages; ordinal++)
	{
		int			first = Min(ordinal * page_bytes, records->len);
		Buffer		buffer = ReadBuffer(index, list_nth_int(blocks, ordinal));

		LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
		rtscan_write_page(index, buffer, RTSCAN_PAGE_DIRECTORY, meta->version, ordinal,
						  records->data + first, Min(records->len - first, page_bytes),
						  ordinal + 1 < pages ? (BlockNumber) list_nth_int(blocks, ordinal + 1) : InvalidBlockNumber);
		UnlockReleaseBuffer(buffer);
	}
	meta->spare = meta->directory;
	meta->spare_version = meta->directory_version;
	meta->directory = pages > 0 ? (BlockNumber) linitial_int(blocks) : InvalidBlockNumber;
	meta->directory_version = meta->version;
}

/*
 * Have the differences of an image from its directory; if they are too many, more than it has records itself, or it is an older one's,
 * write the directory anew.
 */
static void
write_entries(Relation index, RtscanImage *image, const StringInfoData *directory, StringInfo differences)
{
	bool		comparable = image->meta.bounded == image->nkeys;
	StringInfoData records;

	pack_image(image, &records);
	image->meta.bounded = image->nkeys;
	initStringInfo(differences);
	if (comparable)
		find_differences(directory, &records, record_size(&image->meta), differences);
	if (comparable && differences->len <= Min(DIFFERENCES_ROOM, directory->len))
		return;
	resetStringInfo(differences);
	write_directory(index, &image->meta, &records);
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
write_metapage(Relation index, Buffer buffer, const RtscanMeta *meta, const StringInfoData *differences, const RtscanListPages *pages)
{
	GenericXLogState *state = GenericXLogStart(index);
	Page		page = GenericXLogRegisterBuffer(state, buffer, 0);

	memcpy(rtscan_page_payload(page), meta, sizeof(RtscanMeta));
	memcpy(rtscan_page_payload(page) + sizeof(RtscanMeta), differences->data, differences->len);
	rtscan_page_set_used(page, sizeof(RtscanMeta) + differences->len);
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
	StringInfoData directory,
				differences;
	RtscanImage *image;
	bool		changed;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	check_metapage(index, page, false);
	image = read_entries(index, page, false, &directory);
	upgrade_image(&image);
	changed = change(index, &image, arg);
	if (changed)
	{
		image->meta.version++;
		image->meta.format = RTSCAN_FORMAT_VERSION;
		write_entries(index, image, &directory, &differences);
		write_metapage(index, buffer, &image->meta, &differences, pages);
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
