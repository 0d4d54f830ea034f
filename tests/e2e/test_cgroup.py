"""run in a control group: what escapes every descriptor keeps the key; the groups come and go with their runs."""

import os
import re
import signal
import subprocess
import unittest

from e2e import PROGRAM, Case, content, gone, main, until

# Leaves its session, its parent and all descriptors of ours, and tells its number.
ESCAPES = r"""
import os, signal, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(3, 4096)
        with open(sys.argv[1] + ".new", "w") as file:
            file.write(str(os.getpid()))
        os.rename(sys.argv[1] + ".new", sys.argv[1])
        while True:
            signal.pause()
    os._exit(0)
os.wait()
"""


def group_of(pid):
    return re.search(r"^0::(.*)$", content(f"/proc/{pid}/cgroup"), re.M)[1]


def mount():
    return next((line.split()[4] for line in content("/proc/self/mountinfo").splitlines() if " - cgroup2 " in line), "")


class Groups(Case):
    def setUp(self):
        super().setUp()
        tried = self.tenure("run", "try", "--cgroup", "require", "--", "true")
        if tried.returncode != 0:
            self.skipTest("no control group can be made here: " + tried.stderr.strip()[:200])

    def folder_of(self, pid):
        return mount() + group_of(pid)

    def with_escaped(self, key, *options):
        name = self.path("escaped-" + os.urandom(4).hex())
        with open(name + ".py", "w", encoding="utf-8") as file:
            file.write(ESCAPES)
        run = self.holder(key, *options, script=f"python3 {name}.py {name}")
        run.escaped = int(content(name))
        self.addCleanup(self.end_process, run.escaped)
        self.addCleanup(self.end_process, run.child)
        return run

    def end_process(self, pid):
        if not gone(pid):
            os.kill(pid, signal.SIGKILL)

    def test_who_has_left_session_parent_and_descriptors_keeps_the_key(self):
        run = self.with_escaped("k")
        folder = self.folder_of(run.child)
        self.assertRegex(folder, r"/tenure-run-\d+-0$")
        self.kill_with_guardian(run)
        until(lambda: gone(run.child), "the command got TERM")
        seen = self.who("k")
        self.assertEqual((seen["liveness"], seen["held"]), ("live", True))
        self.assertIn("a process lives in its control group", seen["evidence"])
        self.tenure("run", "k", "--wait", "0", "--", "true", check=75)
        # Whoever cannot see the group does not take the key either.
        blind = subprocess.run(["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /sys/fs/cgroup && exec "$0" who k',
                                PROGRAM], env=self.env, capture_output=True, text=True, check=False)
        if blind.returncode == 0:
            self.assertIn("cannot be seen from here", " ".join(blind.stdout.split()))
        waiter = self.start("run", "k", "--", "true")
        until(lambda: self.who("k").get("waiting") == 1, "it waits")
        os.kill(run.escaped, signal.SIGKILL)
        self.assertEqual(waiter.wait(), 0, waiter.err)
        self.tenure("run", "k", "--", "true", check=0)
        self.assertFalse(os.path.exists(folder), "the next run has removed what was left")

    def test_without_a_group_it_does_not(self):
        run = self.with_escaped("k", "--cgroup", "never")
        self.assertEqual(group_of(run.child), group_of(os.getpid()))
        self.kill_with_guardian(run)
        until(lambda: gone(run.child), "the command got TERM")
        self.until_free("k")
        self.assertFalse(gone(run.escaped))

    def test_the_group_goes_with_its_run(self):
        run = self.holder("k")
        folder = self.folder_of(run.child)
        inner = self.holder("other", script="true")
        self.assertNotEqual(self.folder_of(inner.child), folder)
        run.process.stdin.close()
        self.assertEqual(run.wait(), 0, run.err)
        self.assertFalse(os.path.exists(folder))
        self.assertTrue(os.path.exists(self.folder_of(inner.child)))
        # The guardian sees to it when the runner is killed.
        folder = self.folder_of(inner.child)
        inner.process.kill()
        inner.wait()
        self.until_free("other")
        until(lambda: not os.path.exists(folder), "the group is removed")

    def test_runs_within_runs_have_groups_within_groups(self):
        done = self.tenure("run", "a", "--", "tenure", "run", "b", "--", "cat", "/proc/self/cgroup", check=0)
        self.assertRegex(done.stdout, r"(?m)^0::.*/tenure-run-\d+-0/tenure-run-\d+-0$")
        self.assertEqual([name for name in os.listdir(self.folder_of(os.getpid())) if name.startswith("tenure-run-")
                          and not os.path.exists("/proc/" + name.split("-")[2])], [])

    def test_a_killed_tree_is_killed_at_once(self):
        run = self.with_escaped("k", "--on-lost", "kill")
        self.tenure("revoke", "k", "--force", "--reason", "x", check=0)
        self.assertEqual(run.wait(), 76)
        self.assertTrue(gone(run.escaped))


class Refused(Case):
    def test_required_where_there_is_none(self):
        blind = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /sys/fs/cgroup && exec "$0" "$@"', PROGRAM]
        if subprocess.run([*blind, "--version"], env=self.env, capture_output=True, check=False).returncode != 0:
            self.skipTest("nothing can be mounted here")
        for wish, code in (("require", 64), ("auto", 0), ("never", 0)):
            done = subprocess.run([*blind, "run", "k", "--cgroup", wish, "--", "true"], env=self.env, capture_output=True,
                                  text=True, check=False)
            self.assertEqual(done.returncode, code, done.stderr)

    def test_usage(self):
        self.tenure("run", "k", "--cgroup", "maybe", "--", "true", check=64)
        self.tenure("run", "k", "--space", "files:" + self.path("shared"), "--cgroup", "require", "--", "true", check=64)


class BesideSystemd(Groups):
    """A mount namespace in which it looks as if systemd ran the machine."""

    def group_of_command(self, *options):
        """Of a command of run, from within a group of ours."""
        script = ("mount -t tmpfs none /run && mkdir -p /run/systemd/system && "
                  f"echo $$ > {self.own}/cgroup.procs && exec {PROGRAM} run thing {' '.join(options)} -- cat /proc/self/cgroup")
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script], env=self.env, text=True, capture_output=True,
                              timeout=60, stdin=subprocess.DEVNULL, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return re.search(r"^0::(.*)$", done.stdout, re.M)[1]

    def setUp(self):
        super().setUp()
        self.own = os.path.join(mount() + group_of(os.getpid()), "tenure-test-" + os.urandom(4).hex())
        try:
            os.mkdir(self.own)
            self.addCleanup(os.rmdir, self.own)
            self.addCleanup(lambda: until(lambda: not content(self.own + "/cgroup.procs"), "nobody is in it"))
            subprocess.run(["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/run"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as problem:
            self.skipTest(f"needs root: {problem}")

    def test_what_is_not_delegated_is_not_divided(self):
        self.assertNotIn("tenure-run-", self.group_of_command())
        self.assertIn("tenure-run-", self.group_of_command("--cgroup", "require"))
        try:
            os.setxattr(self.own, "user.delegate", b"1")
        except OSError as problem:
            self.skipTest(f"no attributes of users on control groups here: {problem}")
        self.assertIn("tenure-run-", self.group_of_command())


if __name__ == "__main__":
    main()
