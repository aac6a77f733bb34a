"""The metapage, the directory, and how both change: src/storage/metapage.h.

A backend that reads metapage and directory under the metapage's lock gets one consistent image of segments, sealed
lists and the open list. A change is a function from image to image (None: nothing to change). The switch applies it
to the image that is current under the metapage's exclusive lock, writes the entries over the spare directory, and
then names that directory in the metapage, in one record.
"""
from collections import namedtuple

import recycle
from world import METAPAGE, Entry

ENTRIES_PER_PAGE = 3
FLUSH_SLOT, MERGE_SLOT = 0, 1               # the slots of attempts to write: writing.py

Image = namedtuple("Image", "meta entries")


def segments(image):
    return [e for e in image.entries if e.kind == "segment" and not e.safe_xid]


def sealed_lists(image):
    return [e for e in image.entries if e.kind == "list" and not e.safe_xid]


def retired(image):
    return [e for e in image.entries if e.safe_xid]


def chain_blocks(w, kind, owner, first):
    """Return the blocks of a chain of pages. It ends at a page that is not of that kind and owner, where earlier
    work was interrupted.
    """
    blocks = []
    while first is not None and first < len(w.pages) and w.pages[first].is_(kind, owner, len(blocks)):
        blocks.append(first)
        first = w.pages[first].next
    return blocks


# ---------------------------------------------------------------- reading

def read_directory(b, meta):
    entries, block, ordinal = (), meta.directory, 0
    while block is not None:
        page = b.w.check(b, block, "directory", meta.directory_version, ordinal)
        entries, block, ordinal = entries + page.data, page.next, ordinal + 1
    return entries


def upgrade(image):
    """Convert an image of format 3, which had one sealed list in the metapage. The image has it as an entry."""
    meta, sealed = image.meta, image.meta.format_3_sealed
    entry = (Entry("list", sealed.id, sealed.head, None, 0, 0),) if sealed else ()
    return Image(meta._replace(format=4, format_3_sealed=None), image.entries + entry)


def read_image(b):
    """Read the image. The metapage is locked until the directory has been read, so that no other backend changes it
    in between.
    """
    yield from b.await_readable(METAPAGE)
    meta = b.w.meta
    if b.image and b.image.meta.version == meta.version:      # a backend caches the image of a version
        return b.image
    if b.w.broken == "directory-without-lock":
        yield f"metapage read, version {meta.version}"
    b.image, b.own_page = upgrade(Image(meta, read_directory(b, meta))), None
    yield f"image read, version {meta.version}"
    return b.image


# ---------------------------------------------------------------- changes of an image

def add(image, *entries):
    return image._replace(entries=image.entries + entries)


def remove(image, entries):
    """Remove retired entries, by kind and id."""
    gone = {(e.kind, e.id) for e in entries}
    return image._replace(entries=tuple(e for e in image.entries if not (e.safe_xid and (e.kind, e.id) in gone)))


def choose_safe_xid(b):
    """Return an xid that no existing snapshot's xmin exceeds: the backend's own xid, which is running, or the next
    one. With the own xid the pages can be reused as soon as its transaction ends. But snapshots ignore VACUUM's xid.
    """
    if b.xid and (not b.in_vacuum or b.w.broken == "vacuum-own-xid"):
        return b.xid
    return b.w.next_xid


def retire(b, image, kind, *ids, safe_xid=None):
    safe_xid = safe_xid if b.w.broken == "safe-xid-before-switch" else choose_safe_xid(b)
    return image._replace(entries=tuple(
        e._replace(safe_xid=safe_xid, retired_at=image.meta.version) if e.kind == kind and e.id in ids and not e.safe_xid else e
        for e in image.entries))


def end_writing(image, slot):
    """Make what the attempt in a slot has written part of the image."""
    writing = tuple(0 if s == slot else attempt for s, attempt in enumerate(image.meta.writing))
    return image._replace(meta=image.meta._replace(writing=writing))


# ---------------------------------------------------------------- the switch

def switch(b, change, note, new_list=None, sealed_list=None, stale=None):
    """Apply a change to the image. Returns whether there was a change. A list page that the caller has locked gets
    its first content, or its seal, in the same record as the metapage.
    """
    w = b.w
    if w.broken != "switch-without-lock":
        yield from b.lock(METAPAGE)
    meta = w.meta
    before = Image(meta, read_directory(b, meta))
    if w.broken == "switch-without-lock":
        yield "image read, to be changed"
    begun = stale if stale and w.broken == "switch-from-stale-image" else upgrade(before)
    image = change(begun)
    if image:
        same_version = w.broken == "dead-without-version" and note.startswith("dead bits")
        meta = image.meta._replace(version=image.meta.version + (not same_version))
        compared = upgrade(before) if w.broken == "upgrade-without-directory" else before
        if image.entries != compared.entries:
            meta = yield from write_directory(b, meta, image.entries)
        b.critical = sealed_list is not None and w.broken != "seal-interrupted"
        yield from b.log("meta", meta, new_list, sealed_list, note=f"{note}; version {meta.version}")
    if w.broken != "switch-without-lock":
        b.unlock(METAPAGE)
    return image is not None


def write_directory(b, meta, entries):
    """Write the entries over the spare directory, which no backend reads: even on a standby a reader locks the
    metapage while it reads the directory that the metapage names. Check that the spare directory still exists. If an
    earlier write over it was interrupted, it has another version, and was swept.
    """
    w = b.w
    blocks = chain_blocks(w, "directory", meta.spare_version, meta.spare)
    if w.broken == "directory-in-place":
        blocks = chain_blocks(w, "directory", meta.directory_version, meta.directory)
    if w.broken == "spare-unchecked" and meta.spare is not None and meta.spare < len(w.pages):
        blocks = blocks or [meta.spare]
    while len(blocks) * ENTRIES_PER_PAGE < len(entries):
        block = yield from recycle.allocate_page(b)
        yield from b.log("page", block, "directory", meta.version, 0, (), None)
        b.unlock(block)
        blocks.append(block)
    for ordinal, (block, follower) in enumerate(zip(blocks, blocks[1:] + [None])):
        yield from b.lock(block)
        yield from b.log("page", block, "directory", meta.version, ordinal,
                         entries[ordinal * ENTRIES_PER_PAGE:(ordinal + 1) * ENTRIES_PER_PAGE], follower)
        b.unlock(block)
    return meta._replace(spare=meta.directory, spare_version=meta.directory_version,
                         directory=blocks[0] if blocks else None, directory_version=meta.version)
