#include "errors.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

namespace penstock::hdf5 {

Error error_in(const std::string& file, Errc code, std::string cause, std::optional<std::uint64_t> offset) {
  Error error(code, std::move(cause));
  error.with_source("hdf5").with_file(file);
  if (offset) error.with_offset(*offset);
  return error;
}

Error system_error(int code, std::string_view doing, const std::string& file) {
  const bool missing = code == ENOENT || code == ENOTDIR;
  return error_in(file, missing ? Errc::not_found : Errc::io, std::string(doing) + ": " + std::strerror(code));
}

}  // namespace penstock::hdf5
