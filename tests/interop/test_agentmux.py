"""AgentMux and the program contend for one id in one folder: exclusion, numbers, records, take-overs and waiting."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../e2e"))
from e2e import BOUND, PROGRAM, Case, content, gone, main, until  # noqa: E402

STAND_IN = os.path.join(os.path.dirname(os.path.realpath(__file__)), "agentmux.py")
U32, U64 = 2**32, 2**64
# The thirteen fields of its current format, in its order.
FIELDS = {"instance_id": str, "owner_boot_id": str, "block_id": str, "session_id": (str, type(None)), "pid": int,
          "acquired_at_ms": int, "renewed_at_ms": int, "epoch": int, "hostname": str, "pid_start_s": int,
          "channel": str, "version": str, "claim_id": str}


class AgentMux:
    """One process of the stand-in."""

    def __init__(self, case, boot):
        self.process = subprocess.Popen([sys.executable, "-B", STAND_IN, case.store, boot], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=case.folder)
        self.pid = self.process.pid
        case.addCleanup(self.end)

    def ask(self, *words):
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(BOUND)


class Interop(Case):
    def setUp(self):
        super().setUp()
        self.store = self.path("store")
        self.space("proof")
        self.tenure("space", "init", check=0)

    def space(self, expiry):
        self.env["TENURE_SPACE"] = f"files:{self.store}?expiry={expiry}"

    def record(self, key):
        return json.loads(content(os.path.join(self.store, "leases", key + ".lease.json")) or "null")

    def refused(self, key):
        done = self.tenure("run", key, "--wait", "0", "--", "true")
        self.assertIn(done.returncode, (0, 75), done.stderr)
        return done.returncode == 75


class Exclusion(Interop):
    def test_it_keeps_us_out_and_we_keep_it_out(self):
        for expiry in ("age", "proof"):
            with self.subTest(expiry):
                self.space(expiry)
                key = "id-" + expiry
                amx = AgentMux(self, "boot-a")
                self.assertTrue(amx.ask("claim", key, "block-1")["granted"])
                self.assertTrue(self.refused(key))
                self.assertTrue(amx.ask("verify", key)["mine"])
                self.assertTrue(amx.ask("release", key)["mine"])
                run = self.holder(key)
                answer = amx.ask("claim", key, "block-1")
                self.assertFalse(answer["granted"])
                self.assertEqual(answer["holder"]["pid"], run.pid)
                self.assertEqual(amx.ask("holder", key)["holder"]["instance_id"], key)
                run.process.stdin.close()
                self.assertEqual(run.wait(), 0)
                self.assertTrue(amx.ask("claim", key, "block-1")["granted"])

    def test_numbers_rise_across_both(self):
        amx, last = AgentMux(self, "boot-a"), 0
        for _ in range(5):
            epoch = amx.ask("claim", "id", "block-1")["epoch"]
            self.assertGreater(epoch, last)
            amx.ask("release", "id")
            last = int(self.tenure("run", "id", "--", "sh", "-c", "echo $TENURE_EPOCH", check=0).stdout)
            self.assertGreater(last, epoch)

    def test_many_of_both_are_never_inside_together(self):
        turns, inside, journal = 12, self.path("inside"), self.path("journal")
        critical = (f'set -C; echo $$ > {inside} || echo TOGETHER >> {journal}; '
                    f'echo $TENURE_EPOCH >> {journal}; rm {inside}')
        failures = []

        def ours():
            for _ in range(turns):
                done = self.tenure("run", "id", "--wait", "80s", "--", "sh", "-c", critical)
                if done.returncode != 0:
                    failures.append(done.stderr)

        def theirs(amx):
            for _ in range(turns):
                answer = until(lambda: (lambda a: a["granted"] and a)(amx.ask("claim", "id", "block-1")), "its turn")
                self.shell(critical, env={"TENURE_EPOCH": str(answer["epoch"])}, check=0)
                if not amx.ask("release", "id")["mine"]:
                    failures.append("it lost its lease within its turn")

        threads = [threading.Thread(target=ours) for _ in range(2)]
        threads += [threading.Thread(target=theirs, args=(AgentMux(self, f"boot-{n}"),)) for n in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(4 * BOUND)
        self.assertEqual(failures, [])
        epochs = content(journal).split()
        self.assertNotIn("TOGETHER", epochs)
        self.assertEqual(len(epochs), 4 * turns)
        self.assertEqual([int(e) for e in epochs], sorted({int(e) for e in epochs}))


class Records(Interop):
    def test_ours_has_its_thirteen_fields(self):
        run = self.holder("id", "--session", "s-1", "--channel", "stable", "--version", "1.2")
        record = self.record("id")
        self.assertEqual(list(record)[: len(FIELDS)], list(FIELDS))
        for name, kind in FIELDS.items():
            self.assertIsInstance(record[name], kind, name)
            self.assertNotIsInstance(record[name], bool, name)
        self.assertTrue(0 < record["pid"] < U32 and 0 < record["epoch"] < U64)
        self.assertEqual((record["pid"], record["epoch"]), (run.pid, run.epoch))
        self.assertEqual((record["session_id"], record["channel"], record["version"]), ("s-1", "stable", "1.2"))
        self.assertEqual(record["pid_start_s"], 0)
        self.assertEqual(set(record) - set(FIELDS), {"tenure"})

    def test_its_is_shown_by_who_and_ls(self):
        amx = AgentMux(self, "boot-a")
        epoch = amx.ask("claim", "id", "block-1")["epoch"]
        seen = self.who("id")
        self.assertTrue(seen["held"])
        self.assertEqual(seen["epoch"], epoch)
        holder = seen["holder"]
        self.assertEqual((holder["owner"], holder["part"], holder["pid"]), ("boot-a", "block-1", amx.pid))
        self.assertEqual((holder["channel"], holder["version"]), ("stable", "0.44.2"))
        self.assertIn("AgentMux", self.tenure("who", "id", check=0).stdout)
        self.assertIn("id", self.tenure("ls", check=0).stdout)

    def test_M1_a_replaced_executable_is_no_death(self):
        copy = os.path.join(self.folder, "tenure")
        shutil.copy2(PROGRAM, copy)
        mark = self.path("began")
        run = self.start_program([copy, "run", "id", "--", "sh", "-c", f"echo > {mark}; exec cat"],
                                 stdin=subprocess.PIPE)
        until(lambda: content(mark), "the command begins")
        os.unlink(copy)
        shutil.copy2(PROGRAM, copy)
        self.assertIn("(deleted)", os.readlink(f"/proc/{run.pid}/exe"))
        self.assertTrue(self.refused("id"))
        self.assertFalse(AgentMux(self, "boot-a").ask("claim", "id", "block-1")["granted"])
        run.process.stdin.close()
        self.assertEqual(run.wait(), 0)


class Takeovers(Interop):
    def test_ours_that_is_silent_by_its_clock_is_lost_and_says_to_whom(self):
        self.space("age")
        run = self.holder("id")
        amx = AgentMux(self, "boot-a")
        amx.ask("clock", "3600")
        answer = amx.ask("claim", "id", "block-1")
        self.assertTrue(answer["granted"])
        self.assertGreater(answer["epoch"], run.epoch)
        self.assertEqual(run.wait(), 76)
        self.assertTrue(gone(run.child))
        self.assertIn("boot-a", run.err)
        self.assertTrue(amx.ask("verify", "id")["mine"])

    def test_a_stopped_one_of_ours_is_taken_by_it_and_fenced_when_it_goes_on(self):
        run = self.holder("id")
        run.send(signal.SIGSTOP)
        amx = AgentMux(self, "boot-a")
        amx.ask("clock", "3600")
        self.assertTrue(amx.ask("claim", "id", "block-1")["granted"])
        run.send(signal.SIGCONT)
        self.assertEqual(run.wait(), 76)
        self.assertTrue(amx.ask("verify", "id")["mine"])

    def test_a_killed_one_of_ours_is_displaced_by_it_at_once(self):
        run = self.holder("id")
        run.process.kill()
        run.wait()
        until(lambda: gone(run.child), "its command is ended")
        answer = AgentMux(self, "boot-a").ask("claim", "id", "block-1")
        self.assertTrue(answer["granted"])
        self.assertGreater(answer["epoch"], run.epoch)

    def test_a_silent_one_of_its_is_taken_by_age_and_not_by_proof(self):
        amx = AgentMux(self, "boot-a")
        amx.ask("clock", "-3600")
        epoch = amx.ask("claim", "id", "block-1")["epoch"]
        self.assertTrue(self.refused("id"), "its process runs, and that can be seen")
        self.space("age")
        taken = int(self.tenure("run", "id", "--wait", "0", "--", "sh", "-c", "echo $TENURE_EPOCH", check=0).stdout)
        self.assertGreater(taken, epoch)
        self.assertFalse(amx.ask("verify", "id")["mine"])
        self.assertFalse(amx.ask("release", "id")["mine"])

    def test_a_dead_one_of_its_is_displaced_at_once_by_age(self):
        amx = AgentMux(self, "boot-a")
        amx.ask("claim", "id", "block-1")
        amx.end()
        self.space("age")
        self.assertFalse(self.refused("id"))

    def test_a_dead_one_of_its_is_unknown_by_proof_and_the_end_of_it_is_told(self):
        amx = AgentMux(self, "boot-a")
        amx.ask("claim", "id", "block-1")
        amx.end()
        self.assertTrue(self.refused("id"))
        seen = self.who("id")
        self.assertEqual(seen["liveness"], "unknown")
        # Not at once, and by itself: nobody has to do anything.
        done = self.tenure("run", "id", "--wait", "60s", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)


class Waiting(Interop):
    def test_its_release_wakes_our_waiter(self):
        amx = AgentMux(self, "boot-a")
        epoch = amx.ask("claim", "id", "block-1")["epoch"]
        run = self.start("run", "id", "--", "sh", "-c", "echo $TENURE_EPOCH")
        until(lambda: "boot-a" in run.err, "it says for whom it waits")
        self.assertIsNone(run.process.poll())
        self.assertTrue(amx.ask("renew", "id")["mine"])
        self.assertTrue(amx.ask("release", "id")["mine"])
        self.assertEqual(run.wait(), 0)
        self.assertGreater(int(run.out), epoch)

    def test_its_lease_survives_whatever_we_do_short_of_force(self):
        amx = AgentMux(self, "boot-a")
        amx.ask("claim", "id", "block-1")
        self.assertEqual(self.tenure("revoke", "id").returncode, 77)
        self.assertTrue(amx.ask("verify", "id")["mine"])
        self.tenure("revoke", "id", "--force", "--reason", "needed", check=0)
        self.assertFalse(amx.ask("verify", "id")["mine"])
        self.assertFalse(self.refused("id"))


if __name__ == "__main__":
    main()
