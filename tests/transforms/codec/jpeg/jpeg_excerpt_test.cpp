// SPDX-License-Identifier: Apache-2.0
// Crops of JPEGs with restart markers: the right pixels, from the segments that are needed and no others.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <stdexcept>

#include <penstock/error.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/seekable_jpeg.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "transforms/codec/jpeg/plain_jpeg.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

constexpr std::array<int, 2> all_factors[] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {1, 4}, {4, 2}};

Image decode(ImageDecoding& decoding, std::span<const std::byte> bytes, const Box& box, bool verify = false) {
  TestScratch scratch;
  decoding.open(bytes);
  return copied(decoding.decode(box, verify, nullptr, scratch));
}

Box random_box(Numbers& numbers, const ImageShape& shape, std::int32_t most) {
  Box box{0, 0, numbers.from(1, std::min(most, shape.height)), numbers.from(1, std::min(most, shape.width))};
  box.top = numbers.from(0, shape.height - box.height);
  box.left = numbers.from(0, shape.width - box.width);
  return box;
}

std::size_t place_after(const Bytes& bytes, int code) {
  for (std::size_t i = 2; i + 3 < bytes.size();) {
    const std::size_t length =
        (std::to_integer<std::size_t>(bytes[i + 2]) << 8) + std::to_integer<std::size_t>(bytes[i + 3]);
    if (std::to_integer<int>(bytes[i + 1]) == code) return i + 2 + length;
    i += 2 + length;
  }
  throw std::logic_error("no such marker");
}

// A file in pieces: the header, what lies between restart markers, and the rest from FF D9 on.
struct Pieces {
  Bytes header;
  std::vector<Bytes> segments;
  std::vector<Bytes> markers;  // after each segment

  explicit Pieces(const Bytes& bytes) {
    std::size_t at = place_after(bytes, 0xda);
    const auto part = [&](std::size_t first, std::size_t end) {
      return Bytes(bytes.begin() + static_cast<std::ptrdiff_t>(first),
                   bytes.begin() + static_cast<std::ptrdiff_t>(end));
    };
    header = part(0, at);
    for (std::size_t i = at; i + 1 < bytes.size(); ++i) {
      if (bytes[i] != std::byte{0xff} || bytes[i + 1] == std::byte{0}) continue;
      segments.push_back(part(at, i));
      markers.push_back(part(i, i + 2));
      at = i + 2;
      ++i;
    }
  }
  Bytes join() const {
    Bytes out = header;
    for (std::size_t s = 0; s < segments.size(); ++s) {
      out.insert(out.end(), segments[s].begin(), segments[s].end());
      out.insert(out.end(), markers[s].begin(), markers[s].end());
    }
    return out;
  }
};

}  // namespace

TEST_CASE("a crop of a rewritten JPEG has the pixels of the whole original") {
  std::size_t boxes = 0;
  for (std::uint64_t seed = 0; seed < 420; ++seed) {
    Numbers numbers(seed);
    const ImageShape shape{numbers.from(1, 70), numbers.from(1, seed % 3 == 0 ? 200 : 70), seed % 5 == 0 ? 1 : 3};
    PlainJpeg options{.quality = numbers.from(30, 100), .luma = all_factors[seed % 7]};
    options.progressive = numbers.below(4) == 0;
    options.colors = shape.channels == 3 && numbers.below(6) == 0 ? PlainJpeg::rgb : PlainJpeg::ycc;
    options.jfif = options.colors == PlainJpeg::ycc && numbers.coin();
    options.adobe = numbers.coin();
    const Bytes original = plain_encode(seed % 2 == 0 ? static_noise(shape, seed) : photo(shape, seed, 20), options);
    const std::int32_t every = numbers.from(1, 8);
    const Bytes rewritten = seekable_jpeg(original, {.every = every});
    const Image whole = plain_decode(original);
    const Image gray = plain_decode(original, options.colors == PlainJpeg::ycc);
    const auto color =
        jpeg_decoder({.color = shape.channels == 1 ? JpegOptions::as_stored : JpegOptions::rgb})->start();
    const auto one = jpeg_decoder({.color = JpegOptions::gray})->start();
    CAPTURE(seed, shape.height, shape.width, shape.channels, options.luma, every);
    for (int n = 0; n < 40; ++n, ++boxes) {
      const Box box = random_box(numbers, shape, n % 2 == 0 ? 12 : 200);
      CAPTURE(box.top, box.left, box.height, box.width);
      const Image& expected = shape.channels == 1 ? gray : whole;
      const Image got = decode(*color, rewritten, box, n % 8 == 7);
      if (shape.channels == 1) {
        REQUIRE(got == cut(gray, box));
      } else {
        REQUIRE(got == cut(expected, box));
        if (options.colors == PlainJpeg::ycc) REQUIRE(decode(*one, rewritten, box) == cut(gray, box));
      }
    }
  }
  std::printf("excerpts: %zu boxes\n", boxes);
}

TEST_CASE("every small box at every place has the pixels of a whole decode") {
  for (const auto& luma : all_factors) {
    for (const std::int32_t width : {8 * luma[0] * 4 - 5, 8 * luma[0] * 4 + 1, 8 * luma[0] * 4 + 3}) {
      const ImageShape shape{8 * luma[1] * 3 - 3, width, 3};
      for (const std::int32_t every : {1, 2}) {
        const Bytes bytes = seekable_jpeg(plain_encode(static_noise(shape), {.luma = luma}), {.every = every});
        const Image whole = plain_decode(bytes);
        const auto decoding = jpeg_decoder()->start();
        CAPTURE(luma, width, every);
        for (std::int32_t top = 0; top < shape.height; ++top) {
          for (std::int32_t left = top % 3; left < shape.width; left += 3) {
            const Box box{top, left, std::min(1 + top % 5, shape.height - top),
                          std::min(1 + left % 4, shape.width - left)};
            CAPTURE(box.top, box.left, box.height, box.width);
            REQUIRE(decode(*decoding, bytes, box) == cut(whole, box));
          }
        }
      }
    }
  }
}

TEST_CASE("any restart interval that fits rows of MCUs serves, and others do no harm") {
  for (const auto& luma : all_factors) {
    const ImageShape shape{8 * luma[1] * 6 - 3, 8 * luma[0] * 6 - 3, 3};
    for (int interval = 1; interval <= 38; ++interval) {
      Numbers numbers(static_cast<std::uint64_t>(interval));
      const Bytes bytes =
          plain_encode(photo(shape, 3, 30), {.luma = luma, .optimized = true, .restart_interval = interval});
      const Image whole = plain_decode(bytes);
      const auto decoding = jpeg_decoder()->start();
      for (int n = 0; n < 12; ++n) {
        const Box box = random_box(numbers, shape, 30);
        CAPTURE(luma, interval, box.top, box.left, box.height, box.width);
        REQUIRE(decode(*decoding, bytes, box) == cut(whole, box));
      }
    }
  }
}

TEST_CASE("a crop reads the segments around it, and no others") {
  for (const auto& luma : all_factors) {
    for (const int channels : {1, 3}) {
      for (const std::int32_t every : {1, 2, 3, 12, 24}) {
        // 12 x 10 MCUs. (The only component of an image comes block by block.)
        const std::int32_t across = channels == 1 ? 8 : 8 * luma[0], down = channels == 1 ? 8 : 8 * luma[1];
        const ImageShape shape{down * 10 - 3, across * 12 - 3, channels};
        const Bytes bytes =
            plain_encode(photo(shape, 9, 30), {.luma = luma, .optimized = true, .restart_interval = every});
        const Pieces pieces(bytes);
        const Image whole = plain_decode(bytes, channels == 1);
        const auto decoding = jpeg_decoder({.color = JpegOptions::as_stored})->start();
        Numbers numbers(static_cast<std::uint64_t>(every));
        for (int n = 0; n < 15; ++n) {
          Box box = random_box(numbers, shape, 20);
          // With rows above it, there is always enough to leave out.
          box.top = std::max(box.top, 3 * down - 2);
          box.height = std::min(box.height, shape.height - box.top);
          CAPTURE(luma, channels, every, box.top, box.left, box.height, box.width);
          Pieces damaged = pieces;
          int left_whole = 0;
          for (std::size_t s = 0; s < damaged.segments.size(); ++s) {
            // The MCUs of the segment, as a rectangle with the margin that crops may use.
            const auto first = static_cast<std::int32_t>(s) * every, end = first + every;
            const std::int32_t top = first / 12 * down - 2, bottom = (end + 11) / 12 * down + 2;
            const std::int32_t left = every >= 12 ? 0 : first % 12 * across - 2,
                               right = every >= 12 ? shape.width : left + every * across + 4;
            // An MCU alone at the right edge has its neighbour with it.
            const std::int32_t reach = every == 1 ? across : 0;
            const bool needed = top < box.top + box.height && bottom > box.top && left < box.left + box.width &&
                                right + reach > box.left;
            if (needed)
              ++left_whole;
            else
              damaged.segments[s] = Bytes(2, std::byte{0x13});
          }
          REQUIRE(left_whole < static_cast<int>(pieces.segments.size()));
          REQUIRE(decode(*decoding, damaged.join(), box) == cut(whole, box));
          REQUIRE_THROWS_AS(decode(*decoding, damaged.join(), box, true), Error);
        }
      }
    }
  }
}

TEST_CASE("what is legal between segments is no damage") {
  const ImageShape shape{80, 96, 3};
  const Pieces pieces(plain_encode(photo(shape, 1, 30), {.luma = {1, 1}, .restart_interval = 2}));
  const Image whole = plain_decode(pieces.join());
  const auto decoding = jpeg_decoder()->start();
  const auto check_all = [&](const Pieces& changed) {
    const Bytes bytes = changed.join();
    REQUIRE(plain_decode(bytes) == whole);
    Numbers numbers(5);
    for (int n = 0; n < 30; ++n) {
      const Box box = random_box(numbers, shape, 24);
      REQUIRE(decode(*decoding, bytes, box) == cut(whole, box));
    }
  };
  check_all(pieces);
  // Any number of FF may stand before a marker.
  Pieces filled = pieces;
  for (std::size_t s = 0; s < filled.markers.size(); s += 3)
    filled.markers[s].insert(filled.markers[s].begin(), s % 5, std::byte{0xff});
  check_all(filled);
  // Some encoders end with a restart marker.
  Pieces trailing = pieces;
  const auto number = static_cast<int>((trailing.segments.size() - 1) & 7);
  trailing.markers.back().insert(trailing.markers.back().begin(),
                                 {std::byte{0xff}, static_cast<std::byte>(0xd0 | number)});
  check_all(trailing);
}

TEST_CASE("a marker without parameters in the header does not mislead a crop") {
  // FF 01 has no length: libjpeg reads on right after it. Who takes the next two bytes for one gets here after the
  // tables that count, and is left with those before.
  const ImageShape shape{80, 96, 3};
  const Bytes plain = plain_encode(photo(shape, 1, 30), {.luma = {1, 1}, .restart_interval = 2});
  constexpr std::size_t table = 2 + 67;
  const std::size_t tables = place_after(plain, 0xdb) - table, frame = place_after(plain, 0xc0) - (2 + 17);
  REQUIRE(frame - tables == 2 * table);
  const auto place = [&](std::size_t at) { return plain.begin() + static_cast<std::ptrdiff_t>(at); };
  const auto comment = [](std::size_t length) {
    Bytes made(2 + length);
    made[0] = std::byte{0xff}, made[1] = std::byte{0xfe};
    made[2] = static_cast<std::byte>(length >> 8), made[3] = static_cast<std::byte>(length & 0xff);
    return made;
  };
  Bytes others(place(tables), place(frame));
  for (const std::size_t first : {std::size_t{5}, table + 5})
    std::fill_n(others.begin() + static_cast<std::ptrdiff_t>(first), 64, std::byte{99});
  // FF FE, the comment's marker, as a length leads to its last three bytes, and these over what follows to the frame.
  Bytes large = comment(0xffff);
  large.end()[-3] = std::byte{0xff}, large.end()[-2] = std::byte{0xfe};
  const Bytes filling = comment(0xff - 1 - 2 * table - 2);

  Bytes bytes(plain.begin(), place(tables));
  const auto append = [&](const Bytes& more) { bytes.insert(bytes.end(), more.begin(), more.end()); };
  append(others);
  append({std::byte{0xff}, std::byte{0x01}});
  append(large);
  append({place(tables), place(frame)});
  append(filling);
  append({place(frame), plain.end()});

  const Image whole = plain_decode(bytes);
  REQUIRE(whole == plain_decode(plain));
  const auto decoding = jpeg_decoder()->start();
  Numbers numbers(1);
  for (int n = 0; n < 20; ++n) {
    const Box box = random_box(numbers, shape, 20);
    CAPTURE(box.top, box.left, box.height, box.width);
    REQUIRE(decode(*decoding, bytes, box) == cut(whole, box));
  }
}

namespace {

struct Outcome {
  std::optional<Image> image;
  Errc code{};
};

Outcome outcome_of(ImageDecoding& decoding, const Bytes& bytes, const Box& box) {
  try {
    return {decode(decoding, bytes, box), {}};
  } catch (const Error& error) {
    // A size that was changed may leave the box outside.
    if (error.code() != Errc::invalid_argument) {
      REQUIRE(error.sample_scoped());
      REQUIRE(std::string(error.what()).find('\n') == std::string::npos);
      if (error.offset()) REQUIRE(*error.offset() <= bytes.size());
    }
    return {{}, error.code()};
  }
}

std::optional<Image> full_decode(const Bytes& bytes) {
  try {
    return plain_decode(bytes);
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
}

constexpr int marker_damages = 10;

// Damage to the markers that any crop must notice, wherever in the file it is.
Bytes damage_markers(Pieces pieces, int kind, Numbers& numbers) {
  const auto last = static_cast<std::int32_t>(pieces.segments.size()) - 1;
  const std::int32_t i = numbers.below(last), j = numbers.below(last);
  const auto s = static_cast<std::size_t>(i), t = static_cast<std::size_t>(j);
  const auto erase = [&](std::size_t first, std::ptrdiff_t count) {
    const auto at = static_cast<std::ptrdiff_t>(first);
    pieces.segments.erase(pieces.segments.begin() + at, pieces.segments.begin() + at + count);
    pieces.markers.erase(pieces.markers.begin() + at, pieces.markers.begin() + at + count);
  };
  switch (kind) {
    case 0:  // a marker is missing
      pieces.markers[s].clear();
      break;
    case 1:  // a segment and its marker
      erase(s, 1);
      break;
    case 2:  // eight of them, so that the numbers still agree
      erase(static_cast<std::size_t>(numbers.below(last - 8)), 8);
      break;
    case 3:  // a marker twice
      pieces.markers[s].insert(pieces.markers[s].end(), pieces.markers[s].begin(), pieces.markers[s].end());
      break;
    case 4:  // a segment twice, with its marker
      pieces.segments.insert(pieces.segments.begin() + i, pieces.segments[s]);
      pieces.markers.insert(pieces.markers.begin() + i, pieces.markers[s]);
      break;
    case 5:  // another number
      pieces.markers[s][1] ^= static_cast<std::byte>(numbers.from(1, 7));
      break;
    case 6:  // two markers exchanged
      if ((i - j) % 8 == 0) pieces.markers[s].clear();
      std::swap(pieces.markers[s], pieces.markers[t]);
      break;
    case 7: {  // a marker in the data
      const Bytes fake{std::byte{0xff}, static_cast<std::byte>(0xd0 | numbers.below(8))};
      Bytes& data = pieces.segments[s];
      std::int32_t at = numbers.below(static_cast<std::int32_t>(data.size()));
      if (at > 0 && data[static_cast<std::size_t>(at) - 1] == std::byte{0xff}) --at;
      data.insert(data.begin() + at, fake.begin(), fake.end());
      break;
    }
    case 8: {  // the file ends early
      Bytes bytes = pieces.join();
      bytes.resize(bytes.size() - static_cast<std::size_t>(
                                      numbers.from(2, static_cast<std::int32_t>(bytes.size() - pieces.header.size()))));
      return bytes;
    }
    default:  // eight segments too many
      for (std::size_t k = 0; k < 8; ++k) {
        pieces.segments.insert(pieces.segments.begin() + i, pieces.segments[s]);
        pieces.markers.insert(pieces.markers.begin() + i, pieces.markers[s]);
      }
      for (std::size_t k = 0; k + 1 < pieces.markers.size(); ++k)
        pieces.markers[k][1] = static_cast<std::byte>(0xd0 | (k & 7));
      break;
  }
  return pieces.join();
}

// Damage that may be seen, or leave a file that is whole.
Bytes damage_bytes(const Pieces& pieces, int kind, Numbers& numbers) {
  Pieces changed = pieces;
  const auto any = [&](std::size_t size) {
    return static_cast<std::size_t>(numbers.below(static_cast<std::int32_t>(size)));
  };
  switch (kind) {
    case 0: {  // a bit of the data
      Bytes& data = changed.segments[any(changed.segments.size())];
      data[any(data.size())] ^= static_cast<std::byte>(1 << numbers.below(8));
      break;
    }
    case 1:  // a byte of the header
      changed.header[any(changed.header.size())] = static_cast<std::byte>(numbers.next());
      break;
    case 2: {  // the restart interval
      const std::size_t at = place_after(changed.join(), 0xdd);
      changed.header[at - 1] = static_cast<std::byte>(numbers.below(30));
      break;
    }
    case 3: {  // the size
      const std::size_t frame = place_after(changed.join(), 0xc0);
      changed.header[frame - (numbers.coin() ? 13 : 11)] = static_cast<std::byte>(numbers.from(1, 200));
      break;
    }
    case 4:  // two segments exchanged, not their markers
      std::swap(changed.segments[any(changed.segments.size())], changed.segments[any(changed.segments.size())]);
      break;
    default: {  // some bytes anywhere
      Bytes bytes = changed.join();
      for (int n = numbers.from(1, 4); n > 0; --n) bytes[any(bytes.size())] = static_cast<std::byte>(numbers.next());
      return bytes;
    }
  }
  return changed.join();
}

}  // namespace

TEST_CASE("markers that are not exactly those of the image's size are an error in every crop") {
  const ImageShape shape{80, 96, 3};
  const auto decoding = jpeg_decoder()->start();
  std::size_t crops = 0;
  for (const int interval : {1, 2, 3}) {
    const Bytes bytes = plain_encode(photo(shape, 1, 30), {.luma = {1, 1}, .restart_interval = interval});
    const Pieces pieces(bytes);
    REQUIRE(pieces.join() == bytes);
    REQUIRE(pieces.segments.size() == static_cast<std::size_t>(120 / interval));
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
      for (int kind = 0; kind < marker_damages; ++kind) {
        CAPTURE(interval, seed, kind);
        Numbers numbers(seed * 100 + static_cast<std::uint64_t>(kind));
        const Bytes damaged = damage_markers(pieces, kind, numbers);
        for (int n = 0; n < 3; ++n, ++crops) {
          Box box = random_box(numbers, shape, 20);
          box.height = std::max(box.height, 10);
          box.top = std::min(box.top, shape.height - box.height);
          CAPTURE(box.top, box.left, box.height, box.width);
          const Outcome outcome = outcome_of(*decoding, damaged, box);
          REQUIRE_FALSE(outcome.image);
          REQUIRE(outcome.code == Errc::corrupt);
        }
      }
    }
  }
  std::printf("excerpts: %zu crops of files with damaged markers\n", crops);
}

TEST_CASE("a damaged JPEG gives the pixels of a whole decode, or an error") {
  const auto decoding = jpeg_decoder()->start();
  std::size_t errors = 0, images = 0, whole = 0;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    CAPTURE(seed);
    Numbers numbers(seed);
    const ImageShape shape{60 + static_cast<std::int32_t>(seed % 3), 96, 3};
    const auto& luma = all_factors[seed % 4];
    const Pieces pieces(
        plain_encode(photo(shape, seed % 3, 30), {.luma = luma, .restart_interval = static_cast<int>(1 + seed % 3)}));
    const Bytes damaged = damage_bytes(pieces, static_cast<int>(seed % 6), numbers);
    const std::optional<Image> expected = full_decode(damaged);
    whole += expected.has_value();
    for (int n = 0; n < 3; ++n) {
      const Box box = random_box(numbers, shape, 24);
      const Outcome outcome = outcome_of(*decoding, damaged, box);
      (outcome.image ? images : errors) += 1;
      if (!outcome.image || !expected) continue;
      REQUIRE(*outcome.image == cut(*expected, box));
    }
  }
  std::printf("excerpts: 6000 damaged files, %zu of them whole for libjpeg; %zu crops, %zu errors\n", whole, images,
              errors);
  CHECK(whole > 1000);
  CHECK(errors > 1000);
}

TEST_CASE("an error in a crop says where in the file it is") {
  const ImageShape shape{80, 96, 3};
  const auto decoding = jpeg_decoder()->start();
  Pieces pieces(plain_encode(photo(shape, 1, 30), {.luma = {1, 1}, .restart_interval = 2}));
  pieces.segments[40].resize(2);
  std::size_t at = pieces.header.size();
  for (std::size_t s = 0; s < 40; ++s) at += pieces.segments[s].size() + 2;
  // Segments 36 to 41 make the row of pixels 48 to 55.
  try {
    decode(*decoding, pieces.join(), {50, 60, 8, 20});
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::corrupt);
    CHECK(error.offset().value() >= at);
    CHECK(error.offset().value() <= at + 8);
  }
  CHECK_NOTHROW(decode(*decoding, pieces.join(), {2, 2, 20, 20}));
}

TEST_CASE("accepted damage looks the same in a crop as in the whole image") {
  const ImageShape shape{80, 96, 3};
  const Pieces pieces(plain_encode(photo(shape, 1, 30), {.luma = {1, 1}, .restart_interval = 2}));
  const auto lenient = jpeg_decoder({.accept_warnings = true})->start();
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (int kind = 0; kind < marker_damages; ++kind) {
      CAPTURE(seed, kind);
      Numbers numbers(seed * 100 + static_cast<std::uint64_t>(kind));
      const Bytes damaged = damage_markers(pieces, kind, numbers);
      const Image guessed = decode(*lenient, damaged, {0, 0, 80, 96});
      const Box box = random_box(numbers, shape, 20);
      REQUIRE(decode(*lenient, damaged, box) == cut(guessed, box));
    }
  }
}

TEST_CASE("a crop takes little memory beside its pixels and the file") {
  const ImageShape shape{800, 1600, 3};
  const Bytes bytes = seekable_jpeg(plain_encode(photo(shape, 1, 30), {}));
  const auto decoding = jpeg_decoder()->start();
  TestScratch scratch;
  decoding->open(bytes);
  decoding->decode({700, 900, 64, 64}, false, nullptr, scratch);
  CHECK(scratch.bytes() <= bytes.size() + std::size_t{64} * (64 + 64) * 3);
  // A size that the bytes can't hold is refused before any memory is taken.
  Bytes lying = plain_encode(photo({64, 64, 1}, 1, 30), {.luma = {1, 1}, .restart_interval = 1});
  const std::size_t frame = place_after(lying, 0xc0);
  lying[frame - 8] = lying[frame - 6] = std::byte{3};
  TestScratch untouched;
  decoding->open(lying);
  CHECK_THROWS_AS(decoding->decode({500, 500, 20, 20}, false, nullptr, untouched), Error);
  CHECK(untouched.bytes() == 0);
}

}  // namespace PENSTOCK_TEST_FILE
