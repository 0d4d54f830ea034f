// FencedFile: a file that is replaced as a whole, and only under the current epoch of a key.
//
//   auto file = tenure::FencedFile::open("state/current.json", lease->key(), space->url());
//   auto written = file->write(lease->epoch(), bytes);
//   if (!written) { … written.error().message says who refused it, and why … }
//
// A holder that was overtaken without noticing (a process that was stopped, a machine that slept) may still believe
// that it owns the key. The fence is what turns it away: once a write under an epoch was let in, none under an older
// epoch ever is.
//
// Two are asked, and both must agree:
// - The space, if it can be reached: the key must be held under this very epoch now. That refuses an old holder even
//   before its successor has written anything, and an epoch that was never granted.
// - The sidecar, a small file beside the fenced one (docs/reference/format-fence.md), which keeps the highest epoch
// that
//   was let in. It alone is asked where the space is gone. It is written and durable before the file is replaced, under
//   a lock of its own. Where it is missing and the space is gone, nobody vouches for the epoch, and it is refused.
//
// What it does not do: a successor that was granted the key between the look into the space and the rename, and has not
// written yet, does not keep that one write out; its own first write does, for all time. And it is a fence for those
// who write through it: whoever may write into the folder can replace the file without asking.
//
// The file. PATH names a regular file with one name, or nothing yet; a link, a directory or a second (hard) link is
// refused. Owner, group, mode, access list and user attributes are kept; set-id bits are not, nor are other attributes.
// Where it was missing its mode is as the umask has it. The folder belongs to us or to root, and not everybody may
// write to it; a group may. The attribute user.tenure.epoch tells the epoch of the content to whoever is curious: a
// cache, where the file system takes it; nothing here reads it.
//
// The key is one that is held exclusively, of a space whose epochs last (memory: is refused). A file has one guard:
// another key, or the same of another space, is refused by name. What names a space is its URL without options, so a
// space that was moved is another one.
//
// Thread rule: a FencedFile may be used by any number of threads; a FencedWrite by one at a time. Writers of one file,
// threads or processes, do not wait for each other but in the last short step. fork: a child's FencedWrite is none.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tenure/epoch.h"
#include "tenure/error.h"
#include "tenure/key.h"

namespace tenure {

namespace detail {
class FencedFileState;
class FencedWriteState;
}  // namespace detail

// What a sidecar says.
struct Fence {
  Epoch highest;  // older ones are refused
  std::string key;
  std::string space;
};

struct FencedWritten {
  std::uint64_t bytes = 0;
  Epoch epoch;
  // Why the space could not be asked, where the sidecar alone let it in. Empty: the space was asked.
  std::string space_gone;
};

// A new content in the making: it takes room beside the file, and nobody sees it before publish(). Destroyed before
// that, it leaves nothing. A process that dies leaves it there, and the next writer takes it away.
class FencedWrite {
 public:
  FencedWrite(FencedWrite&&) noexcept;
  FencedWrite& operator=(FencedWrite&&) noexcept;
  ~FencedWrite();

  // Any number of times. Code::no_space, Code::input_output, …: this write has failed; the file is as it was.
  Result<void> append(std::string_view bytes);
  std::uint64_t bytes() const noexcept;

  // Asks both once more and replaces the file. On return the new content, its name and the epoch are durable. Once
  // done it is done; a refused one may be tried again. It ends as begin() does, and besides:
  //   Code::section_busy     another writer of the file is in the last step and does not leave it (10 s)
  //   Code::no_space, …      the file is as it was; the sidecar may have come to know this epoch
  //   Code::unknown_outcome  the file was replaced, and that may not survive a loss of power
  Result<FencedWritten> publish();

 private:
  friend class FencedFile;
  explicit FencedWrite(std::unique_ptr<detail::FencedWriteState> state);
  std::unique_ptr<detail::FencedWriteState> state_;
};

class FencedFile {
 public:
  // Looks at the path and makes nothing. The folder of `path` is opened once and kept: later changes of the working
  // directory do not matter. Code::usage: not a path of a file that can be replaced, or the name of a sidecar.
  // Code::unreachable: no such folder. Code::unsafe_folder: another user's, or open to everybody. Code::bad_url;
  // Code::unsupported for a space whose epochs do not last. The space need not exist.
  static Result<FencedFile> open(const std::string& path, const Key& key, std::string_view space_url);

  // What the sidecar says; nullopt: there is none yet. Code::damaged: it cannot be read, and no write is let in.
  Result<std::optional<Fence>> fence() const;

  // Asks both whether `epoch` may write, so that a refused writer need not make its content, and begins a new content.
  //   Code::lost           older than one that was let in, given back, taken away, or never granted
  //   Code::expired        the lease is past its TTL; a renewal may still save it
  //   Code::damaged        the sidecar, or the record of the key, cannot be read; the remedy says what to do
  //   Code::usage          the file has another guard; or epoch 0
  //   Code::unreachable    the space is gone, and there is no sidecar
  //   Code::limit_reached  eight others are at it
  //   what opening and looking into the space ends with, where the space is there and gives no answer
  Result<FencedWrite> begin(Epoch epoch) const;

  // begin(), append(), publish(). Empty content is content.
  Result<FencedWritten> write(Epoch epoch, std::string_view bytes) const;

 private:
  explicit FencedFile(std::shared_ptr<const detail::FencedFileState> state) : state_(std::move(state)) {}
  std::shared_ptr<const detail::FencedFileState> state_;
};

}  // namespace tenure
