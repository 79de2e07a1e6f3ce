// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/extend/job_facts.hpp>
#include <penstock/extend/sink.hpp>

namespace penstock::common {

/// What makes a store, and how far it is. Kept next to the store while it is unfinished, so that only a run that makes
/// the same store continues it.
struct Journal {
  std::vector<JobFact> made_by;                    ///< the sink's options first, then the job's facts
  std::map<std::string, std::uint64_t> committed;  ///< the sink's own numbers
  bool finishing = false;                          ///< everything is written; the files are being given their names

  /// @throws Error(state_mismatch) if it has no such number.
  std::uint64_t number(const std::string& name) const;
};

/// Returns it as JSON, with a hash of everything.
std::string to_json(const Journal& journal);
/// @throws Error(state_mismatch), without a file, if the text is not as it was written.
Journal parse_journal(std::string_view json);

/// Returns the facts that make a store, the sink's first. If the caller describes what makes the samples (`said`), only
/// that follows, as a fact "job"; otherwise the facts of `job` follow.
std::vector<JobFact> store_facts(std::vector<JobFact> of_sink, const std::string& said, const SinkJob& job);
/// Returns the fact "samples".
JobFact samples_fact(std::uint64_t size);

}  // namespace penstock::common
