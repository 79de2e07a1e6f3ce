// SPDX-License-Identifier: Apache-2.0
#include "common/sinks/key_as_file_name.hpp"

#include <algorithm>
#include <cstddef>

#include <penstock/extend/system_error.hpp>

namespace penstock::common {

namespace {

void append_escaped(std::string& out, char c) {
  static constexpr char digits[] = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  out += '%';
  out += digits[byte >> 4];
  out += digits[byte & 15];
}

void append_component(std::string& out, std::string_view part, bool base_name, KeyDots dots) {
  if (part.empty()) {
    out += "%2F";
    return;
  }
  const bool replaced = base_name && dots == KeyDots::none_in_base_name;
  const bool dots_only = !replaced && (part == "." || part == "..");
  bool hides = dots == KeyDots::none_in_front;
  while (!part.empty()) {
    const char c = part.front();
    const std::size_t bytes = character_bytes(part);
    if (replaced && c == '.') {
      out += '_';
    } else if (bytes == 0 || is_control(c) || c == '\\' || c == '%' || dots_only || (hides && c == '.')) {
      append_escaped(out, c);
    } else {
      out += part.substr(0, bytes);
    }
    hides = false;
    part.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
}

}  // namespace

std::string key_as_file_name(std::string_view key, KeyDots dots) {
  std::string out;
  while (!key.empty()) {
    const std::size_t slash = key.find('/');
    const bool base_name = slash == std::string_view::npos;
    append_component(out, key.substr(0, slash), base_name, dots);
    if (base_name) break;
    out += '/';
    key.remove_prefix(slash + 1);
    if (key.empty()) out += "%2F";
  }
  return out;
}

}  // namespace penstock::common
