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

/// Keeps which items were committed, in the order in which they were put: a hash of each one's place and key. They are
/// in a file next to the store, because HDF5 files may lack keys.
class StoredItems {
 public:
  /// Opens a file that holds at least `count` items, and cuts off the rest. @throws Error(io | corrupt).
  void open(const std::string& file, std::uint64_t count);

  std::uint64_t size() const noexcept { return there_.size(); }
  /// Returns whether item `number`, below `size()`, is this one.
  bool is(std::uint64_t number, const SinkItem& item, std::string_view key) const;

  /// Adds an item.
  void add(const SinkItem& item, std::string_view key);
  void flush(bool sync);
  void close() { file_.reset(); }

 private:
  std::vector<std::uint64_t> there_;
  std::optional<OutputFile> file_;
};

}  // namespace penstock::hdf5
