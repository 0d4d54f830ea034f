"""One of pi-amq is stopped before each change that it makes, of taking the lease and of giving it back: what becomes of
ours then, and of it.
"""

import json
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import test_receiver  # noqa: E402
import pi_amq  # noqa: E402
from e2e import BOUND, main, state_of, until  # noqa: E402


class Steps(test_receiver.Interop):

    STATES = ("nobody's", "with a dead one's guard", "with a dead one's lease")

    def each(self, body):
        """body(peer) while it is stopped; until it takes no more steps."""
        for state in self.STATES:
            steps = 0
            while steps < 100 and self.stopped_at(steps + 1, state, body):
                steps += 1
            self.assertIn(steps, range(20, 100), state)

    def stopped_at(self, step, state, body):
        with self.subTest(state, step=step):
            self.use(self.path(f"{state[-5:]}-{step}"))
            if state.endswith("guard"):
                self.put(self.dead_record(pi_amq.GUARD_KEYS), test_receiver.GUARD)
            if state.endswith("lease"):
                self.put(self.dead_record(pi_amq.OWNER_KEYS), "receiver.lock", "owner.json")
            peer = self.pi("--stop-at", str(step), "--guard-wait-ms", str(1000 * BOUND))
            # Its answers are few and short: they wait in the pipe.
            peer.process.stdin.write("acquire\nrelease\n")
            peer.process.stdin.close()
            if until(lambda: state_of(peer.pid) in ("T", "Z"), "it stops, or ends") and state_of(peer.pid) == "Z":
                return False
            body(peer)
        return True

    def test_its_death_there_leaves_nothing_in_our_way(self):
        def body(peer):
            peer.process.kill()
            peer.process.wait(BOUND)
            self.granted("--wait", "0")
            self.assertFalse(self.who("receiver")["held"])
            self.assertFalse(os.path.exists(self.within(test_receiver.GUARD)))
            self.assertEqual([name for name in self.intents() if not name.endswith(".tmp")], [])

        self.each(body)

    def test_while_it_is_stopped_there_ours_is_let_in_or_told_why_not(self):
        def body(peer):
            done = self.tenure("run", "receiver", "--wait", "0", "--json", "--", "true")
            if done.returncode != 0:
                self.assertEqual(done.returncode, 75, done.stderr)
                self.assertIn(test_receiver.error_of(done)["code"], ("held", "section_busy"))
            peer.process.send_signal(signal.SIGCONT)
            answers = [json.loads(line) for line in peer.process.stdout]
            self.assertEqual([answer["status"] for answer in answers], ["acquired", "released"], answers)
            self.assertEqual(peer.process.wait(BOUND), 0)
            self.assert_only()
            self.assertEqual(self.intents(), [])

        self.each(body)


if __name__ == "__main__":
    main()
