// The table of commands.
#include <algorithm>
#include <array>

#include "cli/command.h"

namespace tenure::cli {
namespace {

using Names = std::string_view;

constexpr Names kRun[] = {"KEY…",           "--space",   "--wait",         "--ticket", "--keep-place", "--ttl",
                          "--slots",        "--shared",  "--reason",       "--owner",  "--part",       "--session",
                          "--session-file", "--channel", "--version",      "--until",  "--on-lost",    "--on-ask",
                          "--grace",        "--adopt",   "--no-reentrant", "--cgroup", "--busy-exit",  "--status-file",
                          "--json",         "--help"};
constexpr Names kClaim[] = {
    "KEY",       "--pid",          "--ttl",     "--slots",      "--shared", "--for session", "--handle-file NEWFILE",
    "--space",   "--wait",         "--ticket",  "--keep-place", "--reason", "--owner",       "--part",
    "--session", "--session-file", "--channel", "--version",    "--json",   "--help"};
constexpr Names kAdopt[] = {"KEY",       "--owner",  "--pid",  "--ttl",     "--for session",  "--handle-file NEWFILE",
                            "--space",   "--reason", "--part", "--session", "--session-file", "--channel",
                            "--version", "--json",   "--help"};
constexpr Names kHandoff[] = {"KEY", "--to", "--within", "--back", "--withdraw", "--handle-file", "--json", "--help"};
constexpr Names kAsk[] = {"KEY", "--reason", "--deadline", "--owner", "--space", "--json", "--help"};
constexpr Names kHandle[] = {"-", "--handle-file", "--json", "--help"};
constexpr Names kVerify[] = {"KEY", "--epoch", "--space", "--handle-file", "--json", "--help"};
constexpr Names kGuard[] = {"KEY", "--epoch", "--guard-for", "--grace", "--space", "--json", "--help"};
constexpr Names kWrite[] = {"KEY", "PATH", "--epoch", "--size", "--space", "--json", "--help"};
constexpr Names kWho[] = {"KEY", "--space", "--except", "--quiet", "--json", "--help"};
constexpr Names kList[] = {"PREFIX", "--space", "--json", "--help"};
constexpr Names kWatch[] = {"PREFIX", "--space", "--for DURATION", "--count", "--json", "--help"};
constexpr Names kTop[] = {"PREFIX", "--space", "--once", "--help"};
constexpr Names kWait[] = {"KEY", "--wait", "--space", "--quiet", "--json", "--help"};
constexpr Names kRevoke[] = {"KEY",     "--dead",   "--prefix", "--space", "--epoch",
                             "--force", "--reason", "--json",   "--help"};

constexpr Names kLog[] = {"KEY", "--space", "--follow", "--json", "--help"};
constexpr Names kSpace[] = {"ACTION",   "TARGET",  "--space", "--keys", "--members",
                            "--reason", "--force", "--json",  "--help"};
constexpr Names kCompletion[] = {"SHELL", "--help"};
constexpr Names kManual[] = {"COMMAND", "--help"};
constexpr Names kRepair[] = {"URL", "--space", "--dry-run", "--force", "--reason", "--json", "--help"};
constexpr Names kDoctor[] = {"--space", "--json", "--help"};

constexpr std::string_view kRunDetails =
    "Waits until KEY is yours, runs CMD, gives KEY back when CMD has ended. CMD sees TENURE_KEY, TENURE_EPOCH and "
    "TENURE_SPACE. When we are killed, CMD and all that it started is ended, and only then KEY is free. When the lease "
    "is lost, they get TERM, after --grace KILL, and we end with 76. Otherwise the exit code is that of CMD.";
constexpr std::string_view kClaimDetails =
    "For scripts. Leaves a process that keeps KEY as long as --pid, --ttl or --for says, and prints the handle that "
    "renew, verify and release want. One of the three must be given: handle=$(tenure claim KEY --pid $$)";
constexpr std::string_view kAdoptDetails =
    "Takes KEY up, under a new epoch, from the holder who offers it to --owner (tenure handoff), without an instant at "
    "which it is free. Leaves a process that keeps it and prints the handle, as claim does; --pid, --ttl or --for says "
    "how long.";
constexpr std::string_view kHandoffDetails =
    "Offers the claim of a handle to a successor: tenure adopt KEY --owner OWNER takes it up. Until then it stays "
    "yours, and nobody else gets it. The handle comes by TENURE_HANDLE or --handle-file, never as an argument; KEY, "
    "where it is given, must be its key.";
constexpr std::string_view kAskDetails =
    "Tells the holder of KEY that it is wanted, and why, and waits for the answer. Ends with 0 when the holder "
    "promises "
    "to yield, or its lease ended meanwhile; with 75 when it declines or does not answer; with 77 when there is nobody "
    "to ask. Takes nothing: tenure run KEY waits for it.";
constexpr std::string_view kHandleDetails =
    "The handle comes by TENURE_HANDLE, --handle-file or standard input (-), never as an argument: others could read "
    "it there.";
constexpr std::string_view kVerifyDetails =
    "With a handle: is that claim the current one? It comes by TENURE_HANDLE, --handle-file or standard input (-), "
    "never as an argument: others could read it there. With KEY --epoch N: is KEY held under that epoch?";
constexpr std::string_view kGuardDetails =
    "Runs CMD while KEY cannot be taken over, revoked, given back or handed on, if KEY is held under epoch N now; else "
    "ends with 76. For a short step in the command of run, which has TENURE_KEY, TENURE_EPOCH and TENURE_SPACE. At "
    "--guard-for the lease is lost, CMD gets TERM, after --grace KILL, and we end with 70. Otherwise the exit code is "
    "that of CMD.";
constexpr std::string_view kWriteDetails =
    "Replaces the file PATH by what comes on standard input, as a whole, if KEY is held under epoch N, and no newer "
    "one "
    "has written it: its sidecar, .PATH.fence, keeps the highest epoch, and refuses older ones even where the space is "
    "gone. On any refusal the file is as it was. A pipe that ends early looks like a whole one: --size tells.";
constexpr std::string_view kWhoDetails =
    "Ends with 0. With --quiet or --except: 0 when somebody (else) holds it, 1 when it is free, or its holder is "
    "proven gone or past its TTL.";
constexpr std::string_view kTopDetails =
    "The whole screen, live: who holds what, since when, alive or not, who is next in line. Keys: q quits; j, k and "
    "the "
    "arrows move; Enter shows all that is known of a key; / narrows to a prefix, Esc widens again; s sorts by key, age "
    "or "
    "waiting; p pauses.";
constexpr std::string_view kWatchDetails = "First what is held now, then each change, until interrupted.";
constexpr std::string_view kWaitDetails =
    "Takes no lease and no place in line. Says for whom it waits, and again when KEY changes hands; a KEY that goes "
    "from "
    "one to the next in line is not free in between. Ends with 0 when nobody holds KEY, at once if nobody does; with "
    "75 "
    "when --wait is over. By then another may have it: to have it yourself, tenure run KEY.";
constexpr std::string_view kLogDetails =
    "One line an event, oldest first, as far back as the space remembers: some thousands of events, at most since the "
    "machine started. Of local: and system: spaces; others keep no log. --follow goes on until interrupted.";
constexpr std::string_view kRevokeDetails =
    "A holder who is proven gone is cleared. One who lives, or may live, is displaced only with --force and --reason; "
    "--epoch makes sure that it is the one you mean. The holder is told at once. --dead clears all keys, or those that "
    "begin with --prefix, whose holder is proven dead; others are left alone, and it ends with 0 also where there was "
    "none.";

constexpr std::string_view kSpaceDetails =
    "ls (also without a word) shows where spaces lie and what is in them; init makes one, --keys N with room for N "
    "keys; "
    "move FOLDER gives it another place on the same file system; purge removes it; repair writes the epochs of a local "
    "space anew where they cannot be read. Move and purge are refused while a key is held, and of a local space while "
    "anybody has it open; purge --force goes on where a holder only may live, as on another machine.";
constexpr std::string_view kRepairDetails =
    "Of a receiver: space, whose folder pi-amq uses too. Says what is wrong and what is done about it: what is "
    "provably "
    "nobody's is moved to quarantine/, never deleted; with --force and --reason also what cannot be judged; never what "
    "somebody holds who lives. Ends with 0 when nothing is left, or 1.";
constexpr std::string_view kDoctorDetails =
    "Tries what tenure relies on, where the space lies, and cleans up behind itself. Ends with 0, or with 1 when "
    "something is bad.";

constexpr std::string_view kCompletionDetails =
    "Prints the script that completes commands, options and held keys. For this shell: source <(tenure completion "
    "bash). "
    "Packages install it.";
constexpr std::string_view kManualDetails = "Prints a manual page for man: tenure manual run | man -l -";

constexpr std::array kCommands = {
    Command{"run", "KEY… [options] -- CMD…", "run a command while holding KEY, or several", kRunDetails, kRun, true,
            run_command},
    Command{"claim", "KEY [options]", "take KEY for a script, print its handle", kClaimDetails, kClaim, false,
            claim_command},
    Command{"adopt", "KEY --owner OWNER [options]", "take up a KEY that its holder offers to OWNER", kAdoptDetails,
            kAdopt, false, adopt_command},
    Command{"renew", "[-] [options]", "extend the TTL of a claim", kHandleDetails, kHandle, false, renew_command},
    Command{"verify", "[- | KEY --epoch N] [options]", "is it still mine? 0 yes, 76 no", kVerifyDetails, kVerify, false,
            verify_command},
    Command{"guard", "KEY --epoch N [options] -- CMD…", "run a command while KEY cannot change hands", kGuardDetails,
            kGuard, true, guard_command},
    Command{"write", "KEY --epoch N PATH [options] < DATA", "replace a file, if epoch N of KEY is current",
            kWriteDetails, kWrite, false, write_command},
    Command{"release", "[-] [options]", "give a claim back", kHandleDetails, kHandle, false, release_command},
    Command{"handoff", "[KEY] --to OWNER [options]", "offer a claim to a successor", kHandoffDetails, kHandoff, false,
            handoff_command},
    Command{"ask", "KEY --reason TEXT [options]", "ask the holder of KEY to yield it", kAskDetails, kAsk, false,
            ask_command},
    Command{"who", "KEY [options]", "who holds KEY, since when, why, alive or not", kWhoDetails, kWho, false,
            who_command},
    Command{"ls", "[PREFIX] [options]", "all keys that are held", "", kList, false, ls_command},
    Command{"top", "[PREFIX] [options]", "watch all keys on the whole screen", kTopDetails, kTop, false, top_command},
    Command{"watch", "[PREFIX] [options]", "print each change of hands", kWatchDetails, kWatch, false, watch_command},
    Command{"wait", "KEY [options]", "wait until nobody holds KEY", kWaitDetails, kWait, false, wait_command},
    Command{"log", "[KEY] [options]", "what happened, to KEY or to all", kLogDetails, kLog, false, log_command},
    Command{"revoke", "KEY | --dead [options]", "take KEY from its holder, or clear the dead", kRevokeDetails, kRevoke,
            false, revoke_command},
    Command{"space", "[ls | init | move FOLDER | purge | repair] [options]",
            "where spaces lie; make, move, purge, repair one", kSpaceDetails, kSpace, false, space_command},
    Command{"repair", "[URL] [options]", "mend the folder of a receiver: space", kRepairDetails, kRepair, false,
            repair_command},
    Command{"doctor", "[options]", "try what this machine promises", kDoctorDetails, kDoctor, false, doctor_command},
    Command{"completion", "bash | zsh | fish", "print the completion script of a shell", kCompletionDetails,
            kCompletion, false, completion_command},
    Command{"manual", "[COMMAND]", "print a manual page", kManualDetails, kManual, false, manual_command},
};

}  // namespace

std::span<const Command> commands() {
  return kCommands;
}

const Command* find_command(std::string_view name) {
  const auto found =
      std::find_if(kCommands.begin(), kCommands.end(), [name](const Command& each) { return each.name == name; });
  return found == kCommands.end() ? nullptr : &*found;
}

}  // namespace tenure::cli
