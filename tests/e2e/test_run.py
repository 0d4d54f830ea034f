"""run: the main job, waiting, exit codes, signals, what the command inherits."""

import json
import os
import pty
import signal
import subprocess
import unittest

from e2e import BOUND, PROGRAM, Case, content, gone, main, until

COUNTED = ("SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGTERM")


class MainJob(Case):
    def test_a_killed_runner_takes_its_command_along_and_only_then_the_next_starts(self):
        first = self.holder("demo")
        # The second notes whether the first command still ran when it began: a process that is not on its way out, which
        # the kernel marks by bit 2 of the flags in its stat. One that has ended may still wait there to be reaped.
        second = self.start("run", "demo", "--", "sh", "-c",
                            f"set -- $(sed 's/.*) //' /proc/{first.child}/stat 2>/dev/null); "
                            '[ -n "$7" ] && [ $(( $7 & 4 )) -eq 0 ] && echo overlap; echo "epoch $TENURE_EPOCH"')
        until(lambda: "waiting" in second.err, "the second waits")
        self.assertIsNone(second.process.poll())
        first.process.kill()
        self.assertEqual(second.wait(), 0, second.err)
        until(lambda: gone(first.child), "the first command has ended")
        self.assertNotIn("overlap", second.out)
        self.assertGreater(int(second.out.split()[-1]), first.epoch)
        self.assertIn("took demo over", second.err)

    def test_many_runs_of_one_key_never_overlap(self):
        inside, count = self.path("inside"), 12
        runs = [self.start("run", "one", "--", "sh", "-c",
                           f'mkdir {inside} || exit 9; echo $TENURE_EPOCH >> {inside}.epochs; rmdir {inside}')
                for _ in range(count)]
        self.assertEqual([run.wait() for run in runs], [0] * count, [run.err for run in runs])
        epochs = [int(line) for line in content(inside + ".epochs").split()]
        self.assertEqual(epochs, sorted(set(epochs)))
        self.assertEqual(len(epochs), count)

    def test_the_command_sees_key_epoch_and_space(self):
        done = self.tenure("run", "a key/with: blanks", "--", "sh", "-c", 'echo "$TENURE_KEY|$TENURE_EPOCH|$TENURE_SPACE"',
                           check=0)
        key, epoch, space = done.stdout.strip().split("|")
        self.assertEqual(key, "a key/with: blanks")
        self.assertGreater(int(epoch), 0)
        self.assertEqual(space, "local:" + self.path("home/local/default"))
        self.assertEqual(self.tenure("log", "a key/with: blanks", "--space", space, check=0).stdout.count(epoch), 2)

    def test_a_relative_space_is_named_absolutely_to_the_command(self):
        done = self.tenure("run", "k", "--space", "files:here", "--", "sh", "-c", 'echo "$TENURE_SPACE"', check=0)
        self.assertEqual(done.stdout.strip(), "files:" + self.path("here"))

    def test_the_key_is_free_after_the_end(self):
        self.tenure("run", "k", "--", "true", check=0)
        self.assertFalse(self.who("k")["held"])


class Waiting(Case):
    def test_it_says_for_whom_why_and_what_to_type(self):
        holder = self.holder("db", "--owner", "alice", "--reason", "migrating the tables")
        waiter = self.start("run", "db", "--", "true")
        until(lambda: "tenure revoke" in waiter.err, "the waiter explains")
        for part in ("waiting for db", "alice", str(holder.pid), "migrating the tables", "live", "since", "folder",
                     "alive"):
            self.assertIn(part, waiter.err)
        self.assert_fits(waiter.err)
        holder.process.terminate()
        self.assertEqual(waiter.wait(), 0)

    def test_wait_0_tries_once(self):
        self.holder("db")
        done = self.tenure("run", "db", "--wait", "0", "--", "touch", self.path("ran"))
        self.assertEqual(done.returncode, 75, done.stderr)
        self.assertFalse(os.path.exists(self.path("ran")))
        self.assertNotIn("waiting", done.stderr)

    def test_a_wait_comes_to_its_end(self):
        self.holder("db")
        done = self.tenure("run", "db", "--wait", "300ms", "--", "true", check=75)
        self.assertIn("waiting", done.stderr)
        error = json.loads(self.tenure("run", "db", "--wait", "10ms", "--json", "--", "true").stderr.splitlines()[-1])
        self.assertEqual(error["error"]["code"], "timed_out")
        self.assertEqual(error["error"]["holder"]["holder"]["pid"], self.who("db")["holder"]["pid"])

    def test_an_interrupted_wait_ends_and_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number):
                holder = self.holder("db")
                waiter = self.start("run", "db", "--", "touch", self.path("ran"))
                until(lambda: "waiting" in waiter.err, "it waits")
                waiter.send(number)
                self.assertEqual(waiter.wait(), 128 + number)
                holder.process.terminate()
                holder.wait()
                self.assertFalse(self.who("db")["held"])
                self.assertFalse(os.path.exists(self.path("ran")))

    def test_nohup_keeps_a_wait(self):
        holder = self.holder("db")
        waiter = self.start_program(["sh", "-c", 'trap "" HUP; exec tenure run db -- true'])
        until(lambda: "waiting" in waiter.err, "it waits")
        waiter.send(signal.SIGHUP)
        waiter.send(signal.SIGHUP)
        holder.process.terminate()
        self.assertEqual(waiter.wait(), 0, waiter.err)


class ExitCodes(Case):
    def test_the_command_s_own(self):
        for code in (0, 1, 3, 75, 76, 255):
            self.assertEqual(self.tenure("run", "k", "--", "sh", "-c", f"exit {code}").returncode, code)

    def test_not_there_and_not_to_be_run(self):
        self.tenure("run", "k", "--", "no-such-program-anywhere", check=127)
        self.tenure("run", "k", "--", self.path("no/such/file"), check=127)
        open(self.path("plain"), "w").close()
        done = self.tenure("run", "k", "--", self.path("plain"), check=126)
        self.assertIn("plain", done.stderr)
        self.assertFalse(self.who("k")["held"])

    def test_a_signal_s_death_is_ours_too(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGINT):
            with self.subTest(signal=number):
                done = self.shell(f"tenure run k -- sh -c 'kill -{number.value} $$'; echo $?")
                self.assertEqual(done.stdout.strip(), str(128 + number))
                direct = self.tenure("run", "k", "--", "sh", "-c", f"kill -{number.value} $$")
                self.assertEqual(direct.returncode, -number)
                self.assertFalse([name for name in os.listdir(self.folder) if name.startswith("core")])

    def test_status_file_tells_whose_it_was(self):
        def status(*words, code):
            self.tenure("run", "k", "--status-file", self.path("status"), *words, check=code)
            return json.loads(content(self.path("status")))

        self.assertEqual(status("--", "sh", "-c", "exit 75", code=75), {"by": "command", "exit_code": 75})
        self.assertEqual(status("--", "sh", "-c", "kill -TERM $$", code=-15),
                         {"by": "command", "exit_code": 143, "signal": 15})
        self.assertEqual(status("--", "no-such-program-anywhere", code=127),
                         {"by": "tenure", "exit_code": 127, "code": "not_started"})
        self.holder("k")
        self.assertEqual(status("--wait", "0", "--", "true", code=75),
                         {"by": "tenure", "exit_code": 75, "code": "held"})
        self.assertEqual(status("--wait", "1ms", "--", "true", code=75),
                         {"by": "tenure", "exit_code": 75, "code": "timed_out"})

    def test_a_status_file_that_cannot_be_written_is_told_before_the_claim(self):
        self.tenure("run", "k", "--status-file", self.path("no/such/folder/x"), "--", "touch", self.path("ran"), check=73)
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_a_status_file_that_is_not_written_in_the_end_makes_a_0_a_73(self):
        done = self.tenure("run", "k", "--status-file", "/dev/full", "--", "true", check=73)
        self.assertIn("/dev/full", done.stderr)
        done = self.tenure("run", "k", "--status-file", "/dev/full", "--json", "--", "true", check=73)
        self.assertEqual([json.loads(line)["error"]["code"] for line in done.stderr.splitlines()], ["no_space"])
        for script, code in (("exit 3", 3), ("kill -TERM $$", -15)):
            done = self.tenure("run", "k", "--status-file", "/dev/full", "--", "sh", "-c", script, check=code)
            self.assertIn("/dev/full", done.stderr)
        self.holder("k")
        self.tenure("run", "k", "--wait", "0", "--status-file", "/dev/full", "--", "true", check=75)


class Loss(Case):
    def revoke(self, key, *more):
        return self.tenure("revoke", key, "--force", "--reason", "maintenance at noon", *more, check=0)

    def test_a_revoked_command_gets_term_and_we_end_with_76(self):
        ready, term = self.path("ready"), self.path("term")
        run = self.start("run", "k", "--status-file", self.path("status"), "--", "sh", "-c",
                         f"trap 'echo term > {term}; exit 4' TERM; exec 3<&0; cat <&3 & touch {ready}; wait", stdin=subprocess.PIPE)
        until(lambda: os.path.exists(ready), "the command runs")
        self.revoke("k")
        self.assertEqual(run.wait(), 76, run.err)
        self.assertEqual(content(term), "term\n")
        self.assertIn("lost k", run.err)
        self.assertIn("maintenance at noon", " ".join(run.err.split()))
        self.assertEqual(json.loads(content(self.path("status"))),
                         {"by": "tenure", "exit_code": 76, "code": "lost", "command_exit_code": 4})

    def test_a_command_that_stays_is_killed_after_the_grace(self):
        ready, pid = self.path("ready"), self.path("pid")
        run = self.start("run", "k", "--grace", "200ms", "--", "sh", "-c",
                         f"trap '' TERM; echo $$ > {pid}; touch {ready}; exec cat", stdin=subprocess.PIPE)
        until(lambda: os.path.exists(ready), "the command runs")
        self.revoke("k")
        self.assertEqual(run.wait(), 76, run.err)
        self.assertTrue(gone(int(content(pid))))

    def test_warn_leaves_it_alone(self):
        run = self.holder("k", "--on-lost", "warn")
        self.revoke("k")
        until(lambda: "lost k" in run.err, "the loss is told")
        self.assertFalse(gone(run.child))
        run.process.stdin.close()
        self.assertEqual(run.wait(), 76)

    def test_the_successor_is_named(self):
        run = self.holder("k", "--on-lost", "warn", "--owner", "old")
        waiter = self.start("run", "k", "--owner", "newcomer", "--", "cat", stdin=subprocess.PIPE)
        until(lambda: "waiting" in waiter.err, "the other waits")
        self.revoke("k")
        until(lambda: self.who("k").get("holder", {}).get("owner") == "newcomer", "the other has it")
        until(lambda: "lost k" in run.err, "the loss is told")
        run.process.stdin.close()
        self.assertEqual(run.wait(), 76)

    def test_a_ttl_is_renewed_while_the_command_runs(self):
        run = self.holder("k", "--ttl", "1500ms", "--owner", "renewer")
        # A whole waiting contender sees more than two TTLs go by without being granted.
        self.tenure("run", "k", "--wait", "4s", "--", "true", check=75)
        self.assertEqual(self.who("k")["holder"]["owner"], "renewer")
        self.assertEqual(self.who("k")["holder"]["ttl_ms"], 1500)
        run.process.stdin.close()
        self.assertEqual(run.wait(), 0, run.err)


class Signals(Case):
    def counted(self, **more):
        words, seen = self.counter(*COUNTED)
        run = self.start("run", "k", "--", *words.split(), **more)
        self.running(seen)
        run.seen = seen
        return run

    def ended(self, run):
        open(run.seen + ".end", "w").close()
        self.assertEqual(run.wait(), 0, run.err)
        return content(run.seen).split()

    def test_each_signal_to_us_reaches_the_command_once(self):
        run = self.counted()
        names = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"]
        for number, name in enumerate(names, 1):
            run.send(getattr(signal, name))
            until(lambda: len(content(run.seen).split()) >= number, f"{name} arrives")
        self.assertEqual(self.ended(run), names)

    def test_as_a_service_manager_starts_it(self):
        """A session of its own, no terminal, hardly an environment, / as the folder; told to end by one signal to us."""
        words, seen = self.counter("SIGTERM", "SIGUSR2")
        run = self.start_program(["env", "-i", "-C", "/", f"PATH={self.env['PATH']}", f"TENURE_HOME={self.home}", PROGRAM, "run",
                                  "k", "--", *words.split()], start_new_session=True)
        self.running(seen)
        run.seen = seen
        run.send(signal.SIGTERM)
        until(lambda: "SIGTERM" in content(seen), "TERM arrives")
        run.send(signal.SIGUSR2)
        until(lambda: "SIGUSR2" in content(seen), "the last arrives")
        self.assertEqual(self.ended(run), ["SIGTERM", "SIGUSR2"])

    def test_a_signal_to_the_group_reaches_it_once(self):
        run = self.counted(start_new_session=True)
        for number, name in enumerate(["SIGINT", "SIGTERM", "SIGUSR1"], 1):
            os.killpg(run.pid, getattr(signal, name))
            until(lambda: len(content(run.seen).split()) >= number, f"{name} arrives")
        # Then one to us alone: had one of the others been passed on as well, it would have come before this.
        run.send(signal.SIGUSR2)
        until(lambda: "SIGUSR2" in content(run.seen), "the last arrives")
        self.assertEqual(self.ended(run), ["SIGINT", "SIGTERM", "SIGUSR1", "SIGUSR2"])

    def test_ctrl_c_on_a_terminal_reaches_it_once(self):
        for piped in (False, True):
            with self.subTest(stdin_piped=piped):
                self.on_terminal(piped)

    def on_terminal(self, piped):
        words, seen = self.counter(*COUNTED)
        pid, terminal = pty.fork()
        if pid == 0:
            if piped:
                os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
            os.execvpe("tenure", ["tenure", "run", "t", "--", *words.split()], self.env)
        try:
            self.running(seen)
            os.write(terminal, b"\x03")
            until(lambda: "SIGINT" in content(seen), "it arrives")
            os.kill(pid, signal.SIGUSR1)
            until(lambda: "SIGUSR1" in content(seen), "the second arrives")
            # Had ours been taken for one of the terminal's again, it would not have been passed on.
            os.kill(pid, signal.SIGINT)
            until(lambda: content(seen).split().count("SIGINT") == 2, "one to us alone arrives")
            open(seen + ".end", "w").close()
            _, status = os.waitpid(pid, 0)
        finally:
            os.close(terminal)
        self.assertEqual(content(seen).split(), ["SIGINT", "SIGUSR1", "SIGINT"])
        self.assertEqual(os.waitstatus_to_exitcode(status), 0)

    def test_mask_and_dispositions_are_as_we_got_them(self):
        shown = "grep -E '^Sig(Blk|Ign)' /proc/self/status"
        plain = self.shell(f"trap '' USR2 PIPE CHLD; {shown}", check=0).stdout
        under = self.shell(f"trap '' USR2 PIPE CHLD; tenure run k -- {shown}", check=0).stdout
        self.assertEqual(under, plain)
        self.assertEqual(self.shell(f"tenure run k -- {shown}", check=0).stdout, self.shell(shown, check=0).stdout)


class Inheritance(Case):
    def test_the_life_descriptor_and_no_other(self):
        listing = ["python3", "-c", "import os; print(sorted((int(n), os.readlink('/proc/self/fd/' + n)) "
                                    "for n in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + n)))"]
        for space, ending in (("local:", "/lock"), ("files:" + self.path("files"), "k.life")):
            done = self.tenure("run", "k", "--space", space, "--", *listing, check=0)
            descriptors = [each for each in eval(done.stdout) if each[0] > 2]
            self.assertEqual(len(descriptors), 1, descriptors)
            self.assertTrue(descriptors[0][1].endswith(ending), descriptors)

    def test_what_the_caller_gave_is_passed_on(self):
        done = self.shell(f"exec 9> {self.path('nine')}; tenure run k -- sh -c 'echo through >&9'", check=0)
        self.assertEqual(content(self.path("nine")), "through\n", done.stderr)

    def test_no_process_of_ours_is_left(self):
        run = self.holder("k")
        helpers = content(f"/proc/{run.pid}/task/{run.pid}/children").split()
        run.process.stdin.close()
        self.assertEqual(run.wait(), 0)
        until(lambda: all(gone(int(pid)) for pid in helpers), "all have ended")


if __name__ == "__main__":
    main()
