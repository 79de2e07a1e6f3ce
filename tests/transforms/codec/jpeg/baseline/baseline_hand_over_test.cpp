// SPDX-License-Identifier: Apache-2.0
// What is left to libjpeg, and what is easy to miss.
#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <vector>

#include <jpeglib.h>

#include "codec/jpeg/baseline/table_cache.hpp"
#include "core/help.hpp"
#include "transforms/codec/jpeg/baseline/core.hpp"

using namespace penstock;
using namespace penstock_test;
using jpeg::baseline::HandOverReason;

namespace {

std::optional<HandOverReason> reason(const Bytes& bytes, const Box& box, bool to_end = false, bool gray = false) {
  Core core;
  return core.decode(bytes, box, to_end, gray).reason;
}

constexpr Box corner{0, 0, 1, 1};

bool warns(const Bytes& bytes, const Box& box, bool to_end = false) {
  try {
    plain_crop(bytes, box, false, to_end);
    return false;
  } catch (const std::runtime_error&) {
    return true;
  }
}

std::size_t scan_of(const Bytes& bytes) {
  const std::size_t at = after_marker(bytes, 0xda);
  return at + (std::to_integer<std::size_t>(bytes[at]) << 8) + std::to_integer<std::size_t>(bytes[at + 1]);
}

// Where the `n`-th restart marker is, from 0 on.
std::size_t restart(const Bytes& bytes, int n) {
  for (std::size_t i = scan_of(bytes); i + 1 < bytes.size(); ++i)
    if (bytes[i] == std::byte{0xff} && (bytes[i + 1] & std::byte{0xf8}) == std::byte{0xd0} && n-- == 0) return i;
  FAIL("there are not so many");
  return 0;
}

// A grey file of blocks that `fill(block, coefficients)` sets, quantised by `step`.
template <class Fill>
Bytes of_blocks(int across, int step, Fill&& fill) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;  // NOLINT(google-runtime-int): libjpeg's type
  jpeg_mem_dest(&info, &buffer, &size);
  info.image_width = static_cast<JDIMENSION>(8 * across);
  info.image_height = 8;
  info.input_components = 1;
  info.in_color_space = JCS_GRAYSCALE;
  jpeg_set_defaults(&info);
  for (UINT16& q : info.quant_tbl_ptrs[0]->quantval) q = static_cast<UINT16>(step);
  info.optimize_coding = TRUE;
  info.comp_info[0].width_in_blocks = static_cast<JDIMENSION>(across);
  info.comp_info[0].height_in_blocks = 1;
  jvirt_barray_ptr array = (*info.mem->request_virt_barray)(reinterpret_cast<j_common_ptr>(&info), JPOOL_IMAGE, TRUE,
                                                            static_cast<JDIMENSION>(across), 1, 1);
  jpeg_write_coefficients(&info, &array);
  JBLOCKARRAY rows = (*info.mem->access_virt_barray)(reinterpret_cast<j_common_ptr>(&info), array, 0, 1, TRUE);
  for (int i = 0; i < across; ++i) fill(i, rows[0][i]);
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  const auto* first = reinterpret_cast<const std::byte*>(buffer);
  Bytes out(first, first + size);
  std::free(buffer);
  return out;
}

}  // namespace

TEST_CASE("each kind of file that is not for the baseline decoder is left to libjpeg, with its reason") {
  const Image rgb = photo({40, 50, 3}), gray = photo({40, 50, 1});
  CHECK(reason(plain_encode(rgb, {.progressive = true}), corner) == HandOverReason::kind);
  CHECK(reason(plain_encode(photo({40, 50, 4}), {.colors = PlainJpeg::cmyk}), corner) == HandOverReason::colors);
  CHECK(reason(plain_encode(rgb, {.luma = {1, 1}, .colors = PlainJpeg::rgb, .jfif = false, .adobe = true}), corner,
               false, true) == HandOverReason::colors);
  CHECK(reason(plain_encode(rgb, {.one_scan_each = true}), corner) == HandOverReason::scans);
  CHECK(reason(plain_encode(rgb, {.luma = {4, 1}}), corner) == HandOverReason::sampling);
  CHECK(reason(plain_encode(rgb, {.luma = {1, 4}}), corner) == HandOverReason::sampling);
  CHECK(reason(plain_encode(rgb, {.luma = {2, 2}, .colors = PlainJpeg::rgb, .jfif = false, .adobe = true}), corner) ==
        HandOverReason::sampling);
  Bytes unlike = plain_encode(rgb, {.luma = {2, 2}});
  unlike[after_marker(unlike, 0xc0) + 15] = std::byte{0x21};  // the factors of the last component
  CHECK(reason(unlike, corner) == HandOverReason::sampling);
  // Grey of YCbCr is luma, whatever the chroma.
  CHECK_FALSE(reason(plain_encode(rgb, {}), corner, true, true));
  CHECK_FALSE(reason(plain_encode(gray, {.luma = {4, 4}}), corner, true));
}

TEST_CASE("zeros for the parameters of a scan, which libjpeg warns of, are left to it") {
  Bytes bytes = plain_encode(photo({20, 20, 3}), {});
  const std::size_t scan = scan_of(bytes);
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(scan) - 3, bytes.begin() + static_cast<std::ptrdiff_t>(scan),
            std::byte{0});
  CHECK(warns(bytes, corner));
  CHECK(reason(bytes, corner) == HandOverReason::scans);
}

TEST_CASE("a file without tables is not decoded with those of the one before it") {
  Core core;
  REQUIRE(core.decode(plain_encode(photo({64, 64, 3}), {.optimized = true})).pixels);
  Bytes bare = plain_encode(photo({64, 64, 3}), {});
  for (int table = 0; table < 4; ++table) {
    const std::size_t at = after_marker(bare, 0xc4);
    const std::size_t length = std::to_integer<std::size_t>(bare[at]) << 8 | std::to_integer<std::size_t>(bare[at + 1]);
    const auto begin = bare.begin() + static_cast<std::ptrdiff_t>(at);
    bare.erase(begin - 2, begin + static_cast<std::ptrdiff_t>(length));
  }
  CHECK(core.decode(bare).reason == HandOverReason::tables);
}

TEST_CASE("a table of differences with symbols that libjpeg refuses is left to it, others only where they are used") {
  const Bytes good = plain_encode(photo({64, 64, 1}), {});
  const std::size_t table = after_marker(good, 0xc4) + 2;
  REQUIRE(good[table] == std::byte{0});  // differences, the standard's: 12 symbols after 16 counts
  Bytes bad = good;
  bad[table + 17 + 11] = std::byte{16};
  CHECK(warns(bad, corner));
  CHECK(reason(bad, corner) == HandOverReason::tables);
  bad[table + 17 + 11] = std::byte{15};  // as large a difference is in no picture of 8 bits
  CHECK_FALSE(warns(bad, corner, true));
  CHECK_FALSE(reason(bad, corner, true));
}

TEST_CASE("coefficients beyond libjpeg's shortcuts are left to it") {
  // A first row alone, and nothing but the first coefficient: its shortcut wraps, the whole transform of x86 does not.
  for (const bool alone : {false, true}) {
    const auto file = [&](int first, int step) {
      return of_blocks(6, step, [&](int i, JCOEF* block) {
        block[0] = static_cast<JCOEF>(i % 2 == 0 ? first : 0);
        if (!alone) block[1] = 3;
      });
    };
    for (const int first : {1500, -1500}) {
      const Bytes far = file(first, 16), near = file(first / 8, 16);
      CHECK(reason(far, {0, 0, 8, 48}, true) == HandOverReason::range);
      Core core;
      const Outcome outcome = core.decode(near, {0, 0, 8, 48}, true);
      REQUIRE(outcome.pixels);
      CHECK(*outcome.pixels == plain_crop(near, {0, 0, 8, 48}));
    }
  }
}

TEST_CASE("coefficients of any size have libjpeg's pixels in reduced images, or are left to it") {
  Numbers numbers(12);
  Core core;
  for (const int denominator : {1, 2, 4, 8}) {
    int equal = 0, left = 0;
    for (int i = 0; i < 2000; ++i) {
      const int largest = numbers.from(1, numbers.coin() ? 60 : 1023),
                step = numbers.from(1, numbers.coin() ? 20 : 255);
      const int many = numbers.from(0, 63);
      const Bytes file = of_blocks(6, step, [&](int, JCOEF* block) {
        block[0] = static_cast<JCOEF>(numbers.from(-largest, largest));
        for (int k = 0; k < many; ++k) block[numbers.from(1, 63)] = static_cast<JCOEF>(numbers.from(-largest, largest));
      });
      const Box all{0, 0, 8 / denominator, 48 / denominator};
      const Outcome outcome = core.decode(file, all, true, false, denominator);
      INFO("at 1/" << denominator << ", file " << i << ", up to " << largest << " x " << step);
      if (outcome.reason) {
        REQUIRE(outcome.reason == HandOverReason::range);
        ++left;
        continue;
      }
      REQUIRE(outcome.pixels);
      REQUIRE(*outcome.pixels == plain_crop(file, all, false, true, denominator));
      ++equal;
    }
    CHECK(equal > 500);
    CHECK(left > 100);
  }
}

TEST_CASE("first coefficients that leave 16 bits are left to libjpeg, also where they are passed over") {
  // Differences of 1000 and -1000 in turn. A block takes 12 bits: a code of 1 bit, 10 bits, and 1 bit for its end.
  constexpr int blocks = 70;
  const Bytes good =
      of_blocks(blocks, 1, [](int i, JCOEF* block) { block[0] = static_cast<JCOEF>(i % 2 == 0 ? 1000 : 0); });
  Bytes bytes = good;
  const std::size_t scan = scan_of(bytes);
  for (int i = 1; i < blocks; i += 2) {
    // Its sign: -1000 becomes 535, so that two blocks add 1535.
    const int bit = 12 * i + 1;
    bytes[scan + static_cast<std::size_t>(bit / 8)] |= static_cast<std::byte>(0x80 >> bit % 8);
  }
  for (const Box& box : {Box{0, 0, 8, 8 * blocks}, corner}) {
    CHECK_FALSE(warns(bytes, box));
    CHECK(reason(bytes, box) == HandOverReason::range);
    CHECK_FALSE(reason(good, box, true));
  }
}

TEST_CASE("damage where libjpeg decodes though no pixel needs it is noticed") {
  // Smooth upsampling of the last two rows of a row of MCUs makes it read the next one.
  for (const std::array<int, 2> luma : {std::array{2, 2}, std::array{1, 2}}) {
    Bytes bytes = plain_encode(photo({64, 64, 3}), {.luma = luma, .restart_interval = luma[0] == 2 ? 4 : 8});
    // The second row begins with another marker than its own.
    bytes[restart(bytes, 0) + 1] ^= std::byte{1};
    for (std::int32_t last = 0; last < 24; ++last) {
      const Box box{0, 0, last + 1, 64};
      INFO("luma " << luma[0] << "x" << luma[1] << ", rows to " << last);
      CHECK(reason(bytes, box).has_value() == warns(bytes, box));
    }
    CHECK(warns(bytes, {0, 0, 15, 64}));
    CHECK_FALSE(warns(bytes, {0, 0, 14, 64}));
  }
  // Several rows of blocks of a single component belong together.
  Bytes bytes = plain_encode(photo({64, 64, 1}), {.luma = {1, 2}, .restart_interval = 8});
  bytes[restart(bytes, 0) + 1] ^= std::byte{1};
  CHECK(warns(bytes, corner));
  CHECK(reason(bytes, corner));
}

TEST_CASE("restart markers that are lost, exchanged or late, and data before them, are left to libjpeg") {
  const Bytes good = plain_encode(photo({64, 64, 3}), {.restart_interval = 1});
  const Box all{0, 0, 64, 64};
  REQUIRE_FALSE(reason(good, all, true));
  const std::size_t third = restart(good, 2);
  const auto place = [&](Bytes& bytes) { return bytes.begin() + static_cast<std::ptrdiff_t>(third); };
  Bytes bad = good;
  bad[third + 1] ^= std::byte{1};
  CHECK(reason(bad, all) == HandOverReason::marker);
  bad = good;
  bad.erase(place(bad), place(bad) + 2);
  CHECK(reason(bad, all));
  bad = good;
  bad.insert(place(bad), 3, std::byte{0x12});
  CHECK(reason(bad, all) == HandOverReason::marker);
  bad = good;
  bad.insert(place(bad), 1, std::byte{0xff});  // fills up, which libjpeg allows
  CHECK(reason(bad, all) == HandOverReason::marker);
}

TEST_CASE("data left over between restart markers is an error in the crops that go through it") {
  Bytes bad = plain_encode(photo({256, 256, 3}), {.restart_interval = 1});
  constexpr int row = 6, column = 6, mcu = 16, across = 256 / mcu;
  const std::size_t place = restart(bad, row * across + column);
  bad.insert(bad.begin() + static_cast<std::ptrdiff_t>(place), 3, std::byte{0x12});
  for (const auto by : {JpegOptions::Decoder::automatic, JpegOptions::Decoder::libjpeg}) {
    JpegOptions options;
    options.decoder = by;
    const auto decoding = jpeg_decoder(options)->start();
    decoding->open(bad);
    TestScratch scratch;
    const Box here{row * mcu, (column - 1) * mcu, 2 * mcu, 3 * mcu}, elsewhere{mcu, mcu, 2 * mcu, 2 * mcu};
    const auto error = help::error_of([&] { decoding->decode(here, false, nullptr, scratch); });
    REQUIRE(error);
    CHECK(error->code() == Errc::corrupt);
    CHECK_FALSE(help::error_of([&] { decoding->decode(elsewhere, false, nullptr, scratch); }));
  }
}

TEST_CASE("data that ends early is left to libjpeg, where it may notice") {
  const Bytes good = plain_encode(photo({64, 64, 3}), {});
  const Box all{0, 0, 64, 64};
  for (std::size_t size = scan_of(good); size < good.size(); ++size) {
    const Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK(reason(cut, all, true));
    for (const Box& box : {all, Box{0, 0, 8, 64}, Box{16, 5, 20, 9}})
      if (warns(cut, box) && !reason(cut, box)) FAIL(size << " bytes of " << good.size());
  }
  // Another end than the image's.
  Bytes longer = good;
  longer.insert(longer.end() - 2, 2, std::byte{0x55});
  CHECK(reason(longer, all, true) == HandOverReason::marker);
  CHECK_FALSE(reason(longer, all));
}

TEST_CASE("tables of many files are kept in turn, and those of a frame stay") {
  jpeg::baseline::TableCache cache;
  // A code of one symbol.
  const auto table = [](int symbol) {
    JHUFF_TBL t{};
    t.bits[3] = 1;
    t.huffval[0] = static_cast<UINT8>(symbol);
    return t;
  };
  const auto ac = [&](int i) { return table(16 * (i / 10 % 16) + 1 + i % 10); };
  constexpr int most = static_cast<int>(jpeg::baseline::TableCache::most);
  static_assert(most > 3);
  const auto* const first = cache.dc(table(0));
  const auto* const second = cache.ac(ac(0));
  for (int i = 1; i < most; ++i) CHECK(cache.ac(ac(i)) != nullptr);
  CHECK(cache.ac(ac(0)) == second);
  // What was not used for longest goes, and what was just used stays. A table may be made where another one was: so
  // their number varies.
  for (int i = most, others = 2; i < 150; i += others, others = others % 3 + 1) {
    for (int k = i; k < i + others; ++k) CHECK(cache.ac(ac(k)) != nullptr);
    CHECK(cache.ac(ac(0)) == second);
  }
  CHECK(cache.dc(table(0)) == first);
  CHECK(first->code().symbols[0] == 0);
  CHECK(second->code().symbols[0] == 1);
  // Files with tables of their own, more of them than are kept, in turn.
  Core core;
  std::vector<Bytes> files;
  for (int i = 0; i < 2 * most; ++i)
    files.push_back(
        plain_encode(photo({40, 40, 3}, static_cast<std::uint64_t>(i)), {.quality = 20 + 3 * i, .optimized = true}));
  for (int round = 0; round < 2; ++round) {
    for (const Bytes& file : files) {
      const Outcome outcome = core.decode(file);
      REQUIRE(outcome.pixels);
      REQUIRE(*outcome.pixels == plain_decode(file));
    }
  }
}
