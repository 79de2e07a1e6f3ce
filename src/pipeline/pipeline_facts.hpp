// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/extend/job_facts.hpp>

#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

/// Everything that a pipeline's results depend on.
struct PipelineFacts {
  enum Aspect : std::uint8_t { source, orders, stages, rest };
  std::uint64_t fingerprint = 0;
  std::array<std::uint64_t, 4> aspects{};  ///< a fingerprint of each aspect
  std::vector<JobFact> facts;
  struct BeforeRanks {
    std::uint64_t fingerprint, aspect;  ///< `fingerprint` and `aspects[rest]` without the number of ranks
  };
  std::optional<BeforeRanks> before_ranks;  ///< set if results depend on the number of ranks

  /// Returns the value of `State::fingerprint`.
  std::uint64_t of_state() const noexcept;
  /// Returns the aspects in which a state's fingerprint differs from this object, such as "its source and its stages".
  /// Returns an empty text if the fingerprint shows no aspect that differs.
  std::string aspects_that_differ(std::uint64_t of_state) const;
  /// Returns the number of ranks of a state's pipeline, if that number alone differs or nothing does. Returns none
  /// otherwise, and if results don't depend on it.
  std::optional<std::uint64_t> ranks_of(std::uint64_t of_state) const;
  /// Returns `facts_begin`, followed by one fact per line. A state's file has this text after the state.
  std::string text() const;
  /// Returns in words how the facts in `text`, which another `text()` returned, differ from this object's facts.
  /// Returns an empty text if no fact differs, or `text` has no facts.
  std::string what_differs(std::string_view text) const;
};

PipelineFacts facts_of(const PipelineData& data);

/// Returns the facts on which the samples of epoch 0 depend, without facts about batches. `SinkJob::made_by` has these
/// facts.
std::vector<JobFact> sample_facts_of(const PipelineData& data);

/// The beginning of `PipelineFacts::text`.
inline constexpr std::string_view facts_begin = "\npenstock pipeline 1\n";

}  // namespace penstock::detail
