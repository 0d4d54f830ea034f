"""run within run: reentrancy, circles of waiters; places in line that last."""

import os
import signal
import subprocess

from e2e import Case, content, main, until


class Reentrant(Case):
    def test_what_is_held_around_us_is_ours(self):
        script = 'echo "$TENURE_KEY $TENURE_EPOCH"; tenure run a -- sh -c \'echo "$TENURE_KEY $TENURE_EPOCH"; exit 4\'; echo $?; '
        done = self.tenure("run", "a", "--", "sh", "-c", script + "tenure who a --quiet && echo held", check=0)
        outer, inner, code, still = done.stdout.splitlines()
        self.assertEqual(outer, inner)
        self.assertEqual((code, still), ("4", "held"))
        self.assertEqual(done.stderr, "")
        self.assertFalse(self.who("a")["held"])

    def test_through_a_run_of_another_key(self):
        done = self.tenure("run", "a", "--", "tenure", "run", "b", "--", "tenure", "run", "a", "--wait", "0", "--status-file",
                           self.path("status"), "--", "sh", "-c", "echo $TENURE_KEY; exit 3", check=3)
        self.assertEqual(done.stdout, "a\n")
        self.assertEqual(content(self.path("status")), '{"by":"command","exit_code":3}\n')

    def test_it_can_be_refused(self):
        done = self.tenure("run", "a", "--", "tenure", "run", "a", "--no-reentrant", "--", "true", check=75)
        self.assertIn("you hold a already", done.stderr)

    def test_another_space_is_another_key(self):
        self.tenure("run", "a", "--", "tenure", "run", "a", "--space", "local:other", "--", "sh", "-c",
                    'test "$TENURE_SPACE" != "local:default"', check=0)

    def test_a_loss_ends_the_inner_one_too(self):
        began = self.path("began")
        run = self.start("run", "a", "--", "tenure", "run", "a", "--", "sh", "-c", f"touch {began}; exec cat",
                         stdin=subprocess.PIPE)
        until(lambda: os.path.exists(began), "the innermost runs")
        self.tenure("revoke", "a", "--force", "--reason", "maintenance", check=0)
        self.assertEqual(run.wait(), 76, run.err)

    def test_a_variable_that_was_carried_outside_is_not_believed(self):
        told = self.path("told")
        self.holder("a", script=f'echo "$TENURE_HOLDS" > {told}')
        done = self.tenure("run", "a", "--wait", "1ms", "--", "true", env={"TENURE_HOLDS": content(told).strip()}, check=75)
        self.assertIn("TENURE_HOLDS names a", done.stderr)
        self.assertNotIn("you hold", done.stderr)

    def test_who_was_not_told_is_not_within(self):
        for forget in ("unset TENURE_HOLDS", 'TENURE_HOLDS="1 a $TENURE_SPACE"'):
            with self.subTest(forget=forget):
                done = self.tenure("run", "a", "--", "sh", "-c", f"{forget}; tenure run a -- true", check=75)
                self.assertIn("runs inside the process that holds it", " ".join(done.stderr.split()))


class Circles(Case):
    def hold_then_want(self, key, wanted):
        """Holds the key, and wants the other as soon as `go` is there."""
        go, began = self.path(f"go-{key}"), self.path(f"began-{key}")
        run = self.start("run", key, "--", "sh", "-c",
                         f"touch {began}; while ! [ -e {go} ]; do :; done; exec tenure run {wanted} -- true")
        run.go = lambda: open(go, "w").close()
        until(lambda: os.path.exists(began), f"{key} is held")
        return run

    def waits_for(self, key):
        until(lambda: self.who(key).get("waiting") == 1, f"somebody waits for {key}")

    def test_of_two(self):
        first, second = self.hold_then_want("a", "b"), self.hold_then_want("b", "a")
        second.go()
        self.waits_for("a")
        first.go()
        self.assertEqual(first.wait(), 75, first.err)
        said = " ".join(first.err.split())
        self.assertIn("to wait for b would never end: b is held by", said)
        self.assertIn(f"(pid {second.pid}), which waits for a, which you hold", said)
        self.assertEqual(second.wait(), 0, second.err)

    def test_of_three(self):
        first, second, third = (self.hold_then_want(*pair) for pair in ("ab", "bc", "ca"))
        second.go()
        self.waits_for("c")
        third.go()
        self.waits_for("a")
        first.go()
        self.assertEqual(first.wait(), 75, first.err)
        said = " ".join(first.err.split())
        self.assertIn(f"(pid {second.pid}), which waits for c; c is held by", said)
        self.assertIn(f"(pid {third.pid}), which waits for a, which you hold", said)
        self.assertEqual((second.wait(), third.wait()), (0, 0))

    def test_a_long_line_is_no_circle(self):
        first, second = self.hold_then_want("a", "b"), self.hold_then_want("b", "c")
        first.go()
        self.waits_for("b")
        second.go()
        self.assertEqual((first.wait(), second.wait()), (0, 0), first.err + second.err)


class Several(Case):
    def test_all_are_held_and_given_back(self):
        done = self.tenure("run", "c", "a", "b", "--", "sh", "-c",
                           'echo "$TENURE_KEY"; for k in a b c; do tenure who $k --quiet && echo held; done; '
                           'echo "$TENURE_HOLDS" | tr ";" "\\n" | cut -d" " -f2', check=0)
        self.assertEqual(done.stdout.split(), ["c", "held", "held", "held", "a", "b", "c"])
        self.assertFalse(any(self.who(key)["held"] for key in "abc"))

    def test_none_is_held_when_one_is_not_to_be_had(self):
        self.holder("b")
        self.tenure("run", "c", "b", "a", "--wait", "0", "--", "touch", self.path("ran"), check=75)
        self.tenure("run", "c", "b", "a", "--wait", "50ms", "--", "touch", self.path("ran"), check=75)
        self.assertFalse(os.path.exists(self.path("ran")))
        self.assertFalse(self.who("a")["held"] or self.who("c")["held"])

    def test_in_any_order_and_no_circle(self):
        inside = self.path("inside")
        runs = [self.start("run", *keys, "--", "sh", "-c", f"mkdir {inside} || exit 9; rmdir {inside}")
                for keys in ("ab", "ba", "acb", "cab", "bca") for _ in range(3)]
        self.assertEqual([run.wait() for run in runs], [0] * len(runs), [run.err for run in runs])

    def test_the_loss_of_one_ends_the_command(self):
        run = self.start("run", "a", "b", "--", "cat", stdin=subprocess.PIPE)
        until(lambda: self.who("b")["held"], "both are held")
        self.tenure("revoke", "b", "--force", "--reason", "maintenance", check=0)
        self.assertEqual(run.wait(), 76, run.err)
        self.assertIn("lost b", run.err)
        self.assertFalse(self.who("a")["held"])

    def test_each_is_renewed(self):
        run = self.start("run", "a", "b", "--ttl", "1500ms", "--", "cat", stdin=subprocess.PIPE)
        until(lambda: self.who("b")["held"], "both are held")
        self.tenure("run", "b", "--wait", "3s", "--", "true", check=75)
        self.tenure("run", "a", "--wait", "0", "--", "true", check=75)
        run.process.stdin.close()
        self.assertEqual(run.wait(), 0, run.err)

    def test_some_of_them_held_around_us(self):
        self.tenure("run", "a", "b", "--", "tenure", "run", "c", "b", "--", "tenure", "run", "c", "a", "--", "true", check=0)

    def test_the_same_twice(self):
        done = self.tenure("run", "a", "b", "a", "--", "true", check=64)
        self.assertIn("a is named twice", done.stderr)

    def test_a_circle_through_what_we_hold_ourselves(self):
        go, began = self.path("go"), self.path("began")
        other = self.start("run", "b", "--", "sh", "-c",
                           f"touch {began}; while ! [ -e {go} ]; do :; done; exec tenure run a -- true")
        until(lambda: os.path.exists(began), "b is held")
        both = self.start("run", "a", "b", "--", "true")
        until(lambda: self.who("b").get("waiting") == 1, "the other waits for b, and holds a")
        open(go, "w").close()
        self.assertEqual(other.wait(), 75, other.err)
        self.assertIn("to wait for a would never end", " ".join(other.err.split()))
        self.assertEqual(both.wait(), 0, both.err)


class Tickets(Case):
    def test_a_place_lasts_from_one_wait_to_the_next(self):
        order = self.path("order")
        holder = self.holder("k")
        ticket = ["run", "k", "--ticket", "mine", "--keep-place", "5m"]
        self.tenure(*ticket, "--wait", "1ms", "--", "true", check=75)
        later = self.start("run", "k", "--", "sh", "-c", f"echo later >> {order}")
        until(lambda: self.who("k").get("waiting") == 2, "the later one waits behind the ticket")
        holder.process.send_signal(signal.SIGTERM)
        holder.wait()
        self.tenure(*ticket, "--wait", "1m", "--", "sh", "-c", f"echo ticket >> {order}", check=0)
        self.assertEqual(later.wait(), 0, later.err)
        self.assertEqual(content(order).split(), ["ticket", "later"])

    def test_a_place_that_nobody_comes_back_to_is_given_up(self):
        holder = self.holder("k")
        self.tenure("run", "k", "--ticket", "mine", "--keep-place", "300ms", "--wait", "1ms", "--", "true", check=75)
        later = self.start("run", "k", "--", "true")
        until(lambda: self.who("k").get("waiting") == 2, "the later one waits behind the ticket")
        holder.process.send_signal(signal.SIGTERM)
        self.assertEqual(later.wait(), 0, later.err)

    def test_a_claim_has_one_too(self):
        holder = self.holder("k")
        words = ["claim", "k", "--ticket", "mine", "--pid", str(os.getpid())]
        self.tenure(*words, "--wait", "1ms", check=75)
        holder.process.send_signal(signal.SIGTERM)
        holder.wait()
        handle = self.tenure(*words, "--wait", "1m", check=0).stdout.strip()
        self.tenure("release", env={"TENURE_HANDLE": handle}, check=0)

    def test_keep_place_wants_a_ticket(self):
        self.tenure("run", "k", "--keep-place", "1s", "--", "true", check=64)


if __name__ == "__main__":
    main()
