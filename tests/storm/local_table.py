"""The table of a local space, read from outside: by its format alone (src/engine/local/layout.h), with no code of the
engine. For a checker that looks on while others run."""

import fcntl
import mmap
import os
import struct

F_OFD_GETLK = 36
MAGIC = 0x0165_7275_6E65_7489
FORMAT = 3
BOOT_ID = slice(16, 56)
EPOCH = 128
READY_CELLS = 264
PAGE, ROW, BUCKET, EVENT, CELL = 4096, 1024, 64, 64, 192
SLOT, NODE = 2, 3  # kinds
HELD, OFFERED = 1, 2  # states of a slot
SLEEPERS = 0x8000_0000
ABSENT, ABANDONED = 8, 16  # flags of a node
MOST_IN_LINE = 200


def paged(size):
    return (size + PAGE - 1) // PAGE * PAGE


class Member(tuple):
    """Number and generation."""

    @property
    def number(self):
        return self[0]


class Node:
    def __init__(self, index, word, body):
        self.index, self.word = index, word
        self.member = member_of(word)
        self.arrival = body[0]
        self.flags = body[9] >> 32 & 0xFFFF
        self.grace_end = body[7] + body[6]
        self.offered_at = body[8]
        self.asleep_until = body[11]

    def waits(self):
        return self.flags & (ABSENT | ABANDONED) == 0

    def has_grace(self, now):
        return self.flags & ABSENT != 0 and now < self.grace_end


class Slot:
    def __init__(self, index, word, body, key):
        self.index, self.word, self.key = index, word, key
        self.member = member_of(word)
        self.held = word >> 48 & 0xFF == HELD
        self.epoch = body[0]
        self.ttl, self.extended = body[4], body[5]
        self.guard = body[7]
        self.grantee = body[8] >> 32
        self.inside = 0  # the lock word of its bucket
        self.line = []


def member_of(word):
    return Member((word >> 32 & 0xFFFF, word & 0xFFFF_FFFF))


class Table:
    def __init__(self, folder):
        self.folder = folder
        self.lock = os.open(os.path.join(folder, "lock"), os.O_RDONLY | os.O_CLOEXEC)
        with open(os.path.join(folder, "table"), "rb") as file:
            self.identity = os.fstat(file.fileno())
            self.memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        magic, form, size = struct.unpack_from("<QII", self.memory, 0)
        if (magic, form, size) != (MAGIC, FORMAT, PAGE):
            raise ValueError(f"a table of another format: {magic:x} {form} {size}")
        self.members, self.bucket_count, self.cell_count, _, events = struct.unpack_from("<5I", self.memory, 88)
        self.states = PAGE
        self.rows = self.states + paged(self.members * 8)
        bitmap = self.rows + paged(self.members * ROW)
        self.buckets = bitmap + paged((self.cell_count + 64) // 64 * 8)
        events_at = self.buckets + paged(self.bucket_count * BUCKET)
        self.cells = events_at + paged(events * EVENT)
        self.words = memoryview(self.memory).cast("Q")
        self.halves = memoryview(self.memory).cast("I")

    def close(self):
        self.words.release()
        self.halves.release()
        self.memory.close()
        os.close(self.lock)

    def epoch(self):
        return self.words[EPOCH // 8]

    def who(self, member):
        """Its pid in its own pid namespace, and that namespace; None: the number is another's by now."""
        if self.words[self.states // 8 + member.number] >> 8 != member[1]:
            return None
        row = (self.rows + member.number * ROW) // 8
        return self.words[row + 1], self.words[row + 3]

    def byte_is_locked(self, number):
        asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, number, 1, 0)
        answer = fcntl.fcntl(self.lock, F_OFD_GETLK, asked)
        return struct.unpack("hhqqi4x", answer)[0] != fcntl.F_UNLCK

    def lives(self, member):
        if member[1] == 0:
            return False
        locked = self.byte_is_locked(member.number)
        return locked and self.who(member) is not None

    def body(self, index):
        at = (self.cells + index * CELL) // 8
        return self.words[at], self.words[at + 3 : at + 24].tolist()

    def link(self, index, field):
        """Of a cell: 0 next, 1 home, 2 futex, 3 owner."""
        return self.halves[(self.cells + index * CELL) // 4 + 2 + field]

    def slots(self):
        """The numbers of all cells that are slots just now."""
        ready = min(self.halves[READY_CELLS // 4], self.cell_count, (len(self.memory) - self.cells) // CELL - 1)
        begin = self.cells // 8
        words = self.words[begin : begin + (ready + 1) * CELL // 8 : CELL // 8].tolist()
        return [index for index, word in enumerate(words) if word >> 56 == SLOT]

    def bucket_words(self, bucket):
        """Lock word and sequence."""
        at = (self.buckets + bucket * BUCKET) // 4
        return self.halves[at], self.halves[at + 1]

    def read(self, index, attempts=20):
        """The slot in that cell with its line, as one instant had it. None: it is none any more. A lock word and a sequence:
        somebody was inside all the time."""
        inside = before = 0
        for _ in range(attempts):
            bucket = self.link(index, 1)
            if bucket >= self.bucket_count:
                return None
            inside, before = self.bucket_words(bucket)
            if before & 1:
                continue
            slot = self.copy(index)
            if self.bucket_words(bucket)[1] == before:
                if slot is not None:
                    slot.inside = inside & ~SLEEPERS
                return slot
        return inside & ~SLEEPERS, before

    def copy(self, index):
        word, body = self.body(index)
        if word >> 56 != SLOT:
            return None
        length = min(body[9] >> 48, 64)
        key = struct.pack("<8Q", *body[13:21])[:length].decode(errors="replace")
        slot = Slot(index, word, body, key)
        node = body[8] & 0xFFFF_FFFF
        while 0 < node < (len(self.memory) - self.cells) // CELL and len(slot.line) < MOST_IN_LINE:
            word, body = self.body(node)
            if word >> 56 == NODE:
                slot.line.append(Node(node, word, body))
            node = self.link(node, 0)
        return slot

    def member_in_lock(self, word):
        number = (word & 0x3FFF) - 1
        if not 0 <= number < self.members:
            return None
        return Member((number, self.words[self.states // 8 + number] >> 8))


def change_boot(folder):
    """What a reboot leaves: a table of another boot."""
    with open(os.path.join(folder, "table"), "r+b") as file:
        memory = mmap.mmap(file.fileno(), PAGE)
        memory[BOOT_ID.start] ^= 1
        memory.close()
