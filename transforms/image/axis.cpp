// SPDX-License-Identifier: Apache-2.0
#include "axis.hpp"

#include <algorithm>
#include <limits>

#include <penstock/extend/image_op.hpp>

namespace penstock::image {

namespace {

template <class T>
T* array(Scratch& scratch, std::size_t n) {
  return reinterpret_cast<T*>(scratch.allocate(n * sizeof(T)));
}

// Makes integer weights from the differences of rounded running sums. So the integer weights add up to `one`, whatever
// the exact weights are. There is one exception: a weight above the largest T becomes the largest T.
template <class T>
void quantise(const double* exact, int n, double total, std::int32_t one, T* out) {
  const double unit = one / total;
  double sum = 0;
  std::int32_t before = 0;
  for (int k = 0; k < n; ++k) {
    sum += exact[k];
    const std::int32_t now = k + 1 == n ? one : static_cast<std::int32_t>(sum * unit + 0.5);
    const std::int32_t weight = now - before;
    out[k] = static_cast<T>(std::min(weight, static_cast<std::int32_t>(std::numeric_limits<T>::max())));
    before = now;
  }
}

template <class T>
Axis make(const AxisRequest& r, std::int32_t one, bool even, Scratch& scratch) {
  const auto count = static_cast<std::size_t>(r.count);
  const int room = axis_taps(r);
  double* exact = array<double>(scratch, static_cast<std::size_t>(room));
  T* one_output = array<T>(scratch, static_cast<std::size_t>(room));
  auto* start = array<std::int32_t>(scratch, count);
  auto* length = array<std::int32_t>(scratch, count);
  const int stride = even ? (room + 1) / 2 * 2 : room;
  T* weights = array<T>(scratch, count * static_cast<std::size_t>(stride));

  const double scale = r.sampled.length / r.out;
  const double support = scale > 1 ? scale : 1;
  const double slope = 1 / support;
  Axis axis;
  axis.count = r.count;
  axis.low = r.in;
  std::int32_t longest = 1;
  for (std::int32_t j = 0; j < r.count; ++j) {
    const std::int32_t i = r.first + (r.reverse ? r.count - 1 - j : j);
    const double center = r.sampled.begin + (i + 0.5) * scale;
    const auto [from, to] = linear_taps(r.in, r.sampled, r.out, i);
    int n = 0;
    double total = 0;
    const double offset = from + 0.5 - center;
    for (; n < to - from; ++n) {
      const double distance = offset + n;
      const double weight = 1 - (distance < 0 ? -distance : distance) * slope;
      exact[n] = weight > 0 ? weight : 0;
      total += exact[n];
    }
    quantise(exact, n, total, one, one_output);
    int skip = 0;
    while (one_output[skip] == 0) ++skip;
    while (one_output[n - 1] == 0) --n;
    n -= skip;
    T* out = weights + static_cast<std::ptrdiff_t>(j) * stride;
    for (int k = 0; k < n; ++k) out[k] = one_output[r.mirror ? skip + n - 1 - k : skip + k];
    std::fill(out + n, out + stride, T{0});
    start[j] = r.mirror ? r.in - (from + skip) - n : from + skip;
    length[j] = n;
    longest = std::max(longest, n);
    axis.low = std::min(axis.low, start[j]);
    axis.high = std::max(axis.high, start[j] + n);
  }
  axis.taps = stride;
  if (even && (longest + 1) / 2 * 2 < stride) {
    const int tight = (longest + 1) / 2 * 2;
    for (std::size_t j = 0; j < count; ++j)
      std::copy_n(weights + j * static_cast<std::size_t>(stride), tight, weights + j * static_cast<std::size_t>(tight));
    axis.taps = tight;
  }
  axis.start = start;
  axis.length = length;
  axis.weights = weights;
  return axis;
}

}  // namespace

int axis_taps(const AxisRequest& r) {
  const double scale = r.sampled.length / r.out;
  const auto both_sides = static_cast<std::int64_t>(2 * (scale > 1 ? scale : 1)) + 2;
  return static_cast<int>(std::min<std::int64_t>(both_sides, r.in));
}

Axis make_axis(const AxisRequest& request, Weights kind, Scratch& scratch) {
  if (kind == Weights::vertical) return make<std::uint16_t>(request, 65536, false, scratch);
  if (kind == Weights::horizontal) return make<std::int16_t>(request, 16384, true, scratch);
  return make<std::int32_t>(request, 1 << 22, false, scratch);
}

}  // namespace penstock::image
