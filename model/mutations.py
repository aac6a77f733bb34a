"""Mutations: each breaks one rule of the protocol, where the model tests `broken == "..."`, and must be refuted.

Each has the family of scenarios, and the number of a random history in it, that refute it. check.py tries that
history first, and searches for another one if the model has changed since. Number 0 means a script instead.
"""
from collections import namedtuple

Mutation = namedtuple("Mutation", "what family number")

MUTATIONS = {name: Mutation(*rest) for name, *rest in (
    # pending lists
    ("append-unlocked-check", "an inserter looks whether its page is sealed before it has the page's lock", "inserts", 5),
    ("append-after-seal", "an inserter does not look whether its page is sealed", "inserts", 3),
    ("append-without-owner", "an inserter does not look whose the page is that it has appended to before", "idle", 462),
    ("own-page-beyond-end", "an inserter does not look whether its page has been cut off", "page cut off", 0),
    ("list-opened-twice", "who opens the list does not look whether somebody else just has", "inserts", 2),
    ("sealed-list-extended", "a page is chained to a list without a look at the list page's seal", "inserts", 2),
    ("chained-without-lock", "a page is chained to a list page that is not locked throughout", "inserts", 2),
    ("full-page-not-sealed", "a full page stays open, though the list page does not name it any more", "inserts", 2231),
    ("seal-without-pages", "a list is sealed without its insertion pages", "inserts", 37),
    ("seal-before-switch", "a list's pages are sealed, and unlocked, before the metapage names another", "inserts", 5),
    ("list-page-not-sealed", "the list page is not sealed in one record with the metapage", "inserts", 2),
    ("seal-interrupted", "who seals pages can be cancelled in between", "seal cancelled", 0),
    ("seal-pages-before-list", "who seals locks the insertion pages before the list page", "inserts", 131),
    ("one-sealed-list-read", "scans read one sealed list", "poisoned", 90),
    ("defer-across-abort", "an index entry is written after its transaction aborted", "mixed", 30),
    # metapage and directory
    ("switch-without-lock", "a switch does not lock the metapage", "mixed", 7),
    ("switch-from-stale-image", "a switch replaces the directory by an image made before somebody else's switch", "mixed", 0),
    ("directory-in-place", "a switch writes over the directory, not the spare one", "cuts", 11),
    ("directory-without-lock", "the directory is read after the metapage was unlocked", "mixed", 17),
    ("spare-unchecked", "the spare directory is written over without a look whether it is one", "spare swept", 0),
    ("dead-without-version", "allocating dead bits does not make a new version", "first dead bits", 0),
    ("safe-xid-before-switch", "the safe xid is read before the switch that retires", "xid between", 0),
    ("vacuum-own-xid", "the safe xid is VACUUM's own", "VACUUM's xid", 0),
    ("upgrade-without-directory", "the first switch of format 3 compares with the upgraded image, and writes no directory", "format 3", 0),
    # allocation
    ("map-trusted", "the allocator trusts the free space map", "cuts", 102),
    ("map-trusted-beyond-end", "the allocator takes what the map proposes behind the end of the file", "end of file lost", 0),
    ("allocator-waits", "the allocator waits for the lock of a page that the map proposes", "cuts", 490),
    ("extend-unlocked", "a page is added to the file before it is locked", "mixed", 1142),
    # writing slots
    ("attempt-not-named", "the metapage does not name the attempt", "cuts", 49),
    ("no-reclaim", "an attempt does not free what the one before has left", "cuts", 49),
    ("note-after-write", "what is taken is noted after it was written", "cuts", 38),
    ("old-notes-heeded", "notes are heeded whatever attempt they are of", "cuts", 103),
    ("free-without-owner", "a page is freed whoever owns it by now", "cuts", 122),
    ("freed-beyond-end", "a page that was cut off is read, to be freed", "cuts", 54),
    ("taken-pages-replaced", "taken pages are named without a look whether others just were", "two first takers", 0),
    ("ended-before-switch", "the attempt ends in a switch before that which makes its pages part of the index", "cuts", 203),
    ("ended-after-switch", "the attempt ends in a switch after that which makes its pages part of the index", "cuts", 253),
    ("ended-unbegun", "an attempt that wrote nothing, and so reclaimed nothing, ends the one before", "unfinished", 744),
    ("reclaim-without-lock", "what an attempt has left is freed without its slot's lock", "mixed", 61),
    # flush, merge, bulk delete
    ("flush-without-lock", "a worker flushes without the flush lock", "mixed", 0),
    ("merge-without-lock", "a worker merges and recycles without the merge lock", "mixed", 24),
    ("merge-during-bulkdelete", "a merge does not exclude bulk delete", "mixed", 92),
    ("flush-lock-first", "bulk delete takes the flush lock first", "mixed", 6),
    ("insert-waits", "an insertion waits for the flush lock", "mixed", 219),
    ("merge-waits-for-lock", "rtscan_merge() waits in the merge lock's queue", "mixed", 16),
    ("flush-one-list", "a flush does one list, also where several are sealed", "poisoned", 111),
    ("vacuum-passes-over", "VACUUM passes over a list that cannot be flushed", "poisoned", 2),
    ("bulkdelete-no-flush", "bulk delete does not flush first", "mixed", 0),
    ("bulkdelete-skips-busy-flush", "bulk delete does not wait for a flush that is under way", "mixed", 39),
    ("bulkdelete-early-map", "bulk delete asks a copy of the map from before the heap was pruned", "mixed", 575),
    ("bulkdelete-stale-image", "bulk delete works on the image from before its flush", "mixed", 0),
    ("heap-before-dead-bits", "VACUUM sets line pointers unused, and the map, before the dead bits", "mixed", 6),
    # recycling
    ("recycle-early", "retired pages are recycled without waiting for the safe xid", "mixed", 15),
    ("no-reuse-record", "standbys are not told what is going to be reused", "worker recycles", 0),
    ("reuse-of-the-first", "the reuse record of a batch names its first safe xid", "worker recycles two", 0),
    ("entries-removed-first", "retired entries are removed before their pages are free", "cuts", 165),
    ("leaders-freed-first", "pages that lead to others are freed first", "cuts", 289),
    ("rows-counted-unlocked", "VACUUM counts live rows without the merge lock", "rows counted", 0),
    # sweep and truncation
    ("no-sweep", "VACUUM does not account for all pages", "cuts", 11),
    ("sweep-without-merge-lock", "VACUUM accounts for pages without the merge lock", "merge and sweep", 0),
    ("sweep-of-running-flush", "the sweep takes pages of a flush that runs for lost", "mixed", 19),
    ("sweep-of-younger", "the sweep takes pages with ids given out since its image for lost", "mixed", 19),
    ("sweep-of-open-list", "the sweep does not know the open list", "mixed", 3),
    ("sweep-of-new-directories", "the sweep takes directories of the next version for lost", "directory swept", 0),
    ("sweep-of-unnamed-taken-page", "the sweep takes a first taken page for lost though the metapage names none", "mixed", 198),
    ("sweep-without-upgrade", "the sweep does not know the sealed list of format 3", "format 3", 105),
    ("truncate-without-lock", "the tail is cut off without the index's exclusive lock", "page proposed, then cut off", 0),
    ("map-trusted-at-end", "the tail is cut off as the free space map says", "map of before", 0),
    # queries
    ("image-before-snapshot", "the image is read before the snapshot is taken", "counts", 5),
    ("not-looked-again", "rows count without the heap, whatever became of their segment since the image was read", "counts", 90),
    ("looked-before-map", "the look whether a segment is as it was comes before the visibility map is copied", "counts", 90),
    ("looked-once", "no look is taken again after more of the visibility map was copied", "second segment", 0),
    ("first-dead-bits-ignored", "a segment that has got its first dead bits is taken for as it was", "first dead bits", 0),
    ("replaced-segment-trusted", "a segment that is not in the current image any more is taken for as it was", "counts", 207),
    ("map-after-dead-bits", "the visibility map is copied after the dead bits are read", "more dead bits", 0),
    ("dead-rows-to-heap", "rows whose dead bit is set are checked in the heap", "counts", 100),
)}
