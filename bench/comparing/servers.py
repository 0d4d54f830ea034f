"""Peers that are not ours to build: Redis and PostgreSQL as servers of this run, filelock as a Python program."""

import glob
import json
import os
import pathlib
import pwd
import shutil
import subprocess
import sys
import tempfile
import time

from .running import HERE, Failed, run

START_SECONDS = 60
BRINGS = "bench/compare --install brings it"
FILELOCK_GROUPS = ("claim_release", "share")


def filelock_python():
    """An interpreter that knows filelock: this one, or that of the system's packages."""
    for python in dict.fromkeys((sys.executable, "/usr/bin/python3")):
        if os.path.exists(python) and subprocess.run([python, "-c", "import filelock"], capture_output=True,
                                                     check=False).returncode == 0:
            return python
    return None


def postgres_programs():
    """The folder that has them all."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True) + [os.path.dirname(shutil.which("initdb") or "")]
    needed = ("initdb", "postgres", "pg_isready")
    return next((folder for folder in found if folder and all(os.path.exists(f"{folder}/{name}") for name in needed)), None)


def await_file(path, process, what):
    for _ in range(START_SECONDS * 20):
        if os.path.exists(path):
            return
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise Failed(f"{what} did not start")


class Peers:
    """As a context: the servers that can be had run within it, and `skipped` says which cannot, and why."""

    def __init__(self, bench):
        self.skipped = []
        self.variables = {}
        self.processes = []
        self.built = run(["ldd", bench.programs / "local_bench"])
        # Sockets have short names.
        self.folder = tempfile.mkdtemp(prefix="tenure-bench-")
        self.python = filelock_python()

    def __enter__(self):
        try:
            self.start_redis()
            self.start_postgres()
        except BaseException:
            self.__exit__()
            raise
        if "sqlite" not in self.built:
            self.skipped.append(f"sqlite: built without it; {BRINGS}, then build again")
        if not self.python:
            self.skipped.append(f"filelock: no Python here has it; {BRINGS}")
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(START_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder)

    def environment(self):
        return {**os.environ, **self.variables}

    def start(self, words):
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(words, stdin=quiet, stdout=quiet, stderr=quiet, cwd=self.folder)
        self.processes.append(process)
        return process

    def start_redis(self):
        program = shutil.which("redis-server")
        if not program:
            self.skipped.append(f"redis: redis-server is not installed; {BRINGS}")
            return
        socket = f"{self.folder}/redis.sock"
        process = self.start([program, "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no"])
        await_file(socket, process, "redis-server")
        self.variables["TENURE_BENCH_REDIS"] = socket

    def start_postgres(self):
        programs = postgres_programs()
        if not programs or "libpq" not in self.built:
            why = "built without libpq" if programs else "not installed"
            self.skipped.append(f"postgres: {why}; {BRINGS}, then build again")
            return
        data, prefix = f"{self.folder}/postgres", []
        if os.geteuid() == 0:  # it refuses to run as root
            user = next(name for name in ("postgres", "nobody") if name in {one.pw_name for one in pwd.getpwall()})
            prefix = ["setpriv", f"--reuid={user}", f"--regid={pwd.getpwnam(user).pw_gid}", "--clear-groups"]
            os.mkdir(data)
            shutil.chown(data, user)
            os.chmod(self.folder, 0o711)
        run([*prefix, f"{programs}/initdb", "-D", data, "-U", "bench", "-A", "trust", "--no-sync"], cwd="/",
            stderr=subprocess.DEVNULL)
        process = self.start([*prefix, f"{programs}/postgres", "-D", data, "-c", "listen_addresses=", "-k", data,
                              "-c", "max_connections=150"])
        await_file(f"{data}/.s.PGSQL.5432", process, "postgres")
        words = f"host={data} user=bench dbname=postgres"
        for _ in range(START_SECONDS * 20):
            if subprocess.run([f"{programs}/pg_isready", "-q", "-d", words], check=False).returncode == 0:
                break
            time.sleep(0.05)
        self.variables["TENURE_BENCH_POSTGRES"] = words

    def filelock(self, group, folder, brief):
        """What filelock adds to what a group found."""
        if not self.python or group not in FILELOCK_GROUPS:
            return {}
        return json.loads(run([self.python, HERE / "filelock_peer.py", group, pathlib.Path(folder) / "filelock",
                               "0.1" if brief else "2"]))
