"""Asking a holder to yield, and handing a lease to a successor: ask, run --on-ask, handoff, adopt, who, watch, log."""

import json
import os
import signal

from e2e import Case, content, gone, main, until


class Yield(Case):
    def claim(self, key, *options):
        owner = self.owner()
        claimed = json.loads(self.tenure("claim", key, "--pid", str(owner.pid), "--json", *options, check=0).stdout)
        return claimed

    def with_handle(self, claimed, *words, check=None):
        return self.tenure(*words, env={"TENURE_HANDLE": claimed["handle"]}, check=check)

    def asked(self, key, *options, reason="needed elsewhere", check=None):
        done = self.tenure("ask", key, "--reason", reason, "--json", *options, check=check)
        return json.loads(done.stdout) if done.stdout else json.loads(done.stderr)

    def held_with(self, what, key="k", *options, **more):
        status = self.path("status-" + os.urandom(4).hex())
        run = self.holder(key, "--on-ask", what, "--status-file", status, "--grace", "5s", *options, **more)
        run.status = lambda: json.loads(content(status))
        return run


class Ask(Yield):
    def test_accepted_ends_the_command_then_frees_the_key(self):
        run = self.held_with("accept")
        asked = self.asked("k", reason="the release\u202e waits", check=0)
        # Between the promise and the release there is little time.
        self.assertIn(asked["became"], ("accepted", "ended"))
        self.assertEqual(asked["epoch"], run.epoch)
        self.assertEqual(run.wait(), 76)
        self.assertTrue(gone(run.child))
        self.assertEqual(run.status(), {"by": "tenure", "exit_code": 76, "code": "yielded", "command_exit_code": 143})
        self.assertIn("asked to yield k by", run.err)
        self.assertIn("the release\\u{202e} waits", run.err)
        self.assertIn("promised to yield k", run.err)
        self.assert_fits(run.err)
        self.assertEqual(self.who("k")["state"], "free")
        events = [json.loads(line)["event"] for line in self.tenure("log", "k", "--json", check=0).stdout.splitlines()]
        self.assertEqual(events, ["claimed", "asked", "answered", "released"])
        self.assertIn("answered", self.tenure("log", "k", check=0).stdout)

    def test_declined_by_word(self):
        run = self.held_with("decline")
        self.assertEqual(self.asked("k", check=75)["became"], "declined")
        until(lambda: "declined to yield k" in run.err, "it is said")
        self.assertTrue(self.who("k")["held"])

    def test_a_command_decides_and_says_why(self):
        decide = ('printf "%s\\n" "$TENURE_KEY $TENURE_EPOCH $TENURE_ASK_BY $TENURE_ASK_REASON $TENURE_ASK_DEADLINE" '
                  '> "$SEEN"; echo "not before noon"; echo more; exit "$CODE"')
        seen = self.path("seen")
        run = self.held_with(decide, env={"SEEN": seen, "CODE": "1"})
        asked = self.asked("k", "--owner", "ann", check=75)
        self.assertEqual((asked["became"], asked["words"]), ("declined", "not before noon"))
        self.assertRegex(content(seen), fr"^k {run.epoch} ann needed elsewhere 20\d\d-\d\d-\d\dT[0-9:.]+Z\n$")
        text = self.tenure("ask", "k", "--reason", "please", check=75).stdout
        self.assertIn("declines: not before noon", text)
        self.assert_fits(text)
        run.process.stdin.close()
        run.wait()
        run = self.held_with("exit $CODE", "other", env={"CODE": "0"})
        self.assertIn(self.asked("other", check=0)["became"], ("accepted", "ended"))
        self.assertEqual(run.wait(), 76)

    def test_a_command_that_fails_or_takes_too_long_is_no_answer(self):
        run = self.held_with("exit 3")
        self.assertEqual(self.asked("k", "--deadline", "200ms", check=75)["became"], "ignored")
        until(lambda: "gave no answer" in run.err, "it is said that there was no answer")
        mark = self.path("mark")
        self.held_with(f"echo $$ > {mark}; exec cat < {self.fifo()}", "slow")
        ask = self.start("ask", "slow", "--reason", "please", "--deadline", "1500ms", "--json")
        hook = int(until(lambda: content(mark).strip(), "the hook runs"))
        self.assertEqual(ask.wait(), 75)
        self.assertEqual(json.loads(ask.out)["became"], "ignored")
        until(lambda: gone(hook), "the hook is ended at the deadline")
        self.assertTrue(self.who("slow")["held"])

    def fifo(self):
        path = self.path("fifo-" + os.urandom(4).hex())
        os.mkfifo(path)
        return path

    def test_without_a_word_it_is_told_shown_and_ignored(self):
        run = self.holder("k")
        watch = self.start("watch", "--json", "--count", "2")
        until(lambda: watch.out, "what is held is shown")
        ask = self.start("ask", "k", "--reason", "the bell", "--owner", "ann", "--json")
        until(lambda: self.who("k").get("asks"), "the request is shown")
        shown = self.who("k")["asks"][0]
        self.assertEqual((shown["by"], shown["reason"], shown["pid"]), ("ann", "the bell", ask.pid))
        self.assertIn("asked by", self.tenure("who", "k", check=0).stdout)
        until(lambda: "asked to yield k by ann" in run.err, "run says who asks")
        watch.wait()
        self.assertEqual(json.loads(watch.out.splitlines()[1])["asks"][0]["by"], "ann")
        # Taken back by a signal, it leaves nothing behind.
        ask.send(signal.SIGINT)
        self.assertEqual(ask.wait(), -signal.SIGINT)
        self.assertNotIn("asks", self.who("k"))
        killed = self.start("ask", "k", "--reason", "please")
        until(lambda: self.who("k").get("asks"), "the request is shown")
        killed.send(signal.SIGKILL)
        killed.wait()
        until(lambda: "asks" not in self.who("k"), "a dead asker leaves nothing")

    def test_the_end_of_the_lease_is_told(self):
        run = self.holder("k")
        ask = self.start("ask", "k", "--reason", "please", "--json")
        until(lambda: self.who("k").get("asks"), "it is asked")
        run.process.stdin.close()
        self.assertEqual(ask.wait(), 0)
        became = json.loads(ask.out)
        self.assertEqual((became["became"], became["end"]), ("ended", "released"))

    def test_nobody_to_ask(self):
        self.assertEqual(self.asked("k", check=77)["error"]["code"], "not_held")
        claimed = self.claim("k")
        os.kill(claimed["keeper_pid"], signal.SIGKILL)
        os.kill(claimed["owner_pid"], signal.SIGKILL)
        until(lambda: self.who("k")["liveness"] == "dead", "its holder is dead")
        refused = self.tenure("ask", "k", "--reason", "please", check=77).stderr
        self.assertIn("claim it", refused)
        self.assertIn("tenure run k -- true", refused)
        self.tenure("run", "k", "--", "true", check=0)
        self.assertEqual(self.tenure("ask", "k", check=64).returncode, 64)
        self.tenure("run", "k", "--on-ask", "accept", "--space", "files:" + self.path("f"), "--", "true", check=64)


class HandOff(Yield):
    def test_a_claim_goes_to_its_successor(self):
        claimed = self.claim("k", "--owner", "ann")
        said = self.with_handle(claimed, "handoff", "k", "--to", "bob", check=0).stdout
        self.assertIn("tenure run --adopt --owner bob k -- true", said)
        self.assert_fits(said)
        offer = self.who("k")["offer"]
        self.assertEqual((offer["to"], offer["back"]), ("bob", "holder"))
        self.assertIn("offered to", self.tenure("who", "k", check=0).stdout)
        self.with_handle(claimed, "verify", check=0)
        refused = json.loads(self.tenure("adopt", "k", "--owner", "eve", "--pid", str(os.getpid()), "--json",
                                         check=77).stderr)["error"]
        self.assertEqual(refused["code"], "not_offered")
        self.assertIn("bob", refused["message"])
        successor = self.owner()
        adopted = json.loads(self.tenure("adopt", "k", "--owner", "bob", "--pid", str(successor.pid), "--json",
                                         check=0).stdout)
        self.assertGreater(adopted["epoch"], claimed["epoch"])
        self.assertIn("handed off: to bob", self.with_handle(claimed, "verify", check=76).stderr)
        until(lambda: gone(claimed["keeper_pid"]), "the former keeper ends")
        self.with_handle(adopted, "verify", check=0)
        self.assertEqual(self.who("k")["holder"]["owner"], "bob")
        events = [json.loads(line)["event"] for line in self.tenure("log", "k", "--json", check=0).stdout.splitlines()]
        self.assertEqual(events, ["claimed", "offered", "handed_off", "handed_over"])
        self.with_handle(adopted, "release", check=0)

    def test_run_adopts_while_others_wait(self):
        claimed = self.claim("k", "--owner", "ann")
        waiting = self.start("run", "k", "--", "true")
        until(lambda: self.who("k").get("waiting"), "somebody waits")
        self.with_handle(claimed, "handoff", "--to", "bob", check=0)
        run = self.holder("k", "--adopt", "--owner", "bob")
        self.assertGreater(run.epoch, claimed["epoch"])
        self.assertIsNone(waiting.process.poll())
        run.process.stdin.close()
        self.assertEqual(run.wait(), 0)
        self.assertEqual(waiting.wait(), 0)

    def test_an_offer_is_withdrawn_or_goes_to_the_line(self):
        claimed = self.claim("k", "--owner", "ann")
        self.with_handle(claimed, "handoff", "--to", "bob", check=0)
        self.assertTrue(json.loads(self.with_handle(claimed, "handoff", "--withdraw", "--json", check=0).stdout)["withdrawn"])
        self.tenure("run", "--adopt", "--owner", "bob", "k", "--", "true", check=77)
        self.with_handle(claimed, "handoff", "other", "--to", "bob", check=64)
        self.with_handle(claimed, "handoff", check=64)
        self.tenure("run", "--adopt", "k", "--", "true", check=64)
        self.with_handle(claimed, "handoff", "--to", "bob", "--within", "100ms", "--back", "line", check=0)
        # The holder is told, without anybody coming by.
        until(lambda: gone(claimed["keeper_pid"]), "the keeper learns that the lease is over")
        self.tenure("run", "--wait", "0", "k", "--", "true", check=0)


if __name__ == "__main__":
    main()
