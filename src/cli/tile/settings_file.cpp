// SPDX-License-Identifier: Apache-2.0
#include "tile/settings_file.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/extend/system_error.hpp>

#include "console/command_line.hpp"
#include "console/did_you_mean.hpp"
#include "console/output.hpp"

namespace penstock::cli {

namespace {

constexpr std::string_view option_name = "--settings";
constexpr std::string_view slides_key = "slides", slides_option = "SLIDES";

class SettingsFile {
 public:
  SettingsFile(CLI::App& command, std::string file) : command_(command), file_(std::move(file)) {
    const std::optional<std::string> text = read_text(file_, "settings");
    if (!text) throw Error(Errc::not_found, "there is no such file").with_file(file_);
    try {
      table_ = toml::parse(*text, file_);
    } catch (const toml::parse_error& error) {
      throw Error(Errc::corrupt, fmt::format("line {}: {}", error.source().begin.line, error.description()))
          .with_file(file_);
    }
  }

  // Gives the file's values to the command, except for options that the command line has.
  void give_to_command() const {
    const auto is_given = [](const CLI::Option* option) { return option->count() != 0; };
    const bool has_slides = is_given(command_.get_option(std::string(slides_option)));
    std::vector<std::pair<CLI::Option*, std::vector<std::string>>> taken;
    for (const auto& [key, value] : table_) {
      const std::string name(key.str());
      const bool is_slides = name == slides_key;
      CLI::Option* const option = command_.get_option_no_throw(is_slides ? std::string(slides_option) : "--" + name);
      if (option == nullptr || "--" + name == option_name || name == "help")
        refuse(value, fmt::format("{} is no option of {}{}", printable(name), command_.get_name(),
                                  did_you_mean("--" + name, long_options())));
      if (has_slides && (is_slides || name == "list" || name == "list-column")) continue;
      if (is_slides && (is_given(command_.get_option("--list")) || table_.contains("list"))) continue;
      if (is_given(option) || std::ranges::any_of(option->get_excludes(), is_given)) continue;
      taken.emplace_back(option, results_of(name, value, *option));
    }
    for (auto& [option, results] : taken)
      if (!results.empty()) option->add_result(std::move(results));
  }

 private:
  // Returns the values as a command line would have them. Returns no value if a command line would leave the option
  // out.
  std::vector<std::string> results_of(const std::string& name, const toml::node& value,
                                      const CLI::Option& option) const {
    const auto on = value.value_exact<bool>();
    if (option.get_expected_max() == 0) {
      if (!on) refuse(value, fmt::format("{} is true or false", name));
      return *on ? std::vector<std::string>{"true"} : std::vector<std::string>();
    }
    // `json = true` means --json without a file.
    if (on && name == "json") return *on ? std::vector<std::string>{"-"} : std::vector<std::string>();
    if (value.value_exact<std::string>() == std::string()) return {};
    std::vector<std::string> texts = texts_of(name, value);
    if (value.is_array() && option.get_type_name() == names_type)
      for (std::string& text : texts) text = in_list(text);
    return texts;
  }
  [[noreturn]] void refuse(const toml::node& value, const std::string& why) const {
    throw UsageError(fmt::format("{}, line {}: {}", printable(file_), value.source().begin.line, why));
  }

  std::vector<std::string> texts_of(const std::string& name, const toml::node& value) const {
    if (const toml::array* const list = value.as_array()) {
      std::vector<std::string> texts;
      for (const toml::node& each : *list) texts.push_back(text_of(name, each));
      return texts;
    }
    return {text_of(name, value)};
  }
  std::string text_of(const std::string& name, const toml::node& value) const {
    if (const auto text = value.value_exact<std::string>(); text && !text->empty()) return *text;
    if (const auto number = value.value_exact<std::int64_t>()) return std::to_string(*number);
    if (const auto number = value.value_exact<double>()) return fmt::format("{}", *number);
    refuse(value, fmt::format("{} is text, a number, or a list of these, and not empty", printable(name)));
  }
  std::vector<std::string> long_options() const {
    std::vector<std::string> names;
    for (const CLI::Option* const option : command_.get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    return names;
  }

  CLI::App& command_;
  const std::string file_;
  toml::table table_;
};

}  // namespace

void add_settings_option(CLI::App& command) {
  command
      .add_option_function<std::string>(
          std::string(option_name),
          [&command](const std::string& file) { SettingsFile(command, file).give_to_command(); },
          "A TOML file with settings, which are options without dashes, and `slides`; options given here count")
      ->type_name("FILE");
}

}  // namespace penstock::cli
