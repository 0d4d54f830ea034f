"""Slots and readers: several who hold one key together."""

import json
import signal
import subprocess

from e2e import Case, content, main, until


class Together(Case):
    def hold(self, *options, key="thing", bound=True):
        """A run that says its TENURE_SLOT and holds until its input ends."""
        run = self.start("run", key, *options, "--", "sh", "-c", 'echo "in $TENURE_SLOT"; exec cat', stdin=subprocess.PIPE)
        if bound:
            until(lambda: run.out or run.process.poll() is not None, "it holds")
        return run

    def let_go(self, run):
        run.process.stdin.close()
        self.assertEqual(run.wait(), 0, run.err)


class Slots(Together):
    def test_each_has_a_number_of_its_own_and_a_dead_ones_comes_back_at_once(self):
        runs = [self.hold("--slots", "4") for _ in range(4)]
        self.assertEqual([run.out for run in runs], ["in 0\n", "in 1\n", "in 2\n", "in 3\n"])
        waiting = []
        for place in range(2):
            waiting.append(self.hold("--slots", "4", bound=False))
            until(lambda: self.who("thing").get("waiting") == place + 1, "it stands in line")
        runs[2].send(signal.SIGKILL)
        until(lambda: waiting[0].out, "the first in line has it")
        self.assertEqual(waiting[0].out, "in 2\n")
        self.assertEqual(waiting[1].out, "")
        self.let_go(runs[0])
        until(lambda: waiting[1].out, "the second in line has it")
        self.assertEqual(waiting[1].out, "in 0\n")

    def test_another_number_is_refused_at_once_and_says_which(self):
        self.hold("--slots", "2", "--reason", "training")
        refused = self.tenure("run", "thing", "--slots", "3", "--", "true", check=77)
        self.assertIn("thing is held as 2 slots; this claim asks for 3", refused.stderr)
        self.assertIn("tenure run --slots 2 thing -- true", refused.stderr)
        told = json.loads(self.tenure("run", "thing", "--slots", "3", "--json", "--", "true", check=77).stderr)
        self.assertEqual(told["error"]["code"], "slots_differ")
        self.assertEqual(told["error"]["holder"]["holder"]["slots"], 2)

    def test_one_alone_waits_for_all_and_keeps_later_ones_behind(self):
        runs = [self.hold("--slots", "3") for _ in range(2)]
        self.tenure("run", "thing", "--wait", "0", "--", "true", check=75)
        alone = self.hold(bound=False)
        until(lambda: self.who("thing").get("waiting") == 1, "it stands in line")
        self.tenure("run", "thing", "--slots", "3", "--wait", "0", "--", "true", check=75)
        for run in runs:
            self.assertEqual(alone.out, "")
            self.let_go(run)
        until(lambda: alone.out, "it has it alone")
        self.assertEqual(alone.out, "in \n")

    def test_who_ls_and_revoke_know_them_all(self):
        runs = [self.hold("--slots", "3", "--reason", f"job {i}") for i in range(2)]
        seen = self.who("thing")
        self.assertEqual((seen["holders"], [each["holder"]["slot"] for each in seen["together"]]), (2, [0, 1]))
        text = self.tenure("who", "thing", check=0).stdout
        for part in ("held in 2 of 3 slots", "slot       0 of 3", "and by", "slot 1", "job 1"):
            self.assertIn(part, text)
        self.assertIn("2 of 3 slots; job 0", self.tenure("ls", check=0).stdout)
        self.tenure("verify", "thing", "--epoch", str(seen["together"][1]["epoch"]), check=0)
        self.tenure("revoke", "thing", "--force", "--reason", "trial", "--epoch", str(seen["together"][1]["epoch"]), check=0)
        self.assertEqual(runs[1].wait(), 76, runs[1].err)
        self.tenure("verify", "thing", "--epoch", str(seen["together"][1]["epoch"]), check=76)
        self.assertEqual(self.who("thing")["holders"], 1)
        self.tenure("revoke", "thing", "--force", "--reason", "trial", check=0)
        self.assertEqual(runs[0].wait(), 76, runs[0].err)

    def test_within_the_command_of_one_of_them(self):
        inner = 'tenure run thing --slots 2 -- sh -c \'echo "in $TENURE_SLOT of $(tenure who thing --json)"\''
        first = self.hold("--slots", "2")
        done = self.tenure("run", "thing", "--slots", "2", "--", "sh", "-c", inner, check=0)
        self.assertTrue(done.stdout.startswith("in 1 of "), done.stdout)
        self.assertEqual(json.loads(done.stdout[len("in 1 of "):])["holders"], 2)
        self.tenure("run", "thing", "--slots", "2", "--", "tenure", "run", "thing", "--slots", "2", "--no-reentrant", "--",
                    "true", check=75)
        # Alone, it would wait for its own end.
        self.let_go(first)
        refused = self.tenure("run", "thing", "--slots", "2", "--", "tenure", "run", "thing", "--", "true", check=75)
        self.assertIn("holds thing as one of 2 slots", " ".join(refused.stderr.split()))
        # And another key, within, has no slot.
        done = self.tenure("run", "thing", "--slots", "2", "--", "tenure", "run", "other", "--", "sh", "-c",
                           'echo "in $TENURE_SLOT."', check=0)
        self.assertEqual(done.stdout, "in .\n")

    def test_the_dead_among_the_living_are_cleared(self):
        runs = [self.hold("--slots", "3") for _ in range(3)]
        for run in runs[1:]:
            self.kill_with_guardian(run)
        until(lambda: [each["liveness"] for each in self.who("thing")["together"]] == ["live", "dead", "dead"],
              "two are seen to be dead")
        done = json.loads(self.tenure("revoke", "--dead", "--json", check=0).stdout)
        self.assertEqual(len(done["cleared"]), 2)
        seen = self.who("thing")
        self.assertEqual((seen["holders"], seen["holder"]["slot"]), (1, 0))

    def test_of_those_who_are_gone_none_insists_on_its_number(self):
        runs = [self.hold("--slots", "3", "--owner", "ghost"), self.hold("--slots", "3", "--owner", "bob")]
        self.kill_with_guardian(runs[0])
        until(lambda: self.who("thing")["together"][0]["liveness"] == "dead", "it is seen to be dead")
        seen = self.who("thing")
        self.assertEqual((seen["liveness"], seen["holder"]["owner"]), ("live", "bob"), "shown is one that lives")
        self.tenure("who", "thing", "--except", "bob", check=1)
        self.tenure("run", "thing", "--slots", "2", "--", "true", check=77)
        self.kill_with_guardian(runs[1])
        until(lambda: self.who("thing")["claimable"], "all are gone")
        self.tenure("run", "thing", "--slots", "2", "--wait", "0", "--", "true", check=0)

    def test_one_slot_is_slot_0(self):
        self.assertEqual(self.tenure("run", "thing", "--slots", "1", "--", "sh", "-c", "echo $TENURE_SLOT", check=0).stdout, "0\n")

    def test_one_alone_has_no_slots_to_give(self):
        refused = self.tenure("run", "thing", "--", "tenure", "run", "thing", "--slots", "2", "--", "true", check=75)
        self.assertIn("holds thing alone", " ".join(refused.stderr.split()))
        self.tenure("run", "thing", "--slots", "3", "--", "tenure", "run", "thing", "--slots", "2", "--", "true", check=77)

    def test_no_circle_while_one_slot_may_come_free(self):
        """Who holds the other slot may leave it, and does."""
        first = self.hold("--slots", "2", key="x")
        wants_y = self.start("run", "x", "--slots", "2", "--", "sh", "-c", "echo in; read go; exec tenure run y -- echo got y",
                             stdin=subprocess.PIPE)
        until(lambda: wants_y.out, "both slots are held")
        wants_x = self.start("run", "y", "--", "tenure", "run", "x", "--slots", "2", "--", "true")
        until(lambda: self.who("x").get("waiting") == 1, "it stands in line")
        wants_y.process.stdin.close()
        until(lambda: self.who("y").get("waiting") == 1 or wants_y.process.poll() is not None, "it stands in line, too")
        self.assertIsNone(wants_y.process.poll(), wants_y.err)
        self.let_go(first)
        self.assertEqual((wants_x.wait(), wants_y.wait()), (0, 0), wants_x.err + wants_y.err)

    def test_a_circle_through_all_slots_is_named(self):
        script = "echo in; read go; exec tenure run y -- true"
        inside = [self.start("run", "x", "--slots", "2", "--", "sh", "-c", script, stdin=subprocess.PIPE) for _ in range(2)]
        for run in inside:
            until(lambda: run.out, "it has its slot")
        wants_x = self.start("run", "y", "--", "tenure", "run", "x", "--slots", "2", "--", "true")
        until(lambda: self.who("x").get("waiting") == 1, "it stands in line")
        for run in inside:
            run.process.stdin.close()
        until(lambda: any(run.process.poll() == 75 for run in inside), "the last one to come is told")
        self.assertIn("would never end", "".join(run.err for run in inside))
        for run in [*inside, wants_x]:
            run.wait()

    def test_what_is_not_a_number_of_slots(self):
        for words in (("--slots", "0"), ("--slots", "1025"), ("--slots", "two"), ("--slots", "2", "--shared")):
            self.tenure("run", "thing", *words, "--", "true", check=64)
        self.tenure("run", "thing", "--space", "files:" + self.path("files"), "--slots", "2", "--", "true", check=64)

    def test_a_claim_of_a_script(self):
        made = json.loads(self.tenure("claim", "thing", "--slots", "2", "--ttl", "5m", "--json", check=0).stdout)
        other = json.loads(self.tenure("claim", "thing", "--slots", "2", "--ttl", "5m", "--json", check=0).stdout)
        self.assertEqual((made["slot"], other["slot"]), (0, 1))
        for each in (made, other):
            self.tenure("verify", env={"TENURE_HANDLE": each["handle"]}, check=0)
            self.tenure("release", env={"TENURE_HANDLE": each["handle"]}, check=0)
        self.assertFalse(self.who("thing")["held"])


class Readers(Together):
    def test_readers_share_and_a_writer_comes_within_one_generation(self):
        readers = [self.hold("--shared") for _ in range(3)]
        self.assertEqual(self.who("thing")["holders"], 3)
        self.assertIn("held by 3 readers", self.tenure("who", "thing", check=0).stdout)
        writer = self.hold(bound=False)
        until(lambda: self.who("thing").get("waiting") == 1, "the writer stands in line")
        later = self.hold("--shared", bound=False)
        until(lambda: self.who("thing").get("waiting") == 2, "the next reader stands behind it")
        for reader in readers:
            self.assertEqual((writer.out, later.out), ("", ""))
            self.let_go(reader)
        until(lambda: writer.out, "the writer has it")
        self.assertEqual(later.out, "")
        self.let_go(writer)
        until(lambda: later.out, "the next reader has it")

    def test_a_writer_gets_it_by_the_death_of_the_last_reader(self):
        readers = [self.hold("--shared") for _ in range(2)]
        writer = self.hold(bound=False)
        until(lambda: self.who("thing").get("waiting") == 1, "the writer stands in line")
        readers[0].send(signal.SIGKILL)
        until(lambda: self.who("thing")["together"][0]["liveness"] == "dead" or self.who("thing")["holders"] == 1,
              "the first is seen to be dead")
        self.assertEqual(writer.out, "")
        readers[1].send(signal.SIGKILL)
        until(lambda: writer.out, "the writer has it")

    def test_who_reads_does_not_come_to_write_within(self):
        refused = self.tenure("run", "thing", "--shared", "--", "tenure", "run", "thing", "--", "true", check=75)
        self.assertIn("holds thing as a reader", " ".join(refused.stderr.split()))
        self.tenure("run", "thing", "--", "tenure", "run", "thing", "--shared", "--", "true", check=0)


if __name__ == "__main__":
    main()
