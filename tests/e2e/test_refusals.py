"""Bad input and bad surroundings: each is refused by its own code, with a message that names the thing and the way out."""

import json
import os
import re
import signal
import subprocess

from e2e import PROGRAM, Case, content, main, remedies


class Usage(Case):
    def code(self, *words, **more):
        done = self.tenure(*words, **more)
        self.assertTrue(done.stderr.strip(), words)
        return done.returncode

    def test_bad_keys(self):
        for key in ("", " ", " k", "k ", "a\nb", "a\x01b", "a\x7fb", "k" * 513, b"\xff".decode("utf-8", "surrogateescape"),
                    "a\u0085b"):
            for command in (("who",), ("revoke",), ("claim", "--ttl", "1s")):
                with self.subTest(key=key, command=command):
                    self.assertEqual(self.code(*command, key), 64)
            with self.subTest(key=key, command="run"):
                self.assertEqual(self.code("run", key, "--", "touch", self.path("ran")), 64)
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_keys_at_the_limit(self):
        for key in ("k" * 512, "é" * 256, "../../etc/passwd", "/", ".", "..", "~", "*", "a" * 250 + "1", "a" * 250 + "2",
                    "[a,b]", "{}", "%%", "@file", "日本語", "--", "-"):
            with self.subTest(key=key):
                done = self.tenure("run", "--key=" + key, "--", "sh", "-c", 'echo "$TENURE_KEY"', check=0)
                self.assertEqual(done.stdout, key + "\n")
        self.assertFalse(os.path.exists(self.path("etc")))

    def test_labels_and_reasons(self):
        for option in ("--owner", "--part", "--session", "--channel", "--version"):
            self.assertEqual(self.code("run", "k", option, "x" * 257, "--", "true"), 64, option)
            self.assertEqual(self.code("run", "k", option, "a\x1bb", "--", "true"), 64, option)
            self.tenure("run", "k", option, "x" * 256, "--", "true", check=0)
        self.assertEqual(self.code("run", "k", "--reason", "x" * 1025, "--", "true"), 64)
        self.tenure("run", "k", "--reason", "x" * 1024, "--", "true", check=0)
        self.tenure("run", "k", "--reason", "[a, b]", "--", "true", check=0)

    def test_durations(self):
        for text in ("5", "5x", "-1s", "", "1e9s", "99999999999h", "5 m", "abc"):
            for option in ("--wait", "--ttl", "--grace"):
                with self.subTest(option=option, text=text):
                    self.assertEqual(self.code("run", "k", f"{option}={text}", "--", "true"), 64)
        self.assertEqual(self.code("run", "k", "--ttl", "0", "--", "true"), 64)

    def test_urls(self):
        for url in ("nonsense", "files:", "ftp://x/y", "files:/tmp/x?what=1", "files:" + "x" * 5000, ":", "files:a\x01b"):
            with self.subTest(url=url[:20]):
                self.assertEqual(self.code("who", "k", "--space", url), 64)

    def test_command_lines(self):
        for words in (("run",), ("run", "k"), ("run", "k", "--"), ("run", "k", "true"), ("run", "--", "true"), ("who",),
                      ("who", "a", "b"), ("who", "k", "--nonsense"), ("run", "k", "--on-lost", " ", "--", "true"),
                      ("run", "k", "--until", "x", "--", "true"), ("run", "k", "--busy-exit", "256", "--", "true"),
                      ("revoke", "k", "--epoch", "x"), ("revoke", "k", "--epoch", str(2 ** 53)), ("watch", "--count", "-1"),
                      ("claim", "k", "--for", "ever"), ("verify",), ("verify", "k"), ("verify", "k", "--epoch", "x"), ("verify", "--space", "local:"),
                      ("verify", "--epoch", "3"), ("write",), ("write", "k"), ("write", "k", "f"),
                      ("write", "k", "--epoch", "3"), ("write", "k", "f", "--epoch", "3", "--size", "-1"),
                      ("space", "nonsense"), ("nonsense",), (),
                      ("who", "k", "--space"), ("run", "k", "--owner", "a", "--owner", "b", "--", "true")):
            with self.subTest(words=words):
                self.assertEqual(self.code(*words), 64)

    def test_the_nearest_word_is_suggested(self):
        self.assertIn("revoke", self.tenure("revok", "k", check=64).stderr)
        self.assertIn("did you mean watch", self.tenure("wacth", check=64).stderr)
        self.assertIn("--reason", self.tenure("revoke", "k", "--reson", "x", check=64).stderr)
        self.assertNotIn("did you mean", self.tenure("zzzzzzzzzz", check=64).stderr)

    def test_words_of_the_command_line_are_escaped(self):
        for words in (("\x1b[31m",), ("who", "k", "--\x1b[31m"), ("help", "\x1b]0;x\x07")):
            done = self.tenure(*words, check=64)
            self.assertNotRegex(done.stderr, r"[\x00-\x09\x0b-\x1f\x7f]")


class Errors(Case):
    def error(self, *words, code, env=None):
        done = self.tenure(*words, "--json", env=env, check=code)
        self.assertEqual(done.stdout, "")
        return json.loads(done.stderr)["error"]

    def test_json_errors_have_code_message_and_remedy(self):
        error = self.error("claim", "k", code=64)
        self.assertEqual((error["code"], error["exit_code"], error["retry"], error["outcome"]),
                         ("usage", 64, "never", "refused"))
        self.assertIn("--pid $$", error["next"][0]["command"])

    def test_69_a_space_that_is_not_there(self):
        self.assertEqual(self.error("who", "k", "--space", "files:" + self.path("no/such"), code=69)["code"], "unreachable")

    def test_73_a_full_or_closed_output(self):
        with open("/dev/full", "w") as full:
            for words in (("ls",), ("who", "k"), ("--help",), ("--version",)):
                done = subprocess.run([PROGRAM, *words], env=self.env, stdout=full, stderr=subprocess.PIPE, cwd=self.folder)
                self.assertEqual(done.returncode, 73, words)

    def test_75_held(self):
        self.holder("k", "--owner", "alice")
        error = self.error("claim", "k", "--ttl", "1s", code=75)
        self.assertEqual((error["code"], error["holder"]["holder"]["owner"]), ("held", "alice"))
        self.assertIn("tenure revoke", error["next"][-1]["command"])

    def test_76_lost(self):
        done = json.loads(self.tenure("claim", "k", "--ttl", "1h", "--json", check=0).stdout)
        self.tenure("revoke", "k", "--force", "--reason", "x", check=0)
        self.assertEqual(self.error("verify", code=76, env={"TENURE_HANDLE": done["handle"]})["code"], "lost")

    def test_77_refused(self):
        self.holder("k")
        error = self.error("revoke", "k", code=77)
        self.assertEqual(error["code"], "holder_live")
        self.shell(error["next"][-1]["command"], check=0)

    def test_77_a_folder_that_is_open_to_all(self):
        os.makedirs(self.path("open/leases"))
        os.chmod(self.path("open"), 0o777)
        os.chmod(self.path("open/leases"), 0o777)
        self.assertEqual(self.error("claim", "k", "--ttl", "1s", "--space", "files:" + self.path("open"), code=77)["code"],
                         "unsafe_folder")


class Advice(Case):
    def files_in(self, folder, ending):
        found = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith(ending)]
        self.assertTrue(found, ending)
        return found

    def test_words_are_not_shown_as_commands(self):
        done = self.shell("ulimit -n 8; exec tenure claim k --ttl 1h", check=73)
        self.assertIn("what to do:", done.stderr)
        self.assertEqual(remedies(done.stderr), [])
        error = json.loads(self.shell("ulimit -n 8; exec tenure claim k --ttl 1h --json", check=73).stderr)["error"]
        self.assertIn("ulimit -n", error["remedy"])
        self.assertEqual(error["next"], [])

    def test_an_epoch_that_cannot_be_read_is_repaired_by_the_printed_command(self):
        for json_wanted in (False, True):
            for key in ("a key", "-x", "it's"):
                with self.subTest(json=json_wanted, key=key):
                    folder = self.path("s " + os.urandom(4).hex())
                    space = ("--space", "files:" + folder)
                    self.tenure("run", "--key=" + key, *space, "--", "true", check=0)
                    for path in self.files_in(folder, ".epoch") + self.files_in(folder, ".lock"):
                        with open(path, "w") as file:
                            file.write("junk")
                    done = self.tenure("run", "--key=" + key, *space, *(["--json"] if json_wanted else []), "--", "true",
                                       check=77)
                    if json_wanted:
                        error = json.loads(done.stderr)["error"]
                        self.assertEqual(error["code"], "epoch_unreadable")
                        command = error["next"][0]["command"]
                    else:
                        command = remedies(done.stderr)[-1]
                    self.shell(command, check=0)
                    self.tenure("run", "--key=" + key, *space, "--", "true", check=0)

    def test_a_damaged_record_is_cleared_by_the_printed_command(self):
        folder = self.path("s p")
        space = ("--space", "files:" + folder)
        run = self.holder("a key", *space, "--on-lost", "warn")
        record = self.files_in(folder, ".lease.json")[0]
        for words in (("revoke", "a key", *space), ("claim", "a key", "--ttl", "1h", *space)):
            run.send(signal.SIGSTOP)
            with open(record, "w") as file:
                file.write("junk")
            done = self.tenure(*words)
            self.assertIn(done.returncode, (75, 77))
            command = [each for each in remedies(done.stderr) if "revoke" in each][-1]
        self.shell(command, check=0)
        self.tenure("run", "a key", *space, "--wait", "0", "--", "true", check=0)

    def test_examples_go_to_the_space_that_was_named(self):
        url = "files:" + self.path("s p")
        done = self.tenure("claim", "k", "--space", url, check=64)
        example = remedies(done.stderr)[-1]
        self.shell(f"{example} && tenure who k --quiet --space '{url}'", check=0)
        self.holder("k2", "--space", url, "--on-lost", "warn")
        done = self.tenure("revoke", "k2", "--space", url, "--force", check=64)
        self.shell(remedies(done.stderr)[-1], check=0)


class Help(Case):
    def test_of_the_program_and_of_each_command(self):
        text = self.tenure("--help", check=0).stdout
        self.assert_fits(text, commands_may_be_longer=False)
        names = re.findall(r"^  ([a-z]+) ", text, re.M)
        self.assertEqual(names, ["run", "claim", "adopt", "renew", "verify", "guard", "write", "release", "handoff",
                                 "ask", "who", "ls", "top", "watch", "wait", "log", "revoke", "space", "repair",
                                 "doctor", "completion", "manual"])
        page = content(os.path.join(os.path.dirname(__file__), "../../docs/reference/commands.md"))
        for name in names:
            with self.subTest(command=name):
                help_text = self.tenure(name, "--help", check=0).stdout
                self.assert_fits(help_text, commands_may_be_longer=False)
                self.assertEqual(self.tenure("help", name, check=0).stdout, help_text)
                section = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
                self.assertTrue(section, "the page has a section for it")
                for option in re.findall(r"^  (--[a-z-]+)", help_text, re.M):
                    self.assertIn(option, section + page.partition("\n## ")[0], f"the page names {option} of {name}")

    def test_version(self):
        self.assertRegex(self.tenure("--version", check=0).stdout, r"^tenure \d+\.\d+\.\d+\n$")
        number = json.loads(self.tenure("--version", "--json", check=0).stdout)["version"]
        self.assertIn(number, self.tenure("--version", check=0).stdout)

    def test_the_handle_file_of_claim_is_written(self):
        self.assertIn("write the handle", self.tenure("claim", "--help", check=0).stdout)
        self.assertNotIn("standard input", self.tenure("claim", "--help", check=0).stdout)
        self.assertIn("standard input", self.tenure("verify", "--help", check=0).stdout)
        self.assertNotIn("All take --json", self.tenure("--help", check=0).stdout)

    def test_the_page_of_exit_codes_has_every_line_of_the_list(self):
        root = os.path.join(os.path.dirname(__file__), "../..")
        lines = re.findall(r'^TENURE_ERROR\((\w+),\s*(\d+),\s*(\d+),\s*(\w+),\s*(\w+),\s*"([^"]+)"\)',
                           content(os.path.join(root, "include/tenure/errors.def")), re.M)
        self.assertGreater(len(lines), 20)
        page = content(os.path.join(root, "docs/reference/exit-codes.md"))
        rows = [tuple(cell.strip().strip("`") for cell in row.strip("|").split("|"))
                for row in re.findall(r"^\| `\w+` \|.*\|$", page, re.M)]
        self.assertEqual(rows, [(name, code, http, retry, outcome, meaning)
                                for name, code, http, retry, outcome, meaning in lines])


class Spaces(Case):
    def test_ls_init_move_purge(self):
        url = "files:" + self.path("one")
        self.tenure("space", "init", "--space", url, check=0)
        self.assertIn("was there", self.tenure("space", "init", "--space", url, check=0).stdout)
        found = json.loads(self.tenure("space", "ls", "--space", url, "--json", check=0).stdout)
        self.assertIn(self.path("one"), [each["path"] for each in found["spaces"]])
        self.assertIn(self.path("one"), self.tenure("space", "--space", url, check=0).stdout.replace("\n", ""))
        holder = self.holder("k", "--space", url)
        self.tenure("space", "move", self.path("two"), "--space", url, check=77)
        self.tenure("space", "purge", "--force", "--space", url, check=77)
        holder.process.stdin.close()
        self.assertEqual(holder.wait(), 0, holder.err)
        self.tenure("space", "move", self.path("two"), "--space", url, check=0)
        self.assertFalse(os.path.exists(self.path("one")))
        self.tenure("space", "purge", "--space", "files:" + self.path("two"), check=0)
        self.assertFalse(os.path.exists(self.path("two")))

    def test_doctor_says_the_same_in_both_forms(self):
        text = self.tenure("doctor")
        done = self.tenure("doctor", "--json")
        self.assertEqual(text.returncode, done.returncode)
        found = json.loads(done.stdout)
        self.assertEqual(done.returncode, 0 if found["well"] else 1)
        self.assertGreater(len(found["probes"]), 5)
        for probe in found["probes"]:
            self.assertIn(probe["finding"], ("good", "limited", "bad"))
            self.assertIn(probe["name"], text.stdout)
        for line in text.stdout.splitlines():
            if "next:" not in line:
                self.assertLessEqual(len(line), 80, line)


if __name__ == "__main__":
    main()
