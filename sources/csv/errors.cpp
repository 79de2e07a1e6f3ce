#include "errors.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

namespace penstock::csv {

std::string printable(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  constexpr std::size_t longest = 60;
  std::string out;
  for (const char c : text) {
    if (out.size() > longest) return out + "...";
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      out += "\\x";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
  return out;
}

Error error_in(const std::string& file, Errc code, std::string cause, std::optional<std::uint64_t> offset) {
  Error error(code, std::move(cause));
  error.with_source("csv").with_file(file);
  if (offset) error.with_offset(*offset);
  return error;
}

Error system_error(int code, std::string_view doing, const std::string& file) {
  const bool missing = code == ENOENT || code == ENOTDIR;
  return error_in(file, missing ? Errc::not_found : Errc::io, std::string(doing) + ": " + std::strerror(code));
}

}  // namespace penstock::csv
