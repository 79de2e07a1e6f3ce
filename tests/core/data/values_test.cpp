// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"

#include <limits>

#include "core/help.hpp"

using namespace help;

TEST_CASE("a shape counts, compares and prints") {
  const ps::Shape scalar;
  CHECK(scalar.rank() == 0);
  CHECK(scalar.elements() == 1);
  CHECK(scalar.fixed());
  CHECK(scalar.to_string() == "[]");
  const ps::Shape image{224, 200, 3};
  CHECK(image.elements() == 224u * 200 * 3);
  CHECK(image.to_string() == "[224, 200, 3]");
  CHECK(image == ps::Shape{224, 200, 3});
  CHECK_FALSE(image == ps::Shape{224, 200});
  CHECK_FALSE(image == ps::Shape{224, 3, 200});
  const ps::Shape any{ps::dynamic, ps::dynamic, 3};
  CHECK_FALSE(any.fixed());
  CHECK(any.to_string() == "[?, ?, 3]");
  CHECK(any.admits(image));
  CHECK_FALSE(image.admits(any));
  CHECK_FALSE(any.admits(ps::Shape{224, 200, 4}));
  CHECK_FALSE(any.admits(ps::Shape{224, 200}));
  CHECK(ps::Shape{0, 5}.elements() == 0);
  CHECK(ps::Shape{1, 2, 3, 4, 5, 6, 7, 8}.rank() == 8);
}

TEST_CASE("a shape refuses what can't be one") {
  CHECK(error_of([] { ps::Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}; })->code() == ps::Errc::invalid_argument);
  CHECK(error_of([] { ps::Shape{-2}; })->code() == ps::Errc::invalid_argument);
  CHECK(error_of([] { (void)ps::Shape{3, ps::dynamic}.elements(); })->code() == ps::Errc::schema_mismatch);
  const std::int64_t huge = std::int64_t{1} << 40;
  CHECK(error_of([&] { (void)ps::Shape{huge, huge}.elements(); })->code() == ps::Errc::limit_exceeded);
  // Whether there is a zero among them, and where, makes no difference: such a shape is no honest one.
  CHECK(error_of([&] { (void)ps::Shape{huge, huge, 0}.elements(); })->code() == ps::Errc::limit_exceeded);
  CHECK(error_of([&] { (void)ps::Shape{0, huge, huge}.elements(); })->code() == ps::Errc::limit_exceeded);
  CHECK(ps::Shape{std::int64_t{1} << 60}.elements() == std::uint64_t{1} << 60);
}

TEST_CASE("dtypes have the size of their C++ type") {
  CHECK(ps::size_of(ps::dtype_of<std::uint8_t>) == 1);
  CHECK(ps::size_of(ps::dtype_of<bool>) == 1);
  CHECK(ps::size_of(ps::dtype_of<ps::Half>) == 2);
  CHECK(ps::size_of(ps::dtype_of<ps::BFloat16>) == 2);
  CHECK(ps::size_of(ps::dtype_of<std::int16_t>) == 2);
  CHECK(ps::size_of(ps::dtype_of<float>) == 4);
  CHECK(ps::size_of(ps::dtype_of<const double>) == 8);
  CHECK(ps::size_of(ps::dtype_of<std::uint64_t>) == 8);
  CHECK(ps::dtype_of<std::byte> == ps::DType::u8);
  CHECK(ps::to_string(ps::DType::f16) == "f16");
  CHECK(ps::to_string(ps::DType::bf16) == "bf16");
  CHECK(ps::to_string(ps::DType::boolean) == "bool");
  for (const ps::DType dtype : {ps::DType::f16, ps::DType::bf16, ps::DType::f32, ps::DType::f64})
    CHECK_FALSE(ps::is_whole(dtype));
  CHECK(ps::is_whole(ps::DType::u64));
}

TEST_CASE("a view indexes in row-major order") {
  std::vector<int> values(24);
  for (int i = 0; i < 24; ++i) values[static_cast<std::size_t>(i)] = i;
  const ps::View<int, 3> v(values.data(), {2, 3, 4});
  CHECK(v(0, 0, 0) == 0);
  CHECK(v(1, 2, 3) == 23);
  CHECK(v(1, 0, 2) == 14);
  CHECK(v.extent(1) == 3);
  CHECK(v.size() == 24);
  CHECK(v.shape() == ps::Shape{2, 3, 4});
  const ps::View<const int, 3> reading = v;
  CHECK(reading(1, 2, 0) == 20);
  const ps::TensorView t{reinterpret_cast<std::byte*>(values.data()), ps::DType::i32, {2, 12}};
  CHECK(t.bytes() == 96);
  CHECK((t.as<const std::int32_t, 2>()(1, 1)) == 13);
  const auto wrong_type = error_of([&] { (void)t.as<float, 2>(); });
  REQUIRE(wrong_type);
  CHECK(wrong_type->code() == ps::Errc::schema_mismatch);
  CHECK(wrong_type->cause().find("i32[2, 12]") != std::string::npos);
  CHECK(wrong_type->cause().find("f32") != std::string::npos);
  CHECK(error_of([&] { (void)t.as<std::int32_t, 1>(); }));
}

TEST_CASE("a schema finds, changes and prints its fields") {
  const ps::Schema schema{{"image", ps::DType::u8, {ps::dynamic, ps::dynamic, 3}}, {"label", ps::DType::i64, {}}};
  CHECK(schema.size() == 2);
  CHECK(schema.slot("label") == 1);
  CHECK(schema.find("mask") == std::nullopt);
  CHECK(schema.to_string() == "{image: u8[?, ?, 3], label: i64[]}");
  CHECK(schema.at("label").dtype == ps::DType::i64);
  const ps::Schema more = schema.with({"mask", ps::DType::u8, {4}});
  CHECK(more.size() == 3);
  CHECK(more.slot("mask") == 2);
  const ps::Schema changed = more.with({"image", ps::DType::f32, {3, 8, 8}});
  CHECK(changed.slot("image") == 0);
  CHECK(changed[0].dtype == ps::DType::f32);
  CHECK(changed.without("label").to_string() == "{image: f32[3, 8, 8], mask: u8[4]}");
  CHECK_FALSE(schema == more);
  CHECK(more.without("mask") == schema);
}

TEST_CASE("a schema refuses empty and repeated names, and lists its fields") {
  CHECK(error_of([] { ps::Schema{{"", ps::DType::u8, {}}}; })->code() == ps::Errc::invalid_argument);
  const auto twice = error_of([] {
    ps::Schema{{"a", ps::DType::u8, {}}, {"b", ps::DType::u8, {}}, {"a", ps::DType::u8, {}}};
  });
  REQUIRE(twice);
  CHECK(twice->code() == ps::Errc::invalid_argument);
  CHECK(twice->cause().find("\"a\"") != std::string::npos);
  const ps::Schema schema{{"left", ps::DType::u8, {}}, {"right", ps::DType::f32, {2}}};
  const auto missing = error_of([&] { (void)schema.slot("middle"); });
  REQUIRE(missing);
  CHECK(missing->code() == ps::Errc::schema_mismatch);
  CHECK(missing->cause().find("middle") != std::string::npos);
  CHECK(missing->cause().find("{left: u8[], right: f32[2]}") != std::string::npos);
  CHECK(error_of([&] { (void)schema.without("middle"); }));
}

TEST_CASE("an error says everything known, in one line") {
  const ps::Error bare(ps::Errc::corrupt, "the scan ends early");
  CHECK(std::string(bare.what()) == "corrupt: the scan ends early");
  CHECK(bare.index() == std::nullopt);
  ps::Error full = bare;
  full.with_stage("decode_jpeg(image)")
      .with_source("lmdb")
      .with_file("/data/train.lmdb")
      .with_key("n01/cat.jpg")
      .with_index(7)
      .with_offset(4711);
  CHECK(std::string(full.what()) ==
        "corrupt in decode_jpeg(image): the scan ends early (source lmdb, file /data/train.lmdb, key n01/cat.jpg, "
        "index 7, offset 4711)");
  CHECK(full.cause() == "the scan ends early");
  const ps::Error steering(ps::Errc::corrupt, "a\nb\u202ec\u2066d\u0085e\u200ff\u061cg \u00e9\u20ac");
  CHECK(std::string(steering.what()) ==
        "corrupt: a\\x0ab\\xe2\\x80\\xaec\\xe2\\x81\\xa6d\\xc2\\x85e\\xe2\\x80\\x8ff\\xd8\\x9cg \u00e9\u20ac");
  // The inside knows better than the outside: what is filled stays.
  full.with_stage("read").with_index(8).with_offset(1).with_key("other").with_source("s").with_file("f");
  CHECK(full.stage() == "decode_jpeg(image)");
  CHECK(*full.index() == 7);
  CHECK(*full.offset() == 4711);
  CHECK(full.key() == "n01/cat.jpg");
  CHECK(full.source() == "lmdb");
  CHECK(full.file() == "/data/train.lmdb");
}

TEST_CASE("control characters of data can't break an error's line") {
  ps::Error error(ps::Errc::io, "can't read\nit");
  error.with_key(std::string("a\nb\x1b[2J\0c", 9));
  const std::string what = error.what();
  for (const char c : what) CHECK(static_cast<unsigned char>(c) >= 0x20);
  CHECK(what.find("a\\x0ab") != std::string::npos);
  CHECK(error.key().size() == 9);  // the field itself is the data
  error.with_stage("cast(s\n)").with_source("s\n").with_file("f\n");
  CHECK(std::string(error.what()) ==
        "io in cast(s\\x0a): can't read\\x0ait (source s\\x0a, file f\\x0a, key a\\x0ab\\x1b[2J\\x00c)");
}

TEST_CASE("an error is short whatever an input says, and keeps its beginning and its end") {
  const std::string word(400'000, 'x');
  ps::Error error(ps::Errc::corrupt, "there is no \"" + word + "\"; name another");
  CHECK(error.cause().size() <= 2000);
  CHECK(error.cause().starts_with("there is no \"xxx"));
  CHECK(error.cause().ends_with("xxx\"; name another"));
  CHECK(error.cause().find("x [... 398") != std::string::npos);
  error.with_key(word).with_stage(word);
  CHECK(error.key() == word);
  CHECK(error.stage() == word);
  CHECK(std::string(error.what()).size() < 4200);
  // What is escaped for the one line grows.
  CHECK(std::string(ps::Error(ps::Errc::corrupt, std::string(1'900, '\n')).what()).size() < 2100);
  const std::string whole(2000, 'y');
  CHECK(ps::Error(ps::Errc::corrupt, whole).cause() == whole);
  // Characters of several bytes stay whole.
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "\xe2\x82\xac";
  for (std::size_t more = 0; more < 3; ++more) {
    const std::string cut = ps::Error(ps::Errc::corrupt, std::string(more, 'a') + text).cause();
    const std::size_t from = cut.find(" [..."), to = cut.find("...] ");
    REQUIRE(to != std::string::npos);
    CHECK((from - more) % 3 == 0);
    CHECK((cut.size() - to - 5) % 3 == 0);
  }
}

TEST_CASE("policies may act on errors of one sample only") {
  using enum ps::Errc;
  for (const ps::Errc code : {unsupported, corrupt, not_found, io, limit_exceeded, user}) {
    CAPTURE(ps::to_string(code));
    CHECK(ps::Error(code, "").sample_scoped());
  }
  for (const ps::Errc code : {invalid_argument, schema_mismatch, out_of_memory, state_mismatch, quota_exceeded,
                              leases_exhausted, closed, forked}) {
    CAPTURE(ps::to_string(code));
    CHECK_FALSE(ps::Error(code, "").sample_scoped());
  }
}
