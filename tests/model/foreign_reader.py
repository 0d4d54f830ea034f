"""Reads a lease record with Python's json module, as a program would that knows nothing of ours.

Usage: foreign_reader.py < record. Prints what it found; ends with 1 when a field is missing or of another type.
"""

import json
import sys

U32, U64, I64 = (0, 2**32 - 1), (0, 2**64 - 1), (-(2**63), 2**63 - 1)
FIELDS = [
    ("instance_id", str, None),
    ("owner_boot_id", str, None),
    ("block_id", str, None),
    ("session_id", (str, type(None)), None),
    ("pid", int, U32),
    ("acquired_at_ms", int, I64),
    ("renewed_at_ms", int, I64),
    ("epoch", int, U64),
    ("hostname", str, None),
    ("pid_start_s", int, U64),
    ("channel", str, None),
    ("version", str, None),
    ("claim_id", str, None),
]


def refuse_twice(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        sys.exit("a key stands twice")
    return dict(pairs)


def main():
    text = sys.stdin.buffer.read().decode("utf-8", errors="strict")
    record = json.loads(text, object_pairs_hook=refuse_twice)
    names = [name for name, _, _ in FIELDS]
    if list(record)[: len(names)] != names:
        sys.exit(f"other fields, or in another order: {list(record)}")
    for name, kind, limits in FIELDS:
        value = record[name]
        if not isinstance(value, kind) or isinstance(value, bool):
            sys.exit(f"{name} is a {type(value).__name__}")
        if limits and not limits[0] <= value <= limits[1]:
            sys.exit(f"{name} is out of range: {value}")
    if set(record) - set(names) - {"tenure"}:
        sys.exit(f"unknown fields: {sorted(set(record) - set(names))}")
    if json.dumps(record, indent=2, ensure_ascii=False) + "\n" != text:
        sys.exit("not two-space JSON and a newline")
    print(" ".join(f"{name}={record[name]!r}" for name in ("instance_id", "session_id", "pid", "epoch")))


main()
