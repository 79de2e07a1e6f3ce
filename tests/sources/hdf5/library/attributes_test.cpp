// SPDX-License-Identifier: Apache-2.0
// What files say about themselves in attributes.
#include <penstock/sources/hdf5.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "sources/hdf5/files.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

using Kind = H5Type::Kind;

// `values` as they lie in memory; with no `shape` a scalar.
void attach(hid_t object, const char* name, const H5Type& type, const std::vector<hsize_t>& shape,
            const std::string& values) {
  const H5Id stored = stored_type(type);
  const H5Id space(shape.empty() ? H5Screate(H5S_SCALAR)
                                 : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr));
  const H5Id attribute(H5Acreate2(object, name, stored, space, H5P_DEFAULT, H5P_DEFAULT));
  h5_must(H5Awrite(attribute, stored, values.data()));
}

std::string pointers_to(const std::vector<const char*>& texts) { return bytes_of(texts); }

std::string file_with_attributes(const TempFolder& folder) {
  std::string path = folder / "a.h5";
  const H5Id file = create_h5(path);
  write_data(file, counting<std::int64_t>("/slides/coords", {5, 2}));
  attach(file, "format", {.kind = Kind::text}, {}, pointers_to({"tiles"}));
  const H5Id coords(H5Dopen2(file, "/slides/coords", H5P_DEFAULT));
  attach(coords, "patch_size", h5_integer(8, true), {}, bytes_of<std::int64_t>({-256}));
  attach(coords, "level", h5_integer(1, false), {}, bytes_of<std::uint8_t>({200}));
  attach(coords, "counts", h5_integer(2, true, true), {2, 2}, std::string("\0\1\0\2\0\3\xff\xff", 8));
  attach(coords, "downsample", h5_real(8), {2}, bytes_of<double>({1.5, -0.25}));
  attach(coords, "mpp", h5_real(4, true), {1}, std::string("\x3e\x80\0\0", 4));
  attach(coords, "half", h5_real(2), {}, std::string("\x00\x3e", 2));
  attach(coords, "names", {.kind = Kind::text}, {3}, pointers_to({"eins", "", "zw\xc3\xb6lf"}));
  attach(coords, "fixed", {.kind = Kind::fixed_text, .bytes = 6}, {}, std::string("abc\0zz", 6));
  attach(coords, "nulls", {.kind = Kind::fixed_text, .bytes = 4, .padding = H5T_STR_NULLPAD}, {2},
         std::string("abcdx\0\0\0", 8));
  attach(coords, "spaces", {.kind = Kind::fixed_text, .bytes = 4, .padding = H5T_STR_SPACEPAD}, {}, "a b ");
  attach(coords, "empty", h5_integer(4, true), {0}, "");
  attach(coords, "flag", {.kind = Kind::boolean, .bytes = 1, .is_signed = true}, {}, std::string("\1", 1));
  attach(coords, "pair", h5_compound({{"a", h5_integer(4, true)}}), {}, std::string(7, '\0'));
  attach(coords, "opaque", {.kind = Kind::opaque, .bytes = 3}, {}, "xyz");
  const H5Id stored = stored_type(h5_integer(4, true)), nothing(H5Screate(H5S_NULL));
  const H5Id none(H5Acreate2(coords, "null", stored, nothing, H5P_DEFAULT, H5P_DEFAULT));
  return path;
}

template <class T>
void check(const Hdf5Source& source, const char* name, const std::vector<std::int64_t>& shape,
           const std::vector<T>& values) {
  INFO(name);
  const auto attribute = source.attribute("/slides/coords", name);
  REQUIRE(attribute);
  CHECK(attribute->shape == shape);
  REQUIRE(std::holds_alternative<std::vector<T>>(attribute->values));
  CHECK(std::get<std::vector<T>>(attribute->values) == values);
}

}  // namespace

TEST_CASE("attributes are numbers and texts") {
  const TempFolder folder;
  const Hdf5Source source({.path = file_with_attributes(folder)});
  using Integers = std::vector<std::int64_t>;
  using Texts = std::vector<std::string>;
  check(source, "patch_size", {}, Integers{-256});
  check(source, "level", {}, Integers{200});
  check(source, "counts", {2, 2}, Integers{1, 2, 3, -1});
  check(source, "downsample", {2}, std::vector<double>{1.5, -0.25});
  check(source, "mpp", {1}, std::vector<double>{0.25});
  check(source, "half", {}, std::vector<double>{1.5});
  check(source, "names", {3}, Texts{"eins", "", "zw\xc3\xb6lf"});
  check(source, "fixed", {}, Texts{"abc"});
  check(source, "nulls", {2}, Texts{"abcd", "x"});
  check(source, "spaces", {}, Texts{"a b"});
  check(source, "empty", {0}, Integers{});
  CHECK(std::get<Texts>(source.attribute("/", "format")->values) == Texts{"tiles"});
  CHECK(std::get<Integers>(source.attribute("slides/coords", "patch_size")->values) == Integers{-256});
}

TEST_CASE("attributes have names and may not be there") {
  const TempFolder folder;
  const std::string path = file_with_attributes(folder);
  const Hdf5Source source({.path = path});
  CHECK(source.attributes("/") == std::vector<std::string>{"format"});
  CHECK(source.attributes("/slides").empty());
  std::vector<std::string> names = source.attributes("/slides/coords");
  CHECK(names.size() == 15);
  for (const char* name : {"patch_size", "names", "null", "pair"}) CHECK(std::ranges::count(names, name) == 1);
  CHECK_FALSE(source.attribute("/slides/coords", "nothing"));
  CHECK_FALSE(source.attribute("/", "patch_size"));
  for (const char* object : {"/nowhere", "/slides/nowhere", "/slides/coords/deeper", "x/y/z"}) {
    INFO(object);
    const Error error = error_of([&] { (void)source.attribute(object, "patch_size"); });
    INFO(error.what());
    CHECK(error.code() == Errc::not_found);
    CHECK(error.file() == path);
    CHECK(mentions(error, object));
    CHECK(code_of([&] { (void)source.attributes(object); }) == Errc::not_found);
  }
  CHECK(open_handles() > 0);
}

TEST_CASE("attributes of other types are refused by name") {
  const TempFolder folder;
  const Hdf5Source source({.path = file_with_attributes(folder)});
  for (const char* name : {"pair", "opaque"}) {
    const Error error = error_of([&] { (void)source.attribute("/slides/coords", name); });
    INFO(error.what());
    CHECK(error.code() == Errc::unsupported);
    CHECK(mentions(error, name));
    CHECK(mentions(error, "slides/coords"));
  }
}

TEST_CASE("attributes are those of the first file") {
  const TempFolder folder;
  for (const std::int64_t i : {0, 1}) {
    const H5Id file = create_h5(folder / (std::to_string(i) + ".h5"));
    write_data(file, counting<float>("x", {5}));
    attach(file, "number", h5_integer(8, true), {}, bytes_of<std::int64_t>({i}));
  }
  const Hdf5Source source({.path = {}, .paths = {folder / "1.h5", folder / "0.h5"}});
  CHECK(std::get<std::vector<std::int64_t>>(source.attribute("/", "number")->values).front() == 1);
}
