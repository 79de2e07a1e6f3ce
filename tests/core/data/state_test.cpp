// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/help.hpp"
#include "data/state.hpp"

using namespace help;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path;
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "penstock-state-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path); }
};

ps::State some_state() {
  ps::State s;
  s.fingerprint = mix(1);
  s.seed = mix(2);
  s.epoch = 3;
  s.position = 64;
  s.step = 77;
  s.replaced = 5;
  s.check = ps::detail::state_checksum(s);
  return s;
}
std::string bytes_of(const ps::State& s) { return std::string(reinterpret_cast<const char*>(&s), sizeof s); }
void write(const fs::path& file, const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; }
ps::Errc load_error(const fs::path& file) {
  const auto error = error_of([&] { (void)ps::load_state(file); });
  REQUIRE(error);
  CHECK(error->file() == file.string());
  return error->code();
}

}  // namespace

TEST_CASE("a state is 64 bytes, and comes back from its file as it was") {
  const Folder folder;
  const fs::path file = folder.path / "state";
  const ps::State state = some_state();
  static_assert(sizeof(ps::State) == 64);
  ps::save_state(state, file);
  CHECK(fs::file_size(file) == 64);
  CHECK(ps::load_state(file) == state);
  ps::State next = state;
  next.step = 78;
  next.check = ps::detail::state_checksum(next);
  ps::save_state(next, file);
  CHECK(ps::load_state(file) == next);
  // Nothing temporary stays.
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 1);
}

TEST_CASE("every damaged bit of a state is noticed") {
  const Folder folder;
  const fs::path file = folder.path / "state";
  const std::string good = bytes_of(some_state());
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      write(file, bad);
      CAPTURE(i, bit);
      REQUIRE(load_error(file) == ps::Errc::state_mismatch);
    }
  }
}

TEST_CASE("a state file that is too short, too long or missing is refused") {
  const Folder folder;
  const fs::path file = folder.path / "state";
  const std::string good = bytes_of(some_state());
  for (std::size_t n = 0; n < good.size(); ++n) {
    write(file, good.substr(0, n));
    REQUIRE(load_error(file) == ps::Errc::state_mismatch);
  }
  write(file, good + "x");
  CHECK(load_error(file) == ps::Errc::state_mismatch);
  fs::remove(file);
  CHECK(load_error(file) == ps::Errc::not_found);
  CHECK(error_of([&] { ps::save_state(some_state(), folder.path / "no" / "state"); }));
}

TEST_CASE("a state of another version is refused, though its checksum is right") {
  const Folder folder;
  ps::State state = some_state();
  state.version = 1;
  state.check = ps::detail::state_checksum(state);
  write(folder.path / "state", bytes_of(state));
  const auto error = error_of([&] { (void)ps::load_state(folder.path / "state"); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::state_mismatch);
  CHECK(error->cause().find("version 1") != std::string::npos);
}

TEST_CASE("a save that fails leaves the old state") {
  if (::geteuid() == 0) {
    // Nothing is forbidden to root, so the new file is made impossible instead: its name is taken by a folder.
    const Folder folder;
    const fs::path file = folder.path / "state";
    ps::save_state(some_state(), file);
    fs::create_directory(file.string() + ".tmp." + std::to_string(::getpid()));
    ps::State next = some_state();
    next.step = 99;
    next.check = ps::detail::state_checksum(next);
    CHECK(error_of([&] { ps::save_state(next, file); })->code() == ps::Errc::io);
    CHECK(ps::load_state(file) == some_state());
  } else {
    const Folder folder;
    const fs::path file = folder.path / "state";
    ps::save_state(some_state(), file);
    fs::permissions(folder.path, fs::perms::owner_read | fs::perms::owner_exec);
    CHECK(error_of([&] { ps::save_state(some_state(), file); })->code() == ps::Errc::io);
    fs::permissions(folder.path, fs::perms::owner_all);
    CHECK(ps::load_state(file) == some_state());
  }
}

TEST_CASE("the state of another pipeline is refused") {
  const auto build = [](std::uint64_t n, std::uint64_t salt, std::uint64_t seed, std::uint64_t rows) {
    return ps::from(Records{.count = n, .width = 4, .salt = salt}) | ps::shuffle({.seed = seed}) | AddDraw{} |
           ps::batch(rows);
  };
  ps::Loader loader(build(40, 0, 1, 4), {.threads = 1});
  (void)loader.next();
  const ps::State state = loader.state();
  const auto refused = [&](const ps::Pipeline& p) {
    ps::Loader other(p, {.threads = 1});
    const auto error = error_of([&] { other.resume(state); });
    return error && error->code() == ps::Errc::state_mismatch;
  };
  CHECK_FALSE(refused(build(40, 0, 1, 4)));
  CHECK(refused(build(41, 0, 1, 4)));  // size
  CHECK(refused(build(40, 9, 1, 4)));  // identity
  CHECK(refused(build(40, 0, 2, 4)));  // seed
  CHECK(refused(build(40, 0, 1, 5)));  // batch
  const ps::Pipeline plain = ps::from(Records{.count = 40}) | ps::shuffle({.seed = 1});
  CHECK(refused(plain | ps::batch(4)));  // stage missing
  CHECK(refused(plain | AddDraw{} | ps::batch(4, {.tail = ps::Tail::drop})));
  CHECK(refused(plain | AddDraw{} | ps::on_error({.policy = ps::OnError::mask}) | ps::batch(4)));
  CHECK(refused(plain | AddDraw{} | ps::check({.verify = true}) | ps::batch(4)));
  CHECK(refused(plain | ps::take(40) | AddDraw{} | ps::batch(4)));                      // an order more
  CHECK_FALSE(refused(plain | AddDraw{} | ps::check({.fold = false}) | ps::batch(4)));  // changes no result
}

TEST_CASE("a state is refused when its check, its position or its version is not right") {
  ps::Loader loader(ps::from(Records{.count = 40}) | ps::batch(4), {.threads = 1});
  const ps::State good = loader.state();
  const auto refused = [&](auto change) {
    ps::State s = good;
    change(s);
    const auto error = error_of([&] { loader.resume(s); });
    return error && error->code() == ps::Errc::state_mismatch;
  };
  const auto signed_after = [](auto change) {
    return [change](ps::State& s) {
      change(s);
      s.check = ps::detail::state_checksum(s);
    };
  };
  CHECK(refused([](ps::State& s) { s.position = 4; }));
  CHECK(refused(signed_after([](ps::State& s) { s.position = 3; })));
  CHECK(refused(signed_after([](ps::State& s) { s.position = 44; })));
  CHECK(refused(signed_after([](ps::State& s) { s.child = 1; })));
  CHECK(refused(signed_after([](ps::State& s) { s.version = 9; })));
  CHECK_FALSE(refused(signed_after([](ps::State& s) { s.position = 4; })));
  CHECK_FALSE(refused(signed_after([](ps::State& s) { s.position = 40; })));  // the next epoch's beginning
  CHECK(loader.state().epoch == good.epoch + 1);
  CHECK(loader.state().position == 0);
}
