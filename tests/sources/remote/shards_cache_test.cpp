// SPDX-License-Identifier: Apache-2.0
// A loader's batches from shards on a server are the local ones with any cache, and what is in the cache is not
// fetched.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "sources/remote/cache_home.hpp"
#include "sources/remote/shards.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;
using namespace penstock_test::on_server;
using namespace std::chrono_literals;
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
  const WebDatasetSource here(shards.here());
  for (const std::string& shard : here.shards()) bytes += fs::file_size(shard);
  return bytes;
}

// Asking for three shards, and for their index files, which are not there.
constexpr std::uint64_t to_ask = 200;

// A loader in a process of its own: the threads of this one would not be there after a fork.
struct Job {
  std::string here, url, cache;
  std::uint64_t cache_bytes;
  const char* order;
  int rank = 0, world = 1, rounds = 1;

  Pipeline pipeline(const Pipeline& p) const {
    const bool blocks = order == std::string_view("blocks");
    const auto ranks = static_cast<std::uint64_t>(blocks ? world : 1);
    return batches(order == std::string_view("in order") ? p
                                                         : p | shuffle({.seed = 5, .blocks = blocks, .ranks = ranks})) |
           for_rank({.rank = rank, .world = world});
  }
  // Returns whether two epochs of each loader, and there are `rounds`, have the local batches.
  bool works() const {
    Loader local(pipeline(from(WebDataset{.path = here})), {.threads = 1});
    const std::string epochs[] = {bytes_of(local), bytes_of(local)};
    for (int round = 0; round < rounds; ++round) {
      WebDataset there{.path = url};
      there.client = client_with(cache, cache_bytes);
      Loader loader(pipeline(from(there)), {.threads = 2});
      for (const std::string& epoch : epochs)
        if (bytes_of(loader) != epoch) return false;
    }
    return true;
  }
  pid_t begin() const {
    const std::string numbers = std::to_string(cache_bytes) + " " + std::to_string(rank) + " " + std::to_string(world) +
                                " " + std::to_string(rounds);
    const pid_t child = ::fork();
    if (child != 0) return child;
    for (const auto& [name, value] :
         {std::pair("HERE", here.c_str()), std::pair("URL", url.c_str()), std::pair("CACHE", cache.c_str()),
          std::pair("ORDER", order), std::pair("NUMBERS", numbers.c_str())})
      ::setenv((std::string("PENSTOCK_TEST_") + name).c_str(), value, 1);
    ::execl("/proc/self/exe", "test_remote", "a loader with a cache", nullptr);
    ::_exit(9);
  }
};

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
        if (of.cache_bytes == 64 << 20) CHECK(client->counts().not_kept == 0);
      }
    }
}

TEST_CASE("a plan says where shards are kept, and whether all of them can be") {
  const Shards shards;
  const TempFolder cache;
  const auto says = [](const Pipeline& p, const std::string& text) { return p.plan().find(text) != std::string::npos; };
  const std::string where = "what is fetched is kept in " + (cache / "c") + ", up to ", part = "fetches a part of them";
  {
    const Pipeline all = from(shards.there(client_with(cache / "c", std::uint64_t{3} << 30)));
    CAPTURE(all.plan());
    CHECK(says(all, where + "3.0 GiB\n"));
    CHECK(!says(all, part));
  }
  {
    const Pipeline half = from(shards.there(client_with(cache / "c", shard_bytes(shards) / 2)));
    CAPTURE(half.plan());
    CHECK(says(half, where));
    CHECK(says(half, part));
  }
  CHECK(!says(from(shards.there(client_with("", 0))), "kept"));
  {
    cache.write("file", "text");
    const CacheHome home(cache / "file");
    const Pipeline none = from(shards.there(client_with("", std::uint64_t{3} << 30)));
    CAPTURE(none.plan());
    CHECK(says(none, "nothing is kept on a disk, so each run fetches all shards: " + (cache / "file")));
    CHECK(!says(none, "what is fetched"));
  }
  // A server that sends no versions.
  shards.server.plan(
      ServerJson::array({{{"do", "headers"}, {"headers", {{"ETag", nullptr}, {"Last-Modified", nullptr}}}}}));
  const Pipeline none = from(shards.there(client_with(cache / "c", std::uint64_t{3} << 30)));
  CAPTURE(none.plan());
  CHECK(says(none, "the cache keeps nothing of 3 of 3 shards, because the server sends no version"));
}

TEST_CASE("a report says what a full cache could not keep") {
  const Shards shards;
  const TempFolder cache;
  const auto client = client_with(cache / "c", shard_bytes(shards) / 2);
  Loader loader(batches(from(shards.there(client))), {.threads = 1});
  const std::uint64_t before = client->counts().not_kept;
  (void)bytes_of(loader);
  const Report report = loader.report();
  CAPTURE(report.text());
  REQUIRE(report.fetched);
  CHECK(report.fetched->not_kept > 0);
  CHECK(report.fetched->not_kept <= client->counts().not_kept - before);
  CHECK(report.text().find("; the cache could not keep " + std::to_string(report.fetched->not_kept) + " range") !=
        std::string::npos);
}

TEST_CASE("ranks of a machine fetch each range once between them, and count the cache once") {
  const Shards shards;
  const TempFolder cache;
  const std::uint64_t bytes = shard_bytes(shards);
  for (const char* order : {"in order", "shuffled", "blocks"}) {
    INFO(order);
    const std::string folder = cache / order;
    shards.server.plan(ServerJson::array(), {{"latency", 0.005}});
    std::vector<pid_t> children;
    for (int rank = 0; rank < 2; ++rank)
      children.push_back(
          Job{shards.here().path, shards.there(nullptr).path, folder, bytes + 60 * 16 + 20'000, order, rank, 2}
              .begin());
    for (const pid_t child : children) CHECK(status_of(child) == 0);
    CHECK(shards.server.bytes() <= bytes + 2 * to_ask);
  }
}

TEST_CASE("a loader that is killed fifty times continues, and little is fetched again") {
  const Shards shards;
  const TempFolder cache;
  const std::uint64_t bytes = shard_bytes(shards);
  const std::string folder = cache / "c";
  shards.server.plan(ServerJson::array(), {{"latency", 0.001}, {"bytes_per_s_a_connection", 20'000'000}});
  Job job{shards.here().path, shards.there(nullptr).path, folder, 64 << 20, "blocks"};
  constexpr int kills = 50;
  int killed = 0;
  for (int i = 0; i < kills; ++i) {
    if (i % 10 == 0) {
      fs::remove_all(folder);
      shards.server.plan(ServerJson::array(), {{"latency", 0.001}, {"bytes_per_s_a_connection", 20'000'000}});
    }
    job.rounds = 1'000'000;
    const pid_t child = job.begin();
    std::this_thread::sleep_for(std::chrono::microseconds(2000 + (i * 7919) % 150'000));
    ::kill(child, SIGKILL);
    const int status = status_of(child);
    killed += WIFSIGNALED(status) ? 1 : 0;
    if (i % 10 != 9) continue;
    job.rounds = 1;
    CHECK(status_of(job.begin()) == 0);
    CHECK(shards.server.bytes() <= bytes + 11 * to_ask + 10 * connections * (64 << 10));
  }
  CHECK(killed == kills);
}

TEST_CASE("a loader with a cache", "[.process]") {
  const auto text = [](const char* name) {
    return std::string(std::getenv((std::string("PENSTOCK_TEST_") + name).c_str()));
  };
  const std::string order = text("ORDER");
  Job job{text("HERE"), text("URL"), text("CACHE"), 0, order.c_str()};
  std::istringstream(text("NUMBERS")) >> job.cache_bytes >> job.rank >> job.world >> job.rounds;
  CHECK(job.works());
}

}  // namespace PENSTOCK_TEST_FILE
