#include "cli/status_file.h"

#include <boost/json.hpp>

#include "cli/output.h"

namespace tenure::cli {

Result<StatusFile> StatusFile::open(const std::optional<std::string>& path) {
  StatusFile out;
  if (!path) return out;
  auto file = open_to_write(*path);
  if (!file) return fail(file.error());
  out.file_ = std::move(*file);
  out.path_ = *path;
  return out;
}

void StatusFile::by_command(const ChildEnd& end) {
  boost::json::object line{{"by", "command"}, {"exit_code", end.exit_code}};
  if (end.signal != 0) line["signal"] = end.signal;
  write(boost::json::serialize(line));
}

void StatusFile::by_tenure(int exit_code, std::string_view code, const std::optional<ChildEnd>& command) {
  boost::json::object line{{"by", "tenure"}, {"exit_code", exit_code}, {"code", code}};
  if (command) line["command_exit_code"] = command->exit_code;
  write(boost::json::serialize(line));
}

void StatusFile::write(const std::string& line) {
  if (!file_.open()) return;
  if (auto written = write_all(file_.get(), line + "\n", path_); !written) {
    complain("tenure: " + written.error().message + "\n");
  }
  file_.reset();
}

}  // namespace tenure::cli
