"""What is disturbed, and what must hold afterwards.

A scenario is one verb of the driver on a prepared folder. After each blow a stranger recovers: it claims, is the only
holder, goes on above every epoch that was given or stood on the disk, releases, and nothing but the files that a space
keeps is left.
"""

import tracing
from driven import KEY, Answer, Fault, FilesWorld


class Scenario:
    def __init__(self, verb, prepare, clean, owns=False, evidence=False, world=FilesWorld, before=(), needs=None,
                 long=False):
        self.verb = verb
        self.world = world
        self.before = before  # put before the driver, and before its tracer
        self.needs = needs  # called; returns why it cannot be tried here, if it cannot
        self.long = long  # only with --long
        self.prepare = prepare  # called with the world; returns the live holder, if there is one
        self.clean = clean  # how the verb ends undisturbed: "ok" or a code
        self.revokes = verb == "revoke"
        self.claims = verb in ("claim", "first") and clean == "ok"
        self.owns = owns  # the driver itself holds the key before and after the verb
        self.evidence = evidence  # a damaged thing was there, and may have been moved aside


def empty(world):
    return None


def free(world):
    last = world.hold()
    if not last.ask("release").ok:
        raise Fault("the preparation could not release")
    last.kill()


def dead(world):
    world.hold().kill()


def live(world):
    return world.hold()


def damaged(world):
    dead(world)
    with open(world.path(".lease.json"), "w", encoding="utf-8") as file:
        file.write('{"instance_id": "' + KEY + '", "owner_boot')


SCENARIOS = {
    "first claim": Scenario("first", empty, "ok"),
    "claim of a free key": Scenario("claim", free, "ok"),
    "claim over a dead holder": Scenario("claim", dead, "ok"),
    "claim of a held key": Scenario("claim", live, "held"),
    "claim that waits": Scenario("wait", live, "timed_out"),
    "renew": Scenario("renew", empty, "ok", owns=True),
    "renew after a cleaner": Scenario("restore", empty, "ok", owns=True),
    "verify": Scenario("verify", empty, "ok", owns=True),
    "guard": Scenario("guard", empty, "ok", owns=True),
    "release": Scenario("release", empty, "ok"),
    "revoke of a live holder": Scenario("revoke", live, "ok"),
    "revoke of a dead holder": Scenario("revoke", dead, "ok"),
    "revoke of a damaged record": Scenario("revoke", damaged, "ok", evidence=True),
    "who": Scenario("look", live, "ok"),
}


# ---- after a SIGKILL ---------------------------------------------------------------------------------------------


def after_kill(world, scenario, holder):
    if holder is not None:
        holder_or_stranger(world, scenario, holder)
    world.crashed()
    recover(world, scenario)
    world.recovered()


def holder_or_stranger(world, scenario, holder):
    """Exactly one of them has it, whatever became of the verb; then the holder dies."""
    before = holder.ask("verify")
    world.floor = max(world.floor, world.record_epoch())
    stranger = world.start("claim")
    claimed = stranger.answer()
    after = holder.ask("verify")
    if claimed.ok and after.ok:
        raise Fault(f"two holders: {after} and, granted beside it, {claimed}")
    if not claimed.ok and not after.ok:
        raise Fault(f"the holder lost it ({after}) and nobody else gets it ({claimed})")
    if claimed.ok and not scenario.revokes:
        raise Fault(f"a live holder was displaced: {claimed}, though it was {before}")
    if not claimed.ok and claimed.code != "held":
        raise Fault(f"beside a live holder, claim said: {claimed}")
    if claimed.ok:
        world.granted(claimed, "a claim after the revocation")
    stranger.kill()
    holder.kill()


def recover(world, scenario):
    """Everybody who had to do with the key is dead: a stranger gets it at the first try."""
    world.floor = max(world.floor, world.record_epoch())
    stranger = world.start("claim")
    claimed = stranger.answer()
    if not claimed.ok and scenario.evidence:
        # A damaged record proves nothing: the way out is the revocation, and it works after its own crash too.
        again = world.start("revoke")
        repaired = again.answer()
        if not repaired.ok:
            raise Fault(f"the revocation cannot be done again: {repaired}")
        again.kill()
        claimed = stranger.ask("again")
    world.granted(claimed, "the stranger")
    if not stranger.ask("verify").ok:
        raise Fault("the stranger was granted the key and cannot verify it")
    sole(world, stranger)
    released = stranger.ask("release")
    if not released.ok:
        raise Fault(f"the stranger cannot release: {released}")
    clean(world, scenario)
    world.granted(stranger.ask("again"), "the stranger, once more,")
    stranger.kill()


def sole(world, holder):
    rival = holder.ask("rival")
    if rival.ok or rival.code != "held":
        raise Fault(f"a rival in the holder's process was told: {rival}")
    other = world.start("claim")
    answer = other.answer()
    if answer.ok or answer.code != "held":
        raise Fault(f"a rival process was told: {answer}")
    other.kill()


def clean(world, scenario):
    # A forced revocation keeps what it could not read, and goes on.
    left = world.leftovers(scenario.evidence or scenario.revokes)
    if left:
        raise Fault("left in the folder: " + ", ".join(left))


# ---- after a refused call ----------------------------------------------------------------------------------------


def after_error(world, scenario, holder, driver, error):
    """The driver still lives, so what it did or did not get counts at once."""
    line = driver.line()
    if line is None:
        raise Fault(f"the driver ended ({driver.wait()}) without an answer: {driver.said()}")
    answer = Answer(line)
    if error in tracing.HARMLESS and (answer.code if not answer.ok else "ok") != scenario.clean:
        raise Fault(f"what should not matter was seen: {answer}")
    if not answer.ok and scenario.clean == "ok":
        speaks_clearly(answer)
    if scenario.owns:
        keeps_it(world, driver)
    elif scenario.claims:
        claimed_or_not(world, scenario, driver, answer)
    elif scenario.verb == "release":
        given_back(world, scenario, answer)
    elif scenario.revokes and holder is not None:
        taken_or_not(holder, answer)
    elif holder is not None and not holder.ask("verify").ok:
        raise Fault("the holder lost the key to a verb that takes nothing")
    driver.kill()
    after_kill(world, scenario, holder)


def speaks_clearly(answer):
    if answer.code == "internal" or len(answer.message) < 12 or answer.outcome not in ("refused", "unknown"):
        raise Fault(f"no clear error: {answer}")


def keeps_it(world, driver):
    verified = driver.ask("verify")
    if not verified.ok:
        raise Fault(f"the lease was lost: {verified}")
    world.floor = max(world.floor, verified.epoch)
    refused(world, "the lease was kept")


def claimed_or_not(world, scenario, driver, answer):
    if answer.ok:
        world.granted(answer, "the disturbed claim")
        keeps_it(world, driver)
    elif answer.outcome == "refused":
        # What was refused left nothing in the way, though its process lives.
        world.refused(driver)
        recover(world, scenario)


def given_back(world, scenario, answer):
    """A release that failed let go all the same: others can prove the lease over while its process lives."""
    if answer.ok or answer.outcome == "unknown":
        recover(world, scenario)
    else:
        raise Fault(f"the lease was given up, and the answer says that nothing was done: {answer}")


def taken_or_not(holder, answer):
    verified = holder.ask("verify")
    if answer.ok and verified.ok:
        raise Fault("revoked, and yet the holder holds")
    if answer.outcome == "refused" and not verified.ok:
        raise Fault(f"the revocation was refused ({answer}), and yet the holder lost it: {verified}")


def refused(world, why):
    other = world.start("claim")
    answer = other.answer()
    if answer.ok or answer.code != "held":
        raise Fault(f"{why}, and yet a stranger was told: {answer}")
    other.kill()
