"""What the tests of the program share: a fresh home each, processes that are ended by their id, waits for events.

Nothing sleeps and hopes: `until` looks again and again, up to a bound that only a fault reaches.
"""

import json
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

PROGRAM = os.environ.get("TENURE_PROGRAM", os.path.join(os.path.dirname(__file__), "../../build/release/bin/tenure"))
SOURCE = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
BOUND = 90  # seconds


def until(condition, what, bound=BOUND):
    """Waits until condition() is true, and returns its value."""
    end = time.monotonic() + bound
    pause = threading.Event()
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("waited in vain: " + what)
        pause.wait(0.01)


def state_of(pid):
    """The state letter of a process, "" when it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def gone(pid):
    return state_of(pid) in ("", "Z", "X")


def content(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""


# Notes each of these signals that reaches it, and goes on until NAME.end is there.
COUNTER = r"""
import os, signal, sys
seen = open(sys.argv[1], "a")
def note(number, frame):
    seen.write(signal.Signals(number).name + "\n"); seen.flush()
for name in sys.argv[2:]:
    signal.signal(getattr(signal, name), note)
with open(sys.argv[1] + ".pid.new", "w") as file:
    file.write(str(os.getpid()))
os.rename(sys.argv[1] + ".pid.new", sys.argv[1] + ".pid")
while not os.path.exists(sys.argv[1] + ".end"):
    signal.sigtimedwait([], 0.02)
"""


class Started:
    """A process that runs beside the test; its streams go to files, so that nothing blocks and all can be read twice."""

    def __init__(self, case, words, env, **more):
        self.folder = tempfile.mkdtemp(dir=case.folder)
        self.out_path = os.path.join(self.folder, "out")
        self.err_path = os.path.join(self.folder, "err")
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            more.setdefault("stdin", subprocess.DEVNULL)
            self.process = subprocess.Popen(words, env=env, stdout=out, stderr=err, cwd=case.folder, **more)
        self.pid = self.process.pid

    @property
    def out(self):
        return content(self.out_path)

    @property
    def err(self):
        return content(self.err_path)

    def wait(self, bound=BOUND):
        return self.process.wait(bound)

    def send(self, number):
        self.process.send_signal(number)


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tenure-e2e-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.home = os.path.join(self.folder, "home")
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("TENURE")}
        self.env["TENURE_HOME"] = self.home
        self.env["PATH"] = os.path.dirname(os.path.realpath(PROGRAM)) + ":" + self.env["PATH"]
        self.started = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for each in self.started:
            if each.process.poll() is None:
                each.process.kill()
            each.process.wait(BOUND)

    def path(self, name):
        return os.path.join(self.folder, name)

    def environment(self, extra):
        env = dict(self.env)
        for name, value in (extra or {}).items():
            if value is None:
                env.pop(name, None)
            else:
                env[name] = value
        return env

    def tenure(self, *words, env=None, check=None, input=None, cwd=None):
        """Runs it to its end. `check`: the exit code that it must have."""
        done = subprocess.run([PROGRAM, *words], env=self.environment(env), input=input, text=True, errors="replace",
                              capture_output=True, timeout=BOUND, cwd=cwd or self.folder,
                              **({} if input is not None else {"stdin": subprocess.DEVNULL}))
        if check is not None:
            self.assertEqual(done.returncode, check, f"{words}\nout: {done.stdout}\nerr: {done.stderr}")
        return done

    def shell(self, text, env=None, check=None):
        done = subprocess.run(["sh", "-c", text], env=self.environment(env), text=True, errors="replace",
                              capture_output=True, timeout=BOUND, cwd=self.folder, stdin=subprocess.DEVNULL)
        if check is not None:
            self.assertEqual(done.returncode, check, f"{text}\nout: {done.stdout}\nerr: {done.stderr}")
        return done

    def start(self, *words, env=None, **more):
        return self.start_program([PROGRAM, *words], env=env, **more)

    def start_program(self, words, env=None, **more):
        started = Started(self, words, self.environment(env), **more)
        self.started.append(started)
        return started

    def owner(self):
        """A process to own leases, alive until the test ends it."""
        reading, writing = os.pipe()
        self.addCleanup(os.close, writing)
        started = self.start_program(["cat"], stdin=reading)
        os.close(reading)
        return started

    def holder(self, key, *options, script="", **more):
        """A `run` that holds the key until its process is ended; returns when the command has begun."""
        mark = self.path("began-" + os.urandom(4).hex())
        # The shell waits for a pipe that nobody writes to: no time is involved.
        run = self.start("run", key, *options, "--", "sh", "-c",
                         f"{script}\necho $$ $TENURE_EPOCH > {mark}.new; mv {mark}.new {mark}; exec cat",
                         stdin=subprocess.PIPE, **more)
        until(lambda: content(mark) or run.process.poll() is not None, "the command of the holder begins")
        words = content(mark).split()
        self.assertTrue(words, f"the holder did not start: {run.err}")
        run.child, run.epoch = int(words[0]), int(words[1])
        return run

    def counter(self, *signals):
        """The shell words of a counter, and the file that it writes to."""
        seen = self.path("seen-" + os.urandom(4).hex())
        with open(seen + ".py", "w", encoding="utf-8") as file:
            file.write(COUNTER)
        return f"python3 {seen}.py {seen} {' '.join(signals)}", seen

    def running(self, seen):
        return int(until(lambda: content(seen + ".pid"), "the command runs"))

    def kill_with_guardian(self, run):
        """Both processes of a `run`, neither of which can do anything about the death of the other."""
        guardian = int(until(lambda: content(f"/proc/{run.pid}/task/{run.pid}/children"), "its guardian is there").split()[0])
        for pid in (run.pid, guardian):
            os.kill(pid, signal.SIGSTOP)
            until(lambda: state_of(pid) == "T", "it is stopped")
        os.kill(guardian, signal.SIGKILL)
        run.process.kill()
        run.wait()
        until(lambda: gone(guardian), "both are gone")

    def who(self, key, *options):
        return json.loads(self.tenure("who", key, "--json", *options, check=0).stdout)

    def until_free(self, key):
        return until(lambda: not self.who(key)["held"] or None, f"{key} is free")

    def assert_fits(self, text, commands_may_be_longer=True):
        for line in text.splitlines():
            if commands_may_be_longer and re.match(r"\s+(next: )?(tenure|handle=)", line):
                continue
            self.assertLessEqual(len(line), 80, line)
        self.assertNotRegex(text, r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")


def remedies(text):
    """The commands that a message tells to type."""
    return [line.strip().removeprefix("next: ") for line in text.splitlines()
            if re.match(r"\s+(next: )?(tenure|handle=)", line)]


def main():
    unittest.main(verbosity=2)
