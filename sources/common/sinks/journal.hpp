#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/extend/job_facts.hpp>
#include <penstock/extend/sink.hpp>

namespace penstock::common {

/// What makes a store, and how far it is: kept beside it while it is unfinished, so that only a run that makes the same
/// goes on with it.
struct Journal {
  std::vector<JobFact> made_by;                    ///< what the sink's options say, then what the job says
  std::map<std::string, std::uint64_t> committed;  ///< numbers of the sink's own
  bool finishing = false;                          ///< all is written, the files are being given their names

  /// @throws Error(state_mismatch) where it says no such number.
  std::uint64_t number(const std::string& name) const;
};

/// As JSON, with a hash of all of it.
std::string to_json(const Journal& journal);
/// @throws Error(state_mismatch), without a file, where the text is not as it was written.
Journal parse_journal(std::string_view json);

/// What makes a store: facts that the sink adds, then, where the caller says what makes the samples, only that, as a
/// fact "job"; else what `job` knows.
std::vector<JobFact> store_facts(std::vector<JobFact> of_sink, const std::string& said, const SinkJob& job);
/// The fact "samples".
JobFact samples_fact(std::uint64_t size);

}  // namespace penstock::common
