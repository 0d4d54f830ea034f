// How an Error is shown: message, holder, what to type next. Every command shows its errors so.
#pragma once

#include <string>

#include "tenure/error.h"
#include "tenure/key.h"

namespace tenure::cli {

// Text: lines for standard error. JSON: one line {"error": {…}}. `url` names the space that it came from, so that the
// suggested commands go there; empty where none was opened. `key`: what the command was about.
std::string render(const Error& error, bool json, const std::string& url, const Key* key = nullptr);

// Writes it to standard error and returns the exit code of its line in errors.def.
int show_error(const Error& error, bool json, const std::string& url = {}, const Key* key = nullptr);

}  // namespace tenure::cli
