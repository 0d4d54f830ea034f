"""The proof from a storm's history: who held what when, and under which epoch. Knows nothing of the engine.

It is given the events of the workers (worker.cc says what they look like), the director's account of the processes
(when it sent SIGKILL, when it stopped and continued whom), and the names left in the folder; it answers with a list of
violations, empty when all is well.

When does a holder surely hold? From the return of its claim, up to the last sure sign: its own `releasing`, `leaving`
or `lost`; for a killed one the moment before the signal was sent, or a later event of its own. Only what surely is a
double grant is called one: each bound is taken on the safe side, and both clocks are one clock.
"""

import bisect
import re

# What a claim may be refused with: another has it, the wait was given up, or somebody stopped is inside the section.
REFUSALS = {"held", "timed_out", "cancelled", "section_busy"}
# What a verification or a release may say when a stopped process keeps the section for longer than its bound.
FAILURES = {"section_busy", "unknown_outcome"}
# Beyond what was asked for, and beyond the time for which the worker itself stood still: the bound of the section (10 s)
# and the slowness of a busy machine.
SLACK = 30_000_000_000
KEPT = re.compile(r"\.(lock|epoch|life|seen)$")


class Event:
    def __init__(self, line):
        words = line.split()
        self.before, self.after = int(words[0]), int(words[1])
        self.pid, self.serial = (int(word) for word in words[2].split("."))
        self.key, self.event, self.detail = words[3], words[4], words[5]
        self.wait_ms = int(words[6]) if len(words) > 6 else None
        self.line = line


class Account:
    """The director's: by serial number of the worker."""

    def __init__(self):
        self.killed = {}  # serial: just before the signal was sent
        self.stopped = {}  # serial: [(from, to), …]

    def still(self, serial, begin, end):
        """For how long the worker was stopped between the two."""
        return sum(max(0, min(end, to) - max(begin, since)) for since, to in self.stopped.get(serial, ()))


class Holding:
    def __init__(self, grant):
        self.grant = grant
        self.epoch = int(grant.detail)
        self.begin = grant.after
        self.end = None
        self.last_sign = grant.after


def read(text):
    """Every line was written whole; the last may lack its end when its writer was killed before the kernel took it."""
    return [Event(line) for line in text.splitlines() if line]


def holdings_of(events, account, finish):
    holdings = []
    current = {}  # (pid, serial): what it holds
    for event in sorted(events, key=lambda each: (each.serial, each.after)):
        who = (event.pid, event.serial)
        if event.event == "granted":
            current[who] = Holding(event)
            holdings.append(current[who])
        elif who in current and current[who].grant.key == event.key:
            holding = current[who]
            if event.event == "inside":
                holding.last_sign = event.before
            elif event.event in ("releasing", "leaving", "lost"):
                holding.end = event.before
                del current[who]
    for holding in holdings:
        if holding.end is None:
            killed = account.killed.get(holding.grant.serial, finish)
            holding.end = max(holding.last_sign, killed)
    return holdings


def overlaps(holdings):
    found = []
    latest = None
    for holding in sorted(holdings, key=lambda each: each.begin):
        if latest is not None and holding.begin < latest.end:
            found.append(f"two holders at once: {latest.grant.line!r}, surely until {latest.end}, and {holding.grant.line!r}")
        if latest is None or holding.end > latest.end:
            latest = holding
    return found


def epoch_faults(holdings):
    """Epochs rise in the order of the grants: one that began after another had returned has a greater one."""
    found = []
    seen = {}
    for holding in holdings:
        if holding.epoch in seen:
            found.append(f"epoch {holding.epoch} twice: {seen[holding.epoch].grant.line!r} and {holding.grant.line!r}")
        seen[holding.epoch] = holding
    returned = sorted(holdings, key=lambda each: each.begin)
    times = [each.begin for each in returned]
    highest = []
    for holding in returned:
        highest.append(holding if not highest or holding.epoch > highest[-1].epoch else highest[-1])
    for holding in holdings:
        number = bisect.bisect_left(times, holding.grant.before)
        if number and highest[number - 1].epoch >= holding.epoch and highest[number - 1] is not holding:
            found.append(f"a falling epoch: {highest[number - 1].grant.line!r}, then {holding.grant.line!r}")
    return found


def bounded(events, account):
    found = []
    for event in events:
        took = event.after - event.before - account.still(event.serial, event.before, event.after)
        if took > (event.wait_ms or 0) * 1_000_000 + SLACK:
            found.append(f"it took {took / 1e9:.1f} s: {event.line!r}")
    return found


def unexpected(events):
    found = []
    for event in events:
        if event.event == "lost":
            found.append(f"lost, though nobody may take it from the living: {event.line!r}")
        elif event.event == "refused" and event.detail not in REFUSALS:
            found.append(f"refused for no good reason: {event.line!r}")
        elif event.event == "failed" and event.detail not in FAILURES:
            found.append(f"failed: {event.line!r}")
    return found


def left_over(names):
    return [f"left in the folder: {name}" for name in names if not KEPT.search(name)]


def violations(events, account, keys, floor, names, finish):
    found = unexpected(events) + bounded(events, account) + left_over(names)
    for key in keys:
        holdings = holdings_of([event for event in events if event.key == key], account, finish)
        found += overlaps(holdings) + epoch_faults(holdings)
        if len(holdings) < floor:
            found.append(f"{key} was granted only {len(holdings)} times, and {floor} is the least")
    return found
