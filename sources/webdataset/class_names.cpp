#include "class_names.hpp"

#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include <penstock/extend/store_files.hpp>

#include "common/shard_names.hpp"
#include "errors.hpp"
#include "shard_paths.hpp"

namespace penstock::webdataset {

namespace {

std::vector<std::string> parse(const std::string& text) {
  std::vector<std::string> classes;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string name = text.substr(at, end - at);
    if (name.ends_with('\r')) name.pop_back();
    classes.push_back(std::move(name));
    at = end + 1;
  }
  return classes;
}

// What these files say, where at least one is there; nothing else where they don't say the same.
std::optional<ClassNames> agreed(const std::set<std::string>& files) {
  std::optional<std::string> text;
  bool first = true;
  for (const std::string& file : files) {
    auto found = read_text(file, source_name);
    if (!first && found != text) return ClassNames{.names = {}, .differ = true};
    text = std::move(found);
    first = false;
  }
  if (!text) return std::nullopt;
  return ClassNames{.names = parse(*text), .differ = false};
}

}  // namespace

std::string classes_file(const std::string& path) { return path + "-classes.txt"; }

std::string classes_text(const std::vector<std::string>& classes) {
  std::string text;
  for (const std::string& name : classes) {
    if (name.find('\n') != std::string::npos || name.ends_with('\r'))
      throw Error(Errc::invalid_argument, "the name of the class \"" + printable(name) +
                                              "\" has a line's end in it, and classes are a line each in shards");
    text += name + "\n";
  }
  return text;
}

ClassNames classes_beside(const std::vector<std::string>& shards) {
  std::set<std::string> own, common;
  for (const std::string& shard : shards) {
    if (const auto path = common::store_of_shard(shard, shard_extension)) own.insert(classes_file(*path));
    common.insert((std::filesystem::path(shard).parent_path() / "classes.txt").string());
  }
  if (auto names = agreed(own)) return *std::move(names);
  return agreed(common).value_or(ClassNames{});
}

}  // namespace penstock::webdataset
