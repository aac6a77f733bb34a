"""The state on which the protocol works: a heap, the pages of its index, the log, locks, snapshots, a standby.

Every change is a record of the log. The primary writes the record and applies it. The standby applies it later, in
order, and cancels the snapshots that PostgreSQL would cancel. So the state is a function of a prefix of the log, and
a crash can happen after any record. A crash loses what is not logged: locks, snapshots, what a backend remembers,
and changes of the free space map since it was last logged (or not, if it was written to disk before).

A backend is a generator. It yields after each action that others can see, and then other backends run; it yields a
Wait where it must wait for a lock.
"""
from collections import namedtuple

import invariants

HEAP_BLOCKS, POINTERS = 2, 3                # size of the heap: blocks, and line pointers in each
DEAD = "dead"                               # a line pointer is None (unused), DEAD, or its Tuple
INSERTION_PAGES = 2                         # of a pending list
METAPAGE = 0

Snapshot = namedtuple("Snapshot", "xmin xmax running")
Wait = namedtuple("Wait", "lock shared polite")
Meta = namedtuple("Meta", "format version next_id directory directory_version spare spare_version "
                          "open format_3_sealed writing taken")
ListRef = namedtuple("ListRef", "id head")                              # head: its list page, or None while it is empty
# kind: "segment" or "list"; safe_xid 0: not retired
Entry = namedtuple("Entry", "kind id root dead safe_xid retired_at")
Taken = namedtuple("Taken", "owner block")                              # a note on a taken page


class Wrong(Exception):
    """A counterexample was found."""


class Retry(Exception):
    """A query on the standby was cancelled."""


class Failure(Exception):
    """An ERROR that PostgreSQL would raise, without a bug: a value cannot be compared, the disk is full."""


class Page:
    """kind None: the page is free, or was just added to the file."""
    def __init__(self, kind=None, owner=None, ordinal=0, data=(), follower=None):
        self.kind, self.owner, self.ordinal, self.data, self.next = kind, owner, ordinal, data, follower
        self.sealed, self.logged = False, True

    def is_(self, kind, owner, ordinal=0):
        return (self.kind, self.owner, self.ordinal) == (kind, owner, ordinal)


class Tuple:
    def __init__(self, tid, key, xmin):
        self.tid, self.key, self.xmin, self.xmax = tid, key, xmin, 0


class World:
    """The state after a prefix of the log. Each method redo_* is a kind of log record."""

    def __init__(self, broken):
        # the rule of the protocol that is broken: see mutations.py
        self.broken = broken
        self.status = {0: "aborted"}                          # xid 0: a speculative insertion that was taken back
        self.next_xid = 1
        self.heap = [[None] * POINTERS for _ in range(HEAP_BLOCKS)]
        self.visibility_map = [False] * HEAP_BLOCKS
        self.position = 0                                     # in the log, of the record that is applied
        self.lsns = [0] * HEAP_BLOCKS                         # by heap block: the position of the last record that changed it
        self.memory = {}                                      # by heap block: what is remembered of it; see memory.py
        self.checked = {}                                     # by heap block: the end of the log when its LSN was compared
        self.ledger = []                                      # every tuple that ever existed; only checks read it
        self.space_map = set()                                # the free space map: blocks that it proposes
        self.logged_map = frozenset()                         # the part of it that survives any crash
        self.snapshots = {}                                   # reader -> its snapshot, while held
        meta = Meta(4, 1, 2, None, 0, None, 0, ListRef(1, None), None, (0, 0), (None, None))
        self.pages = [Page("meta", 0, 0, meta)]

    # the table

    def redo_xact(self, xid, status):
        self.status[xid], self.next_xid = status, max(self.next_xid, xid + 1)

    def redo_heap_insert(self, tid, key, xid):
        row = self.heap[tid[0]][tid[1]] = Tuple(tid, key, xid)
        self.ledger.append(row)
        self.change(tid[0])

    def redo_heap_delete(self, tid, xid):
        self.heap[tid[0]][tid[1]].xmax = xid
        self.change(tid[0])

    def change(self, block):
        self.visibility_map[block] = False
        self.lsns[block] = self.position

    def redo_take_back(self, tid):                            # heap_abort_speculative
        self.heap[tid[0]][tid[1]].xmin = 0
        self.lsns[tid[0]] = self.position

    def redo_set_pointers(self, block, pointers, value, _conflict):
        for p in pointers:
            self.heap[block][p] = value
        self.lsns[block] = self.position

    def redo_all_visible(self, block, _conflict):
        self.visibility_map[block] = True

    # the index

    def redo_page(self, block, kind, owner, ordinal, data, follower):
        """Write the image of a whole page."""
        while block >= len(self.pages):
            self.pages.append(Page())
        self.pages[block] = Page(kind, owner, ordinal, data, follower)

    def redo_meta(self, meta, new_list=None, sealed_list=None):
        """Write the metapage; in the same record the first content of a list page, or the seal of one."""
        self.pages[METAPAGE].data = meta
        if new_list is not None:
            self.redo_page(new_list, "list", meta.open.id, 0, (0, (None,) * INSERTION_PAGES), None)
        if sealed_list is not None:
            self.pages[sealed_list].sealed = True

    def redo_seal(self, block):
        self.pages[block].sealed = True

    def redo_append(self, block, entry):
        if self.pages[block].kind != "pending":
            raise Wrong(f"a row is appended to page {block}, which is of kind {self.pages[block].kind}")
        self.pages[block].data += (entry,)

    def redo_chain(self, list_block, list_id, content, added, full, follower):
        """Insert a new page into a pending list's chain, right after the list page; seal the page that is full."""
        self.redo_page(added, "pending", list_id, content[0], (), follower)
        self.pages[list_block].data, self.pages[list_block].next = content, added
        if full is not None:
            self.pages[full].sealed = True

    def redo_note(self, block, attempt, notes):
        self.pages[block].data = attempt, notes

    def redo_chain_taken(self, last, added):
        before = self.pages[last]
        self.redo_page(added, "taken", before.owner, before.ordinal + 1, (0, ()), None)
        self.pages[last].next = added

    def redo_set_dead(self, block, rows):
        self.pages[block].data |= rows

    def redo_reuse(self, _conflict):
        """Announce the reuse of pages; it only affects standbys."""

    def redo_space_map(self, blocks):
        self.logged_map = blocks

    def redo_truncate(self, end):
        del self.pages[end:]
        self.logged_map = frozenset(b for b in self.logged_map if b < end)

    # readers

    @property
    def meta(self):
        return self.pages[METAPAGE].data

    def take_snapshot(self, backend):
        running = frozenset(x for x, s in self.status.items() if s == "running" and x not in self.vacuum_xids())
        self.snapshots[backend] = Snapshot(min(running, default=self.next_xid), self.next_xid, running)

    def vacuum_xids(self):
        """Return VACUUM's xids, which snapshots ignore."""
        return ()

    def visible(self, row, backend):
        snapshot = self.snapshots.get(backend)
        if not snapshot:
            raise Retry("cancelled")

        def done(xid):
            return xid < snapshot.xmax and xid not in snapshot.running and self.status[xid] == "committed"
        return done(row.xmin) and not (row.xmax and done(row.xmax))

    def check(self, backend, block, kind, owner, ordinal=0):
        """Return the page at block, after checking that it is what the caller expects."""
        if isinstance(self, Standby) and backend not in self.snapshots:
            raise Retry("cancelled")
        if block is None or block >= len(self.pages) or not self.pages[block].is_(kind, owner, ordinal):
            found = "no page" if block is None or block >= len(self.pages) else "{0.kind} of {0.owner}".format(self.pages[block])
            raise Wrong(f"{backend.name} expects page {block} to be {kind} of {owner}, but it is {found}")
        return self.pages[block]


class Primary(World):
    def __init__(self, broken):
        super().__init__(broken)
        self.wal, self.locks, self.backends = [], {}, []
        self.poisoned = True                                  # values of key POISON cannot be compared: see maintain.py

    def add_page(self):
        """Add an empty page to the file. It is not logged, and a crash may lose it."""
        self.pages.append(Page())
        self.pages[-1].logged = False
        return len(self.pages) - 1

    def check_exists(self, backend, block):
        if block >= len(self.pages):
            raise Wrong(f"{backend.name} reads page {block} behind the end of the file")

    # locks: {lock: {backend: whether it is shared}}

    def blockers(self, backend, lock, shared):
        holders = self.locks.get(lock)
        if not holders:
            return []
        return [b for b, s in holders.items() if b is not backend and not (s and shared)]

    def grant(self, backend, lock, shared):
        if self.blockers(backend, lock, shared):
            return False
        holders = self.locks.setdefault(lock, {})
        if backend in holders and isinstance(lock, int):
            raise Wrong(f"{backend.name} locks page {lock}, which it has locked: deadlock")
        holders[backend] = shared
        return True

    def release(self, backend, lock):
        del self.locks[lock][backend]

    def release_all(self, backend, only_pages=False):
        for lock, holders in self.locks.items():
            if isinstance(lock, int) or not only_pages:
                holders.pop(backend, None)

    # transactions

    def vacuum_xids(self):
        return {b.xid for b in self.backends if b.in_vacuum and b.xid}

    def oldest_xmin(self):
        """Return the xid below which no snapshot needs old rows; VACUUM's own xid and snapshot, and the merge
        worker's, do not count.
        """
        running = {x for x, s in self.status.items() if s == "running"} - self.vacuum_xids()
        return min([*running, *(s.xmin for b, s in self.snapshots.items() if not b.in_vacuum), self.next_xid])

    def satisfies_vacuum(self, row, oldest):
        """HeapTupleSatisfiesVacuum: an aborted insertion is dead at once, whatever snapshots exist."""
        if self.status[row.xmin] != "committed":
            return "dead" if self.status[row.xmin] == "aborted" else "inserting"
        deleter = self.status[row.xmax]                       # xmax 0: as if aborted
        if deleter == "committed":
            return "dead" if row.xmax < oldest else "recently dead"
        return "live" if deleter == "aborted" else "deleting"

    def redo(self, name, *args):
        if name == "page":
            invariants.check_page_record(self, *args)
        self.wal.append((name, args))
        self.position = len(self.wal)
        getattr(self, "redo_" + name)(*args)

    def end_backend(self, backend):
        """Do what PostgreSQL does when a backend has ended or was cancelled."""
        self.release_all(backend)
        self.snapshots.pop(backend, None)
        if backend.xid and self.status[backend.xid] == "running":
            self.redo("xact", backend.xid, "aborted")
        self.backends.remove(backend)

    def crash(self, keeps_map, keeps_file):
        for backend in list(self.backends):
            self.end_backend(backend)
        self.locks.clear()
        self.memory.clear()
        self.checked.clear()
        while not keeps_file and not self.pages[-1].logged:
            self.pages.pop()
        if not keeps_map:
            self.space_map = set(self.logged_map)

    def pass_xid(self):
        self.redo("xact", self.next_xid, "committed")


class Standby(World):
    def __init__(self, primary):
        super().__init__(primary.broken)
        self.wal, self.at = primary.wal, 0

    def replay(self):
        """Apply the next record. If it has a conflict horizon, first cancel the snapshots with an older horizon."""
        name, args = self.wal[self.at]
        self.at += 1
        self.position = self.at
        if name in ("set_pointers", "all_visible", "reuse") and args[-1]:
            self.snapshots = {r: s for r, s in self.snapshots.items() if s.xmin > args[-1]}
        # its AccessExclusiveLock cancels every query that has the index locked
        if name == "truncate":
            self.snapshots.clear()
        getattr(self, "redo_" + name)(*args)
        return name


class Backend:
    """A backend, which takes steps, and what it remembers."""

    def __init__(self, world, number, kind, in_vacuum=False):
        self.w, self.number, self.kind, self.in_vacuum = world, number, kind, in_vacuum
        self.name = f"{kind} {number}"
        self.xid = None
        self.critical = False                                 # in a critical section: it cannot be cancelled
        self.image = self.own_page = None                     # the cached image, and the page that it has appended to
        # entries that an INSERT with a broken rule has not made yet
        self.deferred = []
        if isinstance(world, Primary):
            world.backends.append(self)

    # Between two locks other backends run, so that deadlocks are found.

    def lock(self, lock, shared=False, polite=False):
        """Take a lock. Heavyweight locks are names, locks of pages' contents are block numbers. polite: try again
        and again.
        """
        if any(self in holders for holders in self.w.locks.values()):
            yield f"wants lock {lock}"
        while not self.w.grant(self, lock, shared):
            yield Wait(lock, shared, polite)
        if not isinstance(lock, int):
            yield f"has the {lock} lock"

    def try_lock(self, lock):
        return self.w.grant(self, lock, False)

    def unlock(self, *locks):
        for lock in locks:
            self.w.release(self, lock)

    def await_readable(self, block):
        """Lock a page for sharing, for one step."""
        if isinstance(self.w, Primary):
            while self.w.blockers(self, block, True):
                yield Wait(block, True, False)

    def log(self, name, *args, note=None):
        self.w.redo(name, *args)
        yield note or f"logs {name} {args}"

    def read(self, block, kind, owner, ordinal=0):
        """Read a page that the backend expects."""
        yield from self.await_readable(block)
        page = self.w.check(self, block, kind, owner, ordinal)
        content = page.data, page.next, page.sealed
        yield f"reads page {block}, {kind} of {owner}"
        return content

    def begin_transaction(self):
        self.xid = self.w.next_xid
        yield from self.log("xact", self.xid, "running", note=f"begins transaction {self.xid}")

    def end_transaction(self, status):
        yield from self.log("xact", self.xid, status, note=f"transaction {self.xid} {status}")
