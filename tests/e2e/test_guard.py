"""guard: a command while a key cannot change hands."""

import json
import os
import signal
import subprocess

from e2e import Case, content, gone, main, remedies, state_of, until

GUARD = 'tenure guard "$TENURE_KEY" --epoch "$TENURE_EPOCH"'


class Guard(Case):
    def claim(self, *options):
        """A lease of `deploy` that lasts until the test ends."""
        done = self.tenure("claim", "deploy", "--pid", str(self.owner().pid), "--json", *options, check=0)
        return json.loads(done.stdout)

    def guard(self, epoch, *words, **more):
        return self.tenure("guard", "deploy", "--epoch", str(epoch), *words, **more)

    def guarding(self, epoch, *options, command=("cat",), **more):
        """A guard whose command has begun, and runs until its standard input ends."""
        mark = self.path("guarded-" + os.urandom(4).hex())
        begun = f'echo $$ > {mark}.new; mv {mark}.new {mark}; exec "$@"'
        guard = self.start("guard", "deploy", "--epoch", str(epoch), *options, "--", "sh", "-c", begun, "sh", *command,
                           stdin=subprocess.PIPE, **more)
        guard.child = int(until(lambda: content(mark) or guard.process.poll() is not None and "0", "the command begins"))
        self.assertTrue(guard.child, guard.err)
        return guard

    def end(self, guard):
        guard.process.stdin.close()
        return guard.wait()

    def error(self, done, code, name):
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        inner = json.loads(done.stderr.splitlines()[-1])["error"]
        self.assertEqual(inner["code"], name)
        self.assertEqual(inner["exit_code"], code)
        return inner

    def revoke(self, *options):
        return self.tenure("revoke", "deploy", "--force", "--reason", "a test", "--json", *options)

    def test_the_exit_code_is_that_of_the_command(self):
        epoch = self.claim()["epoch"]
        for script, code in (("exit 0", 0), ("exit 3", 3), ("exit 76", 76), ("kill -TERM $$", -signal.SIGTERM)):
            done = self.guard(epoch, "--", "sh", "-c", script)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (code, "", ""), script)
        self.assertIn("cannot run", self.guard(epoch, "--", "no-such-program", check=127).stderr)
        self.assertIn("cannot run", self.guard(epoch, "--", self.folder, check=126).stderr)
        self.guard(epoch, "--", "true", check=0)
        self.tenure("verify", "deploy", "--epoch", str(epoch), check=0)

    def test_in_the_command_of_run(self):
        for space in ("local:", f"files:{self.path('shared')}"):
            seen = self.path("seen-" + space[:5])
            os.makedirs(self.path("shared"), exist_ok=True)
            inner = f'echo "$TENURE_KEY $TENURE_EPOCH" > {seen}'
            done = self.tenure("run", "deploy", "--space", space, "--", "sh", "-c",
                               f"{GUARD} -- sh -c '{inner}' && test \"$(cat {seen})\" = \"deploy $TENURE_EPOCH\"")
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_an_epoch_that_is_not_current_runs_nothing(self):
        claim = self.claim()
        mark = self.path("ran")
        for epoch in (claim["epoch"] - 1, claim["epoch"] + 1):
            self.error(self.guard(epoch, "--json", "--", "touch", mark), 76, "lost")
        self.tenure("release", env={"TENURE_HANDLE": claim["handle"]}, check=0)
        self.error(self.guard(claim["epoch"], "--json", "--", "touch", mark), 76, "lost")
        self.error(self.guard(1, "--space", f"files:{self.path('nowhere')}", "--json", "--", "touch", mark), 69,
                   "unreachable")
        self.assertFalse(os.path.exists(mark))

    def test_calls_of_the_wrong_form(self):
        self.assertIn("--epoch N is missing", self.tenure("guard", "deploy", "--", "true", check=64).stderr)
        done = self.guard(1, check=64)
        self.assertIn("there is no command", done.stderr)
        self.assertIn("tenure guard --epoch 1 --key=deploy -- true", remedies(done.stderr))
        self.assertIn("--guard-for", self.guard(1, "--guard-for", "0", "--", "true", check=64).stderr)
        self.assertIn("--guard-for", self.guard(1, "--guard-for", "soon", "--", "true", check=64).stderr)
        self.assertIn("KEY is missing", self.tenure("guard", "--epoch", "1", "--", "true", check=64).stderr)

    def test_nobody_takes_it_meanwhile(self):
        claim = self.claim()
        guard = self.guarding(claim["epoch"], "--guard-for", "5m")
        self.error(self.revoke(), 75, "section_busy")
        self.tenure("verify", "deploy", "--epoch", str(claim["epoch"]), check=0)
        self.assertEqual(self.end(guard), 0, guard.err)
        self.assertEqual(self.revoke().returncode, 0)

    def test_the_holders_death_does_not_end_it(self):
        holder = self.holder("deploy")
        guard = self.guarding(holder.epoch, "--guard-for", "5m")
        self.kill_with_guardian(holder)
        until(lambda: gone(holder.child), "the command of the holder is gone")
        taken = self.tenure("run", "deploy", "--wait", "0", "--json", "--", "true")
        self.assertEqual(self.error(taken, 75, "held")["holder"]["why"], "an operation runs under its guard")
        self.assertEqual(self.end(guard), 0, guard.err)
        self.tenure("run", "deploy", "--wait", "30s", "--", "true", check=0)

    def bound(self, space, *options, command=("cat",)):
        holder = self.holder("deploy", "--space", space)
        guard = self.guarding(holder.epoch, "--space", space, "--guard-for", "300ms", *options, command=command)
        self.assertEqual(guard.wait(), 70, guard.err)
        until(lambda: gone(guard.child), "the command is ended")
        self.assertEqual(holder.wait(), 76, holder.err)
        self.tenure("run", "deploy", "--space", space, "--wait", "30s", "--", "true", check=0)
        return guard

    def test_at_its_bound_the_command_is_ended_and_the_lease_is_lost(self):
        guard = self.bound("local:")
        self.assertIn("is over after 300 ms", guard.err)
        self.assertIn("the command died of SIGTERM", " ".join(guard.err.split()))
        self.assertIn("what to do", guard.err)
        self.assert_fits(guard.err)

    def test_a_command_that_ignores_term_is_killed_after_the_grace(self):
        guard = self.bound("local:", "--grace", "200ms", "--json",
                           command=("sh", "-c", "trap '' TERM; while :; do read line; done"))
        lines = [json.loads(line) for line in guard.err.splitlines()]
        self.assertEqual(lines[0]["event"], "bound")
        self.assertEqual(lines[-1]["error"]["code"], "unknown_outcome")
        self.assertEqual(lines[-1]["error"]["outcome"], "unknown")
        self.assertIn("SIGKILL", lines[-1]["error"]["message"])

    def test_the_bound_in_a_shared_folder(self):
        os.mkdir(self.path("shared"))
        self.bound(f"files:{self.path('shared')}")

    def test_the_holder_is_told_at_the_bound_whatever_the_command_does(self):
        os.mkdir(self.path("shared"))
        for space in ("local:", f"files:{self.path('shared')}"):
            holder = self.holder("deploy", "--space", space)
            guard = self.guarding(holder.epoch, "--space", space, "--guard-for", "300ms", "--grace", "1h",
                                  command=("sh", "-c", "trap '' TERM; read line; exit 5"))
            self.assertEqual(holder.wait(), 76, holder.err)
            self.assertIsNone(guard.process.poll())
            self.assertEqual(self.end(guard), 70)
            self.assertIn("the command ended with 5", " ".join(guard.err.split()))

    def test_signals_are_passed_on(self):
        epoch = self.claim()["epoch"]
        words, seen = self.counter("SIGINT", "SIGTERM", "SIGHUP")
        guard = self.start("guard", "deploy", "--epoch", str(epoch), "--guard-for", "5m", "--", "sh", "-c", f"exec {words}")
        self.running(seen)
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            guard.send(getattr(signal, name))
            until(lambda: name in content(seen), f"the command gets {name}")
        with open(seen + ".end", "w", encoding="utf-8"):
            pass
        self.assertEqual(guard.wait(), 0, guard.err)
        self.assertEqual(content(seen).split(), ["SIGINT", "SIGTERM", "SIGHUP"])
        guard = self.guarding(epoch, "--guard-for", "5m")
        guard.send(signal.SIGTERM)
        self.assertEqual(guard.wait(), -signal.SIGTERM, guard.err)
        self.tenure("verify", "deploy", "--epoch", str(epoch), check=0)

    def test_within_itself_it_is_refused_at_once(self):
        epoch = self.claim()["epoch"]
        inner = ["tenure", "guard", "deploy", "--epoch", str(epoch), "--json", "--", "true"]
        done = self.guard(epoch, "--guard-for", "5m", "--", *inner)
        self.assertIn("deploy", self.error(done, 75, "would_deadlock")["message"])
        other = json.loads(self.tenure("claim", "other", "--pid", str(self.owner().pid), "--json", check=0).stdout)
        self.guard(epoch, "--", "tenure", "guard", "other", "--epoch", str(other["epoch"]), "--", "true", check=0)
        # Whoever carries the variable away does not run inside.
        carried = self.guard(epoch, "--", "sh", "-c", 'echo "$TENURE_GUARDS"', check=0).stdout.strip()
        self.assertIn("deploy", carried)
        self.guard(epoch, "--", "true", env={"TENURE_GUARDS": carried}, check=0)

    def test_one_waits_for_the_other(self):
        epoch = self.claim()["epoch"]
        first = self.guarding(epoch)
        second = self.start("guard", "deploy", "--epoch", str(epoch), "--", "touch", self.path("second"))
        until(lambda: state_of(second.pid) == "S", "it waits")
        self.assertFalse(os.path.exists(self.path("second")))
        self.assertEqual(self.end(first), 0, first.err)
        self.assertEqual(second.wait(), 0, second.err)
        self.assertTrue(os.path.exists(self.path("second")))

    def test_a_release_waits_for_it(self):
        claim = self.claim()
        guard = self.guarding(claim["epoch"])
        release = self.start("release", env={"TENURE_HANDLE": claim["handle"]})
        until(lambda: state_of(release.pid) == "S", "it waits")
        self.tenure("verify", "deploy", "--epoch", str(claim["epoch"]), check=0)
        self.assertEqual(self.end(guard), 0, guard.err)
        self.assertEqual(release.wait(), 0, release.err)

    def test_when_it_is_killed_its_command_is_ended_and_the_lease_stays(self):
        epoch = self.claim()["epoch"]
        guard = self.guarding(epoch, "--guard-for", "5m", "--grace", "1s")
        guard.process.kill()
        guard.wait()
        until(lambda: gone(guard.child), "the command is ended")
        self.assertIn("the guard of deploy", guard.err)
        self.tenure("verify", "deploy", "--epoch", str(epoch), check=0)
        self.guard(epoch, "--", "true", check=0)
        self.assertEqual(self.revoke().returncode, 0)

    def test_beside_pi_amq(self):
        os.mkdir(self.path("pi"))
        url = f"receiver:{self.path('pi')}"
        holder = self.holder("receiver", "--space", url, "--session-file", "sessions/../mine.json")
        with open(self.path("pi/receiver.lock/owner.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["piSessionFile"], os.path.realpath(self.folder) + "/mine.json")
        words = ("guard", "receiver", "--epoch", str(holder.epoch), "--space", url)
        # Made to last under a second, and nobody need be told.
        self.assertEqual(self.tenure(*words, "--", "true", check=0).stderr, "")
        said = self.tenure(*words, "--guard-for", "5s", "--json", "--", "true", check=0).stderr
        self.assertEqual(json.loads(said)["event"], "neighbours_refused")
        said = self.tenure(*words, "--guard-for", "5s", "--", "test", "-e", self.path("pi/receiver.lifecycle.guard.json"),
                           check=0).stderr
        self.assertIn("lifecycle-busy", " ".join(said.split()))
        self.assert_fits(said)
        self.assertFalse(os.path.exists(self.path("pi/receiver.lifecycle.guard.json")))

    def test_a_session_file_is_refused_where_the_record_has_no_place_for_it(self):
        for words in (("run", "deploy", "--session-file", "s", "--json", "--", "true"),
                      ("claim", "deploy", "--pid", str(os.getpid()), "--session-file", "s", "--json")):
            self.error(self.tenure(*words), 64, "unsupported")


if __name__ == "__main__":
    main()
