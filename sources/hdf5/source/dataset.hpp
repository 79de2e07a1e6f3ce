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

/// What is known of the other files that a dataset's values lie in.
struct OtherFiles {
  std::vector<std::string> files;   ///< of those that are missing the names
  std::vector<std::string> faults;  ///< which rows can't be read for the sake of these, the first few
  std::vector<std::uint64_t> lost;  ///< rows of the faults, as `DatasetFacts::lost` has them; what is said, not checked
  std::vector<std::string> told;    ///< what else is to be known
  std::uint64_t revision = 0;       ///< of all files; 0 where there are none

  /// All of it, a line each.
  std::vector<std::string> words(const std::string& main) const;
};

/// An open dataset whose first dimension counts rows: where it is stored, how, and which way its rows are read. A row
/// is `row_bytes` of elements as they are stored, unless the way is `rows`. What is known of it is checked: nothing
/// that is asked later leaves the dataset, or the file. Immutable; any thread.
class Dataset {
 public:
  /// @throws Error(not_found | corrupt | unsupported | schema_mismatch).
  Dataset(std::shared_ptr<const File> file, std::string path, std::size_t keep_bytes);

  const File& file() const noexcept { return *file_; }
  const std::string& path() const noexcept { return path_; }
  Access& access() const noexcept { return file_->access(); }
  /// Number by which the access knows it.
  std::size_t number() const noexcept { return number_; }
  std::uint64_t rows() const noexcept { return dims_.front(); }
  /// All dimensions, rows first.
  std::span<const std::uint64_t> dims() const noexcept { return dims_; }
  std::size_t element_bytes() const noexcept { return element_bytes_; }
  std::size_t row_bytes() const noexcept { return row_bytes_; }

  Hdf5Way way() const noexcept { return way_; }
  /// What it is done by where `kept` fails.
  Hdf5Way way_unkept() const noexcept { return way_unkept_; }
  const std::string& storage() const noexcept { return storage_; }
  /// Values lie in files that only the library finds.
  bool elsewhere() const noexcept { return elsewhere_; }
  const OtherFiles& others() const noexcept { return others_; }
  const std::string& reason() const noexcept { return reason_; }

  /// What a record's blocks may take together, so that any loader has room for them.
  static constexpr std::size_t largest_block = std::size_t{256} << 20;
  /// Reads it by rows, as its chunks and those of other datasets together are too large.
  void read_by_rows();

  /// Contiguous: of the first row; none where nothing was written, so that all is the fill value.
  std::optional<std::uint64_t> offset() const noexcept { return offset_; }
  /// True where rows that stand in one chunk are decoded together.
  bool in_blocks() const noexcept {
    return (way_ == Hdf5Way::chunks || way_ == Hdf5Way::library) && chunk_.front() > 1 && !plain_rows();
  }
  /// True where a row lies in its chunk as it is.
  bool plain_rows() const noexcept;
  /// Chunked, else empty.
  std::span<const std::uint64_t> chunk() const noexcept { return chunk_; }
  std::size_t chunk_bytes() const noexcept { return chunk_bytes_; }
  std::span<const ChunkFilter> filters() const noexcept { return filters_; }
  /// Chunks that reach over the dataset's end are stored without filters.
  bool plain_edges() const noexcept { return plain_edges_; }
  /// Makes them what was never written is: what the file says, or zeros.
  void fill(std::span<std::byte> elements) const;

  /// An error that says which dataset it is about.
  Error error(Errc code, const std::string& cause, std::optional<std::uint64_t> offset = {}) const;
  /// An error that says which chunk of the dataset it is about, by its first element, with its offset where that is
  /// known.
  Error chunk_error(Errc code, const std::string& cause, std::span<const std::uint64_t> first,
                    std::optional<std::uint64_t> offset = {}) const;
  /// Stored bytes, without the library. @throws Error(io) as `error`, with the chunk of which `first` is the first
  /// element.
  void read_stored(std::uint64_t offset, std::span<std::byte> out, std::span<const std::uint64_t> first = {}) const;
  /// io instead of corrupt where the file was cut short since it was opened.
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
  std::vector<std::byte> fill_;  // fill value of one element, as stored; empty: zeros
};

/// "[32, 96, 96, 3]"
std::string text_of(std::span<const std::uint64_t> dims);

}  // namespace penstock::hdf5
