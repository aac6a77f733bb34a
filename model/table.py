"""The table: INSERT and DELETE, and VACUUM's work on the heap."""
import maintain
import pending
from world import DEAD, HEAP_BLOCKS, POINTERS, Tuple


def insert(b, key, block, fate, transactions=1, helps=False):
    """A session that inserts one row in each transaction. In between it has nothing locked, but remembers the image
    and its page.
    """
    for _ in range(transactions):
        yield from b.begin_transaction()
        yield from b.lock("index", shared=True)
        yield from insert_row(b, key, block, fate)
        if helps:
            yield from maintain.help_flush(b)
        b.unlock("index")
        yield "statement done"
        yield from b.end_transaction("aborted" if fate == "aborted" else "committed")
    for tid in b.deferred:
        yield from pending.append(b, tid, key)


def insert_row(b, key, block, fate):
    w = b.w
    blocks = [n % HEAP_BLOCKS for n in range(block, block + HEAP_BLOCKS)]
    tid = next(((n, p) for n in blocks for p in range(POINTERS) if w.heap[n][p] is None), None)
    if tid is None:
        return
    yield from b.log("heap_insert", tid, key, b.xid, note=f"key {key} inserted into the heap at {tid}")
    if w.broken == "defer-across-abort" and fate == "aborted":
        b.deferred.append(tid)
        return
    yield from pending.append(b, tid, key)
    if fate == "taken back":                                  # speculative insertion for ON CONFLICT
        yield from b.log("take_back", tid)


def delete(b, nth, fate):
    w = b.w
    rows = [r for block in w.heap for r in block if isinstance(r, Tuple) and w.satisfies_vacuum(r, 0) == "live"]
    if not rows:
        return
    row = rows[nth % len(rows)]
    b.xid = w.next_xid
    w.redo("xact", b.xid, "running")
    yield from b.log("heap_delete", row.tid, b.xid, note=f"xid {b.xid} deletes the row at {row.tid}, key {row.key}")
    yield from b.end_transaction(fate)


# ---------------------------------------------------------------- VACUUM

def prune(b, oldest, dead):
    """Collect dead line pointers, of tuples that are dead now and of those that an earlier VACUUM has left."""
    w = b.w
    for block in range(HEAP_BLOCKS):
        gone = [r for r in w.heap[block] if isinstance(r, Tuple) and w.satisfies_vacuum(r, oldest) == "dead"]
        if gone:                                              # HeapTupleHeaderAdvanceLatestRemovedXid
            conflict = max(r.xmax if w.status[r.xmin] == "committed" and r.xmax != r.xmin else 0 for r in gone)
            w.redo("set_pointers", block, [r.tid[1] for r in gone], DEAD, conflict)
        dead += [(block, p) for p in range(POINTERS) if w.heap[block][p] == DEAD]
        yield f"block {block} pruned: {[r.tid for r in gone]}{set_all_visible(w, block, oldest)}"


def set_unused(b, dead, oldest):
    w = b.w
    for block in sorted({n for n, _ in dead}):
        w.redo("set_pointers", block, [p for n, p in dead if n == block], None, 0)
        yield f"dead line pointers of block {block} set unused{set_all_visible(w, block, oldest)}"


def set_all_visible(w, block, oldest):
    rows = [r for r in w.heap[block] if r is not None]
    if DEAD in rows or any(w.satisfies_vacuum(r, oldest) != "live" or r.xmin >= oldest for r in rows):
        return ""
    if not w.visibility_map[block]:
        w.redo("all_visible", block, max((r.xmin for r in rows), default=0))
    return ", all-visible"
