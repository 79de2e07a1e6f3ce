// The pipeline of a line of stages.
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

/// The flags' stages come first. The shuffle stands after the order stages that begin the line (`take 1000 | ...`
/// shuffles those 1,000), or is left to the line where that has one.
/// @throws UsageError.
Pipeline build_pipeline(const InputStore& store, const PipelineFlags& flags);

/// The same, with a cache in memory of `max_bytes` after the stage called `stub`, or after the source for "source".
/// Fills it with what so many epochs want. @throws UsageError where there is no such stage, or it or one before it
/// draws or drops samples; and penstock::Error.
Pipeline build_stubbed(const InputStore& store, const PipelineFlags& flags, const std::string& stub,
                       std::size_t max_bytes, unsigned threads, std::uint64_t epochs);

}  // namespace penstock::cli
