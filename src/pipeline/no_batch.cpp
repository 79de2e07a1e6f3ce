// SPDX-License-Identifier: Apache-2.0
#include "pipeline/no_batch.hpp"

#include <cstdint>

namespace penstock::detail {

std::string why_no_batch(const PipelineData& data) {
  const std::string never = "no batch can ever come: ";
  if (data.source->is_stream() || data.fixed_steps() != 0) return {};
  if (data.source_size == 0) {
    std::string cause = never + "the source has no records";
    for (const std::string& note : data.source->notes()) cause += "; " + note;
    return cause;
  }
  if (data.size == 0)
    return never + "of " + std::to_string(data.source_size) + " records the orders leave none" +
           (data.orders.empty() ? "" : " (the last one is " + data.orders.back().label + ")");
  // Filters and the policy `drop` can only reduce the number of samples. But a flat_map may make more samples, and
  // bounds may make smaller batches. With these, a batch may come.
  const std::uint64_t rows = data.batch->rows;
  if (data.batch->options.tail != Tail::drop || data.size >= rows || data.flat_maps || data.bounded) return {};
  return never + "an epoch has " + std::to_string(data.size) + (data.size == 1 ? " sample" : " samples") + " for the " +
         std::to_string(rows) +
         " rows of a batch, and Tail::drop leaves the last batch out where it is incomplete; "
         "make batches smaller, or keep or pad the last one";
}

}  // namespace penstock::detail
