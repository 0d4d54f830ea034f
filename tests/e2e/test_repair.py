"""tenure repair: what is wrong in the folder of a receiver: space, and what is done about it."""

import json
import os

from e2e import Case, main


class Repair(Case):
    def setUp(self):
        super().setUp()
        self.folder_of_space = self.path("name space")
        self.url = "receiver:" + self.folder_of_space.replace(" ", "%20")
        self.tenure("run", "receiver", "--space", self.url, "--", "true", check=0)

    def put(self, name, text):
        path = os.path.join(self.folder_of_space, name)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def claims(self):
        return self.tenure("run", "receiver", "--space", self.url, "--wait", "0", "--", "true").returncode

    def faults(self, *words, code):
        return json.loads(self.tenure("repair", self.url, "--json", *words, check=code).stdout)["faults"]

    def test_nothing_is_wrong(self):
        self.assertIn("nothing is wrong", self.tenure("repair", self.url, check=0).stdout)
        self.assertEqual(self.faults(code=0), [])

    def test_a_damaged_lease_is_moved_by_force_and_kept(self):
        self.put("receiver.lock/owner.json", "{")
        refused = self.tenure("run", "receiver", "--space", self.url, "--wait", "0", "--", "true", check=75)
        self.assertIn("corrupt-owner", refused.stderr)
        left = self.faults(code=1)
        self.assertEqual(len(left), 1)
        self.assertFalse(left[0]["mended"])
        self.assertIn("--force", left[0]["why_not"])
        self.assertEqual(self.claims(), 75)
        self.assertEqual(self.faults("--dry-run", "--force", "--reason", "I looked", code=1)[0]["why_not"], "")
        self.assertEqual(self.claims(), 75, "it was only said")
        self.assertTrue(self.faults("--force", "--reason", "I looked", code=0)[0]["mended"])
        self.assertEqual(self.claims(), 0)
        kept = os.path.join(self.folder_of_space, "quarantine")
        self.assertEqual(len(os.listdir(kept)), 1)

    def test_the_remedy_of_a_refusal_can_be_typed(self):
        self.put("receiver.lifecycle.guard.json", "")
        refused = self.tenure("run", "receiver", "--space", self.url, "--wait", "0", "--", "true", check=77)
        self.assertIn("lifecycle-unverifiable", refused.stderr)
        self.assertIn("tenure repair", refused.stderr)
        self.tenure("repair", self.url, "--force", "--reason", "left by a crash", check=0)
        self.assertEqual(self.claims(), 0)

    def test_a_living_holder_is_never_touched(self):
        self.holder("receiver", "--space", self.url)
        owner = self.put("receiver.lock/owner.json", "{")
        for words in ((), ("--force", "--reason", "by mistake")):
            left = self.faults(*words, code=1)
            self.assertIn("lives", left[0]["why_not"])
            self.assertTrue(os.path.exists(owner))

    def test_an_epoch_counter_that_cannot_be_read(self):
        self.put("tenure.epochs", "?" * 1024)
        self.assertEqual(self.claims(), 77)
        self.assertTrue(self.faults(code=0)[0]["mended"])
        self.assertEqual(self.claims(), 0)

    def test_words_that_do_not_fit(self):
        self.tenure("repair", "files:" + self.folder, check=64)
        self.tenure("repair", self.url, "--force", check=64)
        self.tenure("repair", "receiver:" + self.path("nowhere"), check=69)


main()
