// SPDX-License-Identifier: Apache-2.0
#include "pipeline/outcome.hpp"

#include <string>
#include <utility>

#include "base/failure.hpp"

namespace penstock::detail {

namespace {

constexpr std::uint32_t max_attempts = 8;

// Returns the error for a bad sample whose stand-ins failed too.
Error exhausted(const Error& first, const Error& last) {
  return error_at(first, first.code(),
                  first.cause() + "; the " + std::to_string(max_attempts) +
                      " records drawn to replace it failed too, the last one: " + last.what());
}

}  // namespace

Error error_at(const Error& sample, Errc code, std::string cause) {
  Error error(code, std::move(cause));
  error.with_stage(sample.stage()).with_source(sample.source()).with_file(sample.file()).with_key(sample.key());
  if (sample.index()) error.with_index(*sample.index());
  if (sample.offset()) error.with_offset(*sample.offset());
  return error;
}

void Attempts::failed(Error error) {
  const OnError policy = data_.policy_value().policy;
  if (policy == OnError::fail || !error.sample_scoped()) return end(std::move(error));
  if (policy != OnError::replace) {
    outcome_.masked = policy == OnError::mask;
    outcome_.kept = outcome_.masked;
    outcome_.bad = std::move(error);
    return end();
  }
  if (place_.attempt == max_attempts) return end(exhausted(outcome_.bad ? *outcome_.bad : error, error));
  if (!outcome_.bad) outcome_.bad = std::move(error);
  ++place_.attempt;
  try {
    index_ = data_.sample_order().replacement(place_);
  } catch (...) {  // ends the run, because an order that fails affects more than one sample
    end(current_error().with_index(index_));
  }
}

}  // namespace penstock::detail
