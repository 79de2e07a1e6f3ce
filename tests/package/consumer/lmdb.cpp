// SPDX-License-Identifier: Apache-2.0
// Records written to an LMDB, and read back.
#include <penstock/penstock.hpp>
#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/lmdb_sink.hpp>
#include <penstock/sources/memory.hpp>

#include <cstdint>

#include "say.hpp"

namespace ps = penstock;

int main() {
  ps::Memory three;
  three.add<std::int64_t>("label", {}, {7, 8, 9});
  ps::write(ps::from(three), ps::LmdbSink({.path = "three.lmdb"}));
  std::int64_t sum = 0;
  ps::Loader loader(ps::from(ps::Lmdb{.path = "three.lmdb"}) | ps::batch(3));
  for (ps::Batch& batch : loader.epoch())
    for (const std::int64_t label : batch.view<std::int64_t, 1>("label")) sum += label;
  return say("three records through an LMDB", sum == 24);
}
