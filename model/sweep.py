"""VACUUM finds lost pages, and truncates a free tail of the file: src/maintain/orphans.h.

Descriptors, dead bits and directories say which pages are used, and the free space map says which are free; only the
remaining pages are examined. Writers continue meanwhile, except for those that need the merge lock. So a page is
lost only if nothing that existed when the image was read can own it, and nothing younger: ids, versions and attempts
ascend.
"""
import metapage
import recycle
from metapage import FLUSH_SLOT, MERGE_SLOT, Image
from world import METAPAGE


def sweep(b):
    """Free lost pages. Needs the merge lock, and its slot must not have an attempt."""
    w, end = b.w, len(b.w.pages)
    image, used = yield from read_directories(b)
    used |= used_blocks(w, image)
    yield f"sweep: pages {sorted(used)} are used"
    for block in range(METAPAGE + 1, end):
        if block not in used and block not in w.space_map:
            yield from look_at(b, image, block)
    yield from recycle.save_freed(b)


def read_directories(b):
    yield from b.await_readable(METAPAGE)
    meta = b.w.meta
    image = Image(meta, metapage.read_directory(b, meta))
    used = {*metapage.chain_blocks(b.w, "directory", meta.directory_version, meta.directory),
            *metapage.chain_blocks(b.w, "directory", meta.spare_version, meta.spare)}
    yield f"sweep: image read, version {meta.version}"
    return image if b.w.broken == "sweep-without-upgrade" else metapage.upgrade(image), used


def used_blocks(w, image):
    """Return the used blocks, except for pages of pending lists, which name their list."""
    chains = [metapage.chain_blocks(w, "taken", slot, image.meta.taken[slot]) for slot in (FLUSH_SLOT, MERGE_SLOT)]
    return {block for blocks in chains + [recycle.segment_blocks(w, e) for e in image.entries if e.kind == "segment"]
            for block in blocks}


def look_at(b, image, block):
    yield from b.lock(block)
    page = b.w.pages[block]
    if recycle.is_free(page):
        b.w.space_map.add(block)
    elif is_lost(b.w, image, page):
        yield from recycle.free_page(b, block)
    b.unlock(block)


def is_lost(w, image, page):
    """Return whether a page that is neither used nor free is lost."""
    meta, broken = image.meta, w.broken
    if page.kind == "meta":
        return False
    if page.kind == "directory":
        return page.owner <= meta.version + (broken == "sweep-of-new-directories")
    # the owner's dead bits were written again, under the merge lock
    if page.kind == "dead":
        return True
    if page.kind == "taken":                                  # the first one is written before the metapage names it
        return page.ordinal == 0 and (meta.taken[page.owner] is not None or broken == "sweep-of-unnamed-taken-page")
    youngest = meta.writing[FLUSH_SLOT] or meta.next_id       # work with this id or a later one may be running
    if broken == "sweep-of-running-flush":
        youngest = meta.next_id
    if broken == "sweep-of-younger":
        youngest = page.owner + 1
    known = {e.id for e in image.entries} | ({meta.open.id} if broken != "sweep-of-open-list" else set())
    return page.owner < youngest and page.owner not in known


# ---------------------------------------------------------------- the tail

def truncate(b):
    """Truncate the file under the index's exclusive lock, without waiting for it. A backend that allocates pages has
    the index locked from before it reads the map until it has linked them; scans have it locked while they use an
    image.
    """
    w = b.w
    if len(w.pages) - 1 not in w.space_map:
        return
    if w.broken != "truncate-without-lock" and not b.try_lock("index"):
        return
    yield "has the index locked, to cut off its end"
    end = len(w.pages)
    while end > METAPAGE + 1 and (end - 1 in w.space_map if w.broken == "map-trusted-at-end" else recycle.is_free(w.pages[end - 1])):
        end -= 1
    if end < len(w.pages):
        w.space_map = {block for block in w.space_map if block < end}
        yield from b.log("truncate", end, note=f"pages from {end} on are cut off")
    w.locks["index"][b] = True                                # VACUUM has this lock all the time
