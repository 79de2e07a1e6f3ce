// SPDX-License-Identifier: Apache-2.0
// exp and log with the same bits everywhere. The bits of a library's results differ between versions and CPUs.
// These results are within a few units in the last place of the exact value.
#pragma once

namespace penstock::image {

// REQUIRES: x > 0, finite.
double exact_log(double x) noexcept;
// REQUIRES: |x| <= 700.
double exact_exp(double x) noexcept;

}  // namespace penstock::image
