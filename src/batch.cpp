#include <penstock/batch.hpp>

#include <utility>

#include <penstock/error.hpp>

#include "lease.hpp"

namespace penstock {

namespace {
const detail::Lease& need(const std::unique_ptr<detail::Lease>& lease) {
  if (lease == nullptr) throw Error(Errc::closed, "the batch was released, or moved away");
  return *lease;
}
}  // namespace

Batch::Batch() noexcept = default;
Batch::Batch(std::unique_ptr<detail::Lease> lease) noexcept : lease_(std::move(lease)) {}
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;
Batch::~Batch() = default;

const Schema& Batch::schema() const { return need(lease_).engine().data().schema; }

TensorView Batch::operator[](std::string_view field) const {
  detail::Engine& engine = need(lease_).engine();
  const Schema& schema = engine.data().schema;
  const std::size_t slot = schema.slot(field);
  std::array<std::int64_t, Shape::max_rank + 1> dims{};
  const Shape& row = schema[slot].shape;
  dims[0] = static_cast<std::int64_t>(size());
  for (std::size_t i = 0; i < row.rank(); ++i) dims[i + 1] = row[i];
  return {engine.slots().place(lease_->slot(), slot, 0), schema[slot].dtype,
          Shape(std::span<const std::int64_t>(dims.data(), row.rank() + 1))};
}

std::uint64_t Batch::size() const noexcept { return lease_ == nullptr ? 0 : lease_->slot().rows; }
std::span<const std::uint64_t> Batch::indices() const noexcept {
  return lease_ == nullptr ? std::span<const std::uint64_t>{} : std::span(lease_->slot().indices.data(), size());
}
std::span<const std::uint8_t> Batch::mask() const noexcept {
  return lease_ == nullptr ? std::span<const std::uint8_t>{} : std::span(lease_->slot().mask.data(), size());
}
std::uint64_t Batch::epoch() const noexcept { return lease_ == nullptr ? 0 : lease_->slot().epoch; }
std::uint64_t Batch::number() const noexcept { return lease_ == nullptr ? 0 : lease_->slot().number; }
void Batch::release() noexcept { lease_.reset(); }

}  // namespace penstock
