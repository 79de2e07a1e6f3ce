// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <penstock/sources/lmdb.hpp>

#include "source/source_impl.hpp"

namespace penstock {

/// The stores of a source, one after the other. Immutable, like each store.
class LmdbSource::Stores {
 public:
  /// Opens the stores that `options` names. @throws what opening a store or reading a list of stores throws;
  /// Error(schema_mismatch) if the stores' fields or kinds of values differ; Error(invalid_argument) if a store is
  /// named twice, or if both or neither of `path` and `paths` are given.
  static std::shared_ptr<const Stores> open(Lmdb options);

  const Impl& first() const noexcept { return *all_.front(); }
  const std::vector<std::shared_ptr<const Impl>>& all() const noexcept { return all_; }
  bool single() const noexcept { return all_.size() == 1; }
  /// Returns the number of records of all stores together.
  std::uint64_t size() const noexcept { return ends_.back(); }
  /// Returns the index that a store's first record has in the source.
  std::uint64_t begin(std::size_t store) const noexcept { return store == 0 ? 0 : ends_[store - 1]; }
  /// Returns the index of the store that has record `index`, or the number of stores if no store has it.
  std::size_t store_of(std::uint64_t index) const noexcept;
  /// Returns the stores' schema. All stores have the same one, including the names of classes.
  const Schema& schema() const noexcept { return first().schema; }
  /// Returns the path of the list of stores. If no list was given, returns the first store's file.
  std::string file() const { return list_.empty() ? first().environment->file() : list_; }

 private:
  void require_alike() const;

  std::vector<std::shared_ptr<const Impl>> all_;
  std::vector<std::uint64_t> ends_;
  std::string list_;
};

}  // namespace penstock
