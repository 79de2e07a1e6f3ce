// SPDX-License-Identifier: Apache-2.0
// Files of a folder for each class, and files that a sink writes.
#include <penstock/penstock.hpp>
#include <penstock/sources/files.hpp>
#include <penstock/sources/files_sink.hpp>

#include <filesystem>
#include <fstream>

#include "say.hpp"

int main() {
  // Those of an earlier run are of files that were changed since.
  for (const char* folder : {"animals", "copies"}) std::filesystem::remove_all(folder);
  for (const char* name : {"cat", "dog"}) {
    std::filesystem::create_directories(std::string("animals/") + name);
    std::ofstream(std::string("animals/") + name + "/1.png") << "not read";
  }
  const penstock::FilesSource animals({.root = "animals"});
  penstock::write(penstock::from(animals), penstock::FilesSink({.path = "copies"}));
  const penstock::FilesSource copies({.root = "copies", .labels = "copies/records.csv"});
  return say("two files of two classes", animals.size() == 2 && animals.schema().at("label").classes.size() == 2 &&
                                             copies.size() == 2 && copies.schema() == animals.schema());
}
