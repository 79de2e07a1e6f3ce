// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include <penstock/extend/sample.hpp>
#include <penstock/sources/webdataset.hpp>

namespace penstock::cli {

/// Reads samples of shards on a server, by whole ranges, which following samples share. One thread at a time.
class RangeReader {
 public:
  explicit RangeReader(WebDatasetSource source);
  RangeReader(const RangeReader&) = delete;
  RangeReader& operator=(const RangeReader&) = delete;
  ~RangeReader();

  /// Says which samples are read next, in this order, so that their ranges are transferred ahead.
  void expect(std::span<const std::uint64_t> indices);
  /// The values are valid until the next call. @throws Error like WebDatasetReader::read.
  void read(std::uint64_t index, SampleBuilder& out);

 private:
  struct Range {
    std::uint64_t block;
    std::vector<std::byte> bytes;
  };
  void announce();
  void withdraw() noexcept;
  void load(std::uint64_t block);

  const WebDatasetSource source_;
  std::vector<Range> ranges_;                         // those of the last sample
  std::deque<std::uint64_t> upcoming_;                // blocks that are not announced yet
  std::vector<std::uint64_t> announced_;              // blocks that are announced and not loaded
  std::vector<std::uint64_t> ids_;                    // scratch
  std::vector<std::span<const std::byte>> contents_;  // scratch
};

}  // namespace penstock::cli
