// SPDX-License-Identifier: Apache-2.0
#include "stores/class_list.hpp"

#include <penstock/error.hpp>
#include <penstock/extend/listing.hpp>
#include <penstock/extend/store_files.hpp>

#include "console/output.hpp"
#include "stores/input_store.hpp"

namespace penstock::cli {

namespace {

ClassNames lines_of(const std::string& path) {
  const auto text = read_text(path, "classes");
  if (!text) throw Error(Errc::not_found, "there is no such file").with_file(path);
  ClassNames classes = ClassNames::from_lines(*text);
  if (classes.empty()) throw Error(Errc::invalid_argument, "it names no classes").with_file(path);
  return classes;
}

}  // namespace

void add_classes_option(CLI::App& command, std::string& path) {
  command.add_option(
      "--classes", path,
      "The classes of the field label, and their numbers: those of this store, or of this text file, a name a line\n"
      "(*.txt)");
}

ClassNames read_classes(const std::string& path, bool isolate) {
  if (path.empty()) return {};
  if (has_ending(path, ".txt")) return lines_of(path);
  const InputStore store(path, {.isolate = isolate, .access = FileAccess::read});
  ClassNames classes = store.schema().at(store.class_field()).classes;
  if (classes.empty()) throw UsageError("--classes: " + printable(path) + " does not say what its classes are named");
  return classes;
}

}  // namespace penstock::cli
