"""The proof from a local storm's history, in addition to checker.py: a lease may be revoked here, and it may have a TTL.

When does a holder surely hold? From the return of its claim up to its last sure sign: the beginning of a verification, a
renewal or a release that succeeded. For one that was killed, or left without giving back, up to that, where nobody tried
to revoke the lease; and never beyond a TTL."""

import collections

import checker

REFUSALS = checker.REFUSALS
FAILURES = checker.FAILURES
SPARED = {"epoch_changed", "not_held", "section_busy"}
MILLISECOND = 1_000_000
NO_TTL = 1 << 62


class Event(checker.Event):
    def __init__(self, line):
        super().__init__(line)
        words = line.split()
        if self.event in ("failed", "spared"):
            self.epoch, self.wait_ms = int(words[6]), None
        elif self.detail.isdigit():
            self.epoch = int(self.detail)
        if self.event == "waiting":
            self.wait_ms = int(self.detail)
        self.ttl_ms = int(words[7]) if self.event == "granted" else 0


def read(text):
    return [Event(line) for line in text.splitlines() if line]


class Holding(checker.Holding):
    def __init__(self, grant):
        super().__init__(grant)
        self.ttl = grant.ttl_ms * MILLISECOND or NO_TTL
        self.limit = grant.before + self.ttl
        self.left = None
        self.events = []


def holdings_of(events):
    """By key. Of each (process, serial) the events of its lease follow upon the grant."""
    holdings = collections.defaultdict(list)
    current = {}
    for event in sorted(events, key=lambda each: (each.serial, each.after)):
        who = (event.serial, event.pid)
        if event.event == "granted":
            current[who] = Holding(event)
            holdings[event.key].append(current[who])
        elif event.event in ("inside", "renewed", "releasing", "released", "leaving", "lost", "failed"):
            if who in current and current[who].epoch == event.epoch:
                current[who].events.append(event)
    return holdings


def settle(holding, account, revoked, finish):
    """Sets when it surely ended, and no earlier."""
    for event in holding.events:
        if event.event in ("inside", "renewed", "released"):
            holding.last_sign = max(holding.last_sign, event.before)
        if event.event == "renewed":
            holding.limit = event.before + holding.ttl
        if event.event == "leaving":
            holding.left = event.before
    given_back = any(each.event in ("releasing", "lost", "failed") for each in holding.events)
    holding.end = holding.last_sign
    if given_back or holding.epoch in revoked:
        return
    ends = [holding.left, account.killed.get(holding.grant.serial, finish)]
    holding.end = max(holding.end, min([each for each in ends if each is not None] + [holding.limit]))


def may_be_taken(holding, revoked):
    return holding.ttl != NO_TTL or holding.epoch in revoked


def losses(holding, revoked):
    if holding.epoch in revoked:
        return []
    found = []
    for event in holding.events:
        past = holding.ttl != NO_TTL
        if event.event == "lost" and not past:
            found.append(f"lost, though nobody may take it from the living: {event.line!r}")
        if event.event == "failed" and event.detail not in FAILURES and not past:
            found.append(f"failed: {event.line!r}")
    return found


def unexpected(events):
    found = []
    for event in events:
        if event.event == "refused" and event.detail not in REFUSALS:
            found.append(f"refused for no good reason: {event.line!r}")
        elif event.event == "failed" and event.detail not in FAILURES | {"lost", "expired", "not_held"}:
            found.append(f"failed: {event.line!r}")
        elif event.event == "spared" and event.detail not in SPARED:
            found.append(f"not revoked: {event.line!r}")
        elif event.event == "child" and event.detail != "wrong_process":
            found.append(f"a child used the lease of its parent: {event.line!r}")
    return found


def shared_epochs(holdings):
    """One counter serves all keys: each epoch is given out once, whatever the key, the boot and the table."""
    found = []
    seen = {}
    for holding in holdings:
        other = seen.setdefault(holding.epoch, holding)
        if other.grant.key != holding.grant.key:
            found.append(f"epoch {holding.epoch} of two keys: {other.grant.line!r} and {holding.grant.line!r}")
    return found


def violations(events, account, keys, floor, finish):
    revoked = {event.epoch for event in events if event.event == "revoking"}
    found = unexpected(events) + checker.bounded(events, account)
    every = []
    holdings = holdings_of(events)
    for key in keys:
        for holding in holdings[key]:
            settle(holding, account, revoked, finish)
            found += losses(holding, revoked)
        # One that was taken away may have been over before its claim even returned, if its holder was stopped.
        sure = [each for each in holdings[key] if each.end > each.begin or not may_be_taken(each, revoked)]
        found += checker.overlaps(sure) + checker.epoch_faults(holdings[key])
        every += holdings[key]
        if len(holdings[key]) < floor:
            found.append(f"{key} was granted only {len(holdings[key])} times, and {floor} is the least")
    return found + shared_epochs(every)
