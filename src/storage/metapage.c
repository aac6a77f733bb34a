/* SPDX-License-Identifier: PostgreSQL */
/*
 * metapage.c
 *		Read the image of an index, and switch it.
 */
#include "storage/metapage.h"

#include "access/generic_xlog.h"
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/allocate.h"
#include "storage/list_page.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

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

/* Return the size of RtscanMeta in a format. */
static Size
meta_size(uint32 format)
{
	return format == 3 ? offsetof(RtscanMeta, flush_attempts) : sizeof(RtscanMeta);
}

/* Is this a metapage, in any format? */
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
			 format > RTSCAN_FORMAT_VERSION ? errhint("A newer version of rtscan has written the index. Install that version, and restart the server or, if rtscan is not preloaded, reconnect. Or REINDEX the index.")
			 : errhint("Please REINDEX it.")));
}

/* Does a metapage of a readable format have a valid size and a valid number of bounds? */
static bool
meta_is_sane(Relation index, Page page)
{
	const RtscanMeta *meta = (RtscanMeta *) rtscan_page_payload(page);
	bool		bounded = meta->format > 3 && meta->bounded == (uint32) IndexRelationGetNumberOfKeyAttributes(index);
	Size		size = meta_size(meta->format);
	Size		used = rtscan_page_used(page);

	if (bounded)
		return used >= size && (used - size) % rtscan_record_size(meta) == 0;
	return used == size && (meta->format == 3 || meta->bounded == 0);
}

/* Is this a metapage that we can read?  If not, returns false if "soft" is true, else raises an error. */
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

/* Copy RtscanMeta from a metapage that has been checked; members that its format lacks are zero. */
static RtscanMeta
read_meta(Page page)
{
	RtscanMeta	meta = {0};

	memcpy(&meta, rtscan_page_payload(page), meta_size(((RtscanMeta *) rtscan_page_payload(page))->format));
	return meta;
}

/* ---------------------------------------------------------------- images */

/*
 * Read an image from a locked metapage and its directory, and set "directory" to the directory's records.  If the
 * records cannot be read, returns NULL if "soft" is true, else raises an error.
 */
static RtscanImage *
read_entries(Relation index, Page metapage, bool soft, StringInfo directory)
{
	RtscanMeta	meta = read_meta(metapage);
	Size		read = meta_size(meta.format);
	RtscanImage *image = NULL;
	StringInfoData records;

	if (!rtscan_read_directory(index, &meta, soft, directory))
		return NULL;
	if (rtscan_apply_differences(&meta, rtscan_page_payload(metapage) + read,
								 rtscan_page_used(metapage) - read, directory, &records))
		image = rtscan_unpack_image(index, &meta, &records);
	else if (!soft)
		raise_not_metapage(index);
	pfree(records.data);
	return image;
}

/* Convert an image that has just been read to the current format. */
static void
upgrade_image(RtscanImage **image)
{
	RtscanListRef sealed = (*image)->meta.format_3_sealed;

	(*image)->meta.format = RTSCAN_FORMAT_VERSION;
	(*image)->meta.format_3_sealed = (RtscanListRef) {.id = 0};
	if (sealed.id != 0)
		rtscan_image_add_list(image, &sealed);
}

/* Copy an image to the relation's cache entry, as one allocation that is freed together with the entry. */
static RtscanImage *
cache_image(Relation index, const RtscanImage *image)
{
	RtscanImage *cached = rtscan_copy_image_into(index->rd_indexcxt, image);
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

/*
 * Pin the metapage.  First tries the shared buffer in which this backend has found the metapage before.  This usually
 * saves a look-up in the buffer table, which matters if a statement reads hundreds of indexes.
 */
static Buffer
pin_metapage(Relation index, RtscanImage *cached)
{
	if (cached == NULL)
		return ReadBuffer(index, RTSCAN_METAPAGE_BLOCK);
	if (!BufferIsValid(cached->meta_buffer) ||
		!ReadRecentBuffer(index->rd_locator, MAIN_FORKNUM, RTSCAN_METAPAGE_BLOCK, cached->meta_buffer))
		cached->meta_buffer = ReadBuffer(index, RTSCAN_METAPAGE_BLOCK);
	return cached->meta_buffer;
}

RtscanImage *
rtscan_read_image(Relation index, Snapshot snapshot, bool soft)
{
	RtscanImage *cached = (RtscanImage *) index->rd_amcache;
	RtscanImage *image = NULL;
	Buffer		buffer = pin_metapage(index, cached);
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
		cached->meta_buffer = buffer;
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

/* ---------------------------------------------------------------- the switch */

/* Number of bytes for differences in a metapage. */
#define DIFFERENCES_ROOM	((int) (RTSCAN_CHUNK_BYTES - sizeof(RtscanMeta)))

/*
 * Set "differences" to the differences of an image from its directory.  Writes the directory anew, and leaves
 * "differences" empty, if the differences would not fit into the metapage or would be larger than the directory, or if
 * the directory has records of an older format.
 */
static void
write_entries(Relation index, RtscanImage *image, const StringInfoData *directory, StringInfo differences)
{
	bool		comparable = image->meta.bounded == image->nkeys;
	StringInfoData records;

	rtscan_pack_image(image, &records);
	image->meta.bounded = image->nkeys;
	initStringInfo(differences);
	if (comparable)
		rtscan_find_differences(&image->meta, directory, &records, differences);
	if (comparable && differences->len <= Min(DIFFERENCES_ROOM, directory->len))
		return;
	resetStringInfo(differences);
	rtscan_write_directory(index, &image->meta, &records);
}

/* Mark a pending page as sealed.  Called in a critical section. */
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
 * Write the metapage and, unless "pages" is NULL, the pages of a pending list.  One WAL record does not have room for
 * all these pages.  A crash between two records leaves insertion pages that are not marked as sealed.  No process
 * appends to them after the crash: the metapage names another list, and the list page is sealed.
 */
static void
write_metapage(Relation index, Buffer buffer, const RtscanMeta *meta,
			   const StringInfoData *differences, const RtscanListPages *pages)
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
