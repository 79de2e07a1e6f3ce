// SPDX-License-Identifier: Apache-2.0
// penstock report: shows what bench found, in a terminal or as a page.
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include <penstock/extend/store_files.hpp>

#include "bench/html_page.hpp"
#include "bench/result.hpp"
#include "commands.hpp"
#include "console/command_line.hpp"
#include "console/output.hpp"

namespace penstock::cli {

namespace {

struct ReportFlags {
  std::string result, html;
};

int report(const ReportFlags& options) {
  const Json json = read_bench_result(options.result, "");
  if (!options.html.empty()) {
    replace_text(options.html, bench_page(json_text(json, -1)), true, "report");
    print(options.html + "\n");
    return exit_ok;
  }
  for (const Json& run : json["runs"]) {
    const Json& said = run["report"];
    print(counted(run.value("threads", 0u), "thread") + (run.value("tune", Json()) == true ? ", tuned: " : ": ") +
          said.value("verdict", "") + "\n");
    for (const char* more : {"besides", "lately"})
      if (const Json text = said.value(more, Json()); text.is_string() && text != "")
        print("  " + text.get<std::string>() + "\n");
  }
  return exit_ok;
}

}  // namespace

void add_report(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<ReportFlags>();
  CLI::App& command = *app.add_subcommand("report", "Shows what a bench found: its verdicts, or a page.");
  command.add_option("RESULT", options->result, "What penstock bench --json FILE.json wrote")
      ->required()
      ->type_name("FILE.json");
  command.add_option("--html", options->html, "File for a page that needs nothing beside it")->type_name("FILE.html");
  command.footer(exit_status_help);
  command.callback([options, &chosen] { chosen = [options] { return report(*options); }; });
}

}  // namespace penstock::cli
