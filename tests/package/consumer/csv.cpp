// SPDX-License-Identifier: Apache-2.0
// A table's column.
#include <penstock/penstock.hpp>
#include <penstock/sources/csv.hpp>

#include <cstdint>
#include <fstream>

#include "say.hpp"

namespace ps = penstock;

int main() {
  std::ofstream("three.csv") << "label\n7\n8\n9\n";
  std::int64_t sum = 0;
  ps::Loader loader(ps::from(ps::Csv{.path = "three.csv"}) | ps::batch(3));
  for (ps::Batch& batch : loader.epoch())
    for (const std::int64_t label : batch.view<std::int64_t, 1>("label")) sum += label;
  return say("three lines of a table", sum == 24);
}
