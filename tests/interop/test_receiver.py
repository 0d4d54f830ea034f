"""pi-amq and the program contend for one namespace: each honours the other's lease, guard and intents, and each takes
over from the other's dead, with the evidence kept.

Where pi-amq is wrong by its own format, a test says how, and what becomes of ours then.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "../e2e"))
import pi_amq  # noqa: E402
from e2e import BOUND, PROGRAM, Case, content, gone, main, until  # noqa: E402

STAND_IN = os.path.join(HERE, "pi_amq.py")
EVIDENCE = r"\.\d{13}\.[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
GUARD = "receiver.lifecycle.guard.json"
INITIAL_NAMESPACE = "pid:[4026531836]"


class PiAmq:
    """One process of the stand-in."""

    def __init__(self, case, *options):
        self.process = subprocess.Popen([sys.executable, "-B", STAND_IN, *options, case.namespace], text=True,
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


def error_of(done):
    """The last of what it said with --json; before it may stand for whom it waited."""
    return json.loads(done.stderr.splitlines()[-1])["error"]


class Interop(Case):
    def setUp(self):
        super().setUp()
        self.use(self.path("namespace"))

    def use(self, namespace):
        self.namespace = namespace
        # In a container only its own processes are seen. All of the test's are among them.
        alone = "" if os.readlink("/proc/self/ns/pid") == INITIAL_NAMESPACE else "&namespaces=one"
        self.env["TENURE_SPACE"] = f"receiver:{self.namespace}?root=root{alone}"

    def within(self, *names):
        return os.path.join(self.namespace, *names)

    def pi(self, *options):
        return PiAmq(self, *options)

    def acquired(self, pi):
        answer = pi.ask("acquire")
        self.assertEqual(answer.get("status"), "acquired", answer)
        return answer

    def owner(self):
        return json.loads(content(self.within("receiver.lock", "owner.json")) or "null")

    def refused(self, *words, exit_code=75):
        """What `run` says, with --json, when it does not get the lease at once."""
        done = self.tenure("run", "receiver", "--wait", "0", "--json", *words, "--", "true", check=exit_code)
        return error_of(done)

    def granted(self, *words):
        """Runs a command that holds it for a moment; its epoch."""
        done = self.tenure("run", "receiver", *words, "--", "sh", "-c", "echo $TENURE_EPOCH", check=0)
        return int(done.stdout)

    def evidence(self):
        return sorted(os.listdir(self.within("quarantine"))) if os.path.isdir(self.within("quarantine")) else []

    def intents(self):
        return sorted(os.listdir(self.within("lifecycle-reclaims")))

    def put(self, record, *names):
        os.makedirs(os.path.dirname(self.within(*names)), exist_ok=True)
        with open(self.within(*names), "wb") as file:
            file.write(record if isinstance(record, bytes) else pi_amq.encode(record))

    @staticmethod
    def fixture(name):
        with open(os.path.join(HERE, "pi-amq", name), "rb") as file:
            return file.read()

    def record_of(self, pid, keys, **changes):
        """A record that names that process, as pi-amq would write it."""
        start, executable = pi_amq.inspect_process(pid)
        fields = {"schema": 1, "generation": "3f1b8c52-7d0e-4a96-8b1f-5c2d9e7a4f60", "piSessionId": "s", "pid": pid,
                  "piSessionFile": "/s.jsonl", "processStartIdentity": start, "bootIdentity": pi_amq.boot_identity(),
                  "executable": executable, "hostname": pi_amq.host_name(), "rootId": "root",
                  "createdAt": pi_amq.now_iso()}
        fields.update(changes)
        return {key: fields[key] for key in keys}

    def dead_record(self, keys, **changes):
        """One that names a process that is over."""
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
        record = self.record_of(child.pid, keys, **changes)
        child.stdin.close()
        child.wait(BOUND)
        return record

    def assert_only(self, *names):
        """What lies in the namespace: the folders that pi-amq makes, our counter, and these."""
        always = {"quarantine", "lifecycle-reclaims", "tenure.epochs"}
        self.assertEqual(set(os.listdir(self.namespace)) - always, set(names))


class Exclusion(Interop):
    def test_its_lease_is_honoured_and_told_of(self):
        pi = self.pi("--session", "s-pi", "--session-file", "/home/ada/s.jsonl")
        owner = self.acquired(pi)["owner"]
        error = self.refused()
        self.assertEqual(error["code"], "held")
        self.assertIn("s-pi", error["message"])
        self.assertIn("is alive", error["message"])
        holder = error["holder"]["holder"]
        self.assertEqual((holder["session"], holder["pid"], holder["host"]), ("s-pi", pi.pid, owner["hostname"]))
        seen = self.who("receiver")
        self.assertTrue(seen["held"])
        self.assertEqual((seen["liveness"], seen["epoch"]), ("live", 0))
        self.assertEqual(self.owner(), owner, "it was left alone")
        self.assertEqual(self.tenure("revoke", "receiver", "--reason", "r").returncode, 77)
        self.assertEqual(pi.ask("release"), {"status": "released"})
        self.assertFalse(self.who("receiver")["held"])
        self.assertGreater(self.granted(), 0)
        self.assert_only()

    def test_our_lease_is_honoured_and_has_its_fields(self):
        run = self.holder("receiver", "--session", "s-1", "--session-file", "sessions/../s.jsonl")
        owner = self.owner()
        start, executable = pi_amq.inspect_process(run.pid)
        self.assertEqual(tuple(owner), pi_amq.OWNER_KEYS)
        self.assertEqual(owner, {
            "schema": 1, "generation": owner["generation"], "piSessionId": "s-1",
            "piSessionFile": os.path.join(os.path.realpath(self.folder), "s.jsonl"), "pid": run.pid,
            "processStartIdentity": start, "bootIdentity": pi_amq.boot_identity(), "executable": executable,
            "hostname": pi_amq.host_name(), "rootId": "root", "createdAt": owner["createdAt"]})
        self.assertRegex(owner["generation"], r"^tenure-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-")
        self.assertRegex(owner["createdAt"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        with open(self.within("receiver.lock", "owner.json"), "rb") as file:
            self.assertEqual(file.read(), pi_amq.encode(owner))
        pi = self.pi()
        self.assertEqual(pi.ask("acquire"), {"status": "held", "owner": owner})
        self.assertEqual(pi.ask("inspect"), {"status": "owned", "owner": owner})
        self.assertEqual(pi.ask("with", owner["generation"])["error"], "LeaseFenceError")
        self.assertEqual(pi.ask("release", "another"), {"status": "not-owner", "owner": owner})
        run.process.stdin.close()
        self.assertEqual(run.wait(), 0)
        self.assertIsNone(self.acquired(pi)["reclaimed"])
        self.assert_only("receiver.lock")

    def test_who_names_no_session_is_let_in_all_the_same(self):
        self.holder("receiver")
        owner = self.owner()
        self.assertEqual((owner["piSessionId"] != "", owner["piSessionFile"]), (True, "/dev/null"))

    def test_modes_let_nobody_else_in(self):
        self.holder("receiver")
        self.assertEqual(os.stat(self.within("receiver.lock")).st_mode & 0o777, 0o700)
        for name in os.listdir(self.within("receiver.lock")):
            self.assertEqual(os.stat(self.within("receiver.lock", name)).st_mode & 0o777, 0o600, name)

    def test_its_release_wakes_our_waiter(self):
        pi = self.pi("--session", "s-pi")
        self.acquired(pi)
        run = self.start("run", "receiver", "--", "sh", "-c", "echo $TENURE_EPOCH")
        until(lambda: "s-pi" in run.err, "it says for whom it waits")
        self.assertIsNone(run.process.poll())
        pi.ask("release")
        self.assertEqual(run.wait(), 0)
        self.assertGreater(int(run.out), 0)

    def test_our_epochs_rise_over_its_turns(self):
        pi, last = self.pi(), 0
        for _ in range(5):
            epoch = self.granted()
            self.assertGreater(epoch, last)
            last = epoch
            self.acquired(pi)
            pi.ask("release")

    # Whoever can read the record can give the lease back: its generation stands in it. Ours is told that it is lost.
    def test_it_can_take_ours_away_by_its_generation_and_ours_is_told(self):
        run = self.holder("receiver")
        self.assertEqual(self.pi().ask("release", self.owner()["generation"]), {"status": "released"})
        self.assertEqual(run.wait(), 76)
        self.assertTrue(gone(run.child))

    def test_of_another_root_it_cannot(self):
        run = self.holder("receiver")
        answer = self.pi("--root", "another").ask("release", self.owner()["generation"])
        self.assertEqual(answer["status"], "not-owner")
        self.assertIsNone(run.process.poll())

    def test_force_takes_its_lease_and_keeps_the_evidence(self):
        pi = self.pi()
        owner = self.acquired(pi)["owner"]
        self.tenure("revoke", "receiver", "--force", "--reason", "needed", check=0)
        self.assertRegex(self.evidence()[0], rf"^receiver\.{owner['generation']}{EVIDENCE}$")
        self.assertEqual(json.loads(content(self.within("quarantine", self.evidence()[0], "owner.json"))), owner)
        self.assertEqual(pi.ask("with")["error"], "LeaseFenceError")
        self.assertEqual(pi.ask("release"), {"status": "not-owner"})
        self.granted()


class Deaths(Interop):
    def assert_taken_over(self, owner):
        """By us, with its lease in quarantine as it was."""
        self.assertGreater(self.granted("--wait", "0"), 0)
        self.assertEqual(len(self.evidence()), 1)
        self.assertRegex(self.evidence()[0], rf"^receiver\.{owner['generation']}{EVIDENCE}$")
        self.assertEqual(json.loads(content(self.within("quarantine", self.evidence()[0], "owner.json"))), owner)
        self.assert_only()

    def test_its_dead_are_taken_over_from(self):
        pi = self.pi()
        owner = self.acquired(pi)["owner"]
        pi.end()
        seen = self.who("receiver")
        self.assertEqual((seen["liveness"], seen["claimable"]), ("dead", True))
        self.assert_taken_over(owner)

    def test_and_before_they_are_reaped(self):
        pi = self.pi()
        owner = self.acquired(pi)["owner"]
        pi.process.kill()
        os.waitid(os.P_PID, pi.pid, os.WEXITED | os.WNOWAIT)
        self.assert_taken_over(owner)

    def test_a_waiter_of_ours_takes_over_by_itself(self):
        pi = self.pi("--session", "s-pi")
        self.acquired(pi)
        run = self.start("run", "receiver", "--", "true")
        until(lambda: "s-pi" in run.err, "it says for whom it waits")
        pi.end()
        self.assertEqual(run.wait(), 0)
        self.assertEqual(len(self.evidence()), 1)

    def test_our_dead_are_taken_over_from(self):
        run = self.holder("receiver")
        owner = self.owner()
        sidecar = content(self.within("receiver.lock", "tenure.json"))
        self.kill_with_guardian(run)
        pi = self.pi()
        answer = self.acquired(pi)
        self.assertEqual(answer["reclaimed"]["owner"], owner)
        place = answer["reclaimed"]["quarantinePath"]
        self.assertEqual(content(os.path.join(place, "tenure.json")), sidecar, "ours goes with it")
        pi.ask("release")
        self.assertGreater(self.granted(), run.epoch)

    def test_dead_of_another_boot(self):
        owner = self.dead_record(pi_amq.OWNER_KEYS, bootIdentity="0b5a7c1e-3f0d-4c52-a8d1-9e0f6b7c8d21")
        self.put(owner, "receiver.lock", "owner.json")
        self.assert_taken_over(owner)

    def test_a_number_that_another_process_has_now_is_no_life(self):
        other = self.pi()
        owner = self.record_of(other.pid, pi_amq.OWNER_KEYS, processStartIdentity="1")
        self.put(owner, "receiver.lock", "owner.json")
        self.assert_taken_over(owner)

    # What is in the making and in the course of being deleted when its process dies: nothing of it is a lease.
    def test_its_leftovers_are_no_lease(self):
        os.makedirs(self.within(".receiver.prepare-a1B2c3"))
        self.put(self.dead_record(pi_amq.OWNER_KEYS), ".receiver.released-g-00112233-4455-4677-8899-aabbccddeeff",
                 "owner.json")
        self.assertFalse(self.who("receiver")["held"])
        self.granted("--wait", "0")


class OthersGuards(Interop):
    """Guards and intents of pi-amq, put there as it would put them."""

    PLACES = {"guard": (GUARD,), "intent": ("lifecycle-reclaims", "reclaim.3f1b8c52.json")}

    def each(self, body):
        for name, place in self.PLACES.items():
            with self.subTest(name):
                shutil.rmtree(self.namespace, ignore_errors=True)
                body(place)

    @staticmethod
    def watches(pid):
        folder = f"/proc/{pid}/fdinfo"
        return any("inotify wd:" in content(os.path.join(folder, name)) for name in os.listdir(folder))

    def test_of_a_living_process_ours_waits_and_is_refused_as_busy(self):
        pi = self.pi()

        def body(place):
            self.put(self.record_of(pi.pid, pi_amq.GUARD_KEYS), *place)
            error = self.refused()
            self.assertEqual(error["code"], "section_busy", error)
            self.assertIn("lifecycle-busy", error["message"])
            self.assertIn(str(pi.pid), error["message"])
            self.assertTrue(os.path.exists(self.within(*place)), "it was left alone")
            run = self.start("run", "receiver", "--wait", "80s", "--", "true")
            until(lambda: self.watches(run.pid), "it watches the folder for the guard to go")
            os.unlink(self.within(*place))
            self.assertEqual(run.wait(), 0, run.err)

        self.each(body)

    def test_its_operation_keeps_us_from_taking_the_lease_by_force(self):
        pi = self.pi()
        owner = self.acquired(pi)["owner"]
        self.assertEqual(pi.ask("with"), {"status": "entered"})
        self.assertEqual(self.refused()["code"], "held")
        done = self.tenure("revoke", "receiver", "--force", "--reason", "r", "--json", check=75)
        self.assertEqual(error_of(done)["code"], "section_busy")
        self.assertEqual(self.owner(), owner)
        self.assertEqual(pi.ask("leave"), {"status": "done"})
        self.tenure("revoke", "receiver", "--force", "--reason", "r", check=0)

    def test_of_a_dead_process_they_are_cleared_away(self):
        def body(place):
            guard = self.dead_record(pi_amq.GUARD_KEYS)
            self.put(guard, *place)
            self.granted("--wait", "0")
            self.assert_only()
            self.assertEqual(self.intents(), [])
            if place == (GUARD,):
                self.assertRegex(self.evidence()[0], rf"^lifecycle\.{guard['generation']}{EVIDENCE}\.json$")
                self.assertEqual(json.loads(content(self.within("quarantine", self.evidence()[0]))), guard)

        self.each(body)

    def test_of_a_process_that_died_inside(self):
        pi = self.pi()
        self.acquired(pi)
        pi.ask("with")
        pi.end()
        self.granted("--wait", "0")
        self.assertEqual([re.match(r"[a-z]+", name)[0] for name in self.evidence()], ["lifecycle", "receiver"])
        self.assert_only()

    def test_of_another_system_or_damaged_they_are_refused_and_left_alone(self):
        elsewhere = {"from macOS": self.fixture("guard.macos.json"),
                     "of another host and boot": self.dead_record(pi_amq.GUARD_KEYS, hostname="elsewhere",
                                                                  bootIdentity="0b5a7c1e-3f0d-4c52-a8d1-9e0f6b7c8d21"),
                     "empty": b"", "cut": self.fixture("guard.cut.json"),
                     "an owner's": self.fixture("owner.linux.json")}
        for name, record in elsewhere.items():
            def body(place, name=name, record=record):
                self.put(record, *place)
                before = content(self.within(*place))
                error = self.refused(exit_code=77)
                self.assertIn("lifecycle-unverifiable", error["message"], name)
                self.assertEqual(content(self.within(*place)), before)
                self.assert_only(*[each for each in place if each == GUARD])

            self.each(body)

    def test_names_that_are_no_intents_are_no_matter(self):
        self.put(b"", "lifecycle-reclaims", "reclaim.x.json.tmp")
        self.granted("--wait", "0")


class OursAsSeenByIt(Interop):
    """Guards and intents of ours, by the record that every lease of ours has ready for them."""

    def guard_of(self, run):
        with open(self.within("receiver.lock", "tenure.guard"), "rb") as file:
            record = file.read()
        self.assertEqual(tuple(json.loads(record)), pi_amq.GUARD_KEYS)
        self.assertEqual(json.loads(record)["pid"], run.pid)
        return record

    def test_our_records_are_its_own_to_the_byte(self):
        guard = self.guard_of(self.holder("receiver"))
        self.assertEqual(pi_amq.encode(pi_amq.decode(guard, pi_amq.GUARD_KEYS)), guard)

    def test_alive_they_are_busy_and_dead_they_are_cleared_away(self):
        for place in OthersGuards.PLACES.values():
            with self.subTest(place[-1]):
                shutil.rmtree(self.namespace, ignore_errors=True)
                run = self.holder("receiver")
                guard = self.guard_of(run)
                self.put(guard, *place)
                pi = self.pi("--guard-wait-ms", "50")
                answer = pi.ask("acquire")
                self.assertEqual((answer["status"], answer.get("reason")), ("refused", "lifecycle-busy"))
                self.kill_with_guardian(run)
                self.assertEqual(self.acquired(pi)["reclaimed"]["owner"]["pid"], run.pid)
                self.assertEqual(self.intents(), [])
                self.assertFalse(os.path.exists(self.within(GUARD)))


class GuardedWork(Interop):
    """`tenure guard` works under a guard as its own operations do."""

    def guarding(self, run, bound):
        guard = self.start("guard", "receiver", "--epoch", str(run.epoch), "--guard-for", bound, "--", "cat",
                           stdin=subprocess.PIPE)
        until(lambda: content(self.within(GUARD)) or guard.process.poll() is not None, "the guard is there")
        self.assertIsNone(guard.process.poll(), guard.err)
        return guard

    def assert_busy(self, pi, owner):
        self.assertEqual(pi.ask("acquire")["reason"], "lifecycle-busy")
        self.assertIn("lifecycle-busy", pi.ask("release", owner["generation"])["diagnostic"])

    def test_meanwhile_it_is_busy_and_takes_nothing(self):
        run, pi = self.holder("receiver"), self.pi("--guard-wait-ms", "50")
        owner = self.owner()
        guard = self.guarding(run, "10m")
        record = json.loads(content(self.within(GUARD)))
        self.assertEqual(tuple(record), pi_amq.GUARD_KEYS)
        self.assertEqual((record["pid"], record["executable"]), (guard.pid, os.path.realpath(PROGRAM)))
        self.assert_busy(pi, owner)
        self.assertIn("lifecycle-busy", guard.err, "that others are refused is said")
        guard.process.stdin.close()
        self.assertEqual(guard.wait(), 0)
        self.assertEqual(pi.ask("acquire"), {"status": "held", "owner": owner})
        self.assert_only("receiver.lock")

    def test_its_death_is_seen_by_both(self):
        for ours in (False, True):
            with self.subTest(ours=ours):
                self.use(self.path(f"namespace-{ours}"))
                run, pi = self.holder("receiver"), self.pi()
                owner = self.owner()
                guard = self.guarding(run, "10m")
                guard.process.kill()
                guard.wait()
                if ours:
                    self.tenure("revoke", "receiver", "--force", "--reason", "r", check=0)
                    self.assertEqual(run.wait(), 76)
                else:
                    self.assertEqual(pi.ask("acquire"), {"status": "held", "owner": owner})
                    self.assertIsNone(run.process.poll())
                self.assertRegex(self.evidence()[0], rf"^lifecycle\.tenure-[0-9a-f-]{{36}}{EVIDENCE}\.json$")
                self.assertFalse(os.path.exists(self.within(GUARD)))

    def test_at_its_bound_the_lease_is_free_for_it(self):
        run, pi = self.holder("receiver"), self.pi("--guard-wait-ms", str(1000 * BOUND))
        guard = self.guarding(run, "300ms")
        self.assertIsNone(self.acquired(pi)["reclaimed"], "it was given up, not taken from a dead one")
        self.assertEqual(guard.wait(), 70)
        self.assertEqual(run.wait(), 76)


class Elsewhere(Interop):
    """Owners that cannot be judged from here: held, whatever pi-amq would call them, until somebody takes them away."""

    def assert_unknown(self, record, word):
        shutil.rmtree(self.namespace, ignore_errors=True)
        self.put(record, "receiver.lock", "owner.json")
        error = self.refused()
        self.assertEqual(error["code"], "held")
        self.assertIn(f"({word})", error["message"])
        self.assertEqual(self.who("receiver")["liveness"], "unknown")
        self.assertEqual(self.tenure("revoke", "receiver", "--reason", "r").returncode, 77)
        before = content(self.within("receiver.lock", "owner.json"))
        self.tenure("revoke", "receiver", "--force", "--reason", "it is over, I looked", check=0)
        self.assertEqual(len(self.evidence()), 1)
        self.assertEqual(content(self.within("quarantine", self.evidence()[0], "owner.json")), before)
        self.granted("--wait", "0")

    def test_from_macos(self):
        self.assert_unknown(self.fixture("owner.macos.json"), "remote-owner")

    def test_from_macos_under_our_name(self):
        record = json.loads(self.fixture("owner.macos.json"))
        self.assert_unknown(dict(record, hostname=pi_amq.host_name()), "unverifiable-owner")

    def test_of_another_host_and_boot(self):
        self.assert_unknown(self.fixture("owner.linux.json"), "remote-owner")

    def test_damaged_ones(self):
        for name in ("owner.cut.json", "owner.extra-key.json", "owner.schema.2.json", "owner.empty.json"):
            with self.subTest(name):
                self.assert_unknown(self.fixture(name), "corrupt-owner")

    # To pi-amq a renamed host is another one, for ever. The boot tells that it is this one.
    def test_a_host_that_was_renamed_meanwhile_is_this_one(self):
        pi = self.pi()
        self.put(self.record_of(pi.pid, pi_amq.OWNER_KEYS, hostname="former"), "receiver.lock", "owner.json")
        self.assertEqual(self.who("receiver")["liveness"], "live")
        self.assertEqual(pi.ask("acquire")["reason"], "remote-owner")
        shutil.rmtree(self.within("receiver.lock"))
        self.put(self.dead_record(pi_amq.OWNER_KEYS, hostname="former"), "receiver.lock", "owner.json")
        self.assertEqual(pi.ask("acquire")["reason"], "remote-owner")
        self.granted("--wait", "0")


class Repair(Interop):
    """What pi-amq refuses for ever, an operator of ours can clear away."""

    DAMAGE = {"corrupt-owner": ("owner.cut.json", ("receiver.lock", "owner.json")),
              "lifecycle-unverifiable": ("guard.empty.json", (GUARD,)),
              "lifecycle-unverifiable, of an intent": ("guard.macos.json", ("lifecycle-reclaims", "reclaim.x.json"))}

    def test_it_goes_on_after_a_repair_that_was_forced(self):
        for number, (reason, (fixture, place)) in enumerate(self.DAMAGE.items()):
            with self.subTest(reason):
                self.use(self.path(f"namespace-{number}"))
                record, pi = self.fixture(fixture), self.pi()
                self.put(record, *place)
                self.assertEqual(pi.ask("acquire")["reason"], reason.split(",")[0])
                self.tenure("repair", self.env["TENURE_SPACE"], check=1)
                with open(self.within(*place), "rb") as file:
                    self.assertEqual(file.read(), record, "it was left alone")
                self.tenure("repair", self.env["TENURE_SPACE"], "--force", "--reason", "I looked", check=0)
                self.assertIsNone(self.acquired(pi)["reclaimed"])
                kept = self.within("quarantine", self.evidence()[0])
                with open(os.path.join(kept, "owner.json") if os.path.isdir(kept) else kept, "rb") as file:
                    self.assertEqual(file.read(), record, "it was kept")

    def test_a_living_one_of_its_is_never_displaced(self):
        pi = self.pi()
        owner = self.acquired(pi)["owner"]
        pi.ask("with")
        guard = content(self.within(GUARD))
        self.tenure("repair", self.env["TENURE_SPACE"], "--force", "--reason", "r")
        self.assertEqual((self.owner(), content(self.within(GUARD))), (owner, guard))
        self.assertEqual(pi.ask("leave"), {"status": "done"})
        self.tenure("repair", self.env["TENURE_SPACE"], "--force", "--reason", "r", check=0)
        self.assertEqual(pi.ask("release"), {"status": "released"})


class Executables(Interop):
    """A program that is replaced while it runs, as an update does. To pi-amq its process is then another one."""

    def replaced(self, path, by):
        os.unlink(path)
        shutil.copy2(by, path)

    def test_of_its_holder_ours_knows_better(self):
        program = self.path("program")
        shutil.copy2(shutil.which("cat"), program)
        holder = self.start_program([program], stdin=subprocess.PIPE)
        until(lambda: os.readlink(f"/proc/{holder.pid}/exe") == program, "it runs")
        owner = self.record_of(holder.pid, pi_amq.OWNER_KEYS)
        self.put(owner, "receiver.lock", "owner.json")
        self.replaced(program, shutil.which("cat"))
        self.assertIn("(deleted)", os.readlink(f"/proc/{holder.pid}/exe"))
        self.assertEqual(self.refused()["code"], "held")
        self.assertEqual(self.who("receiver")["liveness"], "live")
        # Its own kind does not: the living holder is displaced.
        self.assertEqual(self.acquired(self.pi())["reclaimed"]["owner"], owner)
        holder.process.stdin.close()

    def test_of_one_whose_name_is_no_text_it_reads_what_we_wrote(self):
        folder = os.fsencode(self.path("program-")) + b"\xe2\x82\xff"
        os.mkdir(folder)
        program = os.path.join(folder, b"tenure")
        shutil.copy2(PROGRAM, program)
        mark = self.path("began")
        run = self.start_program([program, "run", "receiver", "--", "sh", "-c", f"echo > {mark}; exec cat"],
                                 stdin=subprocess.PIPE)
        until(lambda: content(mark) or run.process.poll() is not None, "the command begins")
        owner = self.owner()
        self.assertTrue(owner["executable"].endswith("program-\ufffd\ufffd/tenure"), owner)
        self.assertEqual(self.pi().ask("acquire"), {"status": "held", "owner": owner})

    # The fault is pi-amq's and its format has no remedy: do not replace the program of a holder. Ours is told at once.
    def test_of_our_holder_it_takes_the_lease_and_ours_is_told(self):
        copy = self.path("tenure")
        shutil.copy2(PROGRAM, copy)
        mark = self.path("began")
        run = self.start_program([copy, "run", "receiver", "--", "sh", "-c", f"echo > {mark}; exec cat"],
                                 stdin=subprocess.PIPE)
        until(lambda: content(mark), "the command begins")
        owner = self.owner()
        self.replaced(copy, PROGRAM)
        self.assertEqual(self.refused()["code"], "held", "among ourselves it is no death")
        answer = self.acquired(self.pi())
        self.assertEqual(answer["reclaimed"]["owner"], owner)
        self.assertEqual(run.wait(), 76)
        self.assertIn("lost receiver", run.err)


# One pi-amq process that wants the lease again and again until the file is there that ends it all. Each turn hangs its
# number under one name; whoever finds another's there says whose. Tells what it was answered.
CONTENDER = r"""
import json, os, sys
sys.path.insert(0, sys.argv[1])
import pi_amq
namespace, witness, journal, end = sys.argv[2:6]
pi = pi_amq.Receiver(namespace)
mine = f"{witness}.{os.getpid()}"
answers = {}

def note(line):
    with open(journal, "a") as file:
        file.write(line + "\n")

def count(word):
    answers[word] = answers.get(word, 0) + 1

def acquire():
    try:
        return pi.acquire()
    except pi_amq.LeaseFenceError:
        # Its guard was taken from it. It does not know whether it has the lease.
        count("fenced")
        seen = pi.inspect()
        own = seen["status"] == "owned" and seen["owner"]["pid"] == os.getpid()
        return dict(seen, status="acquired") if own else {"status": "held"}

def release(generation):
    while True:
        try:
            answer = pi.release(generation)
        except pi_amq.LeaseFenceError:
            return count("fenced")
        if not answer.get("diagnostic", "").startswith("lifecycle-busy"):
            return answer["status"] == "released" or count("release: " + json.dumps(answer))

while not os.path.exists(end):
    answer = acquire()
    if answer["status"] != "acquired":
        count(answer.get("reason", answer["status"]))
        continue
    with open(mine, "w") as file:
        file.write(str(os.getpid()))
    try:
        os.link(mine, witness)
    except FileExistsError:
        with open(witness) as file:
            note("MET " + file.read())
        os.replace(mine, witness)
    note("pi")
    os.unlink(witness)
    release(answer["owner"]["generation"])
print(json.dumps(answers))
"""
CRITICAL = """
mine=$0.$$
echo $$ > $mine
ln $mine $0 2> /dev/null || { echo MET $(cat $0) >> $1; mv -f $mine $0; }
echo ours >> $1
rm -f $0 $mine
"""


class Contention(Interop):
    def setUp(self):
        super().setUp()
        self.witness, self.journal, self.end = self.path("witness"), self.path("journal"), self.path("end")
        self.failures = []

    def turns(self, word):
        return content(self.journal).split().count(word)

    def met(self):
        """The numbers of those who were found inside."""
        return set(re.findall(r"MET (\d*)", content(self.journal)))

    def ours(self):
        while not os.path.exists(self.end):
            done = self.tenure("run", "receiver", "--wait", "20ms", "--json", "--", "sh", "-c", CRITICAL, self.witness,
                               self.journal)
            if done.returncode != 0 and (done.returncode != 75 or error_of(done)["code"] not in
                                         ("held", "timed_out", "section_busy")):
                self.failures.append(f"{done.returncode}: {done.stderr}")

    def theirs(self):
        return self.start_program([sys.executable, "-B", "-c", CONTENDER, HERE, self.namespace, self.witness,
                                   self.journal, self.end])

    def contend(self, ours, act):
        """act() while so many threads run the program."""
        threads = [threading.Thread(target=self.ours) for _ in range(ours)]
        for thread in threads:
            thread.start()
        try:
            act()
        finally:
            with open(self.end, "w", encoding="ascii"):
                pass
            for thread in threads:
                thread.join(2 * BOUND)
        self.assertEqual(self.failures, [])

    def test_four_of_both_are_never_inside_together_and_leave_nothing(self):
        peers = [self.theirs() for _ in range(4)]
        began = time.monotonic()

        def enough():
            turns = min(self.turns("pi"), self.turns("ours"))
            return self.failures or self.met() or (turns >= 25 and time.monotonic() - began > 4)

        self.contend(4, lambda: until(enough, "both have had their turns", 4 * BOUND))
        self.assertEqual(self.met(), set())
        for peer in peers:
            self.assertEqual(peer.wait(), 0, peer.err)
            self.assertLessEqual(set(json.loads(peer.out)), {"held", "lifecycle-busy"}, peer.out)
        self.assert_only()
        self.assertEqual(self.evidence() + self.intents(), [])

    # Killed wherever they happen to be: with the guard, an intent, the lease, or something in the making.
    def test_its_deaths_stop_nobody(self):
        peers, killed = [self.theirs() for _ in range(3)], set()

        def kill_one_after_another():
            for _ in range(15):
                before = self.turns("ours"), self.turns("pi")
                until(lambda: self.turns("pi") > before[1], "one of its has a turn", 2 * BOUND)
                victim = peers.pop(0)
                victim.process.kill()
                victim.wait()
                killed.add(str(victim.pid))
                peers.append(self.theirs())
                until(lambda: self.turns("ours") > before[0] or self.failures, "ours has a turn", 2 * BOUND)

        self.contend(3, kill_one_after_another)
        self.assertLessEqual(self.met(), killed, "only the dead are found inside")
        for peer in peers:
            self.assertEqual(peer.wait(), 0, peer.err)
            self.assertLessEqual(set(json.loads(peer.out)), {"held", "lifecycle-busy", "fenced"}, peer.out)
        self.granted("--wait", "0")
        self.assertEqual(self.intents(), [name for name in self.intents() if name.endswith(".tmp")])
        self.assertFalse(os.path.exists(self.within(GUARD)))


# In a mount namespace of its own, so that the disk goes with it. The lease is there when the disk fills up.
FULL_DISK = r"""
set -eu
disk=$1 program=$2
mount -t tmpfs -o size=256k,mode=700 none "$disk"
mkdir "$disk/namespace"
"$program" run receiver -- sh -c 'cat /dev/zero > "$0/a" 2> /dev/null; echo > "$0/b" 2> /dev/null || echo full' "$disk"
ls -A "$disk/namespace"
cat /dev/zero > "$disk/c" 2> /dev/null || true
code=0
"$program" run receiver --wait 0 --json -- true 2> "$disk.err" || code=$?
echo "claim $code"
cat "$disk.err"
ls -A "$disk/namespace"
rm "$disk/a"
"$program" run receiver --wait 0 -- echo again
"""


class FullDisk(Interop):
    def test_ours_is_given_back_all_the_same_and_none_is_taken(self):
        disk = self.path("disk")
        os.mkdir(disk)
        space = self.env["TENURE_SPACE"].replace(self.namespace, os.path.join(disk, "namespace"))
        done = subprocess.run(["unshare", "--mount", "sh", "-c", FULL_DISK, "sh", disk, os.path.realpath(PROGRAM)],
                              env=self.environment({"TENURE_SPACE": space}), capture_output=True, text=True,
                              timeout=BOUND, stdin=subprocess.DEVNULL)
        if not done.stdout:
            self.skipTest("no file system can be mounted here: " + done.stderr.strip()[:200])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        first, *lines = done.stdout.split("\n")
        self.assertEqual(first, "full")
        claim = next(at for at, line in enumerate(lines) if line.startswith("claim "))
        self.assertNotIn("receiver.lock", lines[:claim])
        self.assertEqual(lines[claim], "claim 73")
        self.assertEqual(json.loads(lines[claim + 1])["error"]["code"], "no_space")
        self.assertEqual(lines[claim + 2:-2], lines[:claim], "the claim in vain left nothing")
        self.assertEqual(lines[-2], "again")


if __name__ == "__main__":
    main()
