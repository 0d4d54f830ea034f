#include "compose/space_url.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/limits.h"
#include "base/text.h"

namespace tenure::compose {
namespace {

constexpr std::array<std::string_view, 5> kNotBuilt = {"local", "system", "receiver", "mesh", "etcd"};

std::unexpected<Error> bad(std::string_view text, const std::string& why) {
  return fail(Code::bad_url, "'" + escape_controls(cut_text(text, 200)) + "' is not the URL of a space: " + why,
              "write files:DIR, or leave --space out to use your own");
}

Result<void> set_option(SpaceUrl& url, std::string_view text, std::string_view name, std::string_view value) {
  if (name == "expiry" && (value == "age" || value == "proof")) {
    url.expiry = value == "age" ? rules::Expiry::age : rules::Expiry::proof;
  } else if (name == "owner" && value == "any") {
    url.any_owner = true;
  } else if (name == "group" && value == "yes") {
    url.group_ok = true;
  } else {
    return bad(text, "'" + escape_controls(name) + "=" + escape_controls(value) +
                         "' is not one of expiry=age, expiry=proof, owner=any, group=yes");
  }
  return {};
}

Result<void> read_options(SpaceUrl& url, std::string_view text, std::string_view query) {
  std::set<std::string_view> names;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view option = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const std::size_t equals = option.find('=');
    if (equals == std::string_view::npos) return bad(text, "an option is NAME=VALUE");
    if (!names.insert(option.substr(0, equals)).second) return bad(text, "an option is given twice");
    if (auto set = set_option(url, text, option.substr(0, equals), option.substr(equals + 1)); !set) return set;
  }
  return {};
}

Result<SpaceUrl> parse_files(std::string_view text, std::string_view rest) {
  SpaceUrl url;
  url.kind = SpaceUrl::Kind::files;
  const std::size_t question = rest.find('?');
  auto folder = percent_decode(rest.substr(0, question));
  if (!folder) return bad(text, "a '%' must be followed by two hex digits");
  if (folder->empty()) return bad(text, "the folder is missing");
  if (auto fault = fault_in_text(*folder)) return bad(text, describe(*fault));
  if (rest.substr(0, question).find('#') != std::string_view::npos) return bad(text, "a '#' is written %23");
  url.folder = std::move(*folder);
  if (question == std::string_view::npos) return url;
  if (question + 1 == rest.size()) return bad(text, "no option follows the '?'");
  if (auto read = read_options(url, text, rest.substr(question + 1)); !read) return fail(read.error());
  return url;
}

std::string encode_folder(const std::string& folder) {
  std::string text;
  for (std::size_t begin = 0; begin <= folder.size();) {
    const std::size_t end = std::min(folder.find('/', begin), folder.size());
    text += percent_encode(std::string_view(folder).substr(begin, end - begin));
    if (end == folder.size()) break;
    text += '/';
    begin = end + 1;
  }
  return text;
}

}  // namespace

Result<SpaceUrl> parse_space_url(std::string_view text) {
  if (text.size() > limits::kUrlBytes) {
    return bad(text,
               "it has " + std::to_string(text.size()) + " bytes; the limit is " + std::to_string(limits::kUrlBytes));
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return bad(text, "it names no engine, as files: does");
  const std::string_view scheme = text.substr(0, colon);
  const std::string_view rest = text.substr(colon + 1);
  if (scheme == "files") {
    auto url = parse_files(text, rest);
    // Handles carry the URL as we write it.
    if (url && text_of(*url).size() > limits::kUrlBytes) return bad(text, "it is too long when written out");
    return url;
  }
  if (scheme == "memory") {
    if (!rest.empty()) return bad(text, "nothing may follow memory:");
    return SpaceUrl{};
  }
  if (std::find(kNotBuilt.begin(), kNotBuilt.end(), scheme) != kNotBuilt.end()) {
    return fail(Code::unsupported, "the engine '" + std::string(scheme) + ":' is not part of this version",
                "use files:DIR");
  }
  return bad(text, "'" + escape_controls(cut_text(scheme, 40)) + ":' is no engine; there are files: and memory:");
}

std::string text_of(const SpaceUrl& url) {
  if (url.kind == SpaceUrl::Kind::memory) return "memory:";
  std::string text = "files:" + encode_folder(url.folder);
  char separator = '?';
  const auto option = [&](const char* words) {
    text += separator;
    text += words;
    separator = '&';
  };
  if (url.expiry == rules::Expiry::age) option("expiry=age");
  if (url.any_owner) option("owner=any");
  if (url.group_ok) option("group=yes");
  return text;
}

}  // namespace tenure::compose
