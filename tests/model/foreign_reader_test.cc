// A reader that is not ours finds AgentMux's thirteen fields in our record, with their types.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>

#include "model/files.h"
#include "model/samples.h"

namespace tenure {
namespace {

struct Answer {
  int status = -1;
  std::string text;  // standard output and error
};

Answer read_with_python(const std::string& record) {
  std::string path = testing::TempDir() + "tenure-foreign-XXXXXX";
  const int file = ::mkstemp(path.data());
  EXPECT_GE(file, 0);
  EXPECT_EQ(::write(file, record.data(), record.size()), static_cast<ssize_t>(record.size()));
  ::close(file);
  const std::string command = "python3 '" + model_path("foreign_reader.py") + "' < '" + path + "' 2>&1";
  Answer answer;
  FILE* output = ::popen(command.c_str(), "re");
  if (output == nullptr) return answer;
  for (int c = std::fgetc(output); c != EOF; c = std::fgetc(output)) answer.text.push_back(static_cast<char>(c));
  answer.status = ::pclose(output);
  ::unlink(path.c_str());
  return answer;
}

TEST(ForeignReader, FindsItsThirteenFieldsInOurRecord) {
  const Answer answer = read_with_python(encode(samples::ours()));
  EXPECT_EQ(answer.status, 0) << answer.text;
  EXPECT_EQ(answer.text, "instance_id='deploy/production \"blue\"' session_id=None pid=4242 epoch=17\n");
  EXPECT_EQ(read_with_python(encode(samples::ours_plain())).status, 0);
}

TEST(ForeignReader, NoticesAFieldThatIsMissing) {
  std::string record = encode(samples::ours());
  record.replace(record.find("\"epoch\""), 7, "\"epoc\"");
  const Answer answer = read_with_python(record);
  EXPECT_NE(answer.status, 0);
  EXPECT_NE(answer.text.find("other fields"), std::string::npos) << answer.text;
}

}  // namespace
}  // namespace tenure
