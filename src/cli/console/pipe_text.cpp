// SPDX-License-Identifier: Apache-2.0
#include "console/pipe_text.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include <penstock/extend/file_descriptor.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/extend/system_error.hpp>

namespace penstock::cli {

namespace {

void put_all(int copy, std::string_view text, const std::string& file) {
  while (copy >= 0 && !text.empty()) {
    const ssize_t put = uninterrupted([&] { return ::write(copy, text.data(), text.size()); });
    if (put <= 0) throw system_error("tool", errno, "keeping what was read", file);
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  if (copy < 0) throw system_error("tool", errno, "keeping what was read", file);
}

}  // namespace

std::string readable_again(const std::string& file) {
  static std::map<std::string, FileDescriptor> copies;
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0 || !S_ISFIFO(status.st_mode)) return file;
  auto copy = copies.find(file);
  if (copy == copies.end()) {
    const std::optional<std::string> text = read_text(file, "tool", std::uint64_t{4} << 30);
    if (!text) return file;
    copy = copies.try_emplace(file, ::memfd_create("table", MFD_CLOEXEC)).first;
    put_all(copy->second.get(), *text, file);
  }
  return "/proc/self/fd/" + std::to_string(copy->second.get());
}

}  // namespace penstock::cli
