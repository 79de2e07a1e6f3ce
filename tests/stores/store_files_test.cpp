// What sinks of users get of the file system as well.
#include <penstock/store_files.hpp>

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include <penstock/system_error.hpp>

#include "sources/temp_folder.hpp"
#include "store_jobs.hpp"
#include "support/catch.hpp"

using namespace penstock;
using namespace penstock_test;

TEST_CASE("the lock of a mark goes with the mark") {
  const TempFolder folder;
  const std::string mark = folder / "store-unfinished.json";
  MarkLock lock(mark), other(mark);
  REQUIRE(lock.take("test"));
  CHECK(lock.file() == mark + ".lock");
  CHECK_FALSE(other.take("test"));
  CHECK_FALSE(other.held());
  CHECK(lock_holder(lock.file()) == "this process");
  folder.write("store-unfinished.json", "half");
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
