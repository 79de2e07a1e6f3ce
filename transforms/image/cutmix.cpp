// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/image/cutmix.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/device_stage.hpp>

#include "beta.hpp"
#include "describe.hpp"
#include "layout_of.hpp"
#include "mix_fields.hpp"

namespace penstock {

namespace {

// Exchanges the box of two images.
void swap_box(std::byte* first, std::byte* second, const image::ImageRows& images, const image::PixelBox& box) {
  const bool hwc = images.layout == Layout::hwc;
  const std::size_t pixel = hwc ? images.element * static_cast<std::size_t>(images.channels) : images.element;
  const std::size_t row = pixel * static_cast<std::size_t>(images.width);
  const std::size_t bytes = pixel * static_cast<std::size_t>(box.right - box.left);
  for (std::int32_t plane = 0; plane < (hwc ? 1 : images.channels); ++plane)
    for (std::int32_t y = box.top; y < box.bottom; ++y) {
      const std::size_t at =
          (static_cast<std::size_t>(plane) * static_cast<std::size_t>(images.height) + static_cast<std::size_t>(y)) *
              row +
          static_cast<std::size_t>(box.left) * pixel;
      std::swap_ranges(first + at, first + at + bytes, second + at);
    }
}

void cut_on_host(const image::ImageRows& images, const image::CutDraw* draws) {
  const std::size_t bytes = images.element * static_cast<std::size_t>(images.channels) *
                            static_cast<std::size_t>(images.height) * static_cast<std::size_t>(images.width);
  for (std::uint64_t row = 0; row < images.rows; row += 2) {
    std::byte* const out = static_cast<std::byte*>(images.out) + row * bytes;
    if (images.in != images.out)
      std::memcpy(out, static_cast<const std::byte*>(images.in) + row * bytes,
                  bytes * std::min<std::uint64_t>(2, images.rows - row));
    if (image::has_neighbour(draws, images.rows, row))
      swap_box(out, out + bytes, images, image::cut_box(image::draw_of_pair(draws, row), images.height, images.width));
  }
}

class Cutmix {
 public:
  explicit Cutmix(CutmixOptions options) : options_(std::move(options)) {
    image::check_mix_options("cutmix", writes(), options_.alpha);
  }
  Schema schema(const Schema& in) const {
    image::check_mixed(in, options_.fields);
    const Field& field = in.at(options_.image);
    const Layout layout = image::layout_of(field.shape, options_.layout);
    const auto [height, width, channels] = image::extent_of(field.shape, layout);
    constexpr std::int64_t most = 1 << 24;
    if (height < 1 || width < 1 || channels < 1 || height > most || width > most)
      throw Error(Errc::schema_mismatch,
                  "images of fixed size, with sides of 1 to 16,777,216 pixels, are mixed; these are " +
                      field.shape.to_string());
    return in;
  }
  image::CutDraw draw(Rng& rng) const {
    const double share = image::draw_beta(options_.alpha, rng);
    const auto half_side = static_cast<float>(0.5 * std::sqrt(1 - share));
    const std::uint32_t row = rng();
    return {half_side, row, rng(), 1};
  }
  std::vector<std::string> writes() const {
    std::vector<std::string> all{options_.image};
    all.insert(all.end(), options_.fields.begin(), options_.fields.end());
    return all;
  }
  bool mixes_rows() const { return true; }
  bool in_place() const { return true; }
  std::string name() const { return "cutmix"; }
  std::string describe() const {
    return image::names_of(writes()) + ", alpha " + image::text(options_.alpha) + image::text(options_.layout);
  }

  void run(const BatchView& in, const BatchView& out, StreamRef stream) const {
    const auto* const draws = reinterpret_cast<const image::CutDraw*>(in.draws);
    const MemoryUse drawn{draws, in.rows * sizeof *draws, false};
    const bool on_gpu = stream.device().kind == Device::Kind::gpu;
    const image::ImageRows images = images_of(in, out);
    if (on_gpu)
      image::cut_on_gpu(images, draws, stream);
    else
      launch_on_host(
          stream, "cutmix", [=] { cut_on_host(images, draws); },
          {drawn, {images.in, in[options_.image].bytes(), false}, {images.out, in[options_.image].bytes(), true}});
    const image::CutShares shares{draws, images.height, images.width};
    for (const std::string& field : options_.fields) {
      const image::MixRows work = image::mix_rows_of(in, out, field);
      if (on_gpu) {
        image::mix_on_gpu(work, shares, stream);
        continue;
      }
      const std::size_t bytes = in[field].bytes();
      launch_on_host(stream, "cutmix", [=] { image::mix_on_host(work, shares); },
                     {drawn, {work.in, bytes, false}, {work.out, bytes, true}});
    }
  }

 private:
  image::ImageRows images_of(const BatchView& in, const BatchView& out) const {
    const Shape& row = in.schema->at(options_.image).shape;
    const Layout layout = image::layout_of(row, options_.layout);
    const auto [height, width, channels] = image::extent_of(row, layout);
    const TensorView from = in[options_.image];
    return {from.data,
            out[options_.image].data,
            in.rows,
            static_cast<std::int32_t>(height),
            static_cast<std::int32_t>(width),
            static_cast<std::int32_t>(channels),
            layout,
            static_cast<std::uint32_t>(size_of(from.dtype))};
  }

  CutmixOptions options_;
};

}  // namespace

Stage cutmix(const CutmixOptions& options) { return device_stage(Cutmix(options)); }

}  // namespace penstock
