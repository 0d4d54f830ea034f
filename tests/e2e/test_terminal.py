"""run on a terminal: job control, pipelines, scripts, whose the foreground is."""

import fcntl
import os
import pty
import shutil
import signal
import struct
import subprocess
import termios

from e2e import BOUND, PROGRAM, Case, content, gone, main, state_of, until

# A command that gives the terminal to a group of its own and is killed before it gives it back.
TAKES_THE_TERMINAL = r"""
import os, signal
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
os.setpgid(0, 0)
os.tcsetpgrp(0, os.getpgrp())
os.kill(os.getpid(), signal.SIGKILL)
"""


class OnTerminal(Case):
    """A process with a terminal of its own, and what it shows."""

    def open(self, *words):
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execvpe(words[0], list(words), {**self.env, "PS1": "$ ", "HOME": self.folder, "TERM": "dumb"})
        self.pid, self.terminal, self.shown, self.ended = pid, terminal, "", False
        self.addCleanup(self.close)
        return pid

    def close(self):
        if not self.ended:
            try:
                os.killpg(os.tcgetpgrp(self.terminal), signal.SIGKILL)
            except OSError:
                pass
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.terminal)

    def read(self):
        os.set_blocking(self.terminal, False)
        try:
            self.shown += os.read(self.terminal, 65536).decode(errors="replace")
        except (BlockingIOError, OSError):
            pass
        return self.shown

    def type(self, text):
        os.write(self.terminal, text.encode())

    def shows(self, text):
        until(lambda: text in self.read(), f"the terminal shows {text!r}, it shows {self.shown!r}")

    def wait(self):
        def ended():
            self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            return (status,) if pid else None
        [status] = until(ended, "it ends")
        self.ended = True
        return os.waitstatus_to_exitcode(status)

    def runner_of(self, pid):
        """The command's parent is the guardian, whose parent is the runner."""
        parent = lambda each: int(content(f"/proc/{each}/stat").rpartition(")")[2].split()[1])
        return parent(parent(pid))


class JobControl(OnTerminal):
    def setUp(self):
        super().setUp()
        self.open("bash", "--norc", "--noprofile", "-i")
        self.shows("$ ")

    def test_ctrl_z_stops_the_job_and_fg_goes_on_with_it(self):
        words, seen = self.counter("SIGCONT", "SIGUSR1")
        self.type(f"tenure run t -- {words}\n")
        command = self.running(seen)
        runner = self.runner_of(command)
        for turn in (1, 2):
            self.type("\x1a")
            until(lambda: state_of(command) == "T" and state_of(runner) == "T", "the job is stopped")
            self.shows("Stopped")
            self.type("fg\n")
            until(lambda: content(seen).split().count("SIGCONT") == turn, "the job goes on")
            until(lambda: state_of(runner) == "S", "we go on with it")
        os.kill(runner, signal.SIGUSR1)
        until(lambda: "SIGUSR1" in content(seen), "the last arrives")
        self.assertEqual(content(seen).split(), ["SIGCONT", "SIGCONT", "SIGUSR1"])
        open(seen + ".end", "w").close()
        self.type("echo over=$?\n")
        self.shows("over=0")

    def test_a_command_that_does_not_stop_keeps_the_terminal(self):
        words, seen = self.counter("SIGTSTP")
        self.type(f"tenure run t -- {words}\n")
        runner = self.runner_of(self.running(seen))
        self.type("\x1a")
        until(lambda: "SIGTSTP" in content(seen), "it arrives")
        # Were we stopped, the shell would have the terminal and answer.
        os.kill(runner, signal.SIGCONT)
        open(seen + ".end", "w").close()
        self.type("echo over=$?\n")
        self.shows("over=0")
        self.assertNotIn("Stopped", self.shown)
        self.assertEqual(content(seen).split(), ["SIGTSTP"])

    def test_ctrl_c_ends_the_command_and_the_shell_says_130(self):
        words, seen = self.counter()
        self.type(f"tenure run t -- {words}\n")
        self.running(seen)
        self.type("\x03")
        self.type("echo over=$?\n")
        self.shows("over=130")

    def test_a_pipeline_reads_and_writes(self):
        self.type("tenure run t -- cat | tr a-z A-Z\n")
        self.type("abc\n")
        self.shows("ABC")
        self.type("\x04")
        self.type("echo over=$?\n")
        self.shows("over=0")

    def test_a_shell_within_has_job_control(self):
        words, seen = self.counter()
        self.type("tenure run t -- env PS1='within ' bash --norc --noprofile -i\n")
        self.shows("\nwithin ")
        self.type(f"{words}\n")
        self.running(seen)
        self.type("\x1a")
        self.shows("Stopped")
        # What is typed before the prompt may be lost to the change of hands.
        until(lambda: self.read().endswith("within "), "the shell within asks again")
        self.type("kill -9 %1; exit 7 || exit 7\n")
        until(lambda: self.read().endswith("$ "), "the first shell asks again")
        self.type("echo over=$?\n")
        self.shows("over=7")


class Scripts(OnTerminal):
    def test_ctrl_c_ends_the_script_too(self):
        words, seen = self.counter()
        self.open("sh", "-c", f"for i in 1 2 3; do tenure run t -- {words}; echo went on; done")
        self.running(seen)
        self.type("\x03")
        self.assertEqual(self.wait(), -signal.SIGINT)
        self.assertNotIn("went on", self.read())

    def test_the_foreground_is_taken_back(self):
        self.open("sh", "-c", f"tenure run t -- python3 -c '{TAKES_THE_TERMINAL}'; echo ready; read line; echo got $line")
        self.shows("ready")
        self.type("something\n")
        self.shows("got something")
        self.assertEqual(self.wait(), 0)

    def test_a_new_size_is_told_once(self):
        words, seen = self.counter("SIGWINCH", "SIGUSR1")
        runner = self.open("tenure", "run", "t", "--", *words.split())
        self.running(seen)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
        until(lambda: "SIGWINCH" in content(seen), "it arrives")
        os.kill(runner, signal.SIGUSR1)
        until(lambda: "SIGUSR1" in content(seen), "the next arrives")
        os.kill(runner, signal.SIGWINCH)
        until(lambda: content(seen).split().count("SIGWINCH") == 2, "one to us alone arrives")
        open(seen + ".end", "w").close()
        self.assertEqual(self.wait(), 0)
        self.assertEqual(content(seen).split(), ["SIGWINCH", "SIGUSR1", "SIGWINCH"])


class WithoutTerminal(OnTerminal):
    def test_signals_of_the_job_to_us_alone_reach_it_once(self):
        words, seen = self.counter("SIGTSTP", "SIGCONT", "SIGWINCH", "SIGTTIN", "SIGTTOU")
        run = self.start("run", "k", "--", *words.split(), start_new_session=True)
        self.running(seen)
        names = ["SIGTSTP", "SIGCONT", "SIGWINCH", "SIGTTIN", "SIGTTOU"]
        for number, name in enumerate(names, 1):
            run.send(getattr(signal, name))
            until(lambda: len(content(seen).split()) >= number, f"{name} arrives")
        open(seen + ".end", "w").close()
        self.assertEqual(run.wait(), 0, run.err)
        self.assertEqual(content(seen).split(), names)

    def test_signals_of_the_job_to_the_group_reach_it_once(self):
        words, seen = self.counter("SIGTSTP", "SIGCONT", "SIGWINCH", "SIGUSR2")
        run = self.start("run", "k", "--", *words.split(), start_new_session=True)
        self.running(seen)
        names = ["SIGTSTP", "SIGCONT", "SIGWINCH"]
        for number, name in enumerate(names, 1):
            os.killpg(run.pid, getattr(signal, name))
            until(lambda: len(content(seen).split()) >= number, f"{name} arrives")
        run.send(signal.SIGUSR2)
        until(lambda: "SIGUSR2" in content(seen), "the last arrives")
        open(seen + ".end", "w").close()
        self.assertEqual(run.wait(), 0, run.err)
        self.assertEqual(content(seen).split(), names + ["SIGUSR2"])


class InTmux(Case):
    def test_ctrl_c_reaches_the_command_once(self):
        if not shutil.which("tmux"):
            self.skipTest("there is no tmux")
        words, seen = self.counter("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR2")
        # A server of our own, by its socket.
        tmux = ["tmux", "-S", self.path("tmux"), "-f", "/dev/null"]
        self.addCleanup(subprocess.run, [*tmux, "kill-server"], capture_output=True, check=False)
        subprocess.run([*tmux, "new-session", "-d", "-x", "80", "-y", "24", f"{PROGRAM} run k -- {words}"], env=self.env,
                       cwd=self.folder, check=True, capture_output=True)
        command = self.running(seen)
        subprocess.run([*tmux, "send-keys", "C-c"], env=self.env, check=True, capture_output=True)
        until(lambda: "SIGINT" in content(seen), "Ctrl-C arrives")
        os.kill(command, signal.SIGUSR2)
        until(lambda: "SIGUSR2" in content(seen), "the last arrives")
        open(seen + ".end", "w", encoding="utf-8").close()
        self.until_free("k")
        self.assertEqual(content(seen).split(), ["SIGINT", "SIGUSR2"])


if __name__ == "__main__":
    main()
