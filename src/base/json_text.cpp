#include "base/json_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>

namespace penstock::detail {

namespace {

// Bytes of the well-formed UTF-8 character at the front of `text`; 0 where there is none. (Unicode 15, table 3-7.)
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return follows(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef)
    return follows(1, lead == 0xe0 ? 0xa0 : 0x80, lead == 0xed ? 0x9f : 0xbf) && follows(2) ? 3 : 0;
  if (lead >= 0xf0 && lead <= 0xf4)
    return follows(1, lead == 0xf0 ? 0x90 : 0x80, lead == 0xf4 ? 0x8f : 0xbf) && follows(2) && follows(3) ? 4 : 0;
  return 0;
}

std::string control_character(char c) {
  char text[8];
  std::snprintf(text, sizeof text, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t bytes = character(text);
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
