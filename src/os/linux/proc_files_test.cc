#include "os/linux/proc_files.h"

#include <gtest/gtest.h>
#include <sys/sysmacros.h>

namespace tenure::os {
namespace {

using namespace std::string_view_literals;

// Field 3 to 22 and some more, as the kernel writes them.
std::string stat_line(const std::string& command) {
  return "4711 (" + command + ") S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 7 0 987654321 23 24\n";
}

TEST(ProcStat, ACommandMayHoldAnything) {
  for (const std::string command : {"cat", "a b", ")", "(x) y) Z 1 2", "", ") (", "a\nb", "\xff"}) {
    const auto stat = parse_proc_stat(stat_line(command));
    ASSERT_TRUE(stat) << command;
    EXPECT_EQ(stat->pid, 4711);
    EXPECT_EQ(stat->command, command);
    EXPECT_EQ(stat->state, 'S');
    EXPECT_EQ(stat->threads, 7U);
    EXPECT_EQ(stat->start_ticks, 987654321U);
  }
}

TEST(ProcStat, HalfALineIsNothing) {
  const std::string whole = stat_line("cat");
  for (std::size_t length = 0; length < whole.find("987654321"); ++length) {
    EXPECT_FALSE(parse_proc_stat(std::string_view(whole).substr(0, length))) << length;
  }
  EXPECT_FALSE(parse_proc_stat("x (cat) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 7 0 99 23"));
  EXPECT_FALSE(parse_proc_stat("1 (cat) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 7 0 -99 23"));
  EXPECT_FALSE(parse_proc_stat("1 )cat( S 1"));
}

TEST(ProcStatus, NumbersByFieldAndPlace) {
  const std::string_view status = "Name:\tx\nUid:\t1\t2\t3\t4\nNSpid:\t90\t1\n";
  EXPECT_EQ(status_number(status, "Uid:", 1), 2U);
  EXPECT_EQ(status_number(status, "NSpid:", 1), 1U);
  EXPECT_EQ(status_number(status, "NSpid:", 2), std::nullopt);
  EXPECT_EQ(status_number(status, "Gid:", 0), std::nullopt);
  EXPECT_EQ(parse_boot_seconds("cpu 1 2\nbtime 1700000000\nprocesses 3\n"), 1700000000U);
  EXPECT_EQ(parse_boot_seconds("cpu 1 2\n"), 0U);
}

TEST(ProcLocks, FindsTheHolderOfAFlockAndNoWaiter) {
  const FileIdentity file{makedev(8, 0x1f), 131};
  const std::string_view locks =
      "1: POSIX  ADVISORY  WRITE 11 08:1f:131 0 EOF\n"
      "2: FLOCK  ADVISORY  WRITE 12 08:1f:1310 0 EOF\n"
      "3: FLOCK  ADVISORY  WRITE 13 08:1e:131 0 EOF\n"
      "4: -> FLOCK  ADVISORY  WRITE 14 08:1f:131 0 EOF\n"
      "4: FLOCK  ADVISORY  WRITE 15 08:1f:131 0 EOF\n";
  EXPECT_EQ(flock_holder(locks, file), 15);
  EXPECT_EQ(flock_holder("1: FLOCK  ADVISORY  WRITE 0 08:1f:131 0 EOF\n", file), std::nullopt)
      << "a process of another pid namespace has no number here";
  EXPECT_EQ(flock_holder("", file), std::nullopt);
}

TEST(ShownCommand, IsOneLineOfText) {
  EXPECT_EQ(shown_command("sh\0-c\0echo hi\n\0"sv, 512), "sh -c echo hi");
  EXPECT_EQ(shown_command("a\0b\nc\xff\0"sv, 512), "a b\\x0ac\\xff");
  EXPECT_EQ(shown_command(std::string(600, 'x'), 512).size(), 512U);
  EXPECT_EQ(shown_command("", 512), "");
}

TEST(ReadProcFile, SaysWhyNot) {
  using Stat = ProcessSight::Stat;
  EXPECT_EQ(read_proc_file("/proc/self/stat").status, Stat::read);
  EXPECT_EQ(read_proc_file("/proc/self/nothing").status, Stat::absent);
  EXPECT_EQ(read_proc_file("/proc/self").status, Stat::unusable);
  EXPECT_EQ(read_proc_file("/proc/self/status", 8).bytes.size() < 100000, true);
}

}  // namespace
}  // namespace tenure::os
