// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>
#include <penstock/penstock.hpp>

#include "jpeg_job.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

// Proves that both stores have the same pictures: compares the first batches of an epoch.
void compare_bits(const JpegJob& one, const JpegJob& other) {
  constexpr std::uint64_t seed = 4321;
  Loader a(one.pipeline(seed), {.threads = 1, .epochs = 1}), b(other.pipeline(seed), {.threads = 1, .epochs = 1});
  for (int n = 0; n < 2; ++n) {
    const std::optional<Batch> ours = a.next(), theirs = b.next();
    const TensorView x = ours.value()["image"], y = theirs.value()["image"];
    if (x.bytes() != y.bytes() || std::memcmp(x.data, y.data, x.bytes()) != 0)
      throw std::runtime_error(fmt::format("batch {} of seekable JPEGs differs from that of the originals", n));
  }
}

Row against_ordinary(const RowSpec& spec, const Settings& settings, bool noisy) {
  const JpegJob ordinary(settings, noisy), seekable(seekable_store(settings, noisy));
  compare_bits(seekable, ordinary);
  std::uint64_t seekable_round = 0,
                ordinary_round = 0;  // seeds of the rounds; both sides of a round cut out the same boxes
  Row row = compare(
      spec, settings, [&] { return seekable.ours(settings.threads, ++seekable_round); },
      [&] { return ordinary.ours(settings.threads, ++ordinary_round); });
  row.notes.push_back(seekable.store().description);
  return row;
}

}  // namespace

Row jpeg_seekable_q90(const RowSpec& spec, const Settings& settings) { return against_ordinary(spec, settings, false); }
Row jpeg_seekable_noisy(const RowSpec& spec, const Settings& settings) {
  return against_ordinary(spec, settings, true);
}

}  // namespace penstock::bench
