// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace penstock::common {

/// Maps a file into memory. The map lasts as long as the object. The object does not keep the descriptor.
class FileMap {
 public:
  FileMap() = default;
  /// @throws Error(io) of `source` if the file can't be mapped. The message explains how to read the file without a
  /// map.
  FileMap(int descriptor, std::size_t bytes, std::string_view source, const std::string& path);
  FileMap(FileMap&& other) noexcept;
  FileMap& operator=(FileMap&& other) noexcept;
  ~FileMap();

  /// Returns the file's bytes, or an empty span if no file is mapped.
  std::span<const std::byte> bytes() const noexcept { return {data_, bytes_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace penstock::common
