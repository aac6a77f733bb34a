"""The metapage, the directory, and how both change: src/storage/metapage.h.

Who has read metapage and directory under the metapage's lock has one consistent image of segments, sealed lists and open
list.  A change is a function from image to image (None: nothing to change); the switch applies it to the image that
is current under the metapage's exclusive lock, writes the entries over the spare directory, and then names that in
the metapage in one record.
"""
from collections import namedtuple

import recycle
from world import METAPAGE, Entry

ENTRIES_PER_PAGE = 3
FLUSH_SLOT, MERGE_SLOT = 0, 1               # who may be writing; writing.py

Image = namedtuple("Image", "meta entries")


def segments(image):
    return [e for e in image.entries if e.kind == "segment" and not e.safe_xid]


def sealed_lists(image):
    return [e for e in image.entries if e.kind == "list" and not e.safe_xid]


def retired(image):
    return [e for e in image.entries if e.safe_xid]


def chain_blocks(w, kind, owner, first):
    """The blocks of a chain of pages; ends where a page is not of that kind and owner: earlier work was cut short."""
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
    """Format 3 had one sealed list, in the metapage: an image has it as an entry."""
    meta, sealed = image.meta, image.meta.format_3_sealed
    entry = (Entry("list", sealed.id, sealed.head, None, 0, 0),) if sealed else ()
    return Image(meta._replace(format=4, format_3_sealed=None), image.entries + entry)


def read_image(b):
    """Who reads keeps the metapage locked until he has read the directory: nobody else comes in between."""
    yield from b.await_readable(METAPAGE)
    meta = b.w.meta
    if b.image and b.image.meta.version == meta.version:      # a backend caches the image, by its version
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
    """Retired entries, by kind and id."""
    gone = {(e.kind, e.id) for e in entries}
    return image._replace(entries=tuple(e for e in image.entries if not (e.safe_xid and (e.kind, e.id) in gone)))


def choose_safe_xid(b):
    """No snapshot that exists by now has a later xmin: our own xid, for it is running, or the next one.  With our own the
    pages can be reused as soon as we are done.  But snapshots take no notice of vacuum's."""
    if b.xid and (not b.in_vacuum or b.w.broken == "vacuum-own-xid"):
        return b.xid
    return b.w.next_xid


def retire(b, image, kind, *ids, safe_xid=None):
    safe_xid = safe_xid if b.w.broken == "safe-xid-before-switch" else choose_safe_xid(b)
    return image._replace(entries=tuple(
        e._replace(safe_xid=safe_xid, retired_at=image.meta.version) if e.kind == kind and e.id in ids and not e.safe_xid else e
        for e in image.entries))


def end_writing(image, slot):
    """What the attempt in a slot has written is part of the image now."""
    writing = tuple(0 if s == slot else attempt for s, attempt in enumerate(image.meta.writing))
    return image._replace(meta=image.meta._replace(writing=writing))


# ---------------------------------------------------------------- the switch

def switch(b, change, note, new_list=None, sealed_list=None, stale=None):
    """Returns whether there was a change.  A list page that the caller has locked gets its first content, or its seal, in one
    record with the metapage."""
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
    """Over the spare directory, which nobody reads: on a standby, too, a reader keeps the metapage locked while it reads the one
    that the metapage names.  That it is still there is checked: a crash, or an error, may have cut short who wrote over it
    before, then it got another version, and was swept up."""
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
