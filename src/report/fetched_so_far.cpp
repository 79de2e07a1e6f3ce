// SPDX-License-Identifier: Apache-2.0
#include "report/fetched_so_far.hpp"

#include <algorithm>
#include <cstddef>

namespace penstock::detail::runtime {

FetchedSoFar since(const FetchedSoFar& now, const FetchedSoFar& before) {
  FetchedSoFar between;
  if (now.at_ns <= before.at_ns || now.counts.size() != before.counts.size()) return between;
  between.at_ns = now.at_ns - before.at_ns;
  for (std::size_t i = 0; i < now.counts.size(); ++i) {
    FetchCounts counts = now.counts[i];
    const FetchCounts& first = before.counts[i];  // a source names its clients in the same order each time
    counts.bytes -= first.bytes;
    counts.reads -= first.reads;
    counts.waited_reads -= first.waited_reads;
    counts.retries -= first.retries;
    counts.not_kept -= first.not_kept;
    counts.waited_s -= first.waited_s;
    counts.busy_s -= first.busy_s;
    counts.full_s -= first.full_s;
    between.counts.push_back(counts);
  }
  return between;
}

std::optional<FetchReport> fetch_report(const FetchedSoFar& fetched) {
  if (fetched.counts.empty() || fetched.at_ns == 0) return std::nullopt;
  FetchReport report{.seconds = static_cast<double>(fetched.at_ns) * 1e-9};
  double busy_s = 0;
  for (const FetchCounts& counts : fetched.counts) {
    report.bytes += counts.bytes;
    report.reads += counts.reads;
    report.waited_reads += counts.waited_reads;
    report.retries += counts.retries;
    report.not_kept += counts.not_kept;
    report.waited_s += counts.waited_s;
    report.connections += counts.connections;
    report.full_share = std::max(report.full_share, std::min(1.0, counts.full_s / report.seconds));
    busy_s += counts.busy_s;
  }
  report.busy_connections = busy_s / report.seconds;
  report.bytes_per_s = static_cast<double>(report.bytes) / report.seconds;
  if (busy_s > 0) report.connection_bytes_per_s = static_cast<double>(report.bytes) / busy_s;
  return report;
}

}  // namespace penstock::detail::runtime
