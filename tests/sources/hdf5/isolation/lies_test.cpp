// SPDX-License-Identifier: Apache-2.0
// Readers that were taken over by the file they read: whatever they answer is an Error, or what they might have meant.
#include <penstock/sources/hdf5.hpp>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/hdf5/isolation/untrusted.hpp"
#include "sources/hdf5/oracle.hpp"
#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

struct Deflated {
  Deflated() {
    const H5Data data = counting_chunks<std::uint16_t>("x", {60, 30}, {10, 30}, {H5Filter::shuffle, H5Filter::deflate});
    H5Data text{.path = "text", .type = {.kind = H5Type::Kind::text}, .shape = {60}};
    H5Data brain{.path = "brain", .type = {.kind = H5Type::Kind::brain, .bytes = 2}, .shape = {60, 3}};
    const H5Data scaled = counting_chunks<std::uint16_t>("scaled", {60, 9}, {10, 9}, {H5Filter::scaleoffset});
    const H5Data plain = counting_chunks<std::uint16_t>("plain", {60, 9}, {10, 9});
    write_h5(path, {.data = {data}});
    write_h5(mixed, {.data = {data, text, brain, scaled, plain}});
    columns = columns_of(path, data);
  }
  TempFolder folder;
  std::string path = folder / "a.h5", mixed = folder / "mixed.h5";
  std::vector<H5Column> columns;
};

// What reading all of it comes to. Anything but an Error leaves.
struct Outcome {
  std::uint64_t errors = 0, records = 0;
};

Outcome read_all(const Hdf5& options) {
  Outcome outcome;
  try {
    const Hdf5Source source(options);
    (void)source.notes();
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(source.size(), 60); i += 7) try {
        // A lie of what a record holds is the schema's, which every user sees before memory is taken.
        std::uint64_t bytes = 0;
        for (const Field& field : source.schema())
          bytes += field.shape.fixed() ? field.shape.elements() * size_of(field.dtype) : 0;
        if (bytes > 256u << 20) throw Error(Errc::limit_exceeded, "a record of " + std::to_string(bytes) + " bytes");
        if (source.has_keys() && source.key(i).size() > 1u << 16) throw std::logic_error("a key of any length");
        (void)read_sample(source, i);
        ++outcome.records;
      } catch (const Error&) {
        ++outcome.errors;
      }
    (void)source.attributes("/");
  } catch (const Error&) {
    ++outcome.errors;
  }
  return outcome;
}

}  // namespace

TEST_CASE("a reader that is none is told from one") {
  const Deflated file;
  {
    const Lie lie("greeting");
    const Error error = error_of([&] { const Hdf5Source source(lie.source(file.path)); });
    INFO(error.what());
    CHECK(error.code() == Errc::unsupported);
    CHECK(mentions(error, "Hdf5::reader"));
  }
  {
    const Lie lie("quit");
    const Error error = error_of([&] { const Hdf5Source source(lie.source(file.path)); });
    INFO(error.what());
    CHECK(error.code() == Errc::corrupt);
    CHECK(mentions(error, "status 7"));
  }
  {
    const Lie lie("silence");
    const Error error = error_of([&] { const Hdf5Source source(lie.source(file.path, 400)); });
    INFO(error.what());
    CHECK(mentions(error, "400 ms"));
  }
  {
    const Lie lie("endless");
    const Error error = error_of([&] { const Hdf5Source source(lie.source(file.path)); });
    INFO(error.what());
    CHECK(error.code() == Errc::corrupt);
  }
  CHECK(children().empty());
}

TEST_CASE("a reader that lies from the first answer on ends and no other process does") {
  const Deflated file;
  const pid_t other = ::fork();
  REQUIRE(other >= 0);
  if (other == 0) {
    ::alarm(20);  // also where this test ends early
    ::pause();
    ::_exit(0);
  }
  const Lie lie("open");
  const Error error = error_of([&] { const Hdf5Source source(lie.source(file.path)); });
  INFO(error.what());
  CHECK(error.code() == Errc::corrupt);
  CHECK(children() == std::vector<int>{other});
  CHECK(::waitpid(other, nullptr, WNOHANG) == 0);
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
}

TEST_CASE("a chunk outside of the file is refused") {
  const Deflated file;
  for (const std::uint64_t offset : {std::uint64_t{1} << 20, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    const Lie lie("beyond:" + std::to_string(offset));
    const Hdf5Source source(lie.source(file.path));
    const Error error = error_of([&] { (void)read_sample(source, 5); });
    INFO(error.what());
    CHECK(error.code() == Errc::corrupt);
    CHECK(mentions(error, "the file ends at"));
    CHECK(mentions(error, "[0, 0]"));
  }
  for (const std::uint64_t bytes : {std::uint64_t{1} << 20, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    const Lie lie("large:" + std::to_string(bytes));
    const Hdf5Source source(lie.source(file.path));
    CHECK(code_of([&] { (void)read_sample(source, 5); }) == Errc::corrupt);
  }
}

TEST_CASE("values that come short or late are errors") {
  const Deflated file;
  for (const char* what : {"short", "late"}) {
    INFO(what);
    const Lie lie(what);
    Hdf5 options = lie.source(file.mixed, std::string(what) == "late" ? 1500 : 10'000);
    options.fields = {{.dataset = "scaled"}};
    const Hdf5Source source(options);
    const Error error = error_of([&] { (void)read_sample(source, 5); });
    INFO(error.what());
    CHECK(error.code() == Errc::corrupt);
    CHECK(mentions(error, "dataset 'scaled'"));
    CHECK(mentions(error, what == std::string("short") ? "wrong size" : "1500 ms"));
  }
  CHECK(children().empty());
}

TEST_CASE("one chunk that kills its reader costs that chunk's records") {
  const Deflated file;
  const Lie lie("crash:20");
  {
    const Hdf5Source source(lie.source(file.path));
    const Error error = error_of([&] { (void)read_sample(source, 25); });
    INFO(error.what());
    CHECK(error.code() == Errc::corrupt);
    CHECK(error.file() == file.path);
    CHECK(
        mentions(error, "dataset 'x': the chunk at [20, 0]: the process that reads this file was ended by signal 11"));
  }
  Loader loader(from(Hdf5Source(lie.source(file.path))) | on_error({.policy = OnError::mask}) | batch(10),
                {.threads = 3, .epochs = 1});
  std::uint64_t bad = 0, good = 0;
  for (const Batch& batch : loader.epoch())
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const std::uint64_t index = batch.indices()[row];
      const bool whole = batch.mask()[row] != 0;
      CHECK(whole == (index < 20 || index >= 30));
      (whole ? good : bad) += 1;
      if (!whole) continue;
      const TensorView x = batch["x"];
      const std::size_t bytes = x.bytes() / batch.size();
      if (std::string(reinterpret_cast<const char*>(x.data) + row * bytes, bytes) != file.columns[0].rows[index].bytes)
        FAIL("record " << index);
    }
  CHECK(bad == 10);
  CHECK(good == 50);
}

TEST_CASE("answers that were tampered with are errors or values and take no memory") {
  const Deflated file;
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t sources = 0, errors = 0, records = 0;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr std::uint32_t patience_ms = 1000;
#else
  constexpr std::uint32_t patience_ms = 100;
#endif
  for (const char* what : {"head", "message", "number"})
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      INFO(what << " " << seed);
      const Lie lie(what + (":" + std::to_string(seed)));
      Hdf5 options = lie.source(seed % 2 == 0 ? file.path : file.mixed, patience_ms);
      options.max_kept_bytes = seed % 3 == 0 ? 1u << 20 : 0;
      if (seed % 4 == 1) options.key = "text";
      Outcome outcome;
      REQUIRE_NOTHROW(outcome = read_all(options));
      ++sources;
      errors += outcome.errors;
      records += outcome.records;
    }
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  std::printf("%llu sources of liars: %llu errors, %llu records, %.1f s, %ld MiB\n",
              static_cast<unsigned long long>(sources), static_cast<unsigned long long>(errors),
              static_cast<unsigned long long>(records),
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), use.ru_maxrss >> 10);
  CHECK(errors > sources / 3);
  CHECK(records > 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  CHECK(use.ru_maxrss >> 10 < 900);
#endif
  CHECK(children().empty());
}
