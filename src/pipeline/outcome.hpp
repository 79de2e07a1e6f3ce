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
  // Without this constructor, compilers also zero the memory for the errors, half a kilobyte per sample.
  Outcome() noexcept {}  // NOLINT(modernize-use-equals-default)

  std::uint64_t index = 0;    ///< source index of the record that the sample was made from
  std::uint32_t attempt = 0;  ///< 0 for the sample's own record, otherwise the number of the stand-in
  bool kept = true;           ///< false if the sample was filtered or dropped
  bool filtered = false;      ///< whether a filter left the sample out
  bool masked = false;
  std::optional<Error> bad;    ///< the first failure, if the policy masks, drops or replaces the sample
  std::optional<Error> fatal;  ///< an error that ends the run
};

/// Returns an error with this code and cause, and with stage, source, file, key, index and offset of `sample`. It is
/// for an error about several failures, of which `sample` is one.
Error error_at(const Error& sample, Errc code, std::string cause);

/// The attempts to make one sample: first from its own record, then, if the policy for bad samples requires it, from
/// stand-ins. Each attempt ends with `made` or `failed`, which write the result to `outcome`.
class Attempts {
 public:
  /// `data` and `outcome` must outlive this object.
  Attempts(const PipelineData& data, const Place& place, std::uint64_t index, Outcome& outcome) noexcept
      : data_(data), outcome_(outcome), place_(place), index_(index) {}

  /// Returns whether no further attempt is needed.
  bool over() const noexcept { return over_; }
  /// Return the place of the current attempt, and the source index of the attempt's record. The place's member
  /// `attempt` is the attempt's number.
  const Place& place() const noexcept { return place_; }
  std::uint64_t index() const noexcept { return index_; }

  /// Ends the attempts, because the sample was made. `kept`: false if a filter left it out.
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
