"""Allocation and recycling of pages: src/storage/allocate.h, src/maintain/recycle.h.

The free space map only proposes pages. A page is free if the page itself says so. The allocator checks that under
the lock under which the page gets its new content.
"""
import metapage
import pending


def is_free(page):
    return page.kind is None


# ---------------------------------------------------------------- allocation

def propose(b):
    """Return the first block that the map proposes, and remove it from the map."""
    block = min(b.w.space_map, default=None)
    b.w.space_map.discard(block)
    return block


def lock_if_free(b, block):
    """(whether the page is now locked and free, whether another backend has locked it)"""
    if b.w.broken == "allocator-waits":
        yield from b.lock(block)
    elif not b.try_lock(block) if b not in b.w.locks.get(block, ()) else True:
        return False, True
    if is_free(b.w.pages[block]) or b.w.broken == "map-trusted":
        return True, False
    b.unlock(block)
    return False, False


def reuse_pages(b, n):
    """Lock at most n free pages. The map has forgotten what it proposed; pages that are only locked at the moment
    are added to it again.
    """
    found, busy, end = [], [], len(b.w.pages)
    while len(found) < n and (block := propose(b)) is not None:
        yield f"the map proposes page {block}"
        if block >= end and b.w.broken != "map-trusted-beyond-end":
            # after a crash the file may be shorter than the map remembers
            continue
        b.w.check_exists(b, block)
        locked, is_busy = yield from lock_if_free(b, block)
        if locked:
            found.append(block)
        elif is_busy:
            busy.append(block)
    b.w.space_map.update(busy)
    return found


def extend(b):
    """Extend the file. Needs the extension lock. The page is locked before any other backend can find it, since any
    backend may take a new page.
    """
    block = b.w.add_page()
    if b.w.broken == "extend-unlocked":
        yield from b.lock(block)
    else:
        b.w.grant(b, block, False)
    yield f"page {block} added to the file"
    return block


def allocate_page(b):
    found = yield from reuse_pages(b, 1)
    if found:
        return found[0]
    yield from b.lock("extension")
    block = yield from extend(b)
    b.unlock("extension")
    return block


def write_new_page(b, kind, owner, ordinal, data, follower=None):
    block = yield from allocate_page(b)
    yield from b.log("page", block, kind, owner, ordinal, data, follower)
    b.unlock(block)
    return block


# ---------------------------------------------------------------- freeing

def free_page(b, block):
    """Free a page. Needs its lock."""
    yield from b.log("page", block, None, None, 0, (), None, note=f"page {block} is freed")
    b.w.space_map.add(block)


def free_block(b, block, owner):
    """Free a block if it still belongs to an owner."""
    if block >= len(b.w.pages) and b.w.broken != "freed-beyond-end":
        return                                                # freed before, and truncated since
    b.w.check_exists(b, block)
    yield from b.lock(block)
    page = b.w.pages[block]
    ours = page.owner == owner or b.w.broken == "free-without-owner"
    if is_free(page):
        b.w.space_map.add(block)
    elif ours and page.kind not in ("meta", "taken"):
        yield from free_page(b, block)
    b.unlock(block)


def save_freed(b):
    """Log the map, so that it proposes freed pages even after a crash."""
    yield from b.log("space_map", frozenset(b.w.space_map))


# ---------------------------------------------------------------- recycling

def entry_blocks(w, entry):
    """Return an entry's blocks. Pages that lead to others come first, and are freed last. Tolerates that some are
    missing.
    """
    if entry.kind == "list":
        return pending.blocks(w, entry)
    return segment_blocks(w, entry)


def segment_blocks(w, entry):
    descriptor = chain_blocks(w, "descriptor", entry.id, entry.root)
    rows = [block for d in descriptor for block in w.pages[d].data]
    return descriptor + rows + chain_blocks(w, "dead", entry.id, entry.dead)


def chain_blocks(*args):
    return metapage.chain_blocks(*args)


GENTLY_AFTER = 4                            # in versions; STANDBY_QUERY_TIME in the code


def recycle(b, gently=False):
    """Recycle retired entries. Needs the merge lock. One record tells standbys what is going to be reused: queries
    whose snapshots are older than the last retirement are cancelled. Entries are removed after their pages have been
    freed, since they lead to the pages.
    """
    w = b.w
    image = yield from metapage.read_image(b)
    gone = [e for e in metapage.retired(image) if e.safe_xid < w.oldest_xmin() or w.broken == "recycle-early"]
    if gently:
        gone = [e for e in gone if e.retired_at + GENTLY_AFTER <= image.meta.version]
    if not gone:
        return
    if w.broken == "entries-removed-first":
        yield from metapage.switch(b, lambda image: metapage.remove(image, gone), "retired entries are removed")
    horizon = (min if w.broken == "reuse-of-the-first" else max)(e.safe_xid for e in gone)
    if w.broken != "no-reuse-record":
        yield from b.log("reuse", horizon)
    for entry in gone:
        blocks = entry_blocks(w, entry)
        for block in blocks if w.broken == "leaders-freed-first" else reversed(blocks):
            yield from free_block(b, block, entry.id)
    yield from save_freed(b)
    if w.broken != "entries-removed-first":
        yield from metapage.switch(b, lambda image: metapage.remove(image, gone), "retired entries are removed")


# ---------------------------------------------------------------- the two locks

def lock_merge(b):
    yield from b.lock("merge")


def await_merge_lock(b):
    """Take the merge lock for rtscan_merge(), by trying again and again: waiting in the lock's queue would cancel an
    autovacuum that holds it.
    """
    yield from b.lock("merge", polite=b.w.broken != "merge-waits-for-lock")
