"""The crash campaign: every verb, killed at each of its system calls in turn, and refused each of them in turn.

    run.py --driver PROGRAM             of files: spaces: every call killed; one refusal in some, which by the seed
    run.py --driver PROGRAM --receiver  of receiver: spaces: killed at every call that changes what lies there, since
                                        between two of them a death leaves the same; refusals as above
    run.py --driver PROGRAM --long      everything
    run.py --driver PROGRAM --only NAME one scenario

Each blow has a folder of its own and ends with a recovery by a stranger; scenarios.py says what must hold. What a killed
process leaves does not depend on the disk, so the folders lie in memory where that can be had, with --long on the disk;
TMPDIR puts them elsewhere.
"""

import argparse
import concurrent.futures
import os
import random
import shutil
import sys
import tempfile
import time

import receiver
import scenarios
import tracing
from driven import Fault
from scenarios import after_error, after_kill

WORKERS = 2
# The verb is the same each time, but locks inside libc may differ from run to run: so many blows may miss.
MISSES_PERCENT = 2


class Campaign:
    """What is tried of one engine."""

    def __init__(self, scenarios, share, only_changes):
        self.scenarios = scenarios
        self.share = share  # one refusal of so many is tried, but with --long
        self.only_changes = only_changes  # killed only where that makes a difference, but with --long

    def names(self, everything):
        chosen = []
        for name, scenario in self.scenarios.items():
            trouble = scenario.needs and scenario.needs()
            if trouble:
                print(f"  {name}: NOT TRIED: {trouble}", flush=True)
            elif everything or not scenario.long:
                chosen.append(name)
        return chosen


FILES = Campaign(scenarios.SCENARIOS, 4, False)
RECEIVER = Campaign(receiver.SCENARIOS, 20, True)


class Blow:
    def __init__(self, name, scenario, call, error):
        self.name = name
        self.scenario = scenario
        self.call = call
        self.error = error  # None: SIGKILL
        self.turn = 0

    def __str__(self):
        what = "killed at" if self.error is None else f"{self.error} from"
        return f"{self.name}: {what} {self.call.name} #{self.call.number}: {self.call}"


def enumerate_calls(program, parent, name, scenario):
    world = scenario.world(program, parent)
    try:
        scenario.prepare(world)
        log = os.path.join(world.folder, "trace")
        driver = world.start(scenario.verb, [*scenario.before, *tracing.whole(log)])
        answer = driver.answer()
        driver.process.stdin.close()
        status = driver.wait()
        if status != 0 or (answer.code if not answer.ok else "ok") != scenario.clean:
            raise Fault(f"{name}: undisturbed it ends with {answer} ({status})")
        calls = tracing.calls_between_marks(log)
        if len(calls) < 5 or not calls[-1].is_end:
            raise Fault(f"{name}: the marks were not seen")
        world.undisturbed()
        return calls
    finally:
        world.end()


def strike(program, parent, blow):
    """True when the blow fell; raises Fault when something does not hold after it."""
    scenario = blow.scenario
    world = scenario.world(program, parent)
    world.turn = blow.turn
    try:
        holder = scenario.prepare(world)
        log = os.path.join(world.folder, "trace")
        killed = blow.error is None
        before = tracing.killing(log, blow.call) if killed else tracing.refusing(log, blow.call, blow.error)
        driver = world.start(scenario.verb, [*scenario.before, *before])
        if killed:
            told = driver.line()
            if told is not None:
                driver.process.stdin.close()
            driver.wait()
            after_kill(world, scenario, holder)
        else:
            after_error(world, scenario, holder, driver, blow.error)
        return tracing.struck(log, killed)
    except Fault as fault:
        if os.environ.get("CRASH_KEEP"):
            shutil.copytree(world.folder, os.environ["CRASH_KEEP"], dirs_exist_ok=True)
        raise Fault(f"{blow}\n    {fault}\n    in the folder: {' '.join(world.names())}") from None
    finally:
        world.end()


def plan(program, parent, campaign, names, seed, everything):
    blows = []
    for name in names:
        scenario = campaign.scenarios[name]
        calls = enumerate_calls(program, parent, name, scenario)
        refusals = [Blow(name, scenario, call, error) for call in calls for error in tracing.errors_for(call)]
        chosen = refusals if everything else refusals[seed % campaign.share::campaign.share]
        deaths = [Blow(name, scenario, call, None) for call in calls
                  if everything or not campaign.only_changes or call.changes]
        blows += deaths + chosen
        print(f"  {name}: {len(deaths)} deaths at {len(calls)} calls, {len(chosen)} of {len(refusals)} refusals", flush=True)
    for number, blow in enumerate(blows):
        blow.turn = number + seed
    return blows


def folder(everything):
    in_memory = "/dev/shm"
    wanted = not everything and "TMPDIR" not in os.environ and os.access(in_memory, os.W_OK)
    return tempfile.TemporaryDirectory(prefix="tenure-crash-", dir=in_memory if wanted else None)


def run(program, blows, everything):
    faults = []
    missed = []
    with folder(everything) as parent:
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            waiting = {pool.submit(strike, program, parent, blow): blow for blow in blows}
            for number, done in enumerate(concurrent.futures.as_completed(waiting), 1):
                try:
                    if not done.result():
                        missed.append(waiting[done])
                except Fault as fault:
                    faults.append(str(fault))
                    print(f"FAULT {fault}", flush=True)
                if number % 200 == 0:
                    print(f"  {number} of {len(blows)} blows", flush=True)
    return faults, missed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--driver", required=True)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--receiver", action="store_true")
    parser.add_argument("--only", metavar="SCENARIO")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(60))
    options = parser.parse_args()
    campaign = RECEIVER if options.receiver else FILES
    if options.only and options.only not in campaign.scenarios:
        parser.error("--only knows: " + "; ".join(campaign.scenarios))
    print(f"crash campaign, seed {options.seed}", flush=True)
    trouble = tracing.tracer_works()
    if trouble:
        print(f"strace cannot trace here, and nothing was tried: {trouble}")
        return 1
    names = [options.only] if options.only else campaign.names(options.long)
    program = os.path.realpath(options.driver)
    begun = time.monotonic()
    try:
        with folder(options.long) as parent:
            blows = plan(program, parent, campaign, names, options.seed, options.long)
    except Fault as fault:
        print(f"FAULT {fault}")
        return 1
    faults, missed = run(program, blows, options.long)
    for blow in missed:
        print(f"missed: {blow}")
    print(f"{len(blows)} blows, {len(missed)} missed, {len(faults)} faults, {time.monotonic() - begun:.0f} s, "
          f"seed {options.seed}")
    if len(missed) * 100 > len(blows) * MISSES_PERCENT:
        print("too many blows missed: the verb is not what was enumerated")
        return 1
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
