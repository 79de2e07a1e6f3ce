// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string>

#include <penstock/error.hpp>
#include <penstock/loader.hpp>

#include "data/row_layout.hpp"
#include "device/devices.hpp"
#include "pipeline/pipeline_data.hpp"
#include "pipeline/rank_rows.hpp"

namespace penstock {

namespace {

// Checks that `to` has room for the field in a batch of `rows` rows.
void check_target(const Field& field, const detail::RowField& row, std::uint64_t rows, const TensorView& to) {
  if (row.appended())
    throw Error(Errc::unsupported, "field \"" + field.name +
                                       "\" has no fixed size, so no memory is large enough for all its batches; pad it "
                                       "with pad(field, {.to = ...}), or take batches with next()");
  bool fits = to.dtype == field.dtype && to.shape.rank() == field.shape.rank() + 1 && to.shape[0] >= 0 &&
              static_cast<std::uint64_t>(to.shape[0]) >= rows;
  for (std::size_t i = 0; fits && i < field.shape.rank(); ++i)
    fits = to.shape[i + 1] == (i == 0 && row.kind == detail::RowField::Kind::padded ? row.to : field.shape[i]);
  if (!fits || (to.data == nullptr && to.bytes() != 0))
    throw Error(Errc::schema_mismatch, "a batch has up to " + std::to_string(rows) + " rows of field \"" + field.name +
                                           "\": " + std::string(to_string(field.dtype)) + field.shape.to_string() +
                                           "; the tensor it is to be copied to is " + std::string(to_string(to.dtype)) +
                                           to.shape.to_string() + (to.data == nullptr ? " at no address" : ""));
}

}  // namespace

std::optional<CopiedBatchInfo> Loader::next_into(std::span<const TensorView> to, StreamRef stream) {
  const detail::PipelineData& data = pipeline().data();
  const Schema& schema = pipeline().schema();
  if (to.size() != schema.size())
    throw Error(Errc::schema_mismatch, std::to_string(to.size()) + " tensors for the " + std::to_string(schema.size()) +
                                           " fields " + schema.to_string());
  const detail::RowLayout layout(schema);
  for (std::size_t f = 0; f < to.size(); ++f) check_target(schema[f], layout[f], max_rows_of_rank(data), to[f]);
  const std::shared_ptr<detail::DeviceModel> device = this->device();
  if (device != nullptr && stream.device() == host())
    throw Error(Errc::invalid_argument,
                "batches on " + to_string(device->device()) + " are copied on a stream of it: give it one");
  std::optional<Batch> batch = next(stream);
  if (!batch) return std::nullopt;
  for (std::size_t f = 0; f < to.size(); ++f) {
    const TensorView from = (*batch)[schema[f].name];
    const std::size_t bytes = from.bytes();
    if (bytes == 0) continue;
    if (device == nullptr) {
      std::memcpy(to[f].data, from.data, bytes);
    } else {
      const detail::DeviceGuard entered(*device);
      device->copy(to[f].data, from.data, bytes, stream);
    }
  }
  return CopiedBatchInfo{batch->size(),
                         batch->epoch(),
                         batch->number(),
                         {batch->indices().begin(), batch->indices().end()},
                         {batch->mask().begin(), batch->mask().end()}};
}

}  // namespace penstock
