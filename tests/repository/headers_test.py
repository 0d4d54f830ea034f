#!/usr/bin/env python3
"""Each public header compiles alone, twice over, without a warning: headers_test.py COMPILER."""

import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILER = "c++"
FLAGS = ["-std=c++2b", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]


def compile_alone(text, include=ROOT / "include"):
    command = [COMPILER, *FLAGS, f"-I{include}", "-x", "c++", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)


class HeadersTest(unittest.TestCase):
    def test_each_header_compiles_alone(self):
        headers = sorted((ROOT / "include").rglob("*.h"))
        self.assertTrue(headers)
        for header in headers:
            name = header.relative_to(ROOT / "include")
            with self.subTest(str(name)):
                done = compile_alone(f'#include "{name}"\n#include "{name}"\n')
                self.assertEqual(0, done.returncode, done.stderr)

    def test_a_header_that_leans_on_another_is_found(self):
        done = compile_alone("inline std::string text();\n")
        self.assertNotEqual(0, done.returncode)


if __name__ == "__main__":
    COMPILER = sys.argv.pop(1) if len(sys.argv) > 1 else COMPILER
    unittest.main()
