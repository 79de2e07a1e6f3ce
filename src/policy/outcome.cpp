#include "policy/outcome.hpp"

#include <string>
#include <utility>

namespace penstock::detail {

Error error_at(const Error& sample, Errc code, std::string cause) {
  Error error(code, std::move(cause));
  error.with_stage(sample.stage()).with_source(sample.source()).with_file(sample.file()).with_key(sample.key());
  if (sample.index()) error.with_index(*sample.index());
  if (sample.offset()) error.with_offset(*sample.offset());
  return error;
}

Error exhausted(const Error& first, const Error& last) {
  return error_at(first, first.code(),
                  first.cause() + "; the " + std::to_string(max_attempts) +
                      " records drawn to replace it failed too, the last one: " + last.what());
}

}  // namespace penstock::detail
