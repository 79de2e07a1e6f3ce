// SPDX-License-Identifier: Apache-2.0
// What a user's sink keeps of the job that made its store.
#include <penstock/extend/sink.hpp>

#include <fstream>
#include <string>

#include "core/help.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"
#include "support/thrown.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock_test;
namespace ps = penstock;

TEST_CASE("a sink that keeps its job goes on with the same one, and names what differs from another") {
  const TempFolder folder;
  const std::string file = folder / "job.txt";
  const ps::SinkJob job{.schema = {},
                        .made_by = {{"source", "a table"}, {"stage add(label)", "version 1"}, {"seed", "0"}}};
  ps::keep_job(file, job, "mine");
  const std::string kept = text_in(file);
  ps::keep_job(file, job, "mine");
  CHECK(text_in(file) == kept);
  const auto refused = [&](const ps::SinkJob& other, const std::string& why) {
    const ps::Error error = error_of([&] { ps::keep_job(file, other, "mine"); });
    CHECK(error.code() == ps::Errc::state_mismatch);
    CHECK(error.file() == file);
    CHECK(error.source() == "mine");
    CHECK(mentions(error, why));
    CHECK(mentions(error, "delete the store, or write to another path"));
    CHECK(text_in(file) == kept);
  };
  ps::SinkJob other = job;
  other.made_by[1].words = "version 2";
  refused(other, "another job made the store (stage add(label): there \"version 1\", here \"version 2\")");
  other.made_by.erase(other.made_by.begin() + 1);
  refused(other, "there is the stage add(label)");
  // Of the same words, each in another place.
  refused({.schema = {}, .made_by = {{"source", "a table"}, {"seed", "0"}, {"stage add(label)", "version 1"}}},
          "another job");
}

TEST_CASE("facts of any characters are kept and compared") {
  const TempFolder folder;
  const std::string file = folder / "job.txt";
  const ps::SinkJob job{.schema = {}, .made_by = {{"a\tb", "c\nd"}, {"e", "f\t\xff"}}};
  ps::keep_job(file, job, "mine");
  CHECK_NOTHROW(ps::keep_job(file, job, "mine"));
  ps::SinkJob other = job;
  other.made_by[1].words = "f\n\xff";
  CHECK(mentions(error_of([&] { ps::keep_job(file, other, "mine"); }), "e: there \"f"));
}

TEST_CASE("a sink doesn't guess what made its store") {
  const TempFolder folder;
  const std::string file = folder / "job.txt";
  const ps::SinkJob job{.schema = {}, .made_by = {{"source", "a table"}}};
  for (const std::string text : {"", "something else", "made by"}) {
    folder.write("job.txt", text);
    const ps::Error error = error_of([&] { ps::keep_job(file, job, "mine"); });
    CHECK(error.code() == ps::Errc::state_mismatch);
    CHECK(mentions(error, "the file does not say what made the store"));
  }
  // Damaged, or cut off.
  ps::keep_job(folder / "other.txt", job, "mine");
  const std::string whole = text_in(folder / "other.txt");
  for (std::size_t bytes = 8; bytes < whole.size(); ++bytes) {
    folder.write("job.txt", whole.substr(0, bytes));
    CHECK(code_of([&] { ps::keep_job(file, job, "mine"); }) == ps::Errc::state_mismatch);
  }
}

}  // namespace PENSTOCK_TEST_FILE
