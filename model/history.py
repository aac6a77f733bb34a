"""One history: initial steps in order; then concurrent backends, in the order of a schedule; then clean-up and checks.

A scenario lists backends as specs, (kind, arguments ...):

	insert key block fate [transactions helps], delete nth fate, vacuum [times cleanup has_xid],
	worker [rounds most gently], merge [most has_xid], query side kind
	cancel nth		ends a concurrent backend at any step
	crash keeps_map keeps_file	ends all backends on the primary, and loses what is not logged
	format3			the initial steps were the old rtscan's: no pages are taken, and the open list is sealed in the
					metapage
	replay			the standby replays the log

Those listed as after run when the others have ended, or the server has crashed.
"""
from collections import namedtuple

import invariants
import maintain
import readers
import table
from world import Backend, Failure, Primary, Standby, Wait, Wrong

Scenario = namedtuple("Scenario", "before concurrent after", defaults=((), (), ()))

KINDS = {"insert": table.insert, "delete": table.delete, "vacuum": maintain.vacuum, "worker": maintain.worker,
         "merge": maintain.merge_function, "format3": maintain.downgrade}


class Process:
    """A running backend: its steps, and the lock that it waits for."""
    def __init__(self, history, number, spec):
        kind, *args = spec
        self.spec, self.wait = spec, None
        on_standby = kind == "query" and args[0] == "standby"
        self.b = Backend(history.standby if on_standby else history.primary, number, kind, kind in ("vacuum", "worker"))
        self.steps = readers.query(self.b, args[1], history.seen) if kind == "query" else KINDS[kind](self.b, *args)

    @property
    def on_primary(self):
        return isinstance(self.b.w, Primary)

    def runnable(self):
        return not (self.wait and self.b.w.blockers(self.b, self.wait.lock, self.wait.shared))


class History:
    def __init__(self, scenario, broken, seen):
        self.scenario, self.seen = scenario, seen
        self.primary = Primary(broken)
        self.standby = Standby(self.primary)
        self.live, self.events, self.trace = {}, {}, []

    # ---- one at a time

    def run_alone(self, *spec):
        process = Process(self, 99, spec)
        try:
            for step in process.steps:
                if isinstance(step, Wait):
                    raise Wrong(f"{process.b.name} waits for lock {step.lock}, alone: {self.primary.locks}")
        except Failure:
            pass
        self.end(process)

    def end(self, process):
        if process.on_primary:
            process.b.w.end_backend(process.b)

    def replay_all(self):
        while self.standby.at < len(self.standby.wal):
            self.standby.replay()

    # ---- all together

    def begin(self, specs, first):
        for number, spec in enumerate(specs, first):
            if spec[0] in ("cancel", "crash", "replay"):
                self.events[number] = spec
            else:
                self.live[number] = Process(self, number, spec)

    def runnable(self):
        """Return what can take the next step: backends and events."""
        numbers = [n for n, p in self.live.items() if p.runnable()]
        if not numbers and self.live:
            raise Wrong(f"deadlock: {[(p.b.name, p.wait) for p in self.live.values()]}")
        for number, (kind, *args) in self.events.items():
            if kind == "replay" and self.standby.at < len(self.standby.wal) or kind == "crash" or \
                    kind == "cancel" and args[0] in self.live and not self.live[args[0]].b.critical:
                numbers.append(number)
        return numbers

    def step(self, number):
        if number in self.events:
            return self.happen(number, *self.events[number])
        process = self.live[number]
        try:
            step = next(process.steps)
        except (StopIteration, Failure) as end:
            del self.live[number]
            self.end(process)
            return "ends" if isinstance(end, StopIteration) else f"fails: {end}"
        process.wait = step if isinstance(step, Wait) else None
        if process.wait:
            self.check_wait(process)
            return f"waits for lock {step.lock}"
        return step

    def happen(self, number, kind, *args):
        if kind == "replay":
            return f"replays {self.standby.replay()}"
        del self.events[number]
        if kind == "cancel":
            self.cancel(args[0])
            return f"backend {args[0]} is cancelled"
        for victim in [n for n, p in self.live.items() if p.on_primary]:
            self.live.pop(victim).steps.close()
        self.primary.crash(*args)
        return "the server crashes"

    def cancel(self, victim):
        process = self.live.pop(victim)
        process.steps.close()
        self.end(process)

    def check_wait(self, process):
        """Check that no backend waits, other than politely, for a lock that VACUUM holds: after deadlock_timeout it
        would cancel an autovacuum. Also check that no backend waits for itself.
        """
        w, (lock, shared, polite) = process.b.w, process.wait
        holders = w.blockers(process.b, lock, shared)
        if lock in ("merge", "flush") and not polite and process.b.kind != "vacuum" and any(b.kind == "vacuum" for b in holders):
            raise Wrong(f"{process.b.name} waits for the {lock} lock of VACUUM, and would cancel it")
        waits = {p.b: p.wait for p in self.live.values() if p.wait}
        todo, seen = holders, set()
        while todo:
            holder = todo.pop()
            if holder is process.b:
                raise Wrong(f"deadlock: {process.b.name} waits for lock {lock}, which waits for him")
            if holder in waits and holder not in seen:
                todo += w.blockers(holder, waits[holder].lock, waits[holder].shared)
            seen.add(holder)

    def run_together(self, choose):
        self.begin(self.scenario.concurrent, 0)
        after = self.scenario.after
        while True:
            if after and not any(p.on_primary for p in self.live.values()):
                self.begin(after, len(self.scenario.concurrent))
                after = ()
            numbers = self.runnable()
            if not self.live or (number := choose(numbers, self.trace)) is None:
                return
            self.trace.append((number, "WRONG"))
            self.trace[-1] = number, self.step(number)

    # ---- the end

    def finish(self):
        """Check that, whatever has happened, one clean-up leaves no page of an earlier attempt, that VACUUM leaves
        no lost page at all, and that every row is found once.
        """
        primary = self.primary
        for number in list(self.live):
            self.cancel(number)
        primary.poisoned = False
        self.run_alone("merge")
        invariants.check_owned(primary)
        for _ in range(3):
            primary.pass_xid()
            xid = primary.next_xid
            self.run_alone("vacuum")
        invariants.check_accounted(primary, xid)
        self.replay_all()
        for side in ("primary", "standby"):
            for kind in ("bitmap", "aggregate"):
                self.run_alone("query", side, kind)


def run(scenario, broken, choose, seen):
    """Run a history: (trace, error or None)."""
    history = History(scenario, broken, seen)
    try:
        for spec in scenario.before:
            history.run_alone(*spec)
        history.replay_all()
        history.run_together(choose)
        history.trace.append((-1, "clean-up"))
        history.finish()
    except Wrong as error:
        return history.trace, str(error)
    return history.trace, None
