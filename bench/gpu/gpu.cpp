// SPDX-License-Identifier: Apache-2.0
// gpu: proves on a real GPU that copies run beside steps, and that nothing is read too early or written too soon.
//
// Exit codes: 0 all gates ok; 1 a gate was missed, or a negative control passed a gate; 2 wrong arguments; 4 not run,
// because there is no GPU.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <penstock/device.hpp>

#include "cuda_help.hpp"
#include "gpu_results.hpp"
#include "steps.hpp"

namespace penstock::gpu_bench {

namespace {

constexpr int missed = 1, wrong_arguments = 2, not_run = 4;

struct Step {
  int number;
  const char* name;
  void (*run)(Results&, const Settings&);
};
constexpr Step all_steps[] = {
    {1, "environment", environment},
    {2, "transfers", transfers},
    {3, "calls", calls},
    {4, "overlap", overlap},
    {5, "negative controls", negative_controls},
    {6, "timeline", timeline},
    {7, "stages", stages},
    {8, "JPEG epochs", jpeg_epochs},
    {9, "stability", stability},
    {10, "sabotage", sabotage},
    {11, "verdicts", verdicts},
};

int run_steps(const Settings& settings, const std::vector<int>& chosen) {
  const double begin = wall_seconds();
  Results results(settings.quick);
  fmt::print("{}{}\n", device_support(), settings.quick ? "; quick: speeds are not judged" : "");
  for (const Step& step : all_steps) {
    // Step 2 always runs, because all other steps compare their numbers with its transfers.
    if (!chosen.empty() && step.number != 2 && std::find(chosen.begin(), chosen.end(), step.number) == chosen.end())
      continue;
    try {
      step.run(results, settings);
    } catch (const std::exception& error) {
      results.failed(step.name, error.what());
      if (step.number == 2) break;
    }
    results.write(settings.out);  // so that a later failure does not lose these results
  }
  fmt::print("\n12. torch through DLPack: not part of this program; it needs Python and a script of its own\n");
  fmt::print("{:.0f} s; raw numbers: {}\n", wall_seconds() - begin, (settings.out / "gpu.json").string());
  results.write(settings.out);
  fmt::print("{} gates ok, {} missed\n", results.ok(), results.missed());
  return results.missed() == 0 ? EXIT_SUCCESS : missed;
}

int run(int argc, char** argv) {
  Settings settings{.out = "gpu-results"};
  std::vector<int> chosen;
  std::string child;
  CLI::App app{"Shows on a GPU what penstock's loaders hide, and that they are right. About two minutes."};
  app.add_flag("--quick", settings.quick, "A minute: small batches and few rounds; speeds are not judged");
  app.add_option("--out", settings.out, "Folder for gpu.json and timeline.json")->capture_default_str();
  app.add_option("--step", chosen, "Only this step, and the transfers; may be repeated")
      ->check(CLI::Range(1, 11))
      ->allow_extra_args(false);
  app.add_option("--child", child)->group("")->check(CLI::IsMember({"trap"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EXIT_SUCCESS : wrong_arguments;
  }
  if (best_device() == host()) {
    fmt::print("{}\nnot run: no GPU\n", device_support());
    return not_run;
  }
  must(cudaSetDevice(0), "cudaSetDevice");
  if (child == "trap") return trap_child();
  return run_steps(settings, chosen);
}

}  // namespace

}  // namespace penstock::gpu_bench

int main(int argc, char** argv) {
  try {
    return penstock::gpu_bench::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "gpu: {}\n", error.what());
    return penstock::gpu_bench::missed;
  }
}
