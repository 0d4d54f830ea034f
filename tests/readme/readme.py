#!/usr/bin/env python3
"""Executes the console blocks of documents: readme.py PROGRAM DOCUMENT…

In a block that begins with ```console, a line that begins with "$ " is a command (lines with "> " carry it on), and the
lines up to the next command are what it prints, on both streams. "…" stands for any text within a line; a line of "…"
alone for any number of lines. The commands of one document run one after the other in one bash, in an empty folder that
is also the home, with the program on the PATH and as ./tenure. Blocks of other kinds are not executed.

Prints the difference and ends with 1 when a document does not say what happens.
"""

import difflib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

SECONDS = 120  # for a whole document


class Command:
    def __init__(self, line, text):
        self.line = line
        self.text = text
        self.expected = []


def commands(document):
    """The commands of a document's console blocks, each with what it is expected to print."""
    found, inside = [], False
    for number, line in enumerate(document.splitlines(), 1):
        if line.startswith("```"):
            inside = not inside and line.strip() == "```console"
            fresh = True
        elif inside and line.startswith("$ "):
            found.append(Command(number, line[2:]))
            fresh = False
        elif inside and line.startswith("> ") and not fresh and not found[-1].expected:
            found[-1].text += "\n" + line[2:]
        elif inside:
            if fresh:
                raise ValueError(f"line {number}: output before the first command of a block")
            found[-1].expected.append(line.rstrip())
    return found


def matches(expected, printed):
    """Whether the printed lines are what the expected ones say."""
    pattern = ""
    for line in expected:
        if line == "…":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += "[^\n]*?".join(re.escape(part) for part in line.split("…")) + r"[ \t]*\n"
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None


def environment(program, home):
    kept = {name: os.environ[name] for name in ("LANG", "ASAN_OPTIONS", "UBSAN_OPTIONS") if name in os.environ}
    folder = pathlib.Path(home, ".programs")
    folder.mkdir()
    folder.joinpath("tenure").symlink_to(program)
    pathlib.Path(home, "tenure").symlink_to(program)
    return kept | {"HOME": home, "TENURE_HOME": str(pathlib.Path(home, ".state")), "TERM": "dumb",
                   "PATH": f"{folder}:/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}


def end_group(shell):
    """Ends the shell, if it still runs, and what it left running in the background."""
    try:
        os.killpg(shell.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    shell.wait()


def perform(program, found):
    """Runs the commands and returns the lines that each printed."""
    mark = "\x1e"
    script = "".join(f"printf '{mark}'\n{command.text}\n" for command in found)
    with tempfile.TemporaryDirectory(prefix="tenure-readme-") as home, tempfile.TemporaryFile("w+") as output:
        shell = subprocess.Popen(["bash", "-c", script], cwd=home, env=environment(program, home),
                                 stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True)
        late = ""
        try:
            shell.wait(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            late = f"\n(not at its end after {SECONDS} s)\n"
        end_group(shell)
        output.seek(0)
        printed = output.read() + late
    outputs = printed.split(mark)[1:]
    outputs += [""] * (len(found) - len(outputs))
    return [[line.rstrip() for line in output.splitlines()] for output in outputs]


def check(program, path):
    """The differences of one document, as text; empty when there is none."""
    found = commands(path.read_text(encoding="utf-8"))
    if not found:
        return f"{path}: no console block with a command\n"
    differences = ""
    for command, printed in zip(found, perform(program, found)):
        while command.expected and command.expected[-1] == "":
            command.expected.pop()
        while printed and printed[-1] == "":
            printed.pop()
        if not matches(command.expected, printed):
            difference = difflib.unified_diff(command.expected, printed, "said", "printed", lineterm="")
            differences += f"{path}:{command.line}: $ {command.text}\n" + "\n".join(difference) + "\n"
    return differences


def main(arguments):
    program = pathlib.Path(arguments[1]).resolve()
    differences = "".join(check(program, pathlib.Path(path)) for path in arguments[2:])
    print(differences or "the documents say what happens")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
