// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/extend/job_facts.hpp>

#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

/// All that a pipeline's results depend on.
struct PipelineFacts {
  enum Aspect : std::uint8_t { source, orders, stages, rest };
  std::uint64_t fingerprint = 0;
  std::array<std::uint64_t, 4> aspects{};  ///< a fingerprint of each aspect
  std::vector<JobFact> facts;

  /// `State::fingerprint`.
  std::uint64_t of_state() const noexcept;
  /// Returns the aspects in which a state's fingerprint differs: "its source and its stages". Empty if they can't be
  /// determined.
  std::string aspects_that_differ(std::uint64_t of_state) const;
  /// Returns one fact per line, as written after a state in its file.
  std::string text() const;
  /// Returns how the facts of such a text differ from these, in words. Empty if they don't differ, or if the text is
  /// not such a text.
  std::string what_differs(std::string_view text) const;
};

PipelineFacts facts_of(const PipelineData& data);

/// Returns what samples of epoch 0 depend on, however they are batched: `SinkJob::made_by`.
std::vector<JobFact> sample_facts_of(const PipelineData& data);

/// The beginning of `PipelineFacts::text`.
inline constexpr std::string_view facts_begin = "\npenstock pipeline 1\n";

}  // namespace penstock::detail
