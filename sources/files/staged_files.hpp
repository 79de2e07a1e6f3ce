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
/// they are whole. Names are paths below the folder, "class/7.jpg". Errors are Error(io) with the file, and as said.
/// One thread at a time.
class StagedFiles {
 public:
  /// What a component of a name may have, at most: no common file system has longer ones.
  static constexpr std::size_t max_component_bytes = 255;

  /// Touches nothing yet.
  explicit StagedFiles(std::string folder) : folder_(std::move(folder)) {}

  /// Opens the folder, which must be there.
  void open();
  /// Makes the hidden folder, or empties it of what an earlier run has left.
  void open_staging();

  /// A file of that name is there, not a folder.
  bool is_file(const std::string& name) const;
  /// From now on a stem that has a file with this extension is taken, whatever its new extension.
  void use_extension(std::string_view extension);
  /// @throws Error(invalid_argument) with the key where "STEM.EXTENSION", or a file of that stem with another extension
  /// in use, is there or staged; where a file stands in the place of one of its folders; and where it is too long.
  void require_new(const std::string& stem, std::string_view extension, std::string_view key) const;

  /// Writes a file that `require_new` has let pass.
  void add(std::string name, std::span<const std::byte> bytes);
  /// How many have no names yet.
  std::size_t staged() const noexcept { return in_order_.size(); }
  /// What was written, and all names, last through a power cut.
  void sync();
  /// Gives those that are staged their names, and makes their folders. @throws Error(invalid_argument) where one is
  /// there by now.
  void give_names();

  /// Removes a file, where it is there, and the folders that are empty then.
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
  unsigned extensions_in_use_ = 0;  // bits, as numbered in `image_extensions`
  enum class Staged : std::uint8_t { file, folder };
  std::unordered_map<std::string, Staged> names_;  // names of staged files, and of the folders above them
  std::vector<const std::string*> in_order_;       // names of staged files, in order
};

}  // namespace penstock::files
