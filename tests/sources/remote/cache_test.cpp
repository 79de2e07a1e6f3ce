// SPDX-License-Identifier: Apache-2.0
// The cache of files on servers: nothing is fetched twice, the bound holds, and bytes are right whatever happens to it.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/sources/remote.hpp>

#include "sources/remote/cache_home.hpp"
#include "sources/remote/reading.hpp"
#include "sources/remote/server.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;
using namespace penstock_test::on_server;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

constexpr unsigned connections = 4;
constexpr std::uint64_t entry = range + 16, own = 1024;  // bytes of a kept range, and of the cache's own files

struct Site {
  Site() { write("a.bin", 1); }
  void write(const std::string& name, std::uint64_t seed) {
    bytes = content(10 * range + 777, seed);
    folder.write(name, bytes);
  }
  Remote options(std::uint64_t cache_bytes = 1 << 20) const {
    Remote remote;
    remote.range_bytes = range;
    remote.connections = connections;
    remote.first_pause = 5ms;
    remote.longest_pause = 40ms;
    remote.stalled = 2s;
    remote.give_up = 20s;
    remote.cache = cache / "c";
    remote.cache_bytes = cache_bytes;
    return remote;
  }
  std::string url(const std::string& name = "a.bin") const { return server.url(name); }
  TempFolder folder, cache;
  std::string bytes;
  Server server{folder};
};

// What a process of its own reads with these options, in a client that it ends in order.
std::string read_by_client(const Remote& options, const std::string& url, bool announced = true) {
  const RemoteClient client(options);
  return read_all(*client.open(url), announced);
}

std::vector<fs::path> entries(const Site& site) {
  std::vector<fs::path> found;
  const fs::path files = site.cache.path() / "c" / "v1" / "files";
  if (!fs::exists(files)) return found;
  for (const auto& file : fs::recursive_directory_iterator(files))
    if (file.is_regular_file() && file.path().filename() != "used") found.push_back(file.path());
  std::ranges::sort(found);
  return found;
}

// While other processes make and remove files.
std::uint64_t bytes_of_cache(const Site& site) {
  std::uint64_t sum = 0;
  std::error_code none;
  for (fs::recursive_directory_iterator at(site.cache.path() / "c", none), end; at != end; at.increment(none))
    if (std::error_code gone; at->is_regular_file(gone)) {
      const std::uint64_t size = at->file_size(gone);
      sum += gone ? 0 : size;
    }
  return sum;
}

// Runs a child, which fails with status 1 if `act` throws or returns false.
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

TEST_CASE("what is in the cache is not fetched again, by this client or a later one") {
  const Site site;
  for (const bool announced : {true, false}) {
    fs::remove_all(site.cache.path() / "c");
    site.server.plan(ServerJson::array());
    {
      const RemoteClient client(site.options());
      const auto file = client.open(site.url());
      for (int epoch = 0; epoch < 3; ++epoch) CHECK(read_all(*file, announced) == site.bytes);
      // A part of a range is not looked for.
      CHECK(read(*file, 5, 10) == site.bytes.substr(5, 10));
      const RemoteCounts counts = client.counts();
      CHECK(counts.reads == 34);
      CHECK(counts.cached_reads >= 22);
      CHECK(counts.cached_bytes >= 2 * site.bytes.size());
      CHECK(counts.announced_reads == (announced ? 33 : 0));
      CHECK(counts.not_kept == 0);
    }
    CHECK(read_by_client(site.options(), site.url(), announced) == site.bytes);
    CHECK(site.server.bytes() == site.bytes.size() + 2 + 10);  // a byte each time it is opened
    CHECK(entries(site).size() == 11);
    CHECK(bytes_of_cache(site) <= site.bytes.size() + 11 * 16 + own);
  }
  // Without a cache, no folder is made.
  Remote none = site.options(0);
  none.cache = site.cache / "none";
  CHECK(read_by_client(none, site.url()) == site.bytes);
  CHECK(!fs::exists(none.cache));
}

TEST_CASE("the cache never has more bytes than its bound, and keeps what is in use") {
  Site site;
  const std::uint64_t bound = own + 4 * entry;
  {
    const RemoteClient client(site.options(bound));
    const auto file = client.open(site.url());
    for (int epoch = 0; epoch < 3; ++epoch) {
      site.server.plan(ServerJson::array());
      CHECK(read_all(*file) == site.bytes);
      CHECK(bytes_of_cache(site) <= bound);
      // The ranges that are there stay, instead of making room for each other in turn.
      CHECK(site.server.bytes() == site.bytes.size() - (epoch == 0 ? 0 : 4 * range));
    }
    const RemoteCounts counts = client.counts();
    CHECK(counts.kept == 4);
    CHECK(counts.not_kept == 7 * 3);
    CHECK(counts.why_not_kept == "the cache is full of files that are in use");
  }
  // A file that no client has open makes room for another.
  const std::string a = site.bytes;
  site.write("b.bin", 2);
  site.server.plan(ServerJson::array());
  CHECK(read_by_client(site.options(bound), site.url("b.bin")) == site.bytes);
  CHECK(read_by_client(site.options(bound), site.url("b.bin")) == site.bytes);
  CHECK(site.server.bytes() == 2 * site.bytes.size() - 4 * range + 2);
  CHECK(bytes_of_cache(site) <= bound);
  // A smaller bound removes what is above it, also of files in use.
  const RemoteClient large(site.options(bound));
  const auto open = large.open(site.url("b.bin"));
  const RemoteClient small(site.options(own + 2 * entry));
  CHECK(entries(site).size() == 2);
  CHECK(read_all(*open) == site.bytes);
  CHECK(read_all(*small.open(site.url("a.bin"))) == a);
  CHECK(bytes_of_cache(site) <= bound);
}

TEST_CASE("a bound below one range is refused, with what is needed") {
  const Site site;
  const Error error = error_of([&] { const RemoteClient client(site.options(own + entry - 1)); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(mentions(error, std::to_string(own + entry)));
  CHECK(read_by_client(site.options(own + entry), site.url()) == site.bytes);
}

TEST_CASE("damaged entries of the cache are fetched again") {
  const Site site;
  using Damage = std::function<void(const fs::path&)>;
  const auto change = [](std::uint64_t at) {
    return [at](const fs::path& path) {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(static_cast<std::streamoff>(at));
      const char byte = static_cast<char>(file.get() ^ 1);
      file.seekp(static_cast<std::streamoff>(at));
      file.put(byte);
    };
  };
  const std::pair<const char*, Damage> damages[] = {
      {"cut short", [](const fs::path& p) { fs::resize_file(p, fs::file_size(p) / 2); }},
      {"empty", [](const fs::path& p) { fs::resize_file(p, 0); }},
      {"longer", [](const fs::path& p) { fs::resize_file(p, fs::file_size(p) + 1); }},
      {"zeros, as after a power cut",
       [](const fs::path& p) {
         const auto size = fs::file_size(p);
         fs::resize_file(p, 0);
         fs::resize_file(p, size);
       }},
      {"first byte", change(0)},
      {"last byte", change(range - 1)},
      {"length", change(range)},
      {"hash", change(range + 15)},
      {"another range's",
       [](const fs::path& p) {
         const std::string name = p.filename() == "0-65536" ? "65536-65536" : "0-65536";
         fs::copy_file(p.parent_path() / name, p, fs::copy_options::overwrite_existing);
       }},
      {"a folder", [](const fs::path& p) { fs::remove(p), fs::create_directory(p); }},
      {"a link to nothing", [](const fs::path& p) { fs::remove(p), fs::create_symlink("/nowhere", p); }}};
  for (const auto& [name, damage] : damages) {
    INFO(name);
    fs::remove_all(site.cache.path() / "c");
    CHECK(read_by_client(site.options(), site.url()) == site.bytes);
    const std::vector<fs::path> all = entries(site);
    REQUIRE(all.size() == 11);
    std::size_t damaged = 0;
    for (const fs::path& path : all)
      if (path.filename() == "131072-65536" || path.filename() == "0-65536") damage(path), ++damaged;
    REQUIRE(damaged == 2);
    site.server.plan(ServerJson::array());
    for (int i = 0; i < 2; ++i) CHECK(read_by_client(site.options(), site.url()) == site.bytes);
    // A folder is not removed, so these ranges are fetched each time.
    CHECK(site.server.bytes() == (std::string_view(name) == "a folder" ? 4 : 2) * range + 2);
  }
}

TEST_CASE("another version of a file has other entries, and a file without one has none") {
  Site site;
  CHECK(read_by_client(site.options(), site.url()) == site.bytes);
  site.write("a.bin", 2);
  CHECK(read_by_client(site.options(), site.url()) == site.bytes);
  // Signatures of a URL are not a part of it; the rest of the query is.
  site.server.plan(ServerJson::array());
  for (const char* query : {"?x=1&X-Amz-Signature=secret1", "?X-Amz-Date=2&x=1&X-Amz-Signature=secret2", "?x=1"})
    CHECK(read_by_client(site.options(2 << 20), site.url() + query) == site.bytes);
  CHECK(site.server.bytes() == site.bytes.size() + 3);
  CHECK(read_by_client(site.options(2 << 20), site.url() + "?x=2") == site.bytes);
  CHECK(site.server.bytes() == 2 * site.bytes.size() + 4);
  for (const auto& file : fs::recursive_directory_iterator(site.cache.path()))
    CHECK(file.path().string().find("secret") == std::string::npos);
  // Words that only look like those of a signature are a part of the URL.
  site.server.plan(ServerJson::array());
  CHECK(read_by_client(site.options(4 << 20), site.url() + "?sp=train&se=1") == site.bytes);
  CHECK(read_by_client(site.options(4 << 20), site.url() + "?sp=test&se=1") == site.bytes);
  CHECK(site.server.bytes() == 2 * site.bytes.size() + 2);
  CHECK(read_by_client(site.options(4 << 20), site.url() + "?sv=1&sp=r&sig=secret1") == site.bytes);
  CHECK(read_by_client(site.options(4 << 20), site.url() + "?sv=2&sp=r&sig=secret2") == site.bytes);
  CHECK(site.server.bytes() == 2 * site.bytes.size() + 4);  // that of the URL without a query is there
  // A time of change in whole seconds shows changes only of files that are older.
  for (const auto& [age, kept] : {std::pair(0s, false), std::pair(60s, true)}) {
    const std::string name = kept ? "old.bin" : "new.bin";
    site.folder.write(name, site.bytes);
    const fs::path file = site.folder.path() / name;
    fs::last_write_time(file, fs::last_write_time(file) - age);
    for (const char* etag : {"no_etag", "weak_etag"}) {
      site.server.plan(ServerJson::array({{{"do", etag}}}));
      for (int i = 0; i < 2; ++i) CHECK(read_by_client(site.options(8 << 20), site.url(name)) == site.bytes);
      CHECK(site.server.bytes() == (kept ? 1 : 2) * site.bytes.size() + 2);
    }
  }
  // Nothing would show that the file has changed.
  site.server.plan(
      ServerJson::array({{{"do", "headers"}, {"headers", {{"ETag", nullptr}, {"Last-Modified", nullptr}}}}}));
  for (int i = 0; i < 2; ++i) CHECK(read_by_client(site.options(), site.url()) == site.bytes);
  CHECK(site.server.bytes() == 2 * (site.bytes.size() + 1));
}

TEST_CASE("files of which a server sends no version are counted") {
  const Site site;
  const RemoteClient client(site.options());
  (void)client.open(site.url());
  CHECK(client.counts().not_keepable == 0);
  // A file that was changed less than two seconds ago may change again without another time.
  site.server.plan(ServerJson::array({{{"do", "no_etag"}}}));
  fs::last_write_time(site.folder.path() / "a.bin", fs::file_time_type::clock::now() + 1h);
  const std::string url = site.url();
  (void)client.find({&url, 1});
  CHECK(client.counts().not_keepable == 1);
}

TEST_CASE("a default folder that can't be used costs only the cache, and another one is an error") {
  const Site site;
  site.folder.write("file", "text");
  const std::string not_a_folder = site.folder / "file";
  Remote remote = site.options(std::uint64_t{1} << 20);
  remote.cache.clear();
  const CacheHome home(not_a_folder);
  const RemoteClient client(remote);
  CHECK(client.counts().no_cache.find(not_a_folder) != std::string::npos);
  CHECK(read_all(*client.open(site.url())) == site.bytes);
  CHECK(client.counts().kept == 0);

  remote.cache = not_a_folder;
  CHECK(mentions(error_of([&] { RemoteClient{remote}; }), not_a_folder));
}

TEST_CASE("the cache removes only files of its own") {
  Site site;
  site.cache.write("c/notes.txt", "mine");
  const std::uint64_t bound = own + 2 * entry;
  CHECK(read_by_client(site.options(bound), site.url()) == site.bytes);
  const fs::path folder = entries(site).front().parent_path();
  const fs::path mine[] = {site.cache.path() / "c" / "notes.txt",
                           folder / "mine.txt",
                           folder / "12-x",
                           folder.parent_path() / "mine.txt",
                           folder.parent_path() / "mine" / "0-65536",
                           folder.parent_path().parent_path() / "mine"};
  for (const fs::path& path : mine) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "mine";
  }
  const std::string a = site.bytes;
  site.write("b.bin", 2);
  CHECK(read_by_client(site.options(bound), site.url("b.bin")) == site.bytes);
  CHECK(read_by_client(site.options(bound), site.url("a.bin")) == a);
  for (const fs::path& path : mine) CHECK(fs::exists(path));

  Remote other = site.options();
  other.cache = site.cache / "other";
  site.cache.write("other/v1/train.tar", "a user's");
  const Error error = error_of([&] { const RemoteClient client(other); });
  CHECK(error.code() == Errc::invalid_argument);
  CHECK(mentions(error, "other/v1"));
  CHECK(fs::exists(site.cache.path() / "other" / "v1" / "train.tar"));
  site.cache.write("file", "");
  other.cache = site.cache / "file";
  CHECK_THROWS_AS(RemoteClient(other), Error);
}

TEST_CASE("processes that share a cache fetch each range once between them") {
  const Site site;
  site.server.plan(ServerJson::array(), {{"latency", 0.01}, {"bytes_per_s_a_connection", 4'000'000}});
  std::vector<pid_t> children;
  for (const bool announced : {true, true, false})
    children.push_back(child_of([&] { return read_by_client(site.options(), site.url(), announced) == site.bytes; }));
  for (const pid_t child : children) CHECK(status_of(child) == 0);
  CHECK(site.server.bytes() == site.bytes.size() + 3);
  CHECK(entries(site).size() == 11);
  // With another bound each, and too little for all.
  fs::remove_all(site.cache.path() / "c");
  children.clear();
  for (const std::uint64_t ranges : {2, 3, 5})
    children.push_back(child_of([&site, ranges] {
      const RemoteClient client(site.options(own + ranges * entry));
      const auto file = client.open(site.url());
      for (int i = 0; i < 3; ++i)
        if (read_all(*file) != site.bytes || bytes_of_cache(site) > own + 5 * entry) return false;
      return true;
    }));
  for (const pid_t child : children) CHECK(status_of(child) == 0);
}

TEST_CASE("a process that stops while it fetches a range does not stop the others") {
  const Site site;
  site.server.plan(ServerJson::array({{{"do", "stall"}, {"seconds", 30}, {"after", 100}, {"skip", 1}, {"times", 4}}}));
  Remote options = site.options();
  options.give_up = 20s;
  options.stalled = 10s;
  const pid_t child = child_of([&] { return read_by_client(options, site.url()) == site.bytes; });
  std::this_thread::sleep_for(300ms);
  ::kill(child, SIGSTOP);
  options.stalled = 1s;
  CHECK(read_by_client(options, site.url()) == site.bytes);
  ::kill(child, SIGKILL);
  (void)status_of(child);
}

TEST_CASE("killed at any moment, a process leaves a cache that is right, and little is fetched again") {
  const Site site;
  site.server.plan(ServerJson::array(), {{"latency", 0.001}, {"bytes_per_s_a_connection", 10'000'000}});
  const int kills = 50;
  int killed = 0;
  const std::uint64_t bound = own + 11 * entry;
  std::uint64_t before = 0;
  for (int i = 0; i < kills; ++i) {
    if (i % 10 == 0) fs::remove_all(site.cache.path() / "c");
    const pid_t child = child_of([&] {
      const RemoteClient client(site.options(bound));
      const auto file = client.open(site.url());
      for (;;)
        if (read_all(*file) != site.bytes) return false;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(1000 + (i * 7919) % 25'000));
    ::kill(child, SIGKILL);
    const int status = status_of(child);
    killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 1 : 0;
    CHECK(bytes_of_cache(site) <= bound + own);
    if (i % 10 == 9) {
      CHECK(read_by_client(site.options(bound), site.url()) == site.bytes);
      const std::uint64_t all = site.server.bytes();
      CHECK(all - before <= site.bytes.size() + 10 * connections * range + 11);
      before = all;
      for (const fs::path& path : entries(site)) CHECK(path.extension() != ".part");
    }
  }
  CHECK(killed == kills);
}

TEST_CASE("a disk that is full costs only time") {
  const Site site;
  const pid_t child = child_of([&] {
    // Files may have half a range: the disk refuses all others.
    const rlimit half{range / 2, range / 2};
    ::signal(SIGXFSZ, SIG_IGN);
    if (::setrlimit(RLIMIT_FSIZE, &half) != 0) return false;
    const RemoteClient client(site.options());
    const auto file = client.open(site.url());
    for (int i = 0; i < 2; ++i)
      if (read_all(*file) != site.bytes) return false;
    const RemoteCounts counts = client.counts();
    return counts.kept == 1 && counts.not_kept > 0 && counts.why_not_kept.find("File too large") != std::string::npos;
  });
  CHECK(status_of(child) == 0);
  for (const fs::path& path : entries(site)) CHECK(path.filename() == "655360-777");
}

TEST_CASE("notes about a file are kept with its version, and ranges make room for them") {
  Site site;
  const std::string text(3 * range / 2, 'n');
  const auto bytes = std::as_bytes(std::span(text));
  const std::uint64_t bound = own + 3 * entry;
  {
    const RemoteClient client(site.options(bound));
    const auto file = client.open(site.url());
    CHECK(file->kept("members-1").empty());
    CHECK(read_all(*file) == site.bytes);
    file->keep("members-1", bytes);
    file->keep("small", bytes.first(10));
    CHECK(bytes_of_cache(site) <= bound);
    CHECK(read_all(*file) == site.bytes);
  }
  {
    const RemoteClient client(site.options(bound));
    const auto file = client.open(site.url());
    CHECK(std::ranges::equal(file->kept("members-1"), bytes));
    CHECK(file->kept("small").size() == 10);
    CHECK(file->kept("other").empty());
    // Too large for the cache.
    const std::string huge(bound, 'x');
    file->keep("huge", std::as_bytes(std::span(huge)));
    CHECK(file->kept("huge").empty());
    CHECK(file->kept("small").size() == 10);
    for (const fs::path& path : entries(site))
      if (path.filename() == "note-small") fs::resize_file(path, 20);
    CHECK(client.open(site.url())->kept("small").empty());
  }
  site.write("a.bin", 5);
  const RemoteClient client(site.options(bound));
  CHECK(client.open(site.url())->kept("members-1").empty());
  const RemoteClient none(site.options(0));
  none.open(site.url())->keep("small", bytes.first(10));
  CHECK(none.open(site.url())->kept("small").empty());
}

TEST_CASE("a child process that goes on after a fork leaves its parent's cache alone") {
  const Site site;
  site.server.plan(ServerJson::array(), {{"bytes_per_s_a_connection", 200'000}});
  auto client = std::make_unique<RemoteClient>(site.options());
  auto file = client->open(site.url());
  file->will_read(ranges_of(*file));
  std::this_thread::sleep_for(100ms);
  const pid_t child = child_of([&] {
    file.reset();
    client.reset();
    return true;
  });
  CHECK(status_of(child) == 0);
  site.server.plan(ServerJson::array());
  CHECK(read_all(*file, false) == site.bytes);
  CHECK(client->counts().not_kept == 0);
  CHECK(entries(site).size() == 11);
}

TEST_CASE("a cache whose folder is removed while it is in use is made again") {
  const Site site;
  const std::uint64_t bound = own + 11 * entry;
  const RemoteClient client(site.options(bound));
  const auto file = client.open(site.url());
  CHECK(read_all(*file) == site.bytes);
  fs::remove_all(site.cache.path() / "c");
  CHECK(read_all(*file) == site.bytes);
  // What `rm -r` may leave for a moment.
  fs::remove(site.cache.path() / "c" / "v1" / "CACHEDIR.TAG");
  const RemoteClient other(site.options(bound));
  CHECK(read_all(*other.open(site.url())) == site.bytes);
  CHECK(read_all(*file) == site.bytes);
  CHECK(bytes_of_cache(site) <= bound);
  CHECK(entries(site).size() == 11);
  CHECK(fs::exists(site.cache.path() / "c" / "v1" / "CACHEDIR.TAG"));
}

TEST_CASE("a note that several clients keep is counted once") {
  const Site site;
  const std::string text(range, 'n');
  const std::uint64_t bound = own + 12 * entry;
  for (int i = 0; i < 30; ++i) {
    const RemoteClient client(site.options(bound));
    client.open(site.url())->keep("members-1", std::as_bytes(std::span(text)));
  }
  const RemoteClient client(site.options(bound));
  CHECK(read_all(*client.open(site.url())) == site.bytes);
  CHECK(client.counts().not_kept == 0);
  CHECK(entries(site).size() == 12);
}

TEST_CASE("clients that are gone are forgotten, whatever their names are") {
  Site site;
  const std::uint64_t bound = own + 11 * entry;
  CHECK(read_by_client(site.options(bound), site.url()) == site.bytes);
  // Left by a process that was killed, long ago, or in another container.
  for (const char* name : {"1-0", "12-34"}) {
    site.cache.write(std::string("c/v1/clients/") + name, "");
    const fs::path file = site.cache.path() / "c" / "v1" / "clients" / name;
    fs::last_write_time(file, fs::last_write_time(file) - 1h);
  }
  site.write("b.bin", 2);
  const RemoteClient client(site.options(bound));
  CHECK(read_all(*client.open(site.url("b.bin"))) == site.bytes);
  CHECK(client.counts().not_kept == 0);
}

TEST_CASE("what dead processes left unfinished is removed when a client begins, and what a living one makes is not") {
  const Site site;
  CHECK(read_by_client(site.options(), site.url()) == site.bytes);
  const std::string folder = "c/v1/files/" + entries(site).front().parent_path().filename().string() + "/";
  for (const char* name : {"7-8.part", "note-x.part", "9-9.part"})
    site.cache.write(folder + name, std::string(500, 'x'));
  const int held = ::open((site.cache / (folder + "9-9.part")).c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(::flock(held, LOCK_EX) == 0);
  const RemoteClient client(site.options());
  CHECK(!fs::exists(site.cache.path() / (folder + "7-8.part")));
  CHECK(!fs::exists(site.cache.path() / (folder + "note-x.part")));
  CHECK(fs::exists(site.cache.path() / (folder + "9-9.part")));
  ::close(held);
}

TEST_CASE("a range that changes in its file after it was read is noticed") {
  const Site site;
  const RemoteClient client(site.options());
  const auto file = client.open(site.url());
  for (int i = 0; i < 2; ++i) CHECK(read_all(*file) == site.bytes);
  const fs::path first = entries(site).front();
  std::this_thread::sleep_for(20ms);  // times of files have steps
  std::fstream(first, std::ios::in | std::ios::out | std::ios::binary).put('!').put('?');
  CHECK(read_all(*file) == site.bytes);
  const ByteRange whole{0, range};
  CHECK(std::memcmp(file->lend(whole).get(), site.bytes.data(), range) == 0);
  std::this_thread::sleep_for(20ms);
  std::fstream(site.cache.path() / "c" / "v1" / "files" / first.parent_path().filename() / "0-65536",
               std::ios::in | std::ios::out | std::ios::binary)
      .put('!')
      .put('?');
  CHECK(std::memcmp(file->lend(whole).get(), site.bytes.data(), range) == 0);
}

TEST_CASE("a process that stops while it holds the cache's lock stops no other") {
  const Site site;
  CHECK(read_by_client(site.options(), site.url()) == site.bytes);
  const std::string lock = site.cache / "c/v1/lock";
  const int held = ::open(lock.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(::flock(held, LOCK_EX) == 0);
  const auto before = std::chrono::steady_clock::now();
  site.folder.write("c.bin", site.bytes);
  const RemoteClient client(site.options());
  CHECK(read_all(*client.open(site.url("c.bin"))) == site.bytes);
  CHECK(read_all(*client.open(site.url())) == site.bytes);
  CHECK(client.counts().not_kept == 11);
  CHECK(std::chrono::steady_clock::now() - before < 9s);
  ::close(held);
}

TEST_CASE("a range that another process fetches slowly is waited for, as long as it makes progress") {
  const Site site;
  // A range takes two seconds.
  site.server.plan(ServerJson::array(), {{"bytes_per_s_a_connection", range / 2}});
  Remote options = site.options();
  options.stalled = 1s;
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i)
    children.push_back(child_of([&] {
      const RemoteClient client(options);
      const auto file = client.open(site.url());
      for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{range}})
        if (read(*file, at, range) != site.bytes.substr(at, range)) return false;
      return true;
    }));
  for (const pid_t child : children) CHECK(status_of(child) == 0);
  CHECK(site.server.bytes() == 2 * range + 2);
}

TEST_CASE("a range that another process has just begun is waited for, whatever the time of its file") {
  const Site site;
  Remote options = site.options();
  options.stalled = 10s;
  {
    const RemoteClient client(options);
    CHECK(read(*client.open(site.url()), 0, range) == site.bytes.substr(0, range));
  }
  REQUIRE(entries(site).size() == 1);
  const fs::path entry_path = entries(site)[0];
  fs::remove(entry_path);
  const std::string part = entry_path.string() + ".part";
  const int held = ::open(part.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  REQUIRE(::flock(held, LOCK_EX) == 0);
  const std::array<timespec, 2> no_time{};
  REQUIRE(::futimens(held, no_time.data()) == 0);
  site.server.plan(ServerJson::array());
  const RemoteClient client(options);
  bool right = false;
  std::thread reader([&] { right = read(*client.open(site.url()), 0, range) == site.bytes.substr(0, range); });
  std::this_thread::sleep_for(300ms);
  CHECK(site.server.bytes() == 1);  // the question for the file's size
  ::unlink(part.c_str());
  ::close(held);
  reader.join();
  CHECK(right);
  CHECK(site.server.bytes() == 1 + range);
  CHECK(client.counts().kept == 1);
}

TEST_CASE("a range that could not be fetched may be fetched by another client at once") {
  const Site site;
  const RemoteClient client(site.options());
  const auto file = client.open(site.url());
  site.server.plan(ServerJson::array({{{"do", "status"}, {"code", 400}, {"times", 1}}}));
  const ByteRange first{0, range};
  file->will_read({&first, 1});
  file->will_read({&first, 1});
  std::this_thread::sleep_for(300ms);
  const auto before = std::chrono::steady_clock::now();
  const RemoteClient other(site.options());
  CHECK(read(*other.open(site.url()), 0, range) == site.bytes.substr(0, range));
  CHECK(std::chrono::steady_clock::now() - before < 1s);
  CHECK(read(*file, 0, range) == site.bytes.substr(0, range));
}

TEST_CASE("lent ranges are the file's bytes, from the server and from the cache, also after all else is gone") {
  const Site site;
  std::shared_ptr<const std::byte> last;
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1} << 20, own + 2 * entry})
    for (const bool announced : {true, false}) {
      CAPTURE(bytes, announced);
      const RemoteClient client(site.options(bytes));
      const auto file = client.open(site.url());
      const std::vector<ByteRange> ranges = ranges_of(*file);
      for (int epoch = 0; epoch < 3; ++epoch) {
        if (announced) file->will_read(ranges);
        std::vector<std::shared_ptr<const std::byte>> held;
        for (const ByteRange& of : ranges) {
          held.push_back(file->lend(of));
          REQUIRE(held.back() != nullptr);
        }
        for (std::size_t i = 0; i < ranges.size(); ++i)
          CHECK(std::memcmp(held[i].get(), site.bytes.data() + ranges[i].offset, ranges[i].bytes) == 0);
        last = held.front();
      }
      const ByteRange beyond{site.bytes.size() - 1, 2};
      CHECK(file->lend(beyond) == nullptr);
    }
  fs::remove_all(site.cache.path() / "c");
  CHECK(std::memcmp(last.get(), site.bytes.data(), range) == 0);
}

}  // namespace PENSTOCK_TEST_FILE
