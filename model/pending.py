"""Pending lists: src/storage/pending.h.

A pending list has a list page and a chain of pending pages. Inserters append to several pages at once, the insertion
pages, which the list page names; a backend keeps to the one at its place. The list page is changed only when a page
is full: its successor is then inserted into the chain right after the list page.

The list page's content is (pages in the chain, insertion pages).
"""
import metapage
import recycle
from world import INSERTION_PAGES, ListRef

ROOM = 3                                    # of a pending page; a row's size is its key


def used(page):
    return sum(key for _, key in page.data)


# ---------------------------------------------------------------- append

def append(b, tid, key):
    block = None
    while (block := (yield from lock_own_page(b, key))) is None:
        yield from find_own_page(b, b.own_page)
    yield from b.log("append", block, (tid, key), note=f"entry {tid} key {key} appended to page {block}")
    b.unlock(block)


def lock_own_page(b, size):
    """Lock the page that the backend has appended to before. Returns None if the page is sealed, has no room, or is
    a different page now: it may have been recycled or truncated since the backend had the index locked for an
    earlier statement.
    """
    if b.own_page is None:
        return None
    block, broken = b.own_page, b.w.broken
    if block >= len(b.w.pages) and broken != "own-page-beyond-end":
        return None
    b.w.check_exists(b, block)
    if broken == "append-unlocked-check":
        usable = is_usable(b, b.w.pages[block], size)
        yield f"page {block} looked at"
    yield from b.lock(block)
    if broken != "append-unlocked-check":
        usable = is_usable(b, b.w.pages[block], size)
    if usable:
        return block
    b.unlock(block)
    return None


def is_usable(b, page, size):
    ours = page.kind == "pending" and page.owner == b.image.meta.open.id
    return ((ours or b.w.broken == "append-without-owner") and
            (not page.sealed or b.w.broken == "append-after-seal") and used(page) + size <= ROOM)


def lock_open_list(b):
    """Return the open list, with its list page locked."""
    # version of an image whose list was sealed before this backend locked it
    unusable = 0
    while True:
        meta = (yield from metapage.read_image(b)).meta
        if meta.open.head is None:
            yield from open_list(b)
            continue
        if meta.version == unusable:
            b.w.check(b, meta.open.head, "list", f"{meta.open.id}, open")
        yield from b.lock(meta.open.head)
        page = b.w.pages[meta.open.head]
        if page.is_("list", meta.open.id) and (not page.sealed or b.w.broken == "sealed-list-extended"):
            return meta.open
        b.unlock(meta.open.head)
        unusable = meta.version


def open_list(b):
    """Give the open list its list page, unless another backend already has."""
    block = yield from recycle.allocate_page(b)

    def set_list_page(image):
        if image.meta.open.head is not None and b.w.broken != "list-opened-twice":
            return None
        return image._replace(meta=image.meta._replace(open=ListRef(image.meta.open.id, block)))
    if not (yield from metapage.switch(b, set_list_page, f"list page {block}", new_list=block)):
        b.w.space_map.add(block)
    b.unlock(block)


def find_own_page(b, unusable):
    """Find the insertion page at the backend's place, unless it is the one that could not be used; then add a new
    one.
    """
    place = b.number % INSERTION_PAGES
    open_ = yield from lock_open_list(b)
    b.own_page = b.w.pages[open_.head].data[1][place]
    if b.own_page is None or b.own_page == unusable:
        b.own_page = yield from add_page(b, open_, place)
    if b.w.broken != "chained-without-lock":
        b.unlock(open_.head)


def add_page(b, open_, place):
    pages, insertion = b.w.pages[open_.head].data
    follower = b.w.pages[open_.head].next
    if b.w.broken == "chained-without-lock":
        b.unlock(open_.head)
    full = insertion[place]
    if full is not None:
        yield from b.lock(full)
    added = yield from recycle.allocate_page(b)
    content = pages + 1, tuple(added if p == place else block for p, block in enumerate(insertion))
    sealed = None if b.w.broken == "full-page-not-sealed" else full
    yield from b.log("chain", open_.head, open_.id, content, added, sealed, follower,
                     note=f"page {added} chained to list {open_.id}")
    b.unlock(*(block for block in (full, added) if block is not None))
    return added


# ---------------------------------------------------------------- seal

def seal(b):
    """Make the open list an entry, and name a new one in the metapage, unless the list is empty. Needs the flush
    lock. List page and insertion pages are locked throughout: a backend that finds a page not sealed appends to a
    list that every image so far has.
    """
    w = b.w
    image = yield from metapage.read_image(b)
    list_ = image.meta.open
    if list_.head is None:
        return
    if w.broken == "seal-pages-before-list":
        pages = yield from lock_insertion_pages(b, w.pages[list_.head].data[1])
    yield from b.lock(list_.head)
    w.check(b, list_.head, "list", list_.id)
    if w.broken == "seal-without-pages":
        pages = []
    elif w.broken != "seal-pages-before-list":
        pages = yield from lock_insertion_pages(b, w.pages[list_.head].data[1])
    if w.broken == "seal-before-switch":
        yield from seal_pages(b, pages)
        yield from b.log("seal", list_.head)
        b.unlock(*pages, list_.head)
    yield from metapage.switch(b, seal_open_list, f"list {list_.id} sealed", stale=image,
                               sealed_list=None if w.broken in ("seal-before-switch", "list-page-not-sealed") else list_.head)
    if w.broken != "seal-before-switch":
        yield from seal_pages(b, pages)
        b.unlock(*pages, list_.head)


def lock_insertion_pages(b, insertion):
    pages = [block for block in insertion if block is not None]
    for block in pages:
        yield from b.lock(block)
    return pages


def seal_pages(b, pages):
    """Seal the list's pages; a single record has no room for all of them. A crash in between leaves pages without
    the mark, but also no backend that remembers to append to them. There can be no error, because the critical
    section has begun with the metapage's record.
    """
    for block in pages:
        yield from b.log("seal", block)
    b.critical = False


def seal_open_list(image):
    meta, list_ = image.meta, image.meta.open
    entry = metapage.Entry("list", list_.id, list_.head, None, 0, 0)
    image = image._replace(meta=meta._replace(open=ListRef(meta.next_id, None), next_id=meta.next_id + 1))
    return metapage.add(image, entry)


# ---------------------------------------------------------------- read

def visit(b, list_id, head):
    """Return the rows of a list, one page at a time. Pages that are added to the chain meanwhile are missed: their
    rows belong to transactions that the reader's snapshot, taken before, does not see.
    """
    if head is None:
        return []
    (pages, _), block, _ = yield from b.read(head, "list", list_id)
    rows = []
    for ordinal in range(pages, 0, -1):
        data, block, _ = yield from b.read(block, "pending", list_id, ordinal)
        rows += data
    return rows


def blocks(w, entry):
    """Return the list's blocks, the list page first. Ends at a page that is not of the list."""
    if entry.root >= len(w.pages) or not w.pages[entry.root].is_("list", entry.id):
        return []
    found, page = [entry.root], w.pages[entry.root]
    for ordinal in range(page.data[0], 0, -1):
        if page.next is None or page.next >= len(w.pages) or not w.pages[page.next].is_("pending", entry.id, ordinal):
            break
        found.append(page.next)
        page = w.pages[page.next]
    return found
