"""top on a pseudo-terminal: what it shows, how it follows, and that the terminal is as before on every way out."""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

from e2e import BOUND, PROGRAM, Case, main, remedies, state_of, until
from screen import Screen


class OnScreen(Case):
    def setUp(self):
        super().setUp()
        self.master, slave = pty.openpty()
        self.slave = slave
        self.addCleanup(os.close, slave)
        self.addCleanup(os.close, self.master)
        self.before = termios.tcgetattr(slave)

    def top(self, *words, columns=80, rows=24, **env):
        self.set_size(columns, rows)
        self.screen = Screen(columns, rows)
        self.top_process = self.start_program(
            ["setsid", "--ctty", PROGRAM, "top", *words], env={"TERM": "xterm", "NO_COLOR": None, **env},
            stdin=self.slave)

    def start_program(self, words, env=None, **more):
        if words[0] != "setsid":
            return super().start_program(words, env, **more)
        process = subprocess.Popen(words, env=self.environment(env), cwd=self.folder, stdin=self.slave, stdout=self.slave,
                                   stderr=self.slave)
        self.addCleanup(self.end_process, process)
        return process

    def end_process(self, process):
        if process.poll() is None:
            process.kill()
        process.wait(BOUND)

    def set_size(self, columns, rows):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds=0.05):
        if select.select([self.master], [], [], seconds)[0]:
            self.screen.feed(os.read(self.master, 65536).decode())

    def shows(self, *parts, without=()):
        def seen():
            self.read()
            text = self.screen.text()
            return all(part in text for part in parts) and not any(part in text for part in without)
        end = time.monotonic() + BOUND
        while not seen():
            if time.monotonic() > end or self.top_process.poll() is not None:
                self.fail(f"it shows no {parts!r}, but\n{self.screen.text()}")

    def type(self, text):
        os.write(self.master, text.encode())

    def ended(self):
        """Its exit code; the terminal must be as it was."""
        until(lambda: self.read(0) or self.top_process.poll() is not None, "it ends")
        while select.select([self.master], [], [], 0)[0]:
            self.read(0)
        self.assertEqual(self.screen.modes, {"1049": False, "25": True, "7": True})
        self.assertEqual(termios.tcgetattr(self.slave), self.before)
        return self.top_process.returncode


class Shown(OnScreen):
    def test_it_follows_what_happens(self):
        first = self.holder("deploy", "--owner", "ann", "--reason", "release 4.2")
        self.top()
        self.shows("1 held", "> deploy ann", "live", "for release 4.2")
        self.assertTrue(self.screen.modes["1049"])
        waiter = self.start("run", "deploy", "--owner", "bob", "--", "true")
        second = self.holder("port:8080", "--owner", "carl", "--ttl", "1h")
        self.shows("2 held, 1 in line", "port:8080 carl", "59m", "1    bob")
        first.process.stdin.close()
        self.assertEqual((first.wait(), waiter.wait()), (0, 0))
        self.shows("1 held", without=["deploy"])
        second.process.stdin.close()
        self.shows("nothing is held")
        self.type("q")
        self.assertEqual(self.ended(), 0)

    def test_keys(self):
        for key in ("a", "b", "other"):
            self.holder(key)
        self.top()
        self.shows("3 held", "> a")
        self.type("\x1b[Bj")
        self.shows("> other")
        self.assertEqual(len(self.screen.reversed_lines()), 1)
        self.type("\r")
        self.shows("other is held by", "command", "tenure revoke --force")
        self.type("\x1b")  # alone: the key of that name
        self.shows("3 held")
        self.type("/b")
        self.shows("1 held", "that begin with: b_", "> b")
        self.type("\x1b")
        self.shows("3 held", "q quit")
        self.type("s")
        self.shows("by age")
        self.type("p")
        self.shows("PAUSED")
        self.holder("later")
        self.type("p")
        self.shows("4 held", "later", without=["PAUSED"])
        self.type("q")
        self.assertEqual(self.ended(), 0)

    def test_it_takes_every_size(self):
        for number in range(12):
            self.tenure("claim", f"key-{number:02}", "--ttl", "1h", "--owner", "o", check=0)
        self.addCleanup(lambda: [self.tenure("revoke", f"key-{n:02}", "--force", "--reason", "over") for n in range(12)])
        self.top()
        self.shows("12 held", "key-11")
        for columns, rows in ((120, 40), (40, 8), (20, 5), (80, 12)):
            self.set_size(columns, rows)
            self.screen.resize(columns, rows)
            # The terminal tells the foreground group.
            self.shows("q quit", "key-00", without=["key-11"] if rows < 24 else [])
        self.shows("rows 1-6 of 12")
        self.type("G")
        self.shows("rows 7-12 of 12", "> key-11")
        self.type("\x03")
        self.assertEqual(self.ended(), -signal.SIGINT)

    def test_only_what_has_changed_is_drawn(self):
        self.holder("k")
        self.top()
        self.shows("1 held", "> k")
        before = self.screen.written
        self.shows(" 2s ")
        self.assertLess(self.screen.written - before, 800)
        self.type("q")
        self.ended()

    def test_colour_only_where_it_is_wanted(self):
        owner = self.owner()
        self.tenure("claim", "k", "--pid", str(owner.pid), check=0)
        keeper = self.who("k")["holder"]["keeper_process"]["pid"]
        os.kill(keeper, signal.SIGKILL)
        owner.process.kill()
        owner.wait()
        until(lambda: self.who("k")["liveness"] == "dead", "it is dead")
        self.holder("a")
        for env, red in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "vt100"}, False)):
            with self.subTest(env=env):
                self.top(**env)
                self.shows("1 dead", "  k ", "dead")
                self.assertEqual("red" in self.screen.styles_seen, red)
                self.type("q")
                self.assertEqual(self.ended(), 0)


class Left(OnScreen):
    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            self.top()
            self.shows("nothing is held")
            self.top_process.send_signal(number)
            self.assertEqual(self.ended(), -number)

    def test_stopped_the_terminal_is_as_before_and_then_all_is_drawn_again(self):
        self.holder("k")
        # In a group of its own below a leader that stays, or the kernel would not let it stop.
        self.set_size(80, 24)
        self.screen = Screen(80, 24)
        leader = ("import os, signal, subprocess, sys\n"
                  "signal.signal(signal.SIGTTOU, signal.SIG_IGN)\n"
                  "child = subprocess.Popen(sys.argv[1:], process_group=0,"
                  " preexec_fn=lambda: signal.signal(signal.SIGTTOU, signal.SIG_DFL))\n"
                  "os.tcsetpgrp(0, child.pid)\n"
                  "print(child.pid, file=open('pid.new', 'w'), flush=True)\n"
                  "os.rename('pid.new', 'pid')\n"
                  "sys.exit(child.wait())\n")
        self.top_process = self.start_program(["setsid", "--ctty", "python3", "-c", leader, PROGRAM, "top"],
                                              env={"TERM": "xterm"})
        self.shows("1 held", "> k")
        pid = int(open(self.path("pid"), encoding="utf-8").read())
        for stop, first in (("\x1a", None), (None, signal.SIGSTOP)):
            if stop:
                self.type(stop)
            else:
                os.kill(pid, first)
            until(lambda: state_of(pid) == "T", "it is stopped")
            while select.select([self.master], [], [], 0)[0]:
                self.read(0)
            if stop:
                self.assertEqual(termios.tcgetattr(self.slave), self.before)
                self.assertFalse(self.screen.modes["1049"])
            self.screen.clear()  # whoever has the terminal meanwhile
            os.kill(pid, signal.SIGCONT)
            self.shows("1 held", "> k")
            self.assertTrue(self.screen.modes["1049"])
        self.type("q")
        self.assertEqual(self.ended(), 0)


class Plain(OnScreen):
    def test_a_terminal_that_cannot_place_its_cursor(self):
        self.holder("k", "--owner", "ann")
        self.top(TERM="dumb")
        self.shows("> k   ann")
        second = self.holder("l", "--owner", "bob")
        self.shows("2 held", "  l   bob")
        second.process.stdin.close()
        self.shows("1 held")
        self.type("q")
        until(lambda: self.read() or self.top_process.poll() is not None, "it ends")
        self.assertEqual((self.top_process.returncode, self.screen.modes, self.screen.styles_seen), (0, {}, set()))
        self.assertEqual(termios.tcgetattr(self.slave), self.before)

    def test_once(self):
        self.assertIn("nothing is held", self.tenure("top", "--once", check=0).stdout)
        self.holder("deploy", "--owner", "ann", script="# \x1b[2J")
        self.holder("日本語", "--owner", "bob")
        text = self.tenure("top", "--once", check=0).stdout
        self.assert_fits(text)
        self.assertIn("2 held", text)
        self.assertRegex(text, r"deploy +ann")
        self.assertNotIn("ann", self.tenure("top", "--once", "日", check=0).stdout)

    def test_no_terminal_is_refused_with_what_to_do(self):
        done = self.tenure("top", "--space", "local:x", check=64)
        self.assertEqual(remedies(done.stderr), ["tenure watch --space local:x"])
        self.assertIn("tenure ls --space local:x", " ".join(done.stderr.split()))


if __name__ == "__main__":
    main()
