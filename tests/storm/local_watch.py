"""Looks for lost wake-ups in a local space while a storm goes on: a live waiter that was not stopped, and yet sleeps for
longer than its bound while its key is nobody's and nobody who is stopped keeps the key's bucket.

Knows the table by its format alone, and of the processes what the director did to them."""

SECOND = 1_000_000_000
FIRST_BOUND = SECOND // 4
DOUBLINGS, QUIET_DOUBLINGS = 7, 3
SLACK = 3 * SECOND  # of a machine with many more processes than cores
IN_A_SECTION = 4 * SECOND  # others look at its owner each 5 ms
# A grantee that is stopped is passed over at the next bound of a waiter, who may just have looked.
BOUNDS_WITH_A_STOPPED_GRANTEE = 2


def bound_at(place):
    return FIRST_BOUND << min(place + QUIET_DOUBLINGS, DOUBLINGS)


class Witness:
    def __init__(self, since, place):
        self.since, self.place = since, place


class Stall:
    """A key that may be taken, and that nothing was done about."""

    def __init__(self, sign, since):
        self.sign, self.since = sign, since
        self.witnesses = {}  # node: Witness
        self.stopped_grantee = False


class Watch:
    def __init__(self, was_stopped):
        """was_stopped(pid, pid namespace, since, until): whether it was, for a moment at least. None: nobody knows it."""
        self.was_stopped = was_stopped
        self.stalls = {}
        self.faults = []
        self.longest = 0
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
        self.judge(index, f"somebody is inside its bucket, word {sign[0]:x}", now - stall.since, IN_A_SECTION)

    def in_use(self, table, slot, now):
        if not slot.held or not table.lives(slot.member):
            return False
        lapsed = slot.ttl and now > slot.extended + slot.ttl and slot.guard == 0
        return not lapsed

    def see_idle(self, table, slot, now):
        stall = self.stall(slot.index, (slot.word, slot.epoch, slot.grantee), now)
        seen = {}
        for place, node in enumerate(slot.line):
            if node.index == slot.grantee and self.stopped(table, node.member, stall.since, now):
                stall.stopped_grantee = True
            if not node.waits() or not table.lives(node.member):
                continue
            name = (node.index, node.word, node.arrival)
            witness = stall.witnesses.get(name) or Witness(now, place)
            witness.place = max(witness.place, place)
            if self.stopped(table, node.member, witness.since, now):
                witness.since = now
            seen[name] = witness
        stall.witnesses = seen
        for name, witness in seen.items():
            bounds = BOUNDS_WITH_A_STOPPED_GRANTEE if stall.stopped_grantee else 1
            state = "held by the dead, or past its TTL" if slot.held else f"offered to {slot.grantee}"
            what = f"{slot.key!r}, {state}, epoch {slot.epoch}, and node {name[0]} at place {witness.place} sleeps"
            self.judge(slot.index, what, now - witness.since, bounds * bound_at(witness.place))

    def judge(self, index, what, lasted, bound):
        self.longest = max(self.longest, lasted)
        if lasted > bound + SLACK:
            self.faults.append(f"a lost wake-up: slot {index} for {lasted / SECOND:.1f} s: {what}")
            self.stalls.pop(index, None)
