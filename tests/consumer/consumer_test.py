#!/usr/bin/env python3
"""Installs a built tenure into a folder of its own and uses it from outside: consumer_test.py BUILD COMPILER.

Once with find_package, once with pkg-config, after the installed tree was moved; then looks at what was installed and
which symbols the library shows.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
BUILD, COMPILER = sys.argv[1], sys.argv[2]
EXPECTED = "held: deploy\nagain: held_by_part\nreleased: 1\nhigher: 1\n"


def run(*command, **environment):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300,
                          env=os.environ | environment)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class ConsumerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="tenure-consumer-"))
        run("cmake", "--install", BUILD, "--prefix", cls.folder / "first")
        cls.prefix = cls.folder / "moved"
        (cls.folder / "first").rename(cls.prefix)
        cls.library = next(cls.prefix.rglob("libtenure.so")).parent

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_find_package(self):
        build = self.folder / "project"
        run("cmake", "-S", HERE / "project", "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_CXX_COMPILER={COMPILER}")
        run("cmake", "--build", build)
        self.assertEqual(EXPECTED, run(build / "consumer"))

    def test_pkg_config(self):
        program = self.folder / "by_pkg_config"
        flags = run("pkg-config", "--cflags", "--libs", "tenure", PKG_CONFIG_PATH=str(self.library / "pkgconfig"))
        run(COMPILER, "-std=c++2b", HERE / "project" / "main.cc", "-o", program, *flags.split())
        self.assertEqual(EXPECTED, run(program, LD_LIBRARY_PATH=str(self.library)))

    def test_what_is_installed(self):
        root = HERE.parents[1] / "include"
        promised = {path.relative_to(root) for path in root.rglob("*") if path.suffix in {".h", ".def"}}
        headers = {path.relative_to(self.prefix / "include") for path in (self.prefix / "include").rglob("*.*")}
        self.assertEqual(promised, headers)
        self.assertTrue((self.prefix / "bin" / "tenure").is_file())

    def test_the_library_shows_its_own_names_alone(self):
        shown = run("nm", "--dynamic", "--defined-only", "--demangle", self.library / "libtenure.so")
        names = [line.split(maxsplit=2)[2] for line in shown.splitlines()]
        self.assertTrue(any(name.startswith("tenure::Space::open(") for name in names), shown)
        foreign = [name for name in names if "tenure::" not in name.split("(")[0]]
        self.assertEqual([], foreign)

    def test_the_library_needs_no_other_than_the_compilers(self):
        needed = run("readelf", "--dynamic", self.library / "libtenure.so")
        needed = {line.split("[")[1].split(".so")[0] for line in needed.splitlines() if "(NEEDED)" in line}
        self.assertLessEqual(needed, {"libstdc++", "libgcc_s", "libc", "libm", "ld-linux-x86-64", "ld-linux-aarch64"})
        self.assertIn("libstdc++", needed)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
