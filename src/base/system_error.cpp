// SPDX-License-Identifier: Apache-2.0
#include <penstock/extend/system_error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <penstock/extend/listing.hpp>

namespace penstock {

Error file_error(std::string_view source, const std::string& file, Errc code, std::string cause,
                 std::optional<std::uint64_t> offset) {
  Error error(code, std::move(cause));
  error.with_source(source).with_file(file);
  if (offset) error.with_offset(*offset);
  return error;
}

Error system_error(std::string_view source, int code, std::string_view doing, const std::string& file) {
  const bool missing = code == ENOENT || code == ENOTDIR;
  const std::string folder = missing ? missing_folder(file) : "";
  return file_error(
      source, file, missing ? Errc::not_found : Errc::io,
      std::string(doing) + ": " + std::strerror(code) + (folder.empty() ? "" : "; there is no folder " + folder));
}

Error write_error(std::string_view source, int code, std::string_view doing, const std::string& file,
                  std::uint64_t bytes) {
  if (code != ENOSPC && code != EIO && code != EDQUOT && code != EFBIG) return system_error(source, code, doing, file);
  std::string cause = std::string(doing) + ": " + std::strerror(code);
  if (bytes != 0) cause += "; " + std::to_string(bytes) + " bytes were to be written";
  std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (folder.empty()) folder = ".";
  std::error_code failed;
  const auto space = std::filesystem::space(folder, failed);
  if (!failed) {
    cause += (bytes != 0 ? ", " : "; ") + std::to_string(space.available) + " bytes are free";
    if (space.available == 0 || space.available < bytes + (bytes >> 3)) cause += ": the disk is full";
  }
  cause += ". What was committed before is safe: make room, then run it again to go on";
  return file_error(source, file, Errc::io, std::move(cause));
}

namespace {

bool is_printable(char c) noexcept { return c >= 0x20 && c < 0x7f; }
void append_hex(std::string& out, char c) {
  static constexpr char digits[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out += "\\x";
  out += digits[byte >> 4];
  out += digits[byte & 15];
}

// Returns whether this UTF-8 character controls how a terminal shows the line.
bool is_control(std::string_view character) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  const auto is_from = [&](std::size_t i, unsigned first, unsigned last) {
    return byte(i) >= first && byte(i) <= last;
  };
  switch (character.size()) {
    case 1:
      return byte(0) < 0x20 || byte(0) == 0x7f;
    case 2:  // C1 controls, which some terminals follow; and U+061C, the Arabic letter mark
      return (byte(0) == 0xc2 && byte(1) < 0xa0) || (byte(0) == 0xd8 && byte(1) == 0x9c);
    case 3:  // directional marks, line ends, overrides, and isolates
      return byte(0) == 0xe2 && ((byte(1) == 0x80 && (is_from(2, 0x8e, 0x8f) || is_from(2, 0xa8, 0xae))) ||
                                 (byte(1) == 0x81 && is_from(2, 0xa6, 0xa9)));
    default:
      return false;
  }
}

// Moves the first character of `text` to `out`. Writes each byte of a control character, and a byte that is not UTF-8,
// as `\xNN`.
void show_front(std::string_view& text, std::string& out) {
  const std::size_t bytes = character_bytes(text);
  const std::string_view front = text.substr(0, std::max<std::size_t>(bytes, 1));
  if (bytes != 0 && !is_control(front))
    out += front;
  else
    for (const char c : front) append_hex(out, c);
  text.remove_prefix(front.size());
}

}  // namespace

// Follows Unicode 15, table 3-7.
std::size_t character_bytes(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return 0;
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool beyond =
      (lead == 0xed && byte(1) > 0x9f) || (lead == 0xf4 && byte(1) > 0x8f);  // above U+10FFFF, or a surrogate
  return overlong || beyond ? 0 : bytes;
}

std::string without_controls(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) show_front(text, out);
  return out;
}

std::string printable(std::string_view bytes, std::size_t longest) {
  std::string out;
  while (!bytes.empty()) {
    if (out.size() > longest) return out + "...";
    show_front(bytes, out);
  }
  return out;
}

std::string in_list(std::string_view name) {
  if (name.find_first_of(",\"") == std::string_view::npos) return std::string(name);
  std::string out = "\"";
  for (const char c : name) out.append(c == '"' ? 2 : 1, c);
  return out + "\"";
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_printable(c) && c != '\\')
      out += c;
    else
      append_hex(out, c);
  }
  return out;
}

}  // namespace penstock
