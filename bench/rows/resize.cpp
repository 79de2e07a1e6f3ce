// SPDX-License-Identifier: Apache-2.0
#include "rows.hpp"

#include <stdexcept>

#include <penstock/extend/rng.hpp>
#include <penstock/transforms/image/stage.hpp>

#include "../raw_loop.hpp"

#ifdef PENSTOCK_BENCH_LIBYUV
#include <libyuv/scale_rgb.h>
#endif

namespace penstock::bench {

#ifdef PENSTOCK_BENCH_LIBYUV

Row resize_vs_libyuv(const RowSpec& spec, const Settings& settings) {
  constexpr std::int32_t width = 400, height = 300, side = 224;
  constexpr std::size_t pictures = 16;  // 5.8 MB, which is too much for the second-level cache, as it is after a decode
  const int times = settings.quick ? 20 : 4000;
  std::vector<std::vector<std::uint8_t>> in(pictures);
  Rng rng(5, 6, Place{});
  for (auto& picture : in) {
    picture.resize(std::size_t{width} * height * 3);
    for (std::uint8_t& v : picture) v = static_cast<std::uint8_t>(rng.below(256));
  }
  std::vector<std::uint8_t> out(std::size_t{side} * side * 3);
  RawScratch scratch;
  std::uint64_t checksum = 0;
  const auto timed = [&](auto&& scale) {
    const Stopwatch watch;
    for (int i = 0; i < times; ++i) {
      scale(in[static_cast<std::size_t>(i) % pictures].data());
      checksum += out[static_cast<std::size_t>(i) % out.size()];
    }
    return Timing{watch.wall_s() / times * 1e6, watch.cpu_s()};
  };
  const ImageShape shape{height, width, 3};
  Row row = compare(
      spec, settings,
      [&] {
        return timed([&](const std::uint8_t* from) {
          scratch.reset();
          ImageOp op(shape);
          op.resize({side, side});
          image_executor().run({from, std::ptrdiff_t{width} * 3, shape}, op, reinterpret_cast<std::byte*>(out.data()),
                               scratch);
        });
      },
      [&] {
        return timed([&](const std::uint8_t* from) {
          if (libyuv::RGBScale(from, width * 3, width, height, out.data(), side * 3, side, side,
                               libyuv::kFilterBilinear) != 0)
            throw std::runtime_error("libyuv refused the picture");
        });
      });
  if (checksum == 0) row.notes.push_back("all pictures are black?");
  return row;
}

#else

Row resize_vs_libyuv(const RowSpec&, const Settings&) { throw std::logic_error("built without libyuv"); }

#endif

}  // namespace penstock::bench
