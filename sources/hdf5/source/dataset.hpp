// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/sources/hdf5.hpp>

#include "filters/chunk_filters.hpp"
#include "library/access.hpp"
#include "source/file.hpp"

namespace penstock::hdf5 {

/// What is known about the other files that have a dataset's values.
struct OtherFiles {
  std::vector<std::string> files;  ///< names of other files that have values, including missing files
  /// Sentences about the first few stretches of rows that can't be read because of these files.
  std::vector<std::string> faults;
  std::vector<std::uint64_t> lost;  ///< a copy of `DatasetFacts::lost`, whose numbers are not checked
  std::vector<std::string> told;    ///< further remarks about these files
  std::uint64_t revision = 0;       ///< revision of all other files together; 0 if there are no other files

  /// Describes all of this, one fact per line. `main`: the dataset's own file.
  std::vector<std::string> words(const std::string& main) const;
};

/// An open dataset whose first dimension counts rows: where and how it is stored, and how its rows are read. Unless the
/// way is `rows`, a row is `row_bytes` bytes of stored elements. The constructor checks the facts, so that no later
/// read goes beyond the dataset or the file. Immutable; any thread.
class Dataset {
 public:
  /// @throws Error(not_found | corrupt | unsupported | schema_mismatch).
  Dataset(std::shared_ptr<const File> file, std::string path, std::size_t keep_bytes);

  const File& file() const noexcept { return *file_; }
  const std::string& path() const noexcept { return path_; }
  Access& access() const noexcept { return file_->access(); }
  /// Returns the number by which the access knows the dataset.
  std::size_t number() const noexcept { return number_; }
  std::uint64_t rows() const noexcept { return dims_.front(); }
  /// Returns all dimensions, rows first.
  std::span<const std::uint64_t> dims() const noexcept { return dims_; }
  std::size_t element_bytes() const noexcept { return element_bytes_; }
  std::size_t row_bytes() const noexcept { return row_bytes_; }

  Hdf5Way way() const noexcept { return way_; }
  /// If the way is `kept`, returns the way that is used when keeping fails. Otherwise returns `way()`.
  Hdf5Way way_unkept() const noexcept { return way_unkept_; }
  const std::string& storage() const noexcept { return storage_; }
  /// Returns whether values may be in other files, where only the library finds them.
  bool elsewhere() const noexcept { return elsewhere_; }
  const OtherFiles& others() const noexcept { return others_; }
  const std::string& reason() const noexcept { return reason_; }

  /// The blocks of a record may have at most this many bytes together, so that any loader has room for them.
  static constexpr std::size_t largest_block = std::size_t{256} << 20;
  /// Changes the way to `rows`. Call this if the dataset's blocks, together with those of other datasets, are too
  /// large.
  void read_by_rows();

  /// Returns the offset of a contiguous dataset's first row. Returns none if no element was ever written; every element
  /// is then the fill value.
  std::optional<std::uint64_t> offset() const noexcept { return offset_; }
  /// Returns whether the dataset is read in blocks. A block is all chunks that have the same rows.
  bool in_blocks() const noexcept {
    return (way_ == Hdf5Way::chunks || way_ == Hdf5Way::library) && chunk_.front() > 1 && !plain_rows();
  }
  /// Returns whether the way is `chunks`, and each row is in one unfiltered chunk.
  bool plain_rows() const noexcept;
  /// Returns the dimensions of a chunk; empty if the dataset is not chunked.
  std::span<const std::uint64_t> chunk() const noexcept { return chunk_; }
  std::size_t chunk_bytes() const noexcept { return chunk_bytes_; }
  std::span<const ChunkFilter> filters() const noexcept { return filters_; }
  /// Returns whether chunks that extend past the dataset's end are stored without filters.
  bool plain_edges() const noexcept { return plain_edges_; }
  /// Fills `elements` with the value of elements that were never written: the file's fill value, or zeros.
  void fill(std::span<std::byte> elements) const;

  /// Returns an error that names the dataset.
  Error error(Errc code, const std::string& cause, std::optional<std::uint64_t> offset = {}) const;
  /// Returns an error that names the dataset and a chunk. `first`: the chunk's first element. `offset`: the chunk's
  /// offset, if it is known.
  Error chunk_error(Errc code, const std::string& cause, std::span<const std::uint64_t> first,
                    std::optional<std::uint64_t> offset = {}) const;
  /// Reads stored bytes without the library. @throws Error(io) that names the dataset. If `first` is not empty, the
  /// error also names the chunk whose first element is `first`.
  void read_stored(std::uint64_t offset, std::span<std::byte> out, std::span<const std::uint64_t> first = {}) const;
  /// Returns `code`; but `io` instead of `corrupt` if the file has become shorter since it was opened.
  Errc code_now(Errc code) const noexcept;

 private:
  void measure(const DatasetFacts& facts);
  void look_at_chunks(const DatasetFacts& facts);
  void look_at_filters(const DatasetFacts& facts);
  void look_at_contiguous(const DatasetFacts& facts);
  void require_library() const;
  bool worth_keeping() const noexcept;
  void go(Hdf5Way way, std::string reason = {});

  std::shared_ptr<const File> file_;
  std::string path_;
  std::size_t number_ = 0;
  std::vector<std::uint64_t> dims_, chunk_;
  std::size_t element_bytes_ = 0, row_bytes_ = 0, chunk_bytes_ = 0;
  Hdf5Way way_ = Hdf5Way::rows, way_unkept_ = Hdf5Way::rows;
  std::string storage_, reason_, other_filters_, library_lacks_;
  std::optional<std::uint64_t> offset_;
  std::vector<ChunkFilter> filters_;
  bool plain_edges_ = false, variable_ = false;
  bool elsewhere_ = false;
  OtherFiles others_;
  std::uint64_t chunks_ = 0;
  std::vector<std::byte> fill_;  // the stored fill value of one element; empty: zeros
};

/// Returns for example "[32, 96, 96, 3]".
std::string text_of(std::span<const std::uint64_t> dims);

}  // namespace penstock::hdf5
