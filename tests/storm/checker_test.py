"""The checker finds what it is there to find: each bad history is the good one with one thing changed."""

import unittest

import checker

GOOD = """\
10 20 100.1 a granted 1 500
30 31 100.1 a inside 1
40 40 100.1 a releasing 1
40 50 100.1 a released 1
15 60 200.2 a granted 2 500
61 62 200.2 a inside 2
12 90 300.3 a granted 3 500
95 95 300.3 a leaving 3
95 110 400.4 a granted 5 500
20 120 500.5 a refused timed_out 100
"""
NAMES = ["a.lock", "a.epoch", "a.life", "a.seen"]


def account():
    made = checker.Account()
    made.killed[2] = 70  # its grant lasts from 60 to 70
    return made


def find(text, names=(), floor=1, keys=("a",), by=None):
    return checker.violations(checker.read(text), by or account(), keys, floor, list(names), finish=1000)


class CheckerTest(unittest.TestCase):
    def changed(self, before, after):
        self.assertIn(before, GOOD)
        return GOOD.replace(before, after)

    def assert_found(self, word, found):
        self.assertTrue(any(word in each for each in found), found)

    def test_good_history_passes(self):
        self.assertEqual(find(GOOD, NAMES), [])

    def test_grant_before_the_release_of_another(self):
        self.assert_found("two holders", find(self.changed("15 60 200.2", "15 39 200.2")))

    def test_grant_before_the_kill_of_another(self):
        self.assert_found("two holders", find(self.changed("12 90 300.3", "12 69 300.3")))

    def test_grant_after_the_kill_and_before_its_observation_is_none(self):
        self.assertEqual(find(self.changed("12 90 300.3", "12 71 300.3")), [])

    def test_sign_of_life_after_the_kill_was_sent_counts(self):
        late = self.changed("61 62 200.2 a inside", "92 93 200.2 a inside")
        self.assert_found("two holders", find(late))

    def test_grant_before_another_left(self):
        self.assert_found("two holders", find(self.changed("95 110 400.4", "80 94 400.4")))

    def test_stopped_process_still_holds(self):
        by = account()
        del by.killed[2]
        by.stopped[2] = [(63, 900)]
        self.assert_found("two holders", find(GOOD, by=by))

    def test_short_holder_inside_a_long_one(self):
        # The pair that overlaps need not be neighbours in time.
        self.assert_found("two holders", find(self.changed("40 40 100.1", "80 80 100.1")))

    def test_epoch_twice(self):
        self.assert_found("epoch 2 twice", find(self.changed("granted 3", "granted 2")))

    def test_falling_epoch(self):
        self.assert_found("falling epoch", find(self.changed("granted 5", "granted 1").replace("granted 1 500", "granted 4 500", 1)))

    def test_claims_at_the_same_time_may_return_in_any_order(self):
        # Both began before either returned: the order of their returns says nothing.
        text = "10 30 1.1 a granted 2 0\n31 31 1.1 a releasing 2\n10 40 2.2 a granted 1 0\n41 41 2.2 a releasing 1\n"
        self.assertEqual(find(text), [])

    def test_leftover(self):
        for name in ("a.tmp", "a.lease.json", "a.evidence-1", "a.lock.new", "core"):
            self.assert_found(name, find(GOOD, NAMES + [name]))

    def test_loss(self):
        self.assert_found("lost", find(self.changed("95 95 300.3 a leaving", "95 95 300.3 a lost")))

    def test_unknown_refusal_and_failure(self):
        self.assert_found("good reason", find(self.changed("timed_out", "input_output")))
        self.assert_found("failed", find(GOOD + "130 131 400.4 a failed lost\n"))

    def test_hung_call(self):
        slow = self.changed("20 120 500.5", f"20 {200_000_000 + checker.SLACK} 500.5")
        self.assert_found("it took", find(slow))
        by = account()
        by.stopped[5] = [(20, checker.SLACK)]  # it stood still itself
        self.assertEqual(find(slow, by=by), [])

    def test_no_progress(self):
        self.assert_found("only 4 times", find(GOOD, floor=5))
        self.assert_found("only 0 times", find(GOOD, keys=("a", "b")))


if __name__ == "__main__":
    unittest.main()
