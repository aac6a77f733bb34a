/* SPDX-License-Identifier: PostgreSQL */
/*
 * can_return.c
 *		Determine which columns an index can return: amcanreturn, which only RtscanScan and RtscanAggregate use.
 *
 * The index returns the values of INCLUDE columns and key columns exactly as they were inserted, even if equal values
 * look different (see RTSCAN_COLUMN_IMAGES in segment/segment.h).  Only segments that were written by rtscan 1.0, or
 * merged from such segments, can have lost images of values.  The directory entry of any other segment has a flag
 * that no image is lost (storage/directory.h), so that a session need not open all segments to plan its first query.
 * If the flag is missing, the segment's descriptor is read.
 *
 * Once the index is in the current format (RTSCAN_FORMAT_VERSION), no segment with lost images is added, except by a
 * merge of segments that have lost images already.  If a session finds no lost image while the index is in the current
 * format, it need not check again, and its plans stay valid.  While the index is in an older format, the library of
 * 1.0 may still write segments with lost images: in sessions that loaded it before the update, or on the primary, if
 * its standby was updated first, possibly for days.
 */
#include "am/am.h"

#include "access/xlog.h"
#include "row/keys.h"
#include "segment/segment.h"
#include "utils/snapmgr.h"

StaticAssertDecl(INDEX_MAX_KEYS <= 64, "RtscanImage.told has a bit for each key column");

/* May the index's pages be read during planning?  A partitioned index has no pages. */
static bool
is_readable(Relation index)
{
	return index->rd_rel->relkind == RELKIND_INDEX && !RELATION_IS_OTHER_TEMP(index) && ActiveSnapshotSet() &&
		(RelationIsPermanent(index) || !RecoveryInProgress());
}

/*
 * Return a bit mask of the key columns of which a segment has lost images, from its descriptor.  All bits are set if
 * the segment cannot be read.
 */
static uint64
lost_in_segment(Relation index, const RtscanEntry *entry)
{
	RtscanReader reader;
	uint64		lost = 0;

	if (!rtscan_reader_open(&reader, index, entry, true))
		return PG_UINT64_MAX;
	for (int i = 0; i < reader.segment->header.nkeys; i++)
		if (!rtscan_lost_no_image(&reader.segment->columns[i].header))
			lost |= UINT64CONST(1) << i;
	return lost;
}

/*
 * Return a bit mask of the key columns of which no segment has lost images.  Opens only segments whose directory
 * entry does not have the flag that no image is lost.
 */
static uint64
find_told(Relation index)
{
	RtscanImage *image = rtscan_read_image(index, NULL, true);
	uint64		lost = 0;

	if (image == NULL)
		return 0;
	image = rtscan_copy_image(image);
	for (uint32 i = 0; i < image->nentries && lost != PG_UINT64_MAX; i++)
		if (rtscan_entry_is_live(&image->entries[i]) && !rtscan_entry_lost_no_image(&image->entries[i]))
			lost |= lost_in_segment(index, &image->entries[i]);
	pfree(image);
	return ~lost;
}

/* Do all segments give a key column's values back exactly as they were inserted? */
static bool
lost_no_image(Relation index, int key)
{
	const RtscanImage *known = (RtscanImage *) index->rd_amcache;
	uint64		bit = UINT64CONST(1) << key;
	uint64		told;
	bool		older;

	if (known && (known->told & bit))
		return true;
	if (!is_readable(index) || rtscan_read_image(index, NULL, true) == NULL)
		return false;
	/* read the format before the image: if it is current, no older library adds segments that the image lacks */
	older = rtscan_stored_format(index) < RTSCAN_FORMAT_VERSION;
	if (older && RecoveryInProgress())
		return false;
	told = find_told(index);
	if (index->rd_amcache && !older)
		((RtscanImage *) index->rd_amcache)->told |= told;
	return (told & bit) != 0;
}

bool
rtscan_can_return(Relation index, int attno)
{
	int			key = attno - 1;

	return key >= IndexRelationGetNumberOfKeyAttributes(index) ||
		rtscan_key_tells_image(rtscan_key_kind(index_getprocid(index, key + 1, RTSCAN_COMPARE_PROC))) ||
		lost_no_image(index, key);
}
