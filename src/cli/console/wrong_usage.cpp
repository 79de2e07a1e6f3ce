// SPDX-License-Identifier: Apache-2.0
#include "console/wrong_usage.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "console/did_you_mean.hpp"
#include "console/output.hpp"

namespace penstock::cli {

namespace {

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* const command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

std::string in_words(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

bool has_option(const CLI::App& app, const std::string& word) {
  return app.get_option_no_throw(word.substr(0, word.find('='))) != nullptr;
}

bool is_option(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

// Only long options are recognised. A word like "-ab" may be several short options, and a word like "-1" may be a
// value.
bool is_long_option(std::string_view word) { return word.starts_with("--") && word.size() > 2; }

}  // namespace

void check_words(const CLI::App& app, int argc, const char* const* argv) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc), commands = names_of_commands(app);
  const auto first = std::ranges::find_if_not(words, is_option);
  for (auto word = words.begin(); word != first; ++word) {
    if (has_option(app, *word)) return;  // --help, --version
    const auto has = [&](const std::string& name) { return has_option(*app.get_subcommand(name), *word); };
    const auto known = std::ranges::find_if(commands, has);
    throw UsageError(
        known == commands.end()
            ? fmt::format("there is no option {}; see penstock --help", printable(*word))
            : fmt::format("{0} stands after the command, like penstock {1} {0}", printable(*word), *known));
  }
  if (first == words.end()) throw UsageError("a command is missing: " + in_words(commands) + "; see penstock --help");
  if (std::ranges::find(commands, *first) == commands.end())
    throw UsageError(
        fmt::format("there is no command \"{}\"{} The commands are {}; see penstock --help", printable(*first),
                    did_you_mean(*first, commands).empty() ? ";" : did_you_mean(*first, commands), in_words(commands)));
  const CLI::App& command = *app.get_subcommand(*first);
  for (auto word = first + 1; word != words.end() && *word != "--"; ++word)
    if (is_long_option(*word) && word->find('=') == word->size() - 1 && has_option(command, *word))
      // Without this check, CLI11 would take the word after "--option=" as the value.
      throw UsageError(fmt::format("{} lacks its value; leave it away where there is none", printable(*word)));
    else if (is_long_option(*word) && !has_option(command, *word))
      throw UsageError(fmt::format("{} has no option {}{}{}", *first, printable(*word),
                                   did_you_mean(word->substr(0, word->find('=')), options_of(command)),
                                   fmt::format("; see penstock {} --help", *first)));
}

std::string wrong_usage(const CLI::App& app, const CLI::ParseError& error) {
  const auto called = app.get_subcommands();
  const std::string command = called.empty() ? "" : called.front()->get_name(),
                    help = fmt::format("; see penstock {} --help", command);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !called.empty()) {
    const std::vector<std::string> rest = called.front()->remaining();
    if (!rest.empty())
      return fmt::format(
          "{} takes one {}, and \"{}\" is {} too many; several files are named by a pattern in quotes, like "
          "'x-{{0..3}}.tar'{}",
          command, command == "pack" ? "DIR" : "STORE", printable(rest.back()),
          rest.size() == 1 ? "one" : std::to_string(rest.size()), help);
  }
  const std::string text = error.what();
  if (const std::size_t missing = text.find(": 1 required "); missing != std::string::npos)
    return text.substr(0, missing) + " lacks its value" + help;
  return text + help;
}

}  // namespace penstock::cli
