#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/state.hpp>

#include "base/failure.hpp"
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

inline constexpr std::uint32_t max_attempts = 8;

/// An error of many samples, told of one of them.
Error error_at(const Error& sample, Errc code, std::string cause);

/// What is said where no stand-in was good either.
Error exhausted(const Error& first, const Error& last);

/// Makes one sample: `attempt(place, index)` returns whether it is kept, or throws; `describe(index)`, called while
/// that is handled, says what. Where the policy wants it, other records are tried, with the attempt in their place.
template <class Attempt, class Describe>
void make_sample(const PipelineData& data, Place place, std::uint64_t index, Outcome& outcome, Attempt&& attempt,
                 Describe&& describe) {
  const OnError policy = data.policy_value().policy;
  for (;;) {
    try {
      outcome.kept = attempt(place, index);
      outcome.filtered = !outcome.kept;
      break;
    } catch (...) {
      Error error = describe(index);
      if (policy == OnError::fail || !error.sample_scoped()) {
        outcome.fatal = std::move(error);
        break;
      }
      if (policy != OnError::replace) {
        outcome.masked = policy == OnError::mask;
        outcome.kept = outcome.masked;
        outcome.bad = std::move(error);
        break;
      }
      if (place.attempt == max_attempts) {
        outcome.fatal = exhausted(outcome.bad ? *outcome.bad : error, error);
        break;
      }
      if (!outcome.bad) outcome.bad = std::move(error);
    }
    ++place.attempt;
    try {
      index = data.sample_order().replacement(place);
    } catch (...) {  // an order that fails is no matter of one sample
      outcome.fatal = current_error().with_index(index);
      break;
    }
  }
  outcome.index = index;
  outcome.attempt = place.attempt;
}

}  // namespace penstock::detail
