// SPDX-License-Identifier: Apache-2.0
// What bench measures beside a plain run: sweeps, consumers, stubs, cold stores, and comparisons of results.
#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <vector>

#include "cli/tool.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"

using namespace penstock_test;

namespace {

const std::string stages = "decode_jpeg | random_resized_crop 24 scale=0.3,1 | random_flip | batch 8";

std::vector<std::string> bench_of(const std::string& store, const std::vector<std::string>& more) {
  std::vector<std::string> all{"bench", store, "--stages", stages, "--seed", "7", "--threads", "2", "--json", "-"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

struct Round {
  double began_s, samples_per_s;
  std::string hash = {};
  int threads = 2;
};

Json run_of(const Round& round) {
  return Json::parse(R"({
           "depth": 0, "block_bytes": 0, "cpu_s_per_1000": 1, "construction_s": 0, "peak_rss_bytes": 1,
           "consumer_busy": 0, "file_bytes": 0, "threads": null, "began_s": null, "samples_per_s": null, "hash": null,
           "report": {
             "verdict": "v", "idle": {}, "memory": [], "notes": [], "limit_samples_per_s": 1, "consumer_wait_share": 1,
             "next_p50_s": 1, "next_p99_s": 1, "batches": 1, "bytes": 1, "runner_idle_share": 0, "runner_wait_share": 0,
             "stages": [{"name": "read", "samples": 1, "bytes": 1, "cpu_us_per_sample": 1, "wait_us_per_sample": 1,
                         "share": 1}]
           }
         })")
      .with("/threads", round.threads)
      .with("/began_s", round.began_s)
      .with("/samples_per_s", round.samples_per_s)
      .with("/hash", round.hash.empty() ? Json(nullptr) : Json(round.hash));
}

void write_result(const std::string& file, const std::vector<Round>& rounds) {
  std::string runs;
  for (const Round& r : rounds) runs += (runs.empty() ? "" : ",") + run_of(r).dump();
  std::ofstream(file) << "{\"runs\": [" << runs << "]}";
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("bench sweeps threads, depths and block bytes, and takes rounds there and back") {
  const TempFolder folder;
  write_images(folder, 3, 41);
  const ToolResult result = tool({"bench", folder / "images", "--stages", stages, "--threads", "1,2", "--depth", "2..3",
                                  "--block-bytes", "1MiB,0", "--rounds", "2", "--epochs", "1", "--json", "-"});
  REQUIRE(result.status == 0);
  const auto runs = result.json()["runs"];
  REQUIRE(runs.size() == 16);
  for (std::size_t i = 0; i < 8; ++i) {
    for (const char* name : {"threads", "depth", "block_bytes"}) CHECK(runs[i][name] == runs[15 - i][name]);
    CHECK(runs[i]["began_s"] < runs[i + 8]["began_s"]);
  }
  CHECK(runs[0]["threads"] == 1);
  CHECK(runs[0]["depth"] == 2);
  CHECK(runs[0]["block_bytes"] == 1 << 20);
  CHECK(runs[7]["threads"] == 2);
  CHECK(runs[7]["depth"] == 3);
  CHECK(runs[7]["block_bytes"] == 0);
  CHECK(runs[2]["report"]["memory"][0]["count"] == 3);  // batches
}

TEST_CASE("bench adds runs to those of a file") {
  const TempFolder folder;
  write_images(folder, 3, 41);
  const std::string file = folder / "runs.json";
  for (int i = 0; i < 2; ++i)
    REQUIRE(
        tool({"bench", folder / "images", "--stages", stages, "--epochs", "1", "--json", file, "--append"}).status ==
        0);
  CHECK(Json::parse(text_in(file))["runs"].size() == 2);
  std::ofstream(file) << "[]";
  const ToolResult refused =
      tool({"bench", folder / "images", "--stages", stages, "--epochs", "1", "--json", file, "--append"});
  CHECK(refused.status == 2);
  CHECK(says(refused.err, "is no result of penstock bench"));
}

TEST_CASE("what a stub keeps is what the stages give") {
  const TempFolder folder;
  write_images(folder, 3, 41);
  const std::string store = folder / "images";
  const ToolResult plain = tool(bench_of(store, {"--hash"}));
  REQUIRE(plain.status == 0);
  const auto hash = plain.json()["runs"][0]["hash"];
  for (const std::string stub : {"source", "decode_jpeg"}) {
    const ToolResult result = tool(bench_of(store, {"--hash", "--stub", stub}));
    REQUIRE(result.status == 0);
    const auto run = result.json()["runs"][0];
    CHECK(run["hash"] == hash);
    CHECK(says(run["report"]["notes"].dump(), "the cache in memory has 41 of 41 records"));
    for (const auto& stage : run["report"]["stages"]) {
      const std::string name = stage["name"].text();
      if (name == "read" || (stub == "decode_jpeg" && name == "decode_jpeg(image)")) CHECK(stage["bytes"] == 0);
    }
  }
}

TEST_CASE("a consumer that takes its time is busy for as long, and what it waits for is told apart") {
  const TempFolder folder;
  write_images(folder, 3, 41);
  const ToolResult result =
      tool(bench_of(folder / "images", {"--consumer-ms", "20", "--stalls", "--epochs", "1", "--cold"}));
  REQUIRE(result.status == 0);
  const auto json = result.json();
  const auto run = json["runs"][0];
  // Six batches.
  const double consumer_s = 6 * 0.02, seconds = run["seconds"].number();
  CHECK(seconds >= consumer_s);
  CHECK(run["consumer_busy"].number() == Approx(consumer_s / seconds));
  CHECK(run["file_bytes"] > 0);
  const auto stalls = json["stalls"];
  CHECK(stalls["consumer_s"].number() == Approx(consumer_s));
  CHECK(stalls["preparation_stall_s"] >= 0);
  CHECK(stalls["fetch_stall_s"] >= 0);
  const double all =
      stalls["consumer_s"].number() + stalls["preparation_stall_s"].number() + stalls["fetch_stall_s"].number();
  CHECK(all >= 0.999 * seconds);
  CHECK(json["busy_rate"]["samples_per_s"] > 0);
  CHECK(json["busy_rate"]["busy"] > 0);
  CHECK(json["busy_rate"]["busy"] <= 1);
}

TEST_CASE("rates that count a loader's construction are not compared with those that don't") {
  const TempFolder folder;
  const std::string old = folder / "old.json", now = folder / "new.json";
  write_result(now, {{1, 100}});
  CHECK(tool({"report", now, "--html", folder / "page.html"}).status == 0);
  std::ofstream(old) << Json::parse(text_in(now)).without("/runs/0/construction_s");
  CHECK(tool({"report", old, "--html", folder / "page.html"}).status == 0);
  const ToolResult result = tool({"bench", "--compare", now, old});
  CHECK(result.status == 2);
  CHECK(says(result.err, "--compare: " + old + " is of an older penstock"));
}

TEST_CASE("what a loader's construction takes is in no rate, but in the time to the first batch") {
  const TempFolder folder;
  write_images(folder, 3, 41);
  // An emulated device writes all of its new memory.
  const ToolResult result = tool({"bench", folder / "images", "--stages", "decode_jpeg | resize 512 | batch 123",
                                  "--epochs", "1", "--threads", "1", "--device", "emulated", "--json", "-"});
  REQUIRE(result.status == 0);
  const auto run = result.json()["runs"][0], report = run["report"];
  const double construction_s = run["construction_s"].number();
  INFO(run);
  REQUIRE(construction_s > 0.02);
  CHECK(run["seconds"].number() < report["seconds"].number() + construction_s);
  CHECK(run["seconds"].number() * run["samples_per_s"].number() == Approx(run["samples"].number()));
  CHECK(run["first_batch_s"].number() > report["first_batch_s"].number() + construction_s / 2);
}

TEST_CASE("with a device, what its link makes a consumer wait is told apart from the rest") {
  const TempFolder folder;
  write_images(folder, 3, 41);
  // Batches of 8 x 64 x 64 x 3 bytes: 98 KB, 33 ms at 3 MB/s.
  const std::vector<std::string> command{"bench",         folder / "images",
                                         "--stages",      "decode_jpeg | resize 64 | batch 8",
                                         "--epochs",      "1",
                                         "--threads",     "1",
                                         "--consumer-ms", "2",
                                         "--stalls",      "--hash",
                                         "--json",        "-"};
  std::vector<std::string> on_device = command;
  on_device.insert(on_device.end(), {"--device", "emulated:3MB"});
  const ToolResult result = tool(on_device), host = tool(command);
  REQUIRE(result.status == 0);
  const auto json = result.json();
  CHECK(json["device"] == "emulated:3MB");
  CHECK(json["runs"][0]["hash"] == host.json()["runs"][0]["hash"]);
  CHECK(json["runs"][0]["report"]["devices"][0]["copies"]["us"] > 30'000);
  // What comes once, and is no rate's: the first batch had to be copied besides.
  CHECK(json["runs"][0]["construction_s"] > 0);
  CHECK(json["runs"][0]["first_batch_s"] > json["runs"][0]["construction_s"].number() + 0.03);
  const auto stalls = json["stalls"];
  CHECK(stalls["transfer_stall_s"] > 0.05);
  CHECK(stalls["transfer_stall_s"].number() + stalls["consumer_s"].number() + stalls["preparation_stall_s"].number() +
            stalls["fetch_stall_s"].number() >=
        0.999 * json["runs"][0]["seconds"].number());
  CHECK_FALSE(host.json()["stalls"].contains("transfer_stall_s"));
  CHECK(host.json()["device"].is_null());
  // What is compared must be the same work.
  const ToolResult refused =
      tool({"bench", folder / "images", "--stages", "decode_jpeg | resize 64 | batch 8 | normalize", "--device",
            "emulated", "--consumer-ms", "2", "--stalls"});
  CHECK(refused.status == 2);
  CHECK(says(refused.err, "--stalls and --device"));
}

TEST_CASE("a cold store comes from the disk") {
  const TempFolder folder;
  // Where the build is, as folders for temporary files may be in memory.
  struct OnDisk {
    std::string path = std::filesystem::current_path() / ("cold_" + std::to_string(::getpid()) + ".lmdb");
    ~OnDisk() { std::filesystem::remove_all(path); }
  } const store;
  write_images(folder, 3, 300);
  REQUIRE(tool({"pack", folder / "images", "--out", store.path}).status == 0);
  const ToolResult result = tool(bench_of(store.path, {"--cold", "--rounds", "2"}));
  REQUIRE(result.status == 0);
  const ToolResult text = tool({"bench", store.path, "--stages", stages, "--cold", "--threads", "1", "-q"});
  CHECK(says(text.out, "came from the disk"));
  const auto json = result.json();
  REQUIRE(json["runs"].size() == 2);
  for (const auto& run : json["runs"]) {
    const double files = run["file_bytes"].number(), disk = run["disk_bytes"].number();
    CHECK(files > 300'000);
    // Others may have no disk, in memory or behind a network, which is said.
    constexpr long xfs = 0x58465342;
    struct statfs in = {};
    REQUIRE(::statfs(store.path.c_str(), &in) == 0);
    if (in.f_type == EXT4_SUPER_MAGIC || in.f_type == BTRFS_SUPER_MAGIC || in.f_type == xfs)
      CHECK(disk >= files / 2);
    else if (disk < files / 10)
      CHECK(says(text.out, "the pages stayed in memory"));
  }
}

TEST_CASE("two results differ where their rounds do, whatever single ones say") {
  const TempFolder folder;
  const std::string a = folder / "a.json", b = folder / "b.json";
  const auto compare = [&](const std::vector<double>& ratios, bool in_turns = true) {
    std::vector<Round> first, second;
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      const double rate = i % 2 == 0 ? 1000 : 1100, at = 10 * static_cast<double>(i);
      first.push_back({at, rate});
      second.push_back({in_turns ? at + 5 : at + 1000, rate * ratios[i]});
    }
    write_result(a, first);
    write_result(b, second);
    return tool({"bench", "--compare", a, b, "--json", folder / "c.json"});
  };
  const auto setting = [&] { return Json::parse(text_in(folder / "c.json"))["settings"][0]; };
  // Twelve rounds, 5 % slower with noise, one of them wild. The interval ends at the eighth of all means of two.
  const std::vector<double> slower{0.95, 0.96, 0.94, 0.955, 0.945, 0.952, 0.948, 0.965, 0.935, 0.951, 0.5, 0.949};
  ToolResult result = compare(slower);
  REQUIRE(result.status == 0);
  CHECK(says(result.out, "2 threads: the second is 5."));
  CHECK(says(result.out, "% slower, between "));
  CHECK_FALSE(says(result.out, "in turns"));
  std::vector<double> means;
  for (std::size_t i = 0; i < slower.size(); ++i)
    for (std::size_t j = i; j < slower.size(); ++j) means.push_back(std::sqrt(slower[i] * slower[j]));
  std::sort(means.begin(), means.end());
  CHECK(setting()["ratio_low"].number() == Approx(means[7]));
  CHECK(setting()["ratio_high"].number() == Approx(means[means.size() - 8]));
  CHECK(setting()["differs"] == true);
  CHECK(setting()["in_turns"] == true);

  // The same noise about 1; with as few as eight rounds the interval is all of them.
  std::vector<double> same{1.01, 0.99, 1.02, 0.98, 1.005, 0.995, 1.015, 0.985};
  result = compare(same);
  CHECK(says(result.out, "no difference"));
  CHECK(setting()["differs"] == false);
  CHECK(setting()["ratio_low"].number() == Approx(0.98));
  CHECK(setting()["ratio_high"].number() == Approx(1.02));

  CHECK(says(compare(slower, false).out, "the rounds were not taken in turns"));
  same.pop_back();
  result = compare(same);
  CHECK(result.status == 2);
  CHECK(says(result.err, "7 rounds of each are too few"));

  std::vector<Round> rounds;
  for (int i = 0; i < 8; ++i) rounds.push_back({double(i), 100, "0123456789abcdef"});
  write_result(a, rounds);
  for (Round& r : rounds) r.hash = "fedcba9876543210";
  write_result(b, rounds);
  CHECK(says(tool({"bench", "--compare", a, b}).out, "their hashes differ"));
  std::ofstream(b) << "{}";
  CHECK(says(tool({"bench", "--compare", a, b}).err, "is no result of penstock bench"));
}

TEST_CASE("rounds are compared with those beside them in time, setting by setting") {
  const TempFolder folder;
  const std::string a = folder / "a.json", b = folder / "b.json";
  std::vector<Round> first, second;
  // The first one's of another day, when the machine was half as fast.
  for (int i = 0; i < 12; ++i) first.push_back({double(i), 50 + 0.1 * i});
  for (int i = 0; i < 12; ++i) {
    first.push_back({1000.0 + 10 * i, 100 + 0.1 * (i % 5)});
    second.push_back({1005.0 + 10 * i, 100 + 0.1 * (i % 7)});
  }
  // And seven of another setting.
  for (int i = 0; i < 7; ++i) {
    first.push_back({2000.0 + 10 * i, 10, "", 5});
    second.push_back({2005.0 + 10 * i, 20, "", 5});
  }
  write_result(a, first);
  write_result(b, second);
  const ToolResult result = tool({"bench", "--compare", a, b});
  INFO(result.out);
  CHECK(result.status == 0);
  CHECK(says(result.out, "2 threads: no difference"));
  CHECK_FALSE(says(result.out, "in turns"));
  CHECK(says(result.out, "5 threads: 7 rounds of each are too few"));

  for (const double rate : {0.0, -1.0}) {
    second[3].samples_per_s = rate;
    write_result(b, second);
    CHECK(says(tool({"bench", "--compare", a, b}).err, "has a run whose samples_per_s can't be"));
  }
}

TEST_CASE("a stub has what every epoch of the run wants, and says so where it has not") {
  const TempFolder folder;
  write_images(folder, 3, 60);
  const auto bench = [&](const std::string& line) {
    return tool({"bench", folder / "images", "--stages", line, "--stub", "decode_jpeg", "--json", "-"});
  };
  for (const std::string line :
       {"shuffle | take 10 | decode_jpeg | resize 8 | batch 4", "decode_jpeg | resize 8 | batch 25 tail=drop"}) {
    const ToolResult result = bench(line);
    REQUIRE(result.status == 0);
    CHECK(result.json()["stub_made_anew"] == 0);
  }
}

TEST_CASE("stores are cold that are named by ranges, or lie behind links") {
  const TempFolder folder;
  write_images(folder, 3, 90);
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "x.lmdb"}).status == 0);
  std::filesystem::create_directory(folder / "shards");
  REQUIRE(tool({"convert", folder / "x.lmdb", "--out", folder / "shards/t.tar", "--shard-samples", "30"}).status == 0);
  std::vector<std::string> shards;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "shards"))
    if (entry.path().extension() == ".tar") shards.push_back(entry.path().filename());
  std::sort(shards.begin(), shards.end());
  REQUIRE(shards.size() == 3);
  std::uintmax_t bytes = 0;
  for (const std::string& shard : shards) bytes += std::filesystem::file_size(folder / ("shards/" + shard));
  const std::size_t digit = shards[0].find_last_of('0');
  const std::string range = shards[0].substr(0, digit) + "{0..2}" + shards[0].substr(digit + 1);
  ToolResult result = tool(bench_of(folder / ("shards/" + range), {"--cold"}));
  INFO(result.err);
  REQUIRE(result.status == 0);
  CHECK(result.json()["runs"][0]["file_bytes"] == bytes);

  std::filesystem::create_directory(folder / "linked");
  std::filesystem::create_directory_symlink(folder / "images", folder / "linked/images");
  result = tool(bench_of(folder / "linked", {"--cold"}));
  REQUIRE(result.status == 0);
  CHECK(result.json()["runs"][0]["file_bytes"] > 100'000);
}

TEST_CASE("a file of runs takes no others than its own") {
  const TempFolder folder;
  write_images(folder, 3, 20);
  const std::string file = folder / "runs.json";
  const auto append = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all{"bench", folder / "images", "--epochs", "1", "--json", file, "--append"};
    all.insert(all.end(), more.begin(), more.end());
    return tool(all);
  };
  REQUIRE(append({"--stages", stages}).status == 0);
  REQUIRE(append({"--stages", stages, "--threads", "2"}).status == 0);
  for (const auto& [more, part] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--stages", "decode_jpeg | resize 8 | batch 4"}, "another stages"},
           {{"--stages", stages, "--consumer-ms", "1"}, "another consumer_ms"},
           {{"--stages", stages, "--seed", "5"}, "another seed"}}) {
    const ToolResult refused = append(more);
    CHECK(refused.status == 2);
    CHECK(says(refused.err, part));
  }
}

TEST_CASE("bench says what can't be measured together") {
  const TempFolder folder;
  write_images(folder, 2, 9);
  const std::string store = folder / "images";
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{"--stalls"}, "--consumer-ms"},
      {{"--stalls", "--stub", "source", "--consumer-ms", "1"}, "--stalls and --stub"},
      {{"--cold", "--stub", "source"}, "what is stubbed is not read"},
      {{"--cold", "--epochs", "2"}, "one epoch is cold"},
      {{"--append"}, "--append: say to which file"},
      {{"--stub", "nothing"}, "neither source nor a stage"},
      {{"--stub", "batch"}, "neither source nor a stage"},
      {{"--stub", "random_flip"}, "draws at random"},
      {{"--depth", "1..5000"}, "from 0 to 4096"},
      {{"--block-bytes", "1MiB,"}, "\"\""},
      {{"--depth", "1"}, "a ring has at least 2 batches"},
      {{"--device", "cpu"}, "--device: \"cpu\""},
      {{"--device", "gpu:x"}, "no number of a GPU"},
      {{"--device", "emulated:fast"}, "fast"},
      {{"--device", "gpu", "--hash"}, "--hash and --device gpu"},
      {{"--consumer-ms", "nan"}, "--consumer-ms"},
      {{"--consumer-ms", "1e16"}, "--consumer-ms"},
      {{"--consumer-ms", "0"}, "--consumer-ms"}};
  for (const auto& [more, part] : wrong) {
    const ToolResult result = tool(bench_of(store, more));
    INFO(part << " | " << result.err);
    CHECK(result.status == 2);
    CHECK(says(result.err, part));
  }
  const ToolResult nothing = tool({"bench"});
  CHECK(nothing.status == 2);
  CHECK(says(nothing.err, "STORE is missing"));
}

TEST_CASE("bench tells how a run went over time, in a number of stretches that does not grow") {
  const TempFolder folder;
  write_images(folder, 3, 41);
  const ToolResult result = tool({"bench", folder / "images", "--stages", "decode_jpeg | resize 8 | batch 1",
                                  "--epochs", "20", "--threads", "2", "--json", "-"});
  REQUIRE(result.status == 0);
  const auto run = result.json()["runs"][0];
  const auto stretches = run["over_time"];
  CHECK(stretches.size() >= 100);
  CHECK(stretches.size() <= 200);
  double begin = 0, samples = 0;
  for (const auto& stretch : stretches) {
    const double end = stretch[0].number(), rate = stretch[1].number(), waited = stretch[2].number();
    REQUIRE(end >= begin);
    CHECK(waited >= 0);
    CHECK(waited <= 1);
    samples += rate * (end - begin);
    begin = end;
  }
  CHECK(samples == Approx(820).epsilon(0.01));
  CHECK(begin <= run["seconds"].number());
}

TEST_CASE("report shows what bench found, as text and as a page that needs nothing beside it") {
  const TempFolder folder;
  write_images(folder, 3, 41);
  const std::string result = folder / "r.json", page = folder / "r.html";
  REQUIRE(tool({"bench", folder / "images", "--stages", stages, "--threads", "1,2", "--consumer-ms", "0.1", "--stalls",
                "--json", result})
              .status == 0);
  const ToolResult text = tool({"report", result});
  REQUIRE(text.status == 0);
  const auto found = Json::parse(text_in(result));
  for (const auto& run : found["runs"]) CHECK(says(text.out, run["report"]["verdict"].text()));
  CHECK(says(text.out, "1 thread: "));
  CHECK(says(text.out, "2 threads: "));

  // A folder may be called anything.
  const auto json = found.with("/store", "</script><b>");
  std::ofstream(result) << json;
  const ToolResult made = tool({"report", result, "--html", page});
  REQUIRE(made.status == 0);
  CHECK(made.out == page + "\n");
  const std::string html = text_in(page);
  const std::size_t begin = html.find("id=\"data\">") + 10, end = html.find("</script>");
  const auto data = Json::parse(html.substr(begin, end - begin));
  CHECK(data == json);
  CHECK_FALSE(says(html, "src="));
  CHECK_FALSE(says(html, "<link"));
  for (std::size_t at = html.find("http"); at != std::string::npos; at = html.find("http", at + 1))
    CHECK(html.compare(at, 26, "http://www.w3.org/2000/svg") == 0);

  const auto half = json.without("/runs/1/report");
  const auto without_rate = json.with("/runs/0/samples_per_s", nullptr);
  const auto no_report = json.with("/runs/0/report", nullptr);
  const auto other_kind = json.with("/runs/0/report/block_uses", "many");
  for (const std::string& wrong :
       {std::string("[]"), std::string("{\"runs\": []}"), std::string("no JSON"), half.dump(), without_rate.dump(),
        no_report.dump(), other_kind.dump(), std::string("{\"runs\": [{\"report\": {\"verdict\": \"v\"}}, {}]}")}) {
    std::ofstream(result) << wrong;
    const ToolResult refused = tool({"report", result, "--html", page});
    CHECK(refused.status == 2);
    CHECK(says(refused.err, "is no result of penstock bench --json FILE"));
  }
  CHECK(tool({"report", folder / "none.json"}).status != 0);
}
