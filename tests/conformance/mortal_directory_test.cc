// The folders that a killed process opened die with it, all of them.
#include "conformance/mortal_directory.h"

#include "os/linux/scratch_test.h"

namespace tenure::conformance {
namespace {

using env::Moved;

TEST(MortalDirectory, DeathCoversTheFoldersInIt) {
  const os::Scratch scratch;
  const os::FolderChecks checks{.most_links = 2};
  const auto alive = scratch.open(checks);
  MortalDirectory process(scratch.open(checks));
  ASSERT_TRUE(*process.make_folder("in"));
  const auto in = std::move(*process.open_folder("in"));
  auto life = in->take_life("life", "life.new", false, false);
  auto section = in->lock("section", std::chrono::seconds(1), nullptr);
  ASSERT_TRUE(life && section);
  ASSERT_TRUE(*in->link("life", process, "guard"));
  ASSERT_EQ(*process.move("in", process, "moved"), Moved::moved);
  EXPECT_EQ(alive->probe_life("guard", (*life)->identity()).sight, LifeSight::held);
  process.kill();
  EXPECT_EQ(alive->probe_life("guard", (*life)->identity()).sight, LifeSight::free);
  EXPECT_EQ((*section)->read().error().code, Code::internal);
  EXPECT_TRUE((*alive->open_folder("moved"))->lock("section", std::chrono::seconds(1), nullptr));
  EXPECT_EQ(in->create("x", "1", false).error().code, Code::internal);
  EXPECT_EQ(in->take_life("life", "life.new", false, false).error().code, Code::internal);
  EXPECT_EQ(process.look("moved").error().code, Code::internal);
}

}  // namespace
}  // namespace tenure::conformance
