"""Search of schedules: random and exhaustive histories, and the shortest form of a counterexample.

run(scenario, choose) runs one history and returns (trace, error). trace is a list of (backend, step).
choose(backends that can take a step, trace so far) returns the backend that takes the next step, or None to end the
history.
"""
LONGEST = 1000


def random_choice(rng):
    """Choose runs of steps of one backend, some of them long, because most counterexamples need few switches."""
    queue = []

    def choose(live, trace):
        if not queue or queue[-1] not in live:
            queue[:] = [rng.choice(live)] * rng.choice((1, 1, 2, 3, 5, 8, 20, 40, 150))
        return queue.pop() if len(trace) < LONGEST else None
    return choose


def forced_choice(forced):
    """Let each backend in turn run until it ends or waits, except for forced switches: {step: backend}."""
    current = [0]

    def choose(live, trace):
        current[0] = forced.get(len(trace), current[0])
        if current[0] not in live:
            current[0] = min(live)
        return current[0] if len(trace) < LONGEST else None
    return choose


def scripted_choice(script):
    """Follow a script of (backend, text): the backend runs until a step contains the text; with None, until it ends
    or waits. Then the others run until they end.
    """
    todo = list(script)

    def choose(live, trace):
        while todo:
            backend, text = todo[0]
            begun = trace and trace[-1][0] == backend and choose.at == len(todo)
            if backend in live and not (begun and text and text in str(trace[-1][1])):
                choose.at = len(todo)
                return backend
            todo.pop(0)
        return min(live) if len(trace) < LONGEST else None
    choose.at = None
    return choose


def replay(run, scenario, schedule):
    """Follow a schedule, skipping backends that cannot take a step."""
    steps = iter(schedule)
    return run(scenario, lambda live, _: next((p for p in steps if p in live), None))


def exhaustive(run, scenario, switches):
    """Run every schedule with at most that many forced switches."""
    todo = [{}]
    for forced in todo:
        trace, error = run(scenario, forced_choice(forced))
        yield scenario, trace, error
        for at in range(max(forced, default=-1) + 1, len(trace) if len(forced) < switches else 0):
            todo += [{**forced, at: p} for p in range(len(scenario.concurrent)) if p != trace[at][0]]


def shrink(run, scenario, trace, tries=4000):
    """Remove steps of backends, and what ran before, as long as the counterexample remains: (scenario, schedule)."""
    best, order = scenario, [p for p, _ in trace if p >= 0]
    while tries > 0:
        smaller = [(best._replace(before=best.before[:i] + best.before[i + 1:]), order) for i in range(len(best.before))]
        smaller += [(best, order[:i] + order[i + n:]) for n in (32, 8, 4, 2, 1) for i in range(0, len(order), max(1, n // 2))]
        for candidate, steps in smaller:
            tries -= 1
            trace, error = replay(run, candidate, steps)
            taken = [p for p, _ in trace if p >= 0]
            if error and (len(taken), len(candidate.before)) < (len(order), len(best.before)):
                best, order = candidate, taken
                break
        else:
            break
    return best, order


def show(run, scenario, schedule):
    print("before:", *(" ".join(map(str, s)) for s in scenario.before), sep="\n  ")
    trace, error = replay(run, scenario, schedule)
    specs = [*scenario.concurrent, *scenario.after]
    print("then:", *(f"{p} {specs[p][0]:<7} {step}" if p >= 0 else step for p, step in trace), sep="\n  ")
    print("WRONG:", error)
