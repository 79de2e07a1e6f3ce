// SPDX-License-Identifier: Apache-2.0
// Counts to a hundred in batches.
#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

int main() {
  namespace ps = penstock;
  std::vector<std::int64_t> numbers(100);
  std::iota(numbers.begin(), numbers.end(), 1);
  ps::Loader loader(ps::from(ps::Memory().add("x", {}, std::move(numbers))) | ps::shuffle({.seed = 1}) | ps::batch(8));
  std::int64_t sum = 0;
  for (ps::Batch& batch : loader.epoch()) {
    const auto x = batch.view<std::int64_t, 1>("x");
    for (std::uint64_t row = 0; row < batch.size(); ++row) sum += x(row);
  }
  std::printf("penstock %d.%d.%d: the numbers to 100 sum to %lld\n", PENSTOCK_VERSION_MAJOR, PENSTOCK_VERSION_MINOR,
              PENSTOCK_VERSION_PATCH, static_cast<long long>(sum));
  return sum == 5050 ? 0 : 1;
}
