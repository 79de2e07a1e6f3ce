#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <penstock/sources/hdf5.hpp>

#include "filters/chunk_filters.hpp"
#include "source/column.hpp"
#include "source/dataset.hpp"
#include "source/file.hpp"
#include "source/key_pages.hpp"

namespace penstock::hdf5 {

/// The dataset, or the column of a compound one, that is called so where fields are named.
/// @throws Error(not_found) where there is none; what opening it throws.
Hdf5Field find_keys(const std::shared_ptr<const File>& file, const std::string& name);

/// The keys of one file's records. Immutable but for pages; any thread.
class Keys {
 public:
  /// @throws Error(unsupported | schema_mismatch | corrupt) for what gives no keys.
  Keys(std::shared_ptr<const File> file, const Hdf5Field& where);

  const Dataset& dataset() const noexcept { return dataset_; }
  /// Name of the keys, as `field_name` has it.
  const std::string& name() const noexcept { return name_; }
  /// How many pages they are read in.
  std::uint64_t pages() const noexcept { return dataset_.rows() / page_rows_ + (dataset_.rows() % page_rows_ != 0); }
  /// How they are read, for people.
  std::string describe() const;
  /// The pages of `pages` from `first_page` on are its own.
  std::string get(std::uint64_t row, bool verify_checksum, Workspaces& workspaces, KeyPages& pages,
                  std::uint64_t first_page) const;

 private:
  Texts read(std::uint64_t first, std::uint64_t rows, bool verify_checksum, Workspaces& workspaces) const;
  bool by_chunks() const noexcept { return dataset_.way() == Hdf5Way::chunks || dataset_.way() == Hdf5Way::library; }

  std::string name_;
  Dataset dataset_;
  Column column_;
  std::uint64_t page_rows_ = 1;
};

}  // namespace penstock::hdf5
