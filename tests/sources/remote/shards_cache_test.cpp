// SPDX-License-Identifier: Apache-2.0
// A loader's batches from shards on a server are the local ones with any cache, and what is in the cache is not
// fetched.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "sources/remote/shards.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock_test::on_server;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t entry = (64 << 10) + 16, own = 1024;
constexpr unsigned connections = 4;

std::shared_ptr<const RemoteClient> client_with(const std::string& cache, std::uint64_t bytes) {
  Remote remote;
  remote.range_bytes = 64 << 10;
  remote.connections = connections;
  remote.retries = 60;
  remote.first_pause = 2ms;
  remote.longest_pause = 20ms;
  remote.stalled = 1s;
  remote.cache = cache;
  remote.cache_bytes = bytes;
  return std::make_shared<const RemoteClient>(remote);
}

std::uint64_t shard_bytes(const Shards& shards) {
  std::uint64_t bytes = 0;
  for (const std::string& shard : WebDatasetSource(shards.here()).shards()) bytes += fs::file_size(shard);
  return bytes;
}

// Asking for three shards, and for their index files, which are not there.
constexpr std::uint64_t to_ask = 200;

pid_t child_of(const std::function<bool()>& act) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  int status = 1;
  try {
    status = act() ? 0 : 1;
  } catch (...) {
  }
  ::_exit(status);
}

int status_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("batches are the local ones with a cache of any size, under faults, in each order") {
  const Shards shards;
  const TempFolder cache;
  const std::uint64_t bytes = shard_bytes(shards);
  const ServerJson well = ServerJson::array();
  const ServerJson faults = ServerJson::array({{{"do", "close"}, {"after", 9000}, {"chance", 0.1}, {"seed", 1}},
                                               {{"do", "status"}, {"code", 503}, {"chance", 0.1}, {"seed", 3}},
                                               {{"do", "short"}, {"by", 100}, {"chance", 0.1}, {"seed", 4}}});
  struct Case {
    const char* name;
    std::function<Pipeline(const Pipeline&)> order;
    std::uint64_t cache_bytes;
    unsigned threads;
  };
  const auto plain = [](const Pipeline& p) { return p; };
  const auto by_blocks = [](const Pipeline& p) { return p | shuffle({.seed = 9, .blocks = true, .window_blocks = 2}); };
  const auto shuffled = [](const Pipeline& p) { return p | shuffle({.seed = 9}); };
  const Case cases[] = {{"in order, all", plain, 64 << 20, 3},
                        {"by blocks, all", by_blocks, 64 << 20, 2},
                        {"shuffled, all", shuffled, 64 << 20, 2},
                        {"in order, half", plain, bytes / 2, 2},
                        {"by blocks, one range", by_blocks, own + entry, 3}};
  int number = 0;
  for (const Case& of : cases)
    for (const ServerJson& rules : {well, faults}) {
      INFO(of.name);
      CAPTURE(rules.size());
      const std::string folder = cache / std::to_string(number++);
      Loader local(batches(of.order(from(shards.here()))), {.threads = 1});
      shards.server.plan(rules);
      for (int run = 0; run < 2; ++run) {
        const auto client = client_with(folder, of.cache_bytes);
        Loader loader(batches(of.order(from(shards.there(client)))), {.threads = of.threads});
        if (run == 0)
          CHECK((bytes_of(loader) == bytes_of(local)));
        else
          loader.resume(local.state());
        CHECK((bytes_of(loader) == bytes_of(local)));
        // The first time, all is fetched to open the shards; then nothing is.
        if (of.cache_bytes == 64 << 20 && rules.empty())
          CHECK(shards.server.bytes() <= bytes + (static_cast<std::uint64_t>(run) + 1) * to_ask);
        CHECK(client->counts().not_kept == 0 || of.cache_bytes != 64 << 20);
      }
    }
}

TEST_CASE("ranks of a machine fetch each range once between them, and count the cache once") {
  const Shards shards;
  const TempFolder cache;
  const std::uint64_t bytes = shard_bytes(shards);
  for (const char* order : {"in order", "shuffled", "blocks"}) {
    INFO(order);
    const std::string folder = cache / order;
    shards.server.plan(ServerJson::array(), {{"latency", 0.005}});
    const auto of_rank = [&](const Pipeline& p, int rank) {
      const bool blocks = order == std::string_view("blocks");
      return batches(order == std::string_view("in order")
                         ? p
                         : p | shuffle({.seed = 5, .blocks = blocks, .ranks = blocks ? 2u : 1u})) |
             for_rank({.rank = rank, .world = 2});
    };
    std::vector<pid_t> children;
    for (int rank = 0; rank < 2; ++rank)
      children.push_back(child_of([&, rank] {
        Loader local(of_rank(from(shards.here()), rank), {.threads = 1});
        Loader loader(of_rank(from(shards.there(client_with(folder, bytes + 60 * 16 + 20'000))), rank), {.threads = 2});
        for (int epoch = 0; epoch < 2; ++epoch)
          if (bytes_of(loader) != bytes_of(local)) return false;
        return true;
      }));
    for (const pid_t child : children) CHECK(status_of(child) == 0);
    CHECK(shards.server.bytes() <= bytes + 2 * to_ask);
  }
}

TEST_CASE("a loader that is killed fifty times continues, and little is fetched again") {
  const Shards shards;
  const TempFolder cache;
  const std::uint64_t bytes = shard_bytes(shards);
  const std::string folder = cache / "c", state = cache / "state";
  shards.server.plan(ServerJson::array(), {{"latency", 0.001}, {"bytes_per_s_a_connection", 20'000'000}});
  Loader local(batches(from(shards.here()) | shuffle({.seed = 3, .blocks = true})), {.threads = 1});
  const std::string first = bytes_of(local), second = bytes_of(local);
  const auto run = [&] {
    Loader loader(batches(from(shards.there(client_with(folder, 64 << 20))) | shuffle({.seed = 3, .blocks = true})),
                  {.threads = 2});
    return bytes_of(loader) == first && bytes_of(loader) == second;
  };
  constexpr int kills = 50;
  int killed = 0;
  for (int i = 0; i < kills; ++i) {
    if (i % 10 == 0) {
      fs::remove_all(folder);
      shards.server.plan(ServerJson::array(), {{"latency", 0.001}, {"bytes_per_s_a_connection", 20'000'000}});
    }
    const pid_t child = child_of([&] {
      for (;;)
        if (!run()) return false;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(2000 + (i * 7919) % 60'000));
    ::kill(child, SIGKILL);
    const int status = status_of(child);
    killed += WIFSIGNALED(status) ? 1 : 0;
    if (i % 10 != 9) continue;
    const pid_t last = child_of(run);
    CHECK(status_of(last) == 0);
    CHECK(shards.server.bytes() <= bytes + 11 * to_ask + 10 * connections * (64 << 10));
  }
  CHECK(killed == kills);
}

}  // namespace PENSTOCK_TEST_FILE
