#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/state.hpp>

#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

/// One sample as the policy for bad ones left it.
struct Outcome {
  // Without it, compilers zero the room for the errors as well: half a kilobyte a sample.
  Outcome() noexcept {}  // NOLINT(modernize-use-equals-default)

  std::uint64_t index = 0;    ///< source index of the record that it is made of
  std::uint32_t attempt = 0;  ///< not 0: a stand-in
  bool kept = true;           ///< false: filtered or dropped
  bool filtered = false;      ///< not kept, as a filter wants it
  bool masked = false;
  std::optional<Error> bad;    ///< the first failure, if the policy acts on it
  std::optional<Error> fatal;  ///< ends the run
};

/// An error of many samples, told of one of them.
Error error_at(const Error& sample, Errc code, std::string cause);

/// The attempts to make one sample: of the record that belongs there and, where the policy for bad samples wants it, of
/// others in its place. Each ends with `made` or `failed`, which say in `outcome` what became of the sample.
class Attempts {
 public:
  /// `data` and `outcome` must outlive it.
  Attempts(const PipelineData& data, const Place& place, std::uint64_t index, Outcome& outcome) noexcept
      : data_(data), outcome_(outcome), place_(place), index_(index) {}

  /// No further attempt is wanted.
  bool over() const noexcept { return over_; }
  /// Where this attempt stands, with its number, and the record to make it of.
  const Place& place() const noexcept { return place_; }
  std::uint64_t index() const noexcept { return index_; }

  /// `kept`: false where a filter left it out.
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
