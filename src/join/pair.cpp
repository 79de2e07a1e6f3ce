// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/join.hpp>

#include "join/record_keys.hpp"
#include "join/zipped.hpp"

namespace penstock {

namespace {

using detail::KeyMatches;
using detail::SourceModel;

std::string to_text(PairBy by) { return by == PairBy::key ? "key" : by == PairBy::name ? "name" : "stem"; }

// Returns words such as: 2 of 40 records of part 1 (files masks/) have no partner ("a", "b")
std::string describe_left_out(const KeyMatches& matches, const std::vector<const SourceModel*>& sources) {
  std::string text;
  for (std::size_t part = 0; part < sources.size(); ++part) {
    if (matches.left_out[part] == 0) continue;
    const std::string file = sources[part]->file();
    text += (text.empty() ? "" : "; ") + std::to_string(matches.left_out[part]) + " of " +
            std::to_string(sources[part]->size()) + " records of part " + std::to_string(part) + " (" +
            sources[part]->name() + (file.empty() ? "" : " " + file) + ") have no partner (";
    for (std::size_t i = 0; i < matches.examples[part].size(); ++i)
      text += (i == 0 ? "" : ", ") + detail::quoted_key(matches.examples[part][i]);
    text += matches.left_out[part] > matches.examples[part].size() ? ", …)" : ")";
  }
  return text;
}

}  // namespace

AnySource pair(std::vector<ZipPart> parts, PairOptions options) {
  const auto refuse = [](const std::string& why) { return Error(Errc::invalid_argument, why).with_stage("pair"); };
  if (parts.size() < 2) throw refuse("give at least two sources");
  if (options.by == PairBy::position) throw refuse("zip() pairs records by their positions; pair() needs their keys");
  std::vector<const SourceModel*> sources;
  for (const ZipPart& part : parts) {
    sources.push_back(part.source.model().get());
    if (!sources.back()->has_keys())
      throw refuse("part " + std::to_string(sources.size() - 1) +
                   " has no keys to join by; zip() takes records as they stand")
          .with_source(sources.back()->name())
          .with_file(sources.back()->file());
  }
  KeyMatches matches = detail::match_keys(sources, options.by, "pair");
  const std::string left_out = describe_left_out(matches, sources);
  const bool none =
      matches.count == 0 && std::ranges::any_of(sources, [](const SourceModel* source) { return source->size() != 0; });
  if (none) throw refuse("no records belong together by their keys (" + to_text(options.by) + "): " + left_out);
  if (!left_out.empty() && options.unpaired == Unpaired::refuse)
    throw refuse(left_out + "; `.unpaired = Unpaired::leave_out` goes on without them");
  detail::SideBySide joined{"pair", std::move(parts), matches.count, std::move(matches.indices)};
  if (!left_out.empty())
    joined.notes.push_back(std::to_string(matches.count) + " records have partners by " + to_text(options.by) +
                           " and are there; left out: " + left_out);
  return AnySource(detail::side_by_side(std::move(joined)));
}

}  // namespace penstock
