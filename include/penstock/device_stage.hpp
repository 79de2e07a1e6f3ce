#pragma once

#include <concepts>
#include <cstdint>
#include <span>

#include <penstock/device.hpp>
#include <penstock/schema.hpp>
#include <penstock/tensor.hpp>

namespace penstock {

/// The fields of a whole batch, on a device: each tensor is [N, ...]. Owns nothing.
struct BatchView {
  const Schema* schema = nullptr;      ///< of one row
  std::span<const TensorView> fields;  ///< in the schema's order
  std::uint64_t rows = 0;
};

/// A stage behind `batch`, which works on whole batches on the loader's device: it enqueues its work on `stream` and
/// returns without waiting. Random draws of such a stage are made on the host, per sample, in `draw` (a plain struct of
/// at most 64 bytes), and reach it as a hidden field. No pipeline takes one yet.
template <class S>
concept DeviceStage = requires(const S& stage, const Schema& schema, BatchView in, BatchView out, StreamRef stream) {
  { stage.schema(schema) } -> std::convertible_to<Schema>;
  { stage.run(in, out, stream) } -> std::same_as<void>;
};

}  // namespace penstock
