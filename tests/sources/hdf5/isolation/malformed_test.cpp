// SPDX-License-Identifier: Apache-2.0
// Malformed files of the world, which kill or hang the HDF5 library: this process outlives them all.
#include <penstock/sources/hdf5.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <penstock/penstock.hpp>

#include "sources/hdf5/isolation/untrusted.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

struct RelaxedCounter {
  std::uint64_t opened = 0, refused = 0, ended = 0, late = 0, records = 0, keys = 0, bad_records = 0;
};

void count(RelaxedCounter& tally, const Error& error) {
  const std::string text = error.what();
  tally.ended += text.find("was ended by signal") != std::string::npos ? 1 : 0;
  tally.late += text.find("gave no answer") != std::string::npos ? 1 : 0;
}

// Those that an error lists: "the same records: x [4, 2], group/y [3] and 7 more; name in …".
std::vector<std::string> datasets_in(const Error& error) {
  std::vector<std::string> names;
  constexpr std::string_view before = "the same records: ";
  std::string text = error.cause();
  if (error.code() != Errc::schema_mismatch || text.find(before) == std::string::npos) return names;
  text.erase(0, text.find(before) + before.size());
  for (std::size_t end = text.find(" ["); end != std::string::npos; end = text.find(" [")) {
    names.push_back(text.substr(0, end));
    text.erase(0, text.find(']', end) + 1);
    if (!text.starts_with(", ")) break;
    text.erase(0, 2);
  }
  return names;
}

// Each of its fields as keys, some of them.
void read_keys(const Hdf5Source& source, const Hdf5& options, RelaxedCounter& tally) {
  constexpr std::uint64_t max_keys = 20;
  for (const Hdf5FieldInfo& field : source.fields()) try {
      Hdf5 keyed = options;
      keyed.fields = {{.dataset = field.dataset, .member = field.member}};
      keyed.key = field.dataset + (field.member.empty() ? "" : "/" + field.member);
      const Hdf5Source with(keyed);
      for (std::uint64_t i = 0; i < std::min(with.size(), max_keys); ++i) try {
          (void)with.key(i);
          ++tally.keys;
        } catch (const Error& error) {
          count(tally, error);
          if (error.cause().empty() || error.file().empty() || !error.sample_scoped()) FAIL(error.what());
        }
    } catch (const Error& error) {  // most are no keys
      count(tally, error);
    }
}

// Some of its records.
void read_some(const Hdf5& options, RelaxedCounter& tally) {
  constexpr std::uint64_t max_records = 20, max_bytes = 64u << 20;
  const Hdf5Source source(options);
  ++tally.opened;
  (void)source.notes();
  std::uint64_t bytes = 0;
  for (const Field& field : source.schema())
    bytes += field.shape.fixed() ? field.shape.elements() * size_of(field.dtype) : 0;
  for (std::uint64_t i = 0; i < std::min(source.size(), max_records) && bytes <= max_bytes; ++i) {
    std::vector<std::uint64_t> ids;
    source.blocks_of(i, ids);
    try {
      (void)read_sample(source, i);
      ++tally.records;
    } catch (const Error& error) {
      ++tally.bad_records;
      count(tally, error);
      if (error.cause().empty() || error.file().empty() || !error.sample_scoped()) FAIL(error.what());
    }
  }
  read_keys(source, options, tally);
}

// A process that hangs in the library ends with the one that asked it, also where that is killed.
bool ends_with_its_parent(const std::string& file) {
  const pid_t parent = ::fork();
  if (parent == 0) {
    try {
      Hdf5 options = untrusted(file);
      options.patience_ms = 60'000;
      const Hdf5Source source(options);
    } catch (const Error&) {
    }
    ::_exit(0);
  }
  std::vector<int> readers;
  for (int tries = 0; tries < 200 && readers.empty(); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    readers = children(parent);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  if (::waitpid(parent, nullptr, WNOHANG) == parent) return true;  // this time it was only slow
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  return !readers.empty() && all_gone(readers);
}

}  // namespace

TEST_CASE("malformed files of the world are errors or data and kill nothing") {
  const char* const folder = std::getenv("PENSTOCK_BAD_HDF5");
  if (folder == nullptr || !std::filesystem::is_directory(folder))
    PENSTOCK_SKIP("PENSTOCK_BAD_HDF5 names no folder: 0 malformed files were tried");
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().filename() != "LICENSE") files.push_back(entry.path());
  std::ranges::sort(files);
  const std::size_t descriptors = open_descriptors();
  const auto start = std::chrono::steady_clock::now();
  RelaxedCounter tally;
  for (const auto& file : files) {
    INFO(file.string());
    Hdf5 options = untrusted(file.string());
    options.patience_ms = 500;
    options.max_reader_bytes = std::size_t{512} << 20;
    try {
      read_some(options, tally);
    } catch (const Error& error) {
      ++tally.refused;
      const std::uint64_t late = tally.late;
      count(tally, error);
      if (error.cause().empty() || error.file().empty()) FAIL(error.what());
      if (tally.late != late) CHECK(ends_with_its_parent(file.string()));
      // Not all of its datasets count the same: then one by one.
      for (const std::string& dataset : datasets_in(error)) try {
          options.fields = {{.dataset = dataset}};
          read_some(options, tally);
        } catch (const Error& other) {
          count(tally, other);
        }
    }
  }
  std::printf(
      "%zu malformed files: %llu sources opened, %llu files refused; %llu records read, %llu bad; %llu keys; the "
      "process "
      "that reads was ended by a signal %llu times, for its time %llu times; %.1f s\n",
      files.size(), static_cast<unsigned long long>(tally.opened), static_cast<unsigned long long>(tally.refused),
      static_cast<unsigned long long>(tally.records), static_cast<unsigned long long>(tally.bad_records),
      static_cast<unsigned long long>(tally.keys), static_cast<unsigned long long>(tally.ended),
      static_cast<unsigned long long>(tally.late),
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  CHECK_FALSE(files.empty());
  CHECK(tally.ended + tally.late > 0);
  CHECK(children().empty());
  CHECK(open_descriptors() == descriptors);
}
