#!/usr/bin/env python3
"""Shows that the rules bite: a small clean tree passes, and each breach put into it is found, by file and line."""

import pathlib
import tempfile
import unittest

import floors

RULES = r"""
[floor.public]
path = "include/tenure"
may_include = []
[floor.base]
path = "src/base"
may_include = ["public"]
[floor.engine]
path = "src/engine"
may_include = ["public", "base"]
[floor.one]
path = "src/engine/one"
may_include = ["public", "base", "engine"]
[floor.two]
path = "src/engine/two"
may_include = ["public", "base", "engine"]
tests_may_include = ["one"]
[[banned]]
name = "system headers"
pattern = '#\s*include\s*<unistd\.h>'
instead = "ask a port"
in = ["include", "src"]
except = ["src/base/stop.cc"]
[[banned]]
name = "exit"
pattern = '\bexit\s*\('
instead = "return"
in = ["include", "src"]
[[banned]]
name = "sleep in a test"
pattern = '\bsleep_for\b'
instead = "wait for the event"
tests = true
in = ["src", "tests"]
[notes]
pattern = '\bTODO\b'
in = ["src"]
count = 0
"""

CLEAN = {
    "tools/floors.toml": RULES,
    "include/tenure/key.h": "#pragma once\n",
    "src/base/text.h": '#pragma once\n#include "tenure/key.h"\n',
    "src/base/stop.cc": "#include <unistd.h>\n",
    "src/engine/engine.h": '#pragma once\n#include "base/text.h"\n',
    "src/engine/one/one.h": '#pragma once\n#include "engine/engine.h"\n// exit() is not called, nor "exit("\n',
    "src/engine/two/two.cc": 'const char* word = "exit(1)"; const char* raw = R"(\nexit(1)\n)"; int n = 1\'000;\n',
    "src/engine/two/two_test.cc": '#include "engine/one/one.h"\n#include "fakes/disk.h"\nvoid f() { exit(1); }\n',
    "tests/fakes/disk.h": "#pragma once\n",
    "docs/page.md": "See [the key](../include/tenure/key.h) and `src/base/{text.h,stop.cc}`, `src/*/*/one.h`, `a/b`.\n",
    "README.md": "# A long Heading, with `code`!\n[up](#a-long-heading-with-code) [out](https://example.org/x)\n",
}

# What is put into the clean tree, and the one line that must come of it.
BREACHES = {
    "upwards": ({"src/base/up.h": '\n#include "engine/engine.h"\n'}, "src/base/up.h:2: floor base may not include"),
    "beside": ({"src/engine/one/b.cc": '#include "engine/two/x.h"\n', "src/engine/two/x.h": ""},
               "src/engine/one/b.cc:1: floor one may not include src/engine/two/x.h of floor two"),
    "by a relative name": ({"src/engine/one/b.cc": '#include "../two/x.h"\n', "src/engine/two/x.h": ""},
                           "src/engine/one/b.cc:1: floor one may not include"),
    "test beyond its leave": ({"src/engine/one/b_test.cc": '#include "engine/two/x.h"\n', "src/engine/two/x.h": ""},
                              "src/engine/one/b_test.cc:1: floor one may not include"),
    "library on a fake": ({"src/base/b.cc": '#include "fakes/disk.h"\n'}, "src/base/b.cc:1: floor base may not include"),
    "no floor": ({"src/attic/a.cc": "int a;\n"}, "src/attic/a.cc:1: belongs to no floor"),
    "cycle": ({"src/base/a.h": '#include "base/b.h"\n', "src/base/b.h": '#include "base/a.h"\n'},
              "src/base/a.h:1: include cycle: src/base/a.h -> src/base/b.h -> src/base/a.h"),
    "banned header": ({"src/base/a.cc": "#include  <unistd.h>\n"}, "src/base/a.cc:1: system headers: ask a port"),
    "banned call": ({"src/base/a.cc": '/* a\n*/ const char* s = "\\"";\nvoid f() { exit (1); }\n'},
                    "src/base/a.cc:3: exit: return"),
    "idle exception": ({"src/base/stop.cc": "int a;\n"}, "tools/floors.toml: banned “system headers”: the exception"),
    "sleep in a test": ({"tests/a.cc": "x.sleep_for(y);\n"}, "tests/a.cc:1: sleep in a test: wait for the event"),
    "sleep in a unit test": ({"src/base/a_test.cc": "sleep_for(y);\n"}, "src/base/a_test.cc:1: sleep in a test"),
    "more notes": ({"src/base/a.cc": "// TODO later\n"}, "1 notes of things left undone, 0 allowed"),
    "dead link": ({"docs/a.md": "\n[x](../src/gone.h)\n"}, "docs/a.md:2: link to ../src/gone.h"),
    "dead anchor": ({"docs/a.md": "[x](../README.md#gone)\n"}, "docs/a.md:1: link to ../README.md#gone: no heading"),
    "link out of the tree": ({"docs/a.md": "[x](../../etc)\n"}, "docs/a.md:1: link to ../../etc"),
    "dead path": ({"docs/a.md": "`src/base/gone.h`\n"}, "docs/a.md:1: `src/base/gone.h`: there is no such path"),
    "dead path in braces": ({"docs/a.md": "`src/base/{text,gone}.h`\n"}, "docs/a.md:1: `src/base/gone.h`"),
    "dead pattern": ({"docs/a.md": "`src/*/gone*.h`\n"}, "docs/a.md:1: `src/*/gone*.h`"),
}


def grow(root, files):
    for name, text in files.items():
        path = pathlib.Path(root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


class FloorsTest(unittest.TestCase):
    def found_in(self, files):
        with tempfile.TemporaryDirectory() as root:
            grow(root, files)
            return list(floors.breaches(root))

    def test_clean_tree_passes(self):
        self.assertEqual([], self.found_in(CLEAN))

    def test_each_breach_is_found(self):
        for name, (files, expected) in BREACHES.items():
            with self.subTest(name):
                found = self.found_in(CLEAN | files)
                self.assertTrue(any(line.startswith(expected) for line in found), f"wanted {expected}\nfound {found}")
                # The breach alone: a rule that fires at everything would find it, too.
                self.assertLessEqual(len(found), 2, found)

    def test_empty_floor_is_found(self):
        files = {name: text for name, text in CLEAN.items() if "two" not in name}
        self.assertEqual(["tools/floors.toml: floor two: no code under src/engine/two"], self.found_in(files))

    def test_notes_must_be_counted_truly(self):
        rules = RULES.replace("count = 0", "count = 2")
        found = self.found_in(CLEAN | {"tools/floors.toml": rules, "src/base/a.cc": "// TODO later\n"})
        self.assertEqual(["tools/floors.toml: notes.count is 2, but only 1 are left: lower it"], found)


if __name__ == "__main__":
    unittest.main()
