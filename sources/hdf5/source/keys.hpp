// SPDX-License-Identifier: Apache-2.0
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

/// Finds the dataset, or the column of a compound dataset, that has the keys. `name`: the name that this dataset or
/// column has as a field. Does not check that the column exists. @throws Error(not_found) if there is no such dataset;
/// Error(invalid_argument) if `name` is empty; also errors of opening the dataset.
Hdf5Field find_keys(const std::shared_ptr<const File>& file, const std::string& name);

/// The keys of one file's records. Immutable; any thread.
class Keys {
 public:
  /// @throws Error(not_found | unsupported | schema_mismatch | corrupt) if the values can't be keys.
  Keys(std::shared_ptr<const File> file, const Hdf5Field& where);

  const Dataset& dataset() const noexcept { return dataset_; }
  /// Returns the name that the keys would have as a field (`field_name`).
  const std::string& name() const noexcept { return name_; }
  /// Returns the number of pages in which keys are read.
  std::uint64_t pages() const noexcept { return dataset_.rows() / page_rows_ + (dataset_.rows() % page_rows_ != 0); }
  /// Describes how keys are read, for people.
  std::string describe() const;
  /// Returns the key of a row. In `pages`, this object's pages have the numbers from `first_page` on.
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
