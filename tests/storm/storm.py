"""The storm: eight workers claim and release a few keys at random, while a director kills and stops them at random.

    storm.py --worker PROGRAM [--seconds 60] [--seed N]

The seed is printed first; it settles what the director does, not how the machine schedules. At the end every worker is
continued and asked to stop, each key is claimed and released once more, and checker.py judges the history.
"""

import argparse
import collections
import heapq
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import time

import checker

WORKERS = 8
KEYS = ["alpha", "beta", "a/key/that/is/hashed"]
# After the last order: the bound of the section, the longest wait, and a busy machine.
FAREWELL = 60
STOP_SHORT = (0.002, 0.3)
STOP_LONG = (0.5, 2.5)


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


class Director:
    crowd = WORKERS
    keys = KEYS
    pace = (0.005, 0.06)  # of what is done to them, in seconds

    def __init__(self, program, folder, seed, url):
        self.program = program
        self.url = url
        self.history = os.path.join(folder, "history")
        self.errors = open(os.path.join(folder, "errors"), "w+b")
        self.random = random.Random(seed)
        self.account = checker.Account()
        self.workers = {}  # serial: process
        self.serial = 0
        self.stopped = {}  # serial: since when
        self.continuing = []  # (when, serial)
        self.counts = collections.Counter()
        self.faults = []
        self.farewell = False

    def start(self):
        self.serial += 1
        self.workers[self.serial] = self.launch([self.program, *self.words()])
        self.counts["started"] += 1

    def words(self):
        return [self.url, self.history, str(self.serial), str(self.random.getrandbits(62)), *self.keys]

    def launch(self, words):
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.errors)

    def reap(self):
        """Buries the dead. Who left by itself left with 0, who was killed died of that; all else is a fault."""
        for serial, process in list(self.workers.items()):
            status = process.poll()
            if status is None:
                continue
            del self.workers[serial]
            if serial in self.stopped:
                self.account.stopped[serial].append((self.stopped.pop(serial), now()))
            expected = {0}  # also of a killed one: it may have left just before the signal came
            if serial in self.account.killed:
                expected.add(-signal.SIGKILL)
            if self.farewell:
                expected.add(-signal.SIGTERM)  # just begun, and without a lease or a handler yet
            if status not in expected:
                self.faults.append(f"worker {process.pid}.{serial} ended with {status}")
            self.counts["killed" if status else "left"] += 1

    def kill(self, serial):
        self.account.killed.setdefault(serial, now())  # it may take its time to die, and be chosen again
        self.workers[serial].send_signal(signal.SIGKILL)

    def stop(self, serial):
        if serial in self.stopped:
            return
        self.stopped[serial] = now()
        self.account.stopped.setdefault(serial, [])
        self.workers[serial].send_signal(signal.SIGSTOP)
        # One in eight stays away long enough for others to notice.
        bounds = STOP_LONG if self.random.randrange(8) == 0 else STOP_SHORT
        heapq.heappush(self.continuing, (time.monotonic() + self.random.uniform(*bounds), serial))
        self.counts["stopped"] += 1

    def go_on(self, until):
        while self.continuing and self.continuing[0][0] <= until:
            _, serial = heapq.heappop(self.continuing)
            if serial in self.workers and serial in self.stopped:
                self.workers[serial].send_signal(signal.SIGCONT)
                self.account.stopped[serial].append((self.stopped.pop(serial), now()))

    def rage(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.reap()
            while len(self.workers) < self.crowd:
                self.start()
            self.go_on(time.monotonic())
            # The pace of the storm; nothing is waited for.
            select.select([], [], [], self.random.uniform(*self.pace))
            serial = self.random.choice(sorted(self.workers))
            if self.workers[serial].poll() is not None:
                continue
            if self.random.random() < 0.35:
                self.kill(serial)
            else:
                self.stop(serial)

    def end(self):
        self.farewell = True
        self.go_on(float("inf"))
        for process in self.workers.values():
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        last = time.monotonic() + FAREWELL
        for serial, process in self.workers.items():
            try:
                process.wait(max(0.0, last - time.monotonic()))
            except subprocess.TimeoutExpired:
                self.faults.append(f"worker {process.pid}.{serial} hangs: it did not stop within {FAREWELL} s")
                process.kill()
                process.wait()
        self.reap()

    def sweep(self):
        """The last claim and release of each key, by somebody who never saw the storm."""
        done = subprocess.run([self.program, "--sweep", self.url, *self.keys], capture_output=True, text=True, timeout=FAREWELL)
        if done.returncode != 0:
            self.faults.append(f"the last claims failed: {done.stderr.strip()}")
        return {line.split()[0]: int(line.split()[1]) for line in done.stdout.splitlines()}


def show(director, events):
    told = collections.Counter(f"{each.event} {each.detail}" if each.event in ("refused", "failed") else each.event
                               for each in events)
    print("processes: " + ", ".join(f"{count} {what}" for what, count in sorted(director.counts.items())))
    print("events:    " + ", ".join(f"{count} {what}" for what, count in sorted(told.items())))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--worker", required=True)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    print(f"storm of {options.seconds:g} s, seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="tenure-storm-") as folder:
        space = os.path.join(folder, "space")
        director = Director(os.path.realpath(options.worker), folder, options.seed, "files:" + space)
        try:
            director.rage(options.seconds)
        finally:
            director.end()
        finish = now()
        last = director.sweep()
        with open(director.history, encoding="utf-8") as file:
            events = checker.read(file.read())
        show(director, events)
        floor = int(options.seconds)
        faults = director.faults + checker.violations(
            events, director.account, KEYS, floor, os.listdir(os.path.join(space, "leases")), finish)
        for key in KEYS:
            highest = max((int(each.detail) for each in events if each.event == "granted" and each.key == key), default=0)
            if last.get(key, 0) <= highest:
                faults.append(f"the last claim of {key} had epoch {last.get(key)}, after {highest}")
        director.errors.seek(0)
        said = director.errors.read().decode(errors="replace").strip()
        if said:
            faults.append(f"the workers said: {said[:2000]}")
    for fault in faults[:40]:
        print(f"FAULT {fault}")
    print(f"{len(events)} events, {len(faults)} faults, seed {options.seed}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
