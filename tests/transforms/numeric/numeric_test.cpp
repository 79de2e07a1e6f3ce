// SPDX-License-Identifier: Apache-2.0
// Numbers as another dtype, and classes as ones and zeros.
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>

#include <penstock/extend/bfloat16.hpp>
#include <penstock/extend/half.hpp>
#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>
#include <penstock/transforms/numeric.hpp>

#include "support/catch.hpp"
#include "support/thrown.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

template <class From>
Memory memory(const std::vector<From>& values) {
  auto bytes = std::make_shared<std::vector<std::byte>>(values.size() * sizeof(From));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const From value = values[i];
    std::memcpy(bytes->data() + i * sizeof value, &value, sizeof value);
  }
  Memory m;
  m.add({"x", dtype_of<From>, {}}, bytes->data(), values.size(), bytes);
  return m;
}

// Each value on its own: what becomes of it, or the error's code.
template <class To, class From>
std::optional<To> cast_one(From value) {
  const Pipeline p = from(memory<From>({value})) | cast("x", dtype_of<To>);
  CHECK(p.schema()[0].dtype == dtype_of<To>);
  try {
    const OwnedSample sample = p.at(0);
    return *sample["x"].as<const To, 0>().data();
  } catch (const Error& error) {
    CHECK(error.code() == Errc::unsupported);
    CHECK(error.stage() == "cast(x)");
    CHECK(error.index() == std::uint64_t{0});
    return std::nullopt;
  }
}

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("integers become others that have them, and no others") {
  CHECK(cast_one<std::int64_t>(std::uint8_t{255}) == 255);
  CHECK(cast_one<std::uint8_t>(std::int64_t{255}) == std::uint8_t{255});
  CHECK(!cast_one<std::uint8_t>(std::int64_t{256}));
  CHECK(!cast_one<std::uint8_t>(std::int64_t{-1}));
  CHECK(cast_one<std::int8_t>(std::int64_t{-128}) == std::int8_t{-128});
  CHECK(!cast_one<std::int8_t>(std::int64_t{-129}));
  CHECK(!cast_one<std::int64_t>(~std::uint64_t{0}));
  CHECK(cast_one<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) == ~std::uint64_t{0} >> 1);
  CHECK(!cast_one<std::int32_t>(std::uint32_t{1} << 31));
}

TEST_CASE("fractions are cut off, and what an integer does not have is a bad sample") {
  CHECK(cast_one<std::int32_t>(2.9f) == 2);
  CHECK(cast_one<std::int32_t>(-2.9) == -2);
  CHECK(cast_one<std::uint8_t>(-0.9f) == std::uint8_t{0});
  CHECK(cast_one<std::uint8_t>(255.9f) == std::uint8_t{255});
  CHECK(!cast_one<std::uint8_t>(256.0f));
  CHECK(!cast_one<std::uint8_t>(-1.0f));
  CHECK(cast_one<std::int8_t>(-128.5) == std::int8_t{-128});
  CHECK(!cast_one<std::int8_t>(-129.0));
  CHECK(!cast_one<std::int64_t>(not_a_number));
  CHECK(!cast_one<std::int64_t>(inf));
  CHECK(cast_one<std::int64_t>(-0x1p63) == std::numeric_limits<std::int64_t>::min());
  CHECK(!cast_one<std::int64_t>(0x1p63));
  CHECK(cast_one<std::uint64_t>(0x1p63f) == std::uint64_t{1} << 63);
  CHECK(!cast_one<std::uint64_t>(0x1p64f));
  CHECK(cast_one<std::uint16_t>(Half{to_half(1000.5f)}) == std::uint16_t{1000});
  CHECK(!cast_one<std::int16_t>(Half{0x7c00}));
}

TEST_CASE("floating numbers become the nearest, and what is too large becomes infinite") {
  CHECK(cast_one<float>(0.1) == 0.1f);
  CHECK(cast_one<float>(1e300) == inf);
  CHECK(cast_one<float>((std::int64_t{1} << 24) + 1) == 0x1p24f);
  CHECK(cast_one<double>(0.1f) == static_cast<double>(0.1f));
  CHECK(cast_one<Half>(1.0f)->bits == 0x3c00);
  CHECK(cast_one<Half>(70'000)->bits == 0x7c00);
  CHECK(cast_one<Half>(std::int64_t{-3})->bits == to_half(-3.0f));
  CHECK(std::isnan(from_half(cast_one<Half>(static_cast<double>(not_a_number))->bits)));
  // Rounded once: by way of a float this would be the even neighbour.
  const double above_middle = 1 + 0x1p-11 + 0x1p-40;
  CHECK(cast_one<Half>(above_middle)->bits == 0x3c01);
  CHECK(cast_one<Half>(1 + 0x1p-11)->bits == 0x3c00);
  CHECK(cast_one<Half>(0x1p-25 + 0x1p-60)->bits == 1);
  CHECK(cast_one<Half>(0x1p-25)->bits == 0);
  CHECK(cast_one<Half>(-0.0)->bits == 0x8000);
  CHECK(cast_one<Half>(65519.99)->bits == 0x7bff);
  CHECK(cast_one<Half>(65520.0)->bits == 0x7c00);
}

TEST_CASE("every half is a float that is this half") {
  std::size_t wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = from_half(static_cast<std::uint16_t>(bits));
    const bool is_nan = (bits & 0x7c00) == 0x7c00 && (bits & 0x3ff) != 0;
    wrong += std::isnan(value) != is_nan;
    if (is_nan) continue;
    wrong += to_half(value) != bits;
    wrong += to_half(static_cast<double>(value)) != bits;
  }
  CHECK(wrong == 0);
}

TEST_CASE("every bfloat16 is a float that is this bfloat16") {
  std::size_t wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = from_bfloat16(static_cast<std::uint16_t>(bits));
    const bool is_nan = (bits & 0x7f80) == 0x7f80 && (bits & 0x7f) != 0;
    wrong += std::isnan(value) != is_nan;
    if (is_nan) {
      wrong += !std::isnan(from_bfloat16(to_bfloat16(value)));
      continue;
    }
    wrong += to_bfloat16(value) != bits;
    wrong += to_bfloat16(static_cast<double>(value)) != bits;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a number becomes the nearest bfloat16, rounded once") {
  // Between neighbours, of either sign: the middle goes to the even one, what is next to it to the nearer one.
  std::size_t wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x7f7f; ++bits) {
    const double low = static_cast<double>(from_bfloat16(static_cast<std::uint16_t>(bits)));
    const double high = static_cast<double>(from_bfloat16(static_cast<std::uint16_t>(bits + 1)));
    const double middle = low + (high - low) / 2;
    const std::uint32_t even = bits + bits % 2;
    for (const std::uint32_t sign : {0u, 0x8000u}) {
      const double s = sign != 0 ? -1 : 1;
      wrong += to_bfloat16(s * middle) != (even | sign);
      wrong += to_bfloat16(s * std::nextafter(middle, 0.0)) != (bits | sign);
      wrong += to_bfloat16(s * std::nextafter(middle, 1e300)) != ((bits + 1) | sign);
      wrong += to_bfloat16(static_cast<float>(s * middle)) != (even | sign);
      const auto half = static_cast<float>(middle);
      wrong += to_bfloat16(static_cast<float>(s) * std::nextafter(half, 0.0f)) != (bits | sign);
      wrong += to_bfloat16(static_cast<float>(s) * std::nextafter(half, inf)) != ((bits + 1) | sign);
    }
  }
  CHECK(wrong == 0);
  CHECK(to_bfloat16(1e300) == 0x7f80);
  CHECK(to_bfloat16(-1e300) == 0xff80);
  CHECK(to_bfloat16(std::numeric_limits<float>::max()) == 0x7f80);
  CHECK(to_bfloat16(1e-300) == 0);
  CHECK(to_bfloat16(-1e-300) == 0x8000);
  CHECK(cast_one<BFloat16>(1.0f)->bits == 0x3f80);
  CHECK(cast_one<BFloat16>(std::int64_t{-3})->bits == to_bfloat16(-3.0f));
  // Of 8 digits, the middle between 2^62 and the next bfloat16, and its neighbours; a double has only the middle.
  constexpr std::int64_t middle = (std::int64_t{1} << 62) + (std::int64_t{1} << 54);
  for (const std::int64_t sign : {1, -1}) {
    CHECK(cast_one<BFloat16>(sign * middle)->bits == to_bfloat16(static_cast<double>(sign) * 0x1p62));
    CHECK(cast_one<BFloat16>(sign * (middle - 1))->bits == to_bfloat16(static_cast<double>(sign) * 0x1p62));
    CHECK(cast_one<BFloat16>(sign * (middle + 1))->bits == to_bfloat16(static_cast<double>(sign) * 0x1.02p62));
  }
  CHECK(cast_one<BFloat16>((std::uint64_t{1} << 63) + (std::uint64_t{1} << 55) + 1)->bits == to_bfloat16(0x1.02p63));
  CHECK(cast_one<BFloat16>(std::numeric_limits<std::uint64_t>::max())->bits == to_bfloat16(0x1p64));
  CHECK(cast_one<BFloat16>(std::numeric_limits<std::int64_t>::min())->bits == to_bfloat16(-0x1p63));
  CHECK(cast_one<float>(BFloat16{0x3fc0}) == 1.5f);
  CHECK(cast_one<std::int32_t>(BFloat16{0x40a0}) == 5);
  CHECK(cast_one<Half>(BFloat16{0x3f80})->bits == 0x3c00);
  CHECK(std::isnan(from_bfloat16(cast_one<BFloat16>(static_cast<double>(not_a_number))->bits)));
  CHECK(cast_one<BFloat16>(true)->bits == 0x3f80);
}

TEST_CASE("booleans are 0 and 1, and all but 0 is true") {
  CHECK(cast_one<bool>(0.5f) == true);
  CHECK(cast_one<bool>(not_a_number) == true);
  CHECK(cast_one<bool>(-0.0) == false);
  CHECK(cast_one<bool>(Half{0x8000}) == false);
  CHECK(cast_one<bool>(std::uint8_t{2}) == true);
  CHECK(cast_one<std::int32_t>(true) == 1);
  CHECK(cast_one<float>(true) == 1.0f);
  CHECK(cast_one<Half>(true)->bits == 0x3c00);
}

TEST_CASE("a cast keeps the shape, writes into the batch, and says what it can't do") {
  Memory m;
  m.add<std::uint8_t>("x", {2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const Pipeline p = from(m) | cast("x", DType::f64);
  CHECK(p.schema().to_string() == "{x: f64[2, 3]}");
  CHECK(p.fingerprint() != (from(m) | cast("x", DType::f32)).fingerprint());
  Loader loader(p | batch(2), {.epochs = 1});
  for (Batch& batch : loader.epoch()) CHECK(batch.view<double, 3>("x")(1, 1, 2) == 12);
  CHECK(loader.report().copied_bytes == 0);
  const Error error = error_of([&] { (void)(from(memory<std::int32_t>({300})) | cast("x", DType::u8)).at(0); });
  CHECK(error.cause() == "element 0 of [] is 300, which u8 does not have");
  CHECK(code_of([&] { (void)(from(m) | cast("y", DType::u8)); }) == Errc::schema_mismatch);
  // A cache may hold it, as its version is known.
  CHECK_NOTHROW(p | cache({.max_bytes = MiB(1)}));
}

TEST_CASE("classes become ones and zeros") {
  Memory m;
  m.add<std::int64_t>("label", {}, {2, 0, 3});
  const Pipeline p = from(m) | one_hot("label", 4);
  CHECK(p.schema().to_string() == "{label: f32[4]}");
  Loader loader(p | batch(3), {.epochs = 1});
  const std::vector<float> expected = {0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1};
  for (Batch& batch : loader.epoch()) {
    const auto rows = batch.view<float, 2>("label");
    CHECK(std::vector<float>(rows.begin(), rows.end()) == expected);
  }
  CHECK(loader.report().copied_bytes == 0);
  const Pipeline halves = from(m) | one_hot("label", 4, {.dtype = DType::f16});
  CHECK(halves.at(1)["label"].as<Half, 1>()(0).bits == 0x3c00);
  const Pipeline brains = from(m) | one_hot("label", 4, {.dtype = DType::bf16});
  CHECK(brains.at(1)["label"].as<BFloat16, 1>()(0).bits == 0x3f80);
  CHECK((from(m) | one_hot("label", 4, {.dtype = DType::boolean})).at(0)["label"].as<bool, 1>()(2));
  CHECK(halves.fingerprint() != p.fingerprint());
}

TEST_CASE("classes of a field of any length and type become rows of ones and zeros") {
  struct Texts {
    std::uint64_t size() const { return 4; }
    Schema schema() const { return {{"tokens", DType::u8, {dynamic}}}; }
    void read(std::uint64_t i, SampleBuilder& out) const {
      auto tokens = out.emplace<std::uint8_t, 1>("tokens", {static_cast<std::int64_t>(i)});
      for (auto& token : tokens) token = static_cast<std::uint8_t>(i);
    }
  };
  const Pipeline p = from(Texts{}) | one_hot("tokens", 5, {.dtype = DType::u8});
  CHECK(p.schema().to_string() == "{tokens: u8[?, 5]}");
  Loader loader(p | ragged("tokens") | batch(4), {.epochs = 1});
  for (Batch& batch : loader.epoch())
    for (std::uint64_t i = 0; i < 4; ++i) {
      const auto row = batch.ragged("tokens").view<const std::uint8_t, 2>(i);
      CHECK(row.shape() == Shape{static_cast<std::int64_t>(i), 5});
      for (std::int64_t t = 0; t < row.extent(0); ++t)
        for (std::int64_t c = 0; c < 5; ++c) CHECK(row(t, c) == (c == static_cast<std::int64_t>(i)));
    }
  CHECK(loader.report().copied_bytes == 0);
}

TEST_CASE("numbers of no class are bad samples, and fields without classes are refused") {
  for (const std::int64_t label : {std::int64_t{-1}, std::int64_t{4}, std::numeric_limits<std::int64_t>::min()}) {
    const Error error = error_of([&] { (void)(from(memory<std::int64_t>({label})) | one_hot("x", 4)).at(0); });
    CHECK(error.code() == Errc::unsupported);
    CHECK(error.cause() == "element 0 of [] is " + std::to_string(label) + ", and there are the classes 0 to 3");
  }
  CHECK(code_of([] { (void)(from(memory<std::uint64_t>({~std::uint64_t{0}})) | one_hot("x", 4)).at(0); }) ==
        Errc::unsupported);
  CHECK(code_of([] { (void)one_hot("x", 0); }) == Errc::invalid_argument);
  CHECK(code_of([] { (void)one_hot("x", std::int64_t{1} << 40); }) == Errc::invalid_argument);
  const Error error = error_of([] { (void)(from(memory<float>({1})) | one_hot("x", 4)); });
  CHECK(error.code() == Errc::schema_mismatch);
  CHECK(error.stage() == "one_hot(x)");
  CHECK(code_of([] { (void)(from(memory<bool>({true})) | one_hot("x", 4)); }) == Errc::schema_mismatch);
}
