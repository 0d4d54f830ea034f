"""The watch for lost wake-ups finds one in a real space: a waiter that sleeps on, though it was woken and its bound is over.

    local_watch_test.py WORKER"""

import os
import select
import subprocess
import sys
import tempfile
import time
import unittest

import local_table
import local_watch

WORKER = os.path.realpath(sys.argv.pop()) if len(sys.argv) > 1 else "storm_local_worker"
BOUND = 20  # seconds
KEY = "a"


class WatchInARealSpace(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory(prefix="tenure-watch-")
        self.addCleanup(made.cleanup)
        self.space = os.path.join(made.name, "space")
        self.watch = local_watch.Watch(lambda *_: False)
        self.table = None

    def start(self, *words):
        process = subprocess.Popen([WORKER, *words, KEY], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()

    def watch_until(self, condition, what):
        """Looks all the while."""
        end = time.monotonic() + BOUND
        while not condition():
            self.assertLess(time.monotonic(), end, "waited in vain: " + what)
            if self.table is not None:
                self.watch.look(self.table, time.monotonic_ns)
            select.select([], [], [], 0.01)

    def wait_for_grant(self, process):
        self.watch_until(lambda: select.select([process.stdout], [], [], 0)[0], "a grant")
        return int(process.stdout.readline())

    def waiters(self):
        slots = [self.table.read(index) for index in self.table.slots()]
        return [node for slot in slots if isinstance(slot, local_table.Slot) for node in slot.line]

    def hand_over_to(self, *words):
        """The key is held, another waits for it and sleeps; then it is given back."""
        holder = self.start("--hold", "local:" + self.space)
        first = self.wait_for_grant(holder)
        self.table = local_table.Table(self.space)
        self.addCleanup(self.table.close)
        waiter = self.start(*words)
        self.watch_until(lambda: any(node.asleep_until for node in self.waiters()), "a waiter asleep")
        self.assertEqual(self.watch.faults, [])
        holder.stdin.close()
        return waiter, first

    def test_waiter_that_is_woken_is_found_no_fault_with(self):
        waiter, first = self.hand_over_to("--hold", "local:" + self.space)
        self.assertGreater(self.wait_for_grant(waiter), first)
        waiter.stdin.close()
        self.watch_until(lambda: waiter.poll() is not None, "its end")
        self.assertEqual(self.watch.faults, [])

    def test_waiter_that_sleeps_on_is_found(self):
        self.hand_over_to("--deaf", self.space)
        self.watch_until(lambda: self.watch.faults, "the watch finds it")
        self.assertIn("a lost wake-up", self.watch.faults[0])
        self.assertIn("'a', offered to", self.watch.faults[0])


if __name__ == "__main__":
    unittest.main()
