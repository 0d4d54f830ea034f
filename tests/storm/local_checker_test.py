"""The checkers of the local storm find what they are there to find: each bad history is a good one with one thing
changed."""

import unittest

import checker
import linear
import local_checker
import local_watch

MS = local_checker.MILLISECOND

GOOD = """\
5 5 100.1 - joined -
10 10 100.1 a waiting 500
10 20 100.1 a granted 1 500 0
30 31 100.1 a inside 1
40 40 100.1 a releasing 1
40 50 100.1 a released 1
15 60 200.2 a granted 2 500 0
61 62 200.2 a inside 2
12 90 300.3 a granted 3 500 0
95 95 300.3 a leaving 3
96 110 400.4 a granted 5 500 0
120 121 400.4 a inside 5
125 125 500.5 a revoking 5
125 130 500.5 a revoked 5
124 140 600.6 a granted 6 500 0
150 151 400.4 a failed lost 5
150 151 600.6 a child wrong_process
160 160 600.6 a releasing 6
160 161 600.6 a released 6
20 170 500.5 a refused timed_out 100
"""


def account():
    made = checker.Account()
    made.killed[2] = 70  # its grant lasts from 60 to 70
    return made


def find(text, floor=1, by=None, finish=1000):
    return local_checker.violations(local_checker.read(text), by or account(), ["a"], floor, finish)


class Case(unittest.TestCase):
    def changed(self, before, after):
        self.assertIn(before, GOOD)
        return GOOD.replace(before, after)

    def assert_found(self, word, found):
        self.assertTrue(any(word in each for each in found), found)


class LocalCheckerTest(Case):
    def test_good_history_passes(self):
        self.assertEqual(find(GOOD), [])

    def test_grant_before_the_release_of_another(self):
        self.assert_found("two holders", find(self.changed("15 60 200.2", "15 39 200.2")))

    def test_grant_before_the_kill_of_another(self):
        self.assert_found("two holders", find(self.changed("12 90 300.3", "12 69 300.3")))

    def test_grant_before_another_left(self):
        self.assert_found("two holders", find(self.changed("96 110 400.4", "80 94 400.4")))

    def test_verification_that_passed_after_the_next_grant(self):
        self.assert_found("two holders", find(self.changed("120 121 400.4 a inside", "141 142 400.4 a inside")))

    def test_revoked_one_holds_no_longer_than_its_last_sign(self):
        self.assertEqual(find(self.changed("124 140 600.6", "124 126 600.6")), [])

    def test_release_that_succeeded_after_the_next_grant(self):
        late = self.changed("40 40 100.1 a releasing 1\n40 50 100.1", "62 62 100.1 a releasing 1\n62 63 100.1")
        self.assert_found("two holders", find(late))

    def test_ttl_ends_what_a_killed_one_holds(self):
        text = f"10 20 1.1 a granted 1 500 1\n30 {2 * MS} 2.2 a granted 2 5000 0\n"
        by = checker.Account()
        by.killed[1] = 9 * MS
        self.assertEqual(find(text, by=by), [])
        self.assert_found("two holders", find(text.replace(f" {2 * MS} ", f" {MS} "), by=by))

    def test_grant_may_be_over_before_it_returns(self):
        late = f"10 {3 * MS} 1.1 a granted 1 500 1\n30 {2 * MS} 2.2 a granted 2 5000 0\n"
        released = f"{9 * MS} {9 * MS} 2.2 a releasing 2\n{9 * MS} {9 * MS + 1} 2.2 a released 2\n"
        self.assertEqual(find(late + released), [])
        sign = f"{4 * MS} {4 * MS + 1} 1.1 a inside 1\n"
        self.assert_found("two holders", find(late + sign + released))
        self.assert_found("two holders", find((late + released).replace(" 500 1\n", " 500 0\n")))

    def test_renewal_extends(self):
        text = f"10 20 1.1 a granted 1 500 1\n{MS} {MS + 9} 1.1 a renewed 1\n30 {MS + MS // 2} 2.2 a granted 2 5000 0\n"
        by = checker.Account()
        by.killed[1] = 9 * MS
        self.assert_found("two holders", find(text, by=by))

    def test_epoch_twice_falling_and_of_two_keys(self):
        self.assert_found("epoch 2 twice", find(self.changed("granted 3", "granted 2")))
        self.assert_found("falling epoch", find(self.changed("granted 6", "granted 4")))
        self.assert_found("epoch 1 of two keys", local_checker.violations(
            local_checker.read(GOOD + "200 210 7.7 b granted 1 0 0\n"), account(), ["a", "b"], 1, 1000))

    def test_loss_that_nobody_brought_about(self):
        self.assert_found("failed", find(GOOD.replace("125 125 500.5 a revoking 5\n125 130 500.5 a revoked 5\n", "")))
        self.assert_found("lost", find(self.changed("160 160 600.6 a releasing 6", "160 160 600.6 a lost 6")))

    def test_child_that_uses_the_lease_of_its_parent(self):
        self.assert_found("a child", find(self.changed("child wrong_process", "child ok")))

    def test_unknown_refusal_and_failure(self):
        self.assert_found("good reason", find(self.changed("timed_out", "input_output")))
        self.assert_found("failed", find(self.changed("failed lost", "failed internal")))
        self.assert_found("not revoked", find(self.changed("revoked 5", "spared internal 5")))

    def test_hung_call_and_no_progress(self):
        self.assert_found("it took", find(self.changed("20 170 500.5", f"20 {200 * MS + checker.SLACK} 500.5")))
        self.assert_found("only 5 times", find(GOOD, floor=6))


class LinearTest(Case):
    HISTORY = """\
10 20 1.1 a granted 1 0 0
12 22 2.2 a refused held 0
15 60 3.3 a granted 2 100 0
30 31 1.1 a inside 1
40 40 1.1 a releasing 1
40 50 1.1 a released 1
45 46 2.2 a refused held 0
70 70 3.3 a releasing 2
70 80 3.3 a released 2
"""

    def check(self, text):
        return linear.violations(local_checker.read(text))

    def test_good_history_passes(self):
        self.assertEqual(self.check(self.HISTORY), [])
        self.assertEqual(linear.violations(local_checker.read(GOOD.replace("95 95 300.3 a leaving 3", "\n".join([
            "92 92 300.3 a releasing 3", "92 95 300.3 a released 3"])).replace("61 62 200.2 a inside 2", "\n".join([
                "61 61 200.2 a releasing 2", "61 62 200.2 a released 2"])))), [])

    def assert_seeded(self, before, after):
        self.assertIn(before, self.HISTORY)
        self.assert_found("not linearizable", self.check(self.HISTORY.replace(before, after)))

    def test_grant_while_another_holds(self):
        self.assert_seeded("15 60 3.3", "15 39 3.3")

    def test_refusal_of_a_free_key(self):
        self.assert_seeded("45 46 2.2 a refused", "90 91 2.2 a refused")
        self.assert_seeded("12 22 2.2 a refused", "2 5 2.2 a refused")

    def test_falling_epoch(self):
        self.assert_found("not linearizable", self.check(self.HISTORY.replace(" 2\n", " 3\n").replace(
            "granted 2", "granted 3").replace("granted 1", "granted 4").replace(" 1\n", " 4\n")))

    def test_verification_after_the_release(self):
        self.assert_seeded("30 31 1.1 a inside 1", "62 63 1.1 a inside 1")

    def test_loss_while_holding(self):
        self.assert_seeded("30 31 1.1 a inside 1", "30 31 1.1 a failed lost 1")

    def test_second_release(self):
        self.assert_found("not linearizable", self.check(self.HISTORY + "90 90 1.1 a releasing 1\n90 95 1.1 a released 1\n"))

    def test_release_without_an_outcome_may_have_happened_or_not(self):
        lost = self.HISTORY.replace("70 80 3.3 a released 2\n", "")
        self.assertEqual(self.check(lost), [])
        self.assertEqual(self.check(lost + "90 95 2.2 a granted 3 0 0\n"), [])
        self.assertEqual(self.check(lost + "90 95 2.2 a refused held 0\n"), [])
        both = lost + "90 95 2.2 a granted 3 0 0\n96 97 3.3 a inside 2\n"
        self.assert_found("not linearizable", self.check(both))

    def test_key_that_was_revoked_before_its_waiter_knew(self):
        # Epoch 2 was never told of: the waiter had it for a moment, and got 3.
        text = self.HISTORY.replace("granted 2", "granted 3").replace(" 2\n", " 3\n")
        self.assertEqual(self.check(text + "51 51 4.4 a revoking 2\n51 55 4.4 a revoked 2\n"), [])

    def test_long_good_history_is_quick(self):
        lines = []
        for turn in range(3_000):
            at = turn * 10
            lines += [f"{at - 25} {at} {turn % 5}.{turn % 5} a granted {turn + 1} 9 0",
                      f"{at + 1} {at + 4} 9.9 a refused held 0",
                      f"{at + 5} {at + 9} {turn % 5}.{turn % 5} a released {turn + 1}"]
        self.assertEqual(self.check("\n".join(lines)), [])


SECOND = local_watch.SECOND


class FakeNode:
    def __init__(self, index, member, waits=True, until=SECOND, grace_end=0):
        self.index, self.member, self.word, self.arrival = index, member, 7, index
        self.offered_at, self.asleep_until = 0, until
        self.waits = lambda: waits
        self.has_grace = lambda now: now < grace_end


class FakeSlot:
    def __init__(self, line, held=False, member=(0, 0), grantee=0, ttl=0, inside=0):
        self.index, self.word, self.epoch, self.key = 5, 2 if held else 3, 100, "a"
        self.held, self.member, self.line, self.grantee = held, member, line, grantee
        self.ttl, self.extended, self.guard, self.inside = ttl, 0, 0, inside


class FakeTable:
    def __init__(self, slot, living):
        self.slot, self.living = slot, living

    def slots(self):
        return [] if self.slot is None else [5]

    def read(self, _):
        return self.slot

    def lives(self, member):
        return member in self.living

    def who(self, member):
        return (member[0], 1) if member else None

    def member_in_lock(self, word):
        return (word, 1)


A, B, C = (1, 1), (2, 1), (3, 1)


class WatchTest(Case):
    def watch(self, slot, living, seconds, stops=()):
        watch = local_watch.Watch(lambda pid, _, since, until: any(
            pid == who and begin <= until and end >= since for who, begin, end in stops))
        for tenth in range(int(seconds * 10) + 1):
            now = tenth * SECOND // 10
            watch.look(FakeTable(slot(now) if callable(slot) else slot, living), lambda at=now: at)
        return watch.faults

    def assert_late(self, seconds, slot, living, stops=()):
        """Found when the waiter is late, and not before."""
        self.assertEqual(self.watch(slot, living, seconds, stops), [])
        self.assert_found("a lost wake-up", self.watch(slot, living, seconds + 0.2, stops))

    def test_waiter_asleep_beside_a_free_key(self):
        self.assert_late(3, FakeSlot([FakeNode(8, A)]), {A})
        self.assert_late(22, FakeSlot([FakeNode(8, A, until=20 * SECOND)]), {A})

    def test_waiter_asleep_beside_the_dead(self):
        self.assert_late(3, FakeSlot([FakeNode(8, A)], True, B), {A})

    def test_waiter_asleep_though_the_key_was_offered_to_it(self):
        self.assert_late(3, FakeSlot([FakeNode(8, A)], grantee=8), {A})

    def test_waiter_asleep_though_a_ttl_ran_out(self):
        slot = FakeSlot([FakeNode(8, A, until=SECOND)], True, B, ttl=SECOND)
        self.assert_late(3.1, slot, {A, B})

    def test_waiter_that_looks_and_does_nothing(self):
        self.assert_late(3, lambda now: FakeSlot([FakeNode(8, A, until=now // SECOND * SECOND + SECOND)]), {A})

    def test_waiter_that_never_sleeps(self):
        self.assert_late(2, FakeSlot([FakeNode(8, A, until=0)]), {A})

    def test_waiter_that_is_behind_its_bound_when_the_key_comes_free(self):
        def freed(now):
            held = now < 9 * SECOND
            return FakeSlot([FakeNode(8, A)], held, B if held else (0, 0))

        self.assert_late(11, freed, {A, B})

    def test_key_in_use_may_be_waited_for(self):
        self.assertEqual(self.watch(FakeSlot([FakeNode(8, A)], True, B), {A, B}, 60), [])

    def test_dead_and_absent_waiters_wait_for_nothing(self):
        self.assertEqual(self.watch(FakeSlot([FakeNode(8, A), FakeNode(9, B, False)]), {B}, 60), [])

    def test_absent_grantee_has_its_grace(self):
        self.assert_late(7, FakeSlot([FakeNode(8, A, False, grace_end=5 * SECOND), FakeNode(9, B)], grantee=8), {B})

    def test_stopped_waiter_may_be_late(self):
        self.assertEqual(self.watch(FakeSlot([FakeNode(8, A)]), {A}, 60, [(1, 0, 1 << 60)]), [])

    def test_waiter_has_time_after_it_was_continued(self):
        self.assert_late(5.1, FakeSlot([FakeNode(8, A)]), {A}, [(1, 0, 3 * SECOND)])

    def test_waiter_has_time_after_one_inside_was_continued(self):
        self.assert_late(5.1, FakeSlot([FakeNode(8, A)], inside=2), {A}, [(2, 0, 3 * SECOND)])

    def test_waiter_behind_a_stopped_grantee_has_a_second_bound(self):
        def slot(now):
            until = 1 if now < SECOND else 6 if now < 6 * SECOND else 60
            return FakeSlot([FakeNode(8, A), FakeNode(9, B, until=until * SECOND)], grantee=8)

        self.assert_late(8, slot, {A, B}, [(1, 0, 1 << 60)])

    def test_waiter_far_behind_a_stopped_grantee_has_patience(self):
        def slot(now):
            # Its patience is 4 s in the fourth place; it looks each second.
            others = [FakeNode(20 + i, A, False) for i in range(2)]
            last = FakeNode(9, B, until=now // SECOND * SECOND + SECOND)
            return FakeSlot([FakeNode(8, A), *others, last], grantee=8)

        self.assert_late(6, slot, {A, B}, [(1, 0, 1 << 60)])

    def test_key_that_goes_on_is_no_stall(self):
        def moving(now):
            slot = FakeSlot([FakeNode(8, A)])
            slot.epoch = now // SECOND
            return slot

        self.assertEqual(self.watch(moving, {A}, 60), [])

    def test_bucket_that_nobody_leaves(self):
        self.assert_found("inside its bucket", self.watch((2, 77), {A}, 10))
        self.assertEqual(self.watch((2, 77), {A}, 60, [(2, 0, 1 << 60)]), [])
        self.assertEqual(self.watch(lambda now: (2, now), {A}, 60), [])


if __name__ == "__main__":
    unittest.main()
