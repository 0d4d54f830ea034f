"""A local space on a disk that is full, at each size at which another part of it no longer fits."""

import json
import os
import subprocess
import unittest

from e2e import PROGRAM, Case, main

KIBIBYTES = [8, 12, 16, 20, 24, 32, 64, 256, 1024, 2048, 4096, 5120, 5248, 5376, 5504, 5632, 6144, 8192]

# In a mount namespace of its own, so that the disk goes with it. Each try says: size, exit code, what lies there.
SCRIPT = r"""
set -eu
folder=$1 program=$2
shift 2
for size; do
  mount -t tmpfs -o size="${size}k",mode=700 none "$folder"
  code=0
  "$program" run k --json -- true 2>"$folder.err" || code=$?
  echo "{\"kibibytes\": $size, \"code\": $code, \"left\": \"$(cd "$folder/space" 2>/dev/null && echo *)\"," \
    "\"error\": $(cat "$folder.err" | grep . || echo null)}"
  mount -o remount,size=32m "$folder"
  "$program" run k -- true || exit 9
  umount -l "$folder"
done
"""


class FullDisk(Case):
    def tries(self):
        folder = self.path("disk")
        os.mkdir(folder)
        done = subprocess.run(["unshare", "--mount", "sh", "-c", SCRIPT, "sh", folder, os.path.realpath(PROGRAM),
                               *[str(size) for size in KIBIBYTES]],
                              env=self.environment({"TENURE_SPACE": f"local:{folder}/space?volatile"}),
                              capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        if not done.stdout:
            self.skipTest("no file system can be mounted here: " + done.stderr.strip()[:200])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_refused_by_name_and_usable_once_there_is_room(self):
        tries = self.tries()
        self.assertEqual([each["kibibytes"] for each in tries], KIBIBYTES)
        for each in tries:
            with self.subTest(kibibytes=each["kibibytes"]):
                if each["code"] == 0:
                    continue
                self.assertEqual(each["code"], 73, each)
                self.assertEqual(each["error"]["error"]["code"], "no_space", each)
                self.assertIn("disk", each["error"]["error"]["message"])
                self.assertNotIn("table", each["left"].split(), "half a table was left")
        self.assertEqual([each["code"] for each in tries[:3]], [73, 73, 73])
        self.assertEqual(tries[-1]["code"], 0)


if __name__ == "__main__":
    main()
