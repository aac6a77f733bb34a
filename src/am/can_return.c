/*
 * can_return.c
 *		Which columns an index can give back: amcanreturn, which tells nobody but RtscanScan and RtscanAggregate.
 *
 * INCLUDEd values, and those of key columns, are as they were put in, also where they are equal to others that do not look
 * like them: RTSCAN_COLUMN_IMAGES in segment/segment.h.  Only segments that rtscan 1.0 has written, or that were merged with
 * such ones, can have lost images.  Entries of others say that they have not (storage/directory.h), so that a session need
 * not open all segments to plan its first query; the others' descriptors are asked.
 *
 * Once the index is in today's format no such segment is written any more.  So a session that has seen that nothing is lost
 * need not look again, and a plan that was made then stays right.  Before that sessions that still have the library of 1.0
 * may write some, which go away with an update; and the primary of a standby that was updated first, which may take days.
 */
#include "am/am.h"

#include "access/xlog.h"
#include "row/keys.h"
#include "segment/segment.h"
#include "utils/snapmgr.h"

StaticAssertDecl(INDEX_MAX_KEYS <= 64, "RtscanImage.told has a bit for each key column");

/* May its pages be read while a query is planned?  Partitioned indexes have none. */
static bool
is_readable(Relation index)
{
	return index->rd_rel->relkind == RELKIND_INDEX && !RELATION_IS_OTHER_TEMP(index) && ActiveSnapshotSet() &&
		(RelationIsPermanent(index) || !RecoveryInProgress());
}

/* Key columns of which a segment has lost images, by its descriptor: all, if it cannot be read. */
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

/* Key columns of which no segment has.  No segment is opened whose entry says that it has lost none. */
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
	/* before the image: what an older library has written is in it */
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
