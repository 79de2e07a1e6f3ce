#include "policy/outcome.hpp"

#include <string>

namespace penstock::detail {

Error exhausted(const Error& first, const Error& last) {
  Error error(first.code(), first.cause() + "; the " + std::to_string(max_attempts) +
                                " records drawn to replace it failed too, the last one: " + last.what());
  error.with_stage(first.stage()).with_source(first.source()).with_file(first.file()).with_key(first.key());
  if (first.index()) error.with_index(*first.index());
  if (first.offset()) error.with_offset(*first.offset());
  return error;
}

}  // namespace penstock::detail
