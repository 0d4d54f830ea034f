"""revoke --dead: what the dead hold is cleared, by the verdict that who and ls show, and nothing else."""

import json
import os
import signal
import subprocess
import time

from e2e import Case, gone, main, remedies, state_of, until


class Dead(Case):
    def claim(self, key, *options):
        claimed = json.loads(self.tenure("claim", key, "--json", *options, check=0).stdout)
        claimed["key"] = key
        self.addCleanup(self.end, claimed["keeper_pid"])
        return claimed

    def end(self, pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def dead(self, key, *options):
        """A lease whose owner and keeper were both killed, and which nobody has cleared."""
        owner = self.owner()
        claimed = self.claim(key, "--pid", str(owner.pid), *options)
        self.end(claimed["keeper_pid"])  # before its owner, so that it cannot give the key back
        owner.process.kill()
        owner.wait()
        until(lambda: self.who(key)["liveness"] == "dead", "it is seen to be dead")
        return claimed

    def clear(self, *words):
        return json.loads(self.tenure("revoke", "--dead", "--json", *words, check=0).stdout)

    def test_only_the_dead_are_cleared(self):
        live = self.holder("live")
        self.dead("dead", "--owner", "ghost")
        stopped_owner = self.owner()
        stopped = self.claim("stopped", "--pid", str(stopped_owner.pid))
        for pid in (stopped_owner.pid, stopped["keeper_pid"]):
            os.kill(pid, signal.SIGSTOP)
            until(lambda pid=pid: state_of(pid) == "T", "it is stopped")
        zombie = self.owner()
        of_zombie = self.claim("zombie", "--pid", str(zombie.pid))
        self.end(of_zombie["keeper_pid"])
        os.kill(zombie.pid, signal.SIGKILL)
        until(lambda: state_of(zombie.pid) == "Z", "it is a zombie")
        expired = self.claim("expired", "--ttl", "1ms")
        until(lambda: self.who("expired")["claimable"], "it is past its TTL")

        verdicts = {each["key"]: each for each in json.loads(self.tenure("ls", "--json", check=0).stdout)["leases"]}
        self.assertEqual({key: each["liveness"] for key, each in verdicts.items()},
                         {"live": "live", "dead": "dead", "stopped": "live", "zombie": "dead", "expired": "live"})
        done = self.clear()
        self.assertEqual({each["key"] for each in done["cleared"]}, {"dead", "zombie"})
        self.assertEqual((done["cleared_count"], done["left_count"]), (2, 3))
        for each in done["cleared"]:
            seen = verdicts[each["key"]]
            self.assertEqual((each["epoch"], each["evidence"]), (seen["epoch"], seen["evidence"]))
            self.assertEqual(self.who(each["key"])["state"], "free")
        for key in ("live", "stopped", "expired"):
            self.assertEqual((self.who(key)["state"], self.who(key)["epoch"]), ("held", verdicts[key]["epoch"]))
        self.assertFalse(gone(live.child))
        self.assertFalse(gone(expired["keeper_pid"]))
        # And again: there is nothing left to do.
        self.assertEqual(self.clear()["cleared_count"], 0)

    def test_text(self):
        self.assertEqual(self.tenure("revoke", "--dead", check=0).stdout, "nothing is held by a dead holder\n")
        self.dead("one", "--owner", "ghost")
        self.dead("two", "--owner", "long " * 40)
        self.holder("three")
        text = self.tenure("revoke", "--dead", check=0).stdout
        self.assert_fits(text)
        lines = [line for line in text.splitlines() if not line.startswith("  ")]
        self.assertEqual([line.split(":")[0] for line in lines[:2]], ["one", "two"])
        self.assertEqual(lines[2], "2 leases cleared, 1 left alone")
        self.assertIn("ghost", text)

    def test_a_prefix_alone(self):
        for key in ("a/1", "a/2", "b"):
            self.dead(key)
        self.assertEqual([each["key"] for each in self.clear("--prefix", "a/")["cleared"]], ["a/1", "a/2"])
        self.assertEqual(self.who("b")["state"], "held")
        self.assertEqual(self.clear("--prefix", "c")["cleared_count"], 0)

    def test_usage(self):
        self.dead("k")
        for words in (("--force", "--reason", "x"), ("--epoch", "1"), ("k",), ("k", "more")):
            self.tenure("revoke", "--dead", *words, check=64)
        self.tenure("revoke", "--prefix", "k", check=64)
        self.assertEqual(self.who("k")["state"], "held")

    def test_a_key_beside_it_is_refused_with_the_commands_that_work(self):
        self.dead("a")
        self.dead("a b")
        refused = self.tenure("revoke", "a", "--dead", check=64).stderr
        self.assertIn("tenure revoke -- a.", " ".join(refused.split()))
        self.tenure("revoke", "--", "a", check=0)
        self.assertEqual(self.who("a b")["state"], "held")
        [remedy] = remedies(self.tenure("revoke", "--dead", "a ", check=64).stderr)
        self.assertEqual(remedy, "tenure revoke --dead --prefix='a '")
        self.shell(remedy, check=0)
        self.assertEqual(self.who("a b")["state"], "free")

    def test_who_claims_meanwhile_keeps_it(self):
        # Whichever comes first: the claim is granted, and stays granted.
        for turn in range(8):
            self.dead(f"k{turn}")
            clearing = [self.start("revoke", "--dead") for _ in range(2)]
            run = self.start("run", f"k{turn}", "--", "cat", stdin=subprocess.PIPE)
            for each in clearing:
                self.assertEqual(each.wait(), 0, each.err)
            until(lambda: self.who(f"k{turn}")["liveness"] == "live" if self.who(f"k{turn}")["held"] else False,
                  "the claim is granted")
            self.clear()
            run.process.stdin.close()
            self.assertEqual(run.wait(), 0, run.err)


class OverAFolder(Dead):
    def setUp(self):
        super().setUp()
        self.env["TENURE_SPACE"] = "files:" + self.path("shared")
        self.tenure("space", "init", check=0)

    def test_who_cannot_be_judged_is_left_alone(self):
        self.dead("dead")
        now = int(time.time() * 1000)
        with open(self.path("shared/leases/theirs.lease.json"), "w", encoding="utf-8") as file:
            json.dump({"instance_id": "theirs", "owner_boot_id": "b", "block_id": "c", "session_id": "", "pid": 1,
                       "acquired_at_ms": now, "renewed_at_ms": now, "epoch": 7, "hostname": "another.example",
                       "pid_start_s": 0, "channel": "", "version": "", "claim_id": ""}, file)
        with open(self.path("shared/leases/broken.lease.json"), "w", encoding="utf-8") as file:
            file.write("{")
        self.assertEqual(self.who("theirs")["liveness"], "unknown")
        done = self.clear()
        self.assertEqual([each["key"] for each in done["cleared"]], ["dead"])
        self.assertEqual((self.who("theirs")["state"], self.who("broken")["state"]), ("held", "damaged"))


if __name__ == "__main__":
    main()
