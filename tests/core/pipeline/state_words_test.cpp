// SPDX-License-Identifier: Apache-2.0
// What is said where a state belongs to another pipeline, and where a field is asked for as what it is not.
#include "support/catch.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;
namespace fs = std::filesystem;

namespace {

struct StateFile {
  fs::path path;
  StateFile() {
    std::string pattern = (fs::temp_directory_path() / "penstock-words-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path = fs::path(pattern) / "state";
  }
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;
  ~StateFile() { fs::remove_all(path.parent_path()); }
};

ps::Stage scaling(std::uint64_t version = 1) {
  return ps::map("x", [](ps::View<const std::uint32_t, 1>, ps::View<float, 1> out) { std::ranges::fill(out, 0.0f); },
                 {.name = "scale", .version = version});
}
ps::Pipeline records(std::uint64_t n = 60) { return ps::from(Records{.count = n}); }
ps::Pipeline usual() { return records() | ps::shuffle() | scaling() | ps::batch(4); }

// What a loader of `other` says to a state of `usual`: bare, and from a file with words.
std::pair<std::string, std::string> refusals(const ps::Pipeline& other) {
  const StateFile file;
  ps::Loader saved(usual());
  saved.save(file.path);
  ps::Loader loader(other);
  const auto bare = help::error_of([&] { loader.resume(saved.state()); });
  const auto words = help::error_of([&] { loader.resume(file.path.string()); });
  REQUIRE((bare && words));
  CHECK(bare->code() == ps::Errc::state_mismatch);
  CHECK(words->code() == ps::Errc::state_mismatch);
  CHECK(words->file() == file.path.string());
  return {bare->cause(), words->cause()};
}
bool holds(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return true;
}

}  // namespace

TEST_CASE("a state of another pipeline says which part of it differs, and with words which stage, and how") {
  {
    const auto [bare, words] = refusals(records() | ps::shuffle() | scaling(2) | ps::batch(4));
    holds(bare, "what differs is its stages; compare");
    holds(bare, "Loader::save");
    holds(words, "stage scale(x): there \"version 1 -> {x: f32[4], y: i64[]}\", here \"version 2 ->");
  }
  {
    const auto [bare, words] = refusals(records() | ps::shuffle() | scaling() | ps::batch(8, {.tail = ps::Tail::pad}));
    holds(bare, "what differs is its batch");
    holds(words, "batch: there \"4 rows, the last batch is kept\", here \"8 rows, the last batch is padded\"");
  }
  {
    const auto [bare, words] = refusals(records() | scaling() | ps::batch(4));
    holds(bare, "what differs is its orders; compare");
    holds(words, "there is the order shuffle \"shuffle\", which is not here");
  }
  {
    const auto [bare, words] = refusals(records() | ps::shuffle() | AddDraw{} | scaling() | ps::batch(4));
    holds(bare, "its stages");
    holds(words, "here is the stage add_draw \"no version -> {x: u32[4], y: i64[]}\", which is not there");
  }
  {
    const auto [bare, words] =
        refusals(ps::from(Records{.count = 60, .salt = 9}) | ps::shuffle() | scaling() | ps::batch(4));
    holds(bare, "what differs is its source; compare");
    holds(words, "source: there \"records of 60 records {x: u32[4], y: i64[]}, identity ");
  }
  {
    const auto [bare, words] = refusals(usual() | ps::on_error({.policy = ps::OnError::mask, .max_share = 0.25}));
    holds(bare, "what is said of errors, checks or ranks");
    holds(words, "on_error: there \"fail, max_count 18446744073709551615, max_share 1\", here \"mask, ");
  }
  {
    const auto [bare, words] = refusals(ps::from(Records{.count = 61}) | ps::take(60) | scaling() | ps::batch(8));
    holds(bare, "its source, its orders and its batch");
    holds(words, "source: there");
    holds(words, "there is the order shuffle \"shuffle\" where here is the order take \"take 60\"");
  }
  {
    const auto [bare, words] = refusals(records() | ps::shuffle({.seed = 3}) | scaling() | ps::batch(4));
    holds(bare, "the state was saved with seed 0, this pipeline has 3");
    holds(words, "the state was saved with seed 0, this pipeline has 3");
  }
}

TEST_CASE("a state with words resumes as one without") {
  const StateFile file;
  ps::Loader loader(usual(), {.threads = 2});
  for (int i = 0; i < 5; ++i) REQUIRE(loader.next());
  loader.save(file.path);
  CHECK(ps::load_state(file.path) == loader.state());
  CHECK(fs::file_size(file.path) > 64);
  std::string bytes(64, '\0');
  std::ifstream(file.path, std::ios::binary).read(bytes.data(), 64);
  CHECK(bytes == std::string(reinterpret_cast<const char*>(std::array{loader.state()}.data()), 64));
  std::vector<Got> rest;
  const auto saved = loader.state();
  while (const auto batch = loader.next()) rest.push_back(copy(*batch));
  ps::Loader again(usual(), {.threads = 2});
  again.resume(file.path.string());
  CHECK(collect(again) == rest);
  ps::save_state(saved, file.path);
  CHECK(fs::file_size(file.path) == 64);
  again.resume(file.path.string());
  CHECK(again.state() == saved);
  CHECK(help::error_of([&] { again.resume(file.path.string() + "2"); })->code() == ps::Errc::not_found);
}

TEST_CASE("what stands after a state and is no pipeline in words is refused, and damaged words are only words") {
  const StateFile file;
  ps::Loader loader(usual());
  loader.save(file.path);
  std::string good(fs::file_size(file.path), '\0');
  std::ifstream(file.path, std::ios::binary).read(good.data(), static_cast<std::streamsize>(good.size()));
  const auto write = [&](const std::string& bytes) { std::ofstream(file.path, std::ios::binary) << bytes; };
  write(good.substr(0, 64) + "penstock");
  CHECK(help::error_of([&] { loader.resume(file.path.string()); })->code() == ps::Errc::state_mismatch);
  ps::Loader other(records() | ps::shuffle() | scaling(2) | ps::batch(4));
  for (std::size_t cut = 64 + 21; cut < good.size(); cut += 7) {
    write(good.substr(0, cut));
    CHECK_NOTHROW(loader.resume(file.path.string()));
    CHECK(help::error_of([&] { other.resume(file.path.string()); })->code() == ps::Errc::state_mismatch);
  }
}

TEST_CASE("a field that is asked for as something else says what it is") {
  ps::Loader loader(records() | ps::ragged("x") | ps::batch(4));
  auto batch = loader.next();
  REQUIRE(batch);
  const auto cause = [](const std::function<void()>& f) {
    const auto error = help::error_of(f);
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::schema_mismatch);
    return error->cause();
  };
  CHECK(cause([&] { (void)batch->view<float, 2>("y"); }) ==
        "field \"y\" of the batch is i64[4], but was asked for as f32 of rank 2; it is i64 of rank 1, a "
        "View<std::int64_t, 1>");
  CHECK(cause([&] { (void)batch->ragged("x").view<float, 1>(0); }) ==
        "field \"x\" of the batch is u32[4], but was asked for as f32 of rank 1; it is u32 of rank 1, a "
        "View<std::uint32_t, 1>");
  CHECK(cause([&] { (void)(*batch)["y"].as<std::int64_t, 2>(); }) ==
        "the tensor is i64[4], but was asked for as i64 of rank 2; it is i64 of rank 1, a View<std::int64_t, 1>");
}

}  // namespace PENSTOCK_TEST_FILE
