// What bench measures beside a plain run: sweeps, consumers, stubs, cold stores, and comparisons of results.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <vector>

#include "cli/tool.hpp"
#include "support/catch.hpp"

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
};

void write_result(const std::string& file, const std::vector<Round>& rounds) {
  nlohmann::json runs = nlohmann::json::array();
  for (const Round& r : rounds)
    runs.push_back({{"threads", 2},
                    {"depth", 0},
                    {"block_bytes", 0},
                    {"began_s", r.began_s},
                    {"samples_per_s", r.samples_per_s},
                    {"hash", r.hash.empty() ? nlohmann::json(nullptr) : nlohmann::json(r.hash)}});
  std::ofstream(file) << nlohmann::json{{"runs", runs}};
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
  std::ifstream in(file);
  CHECK(nlohmann::json::parse(in)["runs"].size() == 2);
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
      const std::string name = stage["name"];
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
  const double consumer_s = 6 * 0.02, seconds = run["seconds"];
  CHECK(seconds >= consumer_s);
  CHECK(run["consumer_busy"].get<double>() == Approx(consumer_s / seconds));
  CHECK(run["file_bytes"] > 0);
  const auto stalls = json["stalls"];
  CHECK(stalls["consumer_s"].get<double>() == Approx(consumer_s));
  CHECK(stalls["preparation_stall_s"] >= 0);
  CHECK(stalls["fetch_stall_s"] >= 0);
  const double all = stalls["consumer_s"].get<double>() + stalls["preparation_stall_s"].get<double>() +
                     stalls["fetch_stall_s"].get<double>();
  CHECK(all >= 0.999 * seconds);
  CHECK(json["busy_rate"]["samples_per_s"] > 0);
  CHECK(json["busy_rate"]["busy"] > 0);
  CHECK(json["busy_rate"]["busy"] <= 1);
}

TEST_CASE("a cold store comes from the disk") {
  const TempFolder folder;
  write_images(folder, 3, 300);
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "x.lmdb"}).status == 0);
  const ToolResult result = tool(bench_of(folder / "x.lmdb", {"--cold", "--rounds", "2"}));
  REQUIRE(result.status == 0);
  const ToolResult text = tool({"bench", folder / "x.lmdb", "--stages", stages, "--cold", "--threads", "1", "-q"});
  CHECK(says(text.out, "came from the disk"));
  for (const auto& run : result.json()["runs"]) {
    const double files = run["file_bytes"], disk = run["disk_bytes"];
    CHECK(files > 300'000);
    // A file system in memory has no disk, which is said.
    if (disk < files / 10)
      CHECK(says(text.out, "the pages stayed in memory"));
    else
      CHECK(disk >= files / 2);
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
  const auto setting = [&] {
    std::ifstream in(folder / "c.json");
    return nlohmann::json::parse(in)["settings"][0];
  };
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
  CHECK(setting()["ratio_low"].get<double>() == Approx(means[7]));
  CHECK(setting()["ratio_high"].get<double>() == Approx(means[means.size() - 8]));
  CHECK(setting()["differs"] == true);
  CHECK(setting()["in_turns"] == true);

  // The same noise about 1; with as few as eight rounds the interval is all of them.
  std::vector<double> same{1.01, 0.99, 1.02, 0.98, 1.005, 0.995, 1.015, 0.985};
  result = compare(same);
  CHECK(says(result.out, "no difference"));
  CHECK(setting()["differs"] == false);
  CHECK(setting()["ratio_low"].get<double>() == Approx(0.98));
  CHECK(setting()["ratio_high"].get<double>() == Approx(1.02));

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
    const double end = stretch[0], rate = stretch[1], waited = stretch[2];
    REQUIRE(end >= begin);
    CHECK(waited >= 0);
    CHECK(waited <= 1);
    samples += rate * (end - begin);
    begin = end;
  }
  CHECK(samples == Approx(820).epsilon(0.01));
  CHECK(begin <= run["seconds"].get<double>());
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
  std::ifstream in(result);
  auto json = nlohmann::json::parse(in);
  for (const auto& run : json["runs"]) CHECK(says(text.out, run["report"]["verdict"].get<std::string>()));
  CHECK(says(text.out, "1 thread: "));
  CHECK(says(text.out, "2 threads: "));

  // A folder may be called anything.
  json["store"] = "</script><b>";
  std::ofstream(result) << json;
  const ToolResult made = tool({"report", result, "--html", page});
  REQUIRE(made.status == 0);
  CHECK(made.out == page + "\n");
  const std::string html = text_in(page);
  const std::size_t begin = html.find("id=\"data\">") + 10, end = html.find("</script>");
  const auto data = nlohmann::json::parse(html.substr(begin, end - begin));
  CHECK(data == json);
  CHECK_FALSE(says(html, "src="));
  CHECK_FALSE(says(html, "<link"));
  for (std::size_t at = html.find("http"); at != std::string::npos; at = html.find("http", at + 1))
    CHECK(html.compare(at, 26, "http://www.w3.org/2000/svg") == 0);

  for (const std::string wrong : {"[]", "{\"runs\": []}", "no JSON"}) {
    std::ofstream(result) << wrong;
    const ToolResult refused = tool({"report", result, "--html", page});
    CHECK(refused.status == 2);
    CHECK(says(refused.err, "is no result of penstock bench --json FILE"));
  }
  CHECK(tool({"report", folder / "none.json"}).status != 0);
}
