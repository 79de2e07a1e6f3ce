// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace penstock::webdataset {

inline constexpr std::size_t tar_block_bytes = 512;
using TarBlock = std::array<char, tar_block_bytes>;
using TarBlockView = std::span<const char, tar_block_bytes>;

/// The contents of one header block. A long name, and what an extended header specifies, are not in it.
struct TarHeader {
  std::string name;
  std::uint64_t size = 0;
  char type = '0';
};

/// Thrown for a damaged header. Says what is wrong, and where in the block or data that was parsed.
struct TarDamage {
  const char* what;
  std::size_t offset;
};

bool is_zero(TarBlockView block) noexcept;
bool has_checksum(TarBlockView block) noexcept;

/// Reads a header of any of tar's formats. @throws TarDamage if the checksum is wrong, or the size is not a number, or
/// is 2^63 or more.
TarHeader parse_header(TarBlockView block);

/// The records of a pax extended header that are used here.
struct PaxRecords {
  std::optional<std::string> path;
  std::optional<std::uint64_t> size;
  bool sparse = false;
  std::optional<std::string> sparse_name;  ///< the name of a sparse member, whose `path` may be different
};
/// Adds the records of an extended header's data to `records`. @throws TarDamage.
void parse_pax(std::string_view data, PaxRecords& records);

/// Returns the blocks before a member's data: one block, or at least three if the name or the size needs a pax header.
std::string make_header(std::string_view name, std::uint64_t size);

constexpr std::uint64_t padding_of(std::uint64_t bytes) noexcept {
  return (tar_block_bytes - bytes % tar_block_bytes) % tar_block_bytes;
}

}  // namespace penstock::webdataset
