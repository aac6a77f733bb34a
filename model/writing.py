"""Write segments and dead bits so that interrupted work leaves nothing behind: src/storage/writing.h.

A backend that writes pages, which a later switch makes part of the index, has one of two slots, each with a
heavyweight lock. Its attempt has a name, the first id that it was given; the metapage keeps the name until that
switch. Before the backend writes to pages, it notes on the slot's taken pages which ones it takes, and what is going
to own them. The next backend in the slot frees the pages that the attempt before has noted, if they still belong to
the owner in the note.
"""
import metapage
import recycle
from metapage import FLUSH_SLOT, MERGE_SLOT
from world import Taken

NOTES_PER_PAGE = 3


class Writing:
    """An attempt; it begins with the first id."""
    def __init__(self, slot):
        self.slot, self.attempt, self.page, self.ordinal, self.notes = slot, 0, None, 0, ()


def new_id(b, writing):
    """Return a new id. The first id is the name of the attempt; before it is given, what the attempt before has left
    is freed.
    """
    if not writing.attempt:
        if b.w.broken != "no-reclaim":
            yield from reclaim(b, writing.slot)
        writing.page = yield from first_taken_page(b, writing.slot)
    given = None

    def give_id(image):
        nonlocal given
        given, meta = image.meta.next_id, image.meta
        names = meta.writing
        if not writing.attempt and b.w.broken != "attempt-not-named":
            names = tuple(given if s == writing.slot else name for s, name in enumerate(names))
        return image._replace(meta=meta._replace(next_id=given + 1, writing=names))
    yield from metapage.switch(b, give_id, "an id is given out")
    writing.attempt = writing.attempt or given
    return given


def first_taken_page(b, slot):
    """Return the slot's first taken page. Both slots get theirs when one is first used; if two backends offer pages
    at once, the first ones are named.
    """
    image = yield from metapage.read_image(b)
    if image.meta.taken[slot] is None:
        offered = []
        for s in (FLUSH_SLOT, MERGE_SLOT):
            offered.append((yield from recycle.write_new_page(b, "taken", s, 0, (0, ()))))

        def name_taken_pages(image):
            keep = b.w.broken != "taken-pages-replaced"
            taken = tuple(old if keep and old is not None else new for old, new in zip(image.meta.taken, offered))
            return image._replace(meta=image.meta._replace(taken=taken))
        yield from metapage.switch(b, name_taken_pages, "taken pages are named")
    return (yield from metapage.read_image(b)).meta.taken[slot]


# ---------------------------------------------------------------- notes

def make_room(b, writing, n):
    """Go to the next taken page unless the current one has room."""
    if len(writing.notes) + n <= NOTES_PER_PAGE:
        return
    yield from b.lock(writing.page)
    following = b.w.check(b, writing.page, "taken", writing.slot, writing.ordinal).next
    if following is None:
        following = yield from recycle.allocate_page(b)
        yield from b.log("chain_taken", writing.page, following)
        b.unlock(following)
    b.unlock(writing.page)
    writing.page, writing.ordinal, writing.notes = following, writing.ordinal + 1, ()


def note_taken(b, writing, owner, blocks):
    yield from b.lock(writing.page)
    b.w.check(b, writing.page, "taken", writing.slot, writing.ordinal)
    writing.notes += tuple(Taken(owner, block) for block in blocks)
    yield from b.log("note", writing.page, writing.attempt, writing.notes, note=f"notes that it takes {blocks} for {owner}")
    b.unlock(writing.page)


def take_pages(b, writing, owner, n):
    """Take pages to write to, and lock them. Pages that extend the file are noted before it is extended. If that
    fails, a reader of the note finds that they do not exist or have other owners.
    """
    late = b.w.broken == "note-after-write"
    yield from make_room(b, writing, n)
    blocks = yield from reuse_pages(b, n)
    if len(blocks) == n:
        if not late:
            yield from note_taken(b, writing, owner, blocks)
        return blocks
    yield from b.lock("extension")
    end = len(b.w.pages)
    if not late:
        yield from note_taken(b, writing, owner, blocks + list(range(end, end + n - len(blocks))))
    while len(blocks) < n:
        blocks.append((yield from recycle.extend(b)))
    b.unlock("extension")
    return blocks


def reuse_pages(b, n):
    return recycle.reuse_pages(b, n)


def write_taken(b, writing, kind, owner, contents):
    """Take pages and write them with ascending ordinals."""
    blocks = yield from take_pages(b, writing, owner, len(contents))
    for ordinal, (block, content) in enumerate(zip(blocks, contents)):
        yield from b.log("page", block, kind, owner, ordinal, content, None)
    b.unlock(*blocks)
    if b.w.broken == "note-after-write":
        yield from note_taken(b, writing, owner, blocks)
    return blocks


# ---------------------------------------------------------------- what was cut short

def reclaim(b, slot):
    """Free what an interrupted attempt has taken. Needs the slot's lock. Notes of earlier attempts, which are
    overwritten, begin where this attempt has stopped.
    """
    image = yield from metapage.read_image(b)
    attempt, first = image.meta.writing[slot], image.meta.taken[slot]
    if not attempt:
        return
    for block in metapage.chain_blocks(b.w, "taken", slot, first):
        of, notes = b.w.pages[block].data
        if of != attempt and b.w.broken != "old-notes-heeded":
            break
        for taken in notes:
            yield from recycle.free_block(b, taken.block, taken.owner)
    yield from recycle.save_freed(b)
    yield from metapage.switch(b, lambda image: metapage.end_writing(image, slot), f"attempt {attempt} is forgotten")
