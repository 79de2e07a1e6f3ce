// SPDX-License-Identifier: Apache-2.0
// Runs a check once for each instruction set that this CPU has and the library was built for.
#pragma once

// Defined as for the library's kernels, or this would not know of their targets.
#define HWY_WANT_AVX3_DL
#include <hwy/targets.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace penstock_test {

template <class F>
void on_every_target(F check) {
  hwy::SetSupportedTargetsForTest(0);
  std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  // The plainest version is chosen where nothing better is; it is among those of some CPUs already.
  if (std::ranges::find(targets, std::int64_t{HWY_STATIC_TARGET}) == targets.end())
    targets.push_back(HWY_STATIC_TARGET);
  for (const std::int64_t target : targets) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    const std::string name = hwy::TargetName(target);
    CAPTURE(name);
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  // Some ARM processors have NEON alone.
  CHECK(targets.size() >= (HWY_ARCH_X86 ? 2 : 1));
}

}  // namespace penstock_test
