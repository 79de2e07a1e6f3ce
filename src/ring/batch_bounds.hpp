// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <penstock/schema.hpp>
#include <penstock/tensor.hpp>

#include "data/row_layout.hpp"
#include "order/group_table.hpp"
#include "pipeline/batch_spec.hpp"

namespace penstock::detail::runtime {

/// Decides when a batch ends before it has all its rows. Immutable; any thread.
class BatchBounds {
 public:
  /// `groups`: the groups that end a batch; must outlive this object; null: no group ends a batch. @throws Error if no
  /// sample could ever fit.
  BatchBounds(const Schema& schema, const BatchSpec& batch, const GroupTable* groups = nullptr);

  /// Returns the most rows of a batch. Needs no sample.
  std::uint64_t rows() const noexcept { return rows_; }
  /// Returns whether the sizes of samples decide in which batch a sample is.
  bool by_size() const noexcept { return max_bytes_ != 0 || max_tokens_ != 0; }

  /// The facts that decide in which batch a sample is.
  struct Item {
    std::span<const RaggedRow> row;  ///< data and shapes of the fields that are not dense
    std::uint64_t index = 0, pass = 0;
  };
  /// How full a batch is.
  struct Fill {
    std::uint64_t rows = 0, ragged_bytes = 0, ragged_tokens = 0;
    std::uint64_t group = 0, pass = 0;  ///< group and pass of its first sample, if groups end a batch
    std::vector<std::int64_t> longest;  ///< longest value so far of each field that is not dense
  };
  Fill empty() const { return nothing_; }
  static void clear(Fill& fill) noexcept;
  /// Returns whether the batch takes no further sample, of any size.
  bool enough(const Fill& fill) const noexcept;
  bool admits(const Fill& fill, const Item& item) const noexcept;
  void add(Fill& fill, const Item& item) const noexcept;
  /// @throws Error(limit_exceeded) if the row fits no batch.
  void check(std::span<const RaggedRow> row) const;

 private:
  struct Sizes {
    std::uint64_t bytes, tokens;
  };
  bool counts_sizes() const noexcept { return by_size() || enough_bytes_ != 0; }
  bool is_other_group(const Fill& fill, const Item& item) const noexcept;
  Sizes sizes_with(const Fill& fill, std::span<const RaggedRow> row) const noexcept;

  Schema schema_;
  RowLayout layout_;
  const GroupTable* groups_;
  Fill nothing_;
  std::uint64_t rows_, max_bytes_ = 0, max_tokens_ = 0, enough_bytes_ = 0;
  std::size_t tokens_ = 0;  ///< field whose tokens are counted
};

}  // namespace penstock::detail::runtime
