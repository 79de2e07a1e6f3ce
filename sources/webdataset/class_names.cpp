// SPDX-License-Identifier: Apache-2.0
#include "class_names.hpp"

#include <optional>
#include <set>
#include <utility>

#include <penstock/extend/store_files.hpp>
#include <penstock/sources/webdataset_sink.hpp>

#include "common/shard_names.hpp"
#include "errors.hpp"
#include "shard_paths.hpp"
#include "shard_urls.hpp"

namespace penstock::webdataset {

namespace {

std::string quoted(const std::string& file, bool there) {
  return "\"" + printable(names_url(file) ? url_without_secrets(file) : file) + "\"" +
         (there ? "" : ", which is not there");
}

// Returns the classes that the files contain, or nothing if no file exists. @throws Error(schema_mismatch) if the files
// differ, or only some of them exist.
std::optional<ClassNames> agreed(const std::set<std::string>& files, std::string_view field, const ReadText& read) {
  std::optional<std::string> text;
  const std::string* first = nullptr;
  for (const std::string& file : files) {
    auto found = read(file);
    if (first != nullptr && found != text)
      throw Error(Errc::schema_mismatch,
                  "the shards name different classes for the field \"" + std::string(field) + "\", in " +
                      quoted(*first, text.has_value()) + ", and in " + quoted(file, found.has_value()) +
                      ", so one number may mean two classes; open those of each file apart and join them by concat, "
                      "which goes by name, or give the names of all in `classes`")
          .with_source(source_name);
    text = std::move(found);
    first = &file;
  }
  if (!text) return std::nullopt;
  return ClassNames::from_lines(*text);
}

constexpr std::string_view label_field = "label";

}  // namespace

std::string classes_file(const std::string& path, std::string_view field) {
  return path + "-classes" + (field == label_field ? std::string() : "-" + webdataset_field(field)) + ".txt";
}

std::string classes_text(const ClassNames& classes) {
  std::string text;
  for (const std::string& name : classes) {
    if (name.find('\n') != std::string::npos || name.ends_with('\r'))
      throw Error(Errc::invalid_argument, "the name of the class \"" + printable(name) +
                                              "\" has a line's end in it, and classes are a line each in shards");
    text += name + "\n";
  }
  return text;
}

bool may_have_classes(const Field& field) {
  const bool encoded = field.dtype == DType::u8 && field.shape.rank() == 1 && !field.shape.fixed();
  return is_whole(field.dtype) && !encoded;
}

std::string common_classes_file(const std::string& shard) {
  // Not by std::filesystem: the two slashes of a URL stay.
  return shard.substr(0, shard.rfind('/') + 1) + "classes.txt";
}

ClassNames classes_beside(const std::vector<std::string>& shards, const Field& field, const ReadText& read) {
  std::set<std::string> own, common;
  for (const std::string& shard : shards) {
    if (const auto path = common::store_of_shard(shard, shard_extension)) own.insert(classes_file(*path, field.name));
    common.insert(common_classes_file(shard));
  }
  if (auto names = agreed(own, field.name, read)) return *std::move(names);
  if (field.name != label_field || field.shape.rank() != 0) return {};
  return agreed(common, field.name, read).value_or(ClassNames());
}

}  // namespace penstock::webdataset
