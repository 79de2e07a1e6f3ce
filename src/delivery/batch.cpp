// SPDX-License-Identifier: Apache-2.0
#include <penstock/batch.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <penstock/error.hpp>

#include "delivery/lease.hpp"

#include "pipeline/batch_positions.hpp"

namespace penstock {

namespace {
const detail::runtime::Lease& need(const std::unique_ptr<detail::runtime::Lease>& lease) {
  if (lease == nullptr) throw Error(Errc::closed, "the batch was released, or moved away");
  return *lease;
}
}  // namespace

Batch::Batch() noexcept = default;
Batch::Batch(std::unique_ptr<detail::runtime::Lease> lease) noexcept : lease_(std::move(lease)) {}
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;
Batch::~Batch() = default;

const Schema& Batch::schema() const { return need(lease_).schema(); }

TensorView Batch::operator[](std::string_view field) const {
  const detail::runtime::Lease& lease = need(lease_);
  const std::size_t slot = lease.schema().slot(field);
  return lease.layout().tensor(lease.info(), lease.fields(), slot, lease.schema()[slot]);
}

namespace {

// Returns the slot that the field has in batches as runners make them, before any stage that comes after `batch`.
// `made_layout` and `info` use this slot. @throws Error(unsupported) if a stage after `batch` adds the field, or
// changes how the field is collated.
std::size_t made_slot(const detail::runtime::Lease& lease, std::string_view field) {
  const std::size_t slot = lease.schema().slot(field);
  if (const auto made = lease.data().schema.find(field))
    if (lease.data().schema[*made].collate == lease.schema()[slot].collate) return *made;
  throw Error(Errc::unsupported, "field \"" + std::string(field) + "\" is made after batch, where its rows are all " +
                                     lease.schema()[slot].shape.to_string());
}

}  // namespace

RaggedRows Batch::ragged(std::string_view field) const {
  const detail::runtime::Lease& lease = need(lease_);
  const std::size_t slot = made_slot(lease, field);
  return lease.made_layout().ragged(lease.info(), slot, lease.data().schema[slot]);
}

PackedTensor Batch::packed(std::string_view field) const {
  const RaggedRows rows = ragged(field);
  const auto packed = lease_->packed(made_slot(*lease_, field));
  if (!packed)
    throw Error(Errc::unsupported,
                "on the host the rows of field \"" + std::string(field) +
                    "\" are not packed; batch.ragged(field).packed() copies them one after the other");
  return {{packed->data, rows.dtype(), Shape{packed->elements}},
          {packed->table, DType::i64, Shape{static_cast<std::int64_t>(rows.size()) + 1}}};
}

std::span<const std::int64_t> Batch::lengths(std::string_view field) const {
  const detail::runtime::Lease& lease = need(lease_);
  const std::size_t slot = made_slot(lease, field);
  return lease.made_layout().lengths(lease.info(), slot, lease.data().schema[slot]);
}

Device Batch::device() const { return need(lease_).device(); }
void Batch::also_used_on(StreamRef stream) {
  need(lease_);
  lease_->also_used_on(stream);
}

std::uint64_t Batch::size() const noexcept { return lease_ == nullptr ? 0 : lease_->info().rows; }
std::uint64_t Batch::global_size() const noexcept {
  if (lease_ == nullptr) return 0;
  const detail::PipelineData& data = lease_->data();
  if (!data.reordered()) return detail::BatchPositions(data).global_valid(number());
  // If several ranks share batches of a reordered pipeline, every batch is full.
  return data.rank_value().world > 1 ? data.batch->rows : std::max(lease_->info().valid, lease_->info().of_all);
}
std::span<const std::uint64_t> Batch::indices() const noexcept {
  return lease_ == nullptr ? std::span<const std::uint64_t>{} : std::span(lease_->info().indices.data(), size());
}
std::span<const std::uint8_t> Batch::mask() const noexcept {
  return lease_ == nullptr ? std::span<const std::uint8_t>{} : std::span(lease_->info().mask.data(), size());
}
std::uint64_t Batch::epoch() const noexcept { return lease_ == nullptr ? 0 : lease_->info().epoch; }
std::uint64_t Batch::number() const noexcept { return lease_ == nullptr ? 0 : lease_->info().number; }
void Batch::release() noexcept { lease_.reset(); }

}  // namespace penstock
