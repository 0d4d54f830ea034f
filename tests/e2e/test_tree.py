"""run and all that its command starts: killed and stopped runners and guardians, losses, --until."""

import json
import os
import re
import shutil
import signal
import subprocess

from e2e import PROGRAM, Case, content, gone, main, state_of, until

# Starts what the tests look for: a child in a session of its own whose parent has gone, as daemons are made. `daemon NAME
# TRAP` returns when NAME.pid tells its process, which has set the trap by then. Everything waits for pipes that nobody
# writes to.
DAEMON = r"""
exec 3<&0
daemon() {
  setsid sh -c 'sh -c "$1
    echo \$\$ > $0.pid.new; mv $0.pid.new $0.pid; cat <&3 & wait; wait" & ' "$1" "$2"
  while ! [ -e "$1.pid" ]; do :; done
}
"""
NEVER = "cat <&3 & wait; wait"


class Tree(Case):
    def runner(self, key, *options, script, **more):
        """A `run` whose command is this script and has written `began`; with its guardian."""
        began = self.path("began-" + os.urandom(4).hex())
        run = self.start("run", key, *options, "--", "sh", "-c",
                         f"{DAEMON}\n{script.replace('BEGAN', f'echo $$ $PPID > {began}.new; mv {began}.new {began}')}",
                         stdin=subprocess.PIPE, **more)
        until(lambda: content(began) or run.process.poll() is not None, "the command begins")
        self.assertTrue(content(began), run.err)
        run.child, run.guardian = (int(each) for each in content(began).split())
        return run

    def with_daemon(self, key, *options, daemon=":", trap=":", after=NEVER, **more):
        name = self.path("daemon-" + os.urandom(4).hex())
        run = self.runner(key, *options, script=f"daemon {name} '{daemon}'; {trap}; BEGAN; {after}", **more)
        run.daemon = int(content(name + ".pid"))
        self.addCleanup(self.end_process, run.daemon)
        self.addCleanup(self.end_process, run.child)
        return run

    def end_process(self, pid):
        if not gone(pid):
            os.kill(pid, signal.SIGKILL)

    def end_run(self, run):
        run.process.stdin.close()
        return run.wait()

    def revoke(self, key):
        self.tenure("revoke", key, "--force", "--reason", "maintenance", check=0)


class Killed(Tree):
    def test_a_killed_runner_s_tree_gets_term_and_only_then_the_key_is_free(self):
        said = self.path("said")
        run = self.with_daemon("k", trap=f'trap "echo term > {said}; exit" TERM')
        # It notes, when it begins, whether any of the tree still ran.
        waiter = self.start("run", "k", "--", "sh", "-c", f"""
            for pid in {run.child} {run.daemon}; do
              case $(sed 's/.*) //' /proc/$pid/stat 2>/dev/null) in "" | Z* | X*) ;; *) echo overlap;; esac
            done""")
        until(lambda: "waiting" in waiter.err, "the next waits")
        run.process.kill()
        self.assertEqual(waiter.wait(), 0, waiter.err)
        self.assertEqual(waiter.out, "")
        self.assertEqual(content(said), "term\n")
        self.assertTrue(gone(run.child) and gone(run.daemon))
        self.assertIn(f"(pid {run.pid}) was killed: ending what it ran", " ".join(run.err.split()))
        until(lambda: gone(run.guardian), "the guardian goes too")

    def test_it_is_told_as_json_too(self):
        run = self.with_daemon("k", "--json")
        run.process.kill()
        event = json.loads(until(lambda: run.err, "the guardian tells"))
        self.assertEqual(event["event"], "runner_killed")
        other = self.with_daemon("k2", "--json")
        os.kill(other.guardian, signal.SIGKILL)
        other.wait()
        self.assertEqual(json.loads(other.err)["event"], "guardian_killed")

    def test_what_ignores_term_is_killed_after_the_grace(self):
        run = self.with_daemon("k", "--grace", "200ms", daemon='trap "" TERM', trap='trap "" TERM')
        run.process.kill()
        until(lambda: gone(run.child) and gone(run.daemon), "both are killed")
        self.until_free("k")

    def test_what_forks_while_it_is_ended_is_ended_too(self):
        mark = self.path("again")
        # Each TERM makes two new ones, which ignore it, in sessions of their own.
        again = f'setsid sh -c "trap \\"\\" TERM; echo \\$\\$ >> {mark}; {NEVER}" & '
        run = self.runner("k", "--grace", "300ms", script=f"trap '{again}{again}' TERM; BEGAN; while :; do cat <&3 & wait; done")
        run.process.kill()
        self.until_free("k")
        self.assertTrue(gone(run.child))
        self.assertTrue(content(mark))
        self.assertTrue(all(gone(int(pid)) for pid in content(mark).split()))

    def test_a_killed_guardian_s_tree_is_ended_by_the_runner(self):
        run = self.with_daemon("k", "--status-file", self.path("status"))
        os.kill(run.guardian, signal.SIGKILL)
        self.assertEqual(run.wait(), -signal.SIGTERM, run.err)
        self.assertTrue(gone(run.child) and gone(run.daemon))
        self.assertIn("guardian process was killed", run.err)
        self.assertFalse(self.who("k")["held"])

    def test_a_killed_guardian_s_tree_that_ignores_term_is_killed(self):
        run = self.with_daemon("k", "--grace", "200ms", daemon='trap "" TERM', trap='trap "" TERM')
        os.kill(run.guardian, signal.SIGKILL)
        self.assertEqual(run.wait(), -signal.SIGKILL, run.err)
        self.assertTrue(gone(run.child) and gone(run.daemon))

    def test_both_killed_the_lease_stays_with_the_tree(self):
        run = self.with_daemon("k")
        self.kill_with_guardian(run)
        until(lambda: gone(run.child), "the kernel tells the command")
        self.assertFalse(gone(run.daemon))
        self.assertTrue(self.who("k")["held"])
        self.tenure("run", "k", "--wait", "0", "--", "true", check=75)
        run.process.stdin.close()
        until(lambda: gone(run.daemon), "the last of the tree ends")
        self.tenure("run", "k", "--wait", "30s", "--", "true", check=0)

    def test_a_runner_killed_after_the_command_takes_the_rest_along(self):
        run = self.with_daemon("k", "--until", "tree", after="exit 0")
        until(lambda: gone(run.child), "the command ends")
        run.process.kill()
        until(lambda: gone(run.daemon), "the tree was still held for, and is ended")
        self.until_free("k")


    def test_a_stopped_guardian_goes_on_when_the_runner_is_killed(self):
        run = self.with_daemon("k", "--ttl", "1s")
        run.send(signal.SIGSTOP)
        until(lambda: state_of(run.pid) == "T", "the runner cannot wake it")
        os.kill(run.guardian, signal.SIGSTOP)
        until(lambda: state_of(run.guardian) == "T", "it is stopped")
        run.process.kill()
        until(lambda: gone(run.child) and gone(run.daemon), "the tree is ended")
        self.until_free("k")

    def test_what_lives_on_without_its_first_thread_is_ended_too(self):
        pid = self.path("pid")
        with open(self.path("threads.py"), "w", encoding="utf-8") as file:
            file.write(f"""
import ctypes, os, signal, threading
signal.signal(signal.SIGTERM, signal.SIG_IGN)
def stay():
    with open({pid!r} + ".new", "w") as file:
        file.write(str(os.getpid()))
    os.rename({pid!r} + ".new", {pid!r})
    os.read(os.pipe()[0], 1)
threading.Thread(target=stay).start()
ctypes.CDLL(None).syscall({60 if os.uname().machine == "x86_64" else 93}, 0)  # exit, of this thread alone
""")
        run = self.runner("k", "--grace", "200ms", script=f"python3 {self.path('threads.py')} & BEGAN; {NEVER}")
        threads = int(until(lambda: content(pid), "it runs"))
        until(lambda: state_of(threads) == "Z", "its first thread has ended")
        self.addCleanup(lambda: os.path.exists(f"/proc/{threads}") and os.kill(threads, signal.SIGKILL))
        run.process.kill()
        until(lambda: not os.path.exists(f"/proc/{threads}/task") or os.listdir(f"/proc/{threads}/task") == [str(threads)],
              "all its threads are ended")
        self.until_free("k")

    def test_a_guardian_killed_at_the_start_keeps_nobody_waiting(self):
        for _ in range(10):
            run = self.start("run", "k", "--", "true")
            children = lambda: content(f"/proc/{run.pid}/task/{run.pid}/children").split() or run.process.poll() is not None
            guardian = until(children, "its guardian is there, or it has ended")
            if guardian is not True:
                try:
                    os.kill(int(guardian[0]), signal.SIGKILL)
                except ProcessLookupError:
                    pass
            # 127: it was not executed, for its guardian was gone by then.
            self.assertIn(run.wait(), (0, 126, 127, -signal.SIGTERM), run.err)
            self.assertFalse(self.who("k")["held"])

    def test_a_runner_killed_before_the_command_was_executed_leaves_nothing(self):
        # Of all of them only the command's process, between fork and exec, asks for its parent: there it is stopped.
        if not shutil.which("strace"):
            self.skipTest("there is no strace")
        log = self.path("trace")
        traced = self.start_program(["strace", "-f", "-o", log, "-e", "trace=getppid",
                                     "-e", "inject=getppid:signal=SIGSTOP:when=1",
                                     PROGRAM, "run", "k", "--", "touch", self.path("ran")])
        found = lambda: re.search(r"^(\d+) +--- stopped by SIGSTOP", content(log), re.M)
        until(lambda: found() or traced.process.poll() is not None, "the command's process is stopped")
        if not found():
            self.skipTest("nothing can be traced here: " + traced.err[:200])
        command = int(found()[1])
        parent = lambda pid: int(content(f"/proc/{pid}/stat").rpartition(")")[2].split()[1])
        guardian = parent(command)
        runner = parent(guardian)
        self.assertEqual(self.who("k")["holder"]["pid"], runner)
        os.kill(runner, signal.SIGKILL)
        until(lambda: gone(command) and gone(guardian), "both are gone")
        traced.wait()
        self.assertFalse(os.path.exists(self.path("ran")))
        self.until_free("k")


class Stopped(Tree):
    def test_a_command_killed_while_it_is_stopped_ends_the_run(self):
        for number in (signal.SIGKILL, signal.SIGTERM):
            run = self.runner("k", script=f"BEGAN; {NEVER}")
            os.kill(run.child, signal.SIGSTOP)
            until(lambda: state_of(run.pid) == "T", "we stop with it")
            os.kill(run.child, number)
            if number == signal.SIGTERM:
                os.kill(run.child, signal.SIGCONT)
            self.assertEqual(run.wait(), -number, run.err)

    def test_a_stopped_job_that_is_told_to_end_and_to_go_on_ends(self):
        for _ in range(8):
            run = self.runner("k", script=f"BEGAN; {NEVER}", start_new_session=True)
            os.kill(run.child, signal.SIGSTOP)
            until(lambda: state_of(run.pid) == "T", "we stop with it")
            os.killpg(run.pid, signal.SIGTERM)
            os.killpg(run.pid, signal.SIGCONT)
            self.assertEqual(run.wait(), -signal.SIGTERM, run.err)

    def test_a_stopped_guardian_is_woken_for_the_end_of_the_command(self):
        for options, script in (((), "BEGAN; exec cat <&3"), (("--until", "tree"), f"cat <&3 & BEGAN; exit 0")):
            run = self.runner("k", *options, script=script)
            os.kill(run.guardian, signal.SIGSTOP)
            self.assertEqual(self.end_run(run), 0, run.err)

    def test_signals_of_the_job_do_not_keep_it_from_beginning(self):
        for number in (signal.SIGCONT, signal.SIGWINCH):
            for _ in range(5):
                ran = self.path("ran")
                run = self.start("run", "k", "--", "touch", ran)
                while run.process.poll() is None:
                    run.send(number)
                self.assertEqual(run.wait(), 0, run.err)
                os.unlink(ran)

    def test_a_stopped_runner_s_lease_runs_out_and_the_guardian_ends_the_tree(self):
        run = self.with_daemon("k", "--ttl", "1s", "--grace", "200ms", daemon='trap "" TERM')
        waiter = self.start("run", "k", "--", "true")
        until(lambda: "waiting" in waiter.err, "the next waits")
        run.send(signal.SIGSTOP)
        until(lambda: gone(run.child) and gone(run.daemon), "the tree is ended")
        self.assertEqual(waiter.wait(), 0, waiter.err)
        self.assertIn("is stopped: ending what it runs", " ".join(run.err.split()))
        run.send(signal.SIGCONT)
        self.assertEqual(run.wait(), 76, run.err)
        # As long as the tree ran on, and not until we could tell.
        self.assertRegex(run.err, r"the command ended [0-9.a-z ]+ past the deadline")

    def test_a_stopped_guardian_is_woken_for_a_loss(self):
        run = self.with_daemon("k", "--grace", "200ms", daemon='trap "" TERM')
        os.kill(run.guardian, signal.SIGSTOP)
        self.revoke("k")
        self.assertEqual(run.wait(), 76, run.err)
        self.assertTrue(gone(run.child) and gone(run.daemon))

    def test_we_stop_and_go_on_as_the_command_does(self):
        run = self.runner("k", script=f"BEGAN; {NEVER}")
        for _ in range(3):
            os.kill(run.child, signal.SIGSTOP)
            until(lambda: state_of(run.pid) == "T", "we stop with it")
            self.assertEqual(state_of(run.child), "T")
            run.send(signal.SIGCONT)
            until(lambda: state_of(run.child) == "S", "it goes on with us")
            os.kill(run.child, signal.SIGSTOP)
            until(lambda: state_of(run.pid) == "T", "we stop with it")
            os.kill(run.child, signal.SIGCONT)
            until(lambda: state_of(run.pid) == "S", "we go on with it")
        self.assertEqual(self.end_run(run), 0, run.err)


class Lost(Tree):
    def test_the_whole_tree_is_ended_and_waited_for(self):
        said = self.path("said")
        run = self.with_daemon("k", daemon=f'trap "echo daemon > {said}; exit" TERM')
        self.revoke("k")
        self.assertEqual(run.wait(), 76, run.err)
        self.assertEqual(content(said), "daemon\n")
        self.assertTrue(gone(run.child) and gone(run.daemon))

    def test_kill_asks_nobody(self):
        run = self.with_daemon("k", "--on-lost", "kill", trap='trap "" TERM')
        self.revoke("k")
        self.assertEqual(run.wait(), 76, run.err)
        self.assertTrue(gone(run.child) and gone(run.daemon))

    def test_a_command_in_place_of_it(self):
        told = self.path("told")
        run = self.runner("k", "--on-lost", f'echo "$TENURE_KEY|$TENURE_EPOCH|$TENURE_WHY|$TENURE_PID" > {told}.new; '
                          f'mv {told}.new {told}', script=f"BEGAN; {NEVER}")
        epoch = self.who("k")["epoch"]
        self.revoke("k")
        until(lambda: content(told), "the command runs")
        key, said, why, pid = content(told).strip().split("|")
        self.assertEqual((key, said, pid), ("k", str(epoch), str(run.child)))
        self.assertIn("maintenance", why)
        self.assertFalse(gone(run.child))
        self.assertEqual(self.end_run(run), 76, run.err)

    def test_a_command_that_hangs_is_killed_after_the_grace(self):
        pid = self.path("pid")
        run = self.runner("k", "--grace", "300ms", "--on-lost",
                          f"sh -c 'echo $$ > {pid}.new; mv {pid}.new {pid}; exec tail -f /dev/null'; true",
                          script=f"BEGAN; {NEVER}")
        self.revoke("k")
        hook = int(until(lambda: content(pid), "it runs"))
        until(lambda: gone(hook), "it is killed")
        self.assertEqual(self.end_run(run), 76, run.err)


class Until(Tree):
    def test_main_is_the_command_alone(self):
        run = self.with_daemon("k", after="exit 5")
        self.assertEqual(run.wait(), 5, run.err)
        self.assertFalse(self.who("k")["held"])
        self.assertFalse(gone(run.daemon))

    def test_tree_is_all_that_it_started(self):
        run = self.with_daemon("k", "--until", "tree", "--status-file", self.path("status"), after="exit 5")
        until(lambda: gone(run.child), "the command ends")
        self.tenure("run", "k", "--wait", "0", "--", "true", check=75)
        self.assertEqual(self.end_run(run), 5, run.err)
        self.assertTrue(gone(run.daemon))
        self.assertEqual(json.loads(content(self.path("status"))), {"by": "command", "exit_code": 5})
        self.assertFalse(self.who("k")["held"])

    def test_a_signal_after_the_command_goes_to_what_is_left(self):
        said = self.path("said")
        run = self.with_daemon("k", "--until", "tree", daemon=f'trap "echo term > {said}; exit" TERM',
                               after="exit 0")
        until(lambda: gone(run.child), "the command ends")
        run.send(signal.SIGTERM)
        self.assertEqual(run.wait(), 0, run.err)
        self.assertEqual(content(said), "term\n")

    def test_a_loss_after_the_command_counts(self):
        run = self.with_daemon("k", "--until", "tree", after="exit 0")
        until(lambda: gone(run.child), "the command ends")
        self.revoke("k")
        self.assertEqual(run.wait(), 76, run.err)
        self.assertTrue(gone(run.daemon))


class Busy(Case):
    def test_the_exit_code_of_choice(self):
        self.holder("k")
        self.tenure("run", "k", "--wait", "0", "--busy-exit", "9", "--", "true", check=9)
        self.tenure("run", "k", "--wait", "1ms", "--busy-exit", "0", "--status-file", self.path("status"), "--", "true",
                    check=0)
        self.assertEqual(json.loads(content(self.path("status"))), {"by": "tenure", "exit_code": 0, "code": "timed_out"})
        # Of what is not a matter of being busy it says nothing.
        self.tenure("run", "k2", "--busy-exit", "9", "--", "no-such-program-anywhere", check=127)
        self.tenure("run", "k2", "--busy-exit", "9", "--space", "nonsense", "--", "true", check=64)


class WithoutAGroup:
    """Where no control group is to be had, /proc alone shows the tree."""

    def start(self, *words, **more):
        words = ("run", "--cgroup", "never", *words[1:]) if words[0] == "run" else words
        return super().start(*words, **more)


class KilledWithoutAGroup(WithoutAGroup, Killed):
    pass


class StoppedWithoutAGroup(WithoutAGroup, Stopped):
    pass


if __name__ == "__main__":
    main()
