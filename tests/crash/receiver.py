"""The `receiver:` engine in the campaign: its folder, its scenarios, and pi-amq's stand-in as neighbour and as newcomer.

After a death a pi-amq process must get the lease as well as one of ours: at once, and once more after ours has recovered.
At every other death it comes first in the very folder, and epochs must go on above those of the dead all the same; else in
a copy. What a death may leave (the engine's README has the list) must be gone after the next sweep, which a takeover brings.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../interop"))
import pi_amq  # noqa: E402
from driven import Answer, Fault, World, epoch_in  # noqa: E402
from scenarios import Scenario, dead, empty, free, live  # noqa: E402

LEASE, GUARD, RECLAIMS, QUARANTINE = pi_amq.LEASE, pi_amq.GUARD, pi_amq.RECLAIMS, pi_amq.QUARANTINE
KEPT = {QUARANTINE, RECLAIMS, "tenure.epochs", "tenure.revoked.json"}
UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
EVIDENCE = re.compile(rf"receiver\..+\.\d{{13}}\.{UUID}|lifecycle\..+\.\d{{13}}\.{UUID}\.json")
# What a death leaves until a sweep: a lease in the making or being deleted, a guard in the making or in a reclaimer's
# hand, and what was about to take the place of another file.
LEFT = re.compile(rf"\.receiver\.(prepare-tenure-{UUID}|released-.+-{UUID})|\.tenure\.guard-(draft|taken)-{UUID}|"
                  r"tenure\.(epochs|revoked\.json)\.new")
MOST_LEFT = 2
SETTLED_SECONDS = 120  # older than what a sweep takes for just made
OTHER_BOOT = "0b5c8f0e-6d1f-4c7e-9a3b-2f1d8e7c6a50"


class FormerBoot(pi_amq.System):
    """A pi-amq that ran before the machine was started anew."""

    def boot(self):
        return OTHER_BOOT


class Dead(pi_amq.System):
    """One that is over, in this boot."""

    def own_identity(self):
        child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
        start, executable = self.inspect(child.pid)
        identity = dict(zip(pi_amq.IDENTITY_KEYS, (child.pid, start, self.boot(), executable, self.host())))
        child.communicate()
        return identity


def pid_in(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)["pid"]
    except FileNotFoundError:
        return 0


class PiHolder:
    """A pi-amq that holds the lease and lives: this very process."""

    def __init__(self, world):
        self.pi = world.pi()
        self.owner = acquired(self.pi, "the holder")

    def ask(self, command):
        assert command == "verify"
        seen = self.pi.inspect()
        mine = seen.get("owner") == self.owner
        return Answer("ok 0" if mine else f"refused lost lost {seen}")

    def kill(self):
        """Gives it back, since it cannot die alone."""
        answer = self.pi.release(self.owner["generation"])
        if answer["status"] not in ("released", "not-owner"):
            raise Fault(f"pi-amq cannot release: {answer}")


def acquired(pi, who):
    try:
        answer = pi.acquire()
    except pi_amq.LeaseFenceError as error:
        answer = {"error": str(error)}
    if answer.get("status") != "acquired":
        raise Fault(f"pi-amq, {who}, was told: {answer}")
    return answer["owner"]


class ReceiverWorld(World):
    def __init__(self, program, parent):
        super().__init__(program, parent)
        # In a container only its own processes are seen. All of the campaign's are among them.
        self.url = f"receiver:{self.space}?root=root&namespaces=one"
        self.key = "receiver"

    def within(self, *names):
        return os.path.join(self.space, *names)

    def pi(self, system=None, space=None):
        return pi_amq.Receiver(space or self.space, system=system)

    def record_epoch(self):
        return epoch_in(self.within(LEASE, "tenure.json"))

    def names(self):
        return sorted(os.path.relpath(os.path.join(folder, name), self.space)
                      for folder, folders, files in os.walk(self.space) for name in folders + files)

    def top(self):
        return os.listdir(self.space) if os.path.isdir(self.space) else []

    def left(self):
        return [name for name in self.top() if LEFT.fullmatch(name)]

    def inside(self, folder):
        return os.listdir(self.within(folder)) if os.path.isdir(self.within(folder)) else []

    def leftovers(self, evidence):
        left = self.left()
        return ([name for name in self.top() if name not in KEPT and name not in left]
                + (left if len(left) > MOST_LEFT else [])
                + [f"{RECLAIMS}/{name}" for name in self.inside(RECLAIMS)]
                + [f"{QUARANTINE}/{name}" for name in self.inside(QUARANTINE) if not EVIDENCE.fullmatch(name)])

    def undisturbed(self):
        if self.left():
            raise Fault("left in the folder, though nothing went wrong: " + ", ".join(self.left()))

    def refused(self, driver):
        """To pi-amq a record is as alive as its process."""
        for path in (self.within(LEASE, "owner.json"), self.within(GUARD)):
            if pid_in(path) == driver.pid():
                raise Fault(f"the claim was refused, and {path} names its process, which lives")

    def crashed(self):
        if not os.path.isdir(self.space):
            return
        self.floor = max(self.floor, self.record_epoch())
        place = self.space
        if self.turn % 2 == 0:
            place += "-copy"
            shutil.copytree(self.space, place, symlinks=True)
        self.pi_comes_and_goes(place, "the first after the death")

    def recovered(self):
        past = time.time() - SETTLED_SECONDS
        for name in self.left():
            os.utime(self.within(name), (past, past))
        heir = self.start("claim")
        self.granted(heir.answer(), "the heir of the stranger")
        if not heir.ask("release").ok:
            raise Fault("the heir cannot release")
        swept = sorted(set(self.top()) - KEPT)
        if swept:
            raise Fault("left in the folder after a sweep: " + ", ".join(swept))
        self.pi_comes_and_goes(self.space, "after all of ours")
        self.granted(heir.ask("again"), "the heir, after pi-amq,")
        heir.kill()

    def pi_comes_and_goes(self, space, who):
        pi = self.pi(space=space)
        owner = acquired(pi, who)
        answer = pi.release(owner["generation"])
        if answer.get("status") != "released":
            raise Fault(f"pi-amq, {who}, cannot release: {answer}")


# ---- what is there before -------------------------------------------------------------------------------------------


def only_pi_was(world):
    """The epoch counter is made in a namespace that was used before."""
    world.pi_comes_and_goes(world.space, "the one before")


def former_pi(world):
    free(world)
    acquired(world.pi(FormerBoot()), "of the former boot")


def dead_pi(world):
    free(world)
    acquired(world.pi(Dead()), "the dead one")


def living_pi(world):
    free(world)
    return PiHolder(world)


def died_inside(world):
    """A holder of ours that was killed in guarded work: its lease and its guard lie there."""
    holder = world.start("stay")
    world.granted(holder.answer(), "the holder")
    holder.kill()
    if GUARD not in world.top():
        raise Fault("there is no guard of the holder's")


def own_guard(world):
    """As after a death between the release and the dropping of the guard."""
    died_inside(world)
    shutil.rmtree(world.within(LEASE))


def pi_paper(world, *names):
    pi = world.pi(FormerBoot())
    pi._make_folders()
    if not pi._create(world.within(*names), pi._fresh()):
        raise Fault("/".join(names) + " is there already")


def guard_of_a_former_pi(world):
    free(world)
    pi_paper(world, GUARD)


def intents(world):
    """Of a dead one of ours and of a former pi-amq, and a stale guard."""
    own_guard(world)
    pi_paper(world, RECLAIMS, "reclaim.former.json")
    os.link(world.within(GUARD), world.within(RECLAIMS, "reclaim.tenure-dead.json"))


# ---- what is disturbed ----------------------------------------------------------------------------------------------

# Whoever looks for a process under the whole kernel reads all of /proc, which is never twice the same: here it is alone.
ALONE = ("unshare", "-Urpf", "--kill-child", "--mount-proc")


def no_namespaces():
    try:
        pi_amq.inspect_process(2)  # the number of the driver in there, which is another's here
    except OSError as error:
        return f"pi-amq cannot tell one process from another here: {error}"
    done = subprocess.run([*ALONE, "true"], capture_output=True, text=True, timeout=60)
    return None if done.returncode == 0 else f"there is no pid namespace to be had: {done.stderr.strip()}"


def nameless_machine():
    named = socket.gethostname().split(".")[0].lower() not in ("", "localhost")
    return None if named else "this machine has no name of its own, so nobody of a former boot is surely its own"


def scenario(verb, prepare, clean="ok", **more):
    return Scenario(verb, prepare, clean, world=ReceiverWorld, **more)


SCENARIOS = {
    "first claim": scenario("first", empty),
    "claim of a free lease": scenario("claim", free),
    "claim where only pi-amq was": scenario("claim", only_pi_was),
    "claim over a dead holder": scenario("claim", dead),
    "claim over a holder that died in guarded work": scenario("claim", died_inside),
    "claim over a pi-amq of a former boot": scenario("claim", former_pi, needs=nameless_machine),
    "claim over a dead pi-amq": scenario("claim", dead_pi, needs=no_namespaces, before=ALONE, long=True),
    "claim over a guard of our dead": scenario("claim", own_guard),
    "claim over a guard of a former pi-amq": scenario("claim", guard_of_a_former_pi, needs=nameless_machine),
    "claim beside intents of the dead": scenario("claim", intents, needs=nameless_machine),
    "claim again": scenario("reclaim", empty, owns=True),
    "claim of a held lease": scenario("claim", live, "held"),
    "claim of a lease of pi-amq": scenario("claim", living_pi, "held"),
    "claim that waits": scenario("wait", live, "timed_out", long=True),
    "verify": scenario("verify", empty, owns=True),
    "guarded work": scenario("guard", empty, owns=True),
    "release": scenario("release", empty),
    "revoke of a live holder": scenario("revoke", live),
    "revoke of a dead holder": scenario("revoke", dead, long=True),
    "revoke of a pi-amq": scenario("revoke", living_pi, long=True),
    "who": scenario("look", live),
}
