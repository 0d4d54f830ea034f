#!/usr/bin/env python3
"""A stand-in for AgentMux's lease store, written from the facts of its format: agentmux.py FOLDER BOOT.

One process is one AgentMux: it reads commands from its input, a line each, and answers each with a line of JSON.

    claim ID BLOCK     {"granted": true, "epoch": 3} or {"granted": false, "holder": {...} or null}
    renew ID           {"mine": true}
    verify ID          {"mine": true}
    release ID         {"mine": true}
    holder ID          {"holder": {...} or null}
    clock SECONDS      from now on the wall clock of this process is off by so much

Everything happens under flock on <id>.lock; the counter is written before the lease; files are written under a
temporary name, synced and renamed; release unlinks. A lease is free 15 s after its last renewal by this process's wall
clock, or at once when it names this host and a process that does not run or started at another second.
"""

import contextlib
import fcntl
import json
import os
import socket
import sys
import time
import uuid

TTL_MS = 15_000
REQUIRED = {"instance_id": str, "owner_boot_id": str, "block_id": str, "pid": int, "acquired_at_ms": int,
            "renewed_at_ms": int}
OPTIONAL = {"epoch": (int, 0), "hostname": (str, ""), "pid_start_s": (int, 0), "channel": (str, ""),
            "version": (str, ""), "claim_id": (str, "")}


def host():
    return socket.gethostname().strip().lower()


def start_of(pid):
    """When it started, in seconds since 1970; None: no such process."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            ticks = int(file.read().rpartition(")")[2].split()[19])
    except (FileNotFoundError, ProcessLookupError):
        return None
    with open("/proc/stat", encoding="ascii") as file:
        boot = next(int(line.split()[1]) for line in file if line.startswith("btime"))
    return boot + ticks // os.sysconf("SC_CLK_TCK")


def decode(text):
    """The lease, or None when it is not one: a field that is missing or of another type."""
    try:
        read = json.loads(text)
    except ValueError:
        return None
    if not isinstance(read, dict) or not isinstance(read.get("session_id", 0), (str, type(None))):
        return None
    for name, kind in REQUIRED.items():
        if not isinstance(read.get(name), kind) or isinstance(read[name], bool):
            return None
    for name, (kind, default) in OPTIONAL.items():
        if not isinstance(read.setdefault(name, default), kind):
            return None
    return read


class AgentMux:
    def __init__(self, folder, boot):
        self.folder = os.path.join(folder, "leases")
        os.makedirs(self.folder, exist_ok=True)
        self.boot = boot
        self.held = {}
        self.clock_ms = 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def now_ms(self):
        return time.time_ns() // 1_000_000 + self.clock_ms

    @contextlib.contextmanager
    def section(self, key):
        descriptor = os.open(self.path(key + ".lock"), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def write(self, name, text):
        temporary = self.path(f".registry-tmp-{uuid.uuid4().hex[:6]}.json")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, self.path(name))

    def read(self, key):
        """(there, lease or None, time of its last change)"""
        try:
            with open(self.path(key + ".lease.json"), encoding="utf-8", errors="replace") as file:
                return True, decode(file.read()), os.fstat(file.fileno()).st_mtime_ns // 1_000_000
        except FileNotFoundError:
            return False, None, 0

    def counter(self, key):
        try:
            with open(self.path(key + ".epoch"), encoding="ascii", errors="replace") as file:
                return int(file.read().strip())
        except (FileNotFoundError, ValueError):
            return 0

    def fresh(self, stamp_ms):
        return max(0, self.now_ms() - stamp_ms) <= TTL_MS

    @staticmethod
    def dead(lease):
        if not lease["hostname"] or lease["hostname"] != host() or lease["pid"] == 0:
            return False
        start = start_of(lease["pid"])
        return start is None or (lease["pid_start_s"] != 0 and lease["pid_start_s"] != start)

    def mine(self, key, lease):
        own = self.held.get(key)
        if own is None or lease is None or lease["owner_boot_id"] != self.boot:
            return False
        return lease["block_id"] in ("", own["block_id"]) and lease["claim_id"] in ("", own["claim_id"])

    def claim(self, key, block):
        with self.section(key):
            there, lease, changed_ms = self.read(key)
            epoch = 0
            if lease:
                own = lease["owner_boot_id"] == self.boot
                if own and lease["block_id"] in ("", block):
                    epoch = lease["epoch"]
                elif self.fresh(lease["renewed_at_ms"]) and (own or not self.dead(lease)):
                    return {"granted": False, "holder": lease}
            elif there and self.fresh(changed_ms):
                return {"granted": False, "holder": None}
            if epoch == 0:
                epoch = max(self.counter(key), lease["epoch"] if lease else 0) + 1
                self.write(key + ".epoch", f"{epoch}\n")
            now = self.now_ms()
            self.held[key] = {"instance_id": key, "owner_boot_id": self.boot, "block_id": block, "session_id": None,
                              "pid": os.getpid(), "acquired_at_ms": now, "renewed_at_ms": now, "epoch": epoch,
                              "hostname": host(), "pid_start_s": start_of(os.getpid()), "channel": "stable",
                              "version": "0.44.2", "claim_id": str(uuid.uuid4())}
            self.write(key + ".lease.json", json.dumps(self.held[key], indent=2) + "\n")
            return {"granted": True, "epoch": epoch}

    def renew(self, key):
        with self.section(key):
            _, lease, _ = self.read(key)
            if not self.mine(key, lease):
                return {"mine": False}
            lease["renewed_at_ms"] = self.now_ms()
            self.write(key + ".lease.json", json.dumps(lease, indent=2) + "\n")
            return {"mine": True}

    def verify(self, key):
        with self.section(key):
            return {"mine": self.mine(key, self.read(key)[1])}

    def release(self, key):
        with self.section(key):
            mine = self.mine(key, self.read(key)[1])
            if mine:
                os.unlink(self.path(key + ".lease.json"))
            return {"mine": mine}

    def holder(self, key):
        with self.section(key):
            _, lease, _ = self.read(key)
            gone = lease is None or not self.fresh(lease["renewed_at_ms"]) or self.dead(lease)
            return {"holder": None if gone or lease["owner_boot_id"] == self.boot else lease}

    def clock(self, seconds):
        self.clock_ms = int(float(seconds) * 1000)
        return {}


def main():
    store = AgentMux(sys.argv[1], sys.argv[2])
    verbs = {"claim": store.claim, "renew": store.renew, "verify": store.verify, "release": store.release,
             "holder": store.holder, "clock": store.clock}
    for line in sys.stdin:
        words = line.split()
        print(json.dumps(verbs[words[0]](*words[1:])), flush=True)


if __name__ == "__main__":
    main()
