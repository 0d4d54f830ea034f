// Processes of our own making, for measurements between processes.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <new>

#include "base/descriptor.h"

namespace tenure::bench {

struct Pipe {
  base::Descriptor read_end;
  base::Descriptor write_end;
};
Pipe make_pipe();

void send_byte(int descriptor);
// Waits for a byte; false at the end of the pipe.
bool receive_byte(int descriptor);

// Forks; the child runs `body`, ends with 0, and never outlives its parent. Call it before this process has threads.
pid_t start_child(const std::function<void()>& body);
// Waits for the child's end. One that failed ends this measurement.
void expect_success(pid_t child);
// Of one that was killed.
void reap(pid_t child);
// Until the main thread of the process sleeps, and goes on sleeping for some milliseconds.
void wait_until_asleep(pid_t child);

// Memory that parent and children share.
void* share_memory(std::size_t bytes);
void unshare_memory(void* memory, std::size_t bytes);
template <class Value>
class SharedValue {
 public:
  SharedValue() : value_(new(share_memory(sizeof(Value))) Value{}) {}
  ~SharedValue() { unshare_memory(value_, sizeof(Value)); }
  SharedValue(const SharedValue&) = delete;
  SharedValue& operator=(const SharedValue&) = delete;
  Value& operator*() const { return *value_; }
  Value* operator->() const { return value_; }

 private:
  Value* value_;
};

}  // namespace tenure::bench
