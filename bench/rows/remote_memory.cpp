// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <penstock/penstock.hpp>

#include "../child.hpp"
#include "remote_job.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

constexpr double mib = 1 << 20;
// So small that the loader fills its memory for blocks many times.
constexpr std::size_t room_for_blocks = std::size_t{64} << 20;

// Returns a value of /proc/self/status in MiB: "VmRSS" is resident memory, and "VmHWM" its peak.
double status_mib(const std::string& name) {
  std::ifstream file("/proc/self/status");
  constexpr double kibibytes = 1024;
  for (std::string key; file >> key;) {
    double value = 0;
    if (key == name + ":" && file >> value) return value / kibibytes;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  throw std::runtime_error("/proc/self/status has no " + name);
}

void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace

// Arguments: the pattern of the URLs, threads. Prints how resident memory grows.
int remote_memory_child(const std::vector<std::string>& arguments) {
  const auto threads = static_cast<unsigned>(std::stoul(arguments.at(1)));
  const double before = status_mib("VmRSS");
  const auto client = std::make_shared<const RemoteClient>(client_options());
  const WebDatasetSource source({.path = arguments.at(0), .client = client});
  nlohmann::json out;
  out["opening"] = status_mib("VmHWM") - before;
  forget_peak();
  Loader loader(from(source) | ragged("bin") | batch(batch_rows),
                {.threads = threads, .max_block_bytes = room_for_blocks, .epochs = 1});
  std::uint64_t samples = 0;
  for (const Batch& batch : loader.epoch()) samples += batch.size();
  double loaders = 0;
  for (const MemoryPurpose& purpose : loader.report().memory) loaders += static_cast<double>(purpose.bytes());
  out["loader"] = loaders / mib;
  out["epoch"] = status_mib("VmHWM") - before;
  out["samples"] = samples;
  fmt::print("{}\n", out.dump());
  std::fflush(stdout);
  return 0;
}

Row remote_memory(const RowSpec& spec, const Settings& settings) {
  const RemoteJob job(settings, value_bytes);
  progress(spec.name + ": an epoch in another process");
  const auto result = nlohmann::json::parse(run_child("remote_memory", {job.urls(), std::to_string(settings.threads)}));
  progress("");
  if (result.at("samples") != job.in_order().size()) throw std::runtime_error("the loader left samples out");
  const Remote options = client_options();
  const double opening = result.at("opening"), epoch = result.at("epoch"), loader = result.at("loader");
  constexpr double room = 32;
  Row row;
  row.spec = spec;
  row.ours = std::max(opening, epoch - loader);
  row.limit = options.connections * static_cast<double>(options.range_bytes) / mib + room;
  row.ratio = row.low = row.high = row.ours / row.limit;
  row.rounds = 1;
  row.notes.push_back(
      fmt::format("resident memory grows by {:.0f} MiB while the shards are opened, and by {:.0f} MiB "
                  "in the epoch, of which the loader's report counts {:.0f} MiB as its own",
                  opening, epoch, loader));
  return row;
}

}  // namespace penstock::bench
