"""A fenced file, its writer killed at each of its system calls in turn, and refused each of them in turn.

    fence.py --driver PROGRAM --fence PROGRAM [--long]

After each blow the file is whole, old or new; new only if the sidecar knows the new epoch; an older epoch is refused as soon
as the sidecar knows the new one, also where the space is gone; the current one gets through; and nothing is left beside
the file. Without --long an eighth of the refusals is tried, which by the seed.
"""

import argparse
import concurrent.futures
import os
import random
import subprocess
import sys
import tempfile

import tracing
from driven import KEY, Answer, Fault, FilesWorld

BOUND = 60
SHARE = 8
WORKERS = 2
MISSES_PERCENT = 2
SIZE = 100_000
# A killed process tells nothing about the loss of power: that is a matter of this order. The content, and once more with
# its owner and mode; the sidecar, its name, the folder; only then the name of the file, and the folder again.
LASTING = ("fsync", "fdatasync", "renameat")
DURABLE_ORDER = ["fsync", "fsync", "fdatasync", "renameat", "fsync", "renameat", "fsync"]


class Fenced:
    """A space whose key is held, and a file beside it that was written under an older epoch, or never."""

    def __init__(self, programs, parent, written):
        self.programs = programs
        self.world = FilesWorld(programs.driver, parent)
        self.place = os.path.join(self.world.folder, "data")
        os.mkdir(self.place)
        self.path = os.path.join(self.place, "f")
        first = self.world.hold()
        self.old = self.world.floor
        if written and not self.write("a", self.old).ok:
            raise Fault("the preparation could not write")
        if not first.ask("release").ok:
            raise Fault("the preparation could not release")
        first.kill()
        self.holder = self.world.hold()
        self.epoch = self.world.floor
        self.before = self.content()

    def command(self, letter, epoch):
        return [self.programs.fence, self.path, self.world.url, KEY, str(epoch), letter]

    def run(self, letter, epoch, before=()):
        """The line that it said, "" when it died before."""
        done = subprocess.run([*before, *self.command(letter, epoch)], capture_output=True, text=True, timeout=BOUND,
                              stdin=subprocess.DEVNULL)
        return done.stdout

    def write(self, letter, epoch):
        said = self.run(letter, epoch)
        if not said:
            raise Fault(f"a write under epoch {epoch} ended without an answer")
        return Answer(said)

    def content(self):
        try:
            with open(self.path, encoding="ascii") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def known(self):
        """The epoch in the sidecar, 0 without one."""
        try:
            with open(os.path.join(self.place, ".f.fence"), encoding="ascii") as file:
                return int(file.read().split()[2])
        except FileNotFoundError:
            return 0

    def end(self):
        self.world.end()


def whole(fenced):
    """True when the file is the new one."""
    content = fenced.content()
    if content == fenced.before:
        return False
    if content != "b" * SIZE:
        raise Fault("the file is neither the old one nor the new one")
    if fenced.known() != fenced.epoch:
        raise Fault(f"replaced under epoch {fenced.epoch}, and the sidecar knows {fenced.known()}")
    return True


def old_one_is_refused(fenced):
    """By the sidecar alone, once that knows better; the space is not to be asked."""
    away = fenced.world.space + ".away"
    os.rename(fenced.world.space, away)
    try:
        known = fenced.known()
        content = fenced.content()
        answer = fenced.write("x", fenced.old)
        if known == fenced.epoch and (answer.ok or answer.code != "lost" or fenced.content() != content):
            raise Fault(f"the sidecar knows epoch {known}, and epoch {fenced.old} was told: {answer}")
        if known == 0 and (answer.ok or answer.code != "unreachable"):
            raise Fault(f"nobody vouches for epoch {fenced.old}, and it was told: {answer}")
    finally:
        os.rename(away, fenced.world.space)


def recover(fenced):
    old_one_is_refused(fenced)
    answer = fenced.write("c", fenced.epoch)
    if not answer.ok:
        raise Fault(f"the next write under the current epoch was refused: {answer}")
    if fenced.content() != "c" * SIZE or fenced.known() != fenced.epoch:
        raise Fault("the next write is not what lies there")
    answer = fenced.write("x", fenced.old)
    if answer.ok or answer.code != "lost":
        raise Fault(f"an older epoch was told: {answer}")
    left = sorted(set(os.listdir(fenced.place)) - {"f", ".f.fence", ".f.fence.lock"})
    if left:
        raise Fault("left beside the file: " + " ".join(left))


def after_refusal(fenced, said, call, error):
    if not said:
        raise Fault("the writer ended without an answer")
    answer = Answer(said)
    new = whole(fenced)
    if error == "EINTR" and not answer.ok:
        raise Fault(f"the interruption was seen: {answer}")
    if answer.ok and not new:
        raise Fault("done, and the file is the old one")
    if not answer.ok and answer.outcome == "refused" and new:
        raise Fault(f"replaced, and yet it said: {answer}")
    if not answer.ok and (answer.code == "internal" or answer.outcome not in ("refused", "unknown")):
        raise Fault(f"no clear error: {answer}")
    drafts = [name for name in os.listdir(fenced.place) if "draft" in name or name.endswith(".tmp")]
    if drafts and call.name != "unlinkat":  # its very removal may have been refused
        raise Fault("left beside the file: " + " ".join(drafts))


def strike(programs, parent, written, call, error):
    fenced = Fenced(programs, parent, written)
    try:
        log = os.path.join(fenced.world.folder, "trace")
        before = tracing.killing(log, call) if error is None else tracing.refusing(log, call, error)
        said = fenced.run("b", fenced.epoch, before)
        if error is None:
            whole(fenced)
        else:
            after_refusal(fenced, said, call, error)
        recover(fenced)
        return tracing.struck(log, error is None)
    except Fault as fault:
        what = "killed at" if error is None else f"{error} from"
        raise Fault(f"{what} {call.name} #{call.number}: {call}\n    {fault}") from None
    finally:
        fenced.end()


def enumerate_calls(programs, parent, written):
    fenced = Fenced(programs, parent, written)
    try:
        log = os.path.join(fenced.world.folder, "trace")
        said = fenced.run("b", fenced.epoch, tracing.whole(log))
        if not said.startswith("ok") or not whole(fenced):
            raise Fault(f"undisturbed it said: {said!r}")
        calls = tracing.calls_between_marks(log)
        if not calls or not calls[-1].is_end:
            raise Fault("the write was not seen whole")
        order = [call.name for call in calls if call.name in LASTING]
        if order != DURABLE_ORDER:
            raise Fault("not durable in the right order: " + " ".join(order))
        return calls
    finally:
        fenced.end()


def blows(programs, parent, seed, everything):
    for written in (False, True):
        calls = enumerate_calls(programs, parent, written)
        refusals = [(written, call, error) for call in calls for error in tracing.errors_for(call)]
        chosen = refusals if everything else refusals[seed % SHARE::SHARE]
        yield from ((written, call, None) for call in calls)
        yield from chosen


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--driver", required=True)
    parser.add_argument("--fence", required=True)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(SHARE))
    programs = parser.parse_args()
    print(f"seed {programs.seed}", flush=True)
    trouble = tracing.tracer_works()
    if trouble:
        print(f"strace cannot trace here, and nothing was tried: {trouble}")
        return 1
    faults = missed = 0
    # What a killed process leaves does not depend on the disk.
    in_memory = "/dev/shm" if not programs.long and os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="tenure-fence-", dir=in_memory) as parent:
        todo = list(blows(programs, parent, programs.seed, programs.long))
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            for done in concurrent.futures.as_completed(
                    [pool.submit(strike, programs, parent, *blow) for blow in todo]):
                try:
                    missed += not done.result()
                except Fault as fault:
                    faults += 1
                    print(f"FAULT {fault}", flush=True)
    print(f"{len(todo)} blows, {missed} missed, {faults} faults, seed {programs.seed}")
    if missed * 100 > len(todo) * MISSES_PERCENT:
        print("too many blows missed: the write is not what was enumerated")
        return 1
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
