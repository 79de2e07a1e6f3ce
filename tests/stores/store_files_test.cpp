// SPDX-License-Identifier: Apache-2.0
// What sinks of users get of the file system as well.
#include <penstock/extend/store_files.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <span>
#include <string>

#include <penstock/extend/file_descriptor.hpp>
#include <penstock/extend/system_error.hpp>

#include "sources/temp_folder.hpp"
#include "store_jobs.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

TEST_CASE("the lock of a mark goes with the mark") {
  const TempFolder folder;
  const std::string mark = folder / "store.tar-unfinished.json";
  MarkLock lock(mark), other(mark);
  REQUIRE(lock.take("test"));
  CHECK(lock.file() == mark + ".lock");
  CHECK_FALSE(other.take("test"));
  CHECK_FALSE(other.held());
  CHECK(lock_holder(lock.file()) == "this process");
  folder.write("store.tar-unfinished.json", "half");
  lock.release();
  CHECK(std::filesystem::exists(lock.file()));
  CHECK(lock_holder(lock.file()) == "another process");  // nobody has it
  REQUIRE(other.take("test"));
  CHECK_FALSE(lock.take("test"));
  const ChildEnd end = run_child([&] { return lock_holder(mark + ".lock"); });
  CHECK(end.said == "another process (" + std::to_string(::getpid()) + ", \"test_stores\")");
  std::filesystem::remove(mark);
  other.release();
  CHECK_FALSE(std::filesystem::exists(lock.file()));
}

TEST_CASE("a lock whose file was removed is taken anew") {
  const TempFolder folder;
  const std::string file = folder / "lock";
  FileLock first, second;
  REQUIRE(first.take(file, "test"));
  std::filesystem::remove(file);
  REQUIRE(second.take(file, "test"));  // what the first one has is no file of anybody's
  first.release();
  CHECK(std::filesystem::exists(file));
  CHECK_FALSE(first.take(file, "test"));
}

TEST_CASE("folders are made where they are missing") {
  const TempFolder folder;
  for (const std::string path : {"a/b/c", "a/b/", "a/./d/../e", "a"}) {
    make_folder(folder / path, "test");
    CHECK(std::filesystem::is_directory(folder / path));
  }
  folder.write("file", "");
  try {
    make_folder(folder / "file/below", "test");
    FAIL("a file is no folder");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::not_found);
    CHECK(error.file() == folder / "file/below");
  }
}

TEST_CASE("an interrupted call is made again") {
  int calls = 0;
  CHECK(uninterrupted([&] {
          errno = EINTR;
          return ++calls < 4 ? -1 : 7;
        }) == 7);
  CHECK(calls == 4);
  CHECK(uninterrupted([&] {
          errno = EIO;
          return -1L;
        }) == -1L);
}

TEST_CASE("a file is read until what was asked for is there or its end is") {
  const TempFolder folder;
  folder.write("file", "0123456789");
  int number = -1;
  {
    const FileDescriptor file(::open((folder / "file").c_str(), O_RDONLY | O_CLOEXEC));
    REQUIRE((number = file.get()) >= 0);
    std::array<char, 8> text{};
    const auto bytes = std::as_writable_bytes(std::span(text));
    CHECK(read_whole(file.get(), bytes.first(4), 3) == 4);
    CHECK(std::string(text.data(), 4) == "3456");
    errno = EIO;
    CHECK(read_whole(file.get(), bytes, 5) == 5);
    CHECK(errno == 0);
    CHECK(std::string(text.data(), 5) == "56789");
    CHECK(read_whole(file.get(), bytes, 100) == 0);
    CHECK(errno == 0);
  }
  CHECK(::fcntl(number, F_GETFD) == -1);  // closed
  std::array<std::byte, 1> byte;
  CHECK(read_whole(number, byte, 0) == 0);
  CHECK(errno == EBADF);
}
