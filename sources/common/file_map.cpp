// SPDX-License-Identifier: Apache-2.0
#include "common/file_map.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <penstock/extend/system_error.hpp>

namespace penstock::common {

FileMap::FileMap(int descriptor, std::size_t bytes, std::string_view source, const std::string& path) : bytes_(bytes) {
  void* const data = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
  if (data == MAP_FAILED)
    // `FileAccess::read` needs no map: it calls pread(). So it works even if the file system has no maps, or the
    // process has no room for another map.
    throw file_error(source, path, Errc::io,
                     std::string("mapping the file into memory: ") + std::strerror(errno) +
                         (errno == ENODEV ? ": its file system has no maps" : "") +
                         "; read it without, by `access = FileAccess::read`");
  data_ = static_cast<const std::byte*>(data);
}

FileMap::FileMap(FileMap&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

FileMap& FileMap::operator=(FileMap&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

FileMap::~FileMap() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), bytes_);
}

}  // namespace penstock::common
