"""claim and its keeper; handles: where they come from, and that nobody else sees them."""

import json
import os
import re
import signal
import stat
import subprocess

from e2e import PROGRAM, Case, content, gone, main, state_of, until


class Claims(Case):
    """A claim that a process of the test owns; the keeper ends with it."""

    def claim(self, key, *options, owner=None, check=0):
        self.claimant = owner or self.owner()
        return self.tenure("claim", key, "--pid", str(self.claimant.pid), *options, check=check)

    def claim_json(self, key, *options, **more):
        return json.loads(self.claim(key, "--json", *options, **more).stdout)


class Keeper(Claims):
    def test_a_substitution_ends_at_once_and_the_key_is_held(self):
        shell = self.start_program(["sh", "-c", f'h=$(tenure claim k --pid $$) && echo "$h" > {self.path("h")} && exec cat'],
                                   stdin=subprocess.PIPE)
        until(lambda: content(self.path("h")).endswith("\n"), "the substitution has ended")
        seen = self.who("k")
        self.assertTrue(seen["held"])
        self.assertEqual(seen["holder"]["pid"], shell.pid)
        shell.process.stdin.close()
        shell.wait()
        self.until_free("k")

    def test_the_keeper_ends_with_its_owner(self):
        claim = self.claim_json("k")
        self.assertFalse(gone(claim["keeper_pid"]))
        self.claimant.process.kill()
        self.claimant.wait()
        self.until_free("k")
        until(lambda: gone(claim["keeper_pid"]), "the keeper has ended")

    def test_a_waiter_gets_it_when_the_owner_dies(self):
        first = self.claim_json("k")
        waiter = self.start("run", "k", "--", "sh", "-c", "echo $TENURE_EPOCH")
        until(lambda: "waiting" in waiter.err, "it waits")
        self.claimant.process.kill()
        self.claimant.wait()
        self.assertEqual(waiter.wait(), 0, waiter.err)
        self.assertGreater(int(waiter.out), first["epoch"])

    def test_the_record_names_both(self):
        claim = self.claim_json("k", "--reason", "nightly")
        holder = self.who("k")["holder"]
        self.assertEqual(holder["pid"], self.claimant.pid)
        self.assertEqual(holder["keeper_process"]["pid"], claim["keeper_pid"])
        self.assertEqual(holder["command"], "cat")
        self.assertEqual(holder["directory"], os.path.realpath(self.folder))
        text = self.tenure("who", "k", check=0).stdout
        self.assertIn(f"pid {self.claimant.pid}", text)
        self.assertIn(f"pid {claim['keeper_pid']}", text)

    def test_a_dead_keeper_with_a_live_owner_is_live(self):
        claim = self.claim_json("k")
        os.kill(claim["keeper_pid"], signal.SIGKILL)
        until(lambda: gone(claim["keeper_pid"]), "the keeper is gone")
        self.assertTrue(self.who("k")["held"])
        self.assertIn(f"pid {claim['keeper_pid']}, which is gone", self.tenure("who", "k", check=0).stdout)
        self.tenure("run", "k", "--wait", "0", "--", "true", check=75)
        self.claimant.process.kill()
        self.claimant.wait()
        self.tenure("run", "k", "--wait", "30s", "--", "true", check=0)

    def test_a_keeper_that_is_asked_to_end_gives_back(self):
        claim = self.claim_json("k")
        os.kill(claim["keeper_pid"], signal.SIGTERM)
        self.until_free("k")

    def test_it_has_left_our_world(self):
        reading, writing = os.pipe()
        os.set_inheritable(writing, True)
        owner = self.owner()
        done = subprocess.run([PROGRAM, "claim", "k", "--pid", str(owner.pid), "--json"], env=self.env, text=True,
                              capture_output=True, cwd=self.folder, pass_fds=[writing])
        os.close(writing)
        keeper = json.loads(done.stdout)["keeper_pid"]
        # The end of file shows that the keeper has no copy of the pipe.
        self.assertEqual(os.read(reading, 1), b"")
        os.close(reading)
        self.assertEqual(os.readlink(f"/proc/{keeper}/cwd"), "/")
        self.assertEqual([os.readlink(f"/proc/{keeper}/fd/{n}") for n in range(3)], ["/dev/null"] * 3)
        fields = content(f"/proc/{keeper}/stat").rpartition(")")[2].split()
        self.assertEqual(int(fields[3]), keeper, "a session of its own")

    def test_a_ttl_ends_it(self):
        done = json.loads(self.tenure("claim", "k", "--ttl", "700ms", "--json", check=0).stdout)
        self.assertEqual(done["ttl_ms"], 700)
        self.until_free("k")
        # The keeper stays for a while, and gives up when no renewal came.
        until(lambda: gone(done["keeper_pid"]), "the keeper has ended")
        self.assertEqual(self.who("k")["state"], "free")
        late = self.tenure("renew", env={"TENURE_HANDLE": done["handle"]}, check=76)
        self.assertIn("nobody renewed it", " ".join(late.stderr.split()))

    def expired(self, *options):
        """A claim past its TTL, with nobody in between."""
        done = json.loads(self.tenure("claim", "k", "--ttl", "1s", "--json", *options, check=0).stdout)
        until(lambda: self.who("k")["claimable"], "its TTL is over")
        self.assertEqual(self.who("k")["state"], "held")
        self.assertIn("k is expired, but still with", self.tenure("who", "k", check=0).stdout)
        return done

    def test_a_late_renewal_with_nobody_in_between_succeeds_and_says_so(self):
        for options in ((), ("--pid", str(self.owner().pid))):
            with self.subTest(options=options):
                claim = self.expired(*options)
                env = {"TENURE_HANDLE": claim["handle"]}
                self.tenure("verify", env=env, check=76)
                self.tenure("who", "k", "--quiet", check=1)
                late = json.loads(self.tenure("renew", "--json", env=env, check=0).stdout)
                self.assertGreaterEqual(late["late_ms"], 0)
                self.assertEqual(late["epoch"], claim["epoch"])
                until(lambda: self.who("k")["claimable"], "its TTL is over again")
                self.assertIn("late by", self.tenure("renew", env=env, check=0).stdout)
                self.assertFalse(gone(claim["keeper_pid"]))
                self.tenure("release", env=env, check=0)
                until(lambda: gone(claim["keeper_pid"]), "the keeper has ended")

    def test_past_its_ttl_others_take_it_at_once_and_the_keeper_ends(self):
        claim = self.expired()
        taken = self.tenure("run", "k", "--wait", "0", "--", "sh", "-c", "echo $TENURE_EPOCH", check=0)
        self.assertGreater(int(taken.stdout), claim["epoch"])
        until(lambda: gone(claim["keeper_pid"]), "the keeper has ended")
        self.tenure("renew", env={"TENURE_HANDLE": claim["handle"]}, check=76)

    def test_past_its_ttl_the_keeper_still_ends_with_its_owner(self):
        owner = self.owner()
        claim = self.expired("--pid", str(owner.pid))
        owner.process.kill()
        owner.wait()
        until(lambda: gone(claim["keeper_pid"]), "the keeper has ended", bound=20)
        self.assertEqual(self.who("k")["state"], "free")

    def test_closed_streams(self):
        for closed in ("<&-", ">&-", "2>&-", "<&- >&-", "<&- 2>&-", "<&- >&- 2>&-"):
            for how in ("--ttl 1h", f"--pid {self.owner().pid}"):
                with self.subTest(closed=closed, how=how):
                    path = self.path("h-" + os.urandom(4).hex())
                    self.shell(f"tenure claim k {how} --handle-file {path} {closed}", check=0)
                    self.tenure("verify", "--handle-file", path, check=0)
                    self.tenure("release", "--handle-file", path, check=0)
        handle = self.shell("tenure claim k --ttl 1h <&- 2>&-", check=0).stdout.strip()
        self.tenure("verify", env={"TENURE_HANDLE": handle}, check=0)

    def test_too_few_descriptors_are_named(self):
        refused = 0
        for limit in range(8, 40):
            done = self.shell(f"ulimit -n {limit}; exec tenure claim k-{limit} --ttl 1h --json")
            with self.subTest(limit=limit, err=done.stderr):
                if done.returncode == 0:
                    self.tenure("release", env={"TENURE_HANDLE": json.loads(done.stdout)["handle"]}, check=0)
                    continue
                refused += 1
                self.assertEqual(json.loads(done.stderr)["error"]["code"], "no_descriptors")
        self.assertGreater(refused, 0)

    def test_a_renewed_ttl_goes_on(self):
        handle = self.tenure("claim", "k", "--ttl", "3s", check=0).stdout.strip()
        waiter = self.start("run", "k", "--wait", "6s", "--", "true")
        until(lambda: "waiting" in waiter.err, "it waits")
        while waiter.process.poll() is None:
            done = self.tenure("renew", "--json", env={"TENURE_HANDLE": handle}, check=0)
            self.assertLessEqual(json.loads(done.stdout)["remaining_ms"], 3000)
        self.assertEqual(waiter.wait(), 75, "six seconds went by under a TTL of three")
        self.tenure("release", env={"TENURE_HANDLE": handle}, check=0)

    def test_for_session(self):
        leader = self.start_program(["sh", "-c", f"tenure claim k --for session > {self.path('h')}; exec cat"],
                                    stdin=subprocess.PIPE, start_new_session=True)
        until(lambda: content(self.path("h")), "claimed")
        self.assertEqual(self.who("k")["holder"]["pid"], leader.pid)
        leader.process.stdin.close()
        leader.wait()
        self.until_free("k")

    def test_without_an_end_it_is_refused_with_an_example_that_works(self):
        done = self.tenure("claim", "k", check=64)
        example = re.search(r"handle=\$\(.*\)", done.stderr).group()
        self.assertIn("--pid $$", example)
        self.shell(f'{example} && TENURE_HANDLE="$handle" tenure verify', check=0)

    def test_owners_that_cannot_be(self):
        zombie = subprocess.Popen(["true"])
        until(lambda: state_of(zombie.pid) == "Z", "it is a zombie")
        done = self.tenure("claim", "k", "--pid", str(zombie.pid), check=64)
        self.assertIn("zombie", done.stderr)
        zombie.wait()
        for pid in (str(zombie.pid), "0", "-1", "x", "", "99999999999", "4194304"):
            with self.subTest(pid=pid):
                self.tenure("claim", "k", "--pid=" + pid, check=64)
        self.assertFalse(self.who("k")["held"])

    def test_an_interrupted_wait_leaves_nothing(self):
        holder = self.holder("k")
        claim = self.start("claim", "k", "--pid", str(os.getpid()), "--wait", "forever")
        until(lambda: "waiting" in claim.err, "it waits")
        keeper = int(content(f"/proc/{claim.pid}/task/{claim.pid}/children"))
        claim.send(signal.SIGINT)
        self.assertEqual(claim.wait(), -signal.SIGINT)
        until(lambda: gone(keeper), "the keeper has ended")
        holder.process.terminate()
        holder.wait()
        self.assertFalse(self.who("k")["held"])

    def test_a_killed_claim_leaves_nothing(self):
        holder = self.holder("k")
        claim = self.start("claim", "k", "--pid", str(os.getpid()), "--wait", "forever")
        until(lambda: "waiting" in claim.err, "it waits")
        keeper = int(content(f"/proc/{claim.pid}/task/{claim.pid}/children"))
        claim.process.kill()
        claim.wait()
        until(lambda: gone(keeper), "the keeper has ended")
        holder.process.terminate()
        holder.wait()
        self.assertFalse(self.who("k")["held"])

    def test_a_handle_that_cannot_be_handed_over_is_no_claim(self):
        owner = self.owner()
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, "claim", "k", "--pid", str(owner.pid)], env=self.env, stdout=full,
                                  stderr=subprocess.PIPE, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 73, done.stderr)
        self.until_free("k")


class Handles(Claims):
    def test_they_come_by_environment_file_and_stdin(self):
        handle = self.claim("k").stdout.strip()
        with open(self.path("h"), "w") as file:
            file.write(handle + "\n")
        self.tenure("verify", env={"TENURE_HANDLE": handle}, check=0)
        self.tenure("verify", "--handle-file", self.path("h"), check=0)
        self.tenure("verify", "--handle-file", "-", input=handle, check=0)
        self.tenure("renew", "-", input=handle + "\n", check=0)
        self.tenure("release", "-", input=handle + "\n", check=0)
        self.assertFalse(self.who("k")["held"])

    def test_a_handle_works_from_another_folder(self):
        owner = self.owner()
        done = self.tenure("claim", "k", "--space", "files:there", "--pid", str(owner.pid), check=0)
        self.tenure("verify", env={"TENURE_HANDLE": done.stdout.strip()}, cwd="/", check=0)

    def test_never_as_an_argument(self):
        handle = self.claim("k").stdout.strip()
        for words in (("verify", handle), ("release", handle), ("renew", "--handle-file=" + handle), ("who", handle)):
            with self.subTest(command=words[0]):
                done = self.tenure(*words, check=64)
                self.assertIn("handle", done.stderr)
                self.assertNotIn(handle.split(":")[1], done.stdout + done.stderr)
        self.tenure("verify", env={"TENURE_HANDLE": handle}, check=0)

    def test_a_key_is_no_handle(self):
        self.claim("k")
        done = self.tenure("release", "k", check=64)
        self.assertIn("handle", done.stderr)

    def test_release_says_what_happened(self):
        handle = self.claim("k").stdout.strip()
        env = {"TENURE_HANDLE": handle}
        self.tenure("release", env=env, check=0)
        again = self.tenure("release", env=env, check=76)
        self.assertIn("k", again.stderr)
        self.tenure("verify", env=env, check=76)
        self.tenure("renew", env=env, check=76)
        # Nor does it touch the successor.
        self.claim("k", "--owner", "next")
        self.tenure("release", env=env, check=76)
        self.assertEqual(self.who("k")["holder"]["owner"], "next")

    def test_the_keeper_ends_when_another_process_releases(self):
        claim = self.claim_json("k")
        self.tenure("release", env={"TENURE_HANDLE": claim["handle"]}, check=0)
        until(lambda: gone(claim["keeper_pid"]), "the keeper has ended")

    def test_damaged_ones_are_refused_and_not_repeated(self):
        handle = self.claim("k").stdout.strip()
        secret = handle.split(":")[1]
        for text in (handle[:-1], handle + "0", handle.replace("tenure1", "tenure9"), "x" * 100, "x" * 9000, "",
                     handle.replace(secret, secret[::-1])):
            with self.subTest(length=len(text)):
                done = self.tenure("verify", "-", input=text)
                self.assertIn(done.returncode, (64, 73))
                self.assertNotIn(secret, done.stderr)
                self.assertNotIn(secret[::-1], done.stderr)

    def test_a_handle_file_is_new_private_and_whole(self):
        path = self.path("secret")
        done = self.claim("k", "--handle-file", path)
        self.assertEqual(done.stdout, "")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        self.tenure("verify", "--handle-file", path, check=0)
        before = content(path)
        self.claim("other", "--handle-file", path, check=64)
        self.assertEqual(content(path), before)
        self.assertFalse(self.who("other")["held"])
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("secret")], ["secret"])

    def test_a_refused_claim_leaves_no_handle_file(self):
        self.holder("k")
        self.claim("k", "--handle-file", self.path("secret"), check=75)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("secret")], [])

    def test_json_with_a_handle_file_keeps_the_secret_out(self):
        done = self.claim_json("k", "--handle-file", self.path("secret"))
        self.assertNotIn("handle", done)
        self.assertNotIn(content(self.path("secret")).split(":")[1], json.dumps(done))

    def test_the_secret_is_in_no_list_log_or_argument(self):
        handle = self.claim("k", "--reason", "secret things").stdout.strip()
        secret = handle.split(":")[1]
        env = {"TENURE_HANDLE": handle}
        waiter = self.start("run", "k", "--", "true")
        until(lambda: "waiting" in waiter.err, "it waits")
        texts = [waiter.err, self.tenure("verify", env=env, check=0).stdout, self.tenure("renew", env=env, check=0).stdout]
        for words in (("who", "k"), ("who", "k", "--json"), ("ls",), ("ls", "--json"),
                      ("watch", "--count", "1"), ("revoke", "k"), ("revoke", "k", "--json"),
                      ("run", "k", "--wait", "0", "--json", "--", "true")):
            done = self.tenure(*words)
            texts += [done.stdout, done.stderr]
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                texts.append(content(f"/proc/{pid}/cmdline"))
            except (ProcessLookupError, PermissionError):
                pass
        for text in texts:
            self.assertNotIn(secret, text.replace("-", ""))


if __name__ == "__main__":
    main()
