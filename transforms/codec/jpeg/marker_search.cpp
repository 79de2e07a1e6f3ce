// SPDX-License-Identifier: Apache-2.0
#include "marker_search.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "marker_search.cpp"
#define HWY_WANT_AVX3_DL
#include <hwy/foreach_target.h>
// Must follow foreach_target.h, which includes this file once per target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace penstock::jpeg {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

std::size_t find(const std::uint8_t* bytes, std::size_t size, std::size_t at) {
  const hn::ScalableTag<std::uint8_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto escape = hn::Set(d, 0xff), zero = hn::Zero(d);
  for (; size - at > lanes; at += lanes) {
    const auto escapes = hn::Eq(hn::LoadU(d, bytes + at), escape), data = hn::Eq(hn::LoadU(d, bytes + at + 1), zero);
    const auto found = hn::FindFirstTrue(d, hn::AndNot(data, escapes));
    if (found >= 0) return at + static_cast<std::size_t>(found);
  }
  for (; at < size; ++at)
    if (bytes[at] == 0xff && (at + 1 == size || bytes[at + 1] != 0)) break;
  return at;
}

}  // namespace HWY_NAMESPACE
}  // namespace penstock::jpeg
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::jpeg {

HWY_EXPORT(find);
std::size_t find_marker(std::span<const std::uint8_t> bytes, std::size_t at) {
  return HWY_DYNAMIC_DISPATCH(find)(bytes.data(), bytes.size(), at);
}

}  // namespace penstock::jpeg
#endif
