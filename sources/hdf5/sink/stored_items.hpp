// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/extend/sink.hpp>
#include <penstock/extend/store_files.hpp>

namespace penstock::hdf5 {

/// Stores which items were committed, in the order in which they were put. For each item, stores a hash of its
/// position, child and key. The hashes are in a file next to the store, because HDF5 files may lack keys.
class StoredItems {
 public:
  /// Opens a file that has at least `count` items, and cuts off everything after these. @throws Error(io | corrupt).
  void open(const std::string& file, std::uint64_t count);

  /// Returns the number of items that the file had at `open`. Items that were added later do not count.
  std::uint64_t size() const noexcept { return there_.size(); }
  /// Returns whether stored item `number` is `item`. REQUIRES: `number` is below `size()`.
  bool is(std::uint64_t number, const SinkItem& item, std::string_view key) const;

  /// Adds an item. Call `flush` to write it.
  void add(const SinkItem& item, std::string_view key);
  void flush(bool sync);
  void close() { file_.reset(); }

 private:
  std::vector<std::uint64_t> there_;
  std::optional<OutputFile> file_;
};

}  // namespace penstock::hdf5
