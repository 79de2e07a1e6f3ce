// SPDX-License-Identifier: Apache-2.0
// Images that a source has as pixels, promises, or files in the format of `fake_images.hpp`; some with a stored file
// that an encoder may take.
#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/chain/fake_images.hpp"
#include "core/help.hpp"

namespace album {

using namespace help;

struct ImageCounts {
  std::atomic<std::uint64_t> decodes{0}, pixels{0}, verified{0};
};

using File = std::vector<std::uint8_t>;

// The bytes after its image tell a stored file from one that was made.
inline const std::string stored_end = "stored";
inline bool is_stored(std::span<const std::byte> file) {
  return file.size() > stored_end.size() && std::memcmp(&*(file.end() - static_cast<std::ptrdiff_t>(stored_end.size())),
                                                        stored_end.data(), stored_end.size()) == 0;
}

// Images as pixels, as promises, or as files that are decoded. Of each third one that is promised nothing is stored.
struct Album {
  enum How : std::uint8_t { pixels, promises, files } how = pixels;
  std::uint64_t count = 60;
  bool varies = false;
  std::set<std::uint64_t> damaged = {};  ///< their sums are wrong
  std::shared_ptr<std::vector<File>> file = std::make_shared<std::vector<File>>();
  std::shared_ptr<ImageCounts> counts = std::make_shared<ImageCounts>();

  explicit Album(How its_how, bool its_varies = false, std::set<std::uint64_t> its_damaged = {})
      : how(its_how), varies(its_varies), damaged(std::move(its_damaged)) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const int more = varies ? static_cast<int>(i % 5) : 0;
      file->push_back(fake::encode(12 + more, 10 + 2 * more, 3,
                                   [&](int k) { return mix(i * 7919 + static_cast<std::uint64_t>(k)); }));
      if (damaged.contains(i)) file->back().back() ^= 1;
      file->back().insert(file->back().end(), stored_end.begin(), stored_end.end());
    }
  }
  std::uint64_t size() const { return count; }
  ps::Schema schema() const {
    const std::int64_t any = ps::dynamic;
    ps::Shape shape = varies ? ps::Shape{any, any, 3} : ps::Shape{12, 10, 3};
    if (how == files) shape = {any};
    return {{"image", ps::DType::u8, shape}, {"label", ps::DType::i64, {}}};
  }
  std::string name() const { return "album"; }
  std::string key(std::uint64_t i) const { return "picture " + std::to_string(i); }
  std::uint64_t identity() const { return varies ? 2 : 1; }
  inline void read(std::uint64_t i, ps::SampleBuilder& out) const;

  bool stores(std::uint64_t i) const { return how == files || (how == promises && i % 3 != 2); }
};

class Kept final : public ps::PromisedImage {
 public:
  Kept(const Album& album, std::uint64_t record) : album_(&album), record_(record) {}
  ps::ImageShape shape() const override { return fake::Decoding().open(bytes()); }
  ps::Pixels decode(const ps::Box& box, bool verify, std::byte* into, ps::Scratch& scratch) override {
    ++album_->counts->decodes;
    album_->counts->pixels += static_cast<std::uint64_t>(box.height * box.width);
    album_->counts->verified += verify ? 1 : 0;
    fake::Decoding decoding;
    decoding.open(bytes());
    return decoding.decode(box, verify, into, scratch);
  }
  std::span<const std::byte> stored_jpeg(ps::Scratch& scratch) override {
    if (!album_->stores(record_)) return {};
    if (record_ % 2 == 0) return bytes();
    std::byte* const copy = scratch.allocate(bytes().size());
    std::memcpy(copy, bytes().data(), bytes().size());
    return {copy, bytes().size()};
  }

 private:
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span((*album_->file)[record_])); }
  const Album* album_;
  std::uint64_t record_;
};

inline void Album::read(std::uint64_t i, ps::SampleBuilder& out) const {
  out.scalar<std::int64_t>("label", static_cast<std::int64_t>(i % 7));
  const std::span<const std::byte> bytes = std::as_bytes(std::span((*file)[i]));
  if (how == files) return out.view("image", bytes);
  if (how == promises) return out.promise("image", Kept(*this, i));
  const ps::ImageShape shape = fake::Decoding().open(bytes);
  const auto to = out.emplace<std::uint8_t, 3>("image", {shape.height, shape.width, 3});
  std::memcpy(to.data(), bytes.data() + 6, to.size());
}

inline ps::Pipeline images(const Album& album) {
  const ps::Pipeline p = ps::from(album);
  return album.how == Album::files ? p | fake::decode("image") : p;
}

// Both children are what their parent is.
struct Twice {
  std::uint32_t count(const ps::Sample&, ps::Context&) const { return 2; }
  void child(const ps::Sample&, std::uint32_t, ps::Sample&, ps::Context&) const {}
};

struct Flip {
  struct Params {};
  Params draw(const ps::ImageShape&, ps::Rng&) const { return {}; }
  void compose(const Params&, const ps::ImageShape&, ps::ImageOp& op) const { op.flip_horizontal(); }
  std::string name() const { return "flip"; }
};

using MakePipeline = std::function<ps::Pipeline(const Album&)>;
using Bytes = ps::View<const std::uint8_t, 3>;

inline ps::Stage crop(int height = 5, int width = 4) {
  return fake::image_stage("image", fake::RandomCrop{height, width});
}
inline ps::Stage maybe_flip(std::string field = "image") {
  return fake::image_stage(std::move(field), fake::RandomFlip{});
}
inline ps::Stage flip() { return fake::image_stage("image", Flip{}); }
inline ps::Stage invert() {
  return ps::map("image", [](ps::View<std::uint8_t, 3> image) {
    for (std::uint8_t& v : image.flat()) v = static_cast<std::uint8_t>(255 - v);
  });
}
inline ps::Stage bright() {
  return ps::filter("image", [](Bytes image) { return image(0, 0, 0) % 3 != 0; });
}

// What the stage should make, written down once more: a map on the finished pixels.
inline ps::Stage by_map(const std::string& field = "image", const std::string& out = "image") {
  return ps::map(field,
                 [](Bytes in, ps::Output<std::uint8_t, 1> file) {
                   const File made = fake::encode(static_cast<int>(in.extent(0)), static_cast<int>(in.extent(1)),
                                                  static_cast<int>(in.extent(2)),
                                                  [&](int k) { return in.data()[static_cast<std::size_t>(k)]; });
                   std::memcpy(file.emplace({static_cast<std::int64_t>(made.size())}).data(), made.data(), made.size());
                 },
                 {.out = out, .shape = ps::Shape{ps::dynamic}});
}

}  // namespace album
