"""What is remembered of heap pages (src/search/visible/page_memory.h): at which line pointers a snapshot sees a row.

A page is looked into once. The answers for its line pointers hold for other snapshots as long as the page's LSN is what
it was, if these see all transactions as ended that the answers depend on. Line pointers for which the process that looked
did not see a transaction as ended are unsettled, and have to be looked up again.

An LSN need not be read if the log is as long as it was when another query found it unchanged.
"""
from collections import namedtuple

from world import DEAD, POINTERS

# seen, unsettled: sets of line pointers. newest: the newest transaction that settled answers depend on, or 0.
# xmax, running: of the snapshot with which the page was looked into; running is a number.
Answer = namedtuple("Answer", "lsn seen unsettled newest xmax running")


def ended(w, xid, snapshot):
    """Has a committed transaction ended before the snapshot was taken?"""
    return w.status[xid] == "committed" and xid < snapshot.xmax and xid not in snapshot.running


def settle(w, row, snapshot):
    """Return whether a row is seen, or None if that may be otherwise for a later snapshot; and the transactions that this
    depends on.
    """
    if row is None or row == DEAD or w.status[row.xmin] == "aborted":
        return False, ()
    if not ended(w, row.xmin, snapshot):
        return None, ()
    if w.status[row.xmax] == "aborted":                       # xmax 0: as if aborted
        return True, (row.xmin,)
    if not ended(w, row.xmax, snapshot):
        return None, ()
    return False, (row.xmin, row.xmax)


def look(b, block):
    """Look into a page, whose lock keeps it from changing, and remember its rows. Returns the line pointers of rows that
    the snapshot sees.
    """
    w, snapshot = b.w, b.w.snapshots[b]
    seen, unsettled, newest = set(), set(), 0
    for p in range(POINTERS):
        row = w.heap[block][p]
        answer, xids = settle(w, row, snapshot)
        newest = max(newest, *xids, 0)
        if answer is None:
            answer = w.visible(row, b)
            if w.broken != "unsettled-remembered":
                unsettled.add(p)
        if answer:
            seen.add(p)
    w.memory[block] = Answer(w.lsns[block], seen, unsettled, newest, snapshot.xmax, len(snapshot.running))
    w.checked.pop(block, None)
    return seen


def holds(w, answer, snapshot):
    """Does a snapshot see all transactions that an answer depends on as ended? Of two snapshots with the same xmax the
    later one sees no more transactions as running.
    """
    if w.broken == "newest-ignored" or answer.newest < snapshot.xmin:
        return True
    if answer.xmax == snapshot.xmax:
        return w.broken == "running-not-counted" or len(snapshot.running) <= answer.running
    return answer.xmax < snapshot.xmax or w.broken == "later-answer-trusted"


def recall(b, block, end, early):
    """Return the line pointers at which the snapshot sees a row, and those that have to be looked up; None if nothing
    that holds is remembered. end: of the log, after the snapshot was taken. early: LSNs from before, for a mutation.
    """
    w = b.w
    answer, checked = w.memory.get(block), w.checked.get(block)
    if answer is None or b not in w.snapshots or not holds(w, answer, w.snapshots[b]):
        return None
    yield f"what is remembered of block {block} is copied"
    if checked == end or (checked is not None and w.broken == "log-end-not-compared"):
        return answer.seen, answer.unsettled
    lsn = early[block] if early else w.lsns[block]
    if lsn != answer.lsn and w.broken != "lsn-not-compared":
        return None
    yield f"the LSN of block {block} is compared"
    if w.broken == "log-end-read-late":
        end = w.position
    if block in w.memory:
        w.checked[block] = max(end, w.checked.get(block, end))
    return answer.seen, answer.unsettled
