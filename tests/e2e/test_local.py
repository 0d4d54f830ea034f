"""Local spaces from outside: every command, contention and death, tables that vanish, are full or damaged, a reboot, several
users, namespaces."""

import json
import os
import shutil
import signal
import stat
import subprocess
import unittest

from e2e import PROGRAM, Case, content, gone, main, remedies, until

AS_ROOT = os.geteuid() == 0
OTHER_USER, OTHER_GROUP = 65534, 65534  # nobody


def permitted(*words):
    """Whether this machine lets us run such a thing."""
    try:
        return subprocess.run([*words, "true"], capture_output=True, timeout=30, stdin=subprocess.DEVNULL).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


class Local(Case):
    def setUp(self):
        super().setUp()
        self.space = os.path.join(self.home, "local", "default")

    def events(self, *words):
        done = self.tenure("log", "--json", *words, check=0)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def table(self, name="table"):
        return os.path.join(self.space, name)

    def error(self, *words, code, **more):
        done = self.tenure(*words, "--json", check=code, **more)
        return json.loads(done.stderr)["error"]

    def epoch_of_run(self, *words):
        done = self.tenure("run", "k", *words, "--", "sh", "-c", "echo $TENURE_EPOCH", check=0)
        return int(done.stdout)


class Commands(Local):
    def test_the_default_is_local(self):
        self.tenure("run", "k", "--", "true", check=0)
        self.assertTrue(os.path.exists(self.table()))
        self.assertEqual(stat.S_IMODE(os.stat(self.space).st_mode), 0o700)
        self.assertEqual(stat.S_IMODE(os.stat(self.table()).st_mode), 0o600)
        spaces = json.loads(self.tenure("space", "ls", "--json", check=0).stdout)["spaces"]
        self.assertEqual([(each["url"], each["default"], each["engine"]) for each in spaces], [("local:", True, "local")])

    def test_names_and_folders_are_spaces_of_their_own(self):
        run = self.holder("k", "--space", "local:ci")
        for space, held in (("local:", False), ("local:ci", True), ("local:" + self.home + "/local/ci", True),
                            ("local:" + self.path("own"), False), ("files:" + self.home + "/local/ci", False)):
            with self.subTest(space=space):
                if space.endswith("own"):
                    self.tenure("run", "x", "--space", space, "--", "true", check=0)
                if not space.startswith("files"):
                    self.assertEqual(self.who("k", "--space", space)["held"], held)
        for step in self.who("k", "--space", "local:" + self.home + "/local/ci")["next"]:
            self.assertIn(" --space local:ci ", step["command"])
        self.assertIsNone(run.process.poll())

    def test_bad_urls(self):
        for url in ("local:.x", "local:a/b", "local:" + "n" * 65, "local:a b", "system:/x", "local:?x", "local:?expiry=age",
                    "local:?volatile&volatile", "system:.."):
            with self.subTest(url=url):
                self.assertEqual(self.error("who", "k", "--space", url, code=64)["code"], "bad_url")

    def test_looking_makes_no_table(self):
        self.assertEqual(self.who("k")["state"], "free")
        self.assertIn("nothing is held", self.tenure("ls", check=0).stdout)
        self.assertIn("nothing is recorded", self.tenure("log", check=0).stdout)
        self.tenure("watch", "--for", "10ms", check=0)
        self.assertFalse(os.path.exists(self.table()))
        self.assertEqual(self.error("who", "k", "--space", "local:none", code=69)["code"], "unreachable")

    def test_a_watch_sees_the_first_table_come(self):
        watch = self.start("watch", "--json", "--count", "1")
        self.assertFalse(os.path.exists(self.table()))
        run = self.holder("k")
        self.assertEqual(watch.wait(), 0)
        self.assertEqual(json.loads(watch.out)["epoch"], run.epoch)

    def test_claim_renew_verify_release_by_handle(self):
        owner = self.owner()
        done = self.tenure("claim", "k", "--pid", str(owner.pid), "--ttl", "1h", "--space", "local:x", check=0)
        # The handle finds its space from another environment.
        elsewhere = {"TENURE_HANDLE": done.stdout.strip(), "TENURE_HOME": self.path("other-home")}
        self.tenure("verify", env=elsewhere, check=0)
        self.tenure("renew", env=elsewhere, check=0)
        self.assertEqual([each["key"] for each in json.loads(
            self.tenure("ls", "--json", "--space", "local:x", check=0).stdout)["leases"]], ["k"])
        self.tenure("release", env=elsewhere, check=0)
        self.tenure("verify", env=elsewhere, check=76)

    def test_ls_and_who_show_the_line(self):
        self.holder("k", "--reason", "mine")
        self.start("run", "k", "--", "true")
        until(lambda: self.who("k").get("note") == "1 in line", "the waiter stands in line")
        text = self.tenure("ls", check=0).stdout
        self.assertIn("1 in line; mine", text)
        self.assertIn(self.space, text.replace("\n", ""))
        self.assertIn("1 in line", self.tenure("who", "k", check=0).stdout)

    def test_owner_any_for_root_alone(self):
        if not AS_ROOT:
            self.skipTest("not root: a folder of another user cannot be made")
        folder = self.path("theirs")
        os.mkdir(folder, 0o700)
        os.chown(folder, OTHER_USER, OTHER_GROUP)
        self.assertEqual(self.error("claim", "k", "--ttl", "1s", "--space", "local:" + folder, code=77)["code"],
                         "unsafe_folder")
        self.tenure("run", "k", "--space", f"local:{folder}?owner=any", "--", "true", check=0)

    def test_volatile(self):
        if not os.path.isdir("/dev/shm"):
            self.skipTest("no tmpfs here")
        folder = "/dev/shm/tenure-e2e-" + os.urandom(4).hex()
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        error = self.error("claim", "k", "--ttl", "1s", "--space", "local:" + folder, code=69)
        self.assertEqual(error["code"], "unsuitable_folder")
        self.assertIn("?volatile", error["remedy"])
        self.tenure("run", "k", "--space", f"local:{folder}?volatile", "--", "true", check=0)


class Log(Local):
    def test_a_killed_holder_and_its_successor(self):
        first = self.holder("k", "--owner", "alice", "--reason", "one")
        second = self.start("run", "k", "--owner", "bob", "--", "sh", "-c", "echo $TENURE_EPOCH")
        until(lambda: self.who("k").get("note") == "1 in line", "the second waits")
        first.process.kill()
        self.assertEqual(second.wait(), 0)
        self.assertGreater(int(second.out), first.epoch)
        until(lambda: gone(first.child), "its command ended with it")
        events = self.events("k")
        self.assertEqual([(each["event"], each["owner"]) for each in events][0], ("claimed", "alice"))
        taken = [each for each in events if each["event"] == "taken_over"]
        self.assertEqual([(each["epoch"], each["pid"]) for each in taken], [(first.epoch, second.pid)])
        self.assertIn(("bob", int(second.out)), [(each["owner"], each["epoch"]) for each in events if
                                                 each["event"] in ("claimed", "handed_over")])
        self.assertTrue(taken[0]["why"])
        self.assertEqual(events[-1]["event"], "released")
        numbers = [each["number"] for each in events]
        self.assertEqual(numbers, sorted(set(numbers)))
        for each in events:
            self.assertEqual(set(each), {"number", "at", "event", "key", "epoch", "pid", "owner", "why"})
            self.assertRegex(each["at"], r"^\d{4}-\d\d-\d\dT.*Z$")

    def test_text(self):
        run = self.holder("some key", "--owner", "alice")
        self.tenure("revoke", "some key", "--force", "--reason", "many words " * 20, check=0)
        run.wait()
        text = self.tenure("log", check=0).stdout
        self.assert_fits(text)
        self.assertRegex(text, r"[A-Z][a-z][a-z] [ \d]\d \d\d:\d\d:\d\d claimed +some key +" + str(run.epoch))
        self.assertRegex(text, r"revoked +some key")
        self.assertIn("many words", text)
        self.assertEqual(self.tenure("log", "other", check=0).stdout.splitlines()[-1], "nothing is recorded")

    def test_follow(self):
        follow = self.start("log", "--follow", "--json")
        run = self.holder("k")
        until(lambda: "claimed" in follow.out, "the claim is told")
        run.process.stdin.close()
        run.wait()
        until(lambda: "released" in follow.out, "the release is told")
        self.assertIsNone(follow.process.poll())
        told = [json.loads(line)["event"] for line in follow.out.splitlines()]
        self.assertEqual(told, ["claimed", "released"])
        follow.send(signal.SIGINT)
        self.assertEqual(follow.wait(), -signal.SIGINT)

    def test_engines_without_one(self):
        error = self.error("log", "--space", "files:" + self.path("f"), code=69)
        self.assertEqual(error["code"], "unreachable")
        self.tenure("run", "k", "--space", "files:" + self.path("f"), "--", "true", check=0)
        for more in ((), ("--follow",)):
            error = self.error("log", *more, "--space", "files:" + self.path("f"), code=64)
            self.assertEqual(error["code"], "unsupported")
            self.assertTrue(error["remedy"])


class Damage(Local):
    def test_a_table_deleted_under_a_holder(self):
        run = self.holder("k")
        os.remove(self.table())
        self.assertEqual(run.wait(20), 76, run.err)
        self.assertIn("lost k", run.err)
        self.assertGreater(self.epoch_of_run(), run.epoch)

    def test_a_folder_moved_away_under_a_holder(self):
        run = self.holder("k")
        os.rename(self.space, self.path("away"))
        self.assertEqual(run.wait(20), 76, run.err)

    def test_noise_in_one_copy_of_the_ceiling(self):
        for name in ("ceiling", "ceiling.copy"):
            before = self.epoch_of_run()
            self.forget_table()
            with open(self.table(name), "wb") as file:
                file.write(os.urandom(100))
            self.assertGreater(self.epoch_of_run(), before, name)

    def test_noise_in_both_is_repaired_by_the_printed_command(self):
        before = self.epoch_of_run()
        self.forget_table()
        for name in ("ceiling", "ceiling.copy"):
            with open(self.table(name), "wb") as file:
                file.write(os.urandom(100))
        done = self.tenure("run", "k", "--", "true", check=77)
        command = next(each for each in remedies(done.stderr) if "repair" in each)
        self.assertEqual(command, "tenure space repair --space local: --reason 'the ceiling is lost'")
        self.assertEqual(self.error("space", "repair", code=64)["code"], "usage")
        self.shell(command, check=0)
        self.assertGreater(self.epoch_of_run(), before)
        repaired = [each for each in self.events() if each["event"] == "repaired"]
        self.assertEqual([each["why"] for each in repaired], ["the ceiling is lost"])

    def test_a_repair_under_living_members_goes_by_their_table(self):
        run = self.holder("k")
        for name in ("ceiling", "ceiling.copy"):
            os.remove(self.table(name))
        self.tenure("space", "repair", "--reason", "both gone", check=0)
        self.assertTrue(os.path.exists(self.table("ceiling")) and os.path.exists(self.table("ceiling.copy")))
        self.assertIsNone(run.process.poll())
        self.assertTrue(self.who("k")["held"])

    def test_a_noisy_table_with_nobody_in_it_is_made_anew(self):
        before = self.epoch_of_run()
        with open(self.table(), "r+b") as file:
            file.write(os.urandom(8192))
        self.assertGreater(self.epoch_of_run(), before)

    def test_a_reboot(self):
        before = self.epoch_of_run()
        self.tenure("space", "init", "--keys", "1000", check=0)
        run = self.holder("old")
        run.process.kill()
        run.wait()
        until(lambda: gone(run.child), "all of it is gone")
        with open(self.table(), "r+b") as file:
            data = file.read(4096)
            boot = content("/proc/sys/kernel/random/boot_id").strip().encode()
            self.assertIn(boot, data)
            file.seek(data.index(boot))
            file.write(b"00000000-0000-0000-0000-000000000000"[:len(boot)])
        self.assertEqual(self.who("old")["state"], "free")
        self.assertGreater(self.epoch_of_run(), max(before, run.epoch))
        # The wanted limits outlive it.
        self.assertEqual(self.inside()["keys_limit"], 1024)

    def test_doctor_sees_damaged_copies_and_a_copied_folder(self):
        self.epoch_of_run()
        self.assertEqual(self.probe("ceiling")["finding"], "good")
        with open(self.table("ceiling"), "wb") as file:
            file.write(b"noise")
        self.assertEqual(self.probe("ceiling")["finding"], "limited")
        shutil.copytree(self.space, self.path("copy"))
        copied = self.probe("ceiling", "--space", "local:" + self.path("copy"))
        self.assertIn("copied", copied["evidence"])
        self.assertGreater(int(self.tenure("run", "k", "--space", "local:" + self.path("copy"), "--", "sh", "-c",
                                           "echo $TENURE_EPOCH", check=0).stdout), self.epoch_of_run() + 1_000_000)

    def probe(self, name, *words):
        done = self.tenure("doctor", "--json", *words)
        return next(each for each in json.loads(done.stdout)["probes"] if each["name"] == name)

    def inside(self):
        spaces = json.loads(self.tenure("space", "ls", "--json", check=0).stdout)["spaces"]
        return next(each for each in spaces if each["chosen"])["table"]

    def forget_table(self):
        os.remove(self.table())


class Room(Local):
    def test_a_full_table_names_its_limit_and_the_way_out(self):
        self.tenure("space", "init", "--keys", "10", check=0)
        owner, claims = self.owner(), 0
        while True:
            done = self.tenure("claim", f"k{claims}", "--pid", str(owner.pid))
            if done.returncode != 0:
                break
            claims += 1
            self.assertLess(claims, 100)
        self.assertEqual(done.returncode, 73, done.stderr)
        self.assertGreaterEqual(claims, 10)
        self.assertIn("full", done.stderr)
        self.assertIn("--keys", done.stderr)
        # What others hold is untouched, and room is there again when they have left.
        self.assertTrue(self.who("k0")["held"])
        refused = self.tenure("space", "init", "--keys", "1000", check=77)
        self.assertIn("processes have it open", refused.stderr)
        self.assertIn("/lock", refused.stderr)
        owner.process.kill()
        owner.wait()
        until(lambda: not json.loads(self.tenure("ls", "--json").stdout)["leases"], "all is given back")
        until(lambda: self.tenure("space", "init", "--keys", "1000").returncode == 0, "all keepers have left")
        self.tenure("run", "k", "--", "true", check=0)

    def test_too_many_members(self):
        self.tenure("space", "init", "--members", "2", check=0)
        self.holder("a")
        self.holder("b")
        done = self.tenure("run", "c", "--", "true", check=73)
        self.assertIn("2", done.stderr)
        self.assertIn("tenure space init --members 4 --space local:", " ".join(done.stderr.split()))
        self.assertTrue(self.who("a")["held"])

    def test_numbers(self):
        for words in (("--keys", "0"), ("--keys", "x"), ("--keys", "99999999999"), ("--members", "0")):
            self.assertEqual(self.error("space", "init", *words, code=64)["code"], "usage")
        self.assertEqual(self.error("space", "ls", "--keys", "5", code=64)["code"], "usage")
        self.assertEqual(self.error("space", "init", "--keys", "5", "--space", "files:" + self.path("f"), code=64)["code"],
                         "unsupported")


class Operators(Local):
    def test_move_and_purge_only_when_nobody_is_in(self):
        run = self.holder("k")
        for words in (("move", self.path("new")), ("purge",), ("purge", "--force")):
            with self.subTest(words=words):
                done = self.tenure("space", *words, check=77)
                self.assertIn(f"pid {run.pid}", " ".join(done.stderr.split()))
        run.process.stdin.close()
        run.wait()
        moved = json.loads(self.tenure("space", "move", self.path("new"), "--json", check=0).stdout)
        self.assertEqual(moved["url"], "local:" + self.path("new"))
        self.assertFalse(os.path.exists(self.space))
        self.assertEqual([each["event"] for each in self.events("--space", moved["url"])], ["claimed", "released"])
        after = int(self.tenure("run", "k", "--space", moved["url"], "--", "sh", "-c", "echo $TENURE_EPOCH", check=0).stdout)
        self.assertEqual(after, run.epoch + 1)
        self.tenure("space", "purge", "--space", moved["url"], check=0)
        self.assertFalse(os.path.exists(self.path("new")))
        self.tenure("space", "purge", "--space", moved["url"], check=69)

    def test_a_lease_that_outlives_its_member_is_not_purged(self):
        run = self.start("run", "k", "--", "sh", "-c", f"echo $$ > {self.path('pid')}; exec 3<&0; cat <&3 & exec cat",
                         stdin=subprocess.PIPE)
        until(lambda: content(self.path("pid")), "it runs")
        until(lambda: self.who("k")["held"], "it is held")
        self.kill_with_guardian(run)
        self.assertTrue(self.who("k")["held"])
        self.tenure("space", "purge", check=77)
        run.process.stdin.close()
        self.until_free("k")
        until(lambda: self.tenure("space", "purge").returncode == 0, "it can be purged")

    def test_ls_says_who_is_in(self):
        run = self.holder("k")
        info = json.loads(self.tenure("space", "ls", "--json", check=0).stdout)["spaces"][0]
        self.assertEqual([(each["pid"], each["keys"]) for each in info["table"]["members"]], [(run.pid, 1)])
        self.assertIn(f"pid {run.pid}, holds 1", self.tenure("space", "ls", check=0).stdout)


@unittest.skipUnless(AS_ROOT, "not root: no second user, no namespaces")
class Borders(Local):
    def test_two_users_of_one_group(self):
        if not permitted("unshare", "-m") or not permitted("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"):
            self.skipTest("no mount namespace, or no setpriv")
        for name in ("var", "nobody"):
            os.mkdir(self.path(name))
        os.chmod(self.folder, 0o755)
        os.chown(self.path("nobody"), OTHER_USER, OTHER_GROUP)
        program = self.path("tenure")
        shutil.copy(PROGRAM, program)
        script = f"""set -e
mount --bind {self.path('var')} /var/lib
export TENURE_SPACE=system:team
other() {{ env TENURE_HOME={self.path('nobody')} setpriv --reuid={OTHER_USER} --regid={OTHER_GROUP} --clear-groups "$@"; }}
other {program} run k -- true && exit 91
{program} space init
other {program} run k -- true && exit 92
chgrp -R {OTHER_GROUP} /var/lib/tenure/team
stat -c %a /var/lib/tenure/team
other {program} run k -- sh -c 'echo other $TENURE_SPACE'
{program} run k -- sh -c "env TENURE_HOME={self.path('nobody')} setpriv --reuid={OTHER_USER} --regid={OTHER_GROUP} \
--clear-groups {program} run k --no-reentrant --wait 0 -- true; echo refused \\$?"
other {program} run k -- {program} who k --quiet && echo seen
{program} run k -- echo again
"""
        done = subprocess.run(["unshare", "-m", "sh", "-c", script], env=self.env, text=True, capture_output=True, timeout=120,
                              cwd="/", stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for line in ("2770", "other system:team", "refused 75", "seen", "again"):
            self.assertIn(line + "\n", done.stdout, done.stderr)

    def in_namespace(self, *words):
        for unshare in (["unshare", "-pf", "--mount-proc"], ["unshare", "-pf"]):
            if not permitted(*unshare):
                self.skipTest("no pid namespaces: " + " ".join(unshare))
            yield [*unshare, PROGRAM, *words]

    def test_pid_namespaces_share_a_folder(self):
        run = self.holder("k")
        for words in self.in_namespace("run", "k", "--wait", "0", "--", "true"):
            done = subprocess.run(words, env=self.env, text=True, capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 75, done.stderr)
        waiters = [self.start_program(words) for words in self.in_namespace("run", "k", "--", "true")]
        until(lambda: self.who("k").get("note") == f"{len(waiters)} in line", "they stand in line")
        run.process.kill()
        for waiter in waiters:
            self.assertEqual(waiter.wait(), 0, waiter.err)

    def test_a_holder_in_a_namespace_dies(self):
        for words in self.in_namespace("run", "k", "--", "sh", "-c", f"echo > {self.path('began')}; exec cat"):
            held = self.start_program(words, stdin=subprocess.PIPE)
            until(lambda: os.path.exists(self.path("began")), "it runs")
            os.remove(self.path("began"))
            self.assertTrue(self.who("k")["held"])
            self.tenure("run", "k", "--wait", "0", "--", "true", check=75)
            held.process.kill()
            held.wait()
            held.process.stdin.close()
            self.assertEqual(self.tenure("run", "k", "--wait", "60s", "--", "true").returncode, 0)

    def test_without_proc_of_others(self):
        if not permitted("unshare", "-m", "sh", "-c", "mount -t proc -o hidepid=2 proc /proc"):
            self.skipTest("hidepid cannot be mounted here")
        run = self.holder("k")
        hidden = (f"mount -t proc -o hidepid=2 proc /proc && exec setpriv --reuid={OTHER_USER} --regid={OTHER_GROUP} "
                  f"--clear-groups {self.path('tenure')} who k --json --space local:{self.space}")
        shutil.copy(PROGRAM, self.path("tenure"))
        for folder in (self.folder, self.home, os.path.dirname(self.space), self.space):
            os.chmod(folder, 0o755)
        for name in ("table", "lock"):
            os.chmod(self.table(name), 0o644)
        done = subprocess.run(["unshare", "-m", "sh", "-c", hidden], env=self.env, text=True, capture_output=True, timeout=60,
                              cwd="/", stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stderr)
        seen = json.loads(done.stdout)
        self.assertTrue(seen["held"])
        self.assertEqual((seen["epoch"], seen["liveness"]), (run.epoch, "live"))

    def test_an_overlay_folder(self):
        if not permitted("unshare", "-m"):
            self.skipTest("no mount namespaces")
        for name in ("lower", "upper", "work", "merged"):
            os.mkdir(self.path(name))
        script = (f"mount -t overlay overlay -o lowerdir={self.path('lower')},upperdir={self.path('upper')},"
                  f"workdir={self.path('work')} {self.path('merged')} || exit 99\n"
                  f"{PROGRAM} run k --space local:{self.path('merged')}/s -- {PROGRAM} who k --space "
                  f"local:{self.path('merged')}/s --quiet && {PROGRAM} doctor --space local:{self.path('merged')}/s --json")
        done = subprocess.run(["unshare", "-m", "sh", "-c", script], env=self.env, text=True, capture_output=True, timeout=120,
                              cwd="/", stdin=subprocess.DEVNULL)
        if done.returncode == 99:
            self.skipTest("overlay cannot be mounted here")
        probes = {each["name"]: each for each in json.loads(done.stdout)["probes"]}
        self.assertEqual(probes["local file system"]["finding"], "limited", done.stdout)
        self.assertIn("overlay", probes["local file system"]["evidence"])


class Doctor(Local):
    def test_all_that_local_needs_is_tried(self):
        self.tenure("run", "k", "--", "true", check=0)
        done = self.tenure("doctor", "--json")
        probes = {each["name"]: each for each in json.loads(done.stdout)["probes"]}
        for name in ("local file system", "member", "robust list", "own descriptors", "wiped pages", "futex_waitv", "ceiling",
                     "members"):
            self.assertIn(name, probes)
            self.assertNotEqual(probes[name]["finding"], "bad", probes[name])
        self.assertEqual([name for name in os.listdir(self.space) if "doctor" in name or "probe" in name], [])

    def test_xdg_state_home_is_reported_and_not_followed(self):
        env = {"TENURE_HOME": None, "XDG_STATE_HOME": self.path("xdg")}
        probes = json.loads(self.tenure("doctor", "--json", "--space", "local:" + self.path("s"), env=env).stdout)["probes"]
        state = next(each for each in probes if each["name"] == "state folder")
        self.assertIn("XDG_STATE_HOME", state["evidence"])


if __name__ == "__main__":
    main()
