#include "common/fit_key.hpp"

#include <algorithm>
#include <cstddef>

namespace penstock::common {

namespace {

void append_escaped(std::string& out, char c) {
  static constexpr char digits[] = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  out += '%';
  out += digits[byte >> 4];
  out += digits[byte & 15];
}

// Bytes of the well-formed UTF-8 character that `text` begins with; 0 where there is none.
std::size_t character_bytes(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t bytes = lead >= 0xc2 && lead < 0xe0   ? 2
                            : (lead & 0xf0) == 0xe0       ? 3
                            : lead >= 0xf0 && lead < 0xf5 ? 4
                                                          : 0;
  if (bytes == 0 || text.size() < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const unsigned char second = byte(1);
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool beyond = (lead == 0xed && second >= 0xa0) || (lead == 0xf4 && second >= 0x90);
  return overlong || beyond ? 0 : bytes;
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

std::string fit_key(std::string_view key, KeyDots dots) {
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
