// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <penstock/extend/file_descriptor.hpp>

namespace penstock::files {

/// Writes new files into a folder. Until `give_names` is called, a file is in a hidden folder inside that folder, and
/// its name there is a number. Names are paths relative to the folder, "class/7.jpg". Functions throw Error(io) with
/// the file, and the errors listed at each function. One thread at a time.
class StagedFiles {
 public:
  /// The most bytes that a component of a name may have. No common file system allows more.
  static constexpr std::size_t max_component_bytes = 255;

  /// Doesn't open or create anything.
  explicit StagedFiles(std::string folder) : folder_(std::move(folder)) {}

  /// Opens the folder, which must exist.
  void open();
  /// Creates the hidden folder, or removes what an earlier run left in it.
  void open_staging();

  /// Returns whether a file of that name exists. A folder is not a file.
  bool is_file(const std::string& name) const;
  /// Adds an extension to those in use. From this call on, `require_new` refuses a stem if a file "STEM.EXTENSION"
  /// exists, even if the new file has another extension.
  void use_extension(std::string_view extension);
  /// Checks the name of a new file, "STEM.EXTENSION". @throws Error(invalid_argument) with the key if
  /// - "STEM.EXTENSION", or a file of that stem with another extension in use, exists or is staged;
  /// - a file has the name of one of the new file's folders;
  /// - the name is too long.
  void require_new(const std::string& stem, std::string_view extension, std::string_view key) const;

  /// Writes a file that `require_new` accepted.
  void add(std::string name, std::span<const std::byte> bytes);
  /// Returns how many files wait for their names.
  std::size_t staged() const noexcept { return in_order_.size(); }
  /// Makes written files and given names survive a power cut.
  void sync();
  /// Gives staged files their names, and creates their folders. @throws Error(invalid_argument) if a file with one of
  /// these names was created after `require_new`.
  void give_names();

  /// Removes a file, if it exists, and the folders above it that become empty.
  void remove(const std::string& name);
  /// Removes the hidden folder, which must be empty.
  void remove_staging();

 private:
  enum class NameState : std::uint8_t { nothing, file, folder, file_in_its_way, name_too_long };
  NameState what_stands(const std::string& name) const;
  [[noreturn]] void refuse(const std::string& name, std::string why, std::string_view key) const;
  [[noreturn]] void refuse_taken(const std::string& name, std::string_view key) const;
  void make_folders_of(const std::string& name);
  std::string path_of(std::string_view name) const;

  const std::string folder_;
  std::optional<FileDescriptor> open_, staging_;
  unsigned extensions_in_use_ = 0;  // one bit per entry of `image_extensions`
  enum class Staged : std::uint8_t { file, folder };
  std::unordered_map<std::string, Staged> names_;  // names of staged files, and of the folders above them
  std::vector<const std::string*> in_order_;       // names of staged files, in the order of `add`
};

}  // namespace penstock::files
