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

/// Files of a folder that are written under numbers in a hidden folder below it, and get their names together, when
/// they are complete. Names are paths relative to the folder, "class/7.jpg". Errors are Error(io) with the file, and
/// those listed at each function. One thread at a time.
class StagedFiles {
 public:
  /// Most bytes of a component of a name: no common file system allows more.
  static constexpr std::size_t max_component_bytes = 255;

  /// Touches no file.
  explicit StagedFiles(std::string folder) : folder_(std::move(folder)) {}

  /// Opens the folder, which must exist.
  void open();
  /// Creates the hidden folder, or removes what an earlier run left in it.
  void open_staging();

  /// Returns whether a file of that name exists; false for a folder.
  bool is_file(const std::string& name) const;
  /// Makes a stem count as taken, from this call on, if it has a file with this extension, whatever the new file's
  /// extension.
  void use_extension(std::string_view extension);
  /// @throws Error(invalid_argument) with the key if
  /// - "STEM.EXTENSION", or a file of that stem with another extension in use, exists or is staged;
  /// - a file is in the place of one of its folders;
  /// - the name is too long.
  void require_new(const std::string& stem, std::string_view extension, std::string_view key) const;

  /// Writes a file that `require_new` accepted.
  void add(std::string name, std::span<const std::byte> bytes);
  /// Returns how many files have no names so far.
  std::size_t staged() const noexcept { return in_order_.size(); }
  /// Makes the written files, and all names, survive a power cut.
  void sync();
  /// Gives staged files their names, and creates their folders. @throws Error(invalid_argument) if a file of such a
  /// name exists by then.
  void give_names();

  /// Removes a file, if it exists, and the folders that are empty after that.
  void remove(const std::string& name);
  /// Removes the hidden folder, which must be empty.
  void remove_staging();

 private:
  enum class Stands : std::uint8_t { nothing, file, folder, file_in_its_way, name_too_long };
  Stands what_stands(const std::string& name) const;
  [[noreturn]] void refuse(const std::string& name, std::string why, std::string_view key) const;
  [[noreturn]] void refuse_taken(const std::string& name, std::string_view key) const;
  void make_folders_of(const std::string& name);
  std::string path_of(std::string_view name) const;

  const std::string folder_;
  std::optional<FileDescriptor> open_, staging_;
  unsigned extensions_in_use_ = 0;  // bits, with the numbers of `image_extensions`
  enum class Staged : std::uint8_t { file, folder };
  std::unordered_map<std::string, Staged> names_;  // names of staged files, and of the folders above them
  std::vector<const std::string*> in_order_;       // names of staged files, in order
};

}  // namespace penstock::files
