// SPDX-License-Identifier: Apache-2.0
#include "stages/stage_parser.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <penstock/error.hpp>

#include "console/did_you_mean.hpp"
#include "console/output.hpp"

namespace penstock::cli {

namespace {

constexpr std::string_view blanks = " \t\r\n";

std::vector<Word> words_of(std::string_view line, std::size_t from, std::size_t to) {
  std::vector<Word> words;
  for (std::size_t at = line.find_first_not_of(blanks, from); at < to; at = line.find_first_not_of(blanks, at)) {
    const std::size_t end = std::min({line.find_first_of(blanks, at), line.size(), to});
    words.push_back({line.substr(at, end - at), at});
    at = end;
  }
  return words;
}

[[noreturn]] void refuse_name(std::string_view line, const Word& word) {
  if (word.text.find('(') != std::string_view::npos)
    refuse_at(line, word, "arguments are written without brackets, like: random_resized_crop 224 scale=0.2,1");
  std::vector<std::string> names;
  for (const StageSyntax& s : stage_table()) names.emplace_back(s.name);
  const std::string guess = did_you_mean(word.text, names);
  refuse_at(
      line, word,
      fmt::format("there is no such stage{} The stages are {}", guess.empty() ? "." : guess, fmt::join(names, ", ")));
}

ParsedStage parse_stage(std::string_view line, std::size_t from, std::size_t to) {
  const std::vector<Word> words = words_of(line, from, to);
  if (words.empty()) refuse_at(line, {line.substr(from, to - from), from}, "a stage is missing here");
  const auto table = stage_table();
  const auto syntax = std::ranges::find(table, words.front().text, &StageSyntax::name);
  if (syntax == table.end()) refuse_name(line, words.front());
  const Arguments arguments(line, words.front(), {words.begin() + 1, words.end()}, syntax->parameters);
  const Word whole{line.substr(words.front().at, words.back().at + words.back().text.size() - words.front().at),
                   words.front().at};
  try {
    return {&*syntax, whole, syntax->make(arguments)};
  } catch (const Error& error) {
    refuse_at(line, whole, error.cause());
  }
}

}  // namespace

std::vector<ParsedStage> parse_stages(std::string_view text) {
  std::vector<ParsedStage> stages;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('|', at), text.size());
    stages.push_back(parse_stage(text, at, end));
    at = end + 1;
  }
  return stages;
}

std::string stages_help() {
  std::string out;
  for (const StageSyntax& s : stage_table()) out += fmt::format("  {}{}\n", s.name, usage_of(s.parameters));
  return out;
}

}  // namespace penstock::cli
