"""The stand-in for pi-amq against what pi-amq is known to decide: records, verdicts, results, order of steps."""

import collections
import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import pi_amq  # noqa: E402
from pi_amq import AggregateError, LeaseFenceError, Receiver, System  # noqa: E402

FIXTURES = os.path.join(os.path.dirname(os.path.realpath(__file__)), "pi-amq")
BOUND = 60  # seconds, reached only by a fault
OTHER = 4_000_000  # a process number above any that this kernel gives
HOST = "workbench"
BOOT = "6f1ed002-ab55-4f1f-9d7e-0e6f4b6d3b0a"


class FakeSystem(System):
    """A machine whose processes are in a table: number to (start, executable), or an error that inspecting gives."""

    def __init__(self):
        self.processes = {os.getpid(): ("100", "/usr/bin/node")}
        self.boot_id = BOOT
        self.name = HOST

    def inspect(self, pid):
        seen = self.processes.get(pid)
        if isinstance(seen, int):
            raise OSError(seen, os.strerror(seen))
        return seen

    def boot(self):
        return self.boot_id

    def host(self):
        return self.name


# What becomes of a record of process OTHER, and of the table when it is looked at.
STALE = {
    "gone": ({}, {}),
    "started at another time": ({}, {OTHER: ("201", "/usr/bin/node")}),
    "runs another program": ({}, {OTHER: ("200", "/usr/bin/node (deleted)")}),
    "of another boot": ({"bootIdentity": "0b5a7c1e-3f0d-4c52-a8d1-9e0f6b7c8d21"}, {OTHER: ("200", "/usr/bin/node")}),
}
LIVE = {
    "the same": ({}, {OTHER: ("200", "/usr/bin/node")}),
    "of a boot that is not known": ({"bootIdentity": None}, {OTHER: ("200", "/usr/bin/node")}),
}
REFUSED = {
    "remote": ({"hostname": "elsewhere"}, {}),
    "remote, though a process looks the same": ({"hostname": "elsewhere"}, {OTHER: ("200", "/usr/bin/node")}),
    "not to be seen": ({}, {OTHER: errno.EACCES}),
    # The executable is looked at before start and boot are compared: so a reused number blocks.
    "not to be seen, of another boot": ({"bootIdentity": "0b5a7c1e-3f0d-4c52-a8d1-9e0f6b7c8d21"},
                                        {OTHER: errno.EACCES}),
}


class Peer(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="pi-amq-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.fresh()

    def fresh(self):
        """A namespace of its own and a machine with nobody else on it."""
        self.namespace = tempfile.mkdtemp(dir=self.folder)
        self.system = FakeSystem()
        self.pi = self.receiver()

    def receiver(self, **more):
        more.setdefault("guard_wait_ms", 30)
        return Receiver(self.namespace, system=self.system, **more)

    def path(self, *names):
        return os.path.join(self.namespace, *names)

    def record(self, keys, **changes):
        fields = {"schema": 1, "generation": "other", "piSessionId": "s", "piSessionFile": "/s", "pid": OTHER,
                  "processStartIdentity": "200", "bootIdentity": BOOT, "executable": "/usr/bin/node",
                  "hostname": HOST, "rootId": "root", "createdAt": "2026-11-30T10:26:50.123Z"}
        return {key: changes.get(key, fields[key]) for key in keys}

    def put(self, content, *names):
        os.makedirs(os.path.dirname(self.path(*names)), exist_ok=True)
        with open(self.path(*names), "wb") as file:
            file.write(content if isinstance(content, bytes) else pi_amq.encode(content))

    def put_owner(self, **changes):
        owner = self.record(pi_amq.OWNER_KEYS, **changes)
        self.put(owner, "receiver.lock", "owner.json")
        return owner

    def put_guard(self, **changes):
        self.put(self.record(pi_amq.GUARD_KEYS, **changes), "receiver.lifecycle.guard.json")

    def put_intent(self, name="reclaim.other.json", **changes):
        self.put(self.record(pi_amq.GUARD_KEYS, **changes), "lifecycle-reclaims", name)

    def tree(self):
        """All paths of the namespace, with the content of the files."""
        found = {}
        for folder, folders, files in os.walk(self.namespace):
            for name in folders:
                found[os.path.relpath(os.path.join(folder, name), self.namespace)] = None
            for name in files:
                with open(os.path.join(folder, name), "rb") as file:
                    found[os.path.relpath(os.path.join(folder, name), self.namespace)] = file.read()
        return found

    def each(self, table, body):
        """body(changes) for each of a table, with a namespace of its own."""
        for name, (changes, processes) in table.items():
            with self.subTest(name):
                self.fresh()
                self.system.processes.update(processes)
                body(changes)

    def acquired(self, pi=None):
        answer = (pi or self.pi).acquire()
        self.assertEqual(answer["status"], "acquired", answer)
        return answer["owner"]

    def assert_refused(self, answer, reason):
        self.assertEqual((answer["status"], answer["reason"]), ("refused", reason), answer)

    def assert_no_residue(self):
        self.assertEqual([name for name in self.tree() if "guard" in name or name.startswith(".") or
                          name.startswith("lifecycle-reclaims/")], [])


class Records(Peer):
    def test_each_fixture_is_read_or_corrupt_as_pi_amq_has_it(self):
        keys = {"owner": pi_amq.OWNER_KEYS, "guard": pi_amq.GUARD_KEYS}
        with open(os.path.join(FIXTURES, "cases.tsv"), encoding="utf-8") as table:
            rows = [line.rstrip("\n").split("\t") for line in table if not line.startswith("#")]
        self.assertGreaterEqual(len(rows), 160)
        for name, kind, expected, _ in rows:
            with open(os.path.join(FIXTURES, name), "rb") as file:
                data = file.read()
            try:
                pi_amq.decode(data, keys[kind])
                got = "read"
            except pi_amq.Corrupt:
                got = "corrupt"
            self.assertEqual(got, expected, name)

    def test_a_record_has_the_bytes_of_the_fixtures(self):
        for name, keys in (("owner.linux.json", pi_amq.OWNER_KEYS), ("guard.macos.json", pi_amq.GUARD_KEYS),
                           ("owner.other-alphabet.json", pi_amq.OWNER_KEYS)):
            with open(os.path.join(FIXTURES, name), "rb") as file:
                data = file.read()
            self.assertEqual(pi_amq.encode(pi_amq.decode(data, keys)), data)

    def test_paths_and_names_are_those_of_node(self):
        for path, normal in (("/a/b/", "/a/b/"), ("/a/b/..", "/a"), ("/..", "/"), ("//a", "/a"), ("///a//b", "/a/b"),
                             ("/a/b/../", "/a/"), ("/", "/"), ("/.", "/"), ("/a/../../b", "/b"), ("/a/..b", "/a/..b")):
            self.assertEqual(pi_amq.normalized(path), normal)
        self.assertEqual(pi_amq.in_name("a/b é\n"), "a_b___")
        self.assertEqual(pi_amq.in_name("😀.-_Z9"), "__.-_Z9")

    def test_the_names_of_evidence_are_safe_whatever_the_generation(self):
        self.put_owner(generation="../../x y")
        answer = self.pi.acquire()
        self.assertRegex(answer["reclaimed"]["quarantinePath"],
                         r"/quarantine/receiver\.\.\._\.\._x_y\.\d{13}\.[0-9a-f-]{36}$")
        self.assertTrue(os.path.isdir(answer["reclaimed"]["quarantinePath"]))


class Acquire(Peer):
    def test_nobody_has_it(self):
        owner = self.acquired()
        self.assertEqual(json.loads(self.tree()["receiver.lock/owner.json"]), owner)
        self.assertEqual(tuple(owner), pi_amq.OWNER_KEYS)
        self.assertEqual((owner["pid"], owner["processStartIdentity"], owner["executable"], owner["hostname"]),
                         (os.getpid(), "100", "/usr/bin/node", HOST))
        self.assertEqual(os.stat(self.path("receiver.lock")).st_mode & 0o777, 0o700)
        self.assertEqual(os.stat(self.path("receiver.lock", "owner.json")).st_mode & 0o777, 0o600)
        self.assert_no_residue()

    def test_a_missing_namespace_is_made(self):
        pi = Receiver(self.path("a", "b"), system=self.system)
        self.acquired(pi)
        self.assertEqual(os.stat(self.path("a", "b", "quarantine")).st_mode & 0o777, 0o700)

    def test_a_second_time_it_is_held_by_oneself(self):
        owner = self.acquired()
        for pi in (self.pi, self.receiver(root_id="another root")):
            self.assertEqual(pi.acquire(), {"status": "held", "owner": owner})

    def test_of_a_living_owner_it_is_held(self):
        def body(changes):
            owner = self.put_owner(**changes)
            self.assertEqual(self.pi.acquire(), {"status": "held", "owner": owner})
            self.assert_no_residue()

        self.each(LIVE, body)

    def test_of_a_stale_owner_it_is_reclaimed_and_the_evidence_kept(self):
        def body(changes):
            old = self.put_owner(**changes)
            self.put(b"ours", "receiver.lock", "tenure.json")
            answer = self.pi.acquire()
            self.assertEqual(answer["status"], "acquired")
            self.assertEqual(answer["reclaimed"]["owner"], old)
            evidence = os.path.relpath(answer["reclaimed"]["quarantinePath"], self.namespace)
            self.assertEqual(json.loads(self.tree()[evidence + "/owner.json"]), old)
            self.assertEqual(self.tree()[evidence + "/tenure.json"], b"ours", "what lies beside it goes with it")
            self.assertEqual(self.pi.inspect(), {"status": "owned", "owner": answer["owner"]})
            self.assert_no_residue()

        self.each(STALE, body)

    def test_of_others_it_is_refused_and_nothing_touched(self):
        def body(changes):
            self.put_owner(**changes)
            before = self.tree()
            remote = changes.get("hostname", HOST) != HOST
            self.assert_refused(self.pi.acquire(), "remote-owner" if remote else "unverifiable-owner")
            self.assertEqual({name: data for name, data in self.tree().items() if data is not None},
                             {name: data for name, data in before.items() if data is not None})

        self.each(REFUSED, body)

    def test_damage_is_refused(self):
        good = pi_amq.encode(self.record(pi_amq.OWNER_KEYS))
        for name, make in {
                "no record": lambda: os.mkdir(self.path("receiver.lock")),
                "a plain file": lambda: self.put(b"", "receiver.lock"),
                "an empty record": lambda: self.put(b"", "receiver.lock", "owner.json"),
                "a further key": lambda: self.put(good.replace(b"{", b'{"epoch": 1,'), "receiver.lock", "owner.json"),
                "a folder as record": lambda: os.makedirs(self.path("receiver.lock", "owner.json")),
        }.items():
            with self.subTest(name):
                self.fresh()
                make()
                self.assert_refused(self.pi.acquire(), "corrupt-owner")
                self.assertEqual(self.pi.inspect()["status"], "corrupt")
                self.assertEqual(self.pi.release("other")["status"], "refused")
                with self.assertRaises(LeaseFenceError):
                    self.pi.with_current_lease("other", lambda: None)
                self.assert_no_residue()

    def test_a_link_that_leads_nowhere_is_thrown(self):
        os.symlink("/nowhere", self.path("receiver.lock"))
        with self.assertRaises(NotADirectoryError):
            self.pi.acquire()

    def test_an_owner_that_changes_while_it_is_judged_is_not_displaced(self):
        self.put_owner()
        classify = self.system.classify

        def and_then_another(record):
            verdict = classify(record)
            if record["generation"] == "other":
                self.put_owner(generation="newer", pid=os.getpid(), processStartIdentity="100")
            return verdict

        with mock.patch.object(self.system, "classify", and_then_another):
            answer = self.pi.acquire()
        self.assertEqual((answer["status"], answer["owner"]["generation"]), ("held", "newer"))
        self.assertEqual(os.listdir(self.path("quarantine")), [])

    def test_whoever_comes_first_to_the_rename_has_it(self):
        other = self.record(pi_amq.OWNER_KEYS, pid=os.getpid(), processStartIdentity="100")
        self.pi.on_step = lambda step: self.put(other, "receiver.lock", "owner.json") if step == "install" else None
        self.assertEqual(self.pi.acquire(), {"status": "held", "owner": other})
        self.assert_no_residue()

    def test_who_does_not_know_itself_throws(self):
        self.system.processes[os.getpid()] = errno.EACCES
        with self.assertRaises(RuntimeError):
            self.pi.acquire()

    def test_arguments(self):
        for make in (lambda: Receiver("relative"), lambda: Receiver("/n", root_id=""),
                     lambda: Receiver("/n", session_id=""), lambda: Receiver("/n", session_file="relative"),
                     lambda: self.pi.release(""),
                     lambda: self.pi.with_current_lease("", lambda: None)):
            self.assertRaises(TypeError, make)


class Release(Peer):
    def test_its_own_is_gone_without_residue(self):
        owner = self.acquired()
        self.assertEqual(self.pi.release(owner["generation"]), {"status": "released"})
        self.assertEqual(set(self.tree()), {"quarantine", "lifecycle-reclaims"})
        self.assertEqual(self.pi.release(owner["generation"]), {"status": "not-owner"})
        self.assertEqual(self.pi.inspect(), {"status": "empty"})

    def test_what_lies_beside_the_record_is_deleted_too(self):
        owner = self.acquired()
        self.put(b"x", "receiver.lock", "tenure.json")
        self.assertEqual(self.pi.release(owner["generation"]), {"status": "released"})
        self.assertNotIn("receiver.lock", self.tree())

    def test_of_another_generation_or_root_it_stays(self):
        owner = self.acquired()
        self.assertEqual(self.pi.release("x"), {"status": "not-owner", "owner": owner})
        other = self.receiver(root_id="another root")
        self.assertEqual(other.release(owner["generation"]), {"status": "not-owner", "owner": owner})

    def test_no_process_is_asked_for(self):
        def body(changes):
            self.put_owner(**changes)
            self.assertEqual(self.pi.release("other"), {"status": "released"})

        self.each({**LIVE, **STALE, **REFUSED}, body)


class WithCurrentLease(Peer):
    def test_it_runs_under_the_guard(self):
        owner = self.acquired()

        def operation():
            guard = json.loads(self.tree()["receiver.lifecycle.guard.json"])
            self.assertEqual(tuple(guard), pi_amq.GUARD_KEYS)
            self.assertEqual(guard["pid"], os.getpid())
            self.assert_refused(self.receiver().acquire(), "lifecycle-busy")
            self.assertEqual(self.receiver().release(owner["generation"])["status"], "refused")
            # Of one process too: it looks as if the lease were lost.
            self.assertRaises(LeaseFenceError, self.receiver().with_current_lease, owner["generation"], lambda: None)
            return "its value"

        self.assertEqual(self.pi.with_current_lease(owner["generation"], operation), "its value")
        self.assert_no_residue()

    def test_who_does_not_have_it_is_fenced(self):
        run = mock.Mock()
        self.assertRaises(LeaseFenceError, self.pi.with_current_lease, "g", run)
        owner = self.acquired()
        self.assertRaises(LeaseFenceError, self.pi.with_current_lease, "g", run)
        other = self.receiver(root_id="another root")
        self.assertRaises(LeaseFenceError, other.with_current_lease, owner["generation"], run)
        # Whatever of its own identity changes, it has lost the lease: the host's name, and the program's file.
        self.system.name = "renamed"
        self.assertRaises(LeaseFenceError, self.pi.with_current_lease, owner["generation"], run)
        self.system.name = HOST
        self.system.processes[os.getpid()] = ("100", "/usr/bin/node (deleted)")
        self.assertRaises(LeaseFenceError, self.pi.with_current_lease, owner["generation"], run)
        self.system.processes[os.getpid()] = errno.EACCES
        with self.assertRaises((LeaseFenceError, RuntimeError)):
            self.pi.with_current_lease(owner["generation"], run)
        run.assert_not_called()
        self.assert_no_residue()

    def test_of_another_process_it_is_fenced(self):
        run = mock.Mock()
        self.system.processes[OTHER] = ("200", "/usr/bin/node")
        self.put_owner()
        self.assertRaises(LeaseFenceError, self.pi.with_current_lease, "other", run)
        run.assert_not_called()

    def test_what_the_operation_throws_passes_through(self):
        owner = self.acquired()
        self.assertRaises(ZeroDivisionError, self.pi.with_current_lease, owner["generation"], lambda: 1 // 0)
        self.assert_no_residue()

    def test_both_failures_are_told(self):
        owner = self.acquired()

        def operation():
            os.unlink(self.path("receiver.lifecycle.guard.json"))
            raise ZeroDivisionError

        with self.assertRaises(AggregateError) as caught:
            self.pi.with_current_lease(owner["generation"], operation)
        self.assertEqual([type(error) for error in caught.exception.errors], [ZeroDivisionError, LeaseFenceError])

    def test_a_guard_that_is_gone_is_thrown(self):
        owner = self.acquired()
        self.assertRaises(LeaseFenceError, self.pi.with_current_lease, owner["generation"],
                          lambda: os.unlink(self.path("receiver.lifecycle.guard.json")))
        self.assertRaises(LeaseFenceError, self.pi.with_current_lease, owner["generation"], self.put_guard)
        self.assertIn("receiver.lifecycle.guard.json", self.tree(), "another's guard is left alone")


class Guard(Peer):
    def verbs(self):
        """Each guarded verb, and how it tells a refusal: the reason, or nothing more than that."""
        return {"acquire": lambda: self.pi.acquire()["reason"],
                "release": lambda: self.pi.release("other")["diagnostic"].split(":")[0],
                "with": self.fenced}

    def fenced(self):
        with self.assertRaises(LeaseFenceError) as caught:
            self.pi.with_current_lease("other", lambda: None)
        return str(caught.exception).split(":")[0]

    def test_a_living_guard_and_a_living_intent_are_busy(self):
        for put in (Peer.put_guard, Peer.put_intent):
            def body(changes, put=put):
                put(self, **changes)
                before = self.tree()
                for name, verb in self.verbs().items():
                    self.assertEqual(verb(), "lifecycle-busy", name)
                self.assertLessEqual(before.items(), self.tree().items(), "they are left alone")

            self.each(LIVE, body)

    def test_what_cannot_be_told_is_refused_at_once(self):
        for put in (Peer.put_guard, Peer.put_intent):
            def body(changes, put=put):
                self.pi.guard_wait_ms = 1000 * BOUND
                put(self, **changes)
                before = self.tree()
                for name, verb in self.verbs().items():
                    self.assertEqual(verb(), "lifecycle-unverifiable", name)
                self.assertLessEqual(before.items(), self.tree().items())

            self.each(REFUSED, body)

    def test_damage_is_refused_at_once(self):
        for names in (("receiver.lifecycle.guard.json",), ("lifecycle-reclaims", "reclaim.x.json")):
            for data in (b"", b"[]", pi_amq.encode(self.record(pi_amq.OWNER_KEYS))):
                self.fresh()
                self.pi.guard_wait_ms = 1000 * BOUND
                self.put(data, *names)
                self.assert_refused(self.pi.acquire(), "lifecycle-unverifiable")

    def test_a_stale_guard_is_moved_into_quarantine(self):
        def body(changes):
            self.put_guard(**changes)
            old = self.tree()["receiver.lifecycle.guard.json"]
            self.acquired()
            evidence = [name for name in self.tree() if name.startswith("quarantine/")]
            self.assertEqual(len(evidence), 1)
            self.assertRegex(evidence[0], r"^quarantine/lifecycle\.other\.\d{13}\.[0-9a-f-]{36}\.json$")
            self.assertEqual(self.tree()[evidence[0]], old)
            self.assert_no_residue()

        self.each(STALE, body)

    def test_a_stale_intent_is_unlinked(self):
        def body(changes):
            self.put_intent(**changes)
            self.acquired()
            self.assert_no_residue()
            self.assertEqual(os.listdir(self.path("quarantine")), [])

        self.each(STALE, body)

    def test_other_names_among_the_intents_are_no_matter(self):
        for name in ("reclaim.x.json.tmp", ".reclaim.x.json", "other.json"):
            self.put(b"", "lifecycle-reclaims", name)
        self.acquired()

    def test_a_guard_that_goes_is_waited_for(self):
        self.system.processes[OTHER] = ("200", "/usr/bin/node")
        self.pi.guard_wait_ms = 1000 * BOUND
        self.put_guard()
        tries = []

        def step(name):
            if name == "link.receiver.lifecycle.guard.json":
                tries.append(name)
                if len(tries) == 3:
                    os.unlink(self.path("receiver.lifecycle.guard.json"))

        self.pi.on_step = step
        self.acquired()
        self.assertEqual(len(tries), 3)

    def test_an_intent_that_appears_behind_the_guard_has_the_guard_dropped(self):
        self.system.processes[OTHER] = ("200", "/usr/bin/node")
        held = []

        def step(name):
            if name == "link.receiver.lifecycle.guard.json":
                self.put_intent()
            if name == "guard.off":
                held.append(json.loads(self.tree()["receiver.lifecycle.guard.json"])["pid"])

        self.pi.on_step = step
        self.assert_refused(self.pi.acquire(), "lifecycle-busy")
        self.assertGreaterEqual(len(held), 1)
        self.assertEqual(set(held), {os.getpid()})
        self.assertNotIn("receiver.lifecycle.guard.json", self.tree())
        self.assertNotIn("receiver.lock", self.tree())

    # Its own fault: between the judgement and the move another may have made a guard. Two who reclaim and a newcomer.
    def test_a_reclaimer_that_comes_late_moves_a_living_guard(self):
        self.put_guard()
        made, moved = threading.Event(), threading.Event()
        newcomer = self.receiver(guard_wait_ms=1000 * BOUND)
        thrown = []

        def newcomer_step(name):
            if name == "sync" and not made.is_set():
                made.set()
                moved.wait(BOUND)

        def come():
            try:
                newcomer.acquire()
            except LeaseFenceError as error:
                thrown.append(error)

        thread = threading.Thread(target=come)
        newcomer.on_step = newcomer_step

        def step(name):
            if name == "quarantine.guard" and not made.is_set():
                # The other reclaimer was faster, and had its intent off before the newcomer looked.
                os.unlink(self.path("receiver.lifecycle.guard.json"))
                # It had looked for intents before ours was there.
                with mock.patch.object(newcomer, "_live_intents", side_effect=[False]):
                    thread.start()
                    self.assertTrue(made.wait(BOUND))
            if name == "intent.off" and thread.is_alive():
                moved.set()
                thread.join(BOUND)

        self.pi.on_step = step
        self.acquired()
        thread.join(BOUND)
        self.assertEqual(len(thrown), 1, "the newcomer's own guard was taken from it")


class Order(Peer):
    def test_an_acquire_and_a_release_take_these_steps(self):
        steps = []
        self.pi.on_step = steps.append
        self.pi.release(self.acquired()["generation"])
        guard = ["create.receiver.lifecycle.guard.json", "link.receiver.lifecycle.guard.json", "sync"]
        self.assertEqual(steps, guard + ["create.owner.json", "link.owner.json", "sync", "sync", "install", "sync",
                                         "guard.off", "sync"] +
                         guard + ["release", "sync", "delete", "sync", "guard.off", "sync"])

    def test_and_cost_what_they_cost(self):
        made = collections.Counter()
        self.pi._make_folders()
        with mock.patch.multiple(os, **{
                name: (lambda name, call: lambda *args, **more: made.update([name]) or call(*args, **more))(
                    name, getattr(os, name)) for name in ("fsync", "link", "rename", "unlink")}):
            self.pi.release(self.acquired()["generation"])
        self.assertEqual(dict(made), {"fsync": 12, "link": 3, "rename": 2, "unlink": 6})

    def test_a_death_at_each_step_is_recovered_from(self):
        steps = []
        self.pi.on_step = steps.append
        self.put_guard()  # a stale one, so that reclaiming is among the steps
        self.pi.release(self.acquired()["generation"])
        self.assertGreater(len(steps), 25)
        for last in range(1, len(steps) + 1):
            with self.subTest(step=f"{last}: {steps[last - 1]}"):
                self.namespace = tempfile.mkdtemp(dir=self.folder)
                self.put_guard(hostname=pi_amq.host_name())
                self.die_at(last)
                survivor = Receiver(self.namespace)
                self.assertEqual(survivor.release(self.acquired(survivor)["generation"]), {"status": "released"})
                self.assertNotIn("receiver.lifecycle.guard.json", self.tree())
                self.assertEqual(os.listdir(self.path("lifecycle-reclaims")), [
                    name for name in os.listdir(self.path("lifecycle-reclaims")) if name.endswith(".tmp")])

    def die_at(self, last):
        """A process that acquires and releases, and ends before its step of that number."""
        pid = os.fork()
        if pid == 0:
            count = 0

            def step(_):
                nonlocal count
                count += 1
                if count == last:
                    os._exit(9)

            try:
                pi = Receiver(self.namespace, on_step=step)
                pi.release(pi.acquire()["owner"]["generation"])
            finally:
                os._exit(1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 9)


class Machine(unittest.TestCase):
    """What is read of the real one."""

    def record(self, pid):
        start, executable = pi_amq.inspect_process(pid)
        return {"pid": pid, "processStartIdentity": start, "executable": executable,
                "hostname": pi_amq.host_name(), "bootIdentity": pi_amq.boot_identity()}

    def test_oneself(self):
        own = System().own_identity()
        self.assertEqual(own, self.record(os.getpid()))
        self.assertEqual(own["executable"], os.path.realpath(sys.executable))
        self.assertRegex(own["processStartIdentity"], r"^[1-9]\d*$")
        self.assertRegex(own["bootIdentity"], r"^[0-9a-f-]{36}$")
        self.assertEqual(System().classify(own), "live")

    def test_a_child_is_live_and_then_stale_before_it_is_reaped(self):
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
        self.addCleanup(child.wait)
        record = self.record(child.pid)
        self.assertEqual(System().classify(record), "live")
        child.stdin.close()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        self.assertEqual(System().classify(record), "stale")
        child.wait()
        self.assertEqual(System().classify(record), "stale")

    def test_a_name_with_blanks_and_brackets(self):
        folder = tempfile.mkdtemp(prefix="pi-amq-")
        self.addCleanup(shutil.rmtree, folder)
        program = os.path.join(folder, "a) S (b")
        shutil.copy(shutil.which("cat"), program)
        child = subprocess.Popen([program], stdin=subprocess.PIPE)
        self.addCleanup(child.wait)
        record = self.record(child.pid)
        self.assertRegex(record["processStartIdentity"], r"^[1-9]\d*$")
        self.assertEqual(record["executable"], os.path.realpath(program))
        # A program that is replaced while it runs, as an update does: its process is taken for dead.
        os.unlink(program)
        self.assertEqual(System().classify(record), "stale")
        child.stdin.close()

    @unittest.skipUnless(os.geteuid() == 0, "needs to become another user")
    def test_another_users_process_cannot_be_told(self):
        pid = os.fork()
        if pid == 0:
            try:
                record = {"pid": 1, "hostname": pi_amq.host_name(), "bootIdentity": None,
                          "processStartIdentity": "1", "executable": "/x"}
                os.setgid(65534)
                os.setuid(65534)
                # Where /proc hides it (hidepid), it is taken for dead.
                expected = "unknown" if os.path.exists("/proc/1") else "stale"
                os._exit(0 if System().classify(record) == expected else 1)
            finally:
                os._exit(2)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)


class Contention(unittest.TestCase):
    def test_of_four_processes_one_is_in_at_a_time(self):
        namespace = tempfile.mkdtemp(prefix="pi-amq-")
        self.addCleanup(shutil.rmtree, namespace)
        children = [os.fork() or self.contend(namespace, 10) for _ in range(4)]
        self.assertEqual([os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children], [0] * 4)
        self.assertEqual(sorted(os.listdir(namespace)), ["lifecycle-reclaims", "quarantine"])

    @staticmethod
    def contend(namespace, rounds):
        """Never returns. Ends with 0 after so many rounds; with 2 when somebody else was in."""
        ended = 1
        try:
            pi = Receiver(namespace, guard_wait_ms=1000 * BOUND)
            while rounds > 0:
                answer = pi.acquire()
                if answer["status"] != "acquired":
                    if answer["status"] != "held":
                        os._exit(3)
                    continue
                witness = os.path.join(namespace, "witness")
                try:
                    os.close(os.open(witness, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    os._exit(2)
                os.unlink(witness)
                pi.release(answer["owner"]["generation"])
                rounds -= 1
            ended = 0
        finally:
            os._exit(ended)


class Program(unittest.TestCase):
    def ask(self, namespace, *words, lines=""):
        done = subprocess.run([sys.executable, "-B", pi_amq.__file__, namespace, *words], input=lines, text=True,
                              capture_output=True, timeout=BOUND, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_it_answers_by_lines(self):
        namespace = tempfile.mkdtemp(prefix="pi-amq-")
        self.addCleanup(shutil.rmtree, namespace)
        answers = self.ask(namespace, lines="acquire\nwith\nleave\nwith\nfail\nidentity\nfly\nrelease g\n")
        self.assertEqual([answer.get("status", answer.get("error")) for answer in answers],
                         ["acquired", "entered", "done", "entered", "OperationFailed", None, "TypeError", "not-owner"])
        self.assertEqual(self.ask(namespace, "inspect")[0]["owner"], answers[0]["owner"])
        again = self.ask(namespace, "acquire")[0]
        self.assertEqual(again["reclaimed"]["owner"], answers[0]["owner"], "its process ended with it")
        self.assertEqual(self.ask(namespace, "release", again["owner"]["generation"]), [{"status": "released"}])


if __name__ == "__main__":
    unittest.main()
