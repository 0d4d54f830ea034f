"""Holder and claimant who see different processes and clocks: never displaced while alive, and at once when dead.

    namespaces.py --driver PROGRAM CASE

What must not fool anybody: a pid that is not there or is somebody else's, a /proc that is empty, clocks that are days
apart. What decides is the life lock, which crosses all of that. Where the kernel refuses such namespaces the test says so
and ends with 77.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

from driven import Fault, FilesWorld

HIDE_PROC = ["sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
PLACES = {
    "here": [],
    "another pid namespace": ["unshare", "-Urpf", "--kill-child", "--mount-proc"],
    "an empty /proc": ["unshare", "-Urm", *HIDE_PROC],
    "another pid namespace with an empty /proc": ["unshare", "-Urmpf", "--kill-child", *HIDE_PROC],
    "a later time namespace": ["unshare", "-UrTf", "--kill-child", "--boottime", "100000", "--monotonic", "100000"],
    "a time namespace of another sleep": ["unshare", "-UrTf", "--kill-child", "--boottime", "100000"],
}
# Holder, claimant.
CASES = {
    "pid_namespace": [
        ("another pid namespace", "here"),
        ("here", "another pid namespace"),
        ("another pid namespace", "another pid namespace"),  # two of them: both are pid 1
    ],
    "hidden_proc": [
        ("here", "an empty /proc"),
        ("an empty /proc", "here"),
        ("another pid namespace", "an empty /proc"),
        ("here", "another pid namespace with an empty /proc"),
        ("another pid namespace with an empty /proc", "an empty /proc"),
    ],
    "time_namespace": [
        ("here", "a later time namespace"),
        ("a later time namespace", "here"),
        ("here", "a time namespace of another sleep"),
        ("a time namespace of another sleep", "here"),
    ],
}
SKIPPED = 77


def refused_by_the_kernel(places):
    for place in places:
        if not PLACES[place]:
            continue
        done = subprocess.run([*PLACES[place], "true"], capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            return f"{place}: {done.stderr.strip() or done.returncode}"
    return None


def tries_in_vain(holder, claimant, seconds):
    end = time.monotonic() + seconds
    tries = 0
    while tries < 20 or time.monotonic() < end:
        answer = claimant.ask("again")
        if answer.ok:
            raise Fault(f"it was given a key whose holder lives: {answer}; the holder says {holder.ask('verify')}")
        if answer.code != "held":
            raise Fault(f"a claim beside a living holder said: {answer}")
        tries += 1
    verified = holder.ask("verify")
    if not verified.ok:
        raise Fault(f"the holder lost it: {verified}")
    return tries, answer


def meet(world, where_holder, where_claimant, seconds):
    holder = world.start("claim", PLACES[where_holder])
    world.granted(holder.answer(), "the holder")
    claimant = world.start("wait", PLACES[where_claimant])
    first = claimant.answer()
    if first.ok or first.code != "timed_out":
        raise Fault(f"a wait of a moment for a living holder ended with: {first}")
    tries, last = tries_in_vain(holder, claimant, seconds)
    holder.kill()
    world.granted(claimant.ask("again"), "the first try after the holder's death")
    if not claimant.ask("release").ok:
        raise Fault("the claimant could not release")
    left = world.leftovers(evidence=False)
    if left:
        raise Fault("left in the folder: " + ", ".join(left))
    return f"{tries} tries in vain ({last.message}), then granted"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--driver", required=True)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("case", choices=sorted(CASES))
    options = parser.parse_args()
    pairs = CASES[options.case]
    refused = refused_by_the_kernel({place for pair in pairs for place in pair})
    if refused:
        print(f"SKIPPED: the kernel gives no such namespace here: {refused}")
        return SKIPPED
    failed = 0
    for where_holder, where_claimant in pairs:
        title = f"holder: {where_holder}; claimant: {where_claimant}"
        with tempfile.TemporaryDirectory(prefix="tenure-namespaces-") as parent:
            world = FilesWorld(os.path.realpath(options.driver), parent)
            try:
                print(f"{title}: {meet(world, where_holder, where_claimant, options.seconds)}", flush=True)
            except Fault as fault:
                failed += 1
                print(f"FAULT {title}: {fault}", flush=True)
            finally:
                world.end()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
