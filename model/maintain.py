"""Backends that flush, merge and recycle: src/maintain; and VACUUM, src/am/vacuum.c.

The two heavyweight locks of an index are the merge lock, held to replace segments or to set dead bits, and the flush
lock, held to make a segment of a pending list. A backend that needs both takes the merge lock first. Inserters and
workers only try to take them.
"""
import metapage
import pending
import recycle
import sweep
import table
import writing
from metapage import FLUSH_SLOT, MERGE_SLOT
from world import Entry, Failure, ListRef

ROWS_PER_PAGE, ROWS_PER_SEGMENT = 2, 4
POISON = 3                                  # a key for which a comparison function may fail


# ---------------------------------------------------------------- segments

def write_segments(b, attempt, rows):
    """Write as many segments as the rows need, all by the same attempt."""
    entries = []
    for first in range(0, len(rows), ROWS_PER_SEGMENT):
        part = sorted(rows)[first:first + ROWS_PER_SEGMENT]
        entries.append((yield from write_segment(b, attempt, part)))
    return entries


def write_segment(b, attempt, rows):
    """Write a segment. The descriptor is written last, since it leads to the other pages."""
    new = yield from writing.new_id(b, attempt)
    contents = [tuple(rows[i:i + ROWS_PER_PAGE]) for i in range(0, len(rows), ROWS_PER_PAGE)]
    blocks = yield from writing.write_taken(b, attempt, "rows", new, contents)
    if b.w.poisoned and any(key == POISON for _, key in rows):
        raise Failure("values cannot be compared")
    descriptor, = yield from writing.write_taken(b, attempt, "descriptor", new, [tuple(blocks)])
    return Entry("segment", new, descriptor, None, 0, 0)


def replace(b, attempt, kind, gone, entries, begun, safe_xid):
    """Replace a list or segments by new segments. The same switch makes what the attempt has written part of the
    image. An attempt that has not begun has reclaimed nothing, so it does not end the one before.
    """
    def change(image):
        image = metapage.add(metapage.retire(b, image, kind, *gone, safe_xid=safe_xid), *entries)
        ends = b.w.broken not in ("ended-before-switch", "ended-after-switch") and (attempt.attempt or b.w.broken == "ended-unbegun")
        return metapage.end_writing(image, attempt.slot) if ends else image

    def end(image):
        return metapage.end_writing(image, attempt.slot)
    if b.w.broken == "ended-before-switch":
        yield from metapage.switch(b, end, "attempt ended")
    yield from metapage.switch(b, change, f"{kind}s {gone} -> segments {[e.id for e in entries]}", stale=begun)
    if b.w.broken == "ended-after-switch":
        yield from metapage.switch(b, end, "attempt ended")


# ---------------------------------------------------------------- flush

def next_list(b, after, limit_reached=True):
    """Return the next list to flush after the one with an id: a sealed one, or else the open one, which is sealed."""
    for again in (False, True):
        image = yield from metapage.read_image(b)
        lists = [e for e in metapage.sealed_lists(image) if e.id > after]
        if lists or again or not limit_reached:
            return min(lists, key=lambda e: e.id, default=None)
        yield from pending.seal(b)


def flush_list(b, entry):
    begun, safe_xid, attempt = b.image, b.w.next_xid, writing.Writing(FLUSH_SLOT)
    rows = yield from pending.visit(b, entry.id, entry.root)
    entries = yield from write_segments(b, attempt, rows)
    yield from replace(b, attempt, "list", [entry.id], entries, begun, safe_xid)


def flush(b):
    """Flush all sealed lists, and the list that is open now. Needs the flush lock. A list that cannot be flushed
    makes VACUUM fail.
    """
    last, done = (yield from metapage.read_image(b)).meta.open.id, 0
    while done < last and (entry := (yield from next_list(b, done))):
        done = entry.id
        try:
            yield from flush_list(b, entry)
        except Failure:
            if b.w.broken != "vacuum-passes-over":
                raise
            b.w.release_all(b, only_pages=True)
        if b.w.broken == "flush-one-list":
            return


def help_flush(b):
    """Flush for an insertion that finds the list long although there is a worker. It never fails if a list cannot be
    flushed.
    """
    if b.w.broken == "insert-waits":
        yield from b.lock("flush")
    elif not b.try_lock("flush"):
        return
    last, done = (yield from metapage.read_image(b)).meta.open.id, 0
    while done < last and (entry := (yield from next_list(b, done))):
        done = entry.id
        try:
            yield from flush_list(b, entry)
        except Failure:                                       # end of the subtransaction
            b.w.release_all(b, only_pages=True)
            yield "logs that a list cannot be flushed"
    b.unlock("flush")


# ---------------------------------------------------------------- merge

def merge(b, most):
    """Merge some of the live segments into one or several, or rewrite one that has dead rows. Needs the merge lock."""
    begun, safe_xid = (yield from metapage.read_image(b)), b.w.next_xid
    parts, rows, attempt = metapage.segments(begun)[:most], [], writing.Writing(MERGE_SLOT)
    if not parts or len(parts) == 1 and parts[0].dead is None:
        return
    for part in parts:
        rows += yield from live_rows(b, part)
    entries = yield from write_segments(b, attempt, rows)
    yield from replace(b, attempt, "segment", [part.id for part in parts], entries, begun, safe_xid)


def live_rows(b, segment):
    rows, dead = (yield from read_rows(b, segment)), ()
    if segment.dead is not None:
        dead, _, _ = yield from b.read(segment.dead, "dead", segment.id)
    return [row for i, row in enumerate(rows) if i not in dead]


def read_rows(b, segment):
    blocks, _, _ = yield from b.read(segment.root, "descriptor", segment.id)
    rows = []
    for ordinal, block in enumerate(blocks):
        rows += (yield from b.read(block, "rows", segment.id, ordinal))[0]
    return rows


# ---------------------------------------------------------------- bulk delete

def bulkdelete(b, tids, before_pruning):
    """Flush first, then mark the dead rows in every segment of a new image. The merge lock prevents a merge from
    reading dead bits that are about to be set.
    """
    broken = b.w.broken
    locks = ["merge", "flush"]
    for lock in reversed(locks) if broken == "flush-lock-first" else locks:
        if lock == "flush" and broken == "bulkdelete-skips-busy-flush" and not b.try_lock("flush"):
            break
        yield from b.lock(lock)
    stale = yield from metapage.read_image(b)
    if b in b.w.locks["flush"]:
        if broken != "bulkdelete-no-flush":
            yield from flush(b)
        b.unlock("flush")
    if broken == "merge-during-bulkdelete":
        b.unlock("merge")
    image = yield from metapage.read_image(b)
    for segment in metapage.segments(stale if broken == "bulkdelete-stale-image" else image):
        yield from delete_from_segment(b, segment, tids, image, before_pruning)
    if broken != "merge-during-bulkdelete":
        b.unlock("merge")


def delete_from_segment(b, segment, tids, image, before_pruning):
    """Mark dead rows of a segment. Rows in all-visible blocks are not tested, because a dead line pointer prevents
    its block from being all-visible.
    """
    rows = yield from read_rows(b, segment)
    visible = before_pruning if b.w.broken == "bulkdelete-early-map" else list(b.w.visibility_map)
    yield f"map of the blocks of segment {segment.id}: {visible}"
    dead = {i for i, (tid, _) in enumerate(rows) if not visible[tid[0]] and tid in tids}
    if not dead:
        return
    if segment.dead is None:
        segment = segment._replace(dead=(yield from allocate_dead(b, segment, image)))
    yield from b.lock(segment.dead)
    b.w.check(b, segment.dead, "dead", segment.id)
    yield from b.log("set_dead", segment.dead, frozenset(dead), note=f"rows {sorted(dead)} of segment {segment.id} marked dead")
    b.unlock(segment.dead)


def allocate_dead(b, segment, begun):
    """Allocate the pages of dead bits. They belong to the segment, but the attempt has an id of its own."""
    attempt = writing.Writing(MERGE_SLOT)
    yield from writing.new_id(b, attempt)
    block, = yield from writing.write_taken(b, attempt, "dead", segment.id, [frozenset()])

    def set_dead(image):
        entries = tuple(e._replace(dead=block) if e.kind == "segment" and e.id == segment.id and not e.safe_xid else e
                        for e in image.entries)
        return metapage.end_writing(image._replace(entries=entries), MERGE_SLOT)
    yield from metapage.switch(b, set_dead, f"dead bits of segment {segment.id}", stale=begun)
    return block


# ---------------------------------------------------------------- backends

def maintain(b, most=2):
    """Merge and recycle. Needs the merge lock."""
    if b.w.broken == "reclaim-without-lock":
        yield from writing.reclaim(b, FLUSH_SLOT)
    yield from b.lock("flush")
    yield from writing.reclaim(b, FLUSH_SLOT)
    yield from flush(b)
    b.unlock("flush")
    yield from writing.reclaim(b, MERGE_SLOT)
    yield from recycle.recycle(b)
    yield from merge(b, most)
    yield from recycle.recycle(b)


def vacuum(b, times=1, cleanup=True, has_xid=False):
    """Vacuum the table; one backend at a time can."""
    for _ in range(times):
        yield from b.lock("table")
        yield from b.lock("index", shared=True)
        if has_xid:                                           # VACUUM has an xid, for instance, to truncate the heap
            yield from b.begin_transaction()
        yield from vacuum_table(b, cleanup)
        if has_xid:
            yield from b.end_transaction("committed")
        b.unlock("index", "table")


def vacuum_table(b, cleanup):
    """Vacuum the table. Index entries of dead tuples are removed before line pointers."""
    oldest, dead = b.w.oldest_xmin(), []
    before_pruning = list(b.w.visibility_map)
    yield from table.prune(b, oldest, dead)
    steps = [bulkdelete(b, dead, before_pruning), table.set_unused(b, dead, oldest)]
    for step in () if not dead else reversed(steps) if b.w.broken == "heap-before-dead-bits" else steps:
        yield from step
    if cleanup:
        yield from vacuum_cleanup(b)


def vacuum_cleanup(b):
    broken = b.w.broken
    yield from b.lock("merge")
    yield from writing.reclaim(b, MERGE_SLOT)
    if broken == "sweep-without-merge-lock":
        b.unlock("merge")
        yield "merge lock released"
    if broken != "no-sweep":
        yield from sweep.sweep(b)
    if broken == "sweep-without-merge-lock":
        yield from b.lock("merge")
    yield from maintain(b)
    if broken == "rows-counted-unlocked":
        b.unlock("merge")
    image = yield from metapage.read_image(b)
    yield "counts live rows"                                  # for statistics
    for segment in metapage.segments(image):
        if segment.dead is not None:
            yield from b.read(segment.dead, "dead", segment.id)
    yield from sweep.truncate(b)
    if broken != "rows-counted-unlocked":
        b.unlock("merge")


def downgrade(b):
    """Make the index one of format 3, as the old rtscan left it, with a sealed list if there are pending rows."""
    yield from pending.seal(b)
    meta = b.w.meta
    entries = metapage.read_directory(b, meta)
    sealed = next((e for e in entries if e.kind == "list" and not e.safe_xid), None)
    if sealed:
        yield from metapage.switch(b, lambda image: image._replace(entries=tuple(e for e in entries if e is not sealed)), "3")
    for block in (block for slot, first in enumerate(meta.taken) for block in metapage.chain_blocks(b.w, "taken", slot, first)):
        b.w.pages[block].kind = "taken before"                # not the live ones
        yield from recycle.free_page(b, block)
    ref = ListRef(sealed.id, sealed.root) if sealed else None
    yield from b.log("meta", b.w.meta._replace(format=3, format_3_sealed=ref, writing=(0, 0), taken=(None, None)))


def merge_function(b, most=2, has_xid=False):
    """Run rtscan_merge(), which can be called by a transaction that has written."""
    if has_xid:
        yield from b.begin_transaction()
    b.w.take_snapshot(b)
    yield from b.lock("index", shared=True)
    yield from recycle.await_merge_lock(b)
    yield from maintain(b, most)
    b.unlock("merge", "index")
    if has_xid:
        yield from b.end_transaction("committed")


def worker(b, rounds=1, most=2, gently=False):
    """Run the background worker. It waits for no locks, and skips a list that has failed. Its snapshot, like
    VACUUM's, does not prevent recycling.
    """
    failed = 0
    for _ in range(rounds):
        b.w.take_snapshot(b)
        yield from b.lock("index", shared=True)
        if b.w.broken == "flush-without-lock" or b.try_lock("flush"):
            entry = yield from next_list(b, failed)
            try:
                if entry:
                    yield from flush_list(b, entry)
            except Failure:                                   # ends the transaction
                failed = entry.id
                b.w.release_all(b)
                continue
            if b.w.broken != "flush-without-lock":
                b.unlock("flush")
        if b.w.broken == "merge-without-lock" or b.try_lock("merge"):
            yield from merge(b, most)
            yield from recycle.recycle(b, gently)
            if b.w.broken != "merge-without-lock":
                b.unlock("merge")
        b.unlock("index")
