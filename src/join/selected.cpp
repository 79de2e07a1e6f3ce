// SPDX-License-Identifier: Apache-2.0
#include "join/selected.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "join/parts.hpp"
#include "order/groups.hpp"

namespace penstock::detail {

namespace {

// Reads the records of a source under their other numbers.
class SelectingReader final : public ReaderModel {
 public:
  SelectingReader(const Selected& all, std::unique_ptr<ReaderModel> reader) : all_(all), reader_(std::move(reader)) {}

  void read(std::uint64_t index, SampleBuilder& out) override { reader_->read(all_.record(index), out); }
  void expect(std::span<const std::uint64_t> indices) noexcept override {
    try {
      reader_->expect(all_.records(indices));
    } catch (...) {  // no memory for advice
    }
  }
  void pause() noexcept override { reader_->pause(); }
  void lend(std::uint64_t index, BlockData blocks, const Error* failure) noexcept override {
    try {
      reader_->lend(all_.record(index), blocks, failure);
    } catch (...) {  // the order fails for this record, and so will `read`
    }
  }

 private:
  const Selected& all_;
  std::unique_ptr<ReaderModel> reader_;
};

}  // namespace

Selected::Selected(std::shared_ptr<const SourceModel> source, std::vector<BoundOrder> orders, std::uint64_t size,
                   std::uint64_t identity)
    : ForwardedSource(std::move(source)), orders_(std::move(orders)), size_(size), identity_(identity) {}

std::uint64_t Selected::record(std::uint64_t index) const {
  require_record(*this, index);
  return orders_.empty() ? index : order().at(0, index);
}

std::vector<std::uint64_t> Selected::records(std::span<const std::uint64_t> indices) const {
  std::vector<std::uint64_t> all;
  all.reserve(indices.size());
  for (const std::uint64_t index : indices)
    if (index < size_) all.push_back(record(index));
  return all;
}

void Selected::for_each_record(const std::function<void(std::uint64_t)>& give) const {
  std::array<std::uint64_t, 4096> records;
  for (std::uint64_t first = 0; first < size_; first += records.size()) {
    const std::span<std::uint64_t> some(records.data(), std::min<std::uint64_t>(records.size(), size_ - first));
    order().fill(0, first, some);
    for (const std::uint64_t record : some) give(record);
  }
}

std::unique_ptr<ReaderModel> Selected::open_branch(std::uint64_t branch) const {
  return std::make_unique<SelectingReader>(*this, source().open_branch(branch));
}

void Selected::will_need(std::span<const std::uint64_t> indices) const noexcept {
  try {
    source().will_need(records(indices));
  } catch (...) {  // no memory for advice
  }
}

// Returns none if the orders don't keep the order of the source.
std::vector<std::uint64_t> Selected::block_ends() const {
  const std::vector<std::uint64_t> of_source = source().block_ends();
  if (orders_.empty() || of_source.empty()) return of_source;
  std::vector<std::uint64_t> ends;
  std::uint64_t index = 0, last = 0;
  auto block = of_source.begin();
  bool ascending = true;
  for_each_record([&](std::uint64_t record) {
    ascending = ascending && record >= last;
    last = record;
    for (; ascending && block != of_source.end() && record >= *block; ++block)
      if (index != 0 && (ends.empty() || ends.back() != index)) ends.push_back(index);
    ++index;
  });
  if (!ascending) return {};
  if (size_ != 0 && (ends.empty() || ends.back() != size_)) ends.push_back(size_);
  return ends;
}

std::optional<std::vector<std::int64_t>> Selected::labels(std::string_view field) const {
  std::optional<std::vector<std::int64_t>> of_source = source().labels(field);
  if (!of_source) return of_source;
  return labels_here(std::move(*of_source));
}

std::vector<std::int64_t> Selected::labels_here(std::vector<std::int64_t> of_source) const {
  if (orders_.empty()) return of_source;
  std::vector<std::int64_t> own;
  own.reserve(size_);
  for_each_record([&](std::uint64_t record) { own.push_back(of_source.at(record)); });
  return own;
}

std::vector<Group> Selected::groups() const {
  const std::vector<Group> of_source = source().groups();
  if (of_source.empty() || orders_.empty()) return of_source;
  const std::vector<Group> known = known_groups(source(), "groups");
  GroupNameLookup whose(known);
  std::vector<Group> own;
  std::uint64_t end = 0;
  for_each_record([&](std::uint64_t record) { append_group(own, whose.name_of(record), ++end); });
  return own;
}

std::vector<std::string> Selected::notes() const {
  std::vector<std::string> all = source().notes();
  for (const BoundOrder& order : orders_)
    all.push_back("chosen by " + order.label + ", the same records in each epoch");
  return all;
}

void Selected::name_record(std::uint64_t record, Error& error) const {
  if (!orders_.empty()) error = of_record(error, "; it is record " + std::to_string(record) + " of " + source().name());
}

void Selected::describe(std::uint64_t index, Error& error) const {
  const std::uint64_t own = record(index);
  source().describe(own, error);
  name_record(own, error);
}

void Selected::describe_field(std::uint64_t index, std::size_t slot, Error& error) const {
  const std::uint64_t own = record(index);
  source().describe_field(own, slot, error);
  name_record(own, error);
}

// Consecutive records of a block need not be consecutive here.
std::optional<BlockRows> Selected::rows_of(std::uint64_t block) const {
  return orders_.empty() ? ForwardedSource::rows_of(block) : std::nullopt;
}

void Selected::blocks_of(std::uint64_t index, std::vector<std::uint64_t>& ids) const {
  source().block_model()->blocks_of(record(index), ids);
}

}  // namespace penstock::detail
