// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "stages/stage_lists.hpp"
#include "stages/stage_parser.hpp"

namespace penstock::cli {

namespace {

std::vector<StageSyntax> all_stages() {
  std::vector<StageSyntax> all;
  // --help lists the stages in this order.
  for (auto* const list :
       {order_stages, error_stages, codec_stages, geometry_stages, pixel_stages, field_stages, batch_stages})
    std::ranges::copy(list(), std::back_inserter(all));
  return all;
}

}  // namespace

std::span<const StageSyntax> stage_table() {
  static const std::vector<StageSyntax> table = all_stages();
  return table;
}

}  // namespace penstock::cli
