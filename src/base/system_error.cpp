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

}  // namespace

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
