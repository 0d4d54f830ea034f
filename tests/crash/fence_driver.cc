// One write of a fenced file, to be killed or disturbed at any of its system calls.
//
//   fence_driver PATH URL KEY EPOCH LETTER
//
// The content is 100,000 times LETTER. The write runs between two marks and then one line tells the result, as
// driver.cc has it.
#include <unistd.h>

#include <cstring>
#include <iostream>
#include <string>

#include "tenure/fenced_file.h"

namespace {

void mark(const char* word) {
  // The descriptor does not exist: the call is for the tracer alone.
  if (write(-1, word, std::strlen(word)) >= 0) std::cerr << "descriptor -1 was written to\n";
}

tenure::Result<tenure::FencedWritten> write_file(char** arguments) {
  const auto key = tenure::Key::parse(arguments[3]);
  if (!key) return tenure::fail(key.error());
  auto file = tenure::FencedFile::open(arguments[1], *key, arguments[2]);
  if (!file) return tenure::fail(file.error());
  return file->write(tenure::Epoch(std::stoull(arguments[4])), std::string(100'000, *arguments[5]));
}

void tell(const tenure::Result<tenure::FencedWritten>& written) {
  if (written) {
    std::cout << "ok " << written->epoch.value() << std::endl;
    return;
  }
  const tenure::CodeFacts& facts = tenure::facts(written.error().code);
  const char* outcome = "refused";
  if (facts.outcome == tenure::Outcome::lost) outcome = "lost";
  if (facts.outcome == tenure::Outcome::unknown) outcome = "unknown";
  std::cout << "refused " << facts.name << ' ' << outcome << ' ' << written.error().message << std::endl;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 6) return 2;
  mark("begin");
  const auto written = write_file(arguments);
  mark("end");
  tell(written);
  return 0;
}
