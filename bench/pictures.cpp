// SPDX-License-Identifier: Apache-2.0
#include "pictures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <jpeglib.h>
#include <penstock/error.hpp>
#include <penstock/extend/rng.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/encode_jpeg.hpp>
#include <penstock/transforms/image/stage.hpp>

#include "raw_loop.hpp"

namespace penstock::bench {

namespace {

namespace fs = std::filesystem;

constexpr auto folder = "/usr/share/backgrounds/mate/nature";
constexpr int width = picture_size.width, height = picture_size.height;
constexpr std::size_t row_bytes = std::size_t{width} * 3;
constexpr std::size_t picture_bytes = row_bytes * height;

Rng rng_of(std::uint64_t i, std::uint64_t purpose) { return Rng(0x70696374, purpose, Place{0, i, 0, 0}); }

std::uint8_t level(double value) { return static_cast<std::uint8_t>(std::clamp(value + 0.5, 0.0, 255.0)); }

// Random values on a grid, with smooth values between them.
class Noise {
 public:
  Noise(double cell, Rng& rng) : cell_(cell) {
    columns_ = static_cast<std::size_t>(width / cell) + 2;
    values_.resize(columns_ * (static_cast<std::size_t>(height / cell) + 2));
    for (float& v : values_) v = static_cast<float>(rng.uniform(-1, 1));
  }
  // Adds row y of the noise, multiplied by `amplitude`.
  void add(int y, float amplitude, float* out) const {
    const double fy = y / cell_;
    const auto top = static_cast<std::size_t>(fy);
    const float wy = smooth(static_cast<float>(fy - static_cast<double>(top)));
    const float* a = values_.data() + top * columns_;
    const float* b = a + columns_;
    for (int x = 0; x < width; ++x) {
      const double fx = x / cell_;
      const auto left = static_cast<std::size_t>(fx);
      const float wx = smooth(static_cast<float>(fx - static_cast<double>(left)));
      const float above = a[left] + (a[left + 1] - a[left]) * wx;
      const float below = b[left] + (b[left + 1] - b[left]) * wx;
      out[x] += amplitude * (above + (below - above) * wy);
    }
  }

 private:
  static float smooth(float t) { return t * t * (3 - 2 * t); }
  double cell_;
  std::size_t columns_;
  std::vector<float> values_;
};

// A disc or a half-plane with a colour and a more or less soft edge.
struct Thing {
  double x, y, radius, nx, ny, softness;
  bool disc;
  float color[3];
  double cover(double px, double py) const {
    const double inside = disc ? radius - std::hypot(px - x, py - y) : (px - x) * nx + (py - y) * ny;
    return std::clamp(0.5 + inside / softness, 0.0, 1.0);
  }
};

std::vector<std::uint8_t> made_up(std::uint64_t i) {
  Rng rng = rng_of(i, 1);
  std::vector<Noise> octaves;  // noise of the brightness
  for (double cell = 128; cell >= 2; cell /= 2) octaves.emplace_back(cell, rng);
  const Noise tints[] = {Noise(48, rng), Noise(48, rng)};
  std::vector<Thing> things(4 + rng.below(6));
  for (Thing& t : things) {
    const double angle = rng.uniform(0, 6.2831853);
    t = {rng.uniform(0, width), rng.uniform(0, height),
         rng.uniform(15, 120),  std::cos(angle),
         std::sin(angle),       rng.chance(0.6) ? 1.5 : rng.uniform(2, 25),
         rng.chance(0.7),       {}};
    const double brightness = rng.uniform(-70, 70);
    for (float& c : t.color) c = static_cast<float>(brightness + rng.uniform(-30, 30));
  }
  const auto roughness = static_cast<float>(rng.uniform(0.55, 1.0));

  std::vector<std::uint8_t> picture(picture_bytes);
  std::vector<float> light(width), red(width), blue(width);
  for (int y = 0; y < height; ++y) {
    std::fill(light.begin(), light.end(), 0.0f);
    std::fill(red.begin(), red.end(), 0.0f);
    std::fill(blue.begin(), blue.end(), 0.0f);
    float amplitude = 34;
    for (const Noise& octave : octaves) {
      octave.add(y, amplitude, light.data());
      amplitude *= 0.5f + 0.22f * roughness;
    }
    tints[0].add(y, 25, red.data());
    tints[1].add(y, 25, blue.data());
    std::uint8_t* out = picture.data() + static_cast<std::size_t>(y) * row_bytes;
    for (std::size_t x = 0; x < std::size_t{width}; ++x) {
      float rgb[3] = {118 + light[x] + red[x], 120 + light[x], 112 + light[x] + blue[x]};
      for (const Thing& t : things) {
        const auto cover = static_cast<float>(t.cover(static_cast<double>(x), y));
        for (int c = 0; c < 3; ++c) rgb[c] += cover * t.color[c];
      }
      for (std::size_t c = 0; c < 3; ++c) out[3 * x + c] = level(rgb[c]);
    }
  }
  return picture;
}

void add_noise(std::vector<std::uint8_t>& picture, double sigma, Rng rng) {
  for (std::size_t k = 0; k + 1 < picture.size(); k += 2) {  // Box and Muller's method, two values at a time
    const double radius = sigma * std::sqrt(-2 * std::log(1 - rng.uniform()));
    const double angle = 6.283185307179586 * rng.uniform();
    picture[k] = level(picture[k] + radius * std::cos(angle));
    picture[k + 1] = level(picture[k + 1] + radius * std::sin(angle));
  }
}

std::vector<std::byte> read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::byte> out(bytes.size());
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

// Scratch memory for one photograph, for which RawScratch is too small.
class OnePicture final : public Scratch {
 public:
  std::byte* allocate(std::size_t bytes) override {
    constexpr std::size_t alignment = 64;
    std::size_t room = bytes + alignment;
    void* data = blocks_.emplace_back(room).data();
    return static_cast<std::byte*>(std::align(alignment, bytes, data, room));
  }

 private:
  std::vector<std::vector<std::byte>> blocks_;
};

}  // namespace

Pictures::Pictures(bool photographs) {
  if (!photographs || !fs::is_directory(folder)) return;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".jpg") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  const auto decoder = jpeg_decoder();
  for (const fs::path& file : files) {
    const std::vector<std::byte> encoded = read_file(file);
    OnePicture scratch;
    const auto decoding = decoder->start();
    const ImageShape shape = decoding->open(encoded);
    if (shape.width < width || shape.height < height) continue;
    const Pixels pixels = decoding->decode({0, 0, shape.height, shape.width}, false, nullptr, scratch);
    Photograph photo{shape.size(), std::vector<std::uint8_t>(static_cast<std::size_t>(shape.height) *
                                                             static_cast<std::size_t>(shape.width) * 3)};
    const std::size_t row = static_cast<std::size_t>(shape.width) * 3;
    for (std::int32_t y = 0; y < shape.height; ++y)
      std::memcpy(photo.pixels.data() + static_cast<std::size_t>(y) * row, pixels.data + y * pixels.stride, row);
    photographs_.push_back(std::move(photo));
  }
}

std::string Pictures::source() const {
  if (photographs_.empty()) return "made-up pictures";
  return fmt::format("crops of {} photographs (mate-backgrounds)", photographs_.size());
}

std::vector<std::uint8_t> Pictures::crop(std::uint64_t i) const {
  Rng rng = rng_of(i, 2);
  const Photograph& photo = photographs_[rng.below(photographs_.size())];
  const double most =
      std::min({5.0, static_cast<double>(photo.size.width) / width, static_cast<double>(photo.size.height) / height});
  const double zoom = rng.uniform(std::min(2.0, most), most);
  const Size size{static_cast<std::int32_t>(height * zoom), static_cast<std::int32_t>(width * zoom)};
  const auto top =
      static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(photo.size.height - size.height) + 1));
  const auto left = static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(photo.size.width - size.width) + 1));
  ImageOp op({photo.size.height, photo.size.width, 3});
  op.crop({top, left, size.height, size.width});
  op.resize(picture_size);
  const std::ptrdiff_t stride = std::ptrdiff_t{photo.size.width} * 3;
  const Pixels box{photo.pixels.data() + top * stride + std::ptrdiff_t{left} * 3, stride, {size.height, size.width, 3}};
  std::vector<std::uint8_t> picture(picture_bytes);
  OnePicture scratch;
  image_executor().run(box, op, reinterpret_cast<std::byte*>(picture.data()), scratch);
  return picture;
}

std::vector<std::uint8_t> Pictures::pixels(std::uint64_t i, double sigma) const {
  std::vector<std::uint8_t> picture = photographs_.empty() ? made_up(i) : crop(i);
  if (sigma > 0) add_noise(picture, sigma, rng_of(i, 3));
  return picture;
}

std::vector<std::byte> Pictures::large_jpeg(std::uint64_t i) const {
  constexpr ImageShape large{3000, 4000, 3};
  constexpr std::ptrdiff_t stride = std::ptrdiff_t{large.width} * large.channels;
  Photograph from{picture_size, {}};
  if (photographs_.empty())
    from.pixels = made_up(i);
  else
    from = photographs_[static_cast<std::size_t>(i) % photographs_.size()];
  ImageOp op({from.size.height, from.size.width, 3});
  op.resize(large.size());
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(stride) * large.height);
  OnePicture scratch;
  image_executor().run({from.pixels.data(), std::ptrdiff_t{from.size.width} * 3, op.source}, op,
                       reinterpret_cast<std::byte*>(pixels.data()), scratch);
  add_noise(pixels, 4, rng_of(i, 4));
  return encode_jpeg({pixels.data(), stride, large}, {.quality = 90, .subsampling = 420});
}

std::vector<std::byte> Pictures::jpeg(std::uint64_t i, int quality, double sigma) const {
  const std::vector<std::uint8_t> picture = this->pixels(i, sigma);
  const Pixels pixels{picture.data(), static_cast<std::ptrdiff_t>(row_bytes), {height, width, 3}};
  return encode_jpeg(pixels, {.quality = quality, .subsampling = 420});
}

std::vector<std::byte> with_own_tables(std::span<const std::byte> jpeg) {
  jpeg_error_mgr errors{};
  jpeg_decompress_struct from{};
  jpeg_compress_struct to{};
  from.err = to.err = jpeg_std_error(&errors);
  errors.error_exit = [](j_common_ptr) { throw std::runtime_error("libjpeg refused a picture"); };
  jpeg_create_decompress(&from);
  jpeg_create_compress(&to);
  jpeg_mem_src(&from, reinterpret_cast<const unsigned char*>(jpeg.data()), jpeg.size());
  unsigned char* buffer = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's type
  jpeg_mem_dest(&to, &buffer, &size);
  jpeg_read_header(&from, TRUE);
  jvirt_barray_ptr* const coefficients = jpeg_read_coefficients(&from);
  jpeg_copy_critical_parameters(&from, &to);
  to.optimize_coding = TRUE;
  jpeg_write_coefficients(&to, coefficients);
  jpeg_finish_compress(&to);
  jpeg_finish_decompress(&from);
  const auto* const first = reinterpret_cast<const std::byte*>(buffer);
  std::vector<std::byte> out(first, first + size);
  jpeg_destroy_compress(&to);
  jpeg_destroy_decompress(&from);
  std::free(buffer);
  return out;
}

}  // namespace penstock::bench
