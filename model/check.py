#!/usr/bin/env python3
"""Check the protocol: no history may go wrong, and each mutation must be refuted.

Usage: check.py [--seconds N] [--find SECONDS] [--show NAME] [--history 'FAMILY NUMBER'] [--switches N]
"""
import argparse
import random
import re
import sys
import time
from collections import Counter
from pathlib import Path

import explore
import history
import scenarios
from mutations import MUTATIONS


def one_history(family, number, broken, seen):
    """Run the history with a family and a number, which is always the same: (scenario, trace, error)."""
    if family in scenarios.SCRIPTS:
        scenario, script = scenarios.SCRIPTS[family]
        return scenario, *history.run(scenario, broken, explore.scripted_choice(script), seen)
    rng = random.Random(f"{family} {number}")
    scenario = scenarios.FAMILIES[family](rng)
    return scenario, *history.run(scenario, broken, explore.random_choice(rng), seen)


# ---------------------------------------------------------------- the protocol

def scripted_histories(seen):
    for name in scenarios.SCRIPTS:
        yield f"{name} 0", one_history(name, 0, None, seen)


def exhaustive_histories(switches, seen):
    def run(scenario, choose):
        return history.run(scenario, None, choose, seen)
    for nth, scenario in enumerate(scenarios.SMALL):
        for number, (_, trace, error) in enumerate(explore.exhaustive(run, scenario, switches)):
            yield f"small {nth} {number}", (scenario, trace, error)


def random_histories(first, seen):
    number = first
    while True:
        for family in scenarios.FAMILIES:
            yield f"{family} {number}", one_history(family, number, None, seen)
        number += 1


def check_protocol(args):
    """Check histories of the protocol as it is. Returns whether all went right."""
    seen, deadline, count = Counter(), time.monotonic() + args.seconds, 0
    sources = [scripted_histories(seen), exhaustive_histories(args.switches, seen), random_histories(args.first, seen)]
    for source in sources:
        for name, (scenario, trace, error) in source:
            count += 1
            if error:
                print(f"history '{name}': {error}")
                show_shortest(scenario, trace, None)
                return False
            if time.monotonic() > deadline:
                break
    print(f"histories: {count} passed, 0 failed ({', '.join(f'{k}: {n}' for k, n in sorted(seen.items()))})")
    return True


def show_shortest(scenario, trace, broken):
    def run(scenario, choose):
        return history.run(scenario, broken, choose, Counter())
    explore.show(run, *explore.shrink(run, scenario, trace))


# ---------------------------------------------------------------- mutations

def refutation(name, seconds):
    """Find a history that refutes a mutation: (number, scenario, trace, error). The known history is tried first."""
    mutation, deadline, tried = MUTATIONS[name], time.monotonic() + seconds, 0
    number = mutation.number
    while tried == 0 or time.monotonic() < deadline and mutation.family in scenarios.FAMILIES:
        scenario, trace, error = one_history(mutation.family, number, name, Counter())
        if error:
            return number, scenario, trace, error
        tried += 1
        number = tried
    return None


def check_mutations(seconds):
    """Check that each mutation is refuted. Returns whether all were."""
    missed = []
    for name, mutation in MUTATIONS.items():
        found = refutation(name, seconds)
        if found is None:
            missed.append(name)
            print(f"mutation {name} is not refuted: {mutation.what}")
        elif found[0] != mutation.number:
            print(f"mutation {name} is refuted by history '{mutation.family} {found[0]}' by now: {found[3]}")
    print(f"mutations: {len(MUTATIONS) - len(missed)} passed, {len(missed)} failed")
    return not missed


def check_names():
    """Check that each mutation's name occurs in the model, and no others do."""
    asked = set()
    for path in Path(__file__).parent.glob("*.py"):
        for group in re.findall(r'broken (?:==|!=|in|not in) (\("[^)]*\)|"[^"]*")', path.read_text(encoding="utf-8")):
            asked.update(re.findall(r'"([^"]*)"', group))
    wrong = asked.symmetric_difference(MUTATIONS) - {"..."}
    if wrong:
        print(f"mutations that are not listed, or not asked for: {', '.join(sorted(wrong))}")
    return not wrong


# ---------------------------------------------------------------- a single mutation or history

def show_mutation(name):
    print(MUTATIONS[name].what)
    if (found := refutation(name, 60)) is None:
        print("not refuted")
        return False
    show_shortest(found[1], found[2], name)
    return True


def show_history(name):
    family, number = name.rsplit(" ", 1)
    scenario, trace, error = one_history(family, number, None, Counter())
    if error:
        show_shortest(scenario, trace, None)
    else:
        explore.show(lambda scenario, choose: history.run(scenario, None, choose, Counter()), scenario, [p for p, _ in trace])
    return not error


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    p.add_argument("--seconds", type=float, default=60, help="explore the protocol for so long (60)")
    p.add_argument("--first", type=int, default=1, help="begin with random histories of this number (1)")
    p.add_argument("--switches", type=int, default=1, help="forced switches in the exhaustive part (1)")
    p.add_argument("--find", type=float, default=3, metavar="SECONDS",
                   help="look so long for a refutation where the known one does not refute any more (3)")
    p.add_argument("--show", choices=MUTATIONS, metavar="MUTATION", help="show the shortest history that refutes a mutation")
    p.add_argument("--history", metavar="'FAMILY NUMBER'", help="show a history of the protocol")
    args = p.parse_args()
    if args.show:
        return show_mutation(args.show)
    if args.history:
        return show_history(args.history)
    passed = [check_names(), check_mutations(args.find), check_protocol(args)]
    print(f"model: {sum(passed)} passed, {len(passed) - sum(passed)} failed")
    return all(passed)


if __name__ == "__main__":
    sys.exit(not main())
