"""The files engine beside its peers: bench/files_bench, round after round."""

import json
import random
import statistics
from dataclasses import dataclass

from . import machine
from .running import Failed, note, run
from .table import emit, short, spread, table


@dataclass(frozen=True)
class Figure:
    """One line of the table: which field of which benchmark, and its unit."""

    group: str
    field: str
    unit: str
    title: str
    ours: str
    peers: tuple
    more_is_better: bool = False


def figures():
    found = [
        Figure("claim_release", "real_time", "us", "claim and release, nobody else", "tenure",
               ("flock-synced", "o_excl-synced", "agentmux", "o_excl", "flock-open-close", "flock")),
        Figure("verify", "real_time", "us", "verify", "tenure", ("agentmux", "file-read")),
        Figure("renew", "real_time", "us", "renew", "tenure", ("agentmux", "file-rewrite")),
    ]
    waiting = ("flock-synced", "agentmux", "flock")
    for processes in ("2", "8"):
        group, among = f"handoff-{processes}", f"{processes} processes, one key, no hold"
        for field, unit, title in (("handoffs_per_second", "/s", "hand-offs"), ("grants_per_second", "/s", "grants"),
                                   ("jain_index", "", "Jain index of the grants")):
            found.append(Figure(group, field, unit, f"{title}: {among}", "tenure", waiting, more_is_better=True))
    for percentile in ("p50", "p99"):
        found.append(Figure("takeover", f"{percentile}_us", "us", f"takeover after SIGKILL, {percentile}", "tenure",
                            ("flock-synced", "flock")))
    found.append(Figure("process", "real_time", "us", "whole process: run … -- true", "tenure", ("flock", "true")))
    return found


def words(bench, *more):
    options = bench.options
    return bench.words("files_bench", f"--program={bench.programs / 'tenure'}",
                       f"--handoff_seconds={options.handoff_seconds}", f"--takeovers={options.takeovers}", *more)


def names_of(bench):
    return run(words(bench, "--benchmark_list_tests=true")).split()


def measure(bench, name):
    """One benchmark, in a fresh process."""
    output = run(words(bench, f"--benchmark_filter=^{name}$", "--benchmark_format=json",
                       f"--benchmark_min_time={bench.options.min_time}"))
    entries = json.loads(output)["benchmarks"]
    if len(entries) != 1 or entries[0].get("error_occurred"):
        raise Failed(f"{name}: {entries}")
    entry = entries[0]
    assert entry["time_unit"] == "ns", entry
    entry["real_time"] /= 1000
    return entry


def measure_all(bench, rounds):
    """{(group, way): [entry of each round]}. Each round runs every benchmark once, in an order of its own."""
    names = names_of(bench)
    order = random.Random(1)
    found = {}
    for turn in range(rounds):
        order.shuffle(names)
        for name in names:
            group, way = name.split("/")[:2]
            note(f"round {turn + 1} of {rounds}: {group} {way}")
            found.setdefault((group, way), []).append(measure(bench, name))
    return found


def summarize(measured):
    """One row a figure and way. A ratio is ours to the peer's: of the medians, and the least and most of any round."""
    rows = []
    for figure in figures():
        ours = [entry[figure.field] for entry in measured[figure.group, figure.ours]]
        rows.append({"figure": figure.title, "unit": figure.unit, "way": figure.ours, **spread(ours),
                     "more_is_better": figure.more_is_better, "rounds": ours})
        for peer in figure.peers:
            theirs = [entry[figure.field] for entry in measured[figure.group, peer]]
            row = {"figure": figure.title, "unit": figure.unit, "way": peer, **spread(theirs),
                   "more_is_better": figure.more_is_better, "rounds": theirs}
            if all(value > 0 for value in theirs):
                each = [a / b for a, b in zip(ours, theirs)]
                row["ratio"] = {**spread(each), "median": statistics.median(ours) / statistics.median(theirs)}
            rows.append(row)
    return rows


def times_table(rows):
    lines, figure = [], None
    for row in rows:
        if row["figure"] != figure:
            figure = row["figure"]
            better = ", more is better" if row["more_is_better"] else ""
            unit = row["unit"].replace("us", "µs")
            lines.append([f"**{figure}** ({unit or '1 is even'}{better})", "", "", "", ""])
        ratio = row.get("ratio")
        lines.append([row["way"], short(row["median"]), f"{short(row['min'])}–{short(row['max'])}",
                      short(ratio["median"]) if ratio else "", f"{short(ratio['min'])}–{short(ratio['max'])}"
                      if ratio else ""])
    return table(["what", "median", "min–max", "tenure ÷ it", "min–max"], lines)


def method_words(options):
    return (f"Method: {options.rounds} rounds; in each every benchmark once, in shuffled order, in a process of its "
            f"own for at least {options.min_time} s (hand-off: {options.handoff_seconds} s; takeover: "
            f"{options.takeovers} deaths). A figure is the median of the rounds; a ratio is that of the medians, its "
            "min–max that of the rounds one by one.")


def report(bench, options):
    was = machine.machine(bench.folder)
    rows = summarize(measure_all(bench, options.rounds))
    was["load_average"] = [f"before {was['load_average'][0]}", f"after {machine.load_average()}"]
    method = method_words(options)
    emit(options, f"{times_table(rows)}\n\n{machine.machine_words(was)}\n{method}",
         {"machine": was, "method": method, "figures": rows})
    return 0


def smoke(bench):
    """Each benchmark once, as briefly as can be."""
    names = names_of(bench)
    expected = {(figure.group, way) for figure in figures() for way in (figure.ours, *figure.peers)}
    measured = {tuple(name.split("/")[:2]): [measure(bench, name)] for name in names}
    if set(measured) != expected:
        raise Failed(f"benchmarks and figures differ: {set(measured) ^ expected}")
    summarize(measured)
    return len(names)
