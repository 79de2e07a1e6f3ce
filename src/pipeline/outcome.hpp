// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/state.hpp>

#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

/// The outcome of one sample after the policy for bad samples was applied.
struct Outcome {
  // Without it, compilers also zero the memory for the errors: half a kilobyte per sample.
  Outcome() noexcept {}  // NOLINT(modernize-use-equals-default)

  std::uint64_t index = 0;    ///< source index of the record that it is made of
  std::uint32_t attempt = 0;  ///< not 0: a stand-in
  bool kept = true;           ///< false: filtered or dropped
  bool filtered = false;      ///< not kept, because a filter left it out
  bool masked = false;
  std::optional<Error> bad;    ///< the first failure, if the policy acts on it
  std::optional<Error> fatal;  ///< ends the run
};

/// Returns an error about many samples, with the facts of one of them.
Error error_at(const Error& sample, Errc code, std::string cause);

/// The attempts to make one sample: first from its own record, then, if the policy for bad samples requires it, from
/// stand-ins. Each attempt ends with `made` or `failed`, which write the result to `outcome`.
class Attempts {
 public:
  /// `data` and `outcome` must outlive it.
  Attempts(const PipelineData& data, const Place& place, std::uint64_t index, Outcome& outcome) noexcept
      : data_(data), outcome_(outcome), place_(place), index_(index) {}

  /// Returns whether no further attempt is needed.
  bool over() const noexcept { return over_; }
  /// The place of this attempt, including its number, and the record to make it from.
  const Place& place() const noexcept { return place_; }
  std::uint64_t index() const noexcept { return index_; }

  /// `kept`: false if a filter left the sample out.
  void made(bool kept) noexcept {
    outcome_.kept = kept;
    outcome_.filtered = !kept;
    end();
  }
  void failed(Error error);

 private:
  void end() noexcept {
    outcome_.index = index_;
    outcome_.attempt = place_.attempt;
    over_ = true;
  }
  void end(Error fatal) noexcept {
    outcome_.fatal = std::move(fatal);
    end();
  }

  const PipelineData& data_;
  Outcome& outcome_;
  Place place_;
  std::uint64_t index_;
  bool over_ = false;
};

}  // namespace penstock::detail
