// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace penstock::webdataset {

/// The bytes of one shard. One thread at a time.
class ShardBytes {
 public:
  virtual ~ShardBytes() = default;
  virtual const std::string& path() const noexcept = 0;
  virtual std::uint64_t bytes() const noexcept = 0;
  /// Reads exactly `count` bytes. @throws Error(io), also if the shard has become shorter.
  virtual void read(char* to, std::size_t count, std::uint64_t offset) const = 0;
};

}  // namespace penstock::webdataset
