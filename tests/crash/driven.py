"""Driver processes of a campaign: started, asked, ended by their id; and the folder that they share."""

import json
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time

BOUND = 60  # seconds; only a fault reaches it
KEY = "k"  # of a files: space


class Fault(Exception):
    """Something that must not be; the text says what."""


class Answer:
    """A line of the driver: "ok EPOCH" or "refused CODE OUTCOME MESSAGE"."""

    def __init__(self, line):
        words = line.rstrip("\n").split(" ", 3)
        self.line = line.rstrip("\n")
        self.ok = words[0] == "ok" and len(words) == 2
        self.epoch = int(words[1]) if self.ok else 0
        self.code = self.outcome = self.message = ""
        if not self.ok:
            if words[0] != "refused" or len(words) != 4:
                raise Fault(f"the driver said {line!r}")
            self.code, self.outcome, self.message = words[1:]

    def __str__(self):
        return self.line


def innermost(pid):
    """The driver itself, below the tracer or whatever made its namespaces. They end by themselves after it, each when it
    has reaped its child; killed in its place, a tracer would leave it running."""
    while True:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            children = file.read().split()
        if not children:
            return pid
        pid = int(children[0])


class Driven:
    """One driver process, perhaps below a tracer or in other namespaces (`before` is put before its command line)."""

    def __init__(self, program, verb, url, key, before=(), cwd=None):
        self.words = [*before, program, verb, url, key]
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, cwd=cwd
        )
        self.rest = b""

    def line(self, bound=BOUND):
        """The next line, or None when the process ended without one."""
        end = time.monotonic() + bound
        while b"\n" not in self.rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise Fault(f"no answer within {bound} s from {' '.join(self.words)}")
            more = os.read(self.process.stdout.fileno(), 65536)
            if not more:
                return None
            self.rest += more
        line, _, self.rest = self.rest.partition(b"\n")
        return line.decode(errors="replace")

    def answer(self, bound=BOUND):
        line = self.line(bound)
        if line is None:
            raise Fault(f"{' '.join(self.words)} ended ({self.wait()}) without an answer: {self.said()}")
        return Answer(line)

    def send(self, command):
        try:
            self.process.stdin.write(command.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Fault(f"{' '.join(self.words)} ended too early: {self.said()}") from None

    def ask(self, command, bound=BOUND):
        self.send(command)
        return self.answer(bound)

    def pid(self):
        return innermost(self.process.pid)

    def said(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace").strip()

    def wait(self, bound=BOUND):
        try:
            return self.process.wait(bound)
        except subprocess.TimeoutExpired:
            raise Fault(f"{' '.join(self.words)} does not end") from None

    def kill(self):
        """Ends it as a crash does. On return it is reaped, so all that the kernel kept for it is free."""
        if self.process.poll() is None:
            try:
                os.kill(innermost(self.process.pid), signal.SIGKILL)
            except (FileNotFoundError, ProcessLookupError):
                pass  # it has just ended
        self.wait()
        self.close()

    def close(self):
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            try:
                stream.close()
            except BrokenPipeError:
                pass


class World:
    """A folder of its own and the drivers on a space in it. `floor` is the highest epoch that anybody was surely given."""

    url = key = None

    def __init__(self, program, parent):
        self.program = program
        self.folder = tempfile.mkdtemp(prefix="world-", dir=parent)
        self.space = os.path.join(self.folder, "space")
        self.floor = 0
        self.turn = 0  # where there are several ways of going on, their number
        self.started = []

    def start(self, verb, before=()):
        driven = Driven(self.program, verb, self.url, self.key, before, cwd=self.folder)
        self.started.append(driven)
        return driven

    def granted(self, answer, by):
        """A grant whose epoch rises, or a fault."""
        if not answer.ok:
            raise Fault(f"{by} was refused: {answer}")
        if answer.epoch <= self.floor:
            raise Fault(f"{by} was granted epoch {answer.epoch} after epoch {self.floor}")
        self.floor = answer.epoch
        return answer

    def hold(self):
        holder = self.start("claim")
        self.granted(holder.answer(), "the holder")
        return holder

    def record_epoch(self):
        """The epoch of the record that lies there, since somebody may have been given it; 0 without one."""
        raise NotImplementedError

    def names(self):
        """What lies in the space, for whoever reads of a fault."""
        raise NotImplementedError

    def leftovers(self, evidence):
        """What nobody would expect there after a release. `evidence`: something may have been moved aside."""
        raise NotImplementedError

    def undisturbed(self):
        """A verb went through as it should."""

    def refused(self, driver):
        """A claim of a driver that lives was refused, and nobody has recovered yet."""

    def crashed(self):
        """All who had to do with the space are dead, and nobody has recovered yet."""

    def recovered(self):
        """A stranger has recovered, and was killed while it held the key."""

    def end(self):
        for driven in self.started:
            driven.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def epoch_in(path):
    try:
        with open(path, encoding="utf-8") as file:
            return int(json.load(file).get("epoch", 0))
    except (OSError, ValueError):
        return 0


class FilesWorld(World):
    def __init__(self, program, parent):
        super().__init__(program, parent)
        self.url = "files:" + self.space
        self.key = KEY
        self.leases = os.path.join(self.space, "leases")

    def path(self, ending):
        return os.path.join(self.leases, KEY + ending)

    def record_epoch(self):
        return epoch_in(self.path(".lease.json"))

    def names(self):
        try:
            return sorted(os.listdir(self.leases))
        except FileNotFoundError:
            return []

    def leftovers(self, evidence):
        kept = r"\.(lock|epoch|life|seen|revoked\.json" + (r"|evidence-\d)" if evidence else ")")
        return [name for name in self.names() if not re.fullmatch(re.escape(KEY) + kept, name)]
