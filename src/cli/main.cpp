// SPDX-License-Identifier: Apache-2.0
// The tool `penstock`: packs folders into stores, cuts slides, and converts, measures, shows and checks stores.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/extend/system_error.hpp>
#include <penstock/version.hpp>

#include "commands.hpp"
#include "console/command_line.hpp"
#include "console/output.hpp"
#include "console/output_paths.hpp"
#include "console/tool_words.hpp"
#include "console/urls.hpp"
#include "console/wrong_usage.hpp"

namespace {

using namespace penstock::cli;

// Prints a message in one line, even if the message has line breaks, and without secrets of URLs. Returns `status`.
int fail(int status, const std::string& message) {
  std::string line = message;
  while (!line.empty() && line.back() == '\n') line.pop_back();
  std::fprintf(stderr, "penstock: %s\n", printable(without_secrets(std::move(line))).c_str());
  return status;
}

int run(int argc, char** argv) {
  CLI::App app{"Packs training data into stores, converts these, and measures, shows and checks them. Cuts slides.",
               "penstock"};
  app.set_version_flag("--version", penstock::version());
  app.require_subcommand(1);
  app.footer(std::string(exit_status_help) + "\n`penstock COMMAND --help` tells more.");
  Command chosen;
  add_pack(app, chosen);
  add_convert(app, chosen);
  add_tile(app, chosen);
  add_index(app, chosen);
  add_merge(app, chosen);
  add_bench(app, chosen);
  add_report(app, chosen);
  add_inspect(app, chosen);
  add_verify(app, chosen);
  if (argc == 2 && std::string_view(argv[1]) == "help") {
    print(app.help());
    return exit_ok;
  }
  check_words(app, argc, argv);
  try {
    app.parse(arguments_of(argc, argv));
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return fail(exit_usage, wrong_usage(app, error));
  }
  set_running_command(*app.get_subcommands().front());
  refuse_urls(*app.get_subcommands().front());
  check_output_paths(*app.get_subcommands().front());
  return chosen();
}

// Some network file systems report a full disk only when a file is closed. So standard output is closed here, and an
// error is thrown.
void close_output() {
  const bool flushed = std::cout.flush() && std::fflush(stdout) == 0;
  if ((!flushed || ::close(STDOUT_FILENO) != 0) && errno != EBADF && errno != EINTR)
    throw std::runtime_error(penstock::system_error("", errno, "standard output", "").cause());
}

void warn_of_unsynced_folders() {
  for (const std::string& folder : penstock::unsynced_folders())
    std::fprintf(stderr,
                 "penstock: warning: the file system of %s does not sync folders: a power cut may take the names of "
                 "files that were written last\n",
                 printable(folder).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    remember_urls(argc, argv);
    const int status = run(argc, argv);
    warn_of_unsynced_folders();
    close_output();
    return status;
  } catch (const UsageError& error) {
    return fail(exit_usage, error.what());
  } catch (const penstock::Error& error) {
    return fail(exit_error, in_tool_words(error.what(), error.source()));
  } catch (const std::bad_alloc&) {
    return fail(exit_error, "out of memory");
  } catch (const std::exception& error) {
    return fail(exit_error, error.what());
  }
}
