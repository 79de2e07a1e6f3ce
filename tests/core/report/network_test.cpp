// SPDX-License-Identifier: Apache-2.0
// What sources fetch over networks is in a report, and is what bounds a run only if the run waits for it.
#include "support/catch.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "core/help.hpp"
#include "report/fetched_so_far.hpp"
#include "report/verdict.hpp"
#include "support/json.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;
using penstock::detail::runtime::fetch_report;
using penstock::detail::runtime::FetchedSoFar;
using penstock::detail::runtime::set_verdict;
using penstock::detail::runtime::since;
using penstock_test::Json;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// A run whose runners wait for reads: 300 samples/s, of 1,000 that the CPU can do, with 2 ms of waiting for each.
ps::Report waiting() {
  ps::Report r;
  r.batches = 100;
  r.samples = 3000;
  r.seconds = 10;
  r.samples_per_s = 300;
  r.limit_samples_per_s = 1000;
  r.threads = r.threads_seen = r.cores = 2;
  r.consumer_wait_share = 0.9;
  r.runner_wait_share = 0.7;
  r.stages = {{"read", 3000, 0, 100, 2000, 0.05}, {"decode_jpeg(image)", 3000, 0, 1900, 40, 0.95}};
  // 4 connections of 1 MB/s each.
  r.fetched = ps::FetchReport{.seconds = 10,
                              .bytes = 40'000'000,
                              .reads = 40,
                              .waited_reads = 30,
                              .waited_s = 5,
                              .connections = 4,
                              .busy_connections = 4,
                              .full_share = 0.95,
                              .bytes_per_s = 4e6,
                              .connection_bytes_per_s = 1e6};
  return r;
}

bool says(const ps::Report& r, const std::string& words) { return r.verdict.find(words) != std::string::npos; }

// Gives a byte to a waiting read each 2 ms. Reads wait for a pipe, as others do for a socket.
class Link {
 public:
  Link() {
    if (::pipe(ends_.data()) != 0) throw std::runtime_error("pipe");
    sender_ = std::thread([this] {
      while (!stop_) {
        std::this_thread::sleep_for(2ms);
        static_cast<void>(!::write(ends_[1], "x", 1));
      }
    });
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link() {
    stop_ = true;
    sender_.join();
    for (const int end : ends_) ::close(end);
  }
  void fetch() {
    const Clock::time_point begin = Clock::now();
    char byte = 0;
    pollfd of{ends_[0], POLLIN, 0};
    while (::poll(&of, 1, -1) < 1) {
    }
    static_cast<void>(!::read(ends_[0], &byte, 1));
    const std::lock_guard lock(mutex_);
    counts_.bytes += 1'000'000;
    ++counts_.reads;
    ++counts_.waited_reads;
    counts_.waited_s += seconds_since(begin);
  }
  ps::FetchCounts counts() const {
    const std::lock_guard lock(mutex_);
    ps::FetchCounts now = counts_;
    now.connections = 1;
    now.busy_s = now.full_s = seconds_since(begun_);
    return now;
  }

 private:
  std::array<int, 2> ends_{};
  std::thread sender_;
  std::atomic<bool> stop_{false};
  const Clock::time_point begun_ = Clock::now();
  mutable std::mutex mutex_;
  ps::FetchCounts counts_;
};

struct Far {
  std::shared_ptr<Link> link = std::make_shared<Link>();
  std::uint64_t size() const { return 400; }
  ps::Schema schema() const { return {{"x", ps::DType::i64, {}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    link->fetch();
    out.scalar<std::int64_t>(0, static_cast<std::int64_t>(i));
  }
  ps::FetchCounts fetched() const { return link->counts(); }
};

}  // namespace

TEST_CASE("runners that wait for a network are bound by it, and more connections are estimated") {
  ps::Report r = waiting();
  set_verdict(r);
  CAPTURE(r.verdict);
  CHECK(r.bound == ps::Bound::network);
  CHECK(says(r, "The network bounds the run: runners spent 70 % of their time waiting for it."));
  CHECK(says(r, "4 connections brought 4.0 MB/s, 1.0 MB/s each while in use, and reads waited 5.0 s."));
  CHECK(says(r, "All of them were in use for 95 % of the time. With 8, at most about 8.0 MB/s would come if the"));
  CHECK(r.besides.find("in read, not computing") == std::string::npos);
  CHECK(r.text().find(
            "  fetched 4.0 MB/s over 4.0 of 4 connections, 1.0 MB/s each; 30 of 40 reads waited, 5.0 s in all") !=
        std::string::npos);
  const Json json = Json::parse(r.json());
  CHECK(json["bound"] == "network");
  CHECK(json["fetched"]["connections"] == 4);
  CHECK(json["fetched"]["full_share"] == 0.95);

  // The threads can do only half more than the run did, or the caller takes no more.
  r.limit_samples_per_s = 450;
  set_verdict(r);
  CHECK(says(r, "With 8, at most about 6.0 MB/s would come, which is all that this run can take, if the"));
  r.limit_samples_per_s = 1000;
  r.consumer_wait_share = 0.2;
  set_verdict(r);
  CHECK(says(r, "at most about 5.0 MB/s would come, which is all"));
}

TEST_CASE("a verdict on the network says what was fetched again, and what was repeated") {
  ps::Report r = waiting();
  r.block_decodes = 1000;
  r.block_decodes_again = 900;
  r.fetched->retries = 7;
  set_verdict(r);
  CAPTURE(r.verdict);
  CHECK(r.bound == ps::Bound::network);
  CHECK(says(r, "90 % of the blocks were fetched again in the same epoch, for lack of memory: a larger"));
  CHECK(says(r, "and reads waited 5.0 s; 7 requests failed and were repeated."));
  CHECK(r.text().find(" reads waited, 5.0 s in all; 7 requests failed and were repeated\n") != std::string::npos);
  r.block_decodes_again = 100;
  r.fetched->retries = 1;
  set_verdict(r);
  CHECK(!says(r, "fetched again"));
  CHECK(says(r, "; 1 request failed and was repeated."));
  r.fetched->not_kept = 3;
  set_verdict(r);
  CHECK(says(r,
             "; 1 request failed and was repeated; the cache could not keep 3 ranges, because it is full or its "
             "disk failed."));
}

TEST_CASE("connections that were free are not recommended") {
  ps::Report r = waiting();
  r.fetched->full_share = 0.2;
  set_verdict(r);
  CHECK(r.bound == ps::Bound::network);
  CHECK(says(r, "All of them were in use for only 20 % of the time, so more would hardly help."));
  CHECK(!says(r, "With 8"));
}

TEST_CASE("a network bounds a run only if the run waits for it") {
  struct Case {
    const char* what;
    void (*change)(ps::Report&);
    ps::Bound bound;
  };
  for (const Case& it : {
           Case{"nothing is fetched", [](ps::Report& r) { r.fetched.reset(); }, ps::Bound::storage},
           Case{"reads wait for something else", [](ps::Report& r) { r.fetched->waited_s = 1; }, ps::Bound::storage},
           Case{"all came from a cache", [](ps::Report& r) { r.fetched->bytes = 0; }, ps::Bound::storage},
           Case{"another stage waits", [](ps::Report& r) { r.stages[1].wait_us_per_sample = 9000; },
                ps::Bound::waiting},
           Case{"a lock",
                [](ps::Report& r) {
                  r.waits = {{ps::Wait::lock, 0.7}}, r.wait_looks = 100;
                },
                ps::Bound::lock},
           Case{"the CPU is busy",
                [](ps::Report& r) {
                  r.runner_wait_share = 0.1;
                  r.samples_per_s = 950;
                },
                ps::Bound::cpu},
           Case{"the caller hardly waits", [](ps::Report& r) { r.consumer_wait_share = 0.02; }, ps::Bound::consumer},
           Case{"runners wait for blocks that others fetch",
                [](ps::Report& r) {
                  r.runner_wait_share = 0.1;
                  r.runner_idle_share = 0.6;
                  r.idle = {{ps::Idle::blocks, 0.6}};
                },
                ps::Bound::network},
           Case{"the few loads that were measured took long",
                [](ps::Report& r) {
                  r.fetched->waited_s = 12;
                  r.stages[0].wait_us_per_sample = 20'000;
                },
                ps::Bound::network},
           Case{"blocks take the CPU",
                [](ps::Report& r) {
                  r.runner_wait_share = 0.1;
                  r.runner_idle_share = 0.6;
                  r.idle = {{ps::Idle::blocks, 0.6}};
                  r.stages[0].cpu_us_per_sample = 4000;
                },
                ps::Bound::blocks},
           Case{"there is no memory for blocks",
                [](ps::Report& r) {
                  r.runner_wait_share = 0.1;
                  r.runner_idle_share = 0.6;
                  r.idle = {{ps::Idle::block_memory, 0.6}};
                },
                ps::Bound::blocks},
       }) {
    ps::Report r = waiting();
    it.change(r);
    set_verdict(r);
    CAPTURE(it.what, r.verdict);
    CHECK(r.bound == it.bound);
  }
}

TEST_CASE("what was fetched is counted from the beginning of the run, over all clients") {
  const FetchedSoFar before{{{.bytes = 100,
                              .reads = 5,
                              .waited_s = 1,
                              .busy_s = 10,
                              .full_s = 4,
                              .retries = 2,
                              .not_kept = 1,
                              .connections = 4},
                             {.bytes = 7, .connections = 2}},
                            1'000'000'000};
  const FetchedSoFar now{{{.bytes = 300,
                           .reads = 9,
                           .waited_reads = 3,
                           .waited_s = 3,
                           .busy_s = 16,
                           .full_s = 5,
                           .retries = 6,
                           .not_kept = 8,
                           .connections = 4},
                          {.bytes = 107, .busy_s = 2, .full_s = 0.5, .connections = 2}},
                         3'000'000'000};
  const auto report = fetch_report(since(now, before));
  REQUIRE(report);
  CHECK(report->seconds == Approx(2));
  CHECK(report->bytes == 300);
  CHECK(report->reads == 4);
  CHECK(report->waited_reads == 3);
  CHECK(report->waited_s == Approx(2));
  CHECK(report->retries == 4);
  CHECK(report->not_kept == 7);
  CHECK(report->connections == 6);
  CHECK(report->busy_connections == Approx(4));
  CHECK(report->full_share == Approx(0.5));
  CHECK(report->bytes_per_s == Approx(150));
  CHECK(report->connection_bytes_per_s == Approx(300.0 / 8));
  CHECK(!fetch_report(since(now, {})));
  CHECK(!fetch_report({}));
}

TEST_CASE("a loader and a write over a slow link are bound by the network", "[alone]") {
  const Watchdog dog(60s);
  const Far far;
  for (int i = 0; i < 20; ++i) far.link->fetch();  // before the run
  ps::Loader loader(ps::from(far) | ps::batch(8), {.threads = 2, .epochs = 1});
  (void)collect(loader);
  const ps::Report r = loader.report();
  CAPTURE(r.text());
  CHECK(r.bound == ps::Bound::network);
  REQUIRE(r.fetched);
  CHECK(r.fetched->reads == 400);
  CHECK(r.fetched->waited_s > 0.5);
  CHECK(r.fetched->full_share > 0.9);
  CHECK(r.fetched->seconds == Approx(r.seconds).epsilon(0.2));

  ps::Report of_write;
  CountingSink sink;
  ps::write(ps::from(far), sink, {.threads = 2, .report = [&](const ps::Report& report) { of_write = report; }});
  CAPTURE(of_write.text());
  CHECK(of_write.bound == ps::Bound::network);
  REQUIRE(of_write.fetched);
  CHECK(of_write.fetched->reads == 400);
}

TEST_CASE("a source that fetches nothing has nothing of it in the report") {
  ps::Loader loader(ps::from(Records{.count = 100}) | ps::batch(4), {.threads = 1, .epochs = 1});
  (void)collect(loader);
  CHECK(!loader.report().fetched);
  CHECK(Json::parse(loader.report().json())["fetched"].is_null());
}

}  // namespace PENSTOCK_TEST_FILE
