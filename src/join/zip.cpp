// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <penstock/error.hpp>
#include <penstock/join.hpp>

#include "join/record_keys.hpp"
#include "join/zipped.hpp"

namespace penstock {

namespace {

using detail::SourceModel;

void require_one_size(const std::vector<ZipPart>& parts) {
  const SourceModel& first = *parts.front().source.model();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const SourceModel& part = *parts[i].source.model();
    if (part.size() != first.size())
      throw Error(Errc::invalid_argument,
                  "part " + std::to_string(i) + " has " + std::to_string(part.size()) + " records, but part 0 (" +
                      first.name() + ") has " + std::to_string(first.size()) +
                      "; records that stand beside each other need sources of one size; pair() joins by keys")
          .with_stage("zip")
          .with_source(part.name())
          .with_file(part.file());
  }
}

void require_same_keys(const std::vector<ZipPart>& parts, PairBy by) {
  const SourceModel* first = nullptr;
  std::size_t first_part = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const SourceModel& part = *parts[i].source.model();
    if (!part.has_keys()) continue;
    if (first == nullptr) {
      first = &part;
      first_part = i;
      continue;
    }
    const auto differs = detail::compare_keys(*first, part, by, "zip");
    if (!differs) continue;
    throw Error(Errc::invalid_argument,
                "record " + std::to_string(differs->index) + " is " + detail::quoted_key(differs->first) + " in part " +
                    std::to_string(first_part) + " (" + first->name() + ") and " + detail::quoted_key(differs->second) +
                    " in part " + std::to_string(i) + " (" + part.name() +
                    "): records that stand beside each other don't belong together; pair() joins by keys, in whatever "
                    "order they come; `.by = PairBy::position` takes them as they stand")
        .with_stage("zip")
        .with_source(part.name())
        .with_file(part.file());
  }
}

}  // namespace

AnySource zip(std::vector<ZipPart> parts, ZipOptions options) {
  if (parts.empty()) throw Error(Errc::invalid_argument, "give at least one source").with_stage("zip");
  require_one_size(parts);
  const std::uint64_t size = parts.front().source.size();
  if (options.by != PairBy::position) require_same_keys(parts, options.by);
  std::vector<std::vector<std::uint64_t>> indices(parts.size());
  return AnySource(detail::side_by_side({"zip", std::move(parts), size, std::move(indices)}));
}

}  // namespace penstock
