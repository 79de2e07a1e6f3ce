// SPDX-License-Identifier: Apache-2.0
// What can't be opened or read, how that is told, and what a child made by fork() may do.
#include <penstock/sources/hdf5.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/hdf5/oracle.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// Checks what every error of a file must say.
Error refused(const Hdf5& options, Errc code, const std::string& file, const std::vector<std::string>& words = {}) {
  const Error error = error_of([&] { Hdf5Source{options}; });
  INFO(error.what());
  CHECK(to_string(error.code()) == to_string(code));
  CHECK(error.file() == file);
  CHECK(error.source() == "hdf5");
  for (const std::string& word : words) {
    INFO(word);
    CHECK(mentions(error, word));
  }
  return error;
}

// A dataset [3] or [3, `row`] whose chunks go through that filter, or none (0); nothing is written to it.
void create(const std::string& path, const std::string& name, hid_t type, hsize_t row = 0, H5Z_filter_t filter = 0) {
  const bool there = std::filesystem::exists(path);
  const H5Id file(there ? H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)
                        : H5Fcreate(path.c_str(), H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT));
  const hsize_t dims[] = {3, row};
  const int rank = row == 0 ? 1 : 2;
  const H5Id space(H5Screate_simple(rank, dims, nullptr)), creation(H5Pcreate(H5P_DATASET_CREATE));
  if (filter != 0) {
    h5_must(H5Pset_chunk(creation, rank, dims));
    h5_must(H5Pset_filter(creation, filter, H5Z_FLAG_OPTIONAL, 0, nullptr));
  }
  const H5Id dataset(H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, creation, H5P_DEFAULT));
}

bool has_note(const Hdf5Source& source, const std::string& text) {
  for (const std::string& note : source.notes())
    if (note.find(text) != std::string::npos) return true;
  return false;
}

// What was written to stderr meanwhile.
template <class Act>
std::string printed(const Act& act) {
  std::FILE* const file = std::tmpfile();
  const int kept = ::dup(STDERR_FILENO);
  std::fflush(stderr);
  ::dup2(::fileno(file), STDERR_FILENO);
  act();
  std::fflush(stderr);
  ::dup2(kept, STDERR_FILENO);
  ::close(kept);
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

herr_t own_handler(hid_t, void* data) {
  ++*static_cast<int*>(data);
  return 0;
}

}  // namespace

TEST_CASE("files that are none are refused by name") {
  const TempFolder folder;
  refused({.path = folder / "nothing.h5"}, Errc::not_found, folder / "nothing.h5");
  folder.write("text.h5", "this is no HDF5 file at all, but it has quite some text in it\n" + std::string(5000, 'x'));
  refused({.path = folder / "text.h5"}, Errc::corrupt, folder / "text.h5", {"HDF5"});
  folder.write("empty.h5", "");
  refused({.path = folder / "empty.h5"}, Errc::corrupt, folder / "empty.h5");
  std::filesystem::create_directory(folder / "folder.h5");
  CHECK_THROWS_AS(Hdf5Source({.path = folder / "folder.h5"}), Error);
  write_h5(folder / "good.h5", {.data = {counting<float>("x", {5})}});
  refused({.path = {}, .paths = {folder / "good.h5", folder / "nothing.h5"}}, Errc::not_found, folder / "nothing.h5");
  refused({.path = {}, .paths = {folder / "good.h5", folder / "text.h5"}}, Errc::corrupt, folder / "text.h5");
  refused({.path = folder / "good.h5", .fields = {{"x"}, {.dataset = "y", .file = folder / "nothing.h5"}}},
          Errc::not_found, folder / "nothing.h5");
  if (::geteuid() != 0) {
    std::filesystem::permissions(folder / "good.h5", std::filesystem::perms::none);
    refused({.path = folder / "good.h5"}, Errc::io, folder / "good.h5");
  }
}

TEST_CASE("datasets and columns that are not there are refused by name") {
  const TempFolder folder;
  const std::string path = folder / "a.h5";
  write_h5(
      path,
      {.data = {counting<float>("g/x", {5, 2}),
                {.path = "rows",
                 .type = h5_compound({{"a", h5_integer(4, true)}, {"b", h5_compound({{"c", h5_integer(4, true)}})}}),
                 .shape = {5}}}});
  refused({.path = path, .fields = {{"nothing"}}}, Errc::not_found, path, {"nothing"});
  refused({.path = path, .fields = {{"g/nothing"}}}, Errc::not_found, path, {"g/nothing"});
  refused({.path = path, .fields = {{"no/such/group"}}}, Errc::not_found, path, {"no/such/group"});
  refused({.path = path, .fields = {{"g/x/deeper"}}}, Errc::not_found, path, {"g/x/deeper"});
  refused({.path = path, .fields = {{.dataset = "rows", .member = "z"}}}, Errc::not_found, path, {"rows", "z"});
  refused({.path = path, .fields = {{.dataset = "rows", .member = "b.z"}}}, Errc::not_found, path, {"rows", "z"});
  refused({.path = path, .fields = {{.dataset = "rows", .member = "a.z"}}}, Errc::not_found, path, {"rows", "z"});
  refused({.path = path, .fields = {{.dataset = "g/x", .member = "a"}}}, Errc::not_found, path, {"g/x"});
  CHECK_THROWS_AS(Hdf5Source({.path = path, .fields = {{"g"}}}), Error);
  CHECK_THROWS_AS(Hdf5Source({.path = path, .fields = {{""}}}), Error);
}

TEST_CASE("datasets that do not belong together are refused") {
  const TempFolder folder;
  const std::string path = folder / "a.h5";
  write_h5(path, {.data = {counting<float>("x", {5, 2}), counting<float>("y", {6, 2}), counting<float>("z", {5})}});
  refused({.path = path}, Errc::schema_mismatch, path, {"x", "y", "5", "6"});
  refused({.path = path, .fields = {{"x"}, {"y"}}}, Errc::schema_mismatch, path, {"x", "y", "5", "6"});
  CHECK(Hdf5Source({.path = path, .fields = {{"x"}, {"z"}}}).size() == 5);
  write_h5(folder / "y.h5", {.data = {counting<float>("y", {7})}});
  CHECK(code_of([&] {
          Hdf5Source({.path = path, .fields = {{"x"}, {.dataset = "y", .file = folder / "y.h5"}}});
        }) == Errc::schema_mismatch);
  const H5Id file = create_h5(folder / "scalar.h5");
  const H5Id type = stored_type(h5_real(4)), scalar(H5Screate(H5S_SCALAR)), null(H5Screate(H5S_NULL));
  { const H5Id made(H5Dcreate2(file, "scalar", type, scalar, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)); }
  { const H5Id made(H5Dcreate2(file, "null", type, null, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)); }
  h5_must(H5Fflush(file, H5F_SCOPE_LOCAL));
  for (const char* name : {"scalar", "null"}) {
    std::filesystem::copy_file(folder / "scalar.h5", folder / "copy.h5",
                               std::filesystem::copy_options::overwrite_existing);
    const Error error = error_of([&] { Hdf5Source({.path = folder / "copy.h5", .fields = {{name}}}); });
    INFO(error.what());
    CHECK(mentions(error, name));
    CHECK_THROWS_AS(Hdf5Source({.path = folder / "copy.h5"}), Error);
  }
}

TEST_CASE("files whose fields differ are refused") {
  const TempFolder folder;
  write_h5(folder / "a.h5", {.data = {counting<float>("x", {5, 2})}});
  write_h5(folder / "name.h5", {.data = {counting<float>("y", {5, 2})}});
  write_h5(folder / "dtype.h5", {.data = {counting<double>("x", {5, 2})}});
  write_h5(folder / "shape.h5", {.data = {counting<float>("x", {5, 3})}});
  write_h5(folder / "rank.h5", {.data = {counting<float>("x", {5})}});
  write_h5(folder / "more.h5", {.data = {counting<float>("x", {5, 2}), counting<float>("z", {5, 2})}});
  for (const char* other : {"name.h5", "dtype.h5", "shape.h5", "rank.h5", "more.h5"})
    refused({.path = {}, .paths = {folder / "a.h5", folder / other}}, Errc::schema_mismatch, folder / other, {"x"});
  const Hdf5Source fine({.path = {}, .paths = {folder / "a.h5", folder / "more.h5"}, .fields = {{"x"}}});
  CHECK(fine.size() == 10);
  H5Data big = counting_chunks<float>("x", {3, 2}, {2, 2});
  big.type.big = true;
  write_h5(folder / "big.h5", {.data = {big}});
  CHECK(Hdf5Source({.path = {}, .paths = {folder / "a.h5", folder / "big.h5"}}).size() == 8);
}

TEST_CASE("options that can't work are refused before anything is opened") {
  const TempFolder folder;
  const std::string path = folder / "a.h5";
  write_h5(path, {.data = {counting<float>("x", {5, 2})}});
  CHECK(code_of([&] { Hdf5Source({.path = {}}); }) == Errc::invalid_argument);
  CHECK(code_of([&] { Hdf5Source({.path = path, .paths = {path}}); }) == Errc::invalid_argument);
  CHECK(code_of([&] {
          Hdf5Source({.path = {}, .paths = {path, path}, .fields = {{.dataset = "x", .file = path}}});
        }) == Errc::invalid_argument);
  CHECK(code_of([&] { Hdf5Source({.path = path, .fields = {{"x"}, {"x"}}}); }) == Errc::invalid_argument);
}

TEST_CASE("types without a field are refused by name") {
  const TempFolder folder;
  const std::string path = folder / "a.h5";
  {
    const H5Id file = create_h5(path);
    const hsize_t five = 5;
    const H5Id space(H5Screate_simple(1, &five, nullptr));
    const H5Id reference(H5Tcopy(H5T_STD_REF_OBJ));
    const H5Id made(H5Dcreate2(file, "reference", reference, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    write_data(file, counting<float>("x", {5}));
    const H5Type pair = h5_compound({{"a", h5_integer(4, true)}, {"b", h5_integer(4, true)}});
    write_data(file, {.path = "pairs", .type = h5_array(pair, {2}), .shape = {5}});
    write_data(file, {.path = "texts", .type = {.kind = H5Type::Kind::text}, .shape = {5, 2}});
  }
  for (const char* name : {"reference", "pairs", "texts"})
    refused({.path = path, .fields = {{"x"}, {name}}}, Errc::unsupported, path, {name});
  CHECK(Hdf5Source({.path = path, .fields = {{"x"}}}).size() == 5);
}

TEST_CASE("past the end there is no record") {
  const TempFolder folder;
  write_h5(folder / "a.h5", {.data = {counting_chunks<float>("x", {5, 2}, {2, 2})}});
  write_h5(folder / "none.h5", {.data = {counting<float>("x", {0, 2})}});
  for (const char* name : {"a.h5", "none.h5"})
    for (const std::size_t keep_bytes : {std::size_t{0}, std::size_t{1} << 20}) {
      const Hdf5Source source({.path = folder / name, .max_kept_bytes = keep_bytes});
      const Error error = error_of([&] { (void)read_sample(source, source.size()); });
      CHECK(error.code() == Errc::not_found);
      CHECK(error.index() == source.size());
      CHECK(code_of([&] { (void)read_sample(source, ~std::uint64_t{0}); }) == Errc::not_found);
      std::vector<std::byte> room(2 * sizeof(float));
      const Error far = error_of([&] { source.read_rows(0, ~std::uint64_t{0}, 1, room); });
      CHECK(far.code() == Errc::not_found);
      CHECK(mentions(far, "there are no 1 records from record 18446744073709551615 on; the source has "));
    }
}

TEST_CASE("nothing is printed and the program's own error handler stays") {
  const TempFolder folder;
  const std::string path = folder / "a.h5";
  write_h5(path, {.data = {counting_chunks<float>("x", {5, 2}, {2, 2}, {H5Filter::scaleoffset})}});
  folder.write("text.h5", std::string(5000, 'x'));
  const auto use = [&] {
    CHECK_THROWS_AS(Hdf5Source({.path = folder / "text.h5"}), Error);
    CHECK_THROWS_AS(Hdf5Source({.path = path, .fields = {{"y"}}}), Error);
    const Hdf5Source source({.path = path, .max_kept_bytes = 0});
    (void)read_sample(source, 3);
    CHECK_THROWS_AS(source.attribute("/z", "y"), Error);
    CHECK_FALSE(source.attribute("/x", "y"));
  };
  CHECK(printed(use) == "");
  // The library's own, then one of the program's.
  CHECK(printed([&] { H5Fopen((folder / "text.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT); }).size() > 10);
  H5E_auto2_t before = nullptr;
  void* data = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &before, &data);
  int calls = 0;
  H5Eset_auto2(H5E_DEFAULT, own_handler, &calls);
  use();
  CHECK(calls == 0);
  H5Fopen((folder / "text.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  CHECK(calls == 1);
  H5Eset_auto2(H5E_DEFAULT, before, data);
}

TEST_CASE("a child made by fork can't use its parent's source") {
  const TempFolder folder;
  const std::string path = folder / "a.h5";
  const std::vector<H5Data> data{counting<std::uint16_t>("flat", {40, 30}),
                                 counting_chunks<std::uint16_t>("chunks", {40, 30}, {7, 30}, {H5Filter::deflate}),
                                 counting_chunks<std::uint16_t>("scaled", {40, 30}, {7, 30}, {H5Filter::scaleoffset}),
                                 {.path = "text", .type = {.kind = H5Type::Kind::text}, .shape = {40}}};
  write_h5(path, {.data = data});
  for (const H5Data& one : data)
    for (const std::size_t keep_bytes : {std::size_t{0}, std::size_t{1} << 20}) {
      INFO(one.path << ", keep_bytes " << keep_bytes);
      const std::vector<H5Column> columns = columns_of(path, one);
      auto source = std::make_unique<Hdf5Source>(
          Hdf5{.path = path, .fields = {{.dataset = one.path}}, .max_kept_bytes = keep_bytes});
      REQUIRE(difference(*source, columns) == "");
      CHECK(in_child([&] { return code_of([&] { (void)read_sample(*source, 7); }) == Errc::forked; }));
      CHECK(in_child([&] { return code_of([&] { (void)source->attributes("/"); }) == Errc::forked; }));
      CHECK(in_child([&] { return code_of([&] { (void)source->attribute("/", "x"); }) == Errc::forked; }));
      CHECK(in_child([&] {
        if (source->blocks() == 0) return true;
        std::vector<std::byte> block(source->block_bytes(0));
        return code_of([&] { source->load(0, block); }) == Errc::forked;
      }));
      CHECK(in_child([&] {
        source.reset();
        const Hdf5Source own({.path = path, .fields = {{.dataset = one.path}}, .max_kept_bytes = keep_bytes});
        return difference(own, columns).empty();
      }));
      CHECK(difference(*source, columns) == "");
    }
}

TEST_CASE("a file that another process is writing is refused with what to do") {
  const TempFolder folder;
  write_h5(folder / "a.h5", {.data = {counting<std::uint8_t>("x", {4})}});
  const int fd = ::open((folder / "a.h5").c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(::flock(fd, LOCK_EX | LOCK_NB) == 0);
  const Error error = error_of([&] { Hdf5Source({.path = folder / "a.h5"}); });
  CHECK(error.code() == Errc::io);
  CHECK(mentions(error, "another process has the file open for writing"));
  CHECK(mentions(error, "HDF5_USE_FILE_LOCKING"));
  CHECK(error.file() == folder / "a.h5");
  ::close(fd);
  CHECK(Hdf5Source({.path = folder / "a.h5"}).size() == 4);
}

TEST_CASE("what the library says of a file that it can't open is told") {
  const TempFolder folder;
  write_h5(folder / "a.h5", {.data = {counting_chunks<std::uint8_t>("x", {4000}, {400}, {H5Filter::deflate})}});
  std::filesystem::resize_file(folder / "a.h5", std::filesystem::file_size(folder / "a.h5") / 2);
  const Error error = error_of([&] { Hdf5Source({.path = folder / "a.h5"}); });
  CHECK(error.code() == Errc::corrupt);
  CHECK(mentions(error, "truncated file"));
}

TEST_CASE("a source opened after the library was closed reads as ever") {
  const TempFolder folder;
  write_h5(folder / "a.h5", {.data = {counting_chunks<std::uint8_t>("x", {4000, 3}, {400, 3}, {H5Filter::deflate})}});
  CHECK(in_child([&] {
    const auto read = [&] {
      const Hdf5Source source({.path = folder / "a.h5", .max_kept_bytes = 0});
      return read_sample(source, 3999)["x"].data[1] == std::byte{(3999 * 3 + 1) % 256};
    };
    if (!read()) return false;
    H5close();
    // Another driver takes the number that ours had.
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_stdio(access);
    return read();
  }));
}

TEST_CASE("a dataset that can't be read is left out, and the others are read") {
  const TempFolder folder;
  const std::string path = folder / "some.h5";
  constexpr H5Z_filter_t nobodys = 299;
  create(path, "a_strange", H5T_STD_I32LE, 4, nobodys);
  create(path, "b", H5T_STD_I32LE, 4);
  create(path, "c_link", H5T_STD_REF_OBJ);
  create(path, "d", H5T_IEEE_F32LE, 0, H5Z_FILTER_DEFLATE);
  const Hdf5Source source({.path = path});
  CHECK(source.schema().to_string() == "{b: i32[4], d: f32[]}");
  CHECK(has_note(source, "a_strange: left out"));
  CHECK(has_note(source, "299"));
  CHECK(has_note(source, "c_link: left out"));
  CHECK(from(source).plan().find("a_strange: left out") != std::string::npos);
  CHECK(from(source).at(2)["b"].shape == Shape{4});
  // Named, it is an error.
  for (const char* name : {"a_strange", "c_link"})
    refused({.path = path, .fields = {{.dataset = "b"}, {.dataset = name}}}, Errc::unsupported, path, {name});
  CHECK(Hdf5Source({.path = path, .fields = {{.dataset = "b"}}}).notes().size() == 1);
  // So where nothing is left.
  create(folder / "none.h5", "only", H5T_STD_I32LE, 4, nobodys);
  refused({.path = folder / "none.h5"}, Errc::unsupported, folder / "none.h5", {"299", "only"});
}

TEST_CASE("values of any length that were compressed twice are refused, as the library has no bounds for them") {
  const TempFolder folder;
  H5Data text{.path = "text", .type = {.kind = H5Type::Kind::text}, .shape = {8}, .layout = H5D_CHUNKED};
  text.chunk = {4};
  text.filters = {H5Filter::deflate, H5Filter::deflate};
  write_h5(folder / "a.h5", {.data = {text, counting<float>("y", {8})}});
  refused({.path = folder / "a.h5", .fields = {{.dataset = "text"}}}, Errc::unsupported, folder / "a.h5",
          {"'text'", "compressed more than once", "deflate + deflate"});
  CHECK(has_note(Hdf5Source({.path = folder / "a.h5"}), "text: left out"));
}

TEST_CASE("a row in more chunks than its file has room for is refused") {
  const TempFolder folder;
  H5Data sparse{.path = "x", .type = h5_type<std::uint8_t>(), .shape = {2, 1'000'000}, .layout = H5D_CHUNKED};
  sparse.chunk = {1, 1};
  sparse.never_written = true;
  write_h5(folder / "a.h5", {.data = {sparse}});
  refused({.path = folder / "a.h5"}, Errc::unsupported, folder / "a.h5", {"'x'", "1000000 chunks", "larger chunks"});
}

TEST_CASE("a row that is larger than a sample may be takes no memory") {
  const TempFolder folder;
  const std::string path = folder / "large.h5";
  constexpr hsize_t enormous = hsize_t{1} << 43;  // elements of a row that nobody wrote
  const H5Id pair(H5Tcreate(H5T_COMPOUND, 8));
  h5_must(H5Tinsert(pair, "x", 0, H5T_STD_I32BE));
  h5_must(H5Tinsert(pair, "y", 4, H5T_STD_I32LE));
  create(path, "big", H5T_STD_I32BE, enormous);
  create(path, "half", H5T_STD_U16BE, enormous);
  create(path, "odd", H5T_STD_I32LE, enormous);
  create(path, "pairs", pair, enormous);
  for (const bool isolate : {false, true})
    for (const char* name : {"big", "half", "odd", "pairs"}) {
      INFO(name << ", isolate " << isolate);
      Hdf5Field field{.dataset = name};
      if (name == std::string("pairs")) field.member = "x";
      const Hdf5Source source({.path = path, .fields = {field}, .isolate = isolate});
      // At an opened source, as at a record: never out_of_memory.
      CHECK(code_of([&] { static_cast<void>(from(source).at(1)); }) == Errc::limit_exceeded);
    }
  // Strings have any length, so what a type declares is no size of a field.
  const H5Id text(H5Tcopy(H5T_C_S1)), inside(H5Tcreate(H5T_COMPOUND, (std::size_t{3} << 30) + 4));
  h5_must(H5Tset_size(text, std::size_t{3} << 30));
  h5_must(H5Tinsert(inside, "n", 0, H5T_STD_I32LE));
  h5_must(H5Tinsert(inside, "name", 4, text));
  create(folder / "text.h5", "text", text);
  create(folder / "text.h5", "table", inside);
  create(folder / "text.h5", "x", H5T_STD_I32LE);
  for (const bool isolate : {false, true}) {
    const std::string file = folder / "text.h5";
    refused({.path = file, .fields = {{.dataset = "text"}}, .isolate = isolate}, Errc::unsupported, file, {"3072 MiB"});
    const Hdf5Source source({.path = file, .isolate = isolate});
    CHECK(source.schema().to_string() == "{x: i32[]}");
    CHECK(has_note(source, "text: left out"));
    CHECK(has_note(source, "table/n: left out"));
    CHECK(from(source).at(2)["x"].bytes() == 4);
  }
}
