"""Looks for lost wake-ups in a local space while a storm goes on: a live waiter that was not stopped, and yet does nothing
about a key that is nobody's when it looks again, though nobody who is stopped keeps the key's bucket.

A waiter writes into its place in line when it looks again at the latest (node_field::kAsleepUntil in layout.h). So its
bound is known exactly: what it wrote when the key came free, or the first that it wrote after that.

Knows the table by its format alone, and of the processes what the director did to them."""

SECOND = 1_000_000_000
SLACK = 2 * SECOND  # of a machine with many more processes than cores
IN_A_SECTION = 5 * SECOND  # others look at its owner each 5 ms
# A grantee that is stopped is passed over at the second bound of a waiter, who may just have looked; one whose state its
# waiter cannot see, because it is in another pid namespace, at the first one past this, doubled with the place in line.
PATIENCE, DOUBLINGS = SECOND // 2, 7


class Witness:
    """A waiter beside a key that it may have, as of a moment at which it was running."""

    def __init__(self, now):
        self.since = self.deadline = now
        self.until = 0
        self.sleeps = 0

    def see(self, until, patient_until):
        """patient_until: None where it has no cause for patience."""
        patient = patient_until is not None and (self.sleeps < 2 or self.deadline < patient_until)
        if until != self.until and (self.sleeps == 0 or patient):
            self.until = until
            self.deadline = max(until, self.since)
            self.sleeps += 1


class Stall:
    """A key that may be taken, and that nothing was done about."""

    def __init__(self, sign, since):
        self.sign, self.since, self.looked = sign, since, since
        self.witnesses = {}  # node: Witness
        self.stopped_grantee = False


class Watch:
    def __init__(self, was_stopped):
        """was_stopped(pid, pid namespace, since, until): whether it was, for a moment at least. None: nobody knows it."""
        self.was_stopped = was_stopped
        self.stalls = {}
        self.faults = []
        self.latest = 0
        self.looks = 0

    def look(self, table, clock):
        """`clock`: gives CLOCK_MONOTONIC in nanoseconds."""
        present = set()
        for index in table.slots():
            present.add(index)
            slot = table.read(index)
            self.looks += 1
            if slot is None:
                self.stalls.pop(index, None)
            elif isinstance(slot, tuple):
                self.see_inside(table, index, slot, clock())
            elif self.in_use(table, slot, clock()):
                self.stalls.pop(index, None)
            else:
                self.see_idle(table, slot, clock())
        for index in set(self.stalls) - present:
            del self.stalls[index]

    def stall(self, index, sign, now):
        found = self.stalls.get(index)
        if found is None or found.sign != sign:
            found = self.stalls[index] = Stall(sign, now)
        return found

    def stopped(self, table, member, since, until):
        who = table.who(member) if member is not None else None
        return who is None or self.was_stopped(*who, since, until) is not False

    def see_inside(self, table, index, sign, now):
        stall = self.stall(index, ("inside", *sign), now)
        if self.stopped(table, table.member_in_lock(sign[0]), stall.since, now):
            stall.since = now
        self.judge(index, f"somebody is inside its bucket, word {sign[0]:x}", now - stall.since - IN_A_SECTION)

    def in_use(self, table, slot, now):
        if not slot.held or not table.lives(slot.member):
            return False
        lapsed = slot.ttl and now > slot.extended + slot.ttl and slot.guard == 0
        return not lapsed

    def see_idle(self, table, slot, now):
        grantee = next((node for node in slot.line if node.index == slot.grantee), None)
        if grantee is not None and grantee.has_grace(now):
            self.stalls.pop(slot.index, None)
            return
        stall = self.stall(slot.index, (slot.word, slot.epoch, slot.grantee), now)
        if slot.inside and self.stopped(table, table.member_in_lock(slot.inside), stall.looked, now):
            stall.witnesses = {}
        stall.looked = now
        if grantee is not None and self.stopped(table, grantee.member, stall.since, now):
            stall.stopped_grantee = True
        seen = {}
        for place, node in enumerate(slot.line):
            if not node.waits() or not table.lives(node.member):
                continue
            name = (node.index, node.word, node.arrival)
            witness = stall.witnesses.get(name) or Witness(now)
            if self.stopped(table, node.member, witness.since, now):
                witness = Witness(now)
            patience = PATIENCE << min(place, DOUBLINGS)
            witness.see(node.asleep_until, grantee.offered_at + patience if stall.stopped_grantee else None)
            seen[name] = witness
        stall.witnesses = seen
        for place, (name, witness) in enumerate(seen.items()):
            state = "held by the dead, or past its TTL" if slot.held else f"offered to {slot.grantee}"
            what = f"{slot.key!r}, {state}, epoch {slot.epoch}, and node {name[0]}, waiter {place}, did not look"
            self.judge(slot.index, what, now - witness.deadline)

    def judge(self, index, what, late):
        self.latest = max(self.latest, late)
        if late > SLACK:
            self.faults.append(f"a lost wake-up: slot {index}, {late / SECOND:.1f} s late: {what}")
            self.stalls.pop(index, None)
