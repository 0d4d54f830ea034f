// The table of options: each has one meaning in all commands that take it.
#include <algorithm>
#include <array>

#include "cli/arguments.h"

namespace tenure::cli {
namespace {

using A = Arguments;

constexpr std::array kOptions = {
    Option{"KEY", "", "the name of what is owned", &A::key},
    Option{"KEY…", "", "the names of what is owned: all or none", &A::key_list},
    Option{"PREFIX", "", "only keys that begin so", &A::prefix},
    Option{"ACTION", "", "ls, init, move, purge or repair", &A::action},
    Option{"TARGET", "", "the new folder of a space", &A::target},
    Option{"URL", "", "the space: receiver:DIR (else --space, else TENURE_SPACE)", &A::url},
    Option{"PATH", "", "the file to be replaced, or to be made", &A::path},
    Option{"SHELL", "", "bash, zsh or fish", &A::shell},
    Option{"COMMAND", "", "the command that the page is about; without it, tenure itself", &A::topic},
    Option{"-", "", "read the handle from standard input", &A::handle_source},
    Option{"--space", "URL", "the space: local:NAME, files:DIR, … (else TENURE_SPACE, else local:)", &A::space},
    Option{"--owner", "LABEL", "who you are, for people and for --except", &A::owner},
    Option{"--part", "LABEL", "which part of you", &A::part},
    Option{"--session", "LABEL", "shown to others", &A::session},
    Option{"--session-file", "PATH", "where the session is kept, for the record; of receiver: spaces",
           &A::session_file},
    Option{"--channel", "LABEL", "shown to others", &A::channel},
    Option{"--version", "LABEL", "shown to others", &A::version},
    Option{"--reason", "TEXT", "why; shown to everybody who meets the lease", &A::reason},
    Option{"--wait", "DURATION", "how long to wait: 0 (one try), 5m, forever", &A::wait},
    Option{"--slots", "N", "one of N who hold KEY at once; TENURE_SLOT says which", &A::slots},
    Option{"--shared", "", "hold KEY beside other readers, but beside no writer", &A::shared},
    Option{"--ttl", "DURATION", "a hard limit: past it others may take the key", &A::ttl},
    Option{"--grace", "DURATION", "when ending, from TERM to KILL (10s)", &A::grace},
    Option{"--guard-for", "DURATION", "the bound: past it CMD is ended, and the lease lost (10s; receiver: 900ms)",
           &A::guard_for},
    Option{"--on-lost", "WHAT", "at a loss: term (then kill), kill, warn, or a command for sh", &A::on_lost},
    Option{"--on-ask", "WHAT", "when asked to yield: accept, decline, or a command for sh (else ignore)", &A::on_ask},
    Option{"--until", "WHAT", "hold KEY until CMD has ended (main), or all it started too (tree)", &A::until},
    Option{"--cgroup", "WHAT", "start CMD in a control group of its own: auto (where that can be), never, require",
           &A::cgroup},
    Option{"--busy-exit", "N", "the exit code when KEY is not to be had (75)", &A::busy_exit},
    Option{"--ticket", "NAME", "a place in line that lasts from one wait to the next", &A::ticket},
    Option{"--keep-place", "DURATION", "how long the place of --ticket is kept between waits (10s)", &A::keep_place},
    Option{"--no-reentrant", "", "refuse KEY where the run around this one holds it", &A::no_reentrant},
    Option{"--status-file", "FILE", "write there who set the exit code, as JSON", &A::status_file},
    Option{"--handle-file", "FILE", "the file of the handle; - reads standard input", &A::handle_file},
    Option{"--handle-file", "NEWFILE", "write the handle there (0600), not to standard output", &A::handle_file},
    Option{"--pid", "PID", "keep it while this process lives", &A::pid},
    Option{"--for", "session", "keep it while the session of this terminal lives", &A::lasting_for},
    Option{"--except", "OWNER", "held by anybody but OWNER? 0 yes, 1 no", &A::except},
    Option{"--epoch", "N", "only if it is held under this epoch", &A::epoch},
    Option{"--for", "DURATION", "end after this time", &A::duration},
    Option{"--count", "N", "end after so many changes", &A::count},
    Option{"--deadline", "DURATION", "how long to wait for an answer (30s)", &A::deadline},
    Option{"--to", "OWNER", "the successor: whoever adopts it as that owner", &A::to},
    Option{"--within", "DURATION", "how long the offer stands (30s)", &A::within},
    Option{"--back", "WHAT", "if nobody adopts it: it stays with the holder, or goes to the line", &A::back},
    Option{"--withdraw", "", "take the offer back", &A::withdraw},
    Option{"--adopt", "", "take KEY up from the holder who offers it to --owner", &A::adopt},
    Option{"--keys", "N", "room for so many keys held at once", &A::keys},
    Option{"--members", "N", "room for so many processes that have it open", &A::members},
    Option{"--size", "BYTES", "refuse it unless exactly so many bytes come", &A::size},
    Option{"--follow", "", "go on with what happens from now on", &A::follow},
    Option{"--once", "", "print all keys once, as plain text", &A::once},
    Option{"--json", "", "the same as JSON", &A::json},
    Option{"--quiet", "", "print nothing: the exit code tells", &A::quiet},
    Option{"--force", "", "also where the holder lives or may live", &A::force},
    Option{"--dead", "", "all that are proven dead, and nothing else", &A::dead},
    Option{"--prefix", "PREFIX", "with --dead: only keys that begin so", &A::prefix},
    Option{"--dry-run", "", "only say what would be done", &A::dry_run},
    Option{"--help", "", "this text", &A::help},
};

}  // namespace

const Option& option(std::string_view name) {
  return *std::find_if(kOptions.begin(), kOptions.end(), [name](const Option& each) {
    return each.name == name ||
           (name.starts_with(each.name) && name.substr(each.name.size()) == " " + std::string(each.value));
  });
}

}  // namespace tenure::cli
