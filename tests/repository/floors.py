#!/usr/bin/env python3
"""The repository's own rules, read from tools/floors.toml and checked: floors.py [ROOT].

Prints one line a breach (file:line: what, and what to do instead) and ends with 1 when there is any.
"""

import os
import pathlib
import re
import sys
import tomllib

import cpp
import documents

CODE = {".h", ".cc", ".def"}
NEVER = {"build", ".git", ".cache", "__pycache__"}


class Tree:
    """The files below a root, and which of them are tests."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.files = sorted(
            path.relative_to(self.root)
            for path in self.root.rglob("*")
            if path.is_file() and not NEVER & set(path.relative_to(self.root).parts)
        )

    def below(self, folders, suffixes=None):
        for file in self.files:
            if suffixes and file.suffix not in suffixes:
                continue
            if any(within(file, folder) for folder in folders):
                yield file

    def text(self, file):
        return (self.root / file).read_text(encoding="utf-8", errors="replace")


def within(file, folder):
    folder = pathlib.PurePath(folder)
    return file == folder or folder in file.parents


def is_test(file):
    return file.parts[0] == "tests" or re.search(r"_test\.(h|cc)$", file.name) is not None


def floor_of(floors, file):
    """The floor with the longest path that the file lies under, or None."""
    found = [name for name, floor in floors.items() if within(file, floor["path"])]
    return max(found, key=lambda name: len(floors[name]["path"]), default=None)


def include_edges(tree):
    """(file, line, included file) for each #include that leads to a file of the tree."""
    known = set(tree.files)
    for file in tree.below(["include", "src"], CODE):
        for line, name in cpp.includes(tree.text(file)):
            for base in (file.parent, pathlib.PurePath("include"), pathlib.PurePath("src"), pathlib.PurePath("tests")):
                target = pathlib.PurePath(os.path.normpath(base / name))
                if target in known:
                    yield file, line, target
                    break


def check_floors(tree, floors):
    for name, floor in floors.items():
        if not any(True for _ in tree.below([floor["path"]], CODE)):
            yield f"tools/floors.toml: floor {name}: no code under {floor['path']}"
        for other in floor["may_include"] + floor.get("tests_may_include", []):
            if other not in floors:
                yield f"tools/floors.toml: floor {name} may include {other}, which is no floor"
    for file in tree.below(["include", "src"], CODE):
        if floor_of(floors, file) is None:
            yield f"{file}:1: belongs to no floor; name its folder in tools/floors.toml"
    for file, line, target in include_edges(tree):
        here, there = floor_of(floors, file), floor_of(floors, target)
        if here is None or here == there:
            continue
        allowed = set(floors[here]["may_include"])
        if is_test(file):
            allowed |= set(floors[here].get("tests_may_include", []))
            if target.parts[0] == "tests":
                continue
        if there not in allowed:
            yield f"{file}:{line}: floor {here} may not include {target} of floor {there}"


def check_cycles(tree):
    """A depth-first walk; each cycle is told once, at the file where the walk met it."""
    graph = {}
    for file, _, target in include_edges(tree):
        if not is_test(file):
            graph.setdefault(file, []).append(target)
    done, path = set(), []

    def walk(file):
        if file in path:
            cycle = path[path.index(file):] + [file]
            yield f"{file}:1: include cycle: {' -> '.join(map(str, cycle))}"
            return
        if file in done:
            return
        path.append(file)
        for target in graph.get(file, []):
            yield from walk(target)
        path.pop()
        done.add(file)

    for file in sorted(graph):
        yield from walk(file)


def check_banned(tree, rules):
    for rule in rules:
        pattern = re.compile(rule["pattern"])
        exceptions, used = rule.get("except", []), set()
        for file in tree.below(rule["in"], CODE):
            if is_test(file) != rule.get("tests", False):
                continue
            hits = [(line, text) for line, text in cpp.code_lines(tree.text(file)) if pattern.search(text)]
            excused = [path for path in exceptions if within(file, path)]
            if hits and excused:
                used.update(excused)
                continue
            for line, _ in hits:
                yield f"{file}:{line}: {rule['name']}: {rule['instead']}"
        for path in exceptions:
            if path not in used and pathlib.PurePath(path).suffix:
                yield f"tools/floors.toml: banned “{rule['name']}”: the exception {path} is not needed any more"


def check_notes(tree, notes):
    pattern = re.compile(notes["pattern"])
    found = []
    for file in tree.below(notes["in"]):
        if within(file, "tests/repository"):  # its self-test has to write such notes
            continue
        for number, text in enumerate(tree.text(file).splitlines(), 1):
            found += [f"{file}:{number}: {text.strip()}"] * len(pattern.findall(text))
    if len(found) > notes["count"]:
        yield f"{len(found)} notes of things left undone, {notes['count']} allowed:"
        yield from found
    elif len(found) < notes["count"]:
        yield f"tools/floors.toml: notes.count is {notes['count']}, but only {len(found)} are left: lower it"


def breaches(root):
    tree = Tree(root)
    rules = tomllib.loads(tree.text("tools/floors.toml"))
    yield from check_floors(tree, rules["floor"])
    yield from check_cycles(tree)
    yield from check_banned(tree, rules.get("banned", []))
    yield from check_notes(tree, rules["notes"])
    yield from documents.check(tree, rules.get("documents", {}).get("except", []))


def main(arguments):
    root = arguments[1] if len(arguments) > 1 else pathlib.Path(__file__).resolve().parents[2]
    found = list(breaches(root))
    for breach in found:
        print(breach)
    print(f"{len(found)} breaches of tools/floors.toml")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
