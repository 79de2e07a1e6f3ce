#include "member_name.hpp"

#include <algorithm>

namespace penstock::webdataset {

namespace {

bool control(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

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

void append_component(std::string& out, std::string_view part, bool base_name) {
  if (part.empty()) {
    out += "%2F";
    return;
  }
  const bool dots_only = !base_name && (part == "." || part == "..");
  while (!part.empty()) {
    const char c = part.front();
    const std::size_t bytes = character_bytes(part);
    if (base_name && c == '.') {
      out += '_';
    } else if (bytes == 0 || control(c) || c == '\\' || c == '%' || dots_only) {
      append_escaped(out, c);
    } else {
      out += part.substr(0, bytes);
    }
    part.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::optional<MemberName> split_name(std::string_view name) {
  if (name.starts_with("__") && name.ends_with("__")) return std::nullopt;
  while (name.starts_with("./")) name.remove_prefix(2);
  const std::size_t base = name.rfind('/') + 1;  // npos + 1 is 0
  const std::size_t dot = name.find('.', base);
  if (dot == std::string_view::npos || dot == base) return std::nullopt;
  return MemberName{name.substr(0, dot), lower_case(name.substr(dot + 1))};
}

const char* danger_of(std::string_view name) noexcept {
  if (name.starts_with('/') || name.starts_with('\\')) return "is an absolute path";
  if (std::any_of(name.begin(), name.end(), control)) return "holds control characters";
  while (true) {
    const std::size_t end = std::min(name.find_first_of("/\\"), name.size());
    if (name.substr(0, end) == "..") return "leads out of the folder it would be unpacked in";
    if (end == name.size()) return nullptr;
    name.remove_prefix(end + 1);
  }
}

std::string fit_key(std::string_view key) {
  std::string out;
  while (!key.empty()) {
    const std::size_t slash = key.find('/');
    const bool base_name = slash == std::string_view::npos;
    append_component(out, key.substr(0, slash), base_name);
    if (base_name) break;
    out += '/';
    key.remove_prefix(slash + 1);
    if (key.empty()) out += "%2F";
  }
  return out;
}

}  // namespace penstock::webdataset
