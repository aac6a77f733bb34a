"""Queries: a bitmap scan, and an aggregate that answers without the heap where it can (src/search/visible/visibility.h).

A query's answer must be exactly the rows that its snapshot sees. Any other answer is a counterexample, and so is an
error. On the standby a query may be cancelled, but never reads a page that was reused.
"""
import maintain
import memory
import metapage
import pending
from world import Primary, Retry, Tuple, Wrong

WANTED = 1                                  # queries select the rows with this key


def query(b, kind, seen):
    w = b.w
    try:
        if isinstance(w, Primary):
            yield from b.lock("index", shared=True)
        answer = yield from {"bitmap": bitmap_scan, "aggregate": aggregate}[kind](b, seen)
        truth = sorted((r.tid, r.key) for r in w.ledger if r.key == WANTED and w.visible(r, b))
        if sorted(answer) != truth:
            raise Wrong(f"{b.name} answers {sorted(answer)}, its snapshot sees {truth}")
        seen["answers"] += 1
    except Retry:
        seen["cancelled on the standby"] += 1
    w.snapshots.pop(b, None)


def wanted(rows):
    return [e for e in rows if e[1] == WANTED]


def read_dead(b, segment):
    """Return the numbers of a segment's dead rows."""
    if segment.dead is None:
        return ()
    dead, _, _ = yield from b.read(segment.dead, "dead", segment.id)
    return dead


def live_of_segment(b, segment):
    """Return a segment's entries, and those whose dead bit is set."""
    rows = yield from maintain.read_rows(b, segment)
    dead = yield from read_dead(b, segment)
    return wanted(e for i, e in enumerate(rows) if i not in dead), wanted(rows[i] for i in dead)


def pending_entries(b, image):
    found, sealed = [], metapage.sealed_lists(image)
    lists = [(e.id, e.root) for e in (sealed[:1] if b.w.broken == "one-sealed-list-read" else sealed)]
    for list_id, head in [*lists, image.meta.open]:
        found += wanted((yield from pending.visit(b, list_id, head)))
    return found


def check_in_heap(b, entries, answer):
    for block in sorted({tid[0] for tid, _ in entries}):
        for tid, key in (e for e in entries if e[0][0] == block):
            row = b.w.heap[block][tid[1]]
            if isinstance(row, Tuple) and b.w.visible(row, b):
                if row.key != key:
                    raise Wrong(f"{b.name}: the entry {tid} key {key} leads to a visible row with key {row.key}")
                answer.append((tid, key))
        yield f"block {block} checked in the heap"


def check_with_memory(b, entries, answer, end, early, seen):
    """Do as check_in_heap() does, and remember pages."""
    for block in sorted({tid[0] for tid, _ in entries}):
        rest = [e for e in entries if e[0][0] == block]
        if known := (yield from memory.recall(b, block, end, early)):
            answer += [e for e in rest if e[0][1] in known[0] - known[1]]
            seen["rows remembered"] += len(rest)
            rest = [e for e in rest if e[0][1] in known[1]]
        if rest:
            b.w.visible(b.w.ledger[0], b)                     # fails if the query was cancelled
            found = memory.look(b, block)
            answer += [e for e in rest if e[0][1] in found]
            yield f"block {block} looked into"


def snapshot_first(b, image):
    """Take the snapshot, then read the image: the steps of image(), which also returns it."""
    early = (yield from image()) if b.w.broken == "image-before-snapshot" else None
    b.w.take_snapshot(b)
    yield "snapshot taken"
    return early or (yield from image())


def bitmap_scan(b, _seen):
    """Take a snapshot, read the image and return TIDs; then the executor visits the heap, and does not recheck the
    key.
    """
    image = yield from snapshot_first(b, lambda: metapage.read_image(b))
    found, answer = set(), []
    for segment in metapage.segments(image):
        found.update((yield from live_of_segment(b, segment))[0])
    found.update((yield from pending_entries(b, image)))
    yield from check_in_heap(b, sorted(found), answer)
    return answer


def aggregate(b, seen):
    """Take a snapshot and read the image. For each segment read the visibility map of its blocks, check that
    segments are unchanged, and read dead bits. A row counts without the heap if its segment is unchanged, and its
    block is all-visible in the copy of the map.
    """
    early = list(b.w.lsns) if b.w.broken == "lsn-before-snapshot" else None
    if early:
        yield "LSNs read"
    end = b.w.position
    if b.w.broken == "log-end-before-snapshot":
        yield "end of the log read"
    image = yield from snapshot_first(b, lambda: metapage.read_image(b))
    if b.w.broken != "log-end-before-snapshot":
        end = b.w.position
    copy, unchanged = {}, list(metapage.segments(image))
    answer, check = [], []
    for segment in metapage.segments(image):
        trusted, found = yield from see_segment(b, segment, copy, unchanged)
        answer += trusted
        check += found
    seen["rows without the heap"] += len(answer)
    seen["segments changed meanwhile"] += len(metapage.segments(image)) - len(unchanged)
    check += yield from pending_entries(b, image)
    yield from check_with_memory(b, check, answer, end, early, seen)
    return answer


def see_segment(b, segment, copy, unchanged):
    """Return the rows of a segment that count without the heap, and those that must be looked up in the heap."""
    broken = b.w.broken
    if broken == "map-after-dead-bits":
        found, dead = yield from live_of_segment(b, segment)
    if broken == "looked-before-map":
        yield from look_again(b, unchanged)
    copied = yield from copy_map(b, (yield from maintain.read_rows(b, segment)), copy)
    if copied and broken not in ("looked-before-map", "not-looked-again"):
        yield from look_again(b, unchanged)
    if broken != "map-after-dead-bits":
        found, dead = yield from live_of_segment(b, segment)
    trusted = [e for e in found if segment in unchanged and copy[e[0][0]]]
    return trusted, [e for e in found if e not in trusted] + (dead if broken == "dead-rows-to-heap" else [])


def look_again(b, unchanged):
    """Keep only segments that are in the current image, with the same dead bits."""
    broken, current = b.w.broken, metapage.segments((yield from metapage.read_image(b)))
    ids = [e.id for e in current]
    unchanged[:] = [e for e in unchanged if e in current or broken == "first-dead-bits-ignored" and e.id in ids or
                    broken == "replaced-segment-trusted" and e.id not in ids]


def copy_map(b, rows, copy):
    """Add the rows' blocks to the copy of the map. Returns whether some of them were not in the copy yet."""
    new = sorted({tid[0] for tid, _ in rows} - set(copy))
    for block in new:
        copy[block] = b.w.visibility_map[block]
        yield f"map of block {block}: {'' if copy[block] else 'not '}all-visible"
    return new and b.w.broken != "looked-once" or len(copy) == len(new) > 0
