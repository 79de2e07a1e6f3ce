// SPDX-License-Identifier: Apache-2.0
#include "stages/stage_lists.hpp"

#include <array>

#include <penstock/stages/batch.hpp>
#include <penstock/stages/collate.hpp>

namespace penstock::cli {

namespace {

Stage make_batch(const Arguments& a) {
  const std::uint64_t rows = a.count("rows");
  return batch(
      rows, {.tail = std::array{Tail::keep, Tail::drop, Tail::pad}[a.choice("tail", {"keep", "drop", "pad"})],
             .by = std::array{BatchOptions::By::order, BatchOptions::By::group}[a.choice("by", {"order", "group"})]});
}

}  // namespace

std::vector<StageSyntax> batch_stages() {
  return {
      {"ragged", false, {{"field", "FIELD", true}}, [](const Arguments& a) { return ragged(a.text("field", "")); }},
      {"pad",
       false,
       {{"field", "FIELD", true}, {"to", "N"}, {"value", "0"}},
       [](const Arguments& a) {
         return pad(a.text("field", ""), {.to = a.whole("to", PadOptions{}.to), .value = a.number("value", 0)});
       }},
      {"batch", false, {{"rows", "N", true}, {"tail", "keep|drop|pad"}, {"by", "order|group"}}, make_batch},
  };
}

}  // namespace penstock::cli
