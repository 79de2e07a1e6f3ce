// SPDX-License-Identifier: Apache-2.0
// Records written to a tar shard, and read back.
#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>
#include <penstock/sources/webdataset.hpp>
#include <penstock/sources/webdataset_sink.hpp>

#include <cstdint>

#include "say.hpp"

namespace ps = penstock;

int main() {
  ps::Memory three;
  three.add<std::int64_t>("cls", {}, {7, 8, 9});
  ps::write(ps::from(three), ps::WebDatasetSink({.path = "three"}));
  std::int64_t sum = 0;
  ps::Loader loader(ps::from(ps::WebDataset{.path = "three-000000.tar"}) | ps::batch(3));
  for (ps::Batch& batch : loader.epoch())
    for (const std::int64_t label : batch.view<std::int64_t, 1>("cls")) sum += label;
  return say("three records through a shard", sum == 24);
}
