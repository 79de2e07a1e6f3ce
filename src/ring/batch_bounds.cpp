// SPDX-License-Identifier: Apache-2.0
#include "ring/batch_bounds.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include <penstock/error.hpp>

#include "order/group_table.hpp"

namespace penstock::detail::runtime {

namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

std::uint64_t plus(std::uint64_t a, std::uint64_t b) noexcept { return a > most - b ? most : a + b; }
std::uint64_t times(std::uint64_t a, std::uint64_t b) noexcept { return b != 0 && a > most / b ? most : a * b; }
std::uint64_t length_of(const RaggedRow& row) noexcept { return static_cast<std::uint64_t>(row.shape[0]); }

}  // namespace

BatchBounds::BatchBounds(const Schema& schema, const BatchSpec& batch, const GroupTable* groups)
    : schema_(schema),
      layout_(schema),
      groups_(groups),
      nothing_{0, 0, 0, 0, 0, std::vector<std::int64_t>(layout_.varying())},
      rows_(batch.rows),
      enough_bytes_(batch.enough_bytes) {
  const BatchOptions& options = batch.options;
  if (options.max_tokens != 0) {
    tokens_ = schema.slot(options.tokens);
    const Field& field = schema[tokens_];
    const RowField& row = layout_[tokens_];
    if (field.shape.rank() == 0)
      throw Error(Errc::schema_mismatch, "field \"" + field.name + "\" is a scalar and has no length to be counted");
    if (row.appended()) {
      max_tokens_ = options.max_tokens;
    } else {
      const auto each = static_cast<std::uint64_t>(
          row.kind == RowField::Kind::padded ? row.to : std::max<std::int64_t>(field.shape[0], 0));
      if (each != 0) rows_ = std::min(rows_, options.max_tokens / each);
    }
  }
  if (options.max_bytes != 0) {
    if (layout_.appends())
      max_bytes_ = options.max_bytes;
    else if (layout_.row_bytes() != 0)
      rows_ = std::min(rows_, options.max_bytes / layout_.row_bytes());
    if (layout_.row_bytes() > options.max_bytes) rows_ = 0;
  }
  if (rows_ == 0)
    throw Error(Errc::invalid_argument,
                "not even one sample fits a batch that is bounded so: a row has " +
                    std::to_string(layout_.row_bytes()) + " bytes in fields of fixed size" +
                    (options.max_tokens == 0 ? "" : ", and what `.tokens` names may be of fixed length too") +
                    "; raise `.max_bytes` or `.max_tokens`");
}

void BatchBounds::clear(Fill& fill) noexcept {
  fill.rows = fill.ragged_bytes = fill.ragged_tokens = 0;
  std::fill(fill.longest.begin(), fill.longest.end(), 0);
}

BatchBounds::Sizes BatchBounds::sizes_with(const Fill& fill, std::span<const RaggedRow> row) const noexcept {
  const std::uint64_t rows = fill.rows + 1;
  Sizes sizes{plus(times(rows, layout_.row_bytes()), fill.ragged_bytes), fill.ragged_tokens};
  for (std::size_t f = 0; f < schema_.size(); ++f) {
    const RowField& field = layout_[f];
    if (!field.appended()) continue;
    const RaggedRow& here = row[field.varying];
    std::uint64_t tokens = length_of(here);
    if (field.kind == RowField::Kind::ragged) {
      sizes.bytes = plus(sizes.bytes, row_bytes_of(here, field.element));
    } else {
      tokens = times(rows, std::max(tokens, static_cast<std::uint64_t>(fill.longest[field.varying])));
      sizes.bytes = plus(sizes.bytes, times(tokens, field.unit));
    }
    if (f == tokens_) sizes.tokens = plus(sizes.tokens, tokens);
  }
  return sizes;
}

bool BatchBounds::enough(const Fill& fill) const noexcept {
  return enough_bytes_ != 0 && plus(times(fill.rows, layout_.row_bytes()), fill.ragged_bytes) >= enough_bytes_;
}

bool BatchBounds::is_other_group(const Fill& fill, const Item& item) const noexcept {
  return groups_ != nullptr && fill.rows != 0 &&
         (groups_->group_of(item.index) != fill.group || item.pass != fill.pass);
}

bool BatchBounds::admits(const Fill& fill, const Item& item) const noexcept {
  if (fill.rows == rows_ || is_other_group(fill, item)) return false;
  if (!by_size()) return true;
  const Sizes sizes = sizes_with(fill, item.row);
  return (max_bytes_ == 0 || sizes.bytes <= max_bytes_) && (max_tokens_ == 0 || sizes.tokens <= max_tokens_);
}

void BatchBounds::add(Fill& fill, const Item& item) const noexcept {
  if (groups_ != nullptr && fill.rows == 0) {
    fill.group = groups_->group_of(item.index);
    fill.pass = item.pass;
  }
  ++fill.rows;
  if (!counts_sizes()) return;
  for (std::size_t f = 0; f < schema_.size(); ++f) {
    const RowField& field = layout_[f];
    if (!field.appended()) continue;
    const RaggedRow& here = item.row[field.varying];
    fill.longest[field.varying] = std::max(fill.longest[field.varying], here.shape[0]);
    if (field.kind != RowField::Kind::ragged) continue;
    fill.ragged_bytes = plus(fill.ragged_bytes, row_bytes_of(here, field.element));
    if (f == tokens_) fill.ragged_tokens = plus(fill.ragged_tokens, length_of(here));
  }
}

void BatchBounds::check(std::span<const RaggedRow> row) const {
  if (!by_size()) return;
  const Sizes sizes = sizes_with(nothing_, row);
  if (max_tokens_ != 0 && sizes.tokens > max_tokens_)
    throw Error(Errc::limit_exceeded, "a sample whose field \"" + schema_[tokens_].name + "\" has " +
                                          std::to_string(sizes.tokens) +
                                          " elements fits no batch of `max_tokens` = " + std::to_string(max_tokens_) +
                                          "; cut it with a map, or leave it out with a filter")
        .with_stage("batch");
  if (max_bytes_ != 0 && sizes.bytes > max_bytes_)
    throw Error(Errc::limit_exceeded, "a sample of " + std::to_string(sizes.bytes) +
                                          " bytes fits no batch of `max_bytes` = " + std::to_string(max_bytes_) +
                                          "; cut it with a map, or leave it out with a filter")
        .with_stage("batch");
}

}  // namespace penstock::detail::runtime
