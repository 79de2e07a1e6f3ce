// SPDX-License-Identifier: Apache-2.0
// PNGs that are decoded at once, and which ones are handed over to libpng.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <zlib.h>

#include <penstock/transforms/decode_png.hpp>

#include "support/campaign.hpp"
#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "support/text_in.hpp"
#include "transforms/codec/png/png_files.hpp"
#include "transforms/codec/png/whole/rule.hpp"
#include "transforms/image/targets.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

PngOptions random_options(Numbers& numbers) {
  return {.color = png_colors[numbers.below(5)], .dtype = numbers.coin() ? DType::u8 : DType::u16, .high_byte = true};
}

Box random_box(Numbers& numbers, Size size) {
  if (numbers.coin()) return {0, 0, size.height, size.width};
  Box box{0, 0, numbers.from(1, size.height), numbers.from(1, size.width)};
  box.top = numbers.from(0, size.height - box.height), box.left = numbers.from(0, size.width - box.width);
  return box;
}

// The compressed pixels of a file, as one stream.
std::vector<std::uint8_t> stream_of(const PngFile& file) {
  std::vector<std::uint8_t> stream;
  for (const PngFile::Chunk& chunk : file.chunks)
    if (chunk.type == "IDAT") stream.insert(stream.end(), chunk.data.begin(), chunk.data.end());
  return stream;
}

// Puts a stream in place of a file's pixels, in one chunk or in several.
void put_stream(PngFile& file, const std::vector<std::uint8_t>& stream, int chunks) {
  const auto first = std::ranges::find(file.chunks, std::string_view("IDAT"), &PngFile::Chunk::type);
  auto at = file.chunks.erase(first, std::ranges::find_if_not(first, file.chunks.end(),
                                                              [](const auto& chunk) { return chunk.type == "IDAT"; }));
  for (int i = 0; i < chunks; ++i) {
    const auto part = [&](int k) { return stream.begin() + static_cast<std::ptrdiff_t>(stream.size()) * k / chunks; };
    at = file.chunks.insert(at, {"IDAT", {part(i), part(i + 1)}}) + 1;
  }
}

std::vector<std::uint8_t> inflated(const std::vector<std::uint8_t>& stream) {
  std::vector<std::uint8_t> raw(std::size_t{1} << 20);
  uLongf length = raw.size();
  REQUIRE(uncompress(raw.data(), &length, stream.data(), stream.size()) == Z_OK);
  raw.resize(length);
  return raw;
}

std::vector<std::uint8_t> deflated(const std::vector<std::uint8_t>& raw, int level, int window_bits, int strategy) {
  z_stream z{};
  REQUIRE(deflateInit2(&z, level, Z_DEFLATED, window_bits, 8, strategy) == Z_OK);
  std::vector<std::uint8_t> stream(2 * deflateBound(&z, raw.size()));  // zlib's bound is too low for Z_FIXED
  z.next_in = const_cast<Bytef*>(raw.data());
  z.avail_in = static_cast<uInt>(raw.size());
  z.next_out = stream.data();
  z.avail_out = static_cast<uInt>(stream.size());
  REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
  stream.resize(z.total_out);
  deflateEnd(&z);
  return stream;
}

// Lets the stream's first two bytes declare a window of 256 << bits bytes.
void declare_window(std::vector<std::uint8_t>& stream, unsigned bits) {
  stream[0] = static_cast<std::uint8_t>(bits << 4 | 8);
  stream[1] = static_cast<std::uint8_t>(stream[1] & 0xe0);
  stream[1] = static_cast<std::uint8_t>(stream[1] + (31 - (stream[0] * 256 + stream[1]) % 31) % 31);
}

struct Counts {
  std::array<std::uint64_t, 5> of{};
  std::uint64_t operator[](PngOutcome outcome) const { return of[static_cast<std::size_t>(outcome)]; }
  void add(PngOutcome outcome) { ++of[static_cast<std::size_t>(outcome)]; }
};

void check(const Bytes& file, Numbers& numbers, Size size, Counts& counts) {
  const PngOptions options = random_options(numbers);
  const Box box = random_box(numbers, size);
  const bool verify = numbers.coin();
  std::string what;
  const PngOutcome outcome = check_png_rule(file, options, box, verify, what);
  counts.add(outcome);
  if (outcome != PngOutcome::broken) return;
  CAPTURE(what, int{options.color}, box.top, box.left, box.height, box.width, verify);
  FAIL("a PNG was decoded at once, and libpng makes something else of it");
}

// A right file, of any kind, with pixels that were compressed in any way.
PngFile random_file(Numbers& numbers, std::uint64_t seed, Size& size) {
  static const std::vector<PngKind> kinds = png_kinds();
  size = {numbers.from(1, 70), numbers.from(1, 70)};
  PngFile file(kinds[static_cast<std::size_t>(numbers.below(static_cast<int>(kinds.size())))], size, seed);
  if (numbers.coin()) {
    const int strategies[] = {Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED};
    put_stream(
        file,
        deflated(inflated(stream_of(file)), numbers.from(0, 9), numbers.from(9, 15), strategies[numbers.below(5)]),
        numbers.from(1, 4));
  }
  return file;
}

// Changes a file, so that libpng refuses it or not.
void change(PngFile& file, Numbers& numbers) {
  std::vector<std::uint8_t> stream = stream_of(file);
  const auto any = [&](std::size_t count) { return static_cast<std::size_t>(numbers.below(static_cast<int>(count))); };
  switch (numbers.below(10)) {
    case 0:  // a bit of the stream
      stream[any(stream.size())] ^= static_cast<std::uint8_t>(1 << numbers.below(8));
      break;
    case 1:  // its end, with its check sum
      stream[stream.size() - 1 - any(std::min<std::size_t>(stream.size(), 8))] ^=
          static_cast<std::uint8_t>(numbers.from(1, 255));
      break;
    case 2:  // its beginning
      stream[any(2)] ^= static_cast<std::uint8_t>(1 << numbers.below(8));
      break;
    case 3:  // cut off
      stream.resize(stream.size() - 1 - any(std::min<std::size_t>(stream.size() - 1, 9)));
      break;
    case 4:  // with bytes after it
      for (int i = numbers.from(1, 9); i > 0; --i) stream.push_back(static_cast<std::uint8_t>(numbers.next()));
      break;
    case 5: {  // pixels and filters, with a right check sum
      std::vector<std::uint8_t> raw = inflated(stream);
      for (int i = numbers.from(1, 5); i > 0; --i)
        raw[any(raw.size())] = static_cast<std::uint8_t>(numbers.below(numbers.coin() ? 8 : 256));
      stream = deflated(raw, 6, 15, Z_DEFAULT_STRATEGY);
      break;
    }
    case 6: {  // fewer or more pixels
      std::vector<std::uint8_t> raw = inflated(stream);
      raw.resize(numbers.coin() ? raw.size() + 1 + any(40)
                                : raw.size() - 1 - any(std::min<std::size_t>(raw.size() - 1, 40)));
      stream = deflated(raw, 6, 15, Z_DEFAULT_STRATEGY);
      break;
    }
    case 7:  // a smaller window than distances need
      declare_window(stream, static_cast<unsigned>(numbers.below(9)));
      break;
    case 8: {  // a byte of another chunk
      PngFile::Chunk& chunk = file.chunks[any(file.chunks.size())];
      if (chunk.type == "IDAT" || chunk.type == "IHDR" || chunk.data.empty()) break;
      chunk.data[any(chunk.data.size())] = static_cast<std::uint8_t>(numbers.next());
      break;
    }
    default: {  // a chunk's length
      PngFile::Chunk& chunk = file.chunks[any(file.chunks.size())];
      if (chunk.type == "IDAT" || chunk.type == "IHDR") break;
      chunk.data.resize(static_cast<std::size_t>(numbers.below(800)), 7);
      if (chunk.type == "PLTE") chunk.data.resize(std::max<std::size_t>(3, chunk.data.size() / 3 * 3));
    }
  }
  put_stream(file, stream, numbers.from(1, 3));
}

// Checks random files, changed or as they are. Returns what became of them.
Counts check_files(std::uint64_t count, std::uint64_t first_seed, bool changed) {
  Counts counts;
  for (std::uint64_t i = 0; i < count; ++i) {
    CAPTURE(i);
    Numbers numbers(first_seed + i);
    Size size{1, 1};
    PngFile file = random_file(numbers, first_seed + i, size);
    if (changed) change(file, numbers);
    check(file.bytes(), numbers, size, counts);
  }
  return counts;
}

}  // namespace

TEST_CASE("PNGs that are decoded at once become what libpng makes of them") {
  const std::uint64_t count = runs(4000);
  const Counts counts = check_files(count, numbered_seed(1), false);
  // Options that an image can't have are refused, and small parts are libpng's.
  CHECK(counts[PngOutcome::same] > count / 2);
  CHECK(counts[PngOutcome::handed_over] < count / 4);
}

TEST_CASE("changed PNGs are decoded at once only if libpng finds no fault") {
  const std::uint64_t count = runs(8000);
  const Counts counts = check_files(count, numbered_seed(1'000'000), true);
  CHECK(counts[PngOutcome::same] > count / 50);
  CHECK(counts[PngOutcome::handed_over] > count / 4);
  CHECK(counts[PngOutcome::zlib_is_strict] <= count / 10'000);
}

TEST_CASE("a distance that leaves the window that a PNG declares is libpng's to judge") {
  // Far distances: two equal halves of noise.
  PngFile file({.color = 0}, {64, 1000}, 5);
  std::vector<std::uint8_t> raw = inflated(stream_of(file));
  std::copy(raw.begin(), raw.begin() + static_cast<std::ptrdiff_t>(raw.size() / 2),
            raw.begin() + static_cast<std::ptrdiff_t>(raw.size() / 2));
  for (std::size_t y = 0; y < 64; ++y) raw[y * 1001] = 0;
  std::vector<std::uint8_t> stream = deflated(raw, 9, 15, Z_DEFAULT_STRATEGY);
  std::string what;
  const auto outcome = [&] {
    put_stream(file, stream, 1);
    return check_png_rule(file.bytes(), {.color = PngOptions::gray}, {0, 0, 64, 1000}, true, what);
  };
  CHECK(outcome() == PngOutcome::same);
  for (unsigned bits = 0; bits < 7; ++bits) {
    declare_window(stream, bits);
    CAPTURE(bits);
    CHECK(outcome() == PngOutcome::handed_over);
    // A row of as many bytes as the window, and of one more.
    for (const std::int32_t more : {0, 1}) {
      const std::int32_t width = (256 << bits) - 1 + more;
      PngFile row({.color = 0}, {1, width}, 5);
      std::vector<std::uint8_t> of_row = deflated(inflated(stream_of(row)), 6, 15, Z_DEFAULT_STRATEGY);
      declare_window(of_row, bits);
      put_stream(row, of_row, 1);
      CHECK(check_png_rule(row.bytes(), {.color = PngOptions::gray}, {0, 0, 1, width}, true, what) ==
            (more == 0 ? PngOutcome::same : PngOutcome::handed_over));
    }
  }
}

TEST_CASE("transparent colours with bits above the depth are libpng's to judge") {
  std::string what;
  for (const int color : {0, 2})
    for (const int depth : {1, 2, 4, 8, 16}) {
      if (color == 2 && depth < 8) continue;
      PngFile file({.color = color, .depth = depth, .transparency = true}, {9, 7}, 3);
      for (const bool changed : {false, true}) {
        for (PngFile::Chunk& chunk : file.chunks)
          if (changed && chunk.type == "tRNS") chunk.data[0] = static_cast<std::uint8_t>(chunk.data[0] ^ 0x80);
        CAPTURE(color, depth, changed, what);
        CHECK(check_png_rule(file.bytes(), {.color = PngOptions::as_stored, .high_byte = true}, {0, 0, 9, 7}, true,
                             what) == (changed && depth < 16 ? PngOutcome::handed_over : PngOutcome::same));
      }
    }
}

TEST_CASE("codes that zlib refuses and the stream's sum bears out have the pixels that were compressed") {
  // One block with its own codes (RFC 1951, 3.2.7), of the filter's byte and a pixel of 139.
  std::vector<std::uint8_t> stream{0x78, 0x01};
  int used = 8;
  const auto put = [&](unsigned value, int bits) {  // the lowest bit first
    for (int i = 0; i < bits; ++i, ++used) {
      if (used % 8 == 0) stream.push_back(0);
      stream.back() = static_cast<std::uint8_t>(stream.back() | (value >> i & 1) << used % 8);
    }
  };
  const auto put_code = [&](unsigned code, int bits) {  // the highest bit first
    while (bits-- > 0) put(code >> bits, 1);
  };
  put(1, 1), put(2, 2);              // the last block, with codes of its own
  put(0, 5), put(0, 5), put(14, 4);  // 257 codes of literals, 1 of distances, 18 of lengths
  for (const unsigned length : {0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2}) put(length, 3);
  put_code(1, 2);               // literal 0: two bits
  put_code(3, 2), put(127, 7);  // 138 without a code
  put_code(1, 2);               // literal 139: two bits
  put_code(3, 2), put(105, 7);  // 116 without a code
  put_code(0, 2);               // the end: one bit
  put_code(2, 2), put(0, 3);    // three more without a code, where there is one
  put_code(2, 2), put_code(3, 2), put_code(0, 1);
  const std::uint8_t raw[] = {0, 139};
  const auto sum = static_cast<std::uint32_t>(adler32(adler32(0, nullptr, 0), raw, 2));
  for (int shift = 24; shift >= 0; shift -= 8) stream.push_back(static_cast<std::uint8_t>(sum >> shift));
  PngFile file({.color = 0}, {1, 1}, 1);
  put_stream(file, stream, 1);
  std::string what;
  const auto outcome = [&] {
    return check_png_rule(file.bytes(), {.color = PngOptions::gray}, {0, 0, 1, 1}, true, what);
  };
  CHECK(outcome() == PngOutcome::zlib_is_strict);
  CHECK(what.find("invalid bit length repeat") != what.npos);
  // Without a right sum, it is libpng's to refuse.
  stream.back() = static_cast<std::uint8_t>(stream.back() ^ 1);
  put_stream(file, stream, 1);
  CHECK(outcome() == PngOutcome::handed_over);
}

TEST_CASE("each bit of a stream is changed, and what is decoded at once is libpng's") {
  Counts counts;
  std::string what;
  for (const int color : {0, 2, 3}) {
    PngFile file({.color = color}, {24, 20}, 5);
    std::vector<std::uint8_t> raw = inflated(stream_of(file));
    // Few values, so that the stream is short and its tables of codes are a large part of it.
    for (std::size_t i = 0; i < raw.size(); ++i) raw[i] = static_cast<std::uint8_t>(raw[i] % 5);
    const std::vector<std::uint8_t> stream = deflated(raw, 9, 15, Z_DEFAULT_STRATEGY);
    for (std::size_t bit = 0; bit < 8 * stream.size(); ++bit) {
      std::vector<std::uint8_t> changed = stream;
      changed[bit / 8] = static_cast<std::uint8_t>(changed[bit / 8] ^ 1u << bit % 8);
      put_stream(file, changed, 1);
      const PngOutcome outcome = check_png_rule(file.bytes(), {.color = PngOptions::rgb}, {0, 0, 24, 20}, true, what);
      CAPTURE(color, bit, what);
      REQUIRE(outcome != PngOutcome::broken);
      counts.add(outcome);
    }
  }
  CHECK(counts[PngOutcome::handed_over] > 5000);
}

TEST_CASE("what only libpng may judge, and parts that it decodes sooner, are handed over") {
  std::string what;
  const Box whole{0, 0, 40, 30};
  const auto outcome = [&](const PngFile& file, const Box& box, bool verify) {
    return check_png_rule(file.bytes(), {.color = PngOptions::rgba}, box, verify, what);
  };
  const PngFile file({.color = 3, .depth = 4, .transparency = true}, {40, 30}, 3);
  CHECK(outcome(file, whole, false) == PngOutcome::same);
  CHECK(outcome(file, {0, 0, 9, 30}, false) == PngOutcome::handed_over);
  CHECK(outcome(file, {0, 0, 10, 30}, false) == PngOutcome::same);
  CHECK(outcome(file, {0, 0, 9, 30}, true) == PngOutcome::same);
  PngFile end = file;
  end.chunks.back().data = {1, 2};
  CHECK(outcome(end, whole, false) == PngOutcome::handed_over);
  CHECK(outcome(end, {0, 0, 20, 30}, false) == PngOutcome::same);
  PngFile opacity = file;
  for (PngFile::Chunk& chunk : opacity.chunks)
    if (chunk.type == "tRNS") chunk.data.resize(17);
  CHECK(outcome(opacity, whole, false) == PngOutcome::handed_over);
}

// Scratch of a size, as a runner has under max_memory_bytes. It knows how much is in use.
class SmallScratch final : public Scratch {
 public:
  explicit SmallScratch(std::size_t limit) : limit_(limit) {}
  std::byte* allocate(std::size_t bytes) override {
    if (bytes > limit_ - used_) throw Error(Errc::out_of_memory, "no room");
    std::byte* const piece = scratch_.allocate(bytes);
    used_ += bytes, last_ = piece, last_bytes_ = bytes;
    most_ = std::max(most_, used_);
    return piece;
  }
  void give_back(std::byte* piece) noexcept override {
    if (piece == last_) used_ -= last_bytes_, last_ = nullptr;
  }
  std::size_t used() const { return used_; }
  std::size_t most() const { return most_; }

 private:
  TestScratch scratch_;
  std::size_t limit_, used_ = 0, most_ = 0, last_bytes_ = 0;
  std::byte* last_ = nullptr;
};

TEST_CASE("the more memory a runner has, the more images it decodes, to the same pixels or errors") {
  constexpr Size size{300, 200};
  for (const bool interlaced : {false, true})
    for (const int what : {0, 1, 2}) {
      PngFile file({.color = 2, .interlaced = interlaced}, size, 7);
      std::vector<std::uint8_t> stream = stream_of(file);
      if (what == 1) declare_window(stream, 1);                                     // libpng's to decode
      if (what == 2) stream.back() = static_cast<std::uint8_t>(stream.back() ^ 1);  // and to refuse
      put_stream(file, stream, 2);
      const Bytes bytes = file.bytes();
      const auto decoding = png_decoder()->start();
      const auto decoded = [&](std::size_t limit) -> std::string {
        SmallScratch scratch(limit);
        decoding->open(bytes);
        try {
          const Pixels pixels = decoding->decode({100, 20, 200, 110}, false, nullptr, scratch);
          if (limit > 1'000'000 && what == 0) CHECK(scratch.used() == 200 * 110 * 3);  // only the pixels
          std::string copy;
          for (std::int32_t y = 0; y < 200; ++y)
            copy.append(reinterpret_cast<const char*>(pixels.data + y * pixels.stride), 110 * 3);
          return copy;
        } catch (const Error& error) {
          if (error.code() == Errc::out_of_memory) return "";
          return error.what();
        }
      };
      CAPTURE(interlaced, what);
      const std::string usual = decoded(std::size_t{1} << 24);
      REQUIRE_FALSE(usual.empty());
      // The pixels take 66,000 bytes. libpng needs a row, or all 180,000 bytes of an interlaced image.
      CHECK(decoded(interlaced ? 250'000 : 70'000) == usual);
      bool enough = false;
      for (std::size_t limit = 10'000; limit < 900'000; limit += 10'000) {
        const std::string found = decoded(limit);
        CAPTURE(limit);
        REQUIRE((found == usual || (found.empty() && !enough)));
        enough = !found.empty();
      }
      CHECK(enough);
    }
}

TEST_CASE("an image with few rows takes little more memory than its pixels, and a wide one is libpng's") {
  for (const auto& [size, at_once] :
       {std::pair{Size{1, 20'000'000}, true}, {Size{2, 20'000'000}, false}, {Size{30'000, 1000}, true}}) {
    // Zeros, so that the file is small.
    PngFile file({.color = 0}, {1, 1}, 1);
    const std::vector<std::uint8_t> raw(static_cast<std::size_t>(size.height) *
                                        (1 + static_cast<std::size_t>(size.width)));
    put_stream(file, deflated(raw, 1, 15, Z_DEFAULT_STRATEGY), 1);
    for (std::size_t i = 0; i < 4; ++i) {
      file.chunks[0].data[i] = static_cast<std::uint8_t>(size.width >> (24 - 8 * i));
      file.chunks[0].data[4 + i] = static_cast<std::uint8_t>(size.height >> (24 - 8 * i));
    }
    const Bytes bytes = file.bytes();
    const auto decoding = png_decoder({.color = PngOptions::gray})->start();
    REQUIRE(decoding->open(bytes).size() == size);
    SmallScratch scratch(std::size_t{1} << 30);
    std::vector<std::byte> into(static_cast<std::size_t>(size.height) * static_cast<std::size_t>(size.width));
    decoding->decode({0, 0, size.height, size.width}, false, into.data(), scratch);
    CAPTURE(size.height, size.width, scratch.most());
    CHECK((scratch.most() > raw.size()) == at_once);
    CHECK(scratch.most() <= std::size_t{128} << 20);
    if (at_once) CHECK(scratch.used() == 0);
  }
}

TEST_CASE("a chunk of pixels that is too long for libpng is its to refuse") {
  std::string what;
  for (const auto& [bytes, outcome] :
       {std::pair{7'000'000u, PngOutcome::same}, {9'000'000u, PngOutcome::handed_over}}) {
    PngFile file({.color = 0}, {10, 10}, 3);
    const std::vector<std::uint8_t> right = stream_of(file);
    // Empty blocks, without compression, before those of the pixels.
    std::vector<std::uint8_t> stream(right.begin(), right.begin() + 2);
    while (stream.size() < bytes) stream.insert(stream.end(), {0, 0, 0, 0xff, 0xff});
    stream.insert(stream.end(), right.begin() + 2, right.end());
    put_stream(file, stream, 1);
    CAPTURE(bytes, what);
    CHECK(check_png_rule(file.bytes(), {.color = PngOptions::gray}, {0, 0, 10, 10}, true, what) == outcome);
  }
}

TEST_CASE("files of others, for tests/campaigns/png", "[.files]") {
  const char* const folder = std::getenv("PENSTOCK_PNGS");
  REQUIRE(folder != nullptr);
  Numbers numbers(numbered_seed(8));
  Counts counts;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           folder, std::filesystem::directory_options::skip_permission_denied)) {
    if (entry.is_symlink() || !entry.is_regular_file() || entry.path().extension() != ".png") continue;
    const std::string text = text_in(entry.path());
    const auto bytes = std::as_bytes(std::span(text));
    INFO(entry.path());
    // Boxes are cut to the image.
    for (int box = 0; box < 3; ++box)
      check({bytes.begin(), bytes.end()}, numbers, {numbers.from(1, 1000), numbers.from(1, 1000)}, counts);
  }
  for (const auto& [outcome, what] : {std::pair{PngOutcome::same, "decoded at once, to libpng's pixels"},
                                      {PngOutcome::handed_over, "handed over"},
                                      {PngOutcome::refused, "refused"}})
    std::printf("%llu boxes of files of others %s\n", static_cast<unsigned long long>(counts[outcome]), what);
  CHECK(counts[PngOutcome::same] > 0);
}

}  // namespace PENSTOCK_TEST_FILE
