// SPDX-License-Identifier: Apache-2.0
// Builds the pipeline that a line of stages describes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <penstock/pipeline.hpp>

#include "stores/input_store.hpp"

namespace penstock::cli {

struct PipelineFlags {
  std::string stages = {}, on_error = {};
  std::optional<std::uint64_t> seed = {};
  bool no_shuffle = false, verify = false;
};

/// Builds the pipeline: first the stages for `seed`, `on_error` and `verify`, then the stages of the line
/// `flags.stages`. Adds a shuffle after the order stages that begin the line: `take 1000 | ...` shuffles these 1,000
/// records. Adds no shuffle with `no_shuffle`, or if the line has `shuffle` or `bags`. @throws UsageError.
Pipeline build_pipeline(const InputStore& store, const PipelineFlags& flags);

/// Builds the same pipeline with a cache in memory of `max_bytes` after the stage called `stub`. If `stub` is "source",
/// the cache comes before the line's first stage that is not an order stage. Fills the cache with the samples of the
/// given number of epochs.
/// @throws UsageError if no stage between the order stages at the beginning and `batch` has that name. Throws it too if
/// that stage, or one before it, draws at random, has no version or changes the number of samples. No cache can come
/// after such a stage.
/// @throws penstock::Error.
Pipeline build_stubbed(const InputStore& store, const PipelineFlags& flags, const std::string& stub,
                       std::size_t max_bytes, unsigned threads, std::uint64_t epochs);

}  // namespace penstock::cli
