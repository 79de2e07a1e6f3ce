#pragma once

#include <hdf5.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/dtype.hpp>
#include <penstock/shape.hpp>
#include <penstock/sources/hdf5.hpp>

namespace penstock::hdf5 {

/// A dataset of a file where none are named.
struct ListedDataset {
  std::string path;
  std::vector<std::uint64_t> dims = {};   ///< dimensions; empty for a single value, or none at all
  std::vector<std::string> members = {};  ///< columns of a compound type; else one, empty
  std::string link = {};                  ///< where it is a link that is not followed: where it leads to
  std::string unreadable = {};            ///< why the library can't open it, though it can others; empty: it can
};

/// A filter of a dataset's chunks.
struct FilterFacts {
  enum class Kind : std::uint8_t { deflate, shuffle, fletcher32, lzf, lz4, zstd, blosc, bitshuffle, other };
  Kind kind = Kind::other;
  std::string name;
  std::array<std::uint64_t, 5> values{};  ///< the first of its parameters
  std::string missing;                    ///< why the library can't use it, and what to do; empty where it can

  friend bool operator==(const FilterFacts&, const FilterFacts&) = default;
};

/// What the library says about a dataset. Nothing of it is checked.
struct DatasetFacts {
  enum class Layout : std::uint8_t { contiguous, chunked, compact, virtual_parts };

  /// Bytes of the largest element whose form is told; of a larger one only its size is.
  static constexpr std::uint64_t largest_element = std::uint64_t{256} << 20;

  std::size_t number = 0;                  ///< number by which it is asked about
  std::vector<std::uint64_t> dims, chunk;  ///< chunk: where the layout is chunked
  std::uint64_t element_bytes = 0;         ///< bytes of an element, as stored
  bool variable = false;                   ///< it has values of no fixed size
  Layout layout = Layout::contiguous;
  bool elsewhere = false;               ///< it lies in another file, behind a link
  bool external = false;                ///< contiguous: its data lies in other files
  bool plain_edges = false;             ///< chunks that reach over its end are stored without filters
  std::optional<std::uint64_t> offset;  ///< contiguous, in this file: of its data, where it has any
  std::vector<FilterFacts> filters;     ///< filters in the order in which they were applied
  std::vector<std::byte> fill;          ///< the value of what was never written; empty: zeros
  std::vector<std::string> files;       ///< other files that its values lie in; of those that are missing the names
  std::vector<std::string> absent;      ///< names of files that it would go on in
  std::vector<std::string> faults;      ///< which rows can't be read for the sake of these, the first few
  /// Rows of all these faults: the first of each stretch and the row after it, in their order. Empty: none, or too
  /// many.
  std::vector<std::uint64_t> lost;
  std::vector<std::string> told;  ///< what else is to be known of where they lie
};

/// What becomes of an element of a dataset, or of one column of a compound element.
struct ElementFacts {
  enum class Form : std::uint8_t {
    same,       ///< the bytes as they are stored
    swapped,    ///< the other byte order
    truth,      ///< a byte that is 0 or not: boolean
    text,       ///< a string of fixed size, without its padding: [?]
    converted,  ///< converted by the library
    variable,   ///< a string or sequence of any length, by the library: [?]
  };

  std::size_t number = 0;  ///< number by which it is asked about
  Form form = Form::same;
  DType dtype = DType::u8;
  Shape shape;                           ///< dimensions beyond the dataset's
  std::size_t bytes = 0;                 ///< bytes, as stored
  std::size_t offset = 0;                ///< offset of the column in the stored element
  H5T_str_t padding = H5T_STR_NULLTERM;  ///< how text is padded
  bool string = false;                   ///< a variable one is a string, not a sequence
};

/// Where a chunk is stored.
struct StoredChunk {
  std::uint64_t offset = 0, bytes = 0;
  std::uint32_t mask = 0;  ///< filters that were left out
};

/// Elements of a dataset: from `first` on, so many in each dimension.
struct Slab {
  std::size_t dataset = 0;
  std::span<const std::uint64_t> first, count;
  bool verify_checksum = true;
  bool lost_too = false;  ///< rows that are known to be lost are no error, and have any values
};

/// Strings, one after the other.
struct Texts {
  std::string bytes;
  std::vector<std::uint64_t> ends;  ///< where each text ends in `bytes`

  std::string_view operator[](std::size_t number) const {
    const std::uint64_t begin = number == 0 ? 0 : ends[number - 1];
    return std::string_view(bytes).substr(begin, ends[number] - begin);
  }
};

/// What a source asks of the HDF5 library about one open file. What fails is an Error that says why; which file, and
/// which of its datasets, its caller knows. What is given is checked by the caller, too. Any thread.
class Access {
 public:
  virtual ~Access() = default;

  /// Descriptor of the open file, for reading; it stays the access's.
  virtual int descriptor() const noexcept = 0;
  /// All datasets, in the order of their paths' bytes; then links to other files and to nothing.
  virtual std::vector<ListedDataset> list() = 0;
  /// @throws Error(not_found) where there is none.
  virtual DatasetFacts dataset(const std::string& path) = 0;
  /// Facts of a dataset's elements; for a compound type, `member` names the column (parts joined by '.').
  /// @throws Error(not_found) for no such column, Error(unsupported) for a type without a field.
  virtual ElementFacts element(std::size_t dataset, const std::string& member) = 0;
  /// The chunk whose first element this is; none where it was never written. Reads the library's index and no data.
  virtual std::optional<StoredChunk> find_chunk(std::size_t dataset, std::span<const std::uint64_t> first) = 0;
  /// Elements as they are stored, into all of `out`.
  virtual void read(const Slab& slab, std::span<std::byte> out) = 0;
  /// One column of elements, as it is stored.
  virtual void read_column(const Slab& slab, std::size_t element, std::span<std::byte> out) = 0;
  /// A value of no fixed size, of one element: calls `memory_for` with its length in elements, and fills
  /// what that gives.
  virtual void read_variable(const Slab& slab, std::size_t element,
                             const std::function<std::span<std::byte>(std::uint64_t length)>& memory_for) = 0;
  /// Strings of any length, of rows that have one each. @throws Error(limit_exceeded) where they have more bytes than
  /// that together.
  virtual Texts read_texts(const Slab& slab, std::size_t element, std::uint64_t max_bytes) = 0;
  /// Stored values, one right after the other, to what they become.
  virtual void convert(std::size_t element, std::uint64_t count, std::span<const std::byte> stored,
                       std::span<std::byte> out) = 0;

  virtual std::vector<std::string> attributes(const std::string& object) = 0;
  virtual std::optional<Hdf5Attribute> attribute(const std::string& object, const std::string& name) = 0;
};

}  // namespace penstock::hdf5
