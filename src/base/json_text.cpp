// SPDX-License-Identifier: Apache-2.0
#include "base/json_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>

#include <penstock/extend/system_error.hpp>

namespace penstock::detail {

namespace {

std::string control_character(char c) {
  char text[8];
  std::snprintf(text, sizeof text, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    const char c = text.front();
    if (bytes == 0)
      out += "\\ufffd";
    else if (bytes > 1)
      out += text.substr(0, bytes);
    else if (static_cast<unsigned char>(c) < 0x20)
      out += control_character(c);
    else
      (out += c == '"' || c == '\\' ? "\\" : "") += c;
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return out + "\"";
}

}  // namespace penstock::detail
