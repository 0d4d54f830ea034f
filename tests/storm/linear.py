"""Is a history of one lock linearizable against a naive one? After Wing and Gong, with Lowe's memory of what was tried.

The naive lock is free, or held under an epoch that is higher than all before. An operation takes effect at one instant
between its invocation and its response:

    granted E    free, E above every epoch so far: held under E
    refused      held by anybody: nothing
    released E   held under E: free                  (a release, a revocation)
    inside E     held under E: nothing
    outside E    not held under E: nothing

One whose response is missing may take effect at any time after its invocation, or never."""

import collections

Operation = collections.namedtuple("Operation", "begin end kind epoch line")
NEVER = 1 << 70
READS = {"refused", "inside", "outside"}


def step(state, operation):
    """The state after it; None: it cannot take effect in this one. A state: (epoch held under or 0, highest)."""
    held, highest = state
    kind, epoch = operation.kind, operation.epoch
    if kind == "granted":
        return (epoch, epoch) if held == 0 and epoch > highest else None
    if kind == "released":
        return (0, highest) if held == epoch else None
    if kind == "refused":
        return state if held != 0 else None
    if kind == "inside":
        return state if held == epoch else None
    if kind == "outside":
        return state if held != epoch else None
    raise ValueError(f"no such operation: {kind}")


def candidates(operations, first, done):
    """Those that may take effect next: no other that has not is over before they begin."""
    earliest = NEVER
    found = []
    for number in range(first, len(operations)):
        operation = operations[number]
        if operation.begin > earliest:
            break
        if number in done:
            continue
        found.append(number)
        earliest = min(earliest, operation.end)
    return [number for number in found if operations[number].begin <= earliest]


def advance(first, done, number):
    done = done | {number}
    while first in done:
        done = done - {first}
        first += 1
    return first, done


def fault_in(operations):
    """None: it is linearizable. Else what stands at the farthest point that any order reaches."""
    operations = sorted(operations, key=lambda each: (each.begin, each.end))
    tried = set()
    stack = [(0, frozenset(), (0, 0))]
    farthest = (-1, None)
    while stack:
        node = stack.pop()
        if node in tried:
            continue
        tried.add(node)
        first, done, state = node
        if all(operations[number].end == NEVER for number in range(first, len(operations)) if number not in done):
            return None
        if first + len(done) > farthest[0]:
            farthest = (first + len(done), node)
        next_ones = []
        for number in candidates(operations, first, done):
            after = step(state, operations[number])
            if after is None:
                continue
            following = (*advance(first, done, number), after)
            if operations[number].kind in READS:
                # What only looks may as well look now: every order that goes on without it goes on with it.
                next_ones = [following]
                break
            next_ones.append(following)
        # The lowest epoch is tried first: of a good history it is the right one.
        stack.extend(sorted(next_ones, key=lambda each: -each[2][1]))
    first, done, state = farthest[1]
    lines = [operations[number].line for number in candidates(operations, first, done)]
    return f"not linearizable: with the lock {'held under ' + str(state[0]) if state[0] else 'free'} none fits of {lines[:8]}"


OUTSIDE = {"lost", "not_held", "epoch_changed"}


def operations_of(events):
    """By key, of the events of calm workers."""
    by_key = collections.defaultdict(list)
    begun = {}  # (serial, pid): a release or a revocation whose outcome is not told yet

    def add(event, kind, epoch=0):
        by_key[event.key].append(Operation(event.before, event.after, kind, epoch, event.line))

    def unknown(event):
        by_key[event.key].append(Operation(event.before, NEVER, "released", event.epoch, event.line))

    for event in sorted(events, key=lambda each: each.after):
        who = (event.serial, event.pid)
        if event.event == "granted":
            add(event, "granted", event.epoch)
        elif event.event == "refused" and event.detail in ("held", "timed_out"):
            add(event, "refused")
        elif event.event == "inside":
            add(event, "inside", event.epoch)
        elif event.event in ("releasing", "revoking"):
            begun[who] = event
        elif event.event in ("released", "revoked"):
            begun.pop(who, None)
            add(event, "released", event.epoch)
        elif event.event in ("failed", "spared", "lost"):
            asked = begun.pop(who, None)
            if event.event == "lost" or event.detail in OUTSIDE:
                add(event, "outside", event.epoch)
            elif asked is not None:
                unknown(asked)
    for event in begun.values():
        unknown(event)
    for operations in by_key.values():
        operations += taken_back(operations)
    return by_key


def taken_back(operations):
    """A key that was handed to a waiter, and revoked before the waiter knew: it had it, and its claim goes on waiting."""
    granted = sorted((each for each in operations if each.kind == "granted"), key=lambda each: each.epoch)
    known = {each.epoch for each in granted}
    found = []
    for operation in operations:
        if operation.kind != "released" or operation.end == NEVER or operation.epoch in known:
            continue
        before = [each.begin for each in granted if each.epoch < operation.epoch]
        found.append(operation._replace(begin=before[-1] if before else 0, kind="granted"))
    return found


def violations(events):
    found = []
    for key, operations in sorted(operations_of(events).items()):
        fault = fault_in(operations)
        if fault is not None:
            found.append(f"{key}: {fault}")
    return found
