// FencedFile over the real world: who is asked, and in which order things are written. What the answers mean is decided
// in rules/fence.h.
#include "tenure/fenced_file.h"

#include <algorithm>

#include "base/limits.h"
#include "base/process_mark.h"
#include "base/text.h"
#include "compose/space_identity.h"
#include "model/fence_record.h"
#include "os/linux/file_draft.h"
#include "os/linux/real_directory.h"
#include "os/linux/user_home.h"
#include "rules/fence.h"
#include "tenure/space.h"

namespace tenure {
namespace {

constexpr char kEpochMark[] = "user.tenure.epoch";

struct PathParts {
  std::string folder;
  std::string name;
};

Result<PathParts> parts_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  PathParts parts{
      slash == std::string::npos ? os::working_directory() : path.substr(0, std::max<std::size_t>(slash, 1)),
      slash == std::string::npos ? path : path.substr(slash + 1)};
  const bool names_a_file = !parts.name.empty() && parts.name != "." && parts.name != ".." &&
                            parts.name.size() <= limits::kFileNameBytes && path.find('\0') == std::string::npos;
  if (!names_a_file) {
    return fail(Code::usage, "not the path of a file: \"" + escape_controls(cut_text(path, 128)) + "\"");
  }
  if (is_fence_name(parts.name)) {
    return fail(Code::usage, escape_controls(path) + " bears the name of a sidecar, and cannot be fenced itself");
  }
  return parts;
}

}  // namespace

namespace detail {

class FencedFileState {
 public:
  std::unique_ptr<os::RealDirectory> directory;
  std::string name;
  FenceNames names;
  FenceRecord guard;  // without an epoch
  Key key;
  std::string url;

  const os::Folder& folder() const { return directory->folder(); }

  rules::FenceSight look() const {
    rules::FenceSight sight;
    sight.place = os::shown(folder(), names.record);
    auto content = directory->read(names.record, kMaxFenceBytes);
    if (content && !*content) return sight;
    auto record = content ? decode_fence_record((*content)->bytes) : fail(content.error());
    if (record) {
      sight.reading = rules::FenceSight::Reading::value;
      sight.record = std::move(*record);
      return sight;
    }
    sight.reading = rules::FenceSight::Reading::unreadable;
    sight.why = record.error();
    if (content) sight.why->message = sight.place + ": " + sight.why->message;
    return sight;
  }

  // Opened anew each time: a space that was moved or purged is seen to be gone.
  rules::SpaceSight ask() const {
    using Answer = rules::SpaceSight::Answer;
    auto space = Space::open(url, {.create = false, .observe_only = true});
    auto seen = space ? space->holder(key) : fail(space.error());
    if (seen) return {Answer::seen, std::move(*seen), std::nullopt};
    return {seen.error().code == Code::unreachable ? Answer::gone : Answer::failed, std::nullopt, seen.error()};
  }

  struct Judgement {
    rules::FenceVerdict verdict;
    std::string space_gone;
  };
  Result<Judgement> judge(Epoch epoch) const {
    FenceRecord wanted = guard;
    wanted.epoch = epoch;
    const rules::SpaceSight space = ask();
    auto verdict = rules::may_write(look(), space, wanted);
    if (!verdict) return fail(verdict.error());
    return Judgement{*verdict, verdict->by_sidecar ? space.why->message : ""};
  }

  // Durable on return, whoever wrote it: a writer that died may have left it in place and not yet durable.
  Result<void> settle_sidecar(bool raise, Epoch epoch) const {
    if (raise) {
      FenceRecord record = guard;
      record.epoch = epoch;
      auto replaced = directory->replace(names.record, names.temporary, encode(record), true);
      if (!replaced) return replaced;
    }
    return directory->sync();
  }
};

class FencedWriteState {
 public:
  std::shared_ptr<const FencedFileState> file;
  Epoch epoch;
  os::FileDraft draft;
  base::ProcessMark process;
  bool failed = false;
  bool published = false;

  Result<void> check() const {
    if (!process.same()) return fail(Code::wrong_process, "this write was begun by another process");
    if (published) return fail(Code::usage, "this write was published already");
    if (failed) return fail(Code::input_output, "a part of this content could not be written");
    return {};
  }

  Result<FencedWritten> publish() {
    if (auto checked = check(); !checked) return fail(checked.error());
    // The long part first: nobody waits for it.
    if (auto synced = draft.sync(); !synced) return fail(synced.error());
    auto section = file->directory->lock(file->names.lock, limits::kSectionWait, nullptr);
    if (!section) return fail(section.error());
    auto judgement = file->judge(epoch);
    if (!judgement) return fail(judgement.error());
    if (auto dressed = draft.dress(kEpochMark, epoch.text()); !dressed) return fail(dressed.error());
    if (auto settled = file->settle_sidecar(judgement->verdict.raise, epoch); !settled) return fail(settled.error());
    if (auto placed = draft.put_in_place(); !placed) return fail(placed.error());
    published = true;
    if (auto synced = file->directory->sync(); !synced) {
      return fail(Code::unknown_outcome,
                  os::shown(file->folder(), file->name) +
                      " was replaced, and that may not survive a loss of power: " + synced.error().message,
                  "write once more");
    }
    return FencedWritten{draft.size(), epoch, std::move(judgement->space_gone)};
  }
};

}  // namespace detail

FencedWrite::FencedWrite(std::unique_ptr<detail::FencedWriteState> state) : state_(std::move(state)) {}
FencedWrite::FencedWrite(FencedWrite&&) noexcept = default;
FencedWrite& FencedWrite::operator=(FencedWrite&&) noexcept = default;
FencedWrite::~FencedWrite() = default;

Result<void> FencedWrite::append(std::string_view bytes) {
  if (auto checked = state_->check(); !checked) return checked;
  auto appended = state_->draft.append(bytes);
  state_->failed = !appended;
  return appended;
}

std::uint64_t FencedWrite::bytes() const noexcept {
  return state_->draft.size();
}

Result<FencedWritten> FencedWrite::publish() {
  return state_->publish();
}

Result<FencedFile> FencedFile::open(const std::string& path, const Key& key, std::string_view space_url) {
  auto parts = parts_of(path);
  if (!parts) return fail(parts.error());
  auto identity = compose::space_identity(space_url);
  if (!identity) return fail(identity.error());
  os::FolderChecks checks;
  checks.root_ok = true;
  checks.group_if_open = true;
  auto directory = os::RealDirectory::open(parts->folder, false, checks);
  if (!directory) return fail(directory.error());
  if (auto fit = os::check_replaceable((*directory)->folder(), parts->name); !fit) return fail(fit.error());
  FenceNames names = fence_names(parts->name);
  return FencedFile(std::make_shared<const detail::FencedFileState>(
      std::move(*directory), std::move(parts->name), std::move(names), FenceRecord{Epoch{}, key.text(), identity->name},
      key, identity->url));
}

Result<std::optional<Fence>> FencedFile::fence() const {
  rules::FenceSight sight = state_->look();
  if (sight.reading == rules::FenceSight::Reading::missing) return std::nullopt;
  if (sight.reading == rules::FenceSight::Reading::unreadable) return fail(*sight.why);
  return Fence{sight.record.epoch, std::move(sight.record.key), std::move(sight.record.space)};
}

Result<FencedWrite> FencedFile::begin(Epoch epoch) const {
  if (epoch.none() || !epoch.credible()) {
    return fail(Code::usage, "no lease has epoch " + epoch.text() + ": epochs are 1 to 2^53 - 1");
  }
  if (auto judged = state_->judge(epoch); !judged) return fail(judged.error());
  auto draft = os::FileDraft::begin(state_->folder(), state_->name, state_->names.drafts, FenceNames::kDrafts);
  if (!draft) return fail(draft.error());
  return FencedWrite(
      std::unique_ptr<detail::FencedWriteState>(new detail::FencedWriteState{state_, epoch, std::move(*draft)}));
}

Result<FencedWritten> FencedFile::write(Epoch epoch, std::string_view bytes) const {
  auto draft = begin(epoch);
  if (!draft) return fail(draft.error());
  if (auto appended = draft->append(bytes); !appended) return fail(appended.error());
  return draft->publish();
}

}  // namespace tenure
