"""The scenarios in which the protocol is explored: families of random ones, and small ones for all schedules."""
from history import Scenario

FATES = ("committed", "committed", "committed", "aborted", "aborted", "taken back")


def inserter(rng, transactions=(1, 1, 2, 3), keys=(1, 1, 2)):
    return "insert", rng.choice(keys), rng.randrange(2), rng.choice(FATES), rng.choice(transactions), rng.random() < 0.3


def deleter(rng):
    return "delete", rng.randrange(4), rng.choice(("committed", "committed", "committed", "aborted"))


def writer(rng):
    return inserter(rng) if rng.random() < 0.65 else deleter(rng)


def vacuum(rng):
    return "vacuum", rng.choice((1, 1, 2)), rng.random() < 0.7, rng.random() < 0.3


def worker(rng):
    return "worker", rng.choice((1, 1, 2)), rng.choice((1, 2, 2, 3)), rng.random() < 0.3


def merge(rng):
    return "merge", rng.choice((1, 2, 2, 3)), rng.random() < 0.3


def some(rng, *makers, p=0.35):
    return [make(rng) for make in makers if rng.random() < p]


def history_before(rng):
    before = [("insert", rng.choice((1, 1, 2)), 0, "committed") for _ in range(rng.randint(0, 3))]
    return before + some(rng, worker, vacuum, writer, deleter, worker, inserter, vacuum)


def queries(rng, side):
    return [("query", side, rng.choice(("aggregate", "aggregate", "bitmap"))) for _ in range(rng.choice((1, 1, 2)))]


def mixed(rng):
    """Writers, VACUUM and maintenance, and queries on primary and standby."""
    side = rng.choice(("primary", "primary", "standby"))
    concurrent = [writer(rng) for _ in range(rng.randint(1, 3))] + some(rng, vacuum, p=0.8) + some(rng, worker, merge, worker)
    return Scenario(history_before(rng), concurrent + queries(rng, side) + ([("replay",)] if side == "standby" else []))


def inserts(rng):
    """Many insertions, while lists are sealed and flushed."""
    concurrent = [inserter(rng, (1, 2, 3)) for _ in range(rng.randint(2, 4))] + some(rng, worker, worker, merge, vacuum, p=0.5)
    return Scenario(some(rng, inserter, worker, inserter), concurrent + queries(rng, "primary")[:1])


def cuts(rng):
    """Work is cancelled, or the server crashes; other backends follow."""
    concurrent = [writer(rng), rng.choice((vacuum, worker, merge))(rng)] + some(rng, writer, vacuum, worker, merge)
    for _ in range(rng.choice((0, 1, 1))):
        concurrent.append(("cancel", rng.randrange(len(concurrent))))
    concurrent += [("crash", rng.random() < 0.5, rng.random() < 0.5)] if rng.random() < 0.6 else []
    after = [rng.choice((vacuum, worker, merge))(rng), writer(rng)] + some(rng, writer, vacuum, worker, p=0.5)
    return Scenario(history_before(rng), concurrent, after + queries(rng, "primary")[:1])


def poisoned(rng):
    """Lists that cannot be flushed."""
    concurrent = [inserter(rng, keys=(1, 3)) for _ in range(rng.randint(1, 3))] + [deleter(rng), vacuum(rng)]
    before = [("insert", 1, 0, "committed"), ("insert", 3, 0, rng.choice(FATES))] + some(rng, worker, deleter, worker, inserter)
    return Scenario(before, concurrent + some(rng, worker, worker, merge) + queries(rng, "primary"))


def counts(rng):
    """Queries that count without the heap, while what is dead, sealed and all-visible changes."""
    before = [("insert", 1, 0, "committed") for _ in range(rng.randint(1, 3))] + [("vacuum",)] + some(rng, deleter, inserter, worker)
    side = rng.choice(("primary", "primary", "standby"))
    concurrent = [("query", side, "aggregate"), ("insert", 1, rng.randrange(2), rng.choice(FATES)),
                  ("vacuum", 1, rng.random() < 0.3)] + some(rng, worker, writer, worker, merge, deleter)
    return Scenario(before, concurrent + ([("replay",)] if side == "standby" else []))


def remembering(rng):
    """Queries that remember heap pages for each other, of rows that are inserted and deleted meanwhile."""
    side = rng.choice(("primary", "primary", "standby"))
    before = [("insert", 1, rng.randrange(2), "committed") for _ in range(rng.randint(1, 3))] + some(rng, worker, deleter)
    before += [("query", side, "aggregate")] * rng.randrange(2)
    concurrent = [("query", side, "aggregate") for _ in range(rng.randint(2, 4))] + [deleter(rng)] + some(rng, deleter, p=0.6)
    concurrent += [("insert", 1, rng.randrange(2), rng.choice(FATES)) for _ in range(rng.randint(0, 2))] + some(rng, vacuum, worker)
    return Scenario(before, concurrent + ([("replay",)] if side == "standby" else []))


def recycling(rng):
    """Long queries, while what they read is retired and recycled."""
    side = rng.choice(("primary", "standby"))
    before = [step for _ in range(rng.randint(1, 3)) for step in (("insert", 1, 0, "committed"), ("worker", 1, 1))]
    if rng.random() < 0.5:
        before += [("delete", rng.randrange(4), "committed"), ("vacuum", 1, False)]
    concurrent = [rng.choice((vacuum, worker, merge))(rng), ("worker", 3, rng.choice((1, 2, 3)))]
    concurrent += [writer(rng) for _ in range(rng.randint(1, 3))]
    return Scenario(before + some(rng, inserter, deleter, inserter, vacuum),
                    concurrent + queries(rng, side) + ([("replay",)] if side == "standby" else []))


def space(rng):
    """The file has a free tail, in which sessions remember pages."""
    before = [("insert", 1, 0, "committed", 3), ("worker", 1, 2), ("insert", 2, 0, "committed"), ("delete", 0, "committed"),
              ("delete", 0, "committed")] + some(rng, deleter, worker, inserter, vacuum, worker, vacuum, vacuum, p=0.5)
    concurrent = [inserter(rng, (2, 3)), ("vacuum", 2)] + some(rng, worker, inserter, vacuum)
    concurrent += some(rng, lambda rng: ("cancel", rng.randrange(3)), lambda rng: ("crash", rng.random() < 0.5, rng.random() < 0.5))
    return Scenario(before, concurrent, some(rng, vacuum, writer, vacuum, p=0.6))


def idle(rng):
    """A session remembers a page that is recycled or truncated before the next statement."""
    before = [("insert", 1, 0, "committed"), ("worker", 1, 1)] + some(rng, worker, inserter, vacuum, deleter, p=0.15)
    session = ("insert", 1, 0, rng.choice(("aborted", "committed")), rng.choice((2, 3)))
    return Scenario(before, [session, ("vacuum", 4, True, True)] + some(rng, writer, worker, p=0.2))


def unfinished(rng):
    """Work is interrupted, and the next attempt in its slot has nothing to write."""
    before = [("insert", 1, 0, "committed"), ("worker", 1, 1), ("insert", 1, 0, "committed"), ("worker", 1, 1)]
    before += [("delete", 0, "committed"), ("vacuum", 1, False)] + some(rng, inserter, inserter, worker)
    concurrent = [rng.choice((worker, merge))(rng), inserter(rng), ("cancel", 0), ("cancel", 1)]
    return Scenario(before, concurrent + some(rng, worker, merge), [worker(rng), worker(rng)] + some(rng, inserter, worker))


def format_3(rng):
    """The index has been used by an rtscan whose sealed lists were not entries."""
    scenario = rng.choice((mixed, cuts, inserts, space))(rng)
    return scenario._replace(before=[*scenario.before, ("format3",)])


FAMILIES = {"mixed": mixed, "inserts": inserts, "cuts": cuts, "poisoned": poisoned, "counts": counts, "remembering": remembering, "recycling": recycling,
            "space": space, "idle": idle, "unfinished": unfinished, "format 3": format_3}

SMALL = [   # explored exhaustively, up to a number of forced switches
    Scenario([("insert", 1, 0, "committed"), ("vacuum",)],
             [("query", "primary", "aggregate"), ("insert", 1, 0, "aborted"), ("vacuum",)]),
    Scenario([("insert", 1, 0, "committed"), ("insert", 1, 0, "committed"), ("vacuum",), ("delete", 0, "committed")],
             [("query", "primary", "aggregate"), ("vacuum", 1, False), ("insert", 2, 0, "committed"), ("worker",)]),
    Scenario([("insert", 1, 0, "committed"), ("delete", 0, "committed")],
             [("query", "primary", "bitmap"), ("vacuum", 1, False), ("insert", 2, 0, "committed"), ("merge",)]),
]

COMMITTED = ("insert", 1, 0, "committed")
FLUSHED = [COMMITTED, ("worker", 1, 1)]

SCRIPTS = {   # (scenario, script: see explore.scripted_choice()): histories that random search finds too rarely
    "page cut off": (Scenario(FLUSHED + [("insert", 1, 0, "aborted"), ("vacuum", 1, False)],
                              [("insert", 1, 0, "aborted", 2), ("vacuum", 4, True, True)]),
                     [(0, "aborted"), (1, None), (0, None)]),
    "first dead bits": (Scenario([COMMITTED, ("vacuum",), ("delete", 0, "committed")],
                                 [("query", "primary", "aggregate"), ("vacuum", 1, False)]),
                        [(1, "notes that"), (0, "image read"), (1, None), (0, None)]),
    "more dead bits": (Scenario([COMMITTED, COMMITTED, ("vacuum",), ("delete", 0, "committed"), ("vacuum", 1, False), ("delete", 0, "committed")],
                                [("query", "primary", "aggregate"), ("vacuum", 1, False)]),
                       [(0, "dead of"), (1, None), (0, None)]),
    "second segment": (Scenario([*FLUSHED, ("insert", 1, 1, "committed"), ("worker", 1, 1), ("delete", 1, "committed")],
                                [("query", "primary", "aggregate"), ("vacuum", 1, False)]),
                       [(0, "map of block 0"), (0, "descriptor"), (1, None), (0, None)]),
    "xid between": (Scenario([COMMITTED], [("worker",), ("insert", 2, 1, "committed"), ("query", "primary", "bitmap")]),
                    [(0, "pending of"), (1, None), (2, "image read"), (0, None), (2, None)]),
    "two first takers": (Scenario(FLUSHED * 2 + [("format3",)],
                                  [("worker", 1, 2), (*COMMITTED, 1, True), ("crash", True, True)]),
                         [(0, "'taken', 1"), (1, "'rows'"), (0, "taken pages"), (2, None)]),
    "rows counted": (Scenario(FLUSHED * 3 + [("delete", 2, "committed"), ("vacuum", 1, False)],
                              [("vacuum",), ("worker", 3, 3), ("delete", 0, "committed")]),
                     [(0, "counts"), (1, "-> segments"), (2, None), (1, None), (0, None)]),
    "page proposed, then cut off": (Scenario([("insert", 1, 0, "aborted")], [(*COMMITTED, 2, True), ("vacuum", 3, True, True)]),
                                    [(1, "to cut off"), *[(0, "proposes")] * 5, (1, None), (0, None)]),
    "end of file lost": (Scenario((), [("insert", 1, 0, "aborted"), ("vacuum",), ("query", "primary", "bitmap"), ("cancel", 0),
                                       ("crash", True, False)], [COMMITTED]),
                         [(2, "has the index"), (0, "added to the file"), (3, None), (1, None), (4, None)]),
    "spare swept": (Scenario(FLUSHED * 2 + [COMMITTED], [("worker", 1, 2), ("crash", True, True)],
                             [("vacuum",), (*COMMITTED, 1, True)]),
                    [(0, "-> segments"), (0, "'descriptor'"), (0, "'directory'"), (1, None), (2, "forgotten"), (2, "space_map"),
                     (3, None), (2, None)]),
    "seal cancelled": (Scenario([COMMITTED], [("insert", 1, 0, "committed", 2), ("insert", 1, 0, "committed"),
                                              ("worker",), ("cancel", 2), ("worker",)]),
                       [(0, "committed"), (1, "committed"), (2, "sealed; version"), (3, None), (4, None), (0, None)]),
    "worker recycles": (Scenario([COMMITTED], [("query", "standby", "bitmap"), ("worker", 2, 1), ("delete", 0, "committed"),
                                               ("replay",)]),
                        [(0, "image read"), (1, "-> segments"), (2, None), (1, None), (3, None)]),
    "worker recycles two": (Scenario((), [("insert", 1, 0, "committed", 2), ("worker", 3, 1), ("query", "standby", "bitmap"), ("replay",),
                                          ("query", "primary", "bitmap"), ("delete", 0, "committed")]),
                            [(0, "committed"), (4, "snapshot"), (1, "-> segments"), (1, "image read"), (0, "committed"), (3, None),
                             (2, "image read"), (1, "-> segments"), (1, "image read"), (5, None), (4, None), (1, None), (3, None)]),
    "VACUUM's xid": (Scenario([COMMITTED], [("vacuum", 2, True, True), ("insert", 2, 1, "committed"), ("query", "primary", "bitmap")]),
                     [(0, "begins"), (1, None), (2, "image read"), (0, None), (2, None)]),
    "merge and sweep": (Scenario(FLUSHED * 2, [("vacuum",), ("worker", 1, 2)]),
                        [(0, "released"), (1, "'descriptor'"), (0, "is freed"), (1, None), (0, None)]),
    "map of before": (Scenario([("insert", 1, 0, "aborted"), ("worker", 1, 1), ("vacuum", 1, True, True)],
                               [("insert", 1, 0, "aborted")] * 4 + [("cancel", n) for n in range(4)] +
                               [("query", "primary", "bitmap"), ("vacuum",), COMMITTED, ("worker", 1, 1), ("crash", False, True)],
                               [("vacuum",)]),
                      [(8, "snapshot"), *[(n, "wants lock 0") for n in range(4)], (4, None), (5, None), (6, None), (7, None),
                       (9, None), (10, None), (11, None), (12, None)]),
    "directory swept": (Scenario((), [("insert", 1, 0, "aborted")] * 3 + [("query", "primary", "bitmap"), ("cancel", 0), ("cancel", 1),
                                                                          ("cancel", 2), ("vacuum", 2), COMMITTED, ("worker",)]),
                        [(3, "has the index"), (0, "wants lock 0"), (1, "wants lock 0"), (2, "added to the file"), (4, None), (5, None),
                         (6, None), (7, "counts"), (8, None), (7, "are used"), (9, "sealed; version"), (9, "image read"),
                         (7, "is freed"), (9, None)]),
}
