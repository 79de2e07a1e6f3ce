#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/extend/sink.hpp>
#include <penstock/extend/store_files.hpp>

namespace penstock::hdf5 {

/// Which items were committed, in the order in which they were put: a hash of place and key of each, in a file beside
/// the store, as HDF5 files need not hold keys.
class StoredItems {
 public:
  /// Opens a file that holds at least `count` items, the rest of which is cut off. @throws Error(io | corrupt).
  void open(const std::string& file, std::uint64_t count);

  std::uint64_t size() const noexcept { return there_.size(); }
  /// Whether item `number`, below `size()`, is this one.
  bool is(std::uint64_t number, const SinkItem& item, std::string_view key) const;

  /// One more that is put.
  void add(const SinkItem& item, std::string_view key);
  void flush(bool sync);
  void close() { file_.reset(); }

 private:
  std::vector<std::uint64_t> there_;
  std::optional<OutputFile> file_;
};

}  // namespace penstock::hdf5
