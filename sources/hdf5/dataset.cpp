#include "dataset.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "element.hpp"
#include "errors.hpp"

namespace penstock::hdf5 {

namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();

// Saturates.
std::uint64_t product(std::uint64_t a, std::uint64_t b) noexcept { return b != 0 && a > largest / b ? largest : a * b; }

// False for what an external link leads to. Where that can't be told, the library reads.
bool lies_in(hid_t file, hid_t dataset) {
  H5O_info_t root{}, info{};
  return H5Oget_info2(file, &root, H5O_INFO_BASIC) >= 0 && H5Oget_info2(dataset, &info, H5O_INFO_BASIC) >= 0 &&
         root.fileno == info.fileno;
}

// True where the size between two filters is always known: only a checksum follows what compresses.
bool has_known_sizes(std::span<const ChunkFilter> filters) {
  const auto deflate =
      std::find_if(filters.begin(), filters.end(), [](auto& f) { return f.kind == ChunkFilter::Kind::deflate; });
  return deflate == filters.end() ||
         std::all_of(deflate + 1, filters.end(), [](auto& f) { return f.kind == ChunkFilter::Kind::fletcher32; });
}

std::string filter_name(H5Z_filter_t id, const char* name) {
  switch (id) {
    case H5Z_FILTER_SZIP:
      return "szip";
    case H5Z_FILTER_NBIT:
      return "nbit";
    case H5Z_FILTER_SCALEOFFSET:
      return "scaleoffset";
    default:
      return name[0] != '\0' ? "'" + std::string(name) + "' (" + std::to_string(id) + ")" : std::to_string(id);
  }
}

}  // namespace

std::string text_of(std::span<const std::uint64_t> dims) {
  std::string text = "[";
  for (const std::uint64_t d : dims) text += (text.size() > 1 ? ", " : "") + std::to_string(d);
  return text + "]";
}

Dataset::Dataset(std::shared_ptr<const File> file, std::string path, std::size_t keep_bytes)
    : file_(std::move(file)), path_(std::move(path)) {
  const LibraryLock lock;
  id_ = Handle(H5Dopen2(file_->id(), path_.c_str(), H5P_DEFAULT), H5Dclose);
  if (!id_) {
    const std::string said = library_says();
    throw error_in(file_->path(), Errc::not_found, "there is no dataset '" + path_ + "' that can be opened: " + said);
  }
  type_ = own_type(H5Dget_type(id_.get()));
  const Handle creation = own_list(H5Dget_create_plist(id_.get()));
  if (!type_ || !creation) throw error(Errc::corrupt, library_says());
  measure();
  look_at_fill_value(creation.get());
  const bool elsewhere = !lies_in(file_->id(), id_.get());
  const H5D_layout_t layout = H5Pget_layout(creation.get());
  if (layout == H5D_CHUNKED) {
    look_at_chunks(creation.get());
  } else if (layout == H5D_CONTIGUOUS) {
    look_at_contiguous(creation.get(), elsewhere);
  } else {
    storage_ = layout == H5D_COMPACT ? "compact" : "virtual";
    go(Hdf5Way::rows, "the library alone knows where " + storage_ + " data lies");
  }
  if (elsewhere && way_ != Hdf5Way::rows)
    go(way_ == Hdf5Way::contiguous ? Hdf5Way::rows : Hdf5Way::library, "it lies in another file, behind a link");
  way_unkept_ = way_;
  if (!variable_ && product(rows(), row_bytes_) <= keep_bytes) {
    way_ = Hdf5Way::kept;
    reason_.clear();
  }
}

void Dataset::go(Hdf5Way way, std::string reason) {
  way_ = way;
  reason_ = std::move(reason);
}

void Dataset::read_by_rows() {
  go(Hdf5Way::rows, "the chunks of a row, with those of other fields, hold more than " +
                        std::to_string(largest_block >> 20) + " MiB; repack it with fewer rows a chunk");
  way_unkept_ = way_;
}

bool Dataset::plain_rows() const noexcept {
  return way_ == Hdf5Way::chunks && filters_.empty() && std::equal(dims_.begin() + 1, dims_.end(), chunk_.begin() + 1);
}

void Dataset::measure() {
  const Handle space = own_space(H5Dget_space(id_.get()));
  const int rank = space ? H5Sget_simple_extent_ndims(space.get()) : -1;
  if (rank < 1) throw error(Errc::schema_mismatch, "it has no dimension that counts records; name other datasets");
  std::array<hsize_t, H5S_MAX_RANK> dims{};
  H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr);
  dims_.assign(dims.begin(), dims.begin() + rank);
  variable_ = has_variable_parts(type_.get());
  element_bytes_ = H5Tget_size(type_.get());
  std::uint64_t bytes = element_bytes_;
  for (const std::uint64_t d : std::span(dims_).subspan(1)) bytes = product(bytes, d);
  if (bytes >= largest || product(bytes, rows()) >= largest || element_bytes_ == 0)
    throw error(Errc::corrupt, "its size " + text_of(dims_) + " is not to be believed");
  row_bytes_ = bytes;
}

void Dataset::look_at_fill_value(hid_t creation) {
  if (variable_) return;
  fill_.assign(element_bytes_, std::byte{0});
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  if (H5Pfill_value_defined(creation, &defined) < 0 || defined == H5D_FILL_VALUE_UNDEFINED) return;
  if (H5Pget_fill_value(creation, type_.get(), fill_.data()) < 0) std::fill(fill_.begin(), fill_.end(), std::byte{0});
}

void Dataset::fill(std::span<std::byte> elements) const {
  for (std::size_t at = 0; at < elements.size(); at += fill_.size())
    std::memcpy(elements.data() + at, fill_.data(), fill_.size());
}

void Dataset::look_at_contiguous(hid_t creation, bool elsewhere) {
  storage_ = "contiguous";
  if (variable_) return go(Hdf5Way::rows, "its values have no fixed size");
  if (H5Pget_external_count(creation) > 0) {
    storage_ = "in other files";
    return go(Hdf5Way::rows, "the library alone knows where external data lies");
  }
  go(Hdf5Way::contiguous);
  if (elsewhere) return;
  // The offset alone won't do: behind a user block, that of data never written is a wrong one, not an undefined one.
  H5D_space_status_t status = H5D_SPACE_STATUS_ERROR;
  if (H5Dget_space_status(id_.get(), &status) < 0) throw error(Errc::corrupt, library_says());
  if (status == H5D_SPACE_STATUS_NOT_ALLOCATED) return;
  const haddr_t at = H5Dget_offset(id_.get());
  if (at == HADDR_UNDEF) return;
  const std::uint64_t bytes = rows() * row_bytes_;
  if (at > file_->bytes() || bytes > file_->bytes() - at)
    throw error(Errc::corrupt,
                "the file ends before its data: it has " + std::to_string(file_->bytes()) + " bytes, " +
                    std::to_string(bytes) + " are needed from " + std::to_string(at) + " on",
                at);
  offset_ = at;
}

void Dataset::look_at_chunks(hid_t creation) {
  std::array<hsize_t, H5S_MAX_RANK> chunk{};
  const int rank = H5Pget_chunk(creation, H5S_MAX_RANK, chunk.data());
  if (rank != static_cast<int>(dims_.size())) throw error(Errc::corrupt, "its chunks have another rank than its data");
  chunk_.assign(chunk.begin(), chunk.begin() + rank);
  std::uint64_t chunk_bytes = element_bytes_;
  for (const std::uint64_t c : chunk_) chunk_bytes = product(chunk_bytes, c);
  if (chunk_bytes == 0) throw error(Errc::corrupt, "its chunks have no elements");
  storage_ = "chunks of " + text_of(chunk_);
  unsigned options = 0;
  plain_edges_ = H5Pget_chunk_opts(creation, &options) >= 0 && (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) != 0;
  look_at_filters(creation);
  if (variable_) return go(Hdf5Way::rows, "its values have no fixed size");
  const std::uint64_t block = product(row_bytes_, chunk_.front());
  if (block > largest_block || chunk_bytes > largest_block)
    return go(Hdf5Way::rows, "chunks that hold a row hold " + std::to_string(block >> 20) +
                                 " MiB of rows, too much to be kept; repack it with fewer rows a chunk");
  chunk_bytes_ = chunk_bytes;
  if (!other_filters_.empty()) return go(Hdf5Way::library, "of the filter " + other_filters_);
  if (!has_known_sizes(filters_)) return go(Hdf5Way::library, "of the order of its filters");
  go(Hdf5Way::chunks);
}

void Dataset::look_at_filters(hid_t creation) {
  const int count = H5Pget_nfilters(creation);
  std::string names;
  for (int f = 0; f < count; ++f) {
    std::array<unsigned, 32> values{};
    std::size_t most = values.size();
    std::array<char, 64> name{};
    unsigned flags = 0, config = 0;
    const H5Z_filter_t id = H5Pget_filter2(creation, static_cast<unsigned>(f), &flags, &most, values.data(),
                                           name.size() - 1, name.data(), &config);
    std::string told;
    switch (id) {
      case H5Z_FILTER_DEFLATE:
        filters_.push_back({ChunkFilter::Kind::deflate});
        told = "deflate";
        break;
      case H5Z_FILTER_SHUFFLE:
        filters_.push_back({ChunkFilter::Kind::shuffle, most > 0 && values[0] > 0 ? values[0] : element_bytes_});
        told = "shuffle";
        break;
      case H5Z_FILTER_FLETCHER32:
        filters_.push_back({ChunkFilter::Kind::fletcher32});
        told = "fletcher32";
        break;
      default:
        told = filter_name(id, name.data());
        if (H5Zfilter_avail(id) <= 0)
          throw error(Errc::unsupported, "its chunks went through the filter " + told +
                                             ", which the HDF5 library here does not have: install its plugin, or "
                                             "repack the file with gzip");
        other_filters_ = told;
    }
    names += (names.empty() ? "" : " + ") + told;
  }
  if (!names.empty()) storage_ += ", " + names;
}

Error Dataset::error(Errc code, const std::string& cause, std::optional<std::uint64_t> offset) const {
  return error_in(file_->path(), code, "dataset '" + path_ + "': " + cause, offset);
}

Error Dataset::chunk_error(Errc code, const std::string& cause, std::span<const std::uint64_t> first,
                           std::optional<std::uint64_t> offset) const {
  return error(code, "the chunk at " + text_of(first) + ": " + cause, offset);
}

void Dataset::read_stored(std::uint64_t offset, std::span<std::byte> out, std::span<const std::uint64_t> first) const {
  try {
    file_->read_at(offset, out);
  } catch (const Error& failed) {
    const std::string where = first.empty() ? "" : "the chunk at " + text_of(first) + ": ";
    throw error(failed.code(), where + failed.cause(), failed.offset());
  }
}

Errc Dataset::code_now() const noexcept { return file_->bytes_now() < file_->bytes() ? Errc::io : Errc::corrupt; }

}  // namespace penstock::hdf5
