"""Programs of the benchmarks: built, run, and the one folder that they measure in."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent.parent
ROOT = HERE.parent
PROGRAM_TIMEOUT_SECONDS = 900
PROGRAMS = ("files_bench", "files_calls", "local_bench", "local_calls", "tenure")


class Failed(Exception):
    pass


def run(words, **more):
    """Runs a program in a process group of its own, so that nothing of it is left behind."""
    words = [str(word) for word in words]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True, **more) as process:
        try:
            output, _ = process.communicate(timeout=PROGRAM_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise Failed(f"{words[0]} did not end within {PROGRAM_TIMEOUT_SECONDS} s: {' '.join(words)}") from None
        except BaseException:  # interrupted
            os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode != 0:
        note(output.rstrip())
        raise Failed(f"{' '.join(words)} ended with {process.returncode}")
    return output


def note(text):
    print(text, file=sys.stderr, flush=True)


def build():
    note("building build/bench")
    run(["cmake", "--preset", "bench"], cwd=ROOT)
    run(["cmake", "--build", "--preset", "bench", "--target", "bench_programs"], cwd=ROOT)
    return ROOT / "build" / "bench"


class Bench:
    """The programs of a build folder, and a new folder on the file system that is measured."""

    def __init__(self, options, build_folder):
        self.options = options
        self.programs = build_folder / "bin"
        for name in PROGRAMS:
            if not (self.programs / name).exists():
                raise Failed(f"{self.programs / name} is missing; build the target bench_programs in {build_folder}")
        self.folder = tempfile.mkdtemp(prefix="tenure-bench-", dir=options.folder or build_folder)

    def close(self):
        shutil.rmtree(self.folder)

    def words(self, program, *more):
        return [self.programs / program, f"--folder={self.folder}", *more]
