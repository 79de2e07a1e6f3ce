// SPDX-License-Identifier: Apache-2.0
// Draws a small classification set, for machines without photographs. A picture has a disc in front of waves. The
// disc's colour is the class. The same command always writes the same files.
//
//     make_pictures OUT [--count 4000] writes OUT/train/CLASS/N.jpg, and a fifth as many to OUT/test
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/transforms/encode_jpeg.hpp>

namespace ps = penstock;
namespace fs = std::filesystem;

namespace {

constexpr int side = 96;

struct Kind {
  const char* name;
  double rgb[3];
};
constexpr Kind kinds[] = {
    {"blue", {60, 90, 200}}, {"green", {70, 180, 80}}, {"red", {200, 70, 60}}, {"yellow", {200, 190, 60}}};

std::vector<std::byte> picture(const Kind& kind, std::uint64_t stream, std::uint64_t number) {
  ps::Rng rng(stream, 0, ps::Place{.position = number});
  const double fx = rng.uniform(0.02, 0.3), fy = rng.uniform(0.02, 0.3), x0 = rng.uniform(30, side - 30),
               y0 = rng.uniform(30, side - 30), radius = rng.uniform(15, 35), light = rng.uniform(0.7, 1.2);
  std::vector<std::uint8_t> rgb(std::size_t{side} * side * 3);
  std::size_t at = 0;
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      const bool inside = std::hypot(x - x0, y - y0) < radius;
      const double wave = 110 + 60 * std::sin(fx * x) * std::cos(fy * y);
      for (const double color : kind.rgb)
        rgb[at++] =
            static_cast<std::uint8_t>(std::clamp((inside ? light * color : wave) + rng.uniform(-25, 25), 0.0, 255.0));
    }
  return ps::encode_jpeg(ps::Pixels{rgb.data(), std::ptrdiff_t{side} * 3, {side, side, 3}}, {.quality = 90});
}

void write_part(const fs::path& out, const std::string& part, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const Kind& kind = kinds[i % std::size(kinds)];
    char name[32];
    std::snprintf(name, sizeof name, "%05u.jpg", static_cast<unsigned>(i / std::size(kinds)));
    const fs::path file = out / part / kind.name / name;
    fs::create_directories(file.parent_path());
    const std::vector<std::byte> jpeg = picture(kind, part == "train" ? 1 : 2, i);
    std::ofstream to(file, std::ios::binary);
    to.write(reinterpret_cast<const char*>(jpeg.data()), static_cast<std::streamsize>(jpeg.size()));
    to.close();
    if (!to) throw std::runtime_error(file.string() + ": could not be written");
  }
  std::printf("%s: %llu pictures of %dx%d, %zu classes\n", (out / part).c_str(), static_cast<unsigned long long>(count),
              side, side, std::size(kinds));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && (argc != 4 || std::string(argv[2]) != "--count")) {
    std::fprintf(stderr, "usage: make_pictures OUT [--count 4000]\n");
    return 2;
  }
  try {
    const std::uint64_t count = argc == 4 ? std::stoull(argv[3]) : 4000;
    write_part(argv[1], "train", count);
    write_part(argv[1], "test", std::max<std::uint64_t>(count / 5, std::size(kinds)));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_pictures: %s\n", error.what());
    return 1;
  }
}
