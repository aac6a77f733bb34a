/* SPDX-License-Identifier: PostgreSQL */
/*
 * directory.c
 *		Read and write the directory's records, and the differences of the current records from them.
 */
#include "storage/directory.h"

#include "storage/allocate.h"

/* ---------------------------------------------------------------- records */

Size
rtscan_record_size(const RtscanMeta *meta)
{
	return sizeof(RtscanEntry) + meta->bounded * sizeof(RtscanKeyBounds);
}

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

/*
 * Are the first "size" bytes of "records" valid records of this index?  If records had another size than
 * rtscan_record_size(), there would be invalid ids or kinds, or an incomplete record at the end.
 */
static bool
are_records(const char *records, Size size, const RtscanMeta *meta, RtscanEntryKind last_kind)
{
	Size		at = 0;

	while (at + rtscan_record_size(meta) <= size && record_is_sane(records + at, meta, last_kind))
		at += rtscan_record_size(meta);
	return at == size;
}

/* ---------------------------------------------------------------- pages */

static bool
is_directory_page(Page page, const RtscanMeta *meta, uint32 ordinal)
{
	return rtscan_page_is(page, RTSCAN_PAGE_DIRECTORY, meta->directory_version, ordinal) &&
		are_records(rtscan_page_payload(page), rtscan_page_used(page), meta, RTSCAN_ENTRY_PENDING);
}

bool
rtscan_read_directory(Relation index, const RtscanMeta *meta, bool soft, StringInfo records)
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

/* Return the blocks of the spare directory.  If there are fewer than "needed", allocates more blocks. */
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

void
rtscan_write_directory(Relation index, RtscanMeta *meta, const StringInfoData *records)
{
	int			page_bytes = RTSCAN_CHUNK_BYTES / rtscan_record_size(meta) * rtscan_record_size(meta);
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

/* ---------------------------------------------------------------- differences from the directory */

bool
rtscan_apply_differences(const RtscanMeta *meta, const char *differences, Size bytes,
						 const StringInfoData *directory, StringInfo records)
{
	Size		size = rtscan_record_size(meta);
	uint32		n = bytes / size;
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

void
rtscan_find_differences(const RtscanMeta *meta, const StringInfoData *directory,
						const StringInfoData *records, StringInfo differences)
{
	Size		size = rtscan_record_size(meta);
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
