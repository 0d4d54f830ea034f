#include "compose/space_url.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/limits.h"
#include "base/text.h"

namespace tenure::compose {
namespace {

constexpr std::array<std::string_view, 2> kNotBuilt = {"mesh", "etcd"};
constexpr std::size_t kNameBytes = 64;

std::unexpected<Error> bad(std::string_view text, const std::string& why) {
  return fail(Code::bad_url, "'" + escape_controls(cut_text(text, 200)) + "' is not the URL of a space: " + why,
              "write local:NAME or files:DIR, or leave --space out to use your own");
}

std::string_view options_of(SpaceUrl::Kind kind) {
  if (kind == SpaceUrl::Kind::files) return "expiry=age, expiry=proof";
  return kind == SpaceUrl::Kind::receiver ? "root=ID, namespaces=one" : "volatile";
}

Result<void> set_root(SpaceUrl& url, std::string_view text, std::string_view written) {
  auto root = percent_decode(written);
  if (!root || root->empty() || root->size() > limits::kLabelBytes || fault_in_text(*root)) {
    return bad(text, "a root id is 1 to 256 bytes of text, percent-encoded");
  }
  url.root = std::move(*root);
  return {};
}

// What is not an option of the space's kind is refused, with the list of those that are.
Result<void> set_option(SpaceUrl& url, std::string_view text, std::string_view option) {
  const bool files = url.kind == SpaceUrl::Kind::files;
  const bool receiver = url.kind == SpaceUrl::Kind::receiver;
  if (receiver && option.starts_with("root=")) return set_root(url, text, option.substr(5));
  if (files && (option == "expiry=age" || option == "expiry=proof")) {
    url.expiry = option == "expiry=age" ? rules::Expiry::age : rules::Expiry::proof;
  } else if (receiver && option == "namespaces=one") {
    url.one_namespace = true;
  } else if (url.kind == SpaceUrl::Kind::local && option == "volatile") {
    url.volatile_ok = true;
  } else if (option == "owner=any") {
    url.any_owner = true;
  } else if (option == "group=yes") {
    url.group_ok = true;
  } else {
    return bad(text, "'" + escape_controls(cut_text(option, 80)) + "' is not one of " +
                         std::string(options_of(url.kind)) + ", owner=any, group=yes");
  }
  return {};
}

Result<void> read_options(SpaceUrl& url, std::string_view text, std::string_view query) {
  std::set<std::string_view> names;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view option = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (!names.insert(option.substr(0, option.find('='))).second) return bad(text, "an option is given twice");
    if (auto set = set_option(url, text, option); !set) return set;
  }
  return {};
}

Result<std::string> decode_folder(std::string_view text, std::string_view written) {
  auto folder = percent_decode(written);
  if (!folder) return bad(text, "a '%' must be followed by two hex digits");
  if (folder->empty()) return bad(text, "the folder is missing");
  if (auto fault = fault_in_text(*folder)) return bad(text, describe(*fault));
  if (written.find('#') != std::string_view::npos) return bad(text, "a '#' is written %23");
  return std::move(*folder);
}

Result<void> read_place(SpaceUrl& url, std::string_view text, std::string_view written) {
  const bool named = url.kind == SpaceUrl::Kind::local && (url.system || !written.starts_with('/'));
  if (named) {
    url.name = written.empty() ? kDefaultName : std::string(written);
    if (is_space_name(url.name)) return {};
    return bad(text, "a name is 1 to 64 of letters, digits, '.', '_' and '-', and begins with no '.'" +
                         std::string(url.system ? "" : "; a folder of your own is written local:/DIR"));
  }
  auto folder = decode_folder(text, written);
  if (!folder) return fail(folder.error());
  url.folder = std::move(*folder);
  return {};
}

// Of an engine that lies in a folder.
Result<SpaceUrl> parse_place(SpaceUrl url, std::string_view text, std::string_view rest) {
  const std::size_t question = rest.find('?');
  if (auto read = read_place(url, text, rest.substr(0, question)); !read) return fail(read.error());
  if (question != std::string_view::npos) {
    if (question + 1 == rest.size()) return bad(text, "no option follows the '?'");
    if (auto read = read_options(url, text, rest.substr(question + 1)); !read) return fail(read.error());
  }
  // Handles carry the URL as we write it.
  if (text_of(url).size() > limits::kUrlBytes) return bad(text, "it is too long when written out");
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

bool is_space_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  };
  return !name.empty() && name.size() <= kNameBytes && name.front() != '.' && std::ranges::all_of(name, fits);
}

Result<SpaceUrl> parse_space_url(std::string_view text) {
  if (text.size() > limits::kUrlBytes) {
    return bad(text,
               "it has " + std::to_string(text.size()) + " bytes; the limit is " + std::to_string(limits::kUrlBytes));
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return bad(text, "it names no engine, as local: does");
  const std::string_view scheme = text.substr(0, colon);
  const std::string_view rest = text.substr(colon + 1);
  if (scheme == "local" || scheme == "system") {
    SpaceUrl url{.kind = SpaceUrl::Kind::local};
    url.system = url.group_ok = scheme == "system";
    return parse_place(std::move(url), text, rest);
  }
  if (scheme == "files") return parse_place({.kind = SpaceUrl::Kind::files}, text, rest);
  if (scheme == "receiver") return parse_place({.kind = SpaceUrl::Kind::receiver}, text, rest);
  if (scheme == "memory") {
    if (!rest.empty()) return bad(text, "nothing may follow memory:");
    return SpaceUrl{};
  }
  if (std::find(kNotBuilt.begin(), kNotBuilt.end(), scheme) != kNotBuilt.end()) {
    return fail(Code::unsupported, "the engine '" + std::string(scheme) + ":' is not part of this version",
                "use local:NAME or files:DIR");
  }
  return bad(text, "'" + escape_controls(cut_text(scheme, 40)) +
                       ":' is no engine; there are local:, system:, files:, receiver: and memory:");
}

std::string text_of(const SpaceUrl& url) {
  if (url.kind == SpaceUrl::Kind::memory) return "memory:";
  std::string text = url.system ? "system:" : "local:";
  if (url.kind == SpaceUrl::Kind::files) text = "files:";
  if (url.kind == SpaceUrl::Kind::receiver) text = "receiver:";
  if (url.name.empty()) {
    text += encode_folder(url.folder);
  } else if (url.name != kDefaultName) {
    text += url.name;
  }
  char separator = '?';
  const auto option = [&](const std::string& words) {
    text += separator;
    text += words;
    separator = '&';
  };
  if (url.expiry == rules::Expiry::age) option("expiry=age");
  if (!url.root.empty()) option("root=" + percent_encode(url.root));
  if (url.one_namespace) option("namespaces=one");
  if (url.volatile_ok) option("volatile");
  if (url.any_owner) option("owner=any");
  if (url.group_ok && !url.system) option("group=yes");
  return text;
}

}  // namespace tenure::compose
