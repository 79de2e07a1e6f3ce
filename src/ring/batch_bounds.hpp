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

/// Decides whether a batch takes one more sample. Immutable; any thread may use it.
class BatchBounds {
 public:
  /// `groups`: a batch ends before a sample of another group or pass. The table must outlive this object. Null: groups
  /// don't end batches. @throws Error(invalid_argument) if not even one sample could fit a batch. @throws
  /// Error(schema_mismatch) if the field whose tokens are limited is a scalar.
  BatchBounds(const Schema& schema, const BatchSpec& batch, const GroupTable* groups = nullptr);

  /// Returns the largest number of rows that a batch can have. The sizes or groups of samples may end a batch
  /// earlier.
  std::uint64_t rows() const noexcept { return rows_; }
  /// Returns whether rows differ in size, and a limit on bytes or tokens ends batches.
  bool by_size() const noexcept { return max_bytes_ != 0 || max_tokens_ != 0; }

  /// The facts about a sample that decide in which batch it is.
  struct Item {
    std::span<const RaggedRow> row;  ///< the sample's values of the fields that are not dense
    std::uint64_t index = 0, pass = 0;
  };
  /// How full a batch is.
  struct Fill {
    std::uint64_t rows = 0, ragged_bytes = 0, ragged_tokens = 0;
    std::uint64_t group = 0, pass = 0;  ///< group and pass of the batch's first sample, if groups end batches
    std::vector<std::int64_t> longest;  ///< for each field that is not dense: length of its longest value so far;
                                        ///< stays 0 if rows are padded to a fixed length
  };
  Fill empty() const { return nothing_; }
  static void clear(Fill& fill) noexcept;
  /// Returns whether the batch has at least `enough_bytes` bytes, so that it takes no further sample.
  bool enough(const Fill& fill) const noexcept;
  bool admits(const Fill& fill, const Item& item) const noexcept;
  void add(Fill& fill, const Item& item) const noexcept;
  /// @throws Error(limit_exceeded) if this row alone exceeds the limits of a batch.
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
  std::size_t tokens_ = 0;  ///< slot of the field whose tokens are counted
};

}  // namespace penstock::detail::runtime
