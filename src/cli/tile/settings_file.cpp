#include "tile/settings_file.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/extend/system_error.hpp>

#include "console/command_line.hpp"
#include "console/nearest.hpp"
#include "console/output.hpp"

namespace penstock::cli {

namespace {

constexpr std::string_view option_name = "--settings";
constexpr std::string_view slides_key = "slides";

// The file of `--settings FILE` and `--settings=FILE`; the last one counts.
std::optional<std::string> settings_file_in(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == option_name && i != 0) return words[i - 1];
    if (words[i].starts_with(std::string(option_name) + "=")) return words[i].substr(option_name.size() + 1);
  }
  return std::nullopt;
}

bool is_given(const CLI::Option& option, const std::vector<std::string>& words) {
  const auto names = [&](const std::string& word) {
    for (const std::string& name : option.get_lnames())
      if (word == "--" + name || word.starts_with("--" + name + "=")) return true;
    for (const std::string& name : option.get_snames())
      if (word.starts_with("-" + name)) return true;
    return false;
  };
  return std::ranges::any_of(words, names);
}

// It, or one that it can't stand beside.
bool is_settled(const CLI::Option& option, const std::vector<std::string>& words) {
  return is_given(option, words) ||
         std::ranges::any_of(option.get_excludes(), [&](const CLI::Option* other) { return is_given(*other, words); });
}

class SettingsFile {
 public:
  SettingsFile(const CLI::App& command, std::string file) : command_(command), file_(std::move(file)) {
    const std::optional<std::string> text = read_text(file_, "settings");
    if (!text) throw Error(Errc::not_found, "there is no such file").with_file(file_);
    try {
      table_ = toml::parse(*text, file_);
    } catch (const toml::parse_error& error) {
      throw Error(Errc::corrupt, fmt::format("line {}: {}", error.source().begin.line, error.description()))
          .with_file(file_);
    }
  }

  // In the order in which words stand on a command line.
  std::vector<std::string> words_beside(const std::vector<std::string>& given, bool has_slides) const {
    std::vector<std::string> words;
    for (const auto& [key, value] : table_) {
      const std::string name(key.str());
      if (name == slides_key || (has_slides && (name == "list" || name == "list-column"))) continue;
      const CLI::Option* const option = command_.get_option_no_throw("--" + name);
      if (option == nullptr || name == option_name.substr(2) || name == "help")
        refuse(value, fmt::format("{} is no option of {}{}", printable(name), command_.get_name(),
                                  did_you_mean("--" + name, long_options())));
      if (is_settled(*option, given)) continue;
      if (option->get_expected_max() == 0) {
        const auto on = value.value_exact<bool>();
        if (!on) refuse(value, fmt::format("{} is true or false", name));
        if (*on) words.push_back("--" + name);
        continue;
      }
      if (const auto on = value.value_exact<bool>(); on && name == "json") {
        if (*on) words.emplace_back("--json=-");  // as --json alone, whose file may be left away
        continue;
      }
      // As where it is not there.
      if (value.value_exact<std::string>() == std::string()) continue;
      const bool each_a_name = value.is_array() && option->get_type_name() == names_type;
      for (const std::string& text : texts_of(name, value))
        words.push_back(fmt::format("--{}={}", name, each_a_name ? in_list(text) : text));
    }
    return words;
  }

  std::vector<std::string> slides() const {
    const toml::node* const value = table_.get(slides_key);
    return value == nullptr ? std::vector<std::string>() : texts_of(std::string(slides_key), *value);
  }

 private:
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

  const CLI::App& command_;
  const std::string file_;
  toml::table table_;
};

// Whether a word stands for itself, as the name of a slide does.
bool has_slides(const CLI::App& command, const std::vector<std::string>& words) {
  // The command's name stands last, as words are the other way round.
  for (std::size_t i = words.size() - 1; i-- > 0;) {
    const std::string& word = words[i];
    if (word == "--") return i != 0;
    if (!word.starts_with('-') || word == "-") return true;
    if (word.find('=') != std::string::npos) continue;
    const CLI::Option* const option = command.get_option_no_throw(word);
    if (option != nullptr && option->get_expected_max() != 0 && i != 0) --i;  // its value
  }
  return false;
}

}  // namespace

std::vector<std::string> with_settings_file(const CLI::App& command, std::vector<std::string> words) {
  if (words.empty() || words.back() != command.get_name()) return words;
  const std::optional<std::string> file = settings_file_in(words);
  if (!file) return words;
  const SettingsFile settings(command, *file);
  std::vector<std::string> all{command.get_name()};
  const bool slides_given = has_slides(command, words);
  std::ranges::copy(settings.words_beside(words, slides_given), std::back_inserter(all));
  const CLI::Option* const list = command.get_option_no_throw("--list");
  if (!slides_given && (list == nullptr || !is_given(*list, words)))
    for (const std::string& slide : settings.slides()) all.push_back(slide.starts_with('-') ? "./" + slide : slide);
  words.pop_back();
  all.insert(all.end(), words.rbegin(), words.rend());
  std::ranges::reverse(all);
  return all;
}

}  // namespace penstock::cli
