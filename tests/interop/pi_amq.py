#!/usr/bin/env python3
"""A stand-in for pi-amq 0.1.1's receiver lease, written from the facts of its format and of what it decides.

As a module: Receiver, with acquire(), release(), with_current_lease() and inspect(). As a program it is one pi-amq
process, since a lease belongs to the process that took it:

    pi_amq.py [--root ID] [--session ID] [--session-file PATH] [--guard-wait-ms N] [--stop-at N]
              NAMESPACE [COMMAND [GENERATION]]

With --stop-at it stops itself (SIGSTOP) before the Nth change that it makes. With a COMMAND it answers that one and
ends. Otherwise it reads commands from its input, a line each, and answers each with a line of JSON:

    acquire              {"status": "acquired", "owner": {...}, "reclaimed": {...} or null}, {"status": "held", "owner":
                         {...}} or {"status": "refused", "reason": "...", "diagnostic": "..."}
    release GENERATION   {"status": "released"}, "not-owner" (with the owner, if any) or "refused" with a diagnostic
    with GENERATION      {"status": "entered"} once the operation runs; then it reads one more line: "leave" ends the
                         operation, "fail" lets it fail; and then {"status": "done"} or {"error": ...}
    inspect              {"status": "empty"}, "owned" with the owner, or "corrupt" with a diagnostic
    identity             {"pid": ..., "processStartIdentity": ..., ...}: what it knows of itself

Without GENERATION the last one acquired counts. What pi-amq throws is {"error": NAME, "message": "..."}.
"""

import argparse
import contextlib
import datetime
import email.utils
import errno
import json
import os
import posixpath
import re
import shutil
import signal
import sys
import tempfile
import time
import uuid

GUARD_WAIT_MS = 1000
POLL_SECONDS = 0.005
MOST_SAFE = 2**53 - 1

LEASE = "receiver.lock"
OWNER = "owner.json"
GUARD = "receiver.lifecycle.guard.json"
RECLAIMS = "lifecycle-reclaims"
QUARANTINE = "quarantine"

GUARD_KEYS = ("schema", "generation", "pid", "processStartIdentity", "bootIdentity", "executable", "hostname",
              "createdAt")
OWNER_KEYS = ("schema", "generation", "piSessionId", "piSessionFile", "pid", "processStartIdentity", "bootIdentity",
              "executable", "hostname", "rootId", "createdAt")
IDENTITY_KEYS = ("pid", "processStartIdentity", "bootIdentity", "executable", "hostname")


class LeaseFenceError(Exception):
    """The caller does not have the lease, or the guard is not to be had or no more its own."""


class AggregateError(Exception):
    """The operation failed, and so did the dropping of the guard."""

    def __init__(self, errors):
        super().__init__("; ".join(str(error) for error in errors))
        self.errors = errors


class Corrupt(Exception):
    """A record is there that is none."""


# ---- records ---------------------------------------------------------------------------------------------------------

def in_name(text):
    """As text of UTF-16: one '_' for each unit that is not allowed."""
    return "".join(c if re.fullmatch(r"[A-Za-z0-9._-]", c) else "__" if ord(c) > 0xffff else "_" for c in text)


def normalized(path):
    """path.normalize() of Node, of an absolute path."""
    whole = "/" + posixpath.normpath("/" + path).lstrip("/")
    return whole + "/" if path.endswith("/") and whole != "/" else whole


def is_date(text):
    """Whether Date.parse() would take it, as far as a record is likely to have it."""
    match = re.fullmatch(r"(?:\d{4}|[+-]\d{6})(?:-(\d\d)(?:-(\d\d))?)?(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?"
                         r"(?:[Zz]|[+-]\d\d:?\d\d)?)?", text)
    if not match:
        return email.utils.parsedate_tz(text) is not None and re.match(r"[A-Z][a-z]{2},", text) is not None
    month, day, hour, minute, second = (int(number or least) for number, least in zip(match.groups(), (1, 1, 0, 0, 0)))
    return 1 <= month <= 12 and 1 <= day <= 31 and hour <= 24 and minute <= 59 and second <= 59


def filled(value):
    return isinstance(value, str) and value != ""


def whole(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value // 1


def parse(text):
    def refuse(word):
        raise ValueError(word)

    return json.loads(text, parse_constant=refuse)


def decode(data, keys):
    """The record, paths normalised; or Corrupt."""
    try:
        record = parse(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise Corrupt(f"not JSON: {error}") from error
    if not isinstance(record, dict):
        raise Corrupt("not an object")
    if set(record) != set(keys):
        raise Corrupt("its keys are not those of the schema: " + ", ".join(sorted(set(record) ^ set(keys))))
    checks = {
        "schema": lambda value: whole(value) and value == 1,
        "pid": lambda value: whole(value) and 0 < value <= MOST_SAFE,
        "bootIdentity": lambda value: value is None or filled(value),
        "createdAt": lambda value: filled(value) and is_date(value),
        "executable": lambda value: filled(value) and value.startswith("/"),
        "piSessionFile": lambda value: filled(value) and value.startswith("/"),
    }
    for key in keys:
        if not checks.get(key, filled)(record[key]):
            raise Corrupt(f"{key} is not what it should be")
    for key in ("executable", "piSessionFile"):
        if key in record:
            record[key] = normalized(record[key])
    return record


def encode(record):
    return (json.dumps(record, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def now_iso():
    now = datetime.datetime.now(datetime.timezone.utc)
    return now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{now.microsecond // 1000:03}Z"


# ---- processes -------------------------------------------------------------------------------------------------------

def inspect_process(pid):
    """(start, executable) of a process, as Node reads them; None: not there; OSError: cannot tell."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            start = file.read().rpartition(b")")[2].split()[19].decode("ascii")
        executable = os.readlink(os.fsencode(f"/proc/{pid}/exe")).decode("utf-8", "replace")
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ESRCH):
            return None
        raise
    return start, executable


def boot_identity():
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip() or None
    except OSError:
        return None


def host_name():
    return os.fsencode(os.uname().nodename).decode("utf-8", "replace")


class System:
    """What a pi-amq process sees of the machine; tests put another in its place."""

    def inspect(self, pid):
        return inspect_process(pid)

    def boot(self):
        return boot_identity()

    def host(self):
        return host_name()

    def own_identity(self):
        """Of this very process; RuntimeError where it cannot be told."""
        pid = os.getpid()
        try:
            seen = self.inspect(pid)
        except OSError as error:
            raise RuntimeError(f"own identity is not known: {error}") from error
        if seen is None:
            raise RuntimeError("own identity is not known")
        return dict(zip(IDENTITY_KEYS, (pid, seen[0], self.boot(), seen[1], self.host())))

    def classify(self, record):
        """live, stale, unknown or remote: host, process, start, executable, boot, in this order."""
        if record["hostname"] != self.host():
            return "remote"
        try:
            seen = self.inspect(int(record["pid"]))
        except OSError:
            return "unknown"
        if seen is None or seen[0] != record["processStartIdentity"] or normalized(seen[1]) != record["executable"]:
            return "stale"
        boot = self.boot()
        return "stale" if boot and record["bootIdentity"] and boot != record["bootIdentity"] else "live"


# ---- the lease -------------------------------------------------------------------------------------------------------

def refused(reason, diagnostic=""):
    return {"status": "refused", "reason": reason, "diagnostic": diagnostic}


class GuardRefused(Exception):
    """The guard is not to be had: `reason` is lifecycle-busy or lifecycle-unverifiable."""

    def __init__(self, reason, diagnostic):
        super().__init__(f"{reason}: {diagnostic}")
        self.reason = reason
        self.diagnostic = diagnostic


def demand(holds, what):
    if not holds:
        raise TypeError(what)


class Receiver:
    """One namespace, as one process sees it. `on_step` is told the name of each change before it is made."""

    def __init__(self, namespace, root_id="root", session_id="session", session_file="/session.jsonl",
                 guard_wait_ms=GUARD_WAIT_MS, system=None, on_step=None):
        for text in (root_id, session_id):
            demand(filled(text), "an id is empty")
        for path in (namespace, session_file):
            demand(filled(path) and path.startswith("/"), "a path is not absolute")
        self.namespace = normalized(namespace)
        self.root_id = root_id
        self.session_id = session_id
        self.session_file = normalized(session_file)
        self.guard_wait_ms = guard_wait_ms
        self.system = system or System()
        self.on_step = on_step or (lambda name: None)

    # -- the four verbs

    def acquire(self):
        self._make_folders()
        reclaimed = None
        while True:
            try:
                answer, moved = self._under_guard(self._acquire_once)
            except GuardRefused as error:
                return refused(error.reason, error.diagnostic)
            reclaimed = moved or reclaimed
            if answer is not None:
                return answer if answer["status"] != "acquired" else dict(answer, reclaimed=reclaimed)

    def release(self, generation):
        demand(filled(generation), "the generation is empty")
        self._make_folders()
        try:
            return self._under_guard(lambda: self._release_once(generation))
        except GuardRefused as error:
            return {"status": "refused", "diagnostic": str(error)}

    def with_current_lease(self, generation, operation):
        demand(filled(generation), "the generation is empty")
        self._make_folders()

        def run():
            try:
                owner = self._read_owner()
                own = self.system.own_identity()
            except (Corrupt, RuntimeError) as error:
                raise LeaseFenceError(str(error)) from error
            mine = dict(own, generation=generation, rootId=self.root_id, executable=normalized(own["executable"]))
            if owner is None or any(owner[key] != value for key, value in mine.items()):
                raise LeaseFenceError("the lease is not the caller's")
            return operation()

        try:
            return self._under_guard(run)
        except GuardRefused as error:
            raise LeaseFenceError(str(error)) from error

    def inspect(self):
        self._make_folders()
        try:
            owner = self._read_owner()
        except Corrupt as error:
            return {"status": "corrupt", "diagnostic": str(error)}
        return {"status": "empty"} if owner is None else {"status": "owned", "owner": owner}

    # -- under the guard

    def _acquire_once(self):
        """(answer, what was reclaimed); no answer: begin again."""
        try:
            owner = self._read_owner()
        except Corrupt as error:
            return refused("corrupt-owner", str(error)), None
        if owner is None:
            return self._install(), None
        verdict = self.system.classify(owner)
        if verdict == "live":
            return {"status": "held", "owner": owner}, None
        if verdict != "stale":
            return refused({"remote": "remote-owner", "unknown": "unverifiable-owner"}[verdict]), None
        try:
            if self._read_owner() != owner:
                return None, None
        except Corrupt:
            return None, None
        place = self._evidence("receiver", owner["generation"], "")
        self._rename("quarantine.lease", self._path(LEASE), place)
        self._sync(self.namespace)
        return None, {"owner": owner, "quarantinePath": place}

    def _install(self):
        prepared = tempfile.mkdtemp(prefix=".receiver.prepare-", dir=self.namespace)
        os.chmod(prepared, 0o700)
        fields = dict(self._fresh(), piSessionId=self.session_id, piSessionFile=self.session_file, rootId=self.root_id)
        owner = {key: fields[key] for key in OWNER_KEYS}
        self._create(os.path.join(prepared, OWNER), owner)
        self._sync(prepared)
        try:
            self._rename("install", prepared, self._path(LEASE))
        except OSError as error:
            shutil.rmtree(prepared)
            if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
                return None
            raise
        self._sync(self.namespace)
        return {"status": "acquired", "owner": owner}

    def _release_once(self, generation):
        try:
            owner = self._read_owner()
        except Corrupt as error:
            return {"status": "refused", "diagnostic": str(error)}
        if owner is None:
            return {"status": "not-owner"}
        if owner["generation"] != generation or owner["rootId"] != self.root_id:
            return {"status": "not-owner", "owner": owner}
        gone = self._path(f".receiver.released-{in_name(generation)}-{uuid.uuid4()}")
        self._rename("release", self._path(LEASE), gone)
        self._sync(self.namespace)
        self.on_step("delete")
        shutil.rmtree(gone)
        self._sync(self.namespace)
        return {"status": "released"}

    # -- the guard

    def _under_guard(self, operation):
        generation = self._take_guard()
        try:
            result = operation()
        except BaseException as failure:
            try:
                self._drop_guard(generation)
            except Exception as second:  # whatever it is, it is told beside the first
                raise AggregateError([failure, second]) from failure
            raise
        self._drop_guard(generation)
        return result

    def _take_guard(self):
        deadline = time.time() + self.guard_wait_ms / 1000
        while True:
            if self._live_intents():
                self._wait_or_refuse(deadline, "a guard is being reclaimed")
                continue
            record = self._fresh()
            if self._create(self._path(GUARD), record):
                if self._take_stays(record["generation"]):
                    return record["generation"]
                self._wait_or_refuse(deadline, "a guard is being reclaimed")
                continue
            if self._guard_in_the_way():
                self._wait_or_refuse(deadline, "the guard is held")

    def _take_stays(self, generation):
        """Looks for intents once more; with a live one, or one that cannot be told, the guard is dropped."""
        try:
            if not self._live_intents():
                return True
        except GuardRefused:
            self._drop_guard(generation)
            raise
        self._drop_guard(generation)
        return False

    def _guard_in_the_way(self):
        """True: a live one. False: it is gone, or was reclaimed."""
        guard = self._judged(self._path(GUARD), "the guard")
        if guard is None:
            return False
        if guard[1] == "live":
            return True
        self._reclaim_guard()
        return False

    def _judged(self, path, what):
        """(record, live or stale), or None: not there. GuardRefused for anything else."""
        try:
            record = self._read(path, GUARD_KEYS)
        except Corrupt as error:
            raise GuardRefused("lifecycle-unverifiable", f"{what} is corrupt: {error}") from error
        if record is None:
            return None
        verdict = self.system.classify(record)
        if verdict in ("remote", "unknown"):
            raise GuardRefused("lifecycle-unverifiable", f"{what} is {verdict}")
        return record, verdict

    def _live_intents(self):
        """Whether there is one; stale ones are unlinked."""
        live = False
        folder = self._path(RECLAIMS)
        for name in sorted(os.listdir(folder)):
            if not re.fullmatch(r"reclaim\..*\.json", name, re.DOTALL):
                continue
            path = os.path.join(folder, name)
            intent = self._judged(path, "an intent")
            if intent is None:
                continue
            if intent[1] == "live":
                live = True
            else:
                self._unlink("intent.stale", path)
        return live

    def _reclaim_guard(self):
        record = self._fresh()
        intent = os.path.join(self._path(RECLAIMS), f"reclaim.{in_name(record['generation'])}.json")
        self._create(intent, record)
        try:
            while True:
                guard = self._judged(self._path(GUARD), "the guard")
                if guard is None or guard[1] == "live":
                    return
                if self._judged(self._path(GUARD), "the guard") != guard:
                    continue
                with contextlib.suppress(FileNotFoundError):
                    self._rename("quarantine.guard", self._path(GUARD),
                                 self._evidence("lifecycle", guard[0]["generation"], ".json"))
                self._sync(self.namespace)
        finally:
            self._unlink("intent.off", intent)
            self._sync(self._path(RECLAIMS))

    def _drop_guard(self, generation):
        try:
            guard = self._read(self._path(GUARD), GUARD_KEYS)
        except Corrupt as error:
            raise LeaseFenceError(f"the guard is corrupt: {error}") from error
        if guard is None or guard["generation"] != generation:
            raise LeaseFenceError("the guard is not the caller's any more")
        self._unlink("guard.off", self._path(GUARD))
        self._sync(self.namespace)

    @staticmethod
    def _wait_or_refuse(deadline, why):
        if time.time() > deadline:
            raise GuardRefused("lifecycle-busy", why)
        time.sleep(POLL_SECONDS)

    # -- the disk

    def _path(self, name):
        return os.path.join(self.namespace, name)

    def _evidence(self, kind, generation, ending):
        name = f"{kind}.{in_name(generation)}.{time.time_ns() // 1_000_000}.{uuid.uuid4()}{ending}"
        return os.path.join(self._path(QUARANTINE), name)

    def _make_folders(self):
        for folder in (self.namespace, self._path(QUARANTINE), self._path(RECLAIMS)):
            missing = []
            while not os.path.isdir(folder):
                missing.append(folder)
                folder = os.path.dirname(folder)
            for path in reversed(missing):
                with contextlib.suppress(FileExistsError):
                    os.mkdir(path, 0o700)

    def _fresh(self):
        fields = dict(self.system.own_identity(), schema=1, generation=str(uuid.uuid4()), createdAt=now_iso())
        return {key: fields[key] for key in GUARD_KEYS}

    def _read_owner(self):
        """None: no lease. Two looks, so between them a lease may go or come; a link that leads nowhere is no lease."""
        owner = self._read(os.path.join(self._path(LEASE), OWNER), OWNER_KEYS)
        if owner is None and os.path.exists(self._path(LEASE)):
            raise Corrupt("receiver.lock has no owner.json")
        return owner

    @staticmethod
    def _read(path, keys):
        try:
            with open(path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Corrupt(str(error)) from error
        return decode(data, keys)

    def _create(self, path, record):
        """Complete or not at all; False: the name is taken."""
        folder, name = os.path.split(path)
        draft = os.path.join(folder, f".{name}.{os.getpid()}.{uuid.uuid4()}.tmp")
        self.on_step("create." + name)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(encode(record))
                file.flush()
                os.fsync(descriptor)
            try:
                self.on_step("link." + name)
                os.link(draft, path)
            except FileExistsError:
                return False
        finally:
            os.unlink(draft)
        self._sync(folder)
        return True

    def _rename(self, step, source, target):
        self.on_step(step)
        os.rename(source, target)

    def _unlink(self, step, path):
        self.on_step(step)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)

    def _sync(self, folder):
        self.on_step("sync")
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# ---- the program -----------------------------------------------------------------------------------------------------

class OperationFailed(Exception):
    """What the operation of `with` throws when it is told to."""


class Program:
    def __init__(self, receiver, lines):
        self.receiver = receiver
        self.lines = lines
        self.generation = ""

    def answer(self, words):
        try:
            return self._answer(words)
        except Exception as error:  # told to whoever asked, as it would be thrown
            return {"error": type(error).__name__, "message": str(error)}

    def _answer(self, words):
        generation = words[1] if len(words) > 1 else self.generation
        if words[0] == "acquire":
            answer = self.receiver.acquire()
            if answer["status"] == "acquired":
                self.generation = answer["owner"]["generation"]
            return answer
        if words[0] == "release":
            return self.receiver.release(generation)
        if words[0] == "with":
            self.receiver.with_current_lease(generation, self._operation)
            return {"status": "done"}
        if words[0] == "inspect":
            return self.receiver.inspect()
        if words[0] == "identity":
            return self.receiver.system.own_identity()
        raise TypeError("no such command: " + words[0])

    def _operation(self):
        say({"status": "entered"})
        line = self.lines.readline()
        if line.strip() == "fail":
            raise OperationFailed("as it was told")


def say(answer):
    print(json.dumps(answer), flush=True)


def stop_at(wanted):
    """For on_step."""
    count = 0

    def step(_):
        nonlocal count
        count += 1
        if count == wanted:
            os.kill(os.getpid(), signal.SIGSTOP)

    return step


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--root", default="root")
    parser.add_argument("--session", default="session")
    parser.add_argument("--session-file", default="/session.jsonl")
    parser.add_argument("--guard-wait-ms", type=int, default=GUARD_WAIT_MS)
    parser.add_argument("--stop-at", type=int, default=0)
    parser.add_argument("namespace")
    parser.add_argument("command", nargs="*")
    wanted = parser.parse_args()
    receiver = Receiver(wanted.namespace, wanted.root, wanted.session, wanted.session_file, wanted.guard_wait_ms,
                        on_step=stop_at(wanted.stop_at))
    program = Program(receiver, sys.stdin)
    if wanted.command:
        say(program.answer(wanted.command))
        return
    for line in iter(sys.stdin.readline, ""):
        if line.split():
            say(program.answer(line.split()))


if __name__ == "__main__":
    main()
