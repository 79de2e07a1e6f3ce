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

/// Records what makes a store, and how much of the store is written. An unfinished store's journal is in a file next to
/// the store, so that only a run of the same job continues the store.
struct Journal {
  std::vector<JobFact> made_by;                    ///< the sink's options first, then the job's facts
  std::map<std::string, std::uint64_t> committed;  ///< how much is committed, in numbers that the sink names
  bool finishing = false;  ///< true: everything is written, but some files may lack their final names

  /// Returns a number of `committed`. @throws Error(state_mismatch) if `committed` has no number of that name.
  std::uint64_t number(const std::string& name) const;
};

/// Returns the journal as JSON, with a hash of its content.
std::string to_json(const Journal& journal);
/// Reads a journal from the text that `to_json` returned. @throws Error(state_mismatch), which names no file, if
/// `to_json` can't have written the text.
Journal parse_journal(std::string_view json);

/// Returns what makes a store, as facts. The sink's facts come first. If the caller describes in `said` what makes the
/// samples, a fact "job" with this text follows; otherwise the facts of `job` follow.
std::vector<JobFact> store_facts(std::vector<JobFact> of_sink, const std::string& said, const SinkJob& job);
/// Returns the fact "samples", which has the number of samples if it is known.
JobFact samples_fact(std::uint64_t size);

}  // namespace penstock::common
