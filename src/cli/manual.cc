#include "cli/manual.h"

#include <array>
#include <cstdio>
#include <map>

#include "base/text.h"
#include "base/version.h"
#include "cli/layout.h"

namespace tenure::cli {
namespace {

struct Variable {
  const char* name;
  const char* meaning;
};
constexpr std::array kVariables = {
    Variable{"TENURE_SPACE", "the space where --space does not name one"},
    Variable{"TENURE_HOME", "where the user's own spaces lie, in place of the state folder in the home"},
    Variable{"TENURE_HANDLE", "the handle of a claim, for renew, verify and release"},
};

std::string in_capitals(std::string_view text) {
  std::string out(text);
  for (char& byte : out) {
    if (byte >= 'a' && byte <= 'z') byte = static_cast<char>(byte - 'a' + 'A');
  }
  return out;
}

std::string title(const std::string& name, std::string_view what) {
  return ".TH " + roff(in_capitals(name)) + " 1 \"\" \"tenure " + std::string(kVersion) +
         "\" \"User Commands\"\n.SH NAME\n" + roff(name) + " \\- " + roff(what) + "\n";
}

// Lines of the source stay short, as the tools that look at it want it.
constexpr std::size_t kSourceColumns = 64;

std::string paragraph(std::string_view text) {
  std::string out;
  for (const std::string& line : wrap(text, kSourceColumns)) out += roff(line) + "\n";
  return out;
}

// A label in bold, and what it means below it.
std::string item(const std::string& label, std::string_view meaning) {
  return ".TP\n" + label + "\n" + paragraph(meaning);
}

std::string bold(std::string_view text) {
  return "\\fB" + roff(text) + "\\fR";
}

std::string page_reference(std::string_view name, std::string_view end) {
  return ".BR " + roff("tenure-" + std::string(name)) + " (1)" + std::string(end) + "\n";
}

std::string exit_codes() {
  std::map<int, std::string> codes;
#define TENURE_ERROR(name, exit, http, retry, outcome, meaning) \
  codes[exit] += (codes[exit].empty() ? "" : "; ") + std::string(meaning);
#include "tenure/errors.def"
#undef TENURE_ERROR
  std::string out = ".SH EXIT STATUS\n" + item("\\fB0\\fR", "it is done, or the answer is yes");
  for (const auto& [code, meaning] : codes) out += item("\\fB" + std::to_string(code) + "\\fR", meaning);
  return out + item("\\fB128+n\\fR", "ended by signal n");
}

std::string label_of(const Option& each) {
  std::string out = bold(each.name);
  if (!each.value.empty()) out += " \\fI" + roff(each.value) + "\\fR";
  return out;
}

}  // namespace

std::string roff(std::string_view text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out += "\\&";
  for (std::size_t at = 0; at < text.size();) {
    const auto character = decode_utf8(text, at).value_or(Character{U'?', 1});
    if (character.code >= 0x80) {
      std::array<char, 16> name{};
      std::snprintf(name.data(), name.size(), "\\[u%04X]", static_cast<unsigned>(character.code));
      out += name.data();
    } else if (character.code == U'\\') {
      out += "\\e";
    } else if (character.code == U'-') {
      out += "\\-";
    } else if (character.code == U'\'') {
      out += "\\(aq";
    } else {
      out += static_cast<char>(character.code);
    }
    at += character.length;
  }
  return out;
}

std::string program_page() {
  std::string out = title("tenure", "sole, fenced ownership of a named thing");
  out += ".SH SYNOPSIS\n.B tenure\n\\fICOMMAND\\fR [\\fIoptions\\fR]\n.SH DESCRIPTION\n";
  out += paragraph(
      "Gives one process at a time sole ownership of a named thing, and proves it. Every command takes --help, and "
      "those "
      "that tell something take --json.");
  out += ".SH COMMANDS\n";
  for (const Command& each : commands()) out += item(bold(each.name) + " " + roff(each.usage), each.summary);
  out += ".SH ENVIRONMENT\n";
  for (const Variable& each : kVariables) out += item(bold(each.name), each.meaning);
  out += exit_codes() + ".SH SEE ALSO\n";
  for (const Command& each : commands()) out += page_reference(each.name, &each == &commands().back() ? "" : ",");
  return out;
}

std::string command_page(const Command& command) {
  const std::string name = "tenure-" + std::string(command.name);
  std::string out = title(name, command.summary);
  out += ".SH SYNOPSIS\n.B tenure " + roff(command.name) + "\n" + roff(command.usage) + "\n.SH DESCRIPTION\n" +
         paragraph(command.details.empty() ? command.summary : command.details) + ".SH OPTIONS\n";
  for (const std::string_view taken : command.options) out += item(label_of(option(taken)), option(taken).help);
  return out + ".SH SEE ALSO\n.BR tenure (1)\n";
}

}  // namespace tenure::cli
