// SPDX-License-Identifier: Apache-2.0
// Paeth's prediction, for kernels. This file is included once per instruction set, so it has its own guard.
#if defined(PENSTOCK_PNG_PAETH_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PENSTOCK_PNG_PAETH_INL
#undef PENSTOCK_PNG_PAETH_INL
#else
#define PENSTOCK_PNG_PAETH_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penstock::png {
namespace HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR

// Of left, up and corner, returns the nearest to left + up - corner. That is the larger one of left and up if the
// corner's distance to the smaller one, twice, is not above its distance to the larger one. Likewise, it is the smaller
// one. Else it is the corner.
template <class Tag, class Vector>
HWY_INLINE Vector paeth(Tag d, Vector left, Vector up, Vector corner) {
  namespace hn = hwy::HWY_NAMESPACE;
  const Vector low = hn::Min(left, up), high = hn::Max(left, up);
  const Vector to_low = hn::SaturatedSub(corner, low), to_high = hn::SaturatedSub(high, corner);
  const auto at_most = [&](Vector a, Vector b) HWY_ATTR { return hn::Eq(hn::SaturatedSub(a, b), hn::Zero(d)); };
  return hn::IfThenElse(at_most(hn::SaturatedAdd(to_low, to_low), to_high), high,
                        hn::IfThenElse(at_most(hn::SaturatedAdd(to_high, to_high), to_low), low, corner));
}

#endif
}  // namespace HWY_NAMESPACE
}  // namespace penstock::png
HWY_AFTER_NAMESPACE();

#endif
