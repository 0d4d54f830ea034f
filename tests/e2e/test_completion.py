"""Completions and manual pages say what the program's own tables say."""

import os
import re
import shutil
import subprocess

from e2e import BOUND, Case, PROGRAM, main

# Completes the line that it is given, as readline would call it.
DRIVER = r"""
source "$1"
COMP_LINE=$2 COMP_POINT=${#2} COMP_WORDS=() COMP_CWORD=$3
shift 3
COMP_WORDS=("$@")
_tenure
printf '%s\n' "${COMPREPLY[@]}"
"""


def taken_apart(line):
    """The words as bash has them: also at ":" and "="."""
    words = re.findall(r"[:=]+|(?:\\.|[^\s:=\\])+", line)
    return words + [""] if re.search(r"(?<!\\) $", line) else words


class Tables(Case):
    def commands(self):
        return re.findall(r"^  ([a-z]+) +\S", self.tenure("--help", check=0).stdout, re.M)

    def options(self, command):
        return re.findall(r"^  (--[a-z-]+)", self.tenure(command, "--help", check=0).stdout, re.M)


class Bash(Tables):
    def setUp(self):
        super().setUp()
        self.script = self.path("tenure.bash")
        with open(self.script, "w", encoding="utf-8") as file:
            file.write(self.tenure("completion", "bash", check=0).stdout)

    def offers(self, line, cwd=None):
        words = taken_apart(line)
        done = subprocess.run(["bash", "--norc", "--noprofile", "-c", DRIVER, "bash", self.script, line,
                               str(len(words) - 1), *words], env=self.env, cwd=cwd or self.folder, text=True,
                              capture_output=True, timeout=BOUND, stdin=subprocess.DEVNULL)
        self.assertEqual(done.stderr, "")
        return sorted(filter(None, done.stdout.split("\n")))

    def test_commands(self):
        self.assertEqual(self.offers("tenure "), sorted(self.commands() + ["--help", "--version"]))
        self.assertEqual(self.offers("tenure rel"), ["release"])
        self.assertEqual(self.offers("tenure manual rel"), ["release"])
        self.assertEqual(self.offers("tenure nothing x"), [])

    def test_options_of_every_command(self):
        for command in self.commands():
            self.assertEqual(self.offers(f"tenure {command} --"), sorted(self.options(command)), command)
        self.assertEqual(self.offers("tenure run k --on-"), ["--on-ask", "--on-lost"])

    def test_values(self):
        self.assertEqual(self.offers("tenure run k --until "), ["main", "tree"])
        self.assertEqual(self.offers("tenure run --until=t"), ["tree"])
        self.assertEqual(self.offers("tenure run k --reason "), [])
        self.assertEqual(self.offers("tenure who --space fi"), ["files:"])
        self.assertEqual(self.offers("tenure space p"), ["purge"])
        self.assertEqual(self.offers("tenure completion "), ["bash", "fish", "zsh"])
        open(self.path("some-handle"), "w", encoding="utf-8").close()
        self.assertEqual(self.offers("tenure verify --handle-file some"), ["some-handle"])

    def test_held_keys(self):
        for key in ("deploy/web", "deploy/db", "port:80", "two words"):
            self.holder(key, "--reason", 'says "key":"none"')
        self.assertEqual(self.offers("tenure who "), ["deploy/db", "deploy/web", "port:80", "two\\ words"])
        self.assertEqual(self.offers("tenure who deploy/w"), ["deploy/web"])
        self.assertEqual(self.offers("tenure ls dep"), ["deploy/db", "deploy/web"])
        self.assertEqual(self.offers("tenure run deploy/db dep"), ["deploy/db", "deploy/web"])
        self.assertEqual(self.offers("tenure revoke --force --reason x port:8"), ["80"])
        self.assertEqual(self.offers("tenure who --json two\\ "), ["two\\ words"])
        self.assertEqual(self.offers("tenure who deploy/db "), [])

    def test_keys_of_the_space_that_the_line_names(self):
        self.holder("here")
        self.holder("there", "--space", "local:other")
        self.assertEqual(self.offers("tenure who --space local:other "), ["there"])
        self.assertEqual(self.offers("tenure who --space=local:other t"), ["there"])
        self.assertEqual(self.offers("tenure who --space files:/nowhere "), [])

    def test_after_the_dashes_of_run(self):
        self.holder("key")
        self.assertIn("cat", self.offers("tenure run k -- ca"))
        open(self.path("some-file"), "w", encoding="utf-8").close()
        self.assertEqual(self.offers("tenure run k -- cat some"), ["some-file"])


class OtherShells(Tables):
    def test_they_parse_and_name_every_option(self):
        for shell, dashes in (("zsh", "--"), ("fish", "-l ")):
            script = self.tenure("completion", shell, check=0).stdout
            for command in self.commands():
                for option in self.options(command):
                    self.assertIn(dashes + option[2:], script)
            path = self.path("script")
            with open(path, "w", encoding="utf-8") as file:
                file.write(script)
            if shutil.which(shell):
                done = subprocess.run([shell, "-n", path], capture_output=True, text=True, timeout=BOUND, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_fish_completes(self):
        if not shutil.which("fish"):
            self.skipTest("there is no fish")
        self.holder("deploy")
        path = self.path("tenure.fish")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.tenure("completion", "fish", check=0).stdout)

        def offers(line):
            done = subprocess.run(["fish", "--no-config", "-c", f"source {path}; complete -C '{line}'"], text=True,
                                  env={**self.env, "HOME": self.folder}, capture_output=True, timeout=BOUND, check=True)
            return [each.split("\t")[0] for each in done.stdout.splitlines()]

        self.assertEqual(offers("tenure rel"), ["release"])
        self.assertEqual(offers("tenure who "), ["deploy"])
        self.assertEqual(offers("tenure run k --on-"), ["--on-lost"])
        self.assertEqual(offers("tenure run k --until "), ["main", "tree"])
        self.assertIn("cat", offers("tenure run k -- ca"))

    def test_usage(self):
        self.tenure("completion", check=64)
        self.tenure("completion", "tcsh", check=64)
        self.tenure("manual", "nothing", check=64)


class Manual(Tables):
    def pages(self):
        return {name: self.tenure("manual", *([name] if name else []), check=0).stdout for name in ["", *self.commands()]}

    def plain(self, page):
        page = re.sub(r"\\f[BIR]", "", page.replace("\\-", "-").replace("\\(aq", "'").replace("\\e", "\\"))
        return re.sub(r"\\\[u([0-9A-F]{4,})\]", lambda found: chr(int(found.group(1), 16)), page)

    def test_each_page_says_what_the_help_says(self):
        for name, page in self.pages().items():
            self.assertRegex(page, r"\A\.TH TENURE")
            for line in page.splitlines():
                self.assertLessEqual(len(line), 80 if not line.startswith(".TH") else 120, line)
                self.assertRegex(line, r"\A(\.(TH|SH|TP|B|BR)\b|[^.'])", line)
            self.assertTrue(page.isascii(), name)
            flat = re.sub(r"\s+", " ", self.plain(page))
            for option in self.options(name) if name else self.commands():
                self.assertRegex(flat, rf"\.TP {re.escape(option)}\b")
            if name:
                self.assertIn(f".BR tenure-{name} (1)", self.plain(self.pages()[""]))
                usage = self.tenure(name, "--help", check=0).stdout.split("\n\n")[0].removeprefix("usage: tenure ")
                self.assertIn(re.sub(r"\s+", " ", usage), flat)

    def test_the_tools_that_are_here_find_no_fault(self):
        for name, page in self.pages().items():
            for words in (["mandoc", "-Tlint"], ["groff", "-man", "-Tutf8", "-ww"]):
                if not shutil.which(words[0]):
                    continue
                done = subprocess.run(words, input=page, capture_output=True, text=True, timeout=BOUND, check=False)
                told = done.stderr + (done.stdout if words[0] == "mandoc" else "")
                # A page without a date is the same whenever it is built.
                faults = [line for line in told.splitlines() if "missing date" not in line]
                self.assertEqual(faults, [], (name, words))
            if shutil.which("man") and not os.path.islink(shutil.which("man")):
                done = subprocess.run(["man", "-l", "-"], input=page, capture_output=True, text=True, timeout=BOUND,
                                      check=False, env={**self.env, "MANWIDTH": "80", "MANPAGER": "cat"})
                for line in done.stdout.splitlines():
                    self.assertLessEqual(len(line), 80, line)


if __name__ == "__main__":
    main()
