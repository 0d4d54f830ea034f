"""wait: until nobody holds the key, by whatever way that comes about; and nothing is taken meanwhile."""

import json
import os
import signal
import subprocess
import time

from e2e import Case, main, state_of, until


class Waits(Case):
    """On the user's own space; a class below does it over a folder."""

    def waiting(self, key, *options, **more):
        started = self.start("wait", key, *options, **more)
        until(lambda: "waiting" in started.err or started.process.poll() is not None, "the wait begins")
        self.assertIsNone(started.process.poll(), started.err)
        return started

    def end(self, run):
        run.process.stdin.close()
        self.assertEqual(run.wait(), 0, run.err)

    def claim(self, key, *options):
        done = self.tenure("claim", key, "--json", *options, check=0)
        claimed = json.loads(done.stdout)

        def end_keeper():
            try:
                os.kill(claimed["keeper_pid"], signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.addCleanup(end_keeper)
        return claimed

    def test_a_free_key_ends_it_at_once(self):
        done = self.tenure("wait", "k", check=0)
        self.assertEqual((done.stdout, done.stderr), ("k is free\n", ""))
        done = self.tenure("wait", "k", "--wait", "0", "--json", check=0)
        self.assertEqual((json.loads(done.stdout)["state"], done.stderr), ("free", ""))

    def test_a_release_ends_it(self):
        run = self.holder("k", "--owner", "alice", "--reason", "tidying up")
        wait = self.waiting("k", "--wait", "80s")
        for text in ("waiting, at most 1 min 20 s for k", "held by alice", "tidying up", f"pid {run.pid}"):
            self.assertIn(text, wait.err)
        self.assert_fits(wait.err)
        self.assertEqual(wait.out, "")
        self.end(run)
        self.assertEqual(wait.wait(), 0, wait.err)
        self.assertEqual(wait.out, "k is free\n")

    def test_json_says_the_same(self):
        run = self.holder("k", "--owner", "alice")
        wait = self.waiting("k", "--json")
        line = json.loads(wait.err)
        self.assertEqual((line["event"], line["key"], line["holder"]["owner"], line["epoch"]),
                         ("waiting", "k", "alice", run.epoch))
        self.end(run)
        self.assertEqual(wait.wait(), 0, wait.err)
        seen = json.loads(wait.out)
        self.assertEqual((seen["key"], seen["state"], seen["held"]), ("k", "free", False))
        self.assertGreaterEqual(seen["waited_ms"], 0)

    def test_it_gives_up_in_time(self):
        self.holder("k", "--owner", "alice")
        for span in ("0", "50ms"):
            done = self.tenure("wait", "k", "--wait", span, check=75)
            self.assertIn("k is still held after", done.stderr)
            self.assertIn("alice", done.stderr)
            self.assert_fits(done.stderr)
        done = self.tenure("wait", "k", "--wait", "0", "--json", check=75)
        error = json.loads(done.stderr.splitlines()[-1])["error"]
        self.assertEqual((error["code"], error["exit_code"], error["holder"]["holder"]["owner"]),
                         ("timed_out", 75, "alice"))
        done = self.tenure("wait", "k", "--wait", "50ms", "--quiet", check=75)
        self.assertEqual((done.stdout, done.stderr), ("", ""))
        self.assertEqual(self.tenure("wait", "other", "--quiet", check=0).stdout, "")

    def test_usage(self):
        self.tenure("wait", check=64)
        self.tenure("wait", "k", "--wait", "soon", check=64)
        self.tenure("wait", "k", "--space", "files:" + self.path("nowhere"), check=69)

    def test_a_change_of_hands_is_told_and_is_not_free(self):
        first = self.holder("k", "--owner", "alice")
        wait = self.waiting("k", "--json")
        second = self.start("run", "k", "--owner", "bob", "--", "cat", stdin=subprocess.PIPE)
        until(lambda: "waiting" in second.err, "bob waits")
        self.end(first)
        until(lambda: len(wait.err.splitlines()) == 2, "the change of hands is told")
        self.assertEqual(json.loads(wait.err.splitlines()[1])["holder"]["owner"], "bob")
        self.assertIsNone(wait.process.poll())
        self.end(second)
        self.assertEqual(wait.wait(), 0, wait.err)
        self.assertEqual(len(wait.err.splitlines()), 2)

    def test_the_death_of_the_holder_ends_it(self):
        run = self.holder("k")
        wait = self.waiting("k")
        run.process.kill()
        self.assertEqual(wait.wait(), 0, wait.err)
        self.assertIn("k is free", wait.out)

    def test_a_claim_lasts_while_either_process_lives(self):
        for first in ("keeper", "owner"):
            with self.subTest(first=first):
                owner = self.owner()
                claimed = self.claim("k-" + first, "--pid", str(owner.pid))
                wait = self.waiting("k-" + first)
                if first == "keeper":
                    os.kill(claimed["keeper_pid"], signal.SIGKILL)
                    until(lambda: "gone" in self.tenure("who", "k-keeper").stdout, "the keeper is seen to be gone")
                    self.tenure("wait", "k-keeper", "--wait", "10ms", check=75)
                    self.assertIsNone(wait.process.poll(), wait.err)
                owner.process.kill()
                self.assertEqual(wait.wait(), 0, wait.err)
                self.assertIn("is free", wait.out)

    def test_the_end_of_a_ttl_ends_it(self):
        # The keeper stays for half a minute more: nothing but the clock tells.
        claimed = self.claim("k", "--ttl", "400ms", "--owner", "slow")
        wait = self.start("wait", "k")
        self.assertEqual(wait.wait(), 0, wait.err)
        self.assertNotEqual(state_of(claimed["keeper_pid"]), "")
        self.assertIn("k is free to be taken: expired, but still with slow", wait.out.replace("\n", " "))
        self.assert_fits(wait.out)

    def test_a_renewal_makes_it_wait_on(self):
        handle = self.tenure("claim", "k", "--ttl", "700ms", check=0).stdout.strip()
        wait = self.waiting("k", "--json")
        for _ in range(3):
            self.tenure("renew", env={"TENURE_HANDLE": handle}, check=0)
        self.tenure("release", env={"TENURE_HANDLE": handle}, check=0)
        self.assertEqual(wait.wait(), 0, wait.err)
        self.assertEqual(len(wait.err.splitlines()), 1, "one holder is told of once")

    def test_a_stopped_holder_is_waited_for(self):
        run = self.holder("k")
        run.send(signal.SIGSTOP)
        until(lambda: state_of(run.pid) == "T", "it is stopped")
        self.tenure("wait", "k", "--wait", "50ms", check=75)
        run.send(signal.SIGCONT)

    def test_a_revocation_ends_it(self):
        self.holder("k", "--on-lost", "warn")
        wait = self.waiting("k")
        self.tenure("revoke", "k", "--force", "--reason", "x", check=0)
        self.assertEqual(wait.wait(), 0, wait.err)

    def test_signals_end_it(self):
        self.holder("k")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            wait = self.waiting("k")
            wait.send(number)
            self.assertEqual(wait.wait(), -number)
        self.assertEqual(self.shell("sh -c 'kill -TERM $$; tenure wait k' || echo $?").stdout, "143\n")

    def test_nothing_is_taken_and_nobody_is_kept_waiting(self):
        run = self.holder("k")
        wait = self.waiting("k")
        self.assertNotIn("note", self.who("k"))
        self.end(run)
        self.assertEqual(wait.wait(), 0, wait.err)
        self.tenure("run", "k", "--wait", "0", "--", "true", check=0)

    def test_inside_its_own_run_it_is_refused(self):
        done = self.tenure("run", "k", "--", "tenure", "wait", "k", check=75)
        self.assertIn("would never end", done.stderr.replace("\n", " "))

    def test_it_is_told_and_does_not_ask(self):
        self.holder("k")
        wait = self.waiting("k")

        def switches():
            total = 0
            for task in os.listdir(f"/proc/{wait.pid}/task"):
                with open(f"/proc/{wait.pid}/task/{task}/status", encoding="utf-8") as file:
                    total += sum(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt"))
            return total

        until(lambda: state_of(wait.pid) == "S", "it sleeps")
        before, begun = switches(), time.monotonic()
        self.tenure("watch", "nothing", "--for", "1s", check=0)
        # Whoever looks every 50 ms sleeps 20 times a second.
        self.assertLess(switches() - before, 8 + 4 * (time.monotonic() - begun))


class OverAFolder(Waits):
    def setUp(self):
        super().setUp()
        self.env["TENURE_SPACE"] = "files:" + self.path("shared")
        self.tenure("space", "init", check=0)

    # In a folder there is no line: a key is free for a moment before the next one takes it.
    test_a_change_of_hands_is_told_and_is_not_free = None
    # Expired leases of a folder say so in other words, and it is watched by inotify and by a look.
    test_the_end_of_a_ttl_ends_it = None
    test_it_is_told_and_does_not_ask = None


class WithoutRoom(Case):
    def test_where_no_more_may_join_it_looks(self):
        space = "local:small"
        self.tenure("space", "init", "--space", space, "--members", "1", check=0)
        run = self.holder("k", "--space", space)
        wait = self.start("wait", "k", "--space", space)
        until(lambda: "waiting" in wait.err, "the wait begins")
        run.process.stdin.close()
        self.assertEqual(wait.wait(), 0, wait.err)


if __name__ == "__main__":
    main()
