#include "cli/status_file.h"

#include <boost/json.hpp>

#include "cli/error_view.h"

namespace tenure::cli {

Result<StatusFile> StatusFile::open(const std::optional<std::string>& path, bool json) {
  StatusFile out;
  out.json_ = json;
  if (!path) return out;
  auto file = open_to_write(*path);
  if (!file) return fail(file.error());
  out.file_ = std::move(*file);
  out.path_ = *path;
  return out;
}

int StatusFile::by_command(const ChildEnd& end) {
  boost::json::object line{{"by", "command"}, {"exit_code", end.exit_code}};
  if (end.signal != 0) line["signal"] = end.signal;
  const int fault = write(boost::json::serialize(line));
  return end.exit_code == 0 ? fault : end.exit_code;
}

void StatusFile::by_tenure(int exit_code, std::string_view code, const std::optional<ChildEnd>& command) {
  boost::json::object line{{"by", "tenure"}, {"exit_code", exit_code}, {"code", code}};
  if (command) line["command_exit_code"] = command->exit_code;
  write(boost::json::serialize(line));
}

int StatusFile::write(const std::string& line) {
  if (!file_.open()) return 0;
  auto written = write_all(file_.get(), line + "\n", path_);
  file_.reset();
  if (written) return 0;
  Error fault = written.error();
  fault.message += ", in which it was to say whose the exit code is";
  return show_error(fault, json_);
}

}  // namespace tenure::cli
