// Runs a check once for each instruction set that this CPU has and the library was built for.
#pragma once

#include <hwy/targets.h>

#include <string>

#include "support/catch.hpp"

namespace penstock_test {

template <class F>
void on_every_target(F check) {
  int count = 0;
  for (const std::int64_t target :
       {std::int64_t{HWY_AVX3_DL}, std::int64_t{HWY_AVX3}, std::int64_t{HWY_AVX2}, std::int64_t{HWY_SSE4},
        std::int64_t{HWY_SSSE3}, std::int64_t{HWY_NEON}, std::int64_t{HWY_SCALAR}}) {
    hwy::SetSupportedTargetsForTest(0);
    // The plain version is there, chosen when nothing better is.
    if (target != HWY_SCALAR && (hwy::SupportedTargets() & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    const std::string name = hwy::TargetName(target);
    CAPTURE(name);
    check();
    ++count;
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  CHECK(count >= 2);
}

}  // namespace penstock_test
