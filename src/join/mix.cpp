// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include <penstock/detail/order_model.hpp>
#include <penstock/error.hpp>
#include <penstock/join.hpp>
#include <penstock/stages/order.hpp>

#include "base/number_text.hpp"
#include "order/rotation.hpp"
#include "order/weights.hpp"

namespace penstock {

Pipeline mix(const std::vector<MixPart>& parts, MixOptions options) {
  std::vector<AnySource> sources;
  std::vector<double> weights;
  std::vector<std::uint64_t> ends;
  std::string description;
  for (const MixPart& part : parts) {
    sources.push_back(part.source);
    weights.push_back(part.weight);
    description += (description.empty() ? "" : " : ") + detail::shortest(part.weight);
  }
  const AnySource all = concat(sources, {.classes = options.classes});
  detail::check_weights(weights, "mix");
  std::uint64_t drawable = 0;
  for (const MixPart& part : parts) {
    const std::uint64_t size = part.source.size();
    if (size == 0 && part.weight > 0)
      throw Error(Errc::invalid_argument,
                  "part " + std::to_string(ends.size()) + " is empty, so nothing can be drawn from it; leave it out")
          .with_stage("mix")
          .with_source(part.source.model()->name())
          .with_file(part.source.model()->file());
    if (part.weight > 0) drawable += size;
    ends.push_back(size + (ends.empty() ? 0 : ends.back()));
  }
  const std::uint64_t count = options.count == 0 ? drawable : options.count;
  if (count > std::uint64_t{1} << 62)
    throw Error(Errc::invalid_argument, "an epoch has at most 2^62 records").with_stage("mix");
  detail::Rotation rotation({.name = "mix",
                             .description = description + ", " + std::to_string(count) + " an epoch",
                             .weights = detail::integer_weights(weights, 53),
                             .ends = std::move(ends),
                             .count = count});
  return from(all) | detail::make_order(std::make_shared<const detail::OrderOf<detail::Rotation>>(std::move(rotation)),
                                        options.seed);
}

}  // namespace penstock
