// SPDX-License-Identifier: Apache-2.0
#include "store/header.hpp"

#include <fcntl.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>

#include <penstock/error.hpp>
#include <penstock/extend/file_descriptor.hpp>

#include "store/bytes.hpp"
#include "store/errors.hpp"

namespace penstock::lmdb {

namespace {

constexpr std::uint32_t lmdb_magic = 0xbeefc0de;
constexpr std::uint64_t magic_at = 16, page_bytes_at = 40;

FileDescriptor open_header(const std::string& file) {
  return FileDescriptor(
      uninterrupted([&] { return ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); }));
}

}  // namespace

bool is_page_size(std::uint64_t bytes) noexcept {
  constexpr std::uint64_t least = 512, most = 65536;
  return bytes >= least && bytes <= most && std::has_single_bit(bytes);
}

bool begins_as_lmdb(const std::string& file) {
  const FileDescriptor opened = open_header(file);
  if (opened.get() < 0) return true;
  std::array<std::byte, sizeof lmdb_magic> found{};
  errno = 0;
  const std::size_t got = read_whole(opened.get(), found, magic_at);
  return errno != 0 || (got == found.size() && number_at<std::uint32_t>(found, 0) == lmdb_magic);
}

void require_page_size(const std::string& file) {
  const FileDescriptor opened = open_header(file);
  if (opened.get() < 0) return;
  // The header has two pages. LMDB uses the page of the later transaction.
  std::uint64_t begin = 0, first = 0;
  for (int page = 0; page < 2; ++page) {
    std::array<std::byte, page_bytes_at + sizeof(std::uint32_t)> header{};
    if (read_whole(opened.get(), header, begin) != header.size()) return;  // LMDB will report the short header
    if (number_at<std::uint32_t>(header, magic_at) != lmdb_magic) return;  // LMDB will report the wrong number
    const auto bytes = number_at<std::uint32_t>(header, page_bytes_at);
    if (!is_page_size(bytes) || (page != 0 && bytes != first))
      throw error_in(file, Errc::corrupt,
                     "the header says that pages have " + std::to_string(bytes) + " bytes; copy or make it again")
          .with_offset(begin + page_bytes_at);
    begin = first = bytes;
  }
}

}  // namespace penstock::lmdb
