// SPDX-License-Identifier: Apache-2.0
// The rule on what libFuzzer makes of files; see tests/campaigns/jpeg_fuzz.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "transforms/codec/jpeg/baseline/rule.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static penstock_test::Core core;
  penstock_test::Bytes bytes(size);
  if (size != 0) std::memcpy(bytes.data(), data, size);
  // The box follows from the file, so that a file that was found is found again.
  std::uint64_t seed = size;
  if (size >= sizeof seed) std::memcpy(&seed, data + size - sizeof seed, sizeof seed);
  penstock_test::Numbers numbers(seed);
  const penstock_test::Judgement judgement = judge(core, bytes, numbers);
  if (judgement.broken != nullptr) {
    std::fprintf(stderr, "%s\n", judgement.broken);
    std::abort();
  }
  return 0;
}
