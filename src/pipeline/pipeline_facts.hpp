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
  std::array<std::uint64_t, 4> aspects{};  ///< a fingerprint of each
  std::vector<JobFact> facts;

  /// `State::fingerprint`.
  std::uint64_t of_state() const noexcept;
  /// "its source and its stages": those in which a state's fingerprint differs; empty where it can't be told.
  std::string aspects_that_differ(std::uint64_t of_state) const;
  /// One fact a line, as it stands after a state in its file.
  std::string text() const;
  /// How the facts of such a text differ from these, in words; empty where they don't, or it is no such text.
  std::string what_differs(std::string_view text) const;
};

PipelineFacts facts_of(const PipelineData& data);

/// What samples of epoch 0 depend on, however they are batched: `SinkJob::made_by`.
std::vector<JobFact> sample_facts_of(const PipelineData& data);

/// What such a text begins with.
inline constexpr std::string_view facts_begin = "\npenstock pipeline 1\n";

}  // namespace penstock::detail
