#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/extend/sink.hpp>
#include <penstock/extend/store_files.hpp>

namespace penstock::hdf5 {

/// Where an item stands: position and child.
using ItemPlace = std::pair<std::uint64_t, std::uint32_t>;
inline ItemPlace place_of(const SinkItem& item) noexcept { return {item.position, item.child.value_or(0)}; }

/// Which items were committed, in the order in which they were put: a hash of place and key of each, in a file beside
/// the store, as HDF5 files need not hold keys.
class StoredItems {
 public:
  /// Of a file that holds at least `count`, the rest of which is cut off. @throws Error(io | corrupt).
  void open(const std::string& file, std::uint64_t count);

  std::uint64_t size() const noexcept { return there_.size(); }
  /// Whether item `number`, below `size()`, is this one.
  bool is(std::uint64_t number, const SinkItem& item, std::string_view key) const;

  // Where not every position has a sample. Asked in the items' order, some may be asked again.
  /// Whether the next one that was not found yet is this one, or the item was found before.
  bool find(const SinkItem& item, std::string_view key);
  std::uint64_t found() const noexcept { return found_; }
  /// Of the last one found; only where there is one.
  const ItemPlace& last_found() const noexcept { return last_found_; }

  /// One more that is put.
  void add(const SinkItem& item, std::string_view key);
  void flush(bool sync);
  void close() { file_.reset(); }

 private:
  std::vector<std::uint64_t> there_;
  std::optional<OutputFile> file_;
  std::uint64_t found_ = 0;
  ItemPlace last_found_;
};

}  // namespace penstock::hdf5
