// exp and log that give the same bits everywhere: a library's differ between versions, and by the CPU they run on.
// Within a few units in the last place of the exact value.
#pragma once

namespace penstock::image {

// x > 0, finite.
double exact_log(double x) noexcept;
// |x| <= 700.
double exact_exp(double x) noexcept;

}  // namespace penstock::image
