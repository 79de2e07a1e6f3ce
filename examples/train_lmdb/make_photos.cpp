// SPDX-License-Identifier: Apache-2.0
// Cuts a small classification set out of a few large photographs. A crop's class is its photograph. Crops for training
// come from the left part of each photograph, held-out crops from its right part; the parts don't overlap. The same
// command always writes the same files.
//
//     make_photos PHOTOS OUT [--crops 4000] writes OUT/train/CLASS/N.jpg, and a fifth as many to OUT/test
//
// Cutting is itself a pipeline. Its source, which all threads read, and its sink, which is written in order, are
// defined here.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/encode_jpeg.hpp>

#include "progress_bar.hpp"

namespace ps = penstock;
namespace fs = std::filesystem;

namespace {

constexpr ps::Size crop_size{375, 500};

struct Motif {
  const char* name;
  const char* file;
};
// Pictures of Debian's package mate-backgrounds.
constexpr Motif motifs[] = {
    {"drops", "nature/RainDrops.jpg"},
    {"dune", "nature/Dune.jpg"},
    {"elephants", "abstract/Elephants_3840x2160.jpg"},
    {"flower", "nature/FreshFlower.jpg"},
    {"garden", "nature/Garden.jpg"},
    {"grass", "nature/GreenMeadow.jpg"},
    {"leaf", "nature/Blinds.jpg"},
    {"wood", "nature/Wood.jpg"},
};

// A whole photograph in memory.
class Photo final : public ps::Scratch {
 public:
  explicit Photo(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
    const auto decoding = ps::jpeg_decoder()->start();
    const ps::ImageShape shape = decoding->open(std::as_bytes(std::span(bytes)));
    const ps::Pixels decoded = decoding->decode({0, 0, shape.height, shape.width}, true, nullptr, *this);
    pixels_ = decoded;
  }
  std::byte* allocate(std::size_t bytes) override {
    blocks_.push_back(std::make_unique<std::byte[]>(bytes + 64));
    std::size_t room = bytes + 64;
    void* start = blocks_.back().get();
    return static_cast<std::byte*>(std::align(64, bytes, start, room));
  }
  ps::Pixels part(const ps::Box& box) const {
    return {pixels_.data + box.top * pixels_.stride + std::ptrdiff_t{box.left} * pixels_.shape.channels,
            pixels_.stride,
            {box.height, box.width, pixels_.shape.channels}};
  }
  ps::ImageShape shape() const { return pixels_.shape; }

 private:
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  ps::Pixels pixels_;
};

// A source whose record i is a JPEG of a random crop from photograph i modulo the number of motifs.
class Crops {
 public:
  Crops(const std::vector<std::shared_ptr<Photo>>& photos, std::string part, std::uint64_t count)
      : photos_(photos), part_(std::move(part)), count_(count) {}
  std::uint64_t size() const { return count_; }
  ps::Schema schema() const { return {{"image", ps::DType::u8, {ps::dynamic}}}; }
  std::string key(std::uint64_t i) const {
    char name[64];
    std::snprintf(name, sizeof name, "%s/%05u.jpg", motifs[i % std::size(motifs)].name,
                  static_cast<unsigned>(i / std::size(motifs)));
    return part_ + "/" + name;
  }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    const Photo& photo = *photos_[i % photos_.size()];
    const ps::ImageShape shape = photo.shape();
    // The right 30 % of a photograph is held out, but at least the width of a crop.
    const std::int32_t border = std::min(shape.width * 7 / 10, shape.width - crop_size.width);
    const std::int32_t first = part_ == "train" ? 0 : border, last = part_ == "train" ? border : shape.width;
    ps::Rng rng(part_ == "train" ? 1 : 2, 0, ps::Place{.position = i});
    const auto below = [&](std::int32_t n) {
      return static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(n)));
    };
    const ps::Box box{below(shape.height - crop_size.height + 1), first + below(last - first - crop_size.width + 1),
                      crop_size.height, crop_size.width};
    const std::vector<std::byte> jpeg = ps::encode_jpeg(photo.part(box), {.quality = 90});
    const auto to = out.emplace<std::uint8_t, 1>("image", {static_cast<std::int64_t>(jpeg.size())});
    std::memcpy(to.data(), jpeg.data(), jpeg.size());
  }

 private:
  std::vector<std::shared_ptr<Photo>> photos_;
  std::string part_;
  std::uint64_t count_;
};

// A sink that writes each record to the file that its key names.
class FolderSink {
 public:
  explicit FolderSink(fs::path root) : root_(std::move(root)) {}
  void open(const ps::SinkJob&) {}
  bool has(const ps::SinkItem&) { return false; }
  void put(const ps::SinkItem& item, ps::Sample& sample) {
    const fs::path file = root_ / item.key;
    fs::create_directories(file.parent_path());
    const auto bytes = sample.bytes("image");
    std::ofstream out(file, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out) throw std::runtime_error(file.string() + ": could not be written");
  }
  void commit() {}
  void finish() {}
  std::string name() const { return "folder"; }

 private:
  fs::path root_;
};

int run(const fs::path& photos_folder, const fs::path& out, std::uint64_t crops) {
  constexpr int skipped = 77;  // ctest counts this exit status as a skipped test
  for (const Motif& m : motifs) {
    if (fs::exists(photos_folder / m.file)) continue;
    std::fprintf(stderr, "%s is missing; on Debian: apt-get install mate-backgrounds\n",
                 (photos_folder / m.file).c_str());
    return skipped;
  }
  std::vector<std::shared_ptr<Photo>> photos(std::size(motifs));
  std::transform(std::begin(motifs), std::end(motifs), photos.begin(),
                 [&](const Motif& m) { return std::make_shared<Photo>(photos_folder / m.file); });
  ps::WriteOptions options;
  options.threads = std::max(1u, std::thread::hardware_concurrency());
  options.commit_every = 16;  // how often progress is shown
  std::uint64_t bytes = 0;
  for (const std::string part : {"train", "test"}) {
    const std::uint64_t count = part == "train" ? crops : std::max<std::uint64_t>(crops / 5, std::size(motifs));
    ProgressBar bar("cutting " + part, count);
    options.progress = [&](const ps::WriteProgress& p) { bar.set(p.done); };
    bytes += ps::write(ps::from(Crops(photos, part, count)), FolderSink(out), options).bytes;
    std::printf("%s: %llu crops of %dx%d, %zu classes\n", (out / part).c_str(), static_cast<unsigned long long>(count),
                crop_size.width, crop_size.height, std::size(motifs));
  }
  std::printf("%.1f KB a crop\n",
              static_cast<double>(bytes) / 1e3 /
                  static_cast<double>(crops + std::max<std::uint64_t>(crops / 5, std::size(motifs))));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && (argc != 5 || std::string(argv[3]) != "--crops")) {
    std::fprintf(stderr, "usage: make_photos PHOTOS OUT [--crops 4000]\n");
    return 2;
  }
  try {
    return run(argv[1], argv[2], argc == 5 ? std::stoull(argv[4]) : 4000);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_photos: %s\n", error.what());
    return 1;
  }
}
