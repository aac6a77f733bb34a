"""Queries: a bitmap scan, and an aggregate that answers without the heap where it can (src/search/visibility.h).

A query's answer must be exactly the rows that its snapshot sees; every other answer is a counterexample, and so is an error.  On
the standby it may be cancelled, but never meets a page that was reused.
"""
import maintain
import metapage
import pending
from world import HEAP_BLOCKS, Primary, Retry, Tuple, Wrong

WANTED = 1                                  # queries ask for the rows with this key


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


def live_entries(b, image):
    """Segment by segment, then the pending lists: (segment or None, entries, and those whose dead bit is set)."""
    found = []
    for segment in metapage.segments(image):
        rows, dead = (yield from maintain.read_rows(b, segment)), ()
        if segment.dead is not None:
            dead, _, _ = yield from b.read(segment.dead, "dead", segment.id)
        wanted = [(i in dead, e) for i, e in enumerate(rows) if e[1] == WANTED]
        found.append((segment, [e for d, e in wanted if not d], [e for d, e in wanted if d]))
    sealed = metapage.sealed_lists(image)
    lists = [(e.id, e.root) for e in (sealed[:1] if b.w.broken == "one-sealed-list-read" else sealed)]
    for list_id, head in [*lists, image.meta.open]:
        rows = yield from pending.visit(b, list_id, head)
        found.append((None, [e for e in rows if e[1] == WANTED], []))
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


def snapshot_first(b, image):
    """Take the snapshot, then read the image: the steps of image(), which also returns it."""
    early = (yield from image()) if b.w.broken == "image-before-snapshot" else None
    b.w.take_snapshot(b)
    yield "snapshot taken"
    return early or (yield from image())


def bitmap_scan(b, _seen):
    """Snapshot, image, TIDs; then the executor visits the heap, and does not check the key again."""
    image = yield from snapshot_first(b, lambda: metapage.read_image(b))
    found, answer = (yield from live_entries(b, image)), []
    yield from check_in_heap(b, sorted({e for _, entries, _ in found for e in entries}), answer)
    return answer


def aggregate(b, seen):
    """Snapshot, v0 (the id of the open list), copy of the visibility map, image, dead bits.  A row counts without the heap if its
    segment has no list that was open at v0 or later, and its block was all-visible in the copy."""
    w, copy, map_late = b.w, [], b.w.broken == "map-after-dead-bits"

    def read_images():
        if w.broken == "map-before-v0":
            yield from copy_map(b, copy)
        v0 = yield from metapage.read_image(b)
        yield f"v0: open list {v0.meta.open.id}"
        if not (copy or map_late):
            yield from copy_map(b, copy)
        return v0, (yield from metapage.read_image(b))
    v0, image = yield from snapshot_first(b, read_images)
    seen["image changed after v0"] += image.meta.version != v0.meta.version
    answer, check, trusted = [], [], []
    first_unsafe = v0.meta.open.id + (w.broken == "open-list-as-segment")
    for segment, found, dead in (yield from live_entries(b, image)):
        trust = segment and (segment.youngest < first_unsafe or w.broken == "newborn-without-heap")
        (trusted if trust else check).extend(found)
        check += dead if w.broken == "dead-rows-to-heap" else ()
    if map_late:
        yield from copy_map(b, copy)
    answer += [e for e in trusted if copy[e[0][0]]]
    seen["rows without the heap"] += len(answer)
    yield from check_in_heap(b, check + [e for e in trusted if not copy[e[0][0]]], answer)
    return answer


def copy_map(b, copy):
    for block in range(HEAP_BLOCKS):
        copy.append(b.w.visibility_map[block])
        yield f"map of block {block}: {'' if copy[-1] else 'not '}all-visible"
