"""strace as the hand that kills and refuses: which calls a verb makes, and one of them disturbed.

Only the main thread of the driver is followed: the verb runs in it. A call is named by its name and how many calls of
that name came before it in the thread, which is how strace counts. SIGKILL is sent at the entry of a call, so the call
itself does not happen any more; the state after a call is that before the next one, and the last is the end mark.
"""

import re
import shutil
import subprocess

BEGIN = 'write(-1, "begin"'
END = 'write(-1, "end"'
MARK = "write(-1, "
CALL = re.compile(r"([a-z_][a-z0-9_]*)\((.*)")


class Call:
    def __init__(self, name, number, text):
        self.name = name
        self.number = number  # the how-manieth of its name, from 1
        self.text = text

    @property
    def is_end(self):
        return self.text.startswith(END)

    @property
    def is_mark(self):
        return self.text.startswith(MARK)

    @property
    def changes(self):
        """Whether what lies on the disk is another after the call. Between two such calls a death leaves the same."""
        return self.name in _CHANGING or "O_CREAT" in self.text

    def __str__(self):
        return self.text if len(self.text) <= 110 else self.text[:107] + "..."


def tracer_works():
    """None, or why nothing can be traced here."""
    if shutil.which("strace") is None:
        return "there is no strace"
    done = subprocess.run(
        ["strace", "-o", "/dev/null", "-e", "trace=getppid", "-e", "inject=getppid:error=EIO", "true"],
        capture_output=True, text=True, timeout=60,
    )
    return None if done.returncode == 0 else done.stderr.strip() or f"strace ended with {done.returncode}"


def whole(log):
    return ["strace", "-o", log]


def killing(log, call):
    return _inject(log, call, "signal=KILL")


def refusing(log, call, error):
    return _inject(log, call, "error=" + error)


def _inject(log, call, what):
    wanted = call.name if call.name == "write" else call.name + ",write"
    return ["strace", "-o", log, "-e", "trace=" + wanted, "-e", f"inject={call.name}:{what}:when={call.number}"]


def lines_of(log):
    with open(log, encoding="utf-8", errors="replace") as file:
        return file.read().splitlines()


def calls_between_marks(log):
    """The calls of the verb, the end mark included, in their order."""
    count = {}
    calls = []
    inside = False
    for line in lines_of(log):
        match = CALL.match(line)
        if not match:
            continue
        name = match.group(1)
        count[name] = count.get(name, 0) + 1
        if inside:
            calls.append(Call(name, count[name], line))
        if line.startswith(BEGIN):
            inside = True
        elif line.startswith(END):
            return calls
    return []


def struck(log, killed):
    """Whether the blow fell, and between the marks."""
    inside = False
    for line in lines_of(log):
        if line.startswith(BEGIN):
            inside = True
        elif "(INJECTED)" in line or (killed and line.startswith("+++ killed by SIGKILL")):
            return inside
        if line.startswith(END) and not killed:
            inside = False
    return False


# Which calls the manual, or a file system that we know, lets fail in which way. Left out: closing (Linux always closes,
# and a tracer that refuses in its place leaves open what would be shut), the memory and the signals of the process, on
# which libc itself depends, and what always works (getpid, …).
_PATHS = {"openat", "open", "mkdir", "mkdirat", "unlinkat", "linkat", "renameat", "renameat2", "newfstatat", "fstatat64",
          "statx", "readlink", "readlinkat", "access", "faccessat2"}
_FILES = {"fstat", "fstatfs", "statfs", "read", "pread64", "write", "pwrite64", "lseek", "ftruncate", "fallocate", "fsync",
          "fdatasync", "fchmod", "fchown", "getdents64", "fcntl", "flock", "inotify_add_watch"}
_TAKING_ROOM = {"openat", "open", "mkdir", "mkdirat", "linkat", "renameat", "renameat2", "unlinkat", "write", "pwrite64",
                "ftruncate", "fallocate", "fsync", "fdatasync", "inotify_add_watch"}
_SLOW = {"openat", "open", "read", "pread64", "write", "pwrite64", "flock", "fcntl", "ppoll", "poll", "fsync", "fdatasync",
         "ftruncate", "fallocate", "fstatfs", "statfs", "getrandom"}
_CHANGING = {"mkdir", "mkdirat", "unlink", "unlinkat", "link", "linkat", "rename", "renameat", "renameat2", "write",
             "pwrite64", "ftruncate", "fallocate"}
# Of a renameat2 that is to replace nothing: some file systems know no such thing, and one goes on without it.
NOT_KNOWN = "EINVAL"
HARMLESS = ("EINTR", NOT_KNOWN)
_ALWAYS_WORKING = ("F_GETFL", "F_SETFD", "F_GETFD")
_NEW_DESCRIPTOR = {"openat", "open", "eventfd2", "inotify_init1", "pidfd_open", "dup", "dup3", "socket", "memfd_create",
                   "epoll_create1", "timerfd_create"}


def errors_for(call):
    errors = []
    if call.is_mark or any(word in call.text for word in _ALWAYS_WORKING):
        return errors
    on_file = call.name == "mmap" and "MAP_ANONYMOUS" not in call.text
    opens_only = call.name in ("openat", "open") and "O_CREAT" not in call.text and "O_TMPFILE" not in call.text
    if call.name in _TAKING_ROOM and not opens_only:
        errors.append("ENOSPC")
    if call.name in _PATHS or call.name in _FILES or on_file:
        errors.append("EIO")
    if call.name in _SLOW:
        errors.append("EINTR")
    if call.name in _NEW_DESCRIPTOR or (call.name == "fcntl" and "DUPFD" in call.text):
        errors.append("EMFILE")
    if on_file or call.name in ("madvise", "inotify_add_watch"):
        errors.append("ENOMEM")
    if "RENAME_NOREPLACE" in call.text:
        errors.append(NOT_KNOWN)
    if call.name in ("clone3", "clone"):
        errors.append("EAGAIN")
    return errors
