// SPDX-License-Identifier: Apache-2.0
// Content of files on the test's server, and how tests read them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <penstock/extend/byte_source.hpp>

namespace penstock_test::on_server {

using penstock::ByteRange;
using penstock::ByteSource;

inline constexpr std::size_t range = 64 << 10;

inline std::string content(std::size_t bytes, std::uint64_t seed) {
  std::string text(bytes, '\0');
  for (char& c : text) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    c = static_cast<char>(seed >> 56);
  }
  return text;
}

inline std::string read(const ByteSource& file, std::uint64_t offset, std::size_t bytes) {
  std::string out(bytes, '\0');
  file.read(offset, {reinterpret_cast<std::byte*>(out.data()), bytes});
  return out;
}

inline std::vector<ByteRange> ranges_of(const ByteSource& file) {
  std::vector<ByteRange> ranges;
  for (std::uint64_t at = 0; at < file.size(); at += range)
    ranges.push_back({at, std::min<std::uint64_t>(range, file.size() - at)});
  return ranges;
}

inline std::string read_all(const ByteSource& file, bool announced = true) {
  std::string all;
  const std::vector<ByteRange> ranges = ranges_of(file);
  if (announced) file.will_read(ranges);
  for (const ByteRange& of : ranges) all += read(file, of.offset, of.bytes);
  return all;
}

}  // namespace penstock_test::on_server
