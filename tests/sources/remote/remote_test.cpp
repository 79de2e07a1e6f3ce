// SPDX-License-Identifier: Apache-2.0
// Files on a server, byte for byte, under every fault that a server can have.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/sources/remote.hpp>

#include "sources/remote/reading.hpp"
#include "sources/remote/server.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;
using namespace penstock_test::on_server;
using namespace std::chrono_literals;

namespace {

// Short times, so that tests of failures are quick.
Remote quick() {
  Remote remote;
  remote.range_bytes = range;
  remote.cache_bytes = 0;
  remote.connections = 4;
  remote.retries = 4;
  remote.first_pause = 5ms;
  remote.longest_pause = 40ms;
  remote.stalled = 1s;
  remote.give_up = 20s;
  return remote;
}

struct Site {
  explicit Site(const std::vector<std::string>& arguments = {}) : server(folder, arguments) { write(1); }
  void write(std::uint64_t seed) {
    bytes = content(10 * range + 777, seed);
    folder.write("a.bin", bytes);
  }
  std::string url() const { return server.url("a.bin"); }
  // Waits for this many requests, and some time for more.
  ServerJson requests_after(std::size_t expected) const {
    for (int i = 0; i < 400 && server.requests().size() < expected; ++i) std::this_thread::sleep_for(5ms);
    std::this_thread::sleep_for(50ms);
    return server.requests();
  }
  TempFolder folder;
  std::string bytes;
  Server server;
};

}  // namespace

TEST_CASE("remote ranges are the file's bytes, announced or not") {
  const Site site;
  const RemoteClient client(quick());
  const auto file = client.open(site.url() + "?secret=7");
  CHECK(file->size() == site.bytes.size());
  CHECK(file->name() == site.url());
  CHECK(file->range_bytes() == range);
  CHECK(read(*file, 0, 1) == site.bytes.substr(0, 1));
  CHECK(read(*file, 12'345, 54'321) == site.bytes.substr(12'345, 54'321));
  CHECK(read(*file, site.bytes.size() - 3, 3) == site.bytes.substr(site.bytes.size() - 3));
  CHECK(read(*file, site.bytes.size(), 0).empty());
  CHECK(code_of([&] { read(*file, site.bytes.size() - 2, 3); }) == Errc::invalid_argument);
  CHECK(code_of([&] { read(*file, ~std::uint64_t{0}, 3); }) == Errc::invalid_argument);
  for (const bool announced : {false, true}) {
    site.server.plan(ServerJson::array());
    CHECK(read_all(*file, announced) == site.bytes);
    CHECK(site.server.bytes() == site.bytes.size());  // no byte twice
    for (const ServerJson& request : site.server.requests()) CHECK(request.at("query") == "secret=7");
  }
  const RemoteCounts counts = client.counts();
  CHECK(counts.reads == 3 + 2 * 11);
  CHECK(counts.announced_reads == 11);
  CHECK(counts.retries == 0);
  CHECK(counts.most_connections <= 4);

  site.folder.write("empty", "");
  CHECK(client.open(site.server.url("empty"))->size() == 0);
  const std::vector<std::string> urls{site.url(), site.server.url("empty"), site.url()};
  const auto files = client.open(urls);
  REQUIRE(files.size() == 3);
  CHECK(files[0]->identity() == files[2]->identity());
  CHECK(files[0]->revision() == files[2]->revision());
  CHECK(files[0]->identity() != files[1]->identity());
}

TEST_CASE("each failure that may pass is repeated, and goes on where it was") {
  const Site site;
  struct Fault {
    const char* name;
    ServerJson rule;
    std::uint64_t again;  // bytes that may be sent twice at most
  };
  const Fault faults[] = {
      {"503", {{"do", "status"}, {"code", 503}}, 0},
      {"500", {{"do", "status"}, {"code", 500}, {"body", std::string(200'000, 'x')}}, 1 << 20},
      {"429 with Retry-After", {{"do", "status"}, {"code", 429}, {"headers", {{"Retry-After", "1"}}}}, 0},
      {"reset before the header", {{"do", "reset"}, {"after", -1}}, 0},
      {"reset", {{"do", "reset"}, {"after", 20'000}}, 1 << 20},
      {"closed", {{"do", "close"}, {"after", 30'000}}, 0},
      {"stalled", {{"do", "stall"}, {"after", 10'000}, {"seconds", 3}}, 0},
      {"slow first byte", {{"do", "slow"}, {"first_byte", 3}}, 0},
      {"short", {{"do", "short"}, {"by", 1000}}, 0},
      {"chunked", {{"do", "chunked"}}, 0},
  };
  std::uint64_t retries = 0;
  for (const Fault& fault : faults) {
    INFO(fault.name);
    const RemoteClient client(quick());
    const auto file = client.open(site.url());
    ServerJson rule = fault.rule;
    rule["times"] = 2;
    rule["every"] = 2;
    site.server.plan(ServerJson::array({rule}));
    CHECK(read_all(*file) == site.bytes);
    CHECK(site.server.bytes() <= site.bytes.size() + fault.again);
    // A connection that is closed before it answers is opened again by libcurl itself.
    CHECK(client.counts().retries <= 2);
    retries += client.counts().retries;
  }
  CHECK(retries >= 12);
}

TEST_CASE("what is another file, or no range of it, is refused at once") {
  struct Fault {
    const char* name;
    ServerJson rule;
    const char* cause;
  };
  const Fault faults[] = {
      {"whole", {{"do", "whole"}}, "the server sends whole files, and ranges are needed"},
      {"wrong range", {{"do", "wrong_range"}, {"shift", 5}}, "the server sends bytes "},
      {"no range", {{"do", "no_content_range"}}, "the server's answer does not say which bytes it has"},
      {"multipart", {{"do", "multipart"}}, "the server's answer does not say which bytes it has"},
      {"long", {{"do", "long"}, {"by", 1}}, "the server sends more bytes than it says"},
      {"gzip", {{"do", "gzip"}}, "the server sends the file compressed"},
      {"etag", {{"do", "etag"}, {"value", "\"other\""}}, "the file has changed on the server"},
      {"no etag", {{"do", "no_etag"}}, "the file has changed on the server"},
      {"garbage", {{"do", "garbage"}}, ""},
      {"endless header", {{"do", "endless_headers"}, {"bytes", 1 << 20}}, "the header of the server's answer"},
      {"redirected in a circle", {{"do", "redirect_loop"}}, "the server leads elsewhere more than 5 times"},
      {"led to a file",
       {{"do", "redirect"}, {"to", "file:///etc/passwd"}},
       "the server redirects to a URL that is not one of HTTP"},
      {"gone", {{"do", "status"}, {"code", 410}}, "the server has no such file (status 410)"},
      {"forbidden", {{"do", "status"}, {"code", 403}}, "the server refuses access (status 403)"},
      {"teapot", {{"do", "status"}, {"code", 418}}, "the server answers with status 418"},
  };
  const Site site;
  for (const Fault& fault : faults) {
    INFO(fault.name);
    const RemoteClient client(quick());
    const auto file = client.open(site.url() + "?key=secret");
    site.server.plan(ServerJson::array({fault.rule}));
    for (const bool announced : {false, true}) {
      const ByteRange second{range, range};
      if (announced) file->will_read({&second, 1});
      const Error error = error_of([&] { read(*file, range, range); });
      CHECK(error.code() == Errc::network);
      CHECK(error.cause().starts_with(fault.cause));
      CHECK(error.file() == site.url());
      CHECK(error.source() == "remote");
      CHECK(!mentions(error, "secret"));
    }
    CHECK(client.counts().retries == 0);
    // The next read is another attempt.
    site.server.plan(ServerJson::array());
    CHECK(read(*file, range, range) == site.bytes.substr(range, range));
  }
}

TEST_CASE("a file that may be missing is missing by many answers, and a failure stays an error") {
  struct Case {
    ServerJson rule;
    bool missing;
  };
  std::vector<Case> cases{{{{"do", "whole"}}, true},
                          {{{"do", "redirect_loop"}}, false},
                          {{{"do", "no_content_range"}}, false},
                          {{{"do", "garbage"}}, false}};
  for (const int status : {400, 402, 403, 404, 405, 406, 409, 410, 414, 418, 423, 451, 499, 501})
    cases.push_back({{{"do", "status"}, {"code", status}}, true});
  for (const int status : {401, 408, 412, 416, 429, 500, 502, 503, 504, 505})
    cases.push_back({{{"do", "status"}, {"code", status}}, false});
  const Site site;
  Remote options = quick();
  options.retries = 1;
  const RemoteClient client(options);
  for (const Case& one : cases) {
    INFO(one.rule.dump());
    site.server.plan(ServerJson::array({one.rule}));
    const std::string url = site.url();
    if (one.missing)
      CHECK(client.find({&url, 1}).at(0) == nullptr);
    else
      CHECK(code_of([&] { (void)client.find({&url, 1}); }) == Errc::network);
    CHECK_THROWS_AS(client.open(url), Error);
  }
}

TEST_CASE("a file that changes after it was opened is noticed") {
  for (const ServerJson& rules :
       {ServerJson::array(), ServerJson::array({{{"do", "weak_etag"}}}), ServerJson::array({{{"do", "no_etag"}}})}) {
    Site site;
    const RemoteClient client(quick());
    site.server.plan(rules);
    const auto file = client.open(site.url());
    CHECK(read(*file, 0, 100) == site.bytes.substr(0, 100));
    site.folder.write("a.bin", content(5 * range, 2));
    const Error error = error_of([&] { read(*file, 0, 100); });
    CHECK(error.code() == Errc::network);
    CHECK(error.cause().starts_with("the file has changed on the server since it was opened"));
  }
}

TEST_CASE("a whole file in place of a range is of the version that was opened") {
  const Site site;
  site.folder.write("small.bin", "0123456789");
  const RemoteClient client(quick());
  const auto file = client.open(site.server.url("small.bin"));
  site.server.plan(ServerJson::array({{{"do", "whole"}}}));
  CHECK(read(*file, 0, 10) == "0123456789");
  site.server.plan(ServerJson::array({{{"do", "headers"}, {"headers", {{"ETag", "\"other\""}}}}, {{"do", "whole"}}}));
  CHECK(error_of([&] { read(*file, 0, 10); }).cause().starts_with("the file has changed on the server"));
}

TEST_CASE("ranges that wait for their turn are not given up") {
  const Site site;
  Remote remote = quick();
  remote.connections = 2;
  remote.give_up = 2s;
  const RemoteClient client(remote);
  const auto file = client.open(site.url());
  const std::vector<ByteRange> ranges = ranges_of(*file);
  file->will_read(ranges);
  std::this_thread::sleep_for(2500ms);
  for (const ByteRange& of : ranges) CHECK(read(*file, of.offset, of.bytes) == site.bytes.substr(of.offset, of.bytes));
  // Questions wait for their turn, too.
  site.server.plan(ServerJson::array({{{"do", "slow"}, {"first_byte", 0.3}}}));
  const std::vector<std::string> urls(20, site.url());
  CHECK(client.open(urls).size() == 20);
}

TEST_CASE("an error of an announced range is not kept, and neither are abandoned questions") {
  const Site site;
  Remote remote = quick();
  remote.connections = 1;
  remote.retries = 0;
  const RemoteClient client(remote);
  const auto file = client.open(site.url());
  site.server.plan(ServerJson::array({{{"do", "status"}, {"code", 503}}}));
  const ByteRange first{0, range};
  file->will_read({&first, 1});
  std::this_thread::sleep_for(200ms);
  site.server.plan(ServerJson::array());
  CHECK(read(*file, 0, range) == site.bytes.substr(0, range));

  site.server.plan(ServerJson::array({{{"do", "slow"}, {"first_byte", 1.0}, {"path", "/a.bin"}, {"times", 8}}}));
  std::vector<std::string> urls(8, site.url());
  urls.insert(urls.begin(), site.server.url("none"));
  CHECK(code_of([&] { (void)client.open(urls); }) == Errc::not_found);
  const auto began = std::chrono::steady_clock::now();
  site.server.plan(ServerJson::array());
  CHECK(read(*file, range, 9) == site.bytes.substr(range, 9));
  CHECK(std::chrono::steady_clock::now() - began < 3s);
}

TEST_CASE("ranges that others are late to read hold up nobody, and files that go leave nothing") {
  const Site site;
  Remote remote = quick();
  remote.connections = 2;
  const RemoteClient client(remote);
  const auto file = client.open(site.url());
  const std::vector<ByteRange> ranges = ranges_of(*file);
  file->will_read(ranges);
  file->will_read(ranges);
  for (int times = 0; times < 2; ++times)
    for (const ByteRange& of : ranges)
      CHECK(read(*file, of.offset, of.bytes) == site.bytes.substr(of.offset, of.bytes));
  {
    const auto other = client.open(site.url());
    other->will_read(ranges_of(*other));
    std::this_thread::sleep_for(100ms);
  }
  site.server.plan(ServerJson::array());
  file->will_read({&ranges[4], 1});
  for (int i = 0; i < 400 && site.server.requests().empty(); ++i) std::this_thread::sleep_for(5ms);
  CHECK(site.server.requests().size() == 1);  // there is memory for it
  CHECK(read(*file, 4 * range, range) == site.bytes.substr(4 * range, range));
  const std::vector<ByteRange> none{{0, 0}, {10, 0}, {file->size(), 1}, {~std::uint64_t{0}, 2}};
  site.server.plan(ServerJson::array());
  file->will_read(none);
  std::this_thread::sleep_for(100ms);
  CHECK(site.server.requests().empty());
}

TEST_CASE("the time in which connections are in use is counted") {
  const Site site;
  Remote options = quick();
  options.connections = 2;
  const RemoteClient client(options);
  const auto file = client.open(site.url());
  const RemoteCounts before = client.counts();
  // 11 ranges, of which two are fetched at a time, and the first byte of each comes after 50 ms.
  site.server.plan(ServerJson::array(), {{"latency", 0.05}});
  CHECK(read_all(*file) == site.bytes);
  const RemoteCounts after = client.counts();
  CHECK(after.busy_s - before.busy_s >= 11 * 0.05);
  CHECK(after.busy_s - before.busy_s < 11 * 0.05 + 5);
  CHECK(after.full_s - before.full_s >= 5 * 0.05);
  CHECK(after.busy_s - before.busy_s >= 2 * (after.full_s - before.full_s));
  CHECK(after.waited_s - before.waited_s >= 0.25);
  // Free connections take no time.
  const double busy_s = client.counts().busy_s;
  std::this_thread::sleep_for(30ms);
  CHECK(client.counts().busy_s == busy_s);
  const FetchCounts same = file->fetched();
  CHECK(same.busy_s == busy_s);
  CHECK(same.bytes == after.bytes);
  CHECK(same.connections == 2);
  CHECK(same.counter != RemoteClient(options).open(site.url())->fetched().counter);
}

TEST_CASE("a URL is shown without what may be secret in it") {
  const std::pair<const char*, const char*> urls[] = {
      {"https://user:secret@host/a/b.tar?key=secret#secret", "https://host/a/b.tar"},
      {"http://host:81/a%20b.tar", "http://host:81/a%20b.tar"},
      {"https://user:pa/secret@host/x.tar", "https://host/x.tar"},
      {"https://user:secret#w@host/x", "https://..."},
      {"https://user:sec?ret@host/x", "https://..."},
      {"https://host:99999/x.tar?email=me@example.com&sig=secret", "https://..."},
      {"https:///user:secret@host:99999/x", "https://host:99999/x"},
      {"http:/user:secret@ho st/x?secret", "ho st/x"},
      {"http://u:secret@host/train-{000..003}.tar?secret", "http://host/train-{000..003}.tar"}};
  for (const auto& [url, shown] : urls) CHECK(shown_url(url) == shown);
}

TEST_CASE("URLs of the same file have one form") {
  const std::string one = canonical_url("https://host/a/train-0.tar");
  for (const char* same : {"HTTPS://host/a/train-0.tar", "https://HOST/a/train-0.tar", "https://host:443/a/train-0.tar",
                           "https://host/a/./train-0.tar", "https://host/b/../a/train-0.tar",
                           "https://host/a/train-0.tar#x", "https://host/%61/%74rain-0%2Etar",
                           "https://host/%2E/a/b/%2e%2E/train-0.tar", "https://user:secret@host/a/train-0.tar"})
    CHECK(canonical_url(same) == one);
  for (const char* other :
       {"http://host/a/train-0.tar", "https://host:444/a/train-0.tar", "https://host/A/train-0.tar",
        "https://host/a/train-0.tar?key=1", "https://host/a%2Ftrain-0.tar", "https://other/a/train-0.tar",
        "https://host/a/train-%2374.tar", "https://host/a//train-0.tar"})
    CHECK(canonical_url(other) != one);
  CHECK(canonical_url("https://host/a?k=%2f%7e") == canonical_url("https://host/a?k=%2F~"));
  CHECK(canonical_url("https://host/a?k=1") != canonical_url("https://host/a?k=2"));
  CHECK(canonical_url("https://host") == canonical_url("https://host/"));
  for (const char* no_url : {"", "a.tar", "https://ho st/x", "%zz", "https://host:99999/x"})
    CHECK(canonical_url(no_url) == no_url);
}

TEST_CASE("a server that goes on failing is given up, with its status, tries and seconds") {
  const Site site;
  const RemoteClient client(quick());
  const auto file = client.open(site.url());
  site.server.plan(ServerJson::array({{{"do", "status"}, {"code", 503}}}));
  const Error error = error_of([&] { read(*file, 100, 100); });
  CHECK(error.code() == Errc::network);
  CHECK(error.cause().starts_with("status 503; 5 requests in "));
  CHECK(error.offset() == 100);
  CHECK(site.server.requests().size() == 5);

  // Progress begins the count again.
  site.server.plan(ServerJson::array({{{"do", "close"}, {"after", 3000}}}));
  CHECK(read(*file, 0, range) == site.bytes.substr(0, range));
  CHECK(site.server.requests().size() == 22);

  // A server that asks for more time than there is.
  site.server.plan(ServerJson::array({{{"do", "status"}, {"code", 429}, {"headers", {{"Retry-After", "60"}}}}}));
  const auto began = std::chrono::steady_clock::now();
  CHECK(error_of([&] { read(*file, 0, 10); }).cause().starts_with("status 429; 1 request in "));
  CHECK(std::chrono::steady_clock::now() - began < 5s);

  site.server.plan(ServerJson::array());
  CHECK(code_of([&] { (void)client.open(site.server.url("none")); }) == Errc::not_found);
  CHECK(code_of([&] { (void)client.open("ftp://127.0.0.1/x"); }) == Errc::invalid_argument);
  CHECK(code_of([&] { (void)client.open("file:///etc/passwd"); }) == Errc::invalid_argument);
  Remote few = quick();
  few.retries = 1;
  const Error closed = error_of([&] { (void)RemoteClient(few).open("http://user:pass@127.0.0.1:1/x?key=secret"); });
  CHECK(closed.code() == Errc::network);
  CHECK(!mentions(closed, "secret"));
  CHECK(!mentions(closed, "pass"));
  CHECK(closed.file() == "http://127.0.0.1:1/x");
}

TEST_CASE("tokens and headers go to the host of the URL alone") {
  const Site site, other;
  other.folder.write("b.bin", site.bytes);
  Remote remote = quick();
  std::atomic<int> asked{0};
  const RemoteClient* own = nullptr;
  remote.token = [&asked, &own] {
    ++asked;
    if (own != nullptr) (void)own->counts();  // what is not reading is allowed there
    return std::string("token-7");
  };
  remote.headers = {"X-Key: key-8"};
  const RemoteClient client(remote);
  own = &client;
  site.server.plan(ServerJson::array({{{"do", "auth"}, {"token", "token-7"}}}));
  const auto file = client.open(site.url());
  CHECK(read(*file, 5, 50) == site.bytes.substr(5, 50));
  for (const ServerJson& request : site.server.requests()) {
    CHECK(request.at("headers").at("authorization") == "Bearer token-7");
    CHECK(request.at("headers").at("x-key") == "key-8");
  }
  CHECK(asked == 2);

  // Without an ETag, as that of the other server is another one.
  site.server.plan(ServerJson::array({{{"do", "no_etag"}}}));
  const auto leads_elsewhere = client.open(site.url());
  site.server.plan(ServerJson::array({{{"do", "redirect"}, {"to", other.server.url("b.bin")}, {"code", 307}}}));
  other.server.plan(ServerJson::array({{{"do", "no_etag"}}}));
  std::filesystem::last_write_time(other.folder.path() / "b.bin",
                                   std::filesystem::last_write_time(site.folder.path() / "a.bin"));
  CHECK(read(*leads_elsewhere, 5, 50) == site.bytes.substr(5, 50));
  REQUIRE(other.server.requests().size() == 1);
  const ServerJson headers = other.server.requests()[0].at("headers");
  CHECK(!headers.contains("authorization"));
  CHECK(!headers.contains("x-key"));

  // Another path of the same host gets them.
  site.folder.write("c.bin", site.bytes);
  site.server.plan(
      ServerJson::array({{{"do", "redirect"}, {"to", "/c.bin"}, {"path", "/a.bin"}}, {{"do", "no_etag"}}}));
  const auto moved = client.open(site.url());
  CHECK(read(*moved, 5, 50) == site.bytes.substr(5, 50));
  for (const ServerJson& request : site.server.requests()) CHECK(request.at("headers").at("x-key") == "key-8");

  // A token that can't be had fails the range, and the next one asks again.
  int tries = 0;
  Remote failing = quick();
  failing.token = [&tries]() -> std::string {
    ++tries;
    if (tries == 2) throw std::runtime_error("no token today");
    if (tries == 3) throw Error(Errc::closed, "the vault is shut");
    if (tries == 4) throw 4;
    return tries == 5 ? "a\r\nX-Evil: 1" : "t";
  };
  site.server.plan(ServerJson::array());
  const RemoteClient unsure(failing);
  const auto guarded = unsure.open(site.url());
  CHECK(error_of([&] { read(*guarded, 0, 9); }).cause() == "`token` failed: no token today");
  CHECK(code_of([&] { read(*guarded, 0, 9); }) == Errc::closed);
  CHECK(code_of([&] { read(*guarded, 0, 9); }) == Errc::network);
  CHECK(code_of([&] { read(*guarded, 0, 9); }) == Errc::invalid_argument);
  CHECK(read(*guarded, 0, 9) == site.bytes.substr(0, 9));

  remote.headers = {"no colon"};
  CHECK(code_of([&] { const RemoteClient wrong(remote); }) == Errc::invalid_argument);
}

TEST_CASE("a certificate that is not trusted is refused, and one that is given is trusted") {
  const Site site({"--tls"}), plain;
  const Error error = error_of([&] { (void)RemoteClient(quick()).open(site.url()); });
  CHECK(error.code() == Errc::network);
  CHECK(error.cause().starts_with("the server's certificate is not trusted: "));
  Remote remote = quick();
  remote.certificates = site.server.certificate();
  const RemoteClient client(remote);
  const auto file = client.open(site.url());
  CHECK(read_all(*file) == site.bytes);
  // Never from HTTPS to HTTP.
  site.server.plan(ServerJson::array({{{"do", "redirect"}, {"to", plain.url()}}}));
  CHECK(error_of([&] { read(*file, 0, 9); }).cause().starts_with("the server leads from HTTPS to HTTP"));
}

TEST_CASE("announced ranges are fetched in their order, within the memory, and no further once withdrawn") {
  const Site site;
  Remote remote = quick();
  remote.connections = 2;
  const RemoteClient client(remote);
  const auto file = client.open(site.url());
  const std::vector<ByteRange> ranges = ranges_of(*file);
  site.server.plan(ServerJson::array());
  file->will_read(ranges);
  ServerJson requests = site.requests_after(2);
  REQUIRE(requests.size() == 2);  // 2 connections x range_bytes
  CHECK(std::set<std::string>{requests[0].at("range"), requests[1].at("range")} ==
        std::set<std::string>{"bytes=0-65535", "bytes=65536-131071"});
  CHECK(read(*file, 0, range) == site.bytes.substr(0, range));
  requests = site.requests_after(3);
  REQUIRE(requests.size() == 3);
  CHECK(requests[2].at("range") == "bytes=131072-196607");
  // A reader that waits goes first.
  CHECK(read(*file, 9 * range, range) == site.bytes.substr(9 * range, range));
  CHECK(site.server.requests().size() == 4);
  // Withdrawn ranges give their memory back, and only announced ones are fetched.
  file->will_not_read(std::span(ranges).subspan(1, 8));
  file->will_not_read(std::span(ranges).subspan(1, 8));
  requests = site.requests_after(5);
  REQUIRE(requests.size() == 5);
  CHECK(requests[4].at("range") == "bytes=655360-656136");
  CHECK(read(*file, 10 * range, 777) == site.bytes.substr(10 * range));
  CHECK(site.server.requests().size() == 5);

  // What is on its way is broken off.
  site.server.plan(ServerJson::array({{{"do", "slow"}, {"bytes_per_s", 20'000}}}));
  file->will_read({&ranges[3], 1});
  std::this_thread::sleep_for(200ms);
  file->will_not_read({&ranges[3], 1});
  std::this_thread::sleep_for(200ms);
  site.server.plan(ServerJson::array());
  CHECK(read(*file, 3 * range, range) == site.bytes.substr(3 * range, range));
}

TEST_CASE("with memory of a loader, more ranges wait, as long as the loader is there") {
  const Site site;
  Remote remote = quick();
  remote.connections = 2;
  const RemoteClient client(remote);
  const auto file = client.open(site.url());
  const std::vector<ByteRange> ranges = ranges_of(*file);
  site.server.plan(ServerJson::array());
  CHECK(file->take_memory(range - 1).bytes == 0);  // less than a range is of no use
  CHECK(file->take_memory(range - 1).holder == nullptr);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(file->take_memory(100 * range).bytes == 0 ? 0 : 1);  // the memory is another process's
  int status = -1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  auto taken = file->take_memory(2 * range - 1);
  CHECK(taken.bytes == range);
  file->will_read(ranges);
  CHECK(site.requests_after(3).size() == 3);
  auto others = file->take_memory(100 * range);
  CHECK(others.bytes == 2 * range);  // as many as are on their way
  CHECK(read(*file, 0, range) == site.bytes.substr(0, range));
  CHECK(site.requests_after(6).size() == 6);
  others = {}, taken = {};
  for (std::size_t n = 1; n <= 3; ++n) CHECK(read(*file, n * range, range) == site.bytes.substr(n * range, range));
  CHECK(site.requests_after(6).size() == 6);  // two ranges wait still
  CHECK(read(*file, 4 * range, range) == site.bytes.substr(4 * range, range));
  CHECK(site.requests_after(7).size() == 7);
}

TEST_CASE("many threads read ranges, announced by several, each as often as it is announced") {
  const Site site;
  site.server.plan(ServerJson::array({{{"do", "close"}, {"after", 5000}, {"chance", 0.2}, {"seed", 4}},
                                      {{"do", "status"}, {"code", 503}, {"chance", 0.2}, {"seed", 5}}}));
  Remote remote = quick();
  remote.retries = 50;
  const RemoteClient client(remote);
  const auto file = client.open(site.url());
  const std::vector<ByteRange> ranges = ranges_of(*file);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      for (unsigned round = 0; round < 6; ++round) {
        file->will_read(ranges);
        for (std::size_t i = 0; i < ranges.size(); ++i) {
          const ByteRange& of = ranges[(i * 7 + t) % ranges.size()];
          if ((i + round) % 5 == 0)
            file->will_not_read({&of, 1});
          else if (read(*file, of.offset, of.bytes) != site.bytes.substr(of.offset, of.bytes))
            ++wrong;
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("a client may go while ranges are on their way, and is not used in a child process") {
  const Site site;
  site.server.plan(ServerJson::array({{{"do", "slow"}, {"bytes_per_s", 20'000}}}));
  {
    const RemoteClient client(quick());
    const auto file = client.open(site.url());
    file->will_read(ranges_of(*file));
    std::this_thread::sleep_for(50ms);
  }
  site.server.plan(ServerJson::array());
  const RemoteClient client(quick());
  const auto file = client.open(site.url());
  const pid_t child = ::fork();
  if (child == 0) {
    int failed = 1;
    try {
      (void)read(*file, 0, 1);
    } catch (const Error& error) {
      failed = error.code() == Errc::forked ? 0 : 2;
    } catch (...) {
    }
    ::_exit(failed);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(read(*file, 0, 1) == site.bytes.substr(0, 1));
}

TEST_CASE("options that can't work are refused, and URLs are told from paths") {
  const auto refused = [](auto change) {
    Remote remote;
    change(remote);
    return code_of([&] { const RemoteClient client(remote); }) == Errc::invalid_argument;
  };
  CHECK(refused([](Remote& r) { r.connections = 0; }));
  CHECK(refused([](Remote& r) { r.connections = 257; }));
  CHECK(refused([](Remote& r) { r.range_bytes = 100; }));
  CHECK(refused([](Remote& r) { r.first_pause = 0ms; }));
  CHECK(refused([](Remote& r) { r.longest_pause = 1ms; }));
  CHECK(refused([](Remote& r) { r.stalled = 0s; }));
  CHECK(refused([](Remote& r) { r.give_up = 1s; }));
  CHECK(refused([](Remote& r) { r.headers = {"a: b\r\nc: d"}; }));
  CHECK(names_remote("http://x"));
  CHECK(names_remote("HTTPS://x"));
  CHECK(!names_remote("http:/x"));
  CHECK(!names_remote("train-{000..010}.tar"));
  CHECK(!names_remote(""));
}

}  // namespace PENSTOCK_TEST_FILE
