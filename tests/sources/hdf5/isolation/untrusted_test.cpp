// SPDX-License-Identifier: Apache-2.0
// Files that are not trusted: what they give, and what becomes of the processes that read them.
#include <penstock/sources/hdf5.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/hdf5/isolation/untrusted.hpp"
#include "sources/hdf5/oracle.hpp"
#include "sources/hdf5/random.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

std::string text_of(const Hdf5FieldInfo& info) {
  std::string text;
  for (const std::string& part : {info.name, info.dataset, info.member, info.file, info.storage, info.reason})
    text += part + "|";
  text += std::string(to_string(info.way)) + " " + std::to_string(info.rows_per_chunk);
  for (const bool is : {info.converted, info.differs, info.checksums, info.in_blocks}) text += is ? " 1" : " 0";
  return text;
}

std::string text_of(const std::vector<Hdf5FieldInfo>& fields) {
  std::string text;
  for (const Hdf5FieldInfo& info : fields) text += text_of(info) + "\n";
  return text;
}

// Datasets that are read in each of the ways.
std::vector<H5Data> of_each_way(hsize_t rows) {
  H5Data text{.path = "text", .type = {.kind = H5Type::Kind::text}, .shape = {rows}};
  H5Data pairs{.path = "pairs", .type = h5_compound({{"a", h5_real(2, true)}, {"b", h5_integer(8, true)}})};
  pairs.shape = {rows};
  H5Data brain{.path = "brain", .type = {.kind = H5Type::Kind::brain, .bytes = 2}, .shape = {rows, 3}};
  return {counting<std::uint16_t>("flat", {rows, 30}),
          counting_chunks<std::uint16_t>("deflated", {rows, 30}, {7, 20}, {H5Filter::shuffle, H5Filter::deflate}),
          counting_chunks<std::uint16_t>("plain", {rows, 30}, {7, 30}),
          counting_chunks<std::uint16_t>("scaled", {rows, 30}, {11, 30}, {H5Filter::scaleoffset}),
          text,
          pairs,
          brain};
}

struct EachWay {
  explicit EachWay(hsize_t rows = 60) : data(of_each_way(rows)) {
    write_h5(path, {.data = data});
    columns = columns_of(path, data);
  }
  TempFolder folder;
  std::string path = folder / "a.h5";
  std::vector<H5Data> data;
  std::vector<H5Column> columns;
};

std::string ids_of(const std::vector<int>& processes) {
  std::string text;
  for (const int process : processes) text += std::to_string(process) + " ";
  return text;
}

}  // namespace

TEST_CASE("a file that is not trusted gives what a trusted one gives") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const TempFolder folder;
    H5Draw draw(seed);
    const H5Files files = random_files(draw);
    const std::string path = folder / "a.h5";
    write_h5(path, files);
    INFO("seed " << seed << ": " << description(files));
    const std::vector<H5Column> columns = columns_of(path, files.data);
    for (const std::size_t keep_bytes : {std::size_t{0}, std::size_t{200}}) {
      INFO("keep_bytes " << keep_bytes);
      const Hdf5Source trusted({.path = path, .max_kept_bytes = keep_bytes}), source(untrusted(path, keep_bytes));
      REQUIRE(difference(source, columns) == "");
      REQUIRE(source.identity() == trusted.identity());
      REQUIRE(source.schema() == trusted.schema());
      REQUIRE(text_of(source.fields()) == text_of(trusted.fields()));
      REQUIRE(source.blocks() == trusted.blocks());
      REQUIRE(source.block_ends() == trusted.block_ends());
      std::vector<std::string> notes = source.notes();
      REQUIRE_FALSE(notes.empty());
      REQUIRE(notes.back().find("another process") != std::string::npos);
      notes.pop_back();
      REQUIRE(notes == trusted.notes());
    }
  }
  CHECK(children().empty());
}

TEST_CASE("attributes of a file that is not trusted are the same") {
  const EachWay file;
  {
    const H5Id opened(H5Fopen(file.path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
    const H5Id scalar(H5Screate(H5S_SCALAR)), text(H5Tcopy(H5T_C_S1));
    h5_must(H5Tset_size(text, 5));
    const H5Id number(H5Acreate2(opened, "number", H5T_STD_I32BE, scalar, H5P_DEFAULT, H5P_DEFAULT));
    const int value = -7;
    h5_must(H5Awrite(number, H5T_NATIVE_INT, &value));
    const H5Id real(H5Acreate2(opened, "real", H5T_IEEE_F32LE, scalar, H5P_DEFAULT, H5P_DEFAULT));
    const double half = 0.5;
    h5_must(H5Awrite(real, H5T_NATIVE_DOUBLE, &half));
    const H5Id word(H5Acreate2(opened, "word", text, scalar, H5P_DEFAULT, H5P_DEFAULT));
    h5_must(H5Awrite(word, text, "tiles"));
  }
  const Hdf5Source trusted({.path = file.path}), source(untrusted(file.path));
  CHECK(source.attributes("/") == std::vector<std::string>{"number", "real", "word"});
  for (const char* name : {"number", "real", "word"}) {
    const auto expected = trusted.attribute("/", name), found = source.attribute("/", name);
    REQUIRE(expected);
    REQUIRE(found);
    CHECK(found->shape == expected->shape);
    CHECK(found->values == expected->values);
  }
  CHECK_FALSE(source.attribute("/", "nothing"));
  for (const char* object : {"/nowhere", "x/y"}) {
    const Error expected = error_of([&] { (void)trusted.attribute(object, "x"); });
    const Error found = error_of([&] { (void)source.attribute(object, "x"); });
    CHECK(found.what() == std::string(expected.what()));
    CHECK(found.code() == expected.code());
  }
}

TEST_CASE("a file that is not trusted comes through a loader whatever the threads") {
  const EachWay file;
  for (const unsigned threads : {1u, 4u})
    for (const std::size_t keep_bytes : {std::size_t{0}, std::size_t{1} << 20}) {
      const Hdf5Source source(untrusted(file.path, keep_bytes));
      for (const bool shuffled : {false, true}) {
        Pipeline pipeline = from(source);
        if (shuffled) pipeline = pipeline | shuffle({.seed = 3});
        Loader loader(pipeline | ragged("text") | batch(7), {.threads = threads, .epochs = 2});
        std::uint64_t rows = 0;
        for (int epoch = 0; epoch < 2; ++epoch)
          for (const Batch& one : loader.epoch()) {
            REQUIRE(difference(one, file.columns) == "");
            rows += one.size();
          }
        CHECK(rows == 120);
      }
    }
  CHECK(children().empty());
}

TEST_CASE("one process reads one file and ends with its source") {
  const EachWay file;
  const std::size_t descriptors = open_descriptors();
  for (int round = 0; round < 3; ++round) {
    auto source = std::make_unique<Hdf5Source>(untrusted(file.path));
    const std::vector<int> readers = children();
    CHECK(readers.size() == 1);
    CHECK(difference(*source, file.columns) == "");
    const Hdf5Source copy = *source;
    source.reset();
    CHECK(difference(copy, file.columns) == "");
    CHECK(children() == readers);
  }
  CHECK(children().empty());
  CHECK(open_descriptors() == descriptors);
  for (int round = 0; round < 3; ++round)
    CHECK(code_of([&] { Hdf5Source({.path = file.path, .fields = {{.dataset = "none"}}, .isolate = true}); }) ==
          Errc::not_found);
  file.folder.write("text.h5", "this is no HDF5 file");
  CHECK(mentions(error_of([&] { Hdf5Source(untrusted(file.folder / "text.h5")); }), "this is no HDF5 file"));
  CHECK(children().empty());
  CHECK(open_descriptors() == descriptors);
}

TEST_CASE("of more than 64 files those asked longest ago have no process") {
  const TempFolder folder;
  constexpr std::uint64_t files = 65, records = 2;
  Hdf5 options{.max_kept_bytes = 0, .isolate = true};
  std::vector<H5Column> columns;
  for (std::uint64_t i = 0; i < files; ++i) {
    options.paths.push_back(folder / (std::to_string(i) + ".h5"));
    const H5Data data = counting_chunks<std::uint16_t>("x", {records, 4}, {2, 4}, {H5Filter::deflate});
    write_h5(options.paths.back(), {.data = {data}});
    const std::vector<H5Column> more = columns_of(options.paths.back(), data);
    if (i == 0)
      columns = more;
    else
      append(columns, more);
  }
  {
    const Hdf5Source source(options);
    CHECK(children().size() == 64);
    const auto read = [&](std::uint64_t file) {
      REQUIRE(difference(read_sample(source, file * records), columns, file * records) == "");
    };
    // The first file's process ends more than eight times, none of which counts as a failure.
    for (std::uint64_t last = 1; last < 11; ++last) {
      read(0);  // takes the place of `last`
      for (std::uint64_t file = 1; file < files; ++file)
        if (file != last) read(file);
      read(last);  // and that takes it back
    }
    CHECK(children().size() == 64);
  }
  CHECK(children().empty());
}

namespace {
std::vector<int> kill_the_reader() {
  std::vector<int> readers = children();
  REQUIRE(readers.size() == 1);
  ::kill(readers.front(), SIGKILL);
  while (true) {  // until its end can be seen
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(readers.front()), &info, WEXITED | WNOWAIT) == 0) return readers;
  }
}
}  // namespace

TEST_CASE("ends of a process are forgiven for many answers") {
  const EachWay file;
  const Hdf5Source source(untrusted(file.path));
  for (int times = 0; times < 12; ++times) {
    kill_the_reader();
    for (int asked = 0; asked < 256; ++asked) CHECK_NOTHROW(static_cast<void>(source.attributes("/")));
  }
  CHECK(difference(source, file.columns) == "");
}

TEST_CASE("a process that is killed between questions is replaced eight times") {
  const EachWay file;
  const Hdf5Source source(untrusted(file.path));
  for (int times = 0; times < 7; ++times) {
    const std::vector<int> readers = kill_the_reader();
    CHECK_NOTHROW(static_cast<void>(source.attributes("/")));
    CHECK(children().size() == 1);
    CHECK(ids_of(children()) != ids_of(readers));
  }
  ::kill(children().front(), SIGKILL);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const Error error = error_of([&] { (void)source.attributes("/"); });
  INFO(error.what());
  CHECK(error.code() == Errc::corrupt);
  CHECK(mentions(error, "8 times"));
  CHECK(mentions(error, "signal 9"));
  CHECK(children().empty());
}

TEST_CASE("a process that hangs is ended after the patience and replaced") {
  const EachWay file;
  Hdf5 options = untrusted(file.path);
  options.patience_ms = 700;
  const Hdf5Source source(options);
  const std::vector<int> readers = children();
  REQUIRE(readers.size() == 1);
  ::kill(readers.front(), SIGSTOP);
  const auto start = std::chrono::steady_clock::now();
  const Error error = error_of([&] { (void)read_sample(source, 3); });
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  INFO(error.what());
  CHECK(error.code() == Errc::corrupt);
  CHECK(error.file() == file.path);
  CHECK(mentions(error, "700 ms"));
  CHECK(mentions(error, "dataset '"));
  CHECK(all_gone(readers));
  CHECK(difference(source, file.columns) == "");
}

TEST_CASE("a process that reads ends when its parent is killed") {
  const EachWay file;
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t parent = ::fork();
  REQUIRE(parent >= 0);
  if (parent == 0) {
    const Hdf5Source source(untrusted(file.path));
    const int reader = children().front();
    (void)!::write(ends[1], &reader, sizeof reader);
    ::pause();
    ::_exit(0);
  }
  int reader = 0;
  REQUIRE(::read(ends[0], &reader, sizeof reader) == sizeof reader);
  CHECK(::kill(reader, 0) == 0);
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  CHECK(all_gone({reader}));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("a child made by fork leaves the process of its parent alone") {
  const EachWay file;
  auto source = std::make_unique<Hdf5Source>(untrusted(file.path));
  const std::vector<int> readers = children();
  CHECK(in_child([&] { return code_of([&] { (void)read_sample(*source, 7); }) == Errc::forked; }));
  CHECK(in_child([&] {
    source.reset();
    return difference(Hdf5Source(untrusted(file.path)), file.columns).empty();
  }));
  CHECK(difference(*source, file.columns) == "");
  CHECK(children() == readers);
}

TEST_CASE("a program that waits for any child does no harm") {
  const EachWay file;
  {
    const Hdf5Source source(untrusted(file.path));
    ::kill(children().front(), SIGKILL);
    REQUIRE(::waitpid(-1, nullptr, 0) > 0);
    const auto start = std::chrono::steady_clock::now();
    CHECK(difference(source, file.columns) == "");
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::milliseconds(900));
    const Hdf5Source other(untrusted(file.path));
    ::signal(SIGCHLD, SIG_IGN);
  }
  ::signal(SIGCHLD, SIG_DFL);
  CHECK(children().empty());
}

TEST_CASE("a reader that is not there is told with what to do") {
  const EachWay file;
  Hdf5 options = untrusted(file.path);
  options.reader = file.folder / "none";
  const Error named = error_of([&] { const Hdf5Source source(options); });
  INFO(named.what());
  CHECK(named.code() == Errc::not_found);
  CHECK(mentions(named, file.folder / "none"));
  CHECK(mentions(named, "Hdf5::reader"));
  options.reader = {};
  const char* const before = std::getenv("PENSTOCK_HDF5_READER");
  const std::string kept = before != nullptr ? before : "";
  ::setenv("PENSTOCK_HDF5_READER", "/nowhere/reader", 1);
  const Error of_environment = error_of([&] { const Hdf5Source source(options); });
  CHECK(of_environment.code() == Errc::not_found);
  CHECK(mentions(of_environment, "/nowhere/reader"));
  if (before != nullptr)
    ::setenv("PENSTOCK_HDF5_READER", kept.c_str(), 1);
  else
    ::unsetenv("PENSTOCK_HDF5_READER");
  CHECK(children().empty());
  CHECK(code_of([&] { Hdf5Source({.path = file.path, .isolate = true, .max_reader_bytes = 1000}); }) ==
        Errc::invalid_argument);
  CHECK(code_of([&] { Hdf5Source({.path = file.path, .isolate = true, .patience_ms = 0}); }) == Errc::invalid_argument);
}

TEST_CASE("a reader with a relative name is found again from another folder") {
  const EachWay file;
  Hdf5 options = untrusted(file.path);
  {
    const Hdf5Source found(options);
    REQUIRE(children().size() == 1);
    const std::filesystem::path link = "/proc/" + std::to_string(children().front()) + "/exe";
    std::filesystem::create_symlink(std::filesystem::read_symlink(link), file.folder / "reader");
  }
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(file.folder.path());
  options.reader = "./reader";
  const Hdf5Source source(options);
  std::filesystem::current_path(before);
  const std::vector<int> first = children();
  REQUIRE(first.size() == 1);
  ::kill(first.front(), SIGKILL);
  CHECK(all_gone(first));
  CHECK_NOTHROW(source.attributes("/"));
}

TEST_CASE("what takes more memory than the process may have is an error") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  PENSTOCK_SKIP("sanitizers take more address space than there is, so that it has no limit");
#endif
  const TempFolder folder;
  const std::string path = folder / "a.h5";
  // 80 MiB of zeros in a chunk, whose filters only the library undoes.
  H5Data large{.path = "x", .type = h5_integer(1, false), .shape = {2, 40u << 20}, .layout = H5D_CHUNKED};
  large.chunk = {2, 40u << 20};
  large.filters = {H5Filter::nbit, H5Filter::deflate};
  large.level = 1;
  large.values = std::string(80u << 20, '\0');
  write_h5(path, {.data = {large, counting<float>("y", {2})}});
  Hdf5 options = untrusted(path);
  options.max_reader_bytes = 64u << 20;
  const Hdf5Source source(options);
  const Error error = error_of([&] { (void)read_sample(source, 1); });
  INFO(error.what());
  CHECK(error.sample_scoped());
  CHECK(mentions(error, "dataset 'x'"));
  options.max_reader_bytes = std::size_t{1} << 30;
  CHECK(read_sample(Hdf5Source(options), 1)["x"].bytes() == 40u << 20);
}
