"""write and verify --epoch: the fence, through the program."""

import json
import os
import pty
import shutil
import signal
import stat
import subprocess
import threading
import unittest

from e2e import PROGRAM, Case, content, main, until


class Write(Case):
    def setUp(self):
        super().setUp()
        self.target = self.path("f")

    def write(self, data, epoch, *options, key="deploy", **more):
        return self.tenure("write", key, "--epoch", str(epoch), self.target, *options, input=data, **more)

    def beside(self):
        """What lies beside the file and its sidecar."""
        return sorted(name for name in os.listdir(self.folder) if name.startswith(".f."))

    def leased(self):
        """The epoch of a lease that lasts until the test ends, and how to end it."""
        handle = self.tenure("claim", "deploy", "--pid", str(self.owner().pid), "--json", check=0)
        claim = json.loads(handle.stdout)
        return claim["epoch"], lambda: self.tenure("release", env={"TENURE_HANDLE": claim["handle"]}, check=0)

    def error(self, done, code):
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assert_fits(done.stderr)
        return done.stderr

    def test_the_command_of_run_writes(self):
        text = (f"echo one | tenure write \"$TENURE_KEY\" --epoch $TENURE_EPOCH {self.target} && "
                "tenure verify \"$TENURE_KEY\" --epoch $TENURE_EPOCH && echo $TENURE_EPOCH > epoch")
        done = self.tenure("run", "deploy", "--", "sh", "-c", text, check=0)
        self.assertIn("4 bytes", done.stdout)
        self.assertEqual(content(self.target), "one\n")
        self.assertEqual(self.beside(), [".f.fence", ".f.fence.lock"])
        epoch = content(self.path("epoch")).strip()
        # Given back: the epoch is over, though nobody has it now.
        self.assertIn("refused by the space", self.error(self.write("late", epoch), 76))
        self.error(self.tenure("verify", "deploy", "--epoch", epoch), 76)
        self.assertEqual(content(self.target), "one\n")

    def test_json(self):
        epoch, _ = self.leased()
        said = json.loads(self.write("data", epoch, "--json", check=0).stdout)
        self.assertEqual(said, {"key": "deploy", "epoch": epoch, "path": self.target, "bytes": 4, "checked_by": "space"})
        said = json.loads(self.tenure("verify", "deploy", "--epoch", str(epoch), "--json", check=0).stdout)
        self.assertEqual(said, {"key": "deploy", "epoch": epoch, "current": True})
        for words in (("write", "deploy", self.target), ("verify", "deploy")):
            done = self.tenure(*words, "--epoch", str(epoch - 1), "--json", input="late", check=76)
            self.assertEqual(json.loads(done.stderr)["error"]["code"], "lost")
            self.assertEqual(done.stdout, "")

    def test_an_older_epoch_is_refused_with_and_without_the_space(self):
        old, release = self.leased()
        self.write("old", old, check=0)
        release()
        new, _ = self.leased()
        self.assertIn("refused by the space", self.error(self.write("late", old), 76))
        self.write("new", new, check=0)
        self.assertIn("refused by the sidecar", self.error(self.write("late", old), 76))
        os.rename(self.home, self.home + ".away")
        self.assertIn("refused by the sidecar", self.error(self.write("late", old), 76))
        self.assertEqual(content(self.target), "new")
        done = self.write("newer", new, check=0)
        self.assertIn("sidecar alone", done.stdout)
        self.assert_fits(done.stdout)
        said = json.loads(self.write("newest", new, "--json", check=0).stdout)
        self.assertEqual(said["checked_by"], "sidecar")
        self.assertIn("no folder", said["space_gone"])
        self.assertEqual(content(self.target), "newest")
        os.unlink(self.path(".f.fence"))
        self.assertIn("nobody vouches", self.error(self.write("x", new), 69))
        shutil.move(self.home + ".away", self.home)
        self.write("back", new, check=0)

    def test_verify_in_each_state(self):
        run = self.holder("deploy")
        self.tenure("verify", "deploy", "--epoch", str(run.epoch), check=0)
        self.error(self.tenure("verify", "deploy", "--epoch", str(run.epoch - 1)), 76)
        self.error(self.tenure("verify", "deploy", "--epoch", str(run.epoch + 1)), 76)
        self.error(self.tenure("verify", "deploy", "--epoch", "0"), 76)
        self.error(self.tenure("verify", "other", "--epoch", str(run.epoch)), 76)
        # A stopped holder is alive.
        run.send(signal.SIGSTOP)
        self.tenure("verify", "deploy", "--epoch", str(run.epoch), check=0)
        run.send(signal.SIGCONT)
        run.send(signal.SIGKILL)
        self.until_free("deploy")
        self.error(self.tenure("verify", "deploy", "--epoch", str(run.epoch)), 76)
        self.error(self.tenure("verify", "deploy", "--epoch", str(run.epoch), "--space", "files:" + self.path("no")), 69)

    def test_one_past_its_ttl_is_expired(self):
        done = json.loads(self.tenure("claim", "deploy", "--ttl", "1ms", "--json", check=0).stdout)
        self.assertEqual(until(lambda: self.tenure("verify", "deploy", "--epoch", str(done["epoch"])).returncode, "expired"),
                         76)
        error = json.loads(self.write("x", done["epoch"], "--json", check=76).stderr)["error"]
        self.assertEqual(error["code"], "expired")

    def test_more_than_fits_in_one_part_and_nothing_at_all(self):
        epoch, _ = self.leased()
        data = "0123456789abcdef" * 200_000
        self.write(data, epoch, check=0)
        self.assertEqual(content(self.target), data)
        self.write("", epoch, check=0)
        self.assertEqual(os.path.getsize(self.target), 0)
        # From the file itself.
        self.write("twice\n", epoch, check=0)
        self.shell(f"tenure write deploy --epoch {epoch} f < f", check=0)
        self.assertEqual(content(self.target), "twice\n")

    def test_data_that_is_not_what_was_promised(self):
        epoch, _ = self.leased()
        self.write("12345", epoch, "--size", "5", check=0)
        for data in ("1234", "", "123456", "x" * 1_000_000):
            self.assertIn("--size", self.error(self.write(data, epoch, "--size", "5"), 73))
        self.assertEqual(content(self.target), "12345")
        self.assertEqual(self.beside(), [".f.fence", ".f.fence.lock"])

    def test_no_input(self):
        epoch, _ = self.leased()
        command = f"tenure write deploy --epoch {epoch} f"
        self.assertIn("closed", self.shell(f"{command} <&-", check=64).stderr)
        self.assertIn("folder", self.shell(f"{command} < .", check=64).stderr)
        controller, terminal = pty.openpty()
        self.addCleanup(os.close, controller)
        done = subprocess.run([PROGRAM, *command.split()[1:]], stdin=terminal, capture_output=True, text=True,
                              env=self.env, cwd=self.folder, timeout=60)
        os.close(terminal)
        self.assertEqual(done.returncode, 64)
        self.assertIn("terminal", done.stderr)
        self.assertFalse(os.path.exists(self.target))
        # Closed outputs are not mistaken for what is opened next.
        self.shell(f"echo data | {command} >&- 2>&-", check=0)
        self.assertEqual(content(self.target), "data\n")

    def drafting(self, epoch):
        """A writer that has begun and waits for more; what it was given lies beside the file."""
        writer = self.start("write", "deploy", "--epoch", str(epoch), "f", stdin=subprocess.PIPE)
        writer.process.stdin.write(b"half of it")
        writer.process.stdin.flush()
        until(lambda: any(content(self.path(name)) == "half of it" for name in self.beside()), "the writer has begun")
        return writer

    def test_a_signal_ends_it_and_nothing_is_left(self):
        epoch, _ = self.leased()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            writer = self.drafting(epoch)
            writer.send(number)
            self.assertEqual(writer.wait(), -number)
            writer.process.stdin.close()
            self.assertEqual(self.beside(), [])
        self.assertFalse(os.path.exists(self.target))

    def test_a_killed_writer_leaves_what_the_next_takes_away(self):
        epoch, _ = self.leased()
        writer = self.drafting(epoch)
        writer.send(signal.SIGKILL)
        writer.wait()
        writer.process.stdin.close()
        self.assertEqual(self.beside(), [".f.fence.draft-0"])
        self.write("whole", epoch, check=0)
        self.assertEqual(self.beside(), [".f.fence", ".f.fence.lock"])
        self.assertEqual(content(self.target), "whole")

    def test_a_slow_writer_of_an_older_epoch_keeps_nobody_and_loses(self):
        old, release = self.leased()
        slow = self.drafting(old)
        release()
        new, _ = self.leased()
        self.write("new", new, check=0)
        slow.process.stdin.close()
        self.assertEqual(slow.wait(), 76)
        self.assertIn("refused by the sidecar", " ".join(slow.err.split()))
        self.assertEqual(content(self.target), "new")
        self.assertEqual(self.beside(), [".f.fence", ".f.fence.lock"])

    def test_many_writers_of_one_epoch(self):
        epoch, _ = self.leased()
        codes = []
        texts = [str(number) * 50_000 for number in range(6)]

        def write(text):
            codes.append(self.write(text, epoch).returncode)

        threads = [threading.Thread(target=write, args=(text,)) for text in texts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(codes, [0] * len(texts))
        self.assertIn(content(self.target), texts)
        self.assertEqual(self.beside(), [".f.fence", ".f.fence.lock"])

    def test_what_is_not_a_file_with_one_name_is_refused(self):
        epoch, _ = self.leased()
        self.write("data", epoch, check=0)
        os.symlink("f", self.path("link"))
        os.link(self.target, self.path("second"))
        os.mkfifo(self.path("fifo"))
        for name in ("link", "second", "f", "fifo", "home", ".", "", "none/", ".f.fence"):
            with self.subTest(name=name):
                done = self.tenure("write", "deploy", "--epoch", str(epoch), name, input="x", check=64)
                self.assert_fits(done.stderr)
        self.assertEqual(content(self.target), "data")
        self.error(self.tenure("write", "deploy", "--epoch", str(epoch), "none/f", input="x"), 69)

    def test_mode_is_kept_and_a_new_file_is_as_the_umask_has_it(self):
        epoch, _ = self.leased()
        self.shell(f"umask 037; echo x | tenure write deploy --epoch {epoch} f", check=0)
        self.assertEqual(stat.S_IMODE(os.stat(self.target).st_mode), 0o640)
        os.chmod(self.target, 0o751)
        self.write("y", epoch, check=0)
        self.assertEqual(stat.S_IMODE(os.stat(self.target).st_mode), 0o751)

    def test_another_guard_and_a_damaged_sidecar(self):
        epoch, _ = self.leased()
        self.write("data", epoch, check=0)
        self.assertIn("guarded by the key deploy", self.error(self.write("x", epoch, key="other"), 64))
        other = "files:" + self.path("s")
        self.assertIn("cannot be compared", self.error(self.write("x", epoch, "--space", other), 64))
        with open(self.path(".f.fence"), "a", encoding="ascii") as file:
            file.write("x")
        text = " ".join(self.error(self.write("x", epoch), 77).split())
        self.assertIn("damaged", text)
        self.assertEqual(content(self.target), "data")
        self.shell(text[text.index("mv '"):].rstrip(), check=0)
        self.write("mended", epoch, check=0)

    def test_memory_gives_no_lasting_epochs(self):
        self.assertIn("memory:", self.error(self.write("x", 1, "--space", "memory:"), 64))


# A disk of that many kibibytes, with a file on it and a space elsewhere. Each try says: size, exit code, what lies there.
FULL = r"""
set -eu
disk=$1 epoch=$2 program=$3
shift 3
for size; do
  mount -t tmpfs -o size="${size}k",nr_inodes=$((size / 4 + 3)),mode=700 none "$disk"
  echo old > "$disk/f"
  code=0
  head -c 30000 /dev/zero | "$program" write deploy --epoch "$epoch" "$disk/f" --json >/dev/null 2>"$disk.err" || code=$?
  lies=$(cd "$disk" && find . -name '.f.fence.*' ! -name '.f.fence.lock' | wc -l)
  echo "{\"size\": $size, \"code\": $code, \"left\": $lies, \"bytes\": $(stat -c %s "$disk/f")," \
    "\"error\": $(cat "$disk.err" | grep . || echo null)}"
  mount -o remount,size=1m,nr_inodes=100 "$disk"
  echo new | "$program" write deploy --epoch "$epoch" "$disk/f" >/dev/null || exit 9
  umount -l "$disk"
done
"""


class FullDisk(Case):
    def test_the_file_is_as_it_was_and_nothing_is_left(self):
        claim = json.loads(self.tenure("claim", "deploy", "--pid", str(self.owner().pid), "--json", check=0).stdout)
        disk = self.path("disk")
        os.mkdir(disk)
        sizes = [4, 8, 12, 20, 32, 36, 40, 44, 48, 64]
        done = subprocess.run(["unshare", "--mount", "sh", "-c", FULL, "sh", disk, str(claim["epoch"]),
                               os.path.realpath(PROGRAM), *map(str, sizes)], env=self.env, capture_output=True, text=True,
                              timeout=120, stdin=subprocess.DEVNULL)
        if not done.stdout:
            self.skipTest("no file system can be mounted here: " + done.stderr.strip()[:200])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        tries = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([each["size"] for each in tries], sizes)
        for each in tries:
            with self.subTest(size=each["size"]):
                self.assertEqual(each["left"], 0, each)
                self.assertEqual(each["bytes"], 30000 if each["code"] == 0 else 4, each)
                if each["code"] != 0:
                    self.assertEqual((each["code"], each["error"]["error"]["code"]), (73, "no_space"), each)
        self.assertEqual(tries[0]["code"], 73)
        self.assertEqual(tries[-1]["code"], 0)


if __name__ == "__main__":
    main()
