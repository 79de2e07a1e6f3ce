// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <penstock/detail/source_model.hpp>

#include "base/counters.hpp"
#include "base/failure.hpp"
#include "base/run_delay.hpp"
#include "base/trace.hpp"
#include "chain/chain_run.hpp"

namespace penstock::detail::runtime {

/// Measures how long a runner loads blocks or advises the source, from construction to `end`. Counts the time as
/// reading.
class SourceWorkTimer {
 public:
  /// `stands_for`: number of loads that this measured load represents. `asks`: see WaitWatch.
  SourceWorkTimer(ChainRun& run, std::uint64_t stands_for, bool asks) noexcept
      : run_(run), stands_for_(stands_for), watch_(asks), begun_(read_clocks()) {}
  /// Call once. Adds the times to the counters, and returns the wall time in nanoseconds.
  std::uint64_t end() noexcept {
    const Clocks ended = read_clocks();
    const std::uint64_t cpu_ns = ended.cpu_ns - begun_.cpu_ns, wall_ns = ended.wall_ns - begun_.wall_ns;
    run_.counters.loads.cpu_ns.add(cpu_ns * stands_for_);
    if (wall_ns > cpu_ns) run_.counters.loads.wait_ns.add(watch_.waited(wall_ns - cpu_ns) * stands_for_);
    run_.counters.reads.wall_ns.add(wall_ns * stands_for_);
    return wall_ns;
  }

 private:
  ChainRun& run_;
  const std::uint64_t stands_for_;
  WaitWatch watch_;
  const Clocks begun_;
};

/// Opens a reader of the source. @throws Error with the source's error code, the stage "read" and the source's name.
inline std::unique_ptr<ReaderModel> open_reader(const SourceModel& source) {
  try {
    return source.open_reader();
  } catch (...) {
    Error error = current_error();
    error.with_stage("read");
    try {
      error.with_source(source.name());
    } catch (...) {  // name() failed, so the error does not name the source
    }
    throw error;
  }
}

/// Announces to the source which records will be read.
inline void advise(const SourceModel& source, ChainRun& run, std::span<const std::uint64_t> indices) noexcept {
  const TracedRange traced(run.runner.trace, "advise");
  SourceWorkTimer work(run, 1, false);
  source.will_need(indices);
  work.end();
}

}  // namespace penstock::detail::runtime
