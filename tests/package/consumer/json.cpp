// SPDX-License-Identifier: Apache-2.0
// A member of lines of JSON.
#include <penstock/penstock.hpp>
#include <penstock/sources/json_lines.hpp>

#include <cstdint>
#include <fstream>

#include "say.hpp"

namespace ps = penstock;

int main() {
  std::ofstream("three.jsonl") << "{\"label\": 7}\n{\"label\": 8}\n{\"label\": 9}\n";
  std::int64_t sum = 0;
  ps::Loader loader(ps::from(ps::JsonLines{.path = "three.jsonl"}) | ps::batch(3));
  for (ps::Batch& batch : loader.epoch())
    for (const std::int64_t label : batch.view<std::int64_t, 1>("label")) sum += label;
  return say("three lines of JSON", sum == 24);
}
