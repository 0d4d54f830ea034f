"""who, ls, watch, revoke: text and JSON say the same, 80 columns, nothing of others reaches the terminal raw, and what is
printed as the next command works as it stands."""

import json
import os
import re
import signal
import subprocess
import time

from e2e import Case, content, gone, main, remedies, until

NASTY = "\x1b[31mred\x07\u202e\x7f"


class Who(Case):
    def test_who_stands_in_line_is_shown(self):
        holder = self.holder("k")
        first = self.start("run", "k", "--owner", "first", "--reason", "a release", "--", "true")
        until(lambda: self.who("k").get("waiting") == 1, "the first waits")
        second = self.start("run", "k", "--owner", "second", "--", "true")
        until(lambda: self.who("k").get("waiting") == 2, "the second waits")
        line = self.who("k")["line"]
        self.assertEqual([(each["owner"], each["pid"]) for each in line], [("first", first.pid), ("second", second.pid)])
        self.assertGreaterEqual(line[0]["waited_ms"], line[1]["waited_ms"])
        text = self.tenure("who", "k", check=0).stdout
        self.assert_fits(text)
        self.assertRegex(text, rf"in line +1\. first \(pid {first.pid}")
        self.assertIn(f"2. second (pid {second.pid}", text)
        # Each knows its own place.
        self.assertRegex(until(lambda: first.err, "it is told"), rf"1\. first \(pid {first.pid}, user \w+, this one\)")
        self.assertRegex(until(lambda: second.err, "it is told"), rf"2\. second \(pid {second.pid}, user \w+, this one\)")
        holder.process.stdin.close()
        self.assertEqual((first.wait(), second.wait()), (0, 0))
        self.assertNotIn("line", self.who("k"))

    def test_text_and_json_agree(self):
        run = self.holder("db", "--owner", "alice", "--part", "p1", "--reason", "why not", "--channel", "stable",
                          "--version", "1.2", "--session", "s-9", "--ttl", "10m")
        seen, text = self.who("db"), self.tenure("who", "db", check=0).stdout
        holder = seen["holder"]
        self.assertEqual((seen["key"], seen["state"], seen["held"], seen["epoch"], seen["liveness"]),
                         ("db", "held", True, run.epoch, "live"))
        self.assertEqual([holder[name] for name in ("owner", "part", "reason", "channel", "version", "session", "pid")],
                         ["alice", "p1", "why not", "stable", "1.2", "s-9", run.pid])
        self.assertEqual(holder["directory"], os.path.realpath(self.folder))
        self.assertEqual(holder["ttl_ms"], 600000)
        flat = re.sub(r"\s+", " ", text)
        for value in ("alice", "p1", "why not", "stable", "1.2", "s-9", f"pid {run.pid}", str(run.epoch),
                      holder["since"], holder["host"], seen["evidence"], "10 min", seen["next"][-1]["command"]):
            self.assertIn(value, flat)
        self.assertIn(holder["directory"], text.replace("\n", "").replace(" ", ""))
        self.assert_fits(text)

    def test_free(self):
        self.assertEqual(self.who("nobody")["state"], "free")
        self.assertIn("free", self.tenure("who", "nobody", check=0).stdout)

    def test_quiet_and_except(self):
        self.tenure("who", "k", "--quiet", check=1)
        self.tenure("who", "k", "--except", "alice", check=1)
        run = self.holder("k", "--owner", "alice")
        self.assertEqual(self.tenure("who", "k", "--quiet", check=0).stdout, "")
        self.tenure("who", "k", "--except", "alice", check=1)
        self.assertIn("alice", self.tenure("who", "k", "--except", "bob", check=0).stdout)
        self.tenure("who", "k", "--quiet", "--except", "alice", check=1)
        run.process.kill()
        run.wait()
        until(lambda: self.tenure("who", "k", "--quiet").returncode == 1, "a dead holder holds nothing")

    def test_long_text_of_others_is_laid_out(self):
        self.holder("k" * 60, "--owner", "o" * 256, "--reason", "many words " * 80)
        self.assert_fits(self.tenure("who", "k" * 60, check=0).stdout)
        self.assert_fits(self.tenure("ls", check=0).stdout)

    def test_control_characters_of_others_are_escaped(self):
        # Labels with control characters are refused at our door; but a command line is its process's own to choose, and
        # another program writes what it likes.
        self.env["TENURE_SPACE"] = "files:" + self.path("shared")
        self.holder("ours", script=f": '{NASTY}'")
        leases = self.path("shared/leases")
        now = int(time.time() * 1000)
        with open(os.path.join(leases, "theirs.lease.json"), "w", encoding="utf-8") as file:
            json.dump({"instance_id": "theirs", "owner_boot_id": NASTY, "block_id": NASTY, "session_id": NASTY,
                       "pid": os.getpid(), "acquired_at_ms": now, "renewed_at_ms": now, "epoch": 7, "hostname": NASTY,
                       "pid_start_s": 0, "channel": NASTY, "version": NASTY, "claim_id": ""}, file)
        for key in ("ours", "theirs"):
            self.assertIn("\\x1b", self.tenure("who", key, check=0).stdout)
            for words in (("who", key), ("ls",), ("revoke", key), ("run", key, "--wait", "1ms", "--", "true"),
                          ("watch", "--count", "2")):
                done = self.tenure(*words)
                self.assertNotRegex(done.stdout + done.stderr, "[\\x00-\\x09\\x0b-\\x1f\\x7f\u202e]", words)
        self.assertEqual(self.who("theirs")["holder"]["owner"], NASTY)

    def test_stopped_is_alive(self):
        run = self.holder("k")
        run.send(signal.SIGSTOP)
        self.assertEqual(self.who("k")["liveness"], "live")
        self.tenure("run", "k", "--wait", "0", "--", "true", check=75)
        run.send(signal.SIGCONT)


class Lists(Case):
    def test_ls(self):
        self.assertIn("nothing is held", self.tenure("ls", check=0).stdout)
        runs = {key: self.holder(key, "--owner", "o-" + key) for key in ("a/1", "a/2", "b")}
        found = json.loads(self.tenure("ls", "--json", check=0).stdout)["leases"]
        self.assertEqual([each["key"] for each in found], ["a/1", "a/2", "b"])
        for each in found:
            run = runs[each["key"]]
            self.assertEqual((each["holder"]["pid"], each["epoch"]), (run.pid, run.epoch))
            row = next(line for line in self.tenure("ls", check=0).stdout.splitlines()
                       if line.startswith(each["key"] + " "))
            for value in (str(run.pid), str(run.epoch), "o-" + each["key"], "live"):
                self.assertIn(value, row)
        only = json.loads(self.tenure("ls", "a/", "--json", check=0).stdout)["leases"]
        self.assertEqual([each["key"] for each in only], ["a/1", "a/2"])
        self.assertIn(self.home, self.tenure("ls", check=0).stdout.replace("\n", ""))

    def test_watch_tells_each_change(self):
        watch = self.start("watch", "--json")
        run = self.holder("w", "--owner", "one")

        def told(owner):
            found = [json.loads(line) for line in watch.out.splitlines() if line.endswith("}")]
            return [each for each in found if each["key"] == "w" and each.get("holder", {}).get("owner") == owner and
                    each["state"] == ("held" if owner else "free")]

        first = until(lambda: told("one"), "the claim is told")[0]
        self.assertEqual((first["epoch"], first["holder"]["pid"]), (run.epoch, run.pid))
        self.assertRegex(first["at"], r"^\d{4}-\d\d-\d\dT.*Z$")
        run.process.stdin.close()
        run.wait()
        until(lambda: told(None), "the release is told")
        self.assertIsNone(watch.process.poll())

    def test_watch_counts(self):
        for key in ("a", "b", "c"):
            self.holder(key)
        done = self.tenure("watch", "--json", "--count", "2", check=0)
        self.assertEqual([json.loads(line)["key"] for line in done.stdout.splitlines()], ["a", "b"])

    def test_watch_in_text_until_interrupted(self):
        watch = self.start("watch", "w/")
        self.holder("other")
        self.holder("w/x", "--owner", "one")
        until(lambda: "w/x" in watch.out, "the claim is told")
        self.assertIn("held by one", watch.out)
        self.assertNotIn("other", watch.out)
        watch.send(signal.SIGINT)
        self.assertEqual(watch.wait(), -signal.SIGINT)

    def test_watch_for_a_while(self):
        self.assertEqual(self.tenure("watch", "--for", "200ms", check=0).stdout, "")


class Revoke(Case):
    def test_a_live_holder_is_left_alone_and_the_printed_command_works(self):
        run = self.holder("a key", "--space", "files:" + self.path("s p"), "--on-lost", "warn", "--owner", "alice")
        space = ("--space", "files:" + self.path("s p"))
        done = self.tenure("revoke", "a key", *space, check=77)
        self.assertIn("alice", done.stderr)
        command = [each for each in remedies(done.stderr) if "revoke" in each][-1]
        self.assertIn(f"--epoch {run.epoch}", command)
        self.shell(command, check=0)
        until(lambda: "lost a key" in run.err, "the holder is told")
        self.assertIn("needed elsewhere", run.err)
        self.assertFalse(self.who("a key", *space)["held"])
        # The same command again finds another standing, and harms nobody.
        self.holder("a key", *space)
        self.shell(command, check=77)
        self.assertTrue(self.who("a key", *space)["held"])

    def test_force_needs_a_reason_and_the_printed_command_works(self):
        self.holder("k", "--on-lost", "warn")
        done = self.tenure("revoke", "k", "--force", check=64)
        self.shell(remedies(done.stderr)[-1], check=0)

    def test_each_refusal_s_remedy_works_as_typed(self):
        for words in (("run", "k", "--wait", "0", "--", "true"), ("run", "k", "--wait", "1ms", "--", "true"),
                      ("claim", "k", "--ttl", "1h"), ("who", "k")):
            with self.subTest(words=words):
                run = self.holder("k")
                done = self.tenure(*words)
                take_away = [each for each in remedies(done.stderr + done.stdout) if "revoke" in each]
                self.shell(take_away[-1], check=0)
                self.assertEqual(run.wait(), 76)

    def test_a_dead_holder_is_cleared_without_force(self):
        run = self.holder("k")
        run.process.kill()
        run.wait()
        seen = until(lambda: (s := self.who("k"))["claimable"] and s or None, "it is seen to be dead")
        if seen["state"] == "held":
            for step in seen["next"]:
                if "revoke" in step["command"]:
                    self.shell(step["command"], check=0)
        self.tenure("revoke", "k", check=77)
        self.assertEqual(json.loads(self.tenure("revoke", "k", "--json").stderr)["error"]["code"], "not_held")

    def test_keys_that_begin_with_a_dash(self):
        run = self.holder("--key=-x", "--on-lost", "warn")
        done = self.tenure("revoke", "--", "-x", check=77)
        self.shell([each for each in remedies(done.stderr) if "revoke" in each][-1], check=0)
        until(lambda: "lost -x" in run.err, "the holder is told")

    def test_pinned_to_another_epoch(self):
        run = self.holder("k")
        done = self.tenure("revoke", "k", "--force", "--reason", "x", "--epoch", str(run.epoch + 1), "--json", check=77)
        self.assertEqual(json.loads(done.stderr)["error"]["code"], "epoch_changed")
        self.assertFalse(gone(run.child))


if __name__ == "__main__":
    main()
