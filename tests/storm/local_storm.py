"""The storm over a local space: 64 workers in two pid namespaces do all that a member can do, while a director kills and
stops them at random, kills a whole namespace, lets the machine reboot and the power fail.

    local_storm.py --worker PROGRAM [--seconds 36 | --minutes N] [--seed N] [--crowd N]
    local_storm.py --worker PROGRAM --calm [--seconds 8]      a contended run, checked for linearizability

By hand, for ten minutes: ctest --test-dir BUILD -R storm.local_long, or the first line with --minutes 10.

The seed is printed first; it settles what the director does, not how the machine schedules. The storm has three parts:
in the second the space is found as after a reboot, in the third as after a lost power. At the end of each part everybody
is ended, the table must be whole, and each key must be had within 10 s. local_watch.py looks for lost wake-ups all the
while; local_checker.py and linear.py judge the history. A part that cannot be played here is named."""

import argparse
import ctypes
import os
import random
import select
import subprocess
import sys
import tempfile
import time

import linear
import local_checker
import local_table
import local_watch
import storm

CLONE_NEWPID = 0x20000000
KEYS = ["alpha", "beta", "gamma", "delta", "epsilon", "a/key/with/a/path", "k" * 64, "a long key " + "x" * 200]
KEYS = [key.replace(" ", "_") for key in KEYS]
SPARE_NUMBERS = 24  # of members: not many more than there are workers at a time, so that those of the dead are used again
PARTS = ["first", "after a reboot", "after a lost power"]
libc = ctypes.CDLL(None, use_errno=True)


def in_new_namespace(launch):
    """Runs `launch` so that what it starts is the first process of a new pid namespace. OSError: not permitted."""
    own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    try:
        if libc.unshare(CLONE_NEWPID) != 0:
            raise OSError(ctypes.get_errno(), "unshare")
        try:
            return launch()
        finally:
            if libc.setns(own, CLONE_NEWPID) != 0:
                raise OSError(ctypes.get_errno(), "setns")
    finally:
        os.close(own)


class Nest:
    """A pid namespace with a /proc of its own, which half of its processes see."""

    def __init__(self, launch, program):
        self.process = in_new_namespace(lambda: launch(["unshare", "--mount", "--mount-proc", program, "--nest"]))
        self.descriptor = os.open(f"/proc/{self.process.pid}/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        self.inode = os.fstat(self.descriptor).st_ino
        self.own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)

    def launch(self, launch, words, own_proc):
        if own_proc:
            words = ["nsenter", f"--mount=/proc/{self.process.pid}/ns/mnt", *words]
        if libc.setns(self.descriptor, CLONE_NEWPID) != 0:
            raise OSError(ctypes.get_errno(), "setns")
        try:
            return launch(words)
        finally:
            libc.setns(self.own, CLONE_NEWPID)

    def kill(self, bury):
        """And with it, by the kernel, everybody in it; it is gone when all of them were buried."""
        self.process.kill()
        last = time.monotonic() + storm.FAREWELL
        while self.process.poll() is None and time.monotonic() < last:
            bury()
            select.select([], [], [], 0.01)
        os.close(self.descriptor)
        os.close(self.own)


def names_in_proc(pid):
    """Its pid in its own pid namespace, and that namespace."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            inner = [line.split()[-1] for line in file if line.startswith("NSpid:")]
        return int(inner[0]), os.stat(f"/proc/{pid}/ns/pid").st_ino
    except (OSError, IndexError):
        return None


class LocalDirector(storm.Director):
    keys = KEYS
    pace = (0.004, 0.03)

    def __init__(self, program, folder, seed, crowd, mood):
        self.space = os.path.join(folder, "space")
        super().__init__(program, folder, seed, "local:" + self.space)
        self.crowd = crowd
        self.mood = mood
        self.nest = None
        self.nested = {}  # serial: the nest that it was started in
        self.names = {}  # (pid, pid namespace): serial
        self.watch = local_watch.Watch(self.was_stopped)
        self.table = None

    # ---- whom there is

    def open_nest(self):
        try:
            self.nest = Nest(self.launch, self.program)
        except OSError as error:
            print(f"SKIPPED: the second pid namespace: {error}", flush=True)

    def start(self):
        self.serial += 1
        words = [self.program, self.mood, *self.words()]
        if self.nest is not None and self.serial % 2 == 0:
            process = self.nest.launch(self.launch, words, own_proc=self.serial % 4 == 0)
            self.nested[self.serial] = self.nest
        else:
            process = self.launch(words)
        self.workers[self.serial] = process
        self.counts["started"] += 1
        name = names_in_proc(process.pid)
        if name is not None:
            self.names[name] = self.serial

    def kill_nest(self):
        for serial in self.workers:
            if self.nested.get(serial) is self.nest:
                self.account.killed.setdefault(serial, storm.now())
        nest, self.nest = self.nest, None
        nest.kill(self.reap)
        self.counts["namespaces killed"] += 1

    def was_stopped(self, pid, namespace, since, until):
        serial = self.names.get((pid, namespace))
        if serial is None or serial in self.account.killed:
            return None
        if serial in self.stopped:
            return True
        return any(begin <= until and end >= since for begin, end in self.account.stopped.get(serial, ()))

    # ---- what is done to them

    def go_on(self, until):
        super().go_on(until)
        self.look()

    def look(self):
        """At the table, once a turn."""
        if self.farewell:
            return
        try:
            if self.table is None:
                self.table = local_table.Table(self.space)
        except (FileNotFoundError, ValueError):
            return  # nobody has made it yet
        self.watch.look(self.table, storm.now)

    def forget_table(self):
        if self.table is not None:
            self.table.close()
        self.table = None
        self.watch.stalls.clear()

    def part(self, seconds):
        self.farewell = False
        if self.nest is None:
            self.open_nest()
        self.rage(seconds / 2)
        if self.nest is not None and self.mood == "storm":
            self.kill_nest()
            self.open_nest()
        self.rage(seconds / 2)
        if self.nest is not None:
            self.kill_nest()
        self.end()
        self.forget_table()

    def ask(self, *words):
        done = subprocess.run([self.program, *words], capture_output=True, text=True, timeout=storm.FAREWELL)
        if done.returncode != 0:
            self.faults.append(f"{words[0]}: {done.stderr.strip()}")
        return done.stdout.splitlines()

    def inspect(self, name, highest):
        """Nobody is left. The table is whole, every key can be had, under a higher epoch than ever before."""
        for fault in self.ask("--check", self.url):
            self.faults.append(f"the table is not whole ({name}): {fault}")
        last = self.sweep()
        for key in self.keys:
            if last.get(key, 0) <= highest:
                self.faults.append(f"the last claim of {key} ({name}) had epoch {last.get(key)}, after {highest}")
        return max(last.values(), default=0)


def lose(director, part):
    """What lies between two parts: nobody of this boot is left; the folder stays."""
    if part == 1:
        local_table.change_boot(director.space)
    elif part == 2:
        os.unlink(os.path.join(director.space, "table"))


def read_history(director):
    if not os.path.exists(director.history):
        return []
    with open(director.history, encoding="utf-8") as file:
        return local_checker.read(file.read())


def show(director, events):
    storm.show(director, events)
    watch = director.watch
    print(f"watch:     {watch.looks} looks, a waiter did what was due {watch.latest / 1e6:.0f} ms past its bound at most")


def run_storm(director, seconds):
    highest = 0
    director.ask("--prepare", director.space, str(director.crowd + SPARE_NUMBERS))
    for number, name in enumerate(PARTS):
        lose(director, number)
        try:
            director.part(seconds / len(PARTS))
        finally:
            director.end()
        events = read_history(director)
        told = max((each.epoch for each in events if each.event == "granted"), default=0)
        highest = director.inspect(name, max(highest, told))
    finish = storm.now()
    show(director, events)
    return events, director.watch.faults + local_checker.violations(
        events, director.account, KEYS, int(seconds), finish)


class CalmDirector(LocalDirector):
    """Starts, and ends in good order: kills nobody and stops nobody."""

    keys = KEYS[:2] + KEYS[-1:]

    def kill(self, serial):
        pass

    def stop(self, serial):
        pass


def run_calm(director, seconds):
    try:
        director.rage(seconds)
    finally:
        director.end()
        director.forget_table()
    events = read_history(director)
    highest = max((each.epoch for each in events if each.event == "granted"), default=0)
    director.inspect("calm", highest)
    show(director, events)
    faults = local_checker.violations(events, director.account, director.keys, int(seconds), storm.now())
    operations = sum(len(each) for each in linear.operations_of(events).values())
    print(f"linear:    {operations} operations")
    return events, director.watch.faults + faults + linear.violations(events)


def judge(director, events, faults):
    director.errors.seek(0)
    said = director.errors.read().decode(errors="replace").strip()
    if said:
        faults = [f"the workers said: {said[:2000]}", *faults]
    for fault in faults[:40]:
        print(f"FAULT {fault}")
    print(f"{len(events)} events, {len(faults)} faults")
    return 1 if faults else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--worker", required=True)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--crowd", type=int)
    parser.add_argument("--calm", action="store_true")
    parser.add_argument("--keep", help="a folder for the history of a run that has faults")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    seconds = options.minutes * 60 if options.minutes else options.seconds or (8 if options.calm else 36)
    print(f"{'calm' if options.calm else 'storm'} of {seconds:g} s, seed {options.seed}", flush=True)
    kind, crowd = (CalmDirector, 8) if options.calm else (LocalDirector, 64)
    with tempfile.TemporaryDirectory(prefix="tenure-storm-") as folder:
        director = kind(os.path.realpath(options.worker), folder, options.seed, options.crowd or crowd,
                        "calm" if options.calm else "storm")
        events, faults = (run_calm if options.calm else run_storm)(director, seconds)
        ended = judge(director, events, director.faults + faults)
        if ended and options.keep:
            os.makedirs(options.keep, exist_ok=True)
            os.rename(director.history, os.path.join(options.keep, f"history-{options.seed}"))
        return ended


if __name__ == "__main__":
    sys.exit(main())
