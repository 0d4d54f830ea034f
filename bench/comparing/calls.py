"""System calls: counted by strace between the marks of files_calls and local_calls."""

import json
import pathlib
import re
import statistics

from .machine import machine, machine_words
from .running import HERE, Failed, note, run
from .table import emit, table

RECORDED_CALLS = HERE / "calls.json"
# What the memory of a process needs, not the operation: it comes and goes with the allocator.
MEMORY_CALLS = {"brk", "mmap", "munmap", "mprotect", "madvise", "mremap", "futex", "sched_yield"}
OURS = ("tenure", "receiver", "local")
PI_AMQ_SYNCS = 12  # as counted of pi-amq itself
SYNC_CALLS = {"fsync", "fdatasync", "sync_file_range", "syncfs", "msync"}
CALLS_METHOD = ("strace over five repetitions between two marks, the median one; calls of the allocator and futexes "
                "left out, clocks read without a system call not seen. \"keeper's\": calls of the other thread until "
                "100 ms later.")
CALL = re.compile(r"^(\d+)\s+(\w+)\((.*)$")
MARK = re.compile(r'^-1, "(.*?)"')


def count_calls(trace, but=MEMORY_CALLS):
    """{(way, operation): [({call: times} of the caller, {call: times} of other threads) of each repetition]}."""
    found, title, own, others, main, ended = {}, None, {}, {}, None, False
    for line in trace.splitlines():
        match = CALL.match(line)
        if not match:
            continue
        thread, call, rest = match.groups()
        main = main or thread
        mark = MARK.match(rest) if call == "write" and thread == main else None
        if mark and mark.group(1).startswith("begin "):
            title, own, others, ended = tuple(mark.group(1).split(" ")[1:]), {}, {}, False
        elif mark and mark.group(1) == "end":
            ended = True
        elif mark and mark.group(1) == "rest":
            found.setdefault(title, []).append((own, others))
            title = None
        elif title and not (thread == main and ended) and call not in but:
            tally = own if thread == main else others
            tally[call] = tally.get(call, 0) + 1
    return found


def syncs(tally):
    return sum(times for call, times in tally.items() if call in SYNC_CALLS)


def summarize_calls(counted):
    rows = []
    for (way, operation), repetitions in counted.items():
        middle = sorted((own for own, _ in repetitions), key=lambda own: sum(own.values()))[len(repetitions) // 2]
        rows.append({"way": way, "operation": operation, "calls": sum(middle.values()), "syncs": syncs(middle),
                     "keeper_calls": statistics.median(sum(others.values()) for _, others in repetitions),
                     "by_call": dict(sorted(middle.items(), key=lambda item: (-item[1], item[0])))})
    return rows


def trace(bench, program):
    """What the program printed, and what strace saw."""
    path = pathlib.Path(bench.folder) / "trace"
    printed = run(["strace", "-f", "-qq", "-s", "64", "-e", "signal=none", "-o", path, *bench.words(program)])
    return printed, path.read_text()


def trace_calls(bench):
    rows = summarize_calls(count_calls(trace(bench, "files_calls")[1]))
    by_name = {(row["way"], row["operation"]): row for row in rows}
    ours, peer = (by_name[way, "claim"]["syncs"] for way in ("tenure", "o_excl-synced"))
    if ours != peer:
        raise Failed(f"a claim syncs {ours} times, its peers {peer} times: mend ClaimWrites in bench/peers.cc")
    original = pairs(rows)["pi-amq"]["syncs"]
    if original != PI_AMQ_SYNCS:
        raise Failed(f"pi-amq makes {PI_AMQ_SYNCS} syncs for a claim and a release, its peer {original}: mend "
                     "bench/pi_amq.cc")
    return rows


def pairs(rows):
    """{way: {"calls": …, "syncs": …}} of a claim and its release together, where the way has both."""
    found = {}
    for row in rows:
        if row["operation"] in ("claim", "release"):
            pair = found.setdefault(row["way"], {"calls": 0, "syncs": 0})
            for kind in pair:
                pair[kind] += row[kind]
    return found


def local_counts(bench):
    """{operation: {"calls": …, "allocations": …}} of a thousand of each in a local: space; of all calls, without exception."""
    printed, traced = trace(bench, "local_calls")
    counted = count_calls(traced, but=())
    return {operation: {"calls": sum(counted["local", operation][0][0].values()) / 1000, "allocations": allocations}
            for operation, allocations in json.loads(printed).items()}


def calls_table(rows):
    lines = [[f"{row['way']}: {row['operation'].replace('-', ' ')}", str(row["calls"]), str(row["syncs"]),
              f"{row['keeper_calls']:g}" if row["way"] in OURS else "",
              ", ".join(f"{call} {times}" for call, times in row["by_call"].items())] for row in rows]
    return table(["operation", "system calls", "syncs", "keeper's", "which"], lines, text_columns=(0, 4))


def recorded(rows):
    return {f"{row['way']} {row['operation']}": {"calls": row["calls"], "syncs": row["syncs"]}
            for row in rows if row["way"] in OURS}


def risen(rows):
    """What grew beyond the record, in words. A path that got shorter is told of too, so that the record follows it."""
    was = json.loads(RECORDED_CALLS.read_text())
    worse, better = [], []
    for name, now in recorded(rows).items():
        for kind, number in now.items():
            before = was.get(name, {}).get(kind)
            if before is None or number > before:
                worse.append(f"{name}: {number} {kind}, recorded {before}")
            elif number < before:
                better.append(f"{name}: {number} {kind}, recorded {before}")
    return worse, better


def report(bench, options):
    rows = trace_calls(bench)
    was = machine(bench.folder)
    text = f"{calls_table(rows)}\n\n{machine_words(was)}\nMethod: {CALLS_METHOD}"
    emit(options, text, {"machine": was, "method": CALLS_METHOD, "calls": rows})
    if options.record:
        RECORDED_CALLS.write_text(json.dumps(recorded(rows), indent=2) + "\n")
        return 0
    worse, better = risen(rows)
    for line in better:
        note(f"fewer than recorded (bench/compare --calls --record keeps it): {line}")
    for line in worse:
        note(f"MORE than recorded: {line}")
    return 1 if worse else 0
