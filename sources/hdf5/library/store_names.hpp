#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::hdf5 {

/// The names of a store's files.
class StoreNames {
 public:
  StoreNames(std::string path, bool single_file) : path_(std::move(path)), single_file_(single_file) {}

  /// The file that marks it as unfinished.
  std::string mark() const;
  /// Beside it: which items were committed, and one of two files of the rows that fill no chunk.
  std::string items() const;
  std::string rows(unsigned which) const;
  /// "PATH-000042.h5", or the path.
  std::string shard(std::uint64_t number) const;
  std::string partial(std::uint64_t number) const;

  /// Numbers of those that are there, in order. @throws Error(io).
  struct Found {
    std::vector<std::uint64_t> finished, partial;
  };
  Found find() const;

 private:
  std::string path_;
  bool single_file_;
};

/// @throws Error(invalid_argument) where one of these files belongs to a store that is not finished.
void refuse_unfinished(const std::vector<std::string>& files);

}  // namespace penstock::hdf5
