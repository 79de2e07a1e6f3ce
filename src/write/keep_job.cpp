// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/sink.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/extend/system_error.hpp>

#include "data/job_facts.hpp"

namespace penstock {

namespace {

constexpr std::string_view heading = "made by\n";

}  // namespace

void keep_job(const std::string& file, const SinkJob& job, std::string_view source) {
  std::vector<JobFact> facts = job.made_by;
  for (JobFact& fact : facts) fact = {escaped(fact.name), escaped(fact.words)};
  const std::string here = std::string(heading) + detail::lines_of(facts);
  const auto there = read_text(file, source);
  if (!there) return replace_text(file, here, true, source);
  if (*there == here) return;
  const auto refuse = [&](const std::string& why) {
    throw file_error(source, file, Errc::state_mismatch, why + "; delete the store, or write to another path");
  };
  if (!there->starts_with(heading)) refuse("the file does not say what made the store");
  refuse("another job made the store (" +
         job_difference(detail::facts_in(std::string_view(*there).substr(heading.size())), facts) + ")");
}

}  // namespace penstock
