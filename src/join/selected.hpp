// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/detail/source_model.hpp>
#include <penstock/error.hpp>

#include "join/forwarded_source.hpp"
#include "order/sample_order.hpp"

namespace penstock::detail {

/// A source whose records are chosen and numbered by orders, in each epoch alike. Without orders, it has all records
/// under the numbers that they have.
class Selected : public ForwardedSource {
 public:
  /// `size`: number of records that the orders choose. `identity`: the identity of source and orders together.
  Selected(std::shared_ptr<const SourceModel> source, std::vector<BoundOrder> orders, std::uint64_t size,
           std::uint64_t identity);

  std::uint64_t size() const override { return size_; }
  std::uint64_t identity() const override { return identity_; }
  std::unique_ptr<ReaderModel> open_branch(std::uint64_t branch) const override;
  void will_need(std::span<const std::uint64_t> indices) const noexcept override;
  std::vector<std::uint64_t> block_ends() const override;
  std::optional<std::vector<std::int64_t>> labels(std::string_view field) const override;
  std::vector<Group> groups() const override;
  std::vector<std::string> notes() const override;
  void describe(std::uint64_t index, Error& error) const override;
  void describe_field(std::uint64_t index, std::size_t slot, Error& error) const override;
  std::optional<BlockRows> rows_of(std::uint64_t block) const override;
  void blocks_of(std::uint64_t index, std::vector<std::uint64_t>& ids) const override;

  /// Returns the source's number of a record. @throws Error(not_found) past the end.
  std::uint64_t record(std::uint64_t index) const;
  /// Returns the source's numbers of those records that exist.
  std::vector<std::uint64_t> records(std::span<const std::uint64_t> indices) const;

 protected:
  RecordOrigin origin(std::uint64_t index) const override { return {source(), record(index)}; }
  /// Adds to the cause which record of the source it is, if the numbers differ.
  void name_record(std::uint64_t record, Error& error) const;
  /// Returns the labels of these records, from the labels of all records of the source.
  std::vector<std::int64_t> labels_here(std::vector<std::int64_t> of_source) const;
  /// Calls give(record) with the source's number of each record, in order.
  void for_each_record(const std::function<void(std::uint64_t)>& give) const;

 private:
  SampleOrder order() const noexcept { return {orders_, 0, size_}; }

  const std::vector<BoundOrder> orders_;
  const std::uint64_t size_, identity_;
};

}  // namespace penstock::detail
