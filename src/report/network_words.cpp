// SPDX-License-Identifier: Apache-2.0
#include "report/network_words.hpp"

#include <algorithm>

#include "report/number_words.hpp"

namespace penstock::detail::runtime {

namespace {

std::string rate_text(double bytes_per_s) {
  const double mb = bytes_per_s * 1e-6;
  return number(mb, mb < 1 ? 3 : mb < 10 ? 1 : 0) + " MB/s";
}

// Returns the seconds that all threads spent on reading, computing or waiting. What a few measured loads took may stand
// for more time than the run had.
double reading_s(const Report& r) {
  double us = 0;
  for (const StageReport& stage : r.stages)
    if (stage.name == "read" || stage.name.starts_with("read of "))
      us += stage.cpu_us_per_sample + stage.wait_us_per_sample;
  return std::min(us * 1e-6 * static_cast<double>(r.samples), r.seconds * static_cast<double>(r.threads));
}

// Returns what went wrong and only cost time.
std::string trouble_words(const FetchReport& f) {
  std::string words;
  if (f.retries != 0)
    words = "; " + std::to_string(f.retries) + (f.retries == 1 ? " request" : " requests") + " failed and " +
            (f.retries == 1 ? "was" : "were") + " repeated";
  if (f.not_kept != 0)
    words += "; the cache could not keep " + std::to_string(f.not_kept) + (f.not_kept == 1 ? " range" : " ranges") +
             ", because it is full or its disk failed";
  return words;
}

// Returns the bytes per second that the run could use: what the threads and the caller could take of them.
double usable_bytes_per_s(const Report& r) {
  const double of_caller = r.samples_per_s / std::max(1 - r.consumer_wait_share, 0.01);
  return r.fetched->bytes_per_s * std::min(r.limit_samples_per_s, of_caller) / r.samples_per_s;
}

}  // namespace

bool network_waits(const Report& r) {
  constexpr double mostly = 0.5;
  return r.fetched && r.fetched->bytes != 0 && r.samples_per_s > 0 && r.fetched->waited_s >= mostly * reading_s(r);
}

std::string network_words(const Report& r) {
  constexpr double mostly = 0.5;
  const FetchReport& f = *r.fetched;
  const std::string brought =
      " " + std::to_string(f.connections) + (f.connections == 1 ? " connection brought " : " connections brought ") +
      rate_text(f.bytes_per_s) + ", " + rate_text(f.connection_bytes_per_s) + " each while in use, and reads waited " +
      number(f.waited_s, 1) + " s" + trouble_words(f) + ".";
  if (f.full_share < mostly)
    return brought + " All of them were in use for only " + percent(f.full_share) +
           " of the time, so more would hardly help. Smaller ranges, of which more are fetched at the same time, or "
           "a nearer server may.";
  const double twice = 2 * f.bytes_per_s, usable = usable_bytes_per_s(r);
  return brought + " All of them were in use for " + percent(f.full_share) + " of the time. With " +
         std::to_string(2 * f.connections) + ", at most about " + rate_text(std::min(twice, usable)) + " would come" +
         (usable < twice ? ", which is all that this run can take," : "") + " if the server and the link have as much.";
}

std::string fetch_text(const FetchReport& f) {
  return "  fetched " + rate_text(f.bytes_per_s) + " over " + number(f.busy_connections, 1) + " of " +
         std::to_string(f.connections) + " connections, " + rate_text(f.connection_bytes_per_s) + " each; " +
         std::to_string(f.waited_reads) + " of " + std::to_string(f.reads) + " reads waited, " + number(f.waited_s, 1) +
         " s in all" + trouble_words(f) + "\n";
}

}  // namespace penstock::detail::runtime
