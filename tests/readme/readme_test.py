#!/usr/bin/env python3
"""Shows that the runner of the console blocks tells right from wrong."""

import pathlib
import tempfile
import time
import unittest

import readme

PROGRAM = "#!/bin/sh\necho \"tenure got $*\"\n"

RIGHT = """
# Page
```console
$ tenure one
tenure got one
$ ./tenure two && echo done >&2
tenure got …
done
$ true
```
```sh
$ exit 1
```
```console
$ for word in a b c
> do echo $word; done
a
…
$ seq 5; echo 'a+b (c)'
1
…
5
a+b (c)
$ pwd | grep -c "^$HOME$"; ls; echo 1 > here

1
tenure
```
""".replace("\n\n1\n", "\n1\n")


class ReadmeTest(unittest.TestCase):
    def differences(self, text):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "program")
            program.write_text(PROGRAM)
            program.chmod(0o755)
            page = pathlib.Path(folder, "page.md")
            page.write_text(text, encoding="utf-8")
            return readme.check(program, page)

    def test_a_true_page_passes(self):
        self.assertEqual("", self.differences(RIGHT))

    def test_each_untruth_is_shown(self):
        for was, now in {"got one": "got on", "…\ndone": "…", "$ true": "$ true\nx", "\n5\n": "\n6\n",
                         "a\n…\n": "a\nb\n", "(c)\n$": "(c)\nmore\n$"}.items():
            with self.subTest(now):
                self.assertIn(was, RIGHT)
                self.assertIn("page.md:", self.differences(RIGHT.replace(was, now, 1)))

    def test_what_runs_on_in_the_background_is_ended(self):
        began = time.monotonic()
        self.assertEqual("", self.differences("```console\n$ sleep 1000 & echo on\non\n```\n"))
        self.assertLess(time.monotonic() - began, readme.SECONDS)

    def test_a_shell_that_ends_early_is_shown(self):
        self.assertIn("page.md:3", self.differences("```console\n$ exit 0\n$ echo there\nthere\n```\n"))

    def test_a_page_without_commands_is_refused(self):
        self.assertIn("no console block", self.differences("```sh\n$ ls\n```\n"))


if __name__ == "__main__":
    unittest.main()
