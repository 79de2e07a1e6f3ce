#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

/// One thing that a pipeline's results depend on, for people.
struct PipelineFact {
  std::string name;  ///< "source", "order shuffle", "stage resize(image)", "batch"
  std::string words;
  friend bool operator==(const PipelineFact&, const PipelineFact&) = default;
};

/// All that a pipeline's results depend on.
struct PipelineFacts {
  enum Aspect : std::uint8_t { source, orders, stages, rest };
  std::uint64_t fingerprint = 0;
  std::array<std::uint64_t, 4> aspects{};  ///< a fingerprint of each
  std::vector<PipelineFact> facts;

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

/// What such a text begins with.
inline constexpr std::string_view facts_begin = "\npenstock pipeline 1\n";

}  // namespace penstock::detail
