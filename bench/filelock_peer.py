#!/usr/bin/env python3
"""Python's filelock as a peer of bench/compare: filelock_peer.py claim_release|share FILE SECONDS.

  claim_release  the nanoseconds of one acquire and release on an object that is kept
  share          32 processes, each holding it 5 ms and then away for 50 ms: the share of time in which somebody has it
Prints JSON as bench/turns.h does.
"""

import json
import os
import statistics
import sys
import time

import filelock

PROCESSES, HOLD, AWAY = 32, 0.005, 0.05
PER_TURN = 20


def claim_release(path, seconds):
    lock, samples, end = filelock.FileLock(path), [], time.monotonic() + seconds
    while time.monotonic() < end or len(samples) < 5:
        begun = time.perf_counter_ns()
        for _ in range(PER_TURN):
            lock.acquire()
            lock.release()
        samples.append((time.perf_counter_ns() - begun) / PER_TURN)
    return {"ns": {"p50": statistics.median(samples)}}


def contend(path, begin, end):
    """The seconds in which this process had it."""
    lock, held = filelock.FileLock(path), 0.0
    time.sleep(max(0, begin - time.monotonic()))
    while time.monotonic() < end:
        lock.acquire()
        taken = time.monotonic()
        time.sleep(HOLD)
        held += max(0, min(time.monotonic(), end) - taken)
        lock.release()
        time.sleep(AWAY)
    return held


def share(path, seconds):
    begin = time.monotonic() + 0.5
    read_end, write_end = os.pipe()
    children = []
    for _ in range(PROCESSES):
        child = os.fork()
        if child == 0:
            os.write(write_end, f"{contend(path, begin, begin + seconds)}\n".encode())
            os._exit(0)
        children.append(child)
    os.close(write_end)
    with os.fdopen(read_end) as answers:
        held = [float(line) for line in answers]
    if any(os.waitpid(child, 0)[1] for child in children) or len(held) != PROCESSES:
        sys.exit("a contender failed")
    return {"in_use": {"p50": sum(held) / seconds}}


if __name__ == "__main__":
    kind, file, duration = sys.argv[1:]
    print(json.dumps({"filelock": {"claim_release": claim_release, "share": share}[kind](file, float(duration))}))
