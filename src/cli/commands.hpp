// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace penstock::cli {

/// What the tool's exit status means. Documented in `penstock --help`; scripts rely on it.
enum ExitCode : int {
  exit_ok = 0,
  exit_error = 1,        ///< something failed while running; one line on stderr gives the reason
  exit_usage = 2,        ///< the command line can't be understood, or asks for something impossible
  exit_bad_records = 3,  ///< some records, or slides, can't be read
  exit_signal = 128,     ///< 128 + the signal's number: 130 for Ctrl-C
};

/// The work of a command whose arguments are parsed. Returns the exit status.
using Command = std::function<int()>;

/// Each function adds its subcommand. If the user called the subcommand, parsing sets `chosen` to the subcommand's
/// work.
void add_pack(CLI::App& app, Command& chosen);
void add_convert(CLI::App& app, Command& chosen);
void add_merge(CLI::App& app, Command& chosen);
void add_bench(CLI::App& app, Command& chosen);
void add_report(CLI::App& app, Command& chosen);
void add_inspect(CLI::App& app, Command& chosen);
void add_tile(CLI::App& app, Command& chosen);
void add_index(CLI::App& app, Command& chosen);
void add_verify(CLI::App& app, Command& chosen);

}  // namespace penstock::cli
