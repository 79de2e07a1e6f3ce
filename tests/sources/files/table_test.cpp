// SPDX-License-Identifier: Apache-2.0
// The table of FilesSink, read by CsvSource.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <penstock/extend/bfloat16.hpp>
#include <penstock/penstock.hpp>
#include <penstock/sources/csv.hpp>
#include <penstock/sources/files.hpp>
#include <penstock/sources/files_sink.hpp>

#include "sources/files/sink_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

constexpr DType all_dtypes[] = {DType::u8,  DType::i8,  DType::u16, DType::i16, DType::u32,     DType::i32, DType::u64,
                                DType::i64, DType::f16, DType::f32, DType::f64, DType::boolean, DType::bf16};

// A field of each dtype, of any bits; names that need quotes.
struct Scalars {
  std::uint64_t size() const { return 300; }
  Schema schema() const {
    std::vector<Field> fields{{"image", DType::u8, {dynamic}}};
    for (const DType dtype : all_dtypes)
      fields.push_back({"a \"" + std::string(to_string(dtype)) + "\", b", dtype, {}});
    fields.push_back({"label", DType::i64, {}});
    return Schema(std::move(fields));
  }
  std::string key(std::uint64_t i) const { return (i % 7 == 0 ? "x, \"y\"/" : "x/") + std::to_string(1000 + i); }
  void read(std::uint64_t i, SampleBuilder& out) const {
    std::mt19937_64 random(i);
    const Schema fields = schema();
    out.emplace(0, Shape{0});
    for (std::size_t slot = 1; slot < fields.size(); ++slot) {
      const TensorView to = out.emplace(slot, Shape{});
      const std::uint64_t bits = i == 0 ? 0 : i == 1 ? ~std::uint64_t{0} : random() >> random() % 64;
      std::memcpy(to.data, &bits, to.bytes());
      if (to.dtype == DType::boolean) to.data[0] = std::byte{static_cast<unsigned char>(bits % 2)};
      const double easy[] = {0.1, -0.0, 1.0, 1e300, -5e-324, 1e23, 16777217, INFINITY, -INFINITY, 2.5};
      if (to.dtype == DType::f64 && i < std::size(easy)) std::memcpy(to.data, &easy[i], 8);
      const auto small = static_cast<float>(easy[i % std::size(easy)]);
      if (to.dtype == DType::f32 && i < std::size(easy)) std::memcpy(to.data, &small, 4);
    }
  }
};

// The number that a binary16 is, by its three parts.
double value_of(std::uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  const double sign = (half & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
  return exponent == 0 ? sign * std::ldexp(fraction, -24) : sign * std::ldexp(1024 + fraction, exponent - 25);
}

// Whether two values have the same bits, nan and nan included.
template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a)) return std::isnan(b);
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

}  // namespace

TEST_CASE("CsvSource reads every value of the table as it was put") {
  const TempFolder folder;
  const Scalars scalars;
  write(from(scalars), FilesSink({.path = folder / "t", .sync = false}), {.threads = 2});
  std::vector<CsvColumn> columns;
  const Schema schema = scalars.schema();
  for (std::size_t slot = 1; slot < schema.size(); ++slot)
    columns.push_back(
        {.column = schema[slot].name,
         .type = CsvType::number,
         .dtype = size_of(schema[slot].dtype) == 2 && !is_whole(schema[slot].dtype) ? DType::f32 : schema[slot].dtype});
  const CsvSource table({.path = folder / "t/records.csv", .key = "file", .columns = columns});
  REQUIRE(table.size() == scalars.size());
  for (std::uint64_t i = 0; i < table.size(); ++i) {
    CHECK(table.key(i) == scalars.key(i) + ".bin");
    const OwnedSample put = read_sample(scalars, i), got = read_sample(table, i);
    for (std::size_t slot = 1; slot < schema.size(); ++slot) {
      const TensorView a = put[schema[slot].name], b = got[schema[slot].name];
      CAPTURE(i, schema[slot].name);
      if (a.dtype == DType::f16)
        CHECK(same(static_cast<float>(value_of(a.as<Half, 0>().data()->bits)), *b.as<float, 0>().data()));
      else if (a.dtype == DType::bf16)
        CHECK(same(from_bfloat16(a.as<BFloat16, 0>().data()->bits), *b.as<float, 0>().data()));
      else if (a.dtype == DType::f32)
        CHECK(same(*a.as<float, 0>().data(), *b.as<float, 0>().data()));
      else if (a.dtype == DType::f64)
        CHECK(same(*a.as<double, 0>().data(), *b.as<double, 0>().data()));
      else
        CHECK(text_of(a) == text_of(b));
    }
  }
  // The files' labels are there as well, and a table of its own goes beside its files.
  const FilesSource files({.root = folder / "t", .labels = folder / "t/records.csv"});
  REQUIRE(files.size() == scalars.size());
  for (std::uint64_t i = 0; i < files.size(); ++i) {
    const std::uint64_t number = std::stoull(files.path(i).substr(files.path(i).rfind('/') + 1)) - 1000;
    CHECK(read_label(files, i) == *read_sample(scalars, number)["label"].as<std::int64_t, 0>().data());
  }
}

TEST_CASE("the table has few digits and the columns in order") {
  const TempFolder folder;
  struct Few {
    std::uint64_t size() const { return 2; }
    Schema schema() const {
      return {{"x", DType::f32, {}},      {"photo", DType::u8, {dynamic}},
              {"y", DType::f64, {}},      {"h", DType::f16, {}},
              {"is", DType::boolean, {}}, {"label", DType::u8, {}},
              {"n", DType::i8, {}},       {"was", DType::boolean, {}, {}, {"no", "yes, it was"}}};
    }
    void read(std::uint64_t i, SampleBuilder& out) const {
      out.scalar("x", i == 0 ? 0.1f : -1e10f);
      out.emplace<std::uint8_t, 1>("photo", {0});
      out.scalar("y", i == 0 ? 1.0 / 3 : std::numeric_limits<double>::quiet_NaN());
      out.scalar("h", Half{static_cast<std::uint16_t>(i == 0 ? 0x3c00 : 0x8001)});
      out.scalar("is", i == 0);
      out.scalar<std::uint8_t>("label", i == 0 ? 255 : 0);
      out.scalar<std::int8_t>("n", -128);
      out.scalar("was", i == 0);
    }
  };
  write(from(Few{}), FilesSink({.path = folder / "t", .field = "photo", .sync = false}));
  CHECK(tree_of(folder / "t").at("records.csv") ==
        "file,label,x,y,h,is,n,was\n"
        "00000000.bin,255,0.1,0.3333333333333333,1,true,-128,\"yes, it was\"\n"
        "00000001.bin,0,-1e+10,nan,-5.9604645e-08,false,-128,no\n");
}
