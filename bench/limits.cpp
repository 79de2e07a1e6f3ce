// SPDX-License-Identifier: Apache-2.0
// limits: compares penstock with what is possible on this machine, row by row.
//
// Exit codes: 0 all rows were measured; 1 a goal was missed and --strict was given; 2 wrong arguments, or a row could
// not be measured. Without --strict, a missed goal does not change the exit code.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "child.hpp"
#include "harness.hpp"
#include "raw_loop.hpp"
#include "results.hpp"
#include "rows/rows.hpp"

namespace penstock::bench {

namespace {

constexpr int missed = 1, failed = 2;

struct Arguments {
  Settings settings;
  std::vector<std::string> rows;
  std::filesystem::path json;
  bool list = false, strict = false, made_up = false;
  std::string child;
  std::vector<std::string> child_arguments;
};

std::filesystem::path default_data() {
  const char* folder = std::getenv("TMPDIR");
  return std::filesystem::path(folder != nullptr && *folder != '\0' ? folder : "/tmp") / "penstock-bench";
}

int run_child_job(const Arguments& arguments) {
  if (arguments.child == "first_batch") return first_batch_child(arguments.child_arguments);
  if (arguments.child == "memory_epochs") return memory_epochs_child(arguments.child_arguments);
  if (arguments.child == "remote_memory") return remote_memory_child(arguments.child_arguments);
  fmt::print(stderr, "limits: no child '{}'\n", arguments.child);
  return failed;
}

void list_rows(const std::vector<RowEntry>& entries) {
  for (const RowEntry& entry : entries)
    fmt::print("{:<28}{}{}\n", entry.spec.name, entry.spec.what,
               entry.unavailable.empty() ? "" : " [not here: " + entry.unavailable + "]");
}

int measure(const Arguments& arguments, const std::vector<RowEntry>& entries) {
  std::filesystem::create_directories(arguments.settings.data);
  Settings settings = arguments.settings;
  settings.data = std::filesystem::canonical(settings.data);
  fmt::print("{}\nT = {}, data in {}{}\n\n", machine_line(), settings.threads, settings.data.string(),
             settings.quick ? ", quick: numbers mean nothing" : "");
  print_header();
  std::vector<Row> rows;
  bool all_reached = true, any_failed = false;
  for (const RowEntry& entry : entries) {
    if (!arguments.rows.empty() &&
        std::find(arguments.rows.begin(), arguments.rows.end(), entry.spec.name) == arguments.rows.end())
      continue;
    if (!entry.unavailable.empty()) {
      fmt::print("{:<28}not measured: {}\n", entry.spec.name, entry.unavailable);
      continue;
    }
    try {
      rows.push_back(entry.run(entry.spec, settings));
      print_row(rows.back(), settings);
      all_reached = all_reached && rows.back().reached();
    } catch (const std::exception& error) {
      progress("");
      fmt::print(stderr, "limits: {}: {}\n", entry.spec.name, error.what());
      any_failed = true;
    }
    trim_round_memory();
  }
  if (!arguments.json.empty()) write_json(arguments.json, rows, settings);
  if (any_failed) return failed;
  return arguments.strict && !settings.quick && !all_reached ? missed : EXIT_SUCCESS;
}

int run(int argc, char** argv) {
  const std::vector<RowEntry> entries = all_rows();
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (const RowEntry& entry : entries) names.push_back(entry.spec.name);

  Arguments arguments;
  arguments.settings.data = default_data();
  CLI::App app{"Measures penstock against what is possible on this machine, both sides in one process."};
  app.add_option("--row", arguments.rows, "Only this row; may be repeated")
      ->check(CLI::IsMember(names))
      ->allow_extra_args(false);
  app.add_option("--json", arguments.json, "Write the rows to this file, as a JSON array");
  app.add_option("--data", arguments.settings.data,
                 "Where generated data is kept: 5.8 GB, on a disk, or cold reads can't be measured")
      ->capture_default_str();
  app.add_option("--threads", arguments.settings.threads, "Threads on both sides")
      ->check(CLI::Range(1u, 1024u))
      ->capture_default_str();
  app.add_option("--rounds", arguments.settings.rounds, "Quiet rounds of each row")
      ->check(CLI::Range(1u, 1000u))
      ->capture_default_str();
  app.add_flag("--quick", arguments.settings.quick, "Tiny data and two rounds, to see that it runs; nothing is judged");
  app.add_option("--python", arguments.settings.python,
                 "Path of a Python: what it has of Pillow and OpenCV is measured beside rows of decoders")
      ->check(CLI::ExistingFile);
  app.add_flag("--made-up-pictures", arguments.made_up, "No photographs, even where there are some");
  app.add_flag("--strict", arguments.strict, "Exit with 1 when a goal is missed");
  app.add_flag("--list", arguments.list, "Show the rows and leave");
  app.add_option("--child", arguments.child)->group("");
  app.add_option("child-arguments", arguments.child_arguments)->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EXIT_SUCCESS : failed;
  }
  arguments.settings.photographs = !arguments.made_up;
  if (!arguments.child.empty()) return run_child_job(arguments);
  if (arguments.list) {
    list_rows(entries);
    return EXIT_SUCCESS;
  }
  return measure(arguments, entries);
}

}  // namespace

}  // namespace penstock::bench

int main(int argc, char** argv) {
  try {
    return penstock::bench::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "limits: {}\n", error.what());
    return penstock::bench::failed;
  }
}
