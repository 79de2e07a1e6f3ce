#include <penstock/extend/system_error.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

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
  return file_error(source, file, missing ? Errc::not_found : Errc::io,
                    std::string(doing) + ": " + std::strerror(code));
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

// Bytes of the control character that a text begins with, 0 where it begins with none.
std::size_t control_bytes(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : static_cast<unsigned char>(0);
  };
  const auto is_from = [&](std::size_t i, unsigned first, unsigned last) {
    return byte(i) >= first && byte(i) <= last;
  };
  if (is_from(0, 0, 0x1f) || byte(0) == 0x7f) return 1;
  if (byte(0) == 0xc2) return is_from(1, 0x80, 0x9f) ? 2 : 0;  // C1, which some terminals follow
  if (byte(0) == 0xd8) return byte(1) == 0x9c ? 2 : 0;         // U+061C: Arabic letter mark
  if (byte(0) != 0xe2) return 0;
  if (byte(1) == 0x80)
    return is_from(2, 0x8e, 0x8f) || is_from(2, 0xa8, 0xae) ? 3 : 0;  // marks, ends of lines, overrides
  return byte(1) == 0x81 && is_from(2, 0xa6, 0xa9) ? 3 : 0;           // isolates
}

}  // namespace

std::string without_controls(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = control_bytes(text.substr(at));
    for (const char c : text.substr(at, bytes)) append_hex(out, c);
    if (bytes == 0) out += text[at];
    at += bytes == 0 ? 1 : bytes;
  }
  return out;
}

std::string printable(std::string_view bytes, std::size_t longest) {
  std::string out;
  for (const char c : bytes) {
    if (out.size() > longest) return out + "...";
    if (is_printable(c))
      out += c;
    else
      append_hex(out, c);
  }
  return out;
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
