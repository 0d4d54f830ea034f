"""The local engine: what it must reach beside its peers, line by line, and whether it does."""

import json
import random
import statistics
from dataclasses import dataclass

from . import calls, machine, servers
from .running import Failed, note, run
from .table import emit, short, span, spread, table

OPENINGS = 10  # processes of one round that each open the space once


@dataclass(frozen=True)
class At:
    """A figure: of which way of which group, and which summary of its samples."""

    group: str
    way: str
    figure: str
    of: str = "p50"


@dataclass(frozen=True)
class Line:
    """One line of the table. With a peer the bound is of the ratio ours ÷ peer; without a bound it only tells."""

    title: str
    unit: str
    ours: At
    peer: At | None = None
    bound: float | None = None
    at_least: bool = False
    scale: float = 1


def claim_lines():
    ours = At("claim_release", "local", "ns")
    found = [Line("claim + release", "ns", ours, At("claim_release", "mutex", "ns"), 3),
             Line("claim + release", "ns", ours, At("claim_release", "flock", "ns"), 1 / 4)]
    for peer in ("ticket", "flock-open-close", "o_excl", "sqlite", "redis", "postgres", "filelock", "tenure"):
        found.append(Line("claim + release", "ns", ours, At("claim_release", peer, "ns")))
    for kind in ("calls", "allocations"):
        title = {"calls": "system calls", "allocations": "allocations"}[kind]
        found.append(Line(f"{title} of claim + release", "", At("counts", "claim-and-release", kind), bound=0))
    return found


def receiver_lines():
    ours, title = At("receiver", "receiver", "ns"), "receiver: claim + release"
    found = [Line(title, "µs", ours, At("receiver", peer, "ns"), scale=1e-3) for peer in ("tenure", "pi-amq", "local")]
    for kind, words in (("syncs", "syncs of these"), ("calls", "system calls of these")):
        # Half of what pi-amq syncs, or less.
        found += [Line(words, "", At("receiver", "receiver", kind), At("receiver", peer, kind),
                       1 / 2 if (kind, peer) == ("syncs", "pi-amq") else None) for peer in ("tenure", "pi-amq", "local")]
    return found


def many_lines():
    one = At("distinct", "one", "ns")
    return [
        Line("claim + release, 1,000,000 distinct keys", "ns", At("distinct", "distinct", "ns"), one, 2),
        Line("growth of the space by these keys", "bytes", At("distinct", "distinct", "growth_bytes", "max"), bound=0),
        Line("claim + release, 100,000 others held", "ns", At("held", "held", "ns"), At("held", "one", "ns"), 2),
        Line("the same, 4,096 keys in turn", "ns", At("held", "held-many", "ns"), At("held", "one", "ns"), 2),
        Line("size of the space with 100,000 held", "MiB", At("held", "held", "space_bytes"), scale=1 / 2**20),
    ]


def verify_lines():
    return [
        Line("verify, no TTL", "ns", At("verify", "local", "ns"), bound=20),
        Line("verify, TTL", "ns", At("verify", "local-ttl", "ns"), bound=60),
        Line("verify, TTL", "ns", At("verify", "local-ttl", "ns"), At("verify", "clock", "ns")),
        Line("system calls of verify", "", At("counts", "verify", "calls"), bound=0),
        Line("allocations of verify", "", At("counts", "verify", "allocations"), bound=0),
    ]


def handoff_lines():
    found = []
    for processes in (8, 32, 64):
        group = f"handoff-{processes}"
        rate, title = At(group, "local", "handoffs_per_second"), f"hand-offs, {processes} processes, no hold"
        found += [Line(title, "/s", rate, At(group, "ticket", "handoffs_per_second"), 0.8, True),
                  Line(title, "/s", rate, At(group, "flock", "handoffs_per_second"), 3, True),
                  Line(f"Jain index of these {processes}", "", At(group, "local", "jain_index"), bound=0.99, at_least=True)]
    for processes in (8, 32, 64):
        group = f"hold-{processes}"
        for of in ("p50", "p99"):
            ours, title = At(group, "local", "latency_us", of), f"release → next, {processes} processes, 1 ms hold, {of}"
            found += [Line(title, "µs", ours, At(group, "flock", "latency_us", of), 1),
                      Line(title, "µs", ours, At(group, "ticket", "latency_us", of))]
    return found


def trouble_lines():
    use = At("share", "local", "in_use")
    return [
        Line("holder killed → next owns it", "µs", At("takeover", "local", "us"), At("takeover", "flock", "us"), 0.5),
        Line("the same, holder of 1 GiB", "µs", At("takeover-1GiB", "local", "us"), At("takeover-1GiB", "flock", "us"), 0.05),
        Line("100 waiters asleep for 10 s: CPU", "ms", At("sleepers", "local", "cpu_ms"), bound=10),
        Line("100 waiters asleep for 10 s: CPU", "ms", At("sleepers", "local", "cpu_ms"), At("sleepers", "flock", "cpu_ms")),
        Line("32 processes, 5 ms hold, 50 ms away: in use", "%", use, bound=96, at_least=True, scale=100),
        Line("32 processes, 5 ms hold, 50 ms away: in use", "%", use, At("share", "flock", "in_use"), scale=100),
        Line("32 processes, 5 ms hold, 50 ms away: in use", "%", use, At("share", "postgres", "in_use"), scale=100),
        Line("32 processes, 5 ms hold, 50 ms away: in use", "%", use, At("share", "filelock", "in_use"), scale=100),
        Line("holder hangs, TTL over → next owns it, latest", "µs", At("hang", "local", "late_us", "max"), bound=2000),
        Line("holder hangs, TTL over → next owns it, median", "µs", At("hang", "local", "late_us"),
             At("hang", "sleep", "late_us")),
    ]


def footprint_lines():
    whole = At("process", "local", "us")
    return [
        Line("memory of an open space and a lease", "KiB", At("opening", "local", "resident_kib"), bound=2048),
        Line("open", "µs", At("opening", "local", "open_us"), bound=1000),
        Line("whole process: run k --wait 0 -- true", "µs", whole, At("process", "flock", "us"), 1),
        Line("whole process: run k --wait 0 -- true", "µs", whole, At("process", "true", "us")),
    ]


def lines():
    return claim_lines() + receiver_lines() + many_lines() + verify_lines() + handoff_lines() + trouble_lines() + footprint_lines()


# ---- measuring ----------------------------------------------------------------------------------------------------


def words(bench, group):
    options = bench.options
    return bench.words("local_bench", f"--program={bench.programs / 'tenure'}",
                       f"--handoff_seconds={options.handoff_seconds / 6}", f"--takeovers={max(1, options.takeovers // 5)}",
                       f"--brief={int(options.smoke)}", *(["--turns=5", "--process_turns=1"]
                                                          if options.smoke else []), group)


def once(bench, peers, group):
    """{way: {figure: {"p50": …}}} of one process."""
    found = json.loads(run(words(bench, group), env=peers.environment()))
    found.update(peers.filelock(group, bench.folder, bench.options.smoke))
    return found


def opened(bench, peers):
    """The middle of several processes, since each opens the space but once."""
    each = [once(bench, peers, "opening")["local"] for _ in range(1 if bench.options.smoke else OPENINGS)]
    return {"local": {figure: {"p50": statistics.median(one[figure]["p50"] for one in each)} for figure in each[0]}}


def counts(bench, peers):
    del peers
    return {operation: {kind: {"p50": number} for kind, number in numbers.items()}
            for operation, numbers in calls.local_counts(bench).items()}


def receiver(bench, peers):
    """The times of one process, and the calls of a claim and a release."""
    found = once(bench, peers, "receiver")
    for way, counted in calls.pairs(calls.trace_calls(bench)).items():
        found.setdefault(way, {}).update({kind: {"p50": number} for kind, number in counted.items()})
    return found


def groups_of(bench):
    names = run(bench.words("local_bench")).split() + ["counts"]
    wanted = bench.options.only
    if wanted and set(wanted) - set(names):
        raise Failed(f"--only knows {', '.join(names)}")
    return [name for name in names if not wanted or name in wanted]


def measure(bench, peers, group):
    special = {"opening": opened, "counts": counts, "receiver": receiver}
    return special[group](bench, peers) if group in special else once(bench, peers, group)


def measure_all(bench, peers, rounds):
    """{group: [what each round found]}. Each round measures every group once, in an order of its own; within a group the
    ways take turns."""
    groups = groups_of(bench)
    order = random.Random(1)
    found = {}
    for turn in range(rounds):
        order.shuffle(groups)
        for group in groups:
            note(f"round {turn + 1} of {rounds}: {group}")
            found.setdefault(group, []).append(measure(bench, peers, group))
    return found


# ---- judging ------------------------------------------------------------------------------------------------------


def values(found, at, scale):
    """One a round; none where the way was not measured."""
    rounds = [round_[at.way][at.figure][at.of] for round_ in found.get(at.group, [])
              if at.figure in round_.get(at.way, {}) and at.of in round_[at.way][at.figure]]
    return [value * scale for value in rounds]


def judged(line, found):
    """The line with its figures, or None where ours was not measured."""
    ours = values(found, line.ours, line.scale)
    if not ours:
        return None
    row = {"line": line.title, "unit": line.unit, "tenure": spread(ours), "rounds": ours, "bound": line.bound,
           "at_least": line.at_least, "peer": line.peer.way if line.peer else None}
    deciding = row["tenure"]["median"]
    if line.peer:
        theirs = values(found, line.peer, line.scale)
        if not theirs:
            return {**row, "skipped": True}
        row["theirs"], row["their_rounds"] = spread(theirs), theirs
        if min(theirs) <= 0:
            return row
        each = [a / b for a, b in zip(ours, theirs)]
        deciding = statistics.median(ours) / statistics.median(theirs)
        row["ratio"] = {**spread(each), "median": deciding}
    if line.bound is not None:
        row["holds"] = deciding >= line.bound if line.at_least else deciding <= line.bound
    return row


def peer_words(row):
    name = {"tenure": "files", None: ""}.get(row["peer"], row["peer"])
    return f"{name}: {short(row['theirs']['median'])}" if "theirs" in row else name


def bound_words(row):
    if row["bound"] is None:
        return ""
    return f"{'≥' if row['at_least'] else '≤'} {row['bound']:,g}" + (" ×" if row["peer"] else "")


def promises_table(rows):
    cells, before = [], None
    for row in rows:
        ours = f"{short(row['tenure']['median'])} {row['unit']}".rstrip()
        ratio = row.get("ratio")
        holds = "not measured" if row.get("skipped") else {True: "yes", False: "**NO**", None: ""}[row.get("holds")]
        cells.append([row["line"] if row["line"] != before else "", ours, span(row["tenure"]), peer_words(row),
                      f"{short(ratio['median'])} ×" if ratio else "", span(ratio) if ratio else "", bound_words(row), holds])
        before = row["line"]
    return table(["what", "tenure", "min–max", "beside", "tenure ÷ it", "min–max", "must be", "holds"], cells, (0, 3, 6, 7))


def method_words(options, skipped):
    text = (f"Method: {options.rounds} rounds; in each every group once, in shuffled order, in a process of its own, "
            "and within it tenure and its peers in short turns one after the other. A figure is the median of the rounds "
            "(of their medians, where nothing else is said); a ratio is that of the medians, its min–max that of the "
            "rounds one by one.")
    return text + "".join(f"\nNot measured: {each}." for each in skipped)


def report(bench):
    options = bench.options
    was = machine.machine(bench.folder)
    with servers.Peers(bench) as peers:
        for each in peers.skipped:
            note(f"NOT MEASURED: {each}")
        found = measure_all(bench, peers, options.rounds)
        skipped = peers.skipped
    skipped += [f"{line.title} (too little memory)" for line in lines()
                if line.ours.group in found and not values(found, line.ours, 1)]
    rows = [row for row in (judged(line, found) for line in lines()) if row]
    was["load_average"] = [f"before {was['load_average'][0]}", f"after {machine.load_average()}"]
    method = method_words(options, skipped)
    failing = [row for row in rows if row.get("holds") is False]
    held = sum(row.get("holds") is True for row in rows)
    verdict = f"{held} of {held + len(failing)} bounds hold in this run."
    emit(options, f"{promises_table(rows)}\n\n{verdict}\n\n{machine.machine_words(was)}\n\n{method}",
         {"machine": was, "method": method, "skipped": skipped, "lines": rows})
    return 0


def smoke(bench):
    """Each group once, as briefly as can be; whether all lines have figures."""
    with servers.Peers(bench) as peers:
        found = {group: [measure(bench, peers, group)] for group in groups_of(bench)}
        missing = {name for name in ("redis", "postgres", "filelock", "sqlite") if any(name in each for each in peers.skipped)}
    rows = [judged(line, found) for line in lines()]
    for line, row in zip(lines(), rows):
        if row is None or (row.get("skipped") and line.peer.way not in missing):
            raise Failed(f"no figures for: {line}")
    promises_table(rows)
    return len(found)
