// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/image/random_erasing.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/bfloat16.hpp>
#include <penstock/extend/device_stage.hpp>
#include <penstock/extend/half.hpp>

#include "cuda/mix_kernels.hpp"
#include "describe.hpp"
#include "exact_math.hpp"
#include "layout_of.hpp"

namespace penstock {

using image::text;

namespace {

constexpr std::int64_t most_side = 1 << 24;

float root_of(std::int64_t height, std::int64_t width) {
  return static_cast<float>(std::sqrt(static_cast<double>(height) * static_cast<double>(width)));
}

// Returns the bits of one element.
std::uint32_t bits_of(double value, DType dtype) {
  switch (dtype) {
    case DType::f16:
      return to_half(value);
    case DType::bf16:
      return to_bfloat16(value);
    case DType::f32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    default:
      return static_cast<std::uint8_t>(value);
  }
}

// Returns the work on images of one size, whose type RandomErasing::result() took.
image::EraseWork work_of(const RandomErasingOptions& options, const TensorView& in, const Shape& shape, std::byte* out,
                         std::uint64_t rows) {
  const Layout layout = image::layout_of(shape, options.layout);
  const auto [height, width, channels] = image::extent_of(shape, layout);
  image::EraseWork work;
  work.images = {in.data,
                 out,
                 rows,
                 static_cast<std::int32_t>(height),
                 static_cast<std::int32_t>(width),
                 static_cast<std::int32_t>(channels),
                 layout,
                 static_cast<std::uint32_t>(size_of(in.dtype))};
  work.root = root_of(height, width);
  for (std::size_t c = 0; c < std::size(work.value); ++c)
    work.value[c] = bits_of(options.value[std::min(c, options.value.size() - 1)], in.dtype);
  return work;
}

template <class Element>
void fill_box(const image::EraseWork& work, std::uint64_t row, const image::PixelBox& box) {
  const image::ImageRows& images = work.images;
  const auto height = static_cast<std::size_t>(images.height), width = static_cast<std::size_t>(images.width),
             channels = static_cast<std::size_t>(images.channels);
  Element* const out = static_cast<Element*>(images.out) + row * height * width * channels;
  const bool hwc = images.layout == Layout::hwc;
  for (std::size_t c = 0; c < channels; ++c) {
    const auto value = static_cast<Element>(work.value[std::min<std::size_t>(c, 3)]);
    for (auto y = static_cast<std::size_t>(box.top); y < static_cast<std::size_t>(box.bottom); ++y)
      for (auto x = static_cast<std::size_t>(box.left); x < static_cast<std::size_t>(box.right); ++x)
        out[hwc ? (y * width + x) * channels + c : (c * height + y) * width + x] = value;
  }
}

// Copies the image of a row unless it is erased in place, and erases its box.
void erase_row(const image::EraseWork& work, std::uint64_t row, const RandomErasing::Params& params) {
  const image::ImageRows& images = work.images;
  const std::size_t bytes = images.element * static_cast<std::size_t>(images.channels) *
                            static_cast<std::size_t>(images.height) * static_cast<std::size_t>(images.width);
  if (bytes != 0 && images.in != images.out)
    std::memcpy(static_cast<std::byte*>(images.out) + row * bytes,
                static_cast<const std::byte*>(images.in) + row * bytes, bytes);
  const image::PixelBox box = image::erased_box(params, work.root, images.height, images.width);
  if (images.element == 1)
    fill_box<std::uint8_t>(work, row, box);
  else if (images.element == 2)
    fill_box<std::uint16_t>(work, row, box);
  else
    fill_box<std::uint32_t>(work, row, box);
}

class ErasingOnBatches {
 public:
  ErasingOnBatches(RandomErasing erasing, std::string field) : erasing_(std::move(erasing)), field_(std::move(field)) {}
  Schema schema(const Schema& in) const { return in; }
  RandomErasing::Params draw(Rng& rng) const { return erasing_.draw(rng); }
  std::vector<std::string> writes() const { return {field_}; }
  bool in_place() const { return true; }
  std::string name() const { return "random_erasing"; }
  std::string describe() const { return erasing_.describe(); }

  void run(const BatchView& in, const BatchView& out, StreamRef stream) const {
    const TensorView from = in[field_], to = out[field_];
    image::EraseWork work = work_of(erasing_.options(), from, in.schema->at(field_).shape, to.data, in.rows);
    work.draws = reinterpret_cast<const RandomErasing::Params*>(in.draws);
    if (stream.device().kind == Device::Kind::gpu) return image::erase_on_gpu(work, stream);
    launch_on_host(stream, "random_erasing",
                   [=] {
                     for (std::uint64_t row = 0; row < work.images.rows; ++row) erase_row(work, row, work.draws[row]);
                   },
                   {{from.data, from.bytes(), false},
                    {work.draws, in.rows * sizeof *work.draws, false},
                    {to.data, to.bytes(), true}});
  }

 private:
  RandomErasing erasing_;
  std::string field_;
};

}  // namespace

static_assert(sizeof(RandomErasing::Params) <= 64);

RandomErasing::RandomErasing(const RandomErasingOptions& options) : options_(options) {
  const auto refuse = [](const std::string& cause) { throw Error(Errc::invalid_argument, "random_erasing: " + cause); };
  if (!(options.probability >= 0 && options.probability <= 1))
    refuse("probability " + text(options.probability) + " is not 0 to 1");
  const auto& [least, most] = options.area;
  if (!(least > 0) || !(least <= most) || !(most <= 1))
    refuse("area " + text(least) + ".." + text(most) + " must rise, from above 0 to at most 1");
  const auto& [flat, tall] = options.aspect;
  if (!(flat >= 1e-3) || !(flat <= tall) || !(tall <= 1e3))
    refuse("aspect " + text(flat) + ".." + text(tall) + " must rise, from at least 0.001 to at most 1000");
  if (options.value.empty() || options.value.size() > 4)
    refuse("`.value` is one number, or one for each channel, at most 4; these are " +
           std::to_string(options.value.size()));
  log_aspect_ = {image::exact_log(flat), image::exact_log(tall)};
}

RandomErasing::Params RandomErasing::draw(Rng& rng) const {
  Params params;
  params.erases = rng.chance(options_.probability) ? 1 : 0;
  for (int i = 0; i < Params::tries; ++i) {
    const double area = rng.uniform(options_.area[0], options_.area[1]);
    const double aspect = image::exact_exp(rng.uniform(log_aspect_[0], log_aspect_[1]));
    params.tall[i] = static_cast<float>(std::sqrt(area * aspect));
    params.wide[i] = static_cast<float>(std::sqrt(area / aspect));
  }
  params.top = rng();
  params.left = rng();
  return params;
}

Box RandomErasing::box(const Params& params, Size size) {
  const image::PixelBox box = image::erased_box(params, root_of(size.height, size.width), size.height, size.width);
  return {box.top, box.left, box.bottom - box.top, box.right - box.left};
}

void RandomErasing::apply(const Params& params, const TensorView& in, const TensorView& out) const {
  static_cast<void>(result({in.dtype, in.shape}));
  erase_row(work_of(options_, in, in.shape, out.data, 1), 0, params);
}

TensorType RandomErasing::result(const TensorType& in) const {
  const auto refuse = [&](const std::string& cause) {
    throw Error(Errc::schema_mismatch, "random_erasing takes " + cause + "; these images are " +
                                           std::string(to_string(in.dtype)) + in.shape.to_string());
  };
  if (in.dtype != DType::u8 && in.dtype != DType::f32 && in.dtype != DType::f16 && in.dtype != DType::bf16)
    refuse("u8, f32, f16 or bf16");
  const auto [height, width, channels] = image::extent_of(in.shape, image::layout_of(in.shape, options_.layout));
  if (height > most_side || width > most_side) refuse("sides of at most 16,777,216 pixels");
  if (options_.value.size() > 1 && channels != static_cast<std::int64_t>(options_.value.size()) && channels != dynamic)
    refuse("as many channels as `.value` has numbers, " + std::to_string(options_.value.size()));
  for (const double value : options_.value)
    if (in.dtype == DType::u8 && !(value >= 0 && value <= 255 && std::trunc(value) == value))
      refuse("whole numbers from 0 to 255 as `.value` of u8, not " + text(value));
  return in;
}

std::string RandomErasing::describe() const {
  return "probability " + text(options_.probability) + ", area " + text(options_.area[0]) + ".." +
         text(options_.area[1]) + ", aspect " + text(options_.aspect[0]) + ".." + text(options_.aspect[1]) +
         ", value " + text(options_.value) + text(options_.layout);
}

Stage random_erasing(std::string field, const RandomErasingOptions& options) {
  RandomErasing erasing(options);
  ErasingOnBatches on_batches(erasing, field);
  return map(std::move(field), std::move(erasing), std::move(on_batches), {.name = "random_erasing"});
}

}  // namespace penstock
