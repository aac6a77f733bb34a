"""Invariants of the index's pages, which must hold after every step."""
import metapage
import recycle
import world


def live_pages(w):
    """Return the pages that a reader of the current image may read: {block: to what it belongs}."""
    meta = w.meta
    image = metapage.upgrade(metapage.Image(meta, directory_entries(w, meta)))
    lists = [*metapage.sealed_lists(image)]
    if meta.open.head is not None:
        lists.append(world.Entry("list", meta.open.id, meta.open.head, None, 0, 0))
    found = {world.METAPAGE: "the metapage"}
    for block in metapage.chain_blocks(w, "directory", meta.directory_version, meta.directory):
        found[block] = "the directory"
    for slot, first in enumerate(meta.taken):
        found.update((block, "taken pages") for block in metapage.chain_blocks(w, "taken", slot, first))
    for entry in [*metapage.segments(image), *lists]:
        found.update((block, f"{entry.kind} {entry.id}") for block in recycle.entry_blocks(w, entry))
    return found


def directory_entries(w, meta):
    blocks = metapage.chain_blocks(w, "directory", meta.directory_version, meta.directory)
    return tuple(entry for block in blocks for entry in w.pages[block].data)


def used_pages(w):
    """Return the live pages, those of retired entries, and the spare directory."""
    meta, found = w.meta, live_pages(w)
    for block in metapage.chain_blocks(w, "directory", meta.spare_version, meta.spare):
        found[block] = "the spare directory"
    for entry in directory_entries(w, meta):
        found.update((block, f"retired {entry.kind} {entry.id}") for block in recycle.entry_blocks(w, entry))
    return found


def check_page_record(w, block, kind, owner, _ordinal, _data, _next):
    """Check that no step frees a page of the image, or overwrites a page that is not free, except for directories."""
    if kind is None:
        if (of := live_pages(w).get(block)) is not None:
            raise world.Wrong(f"page {block} is freed, but it is of {of}")
        if w.pages[block].kind is None:
            raise world.Wrong(f"page {block} is freed twice")
    elif block < len(w.pages) and w.pages[block].kind not in (None, kind if kind == "directory" else None):
        page = w.pages[block]
        raise world.Wrong(f"{kind} of {owner} is written over page {block}, which is {page.kind} of {page.owner}")


def check_owned(w):
    """Check that interrupted work has left nothing that only a sweep would find, after its slot has been reclaimed.
    Exceptions are directories and first taken pages, which are written before the metapage names them.
    """
    used = used_pages(w)
    lost = [f"{block} ({p.kind} of {p.owner})" for block, p in enumerate(w.pages)
            if block not in used and p.kind not in (None, "directory", "taken")]
    if lost:
        raise world.Wrong(f"after clean-up pages are lost: {', '.join(lost)}")


def check_accounted(w, xid):
    """Check that after VACUUM all pages are used, or free and in the free space map, and that no entry retired
    before an xid remains.
    """
    used = used_pages(w)
    lost = [f"{block} ({p.kind} of {p.owner})" for block, p in enumerate(w.pages)
            if block not in used and not (p.kind is None and block in w.space_map)]
    waiting = [e for e in directory_entries(w, w.meta) if e.safe_xid and e.safe_xid < xid]
    if lost or waiting:
        raise world.Wrong(f"after VACUUM pages are lost: {', '.join(lost)}; retired: {waiting}")
