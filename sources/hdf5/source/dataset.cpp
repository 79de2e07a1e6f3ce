// SPDX-License-Identifier: Apache-2.0
#include "source/dataset.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include <penstock/extend/store_files.hpp>

#include "filters/unpack.hpp"
#include "library/errors.hpp"
#include "library/fill_value.hpp"

namespace penstock::hdf5 {

namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();

// Returns the product, or `largest` if that is less.
std::uint64_t product(std::uint64_t a, std::uint64_t b) noexcept { return b != 0 && a > largest / b ? largest : a * b; }

// A small file may have datasets with many chunks that were never written. These limits apply to such datasets.
constexpr std::uint64_t most_unwritten_in_row = std::uint64_t{1} << 18;
constexpr std::uint64_t most_unwritten_kept = 1024;

// Returns whether the filters can be undone here. The size of the data after a filter that compresses is unknown, so
// later filters must take data of any size.
bool can_undo(std::span<const ChunkFilter> filters) {
  const auto first = std::find_if(filters.begin(), filters.end(), [](auto& f) { return f.compresses(); });
  return first == filters.end() || std::all_of(first + 1, filters.end(), [](auto& f) { return f.takes_any_size(); });
}

// Returns the filter bitshuffle with its parameters; none if the parameters are not valid.
std::optional<ChunkFilter> bit_shuffle(const FilterFacts& facts) {
  using Inner = ChunkFilter::Inner;
  const std::uint64_t element = facts.values[2], block = facts.values[3], packing = facts.values[4];
  constexpr std::uint64_t most = 1 << 20, usual_bytes = 8192, fewest = 128;
  if (element == 0 || element > most || block > most || block % 8 != 0) return std::nullopt;
  if (packing != 0 && packing != 2 && packing != 3) return std::nullopt;
  ChunkFilter filter{ChunkFilter::Kind::bitshuffle, element};
  filter.block = block != 0 ? block : std::max(usual_bytes / element / 8 * 8, fewest);
  filter.inner = packing == 0 ? Inner::none : packing == 2 ? Inner::lz4 : Inner::zstd;
  return filter;
}

// Returns a hash of the files' revisions. A missing file has the revision 1, so the hash changes if the file is
// created.
std::uint64_t revision_of(const std::vector<std::string>& files) {
  std::uint64_t hash = files.size();
  for (const std::string& file : files) {
    std::error_code failed;
    const bool regular = std::filesystem::is_regular_file(file, failed);
    hash = hash * 0x9e3779b97f4a7c15 + (regular ? file_revision(file) : 1);
  }
  return hash;
}

OtherFiles others_of(const DatasetFacts& facts) {
  std::vector<std::string> all = facts.files;
  all.insert(all.end(), facts.absent.begin(), facts.absent.end());
  return {facts.files, facts.faults, facts.lost, facts.told, revision_of(all)};
}

}  // namespace

std::vector<std::string> OtherFiles::words(const std::string& main) const {
  constexpr std::size_t most = 16;
  std::vector<std::string> lines;
  if (!files.empty()) {
    std::error_code failed;
    const std::string folder = std::filesystem::absolute(main, failed).parent_path().string() + "/";
    // Files in other folders are listed first, because a user expects only files next to the main file.
    std::vector<std::string> sorted = files;
    std::stable_partition(sorted.begin(), sorted.end(),
                          [&](const std::string& file) { return file.starts_with('/') && !file.starts_with(folder); });
    std::string text =
        "its values lie in " + std::to_string(files.size()) + (files.size() == 1 ? " other file, " : " other files, ");
    for (std::size_t i = 0; i < std::min(most, sorted.size()); ++i) text += (i == 0 ? "'" : ", '") + sorted[i] + "'";
    if (sorted.size() > most) text += " and " + std::to_string(sorted.size() - most) + " more";
    lines.push_back(std::move(text));
  }
  lines.insert(lines.end(), faults.begin(), faults.end());
  lines.insert(lines.end(), told.begin(), told.end());
  return lines;
}

std::string text_of(std::span<const std::uint64_t> dims) {
  std::string text = "[";
  for (const std::uint64_t d : dims) text += (text.size() > 1 ? ", " : "") + std::to_string(d);
  return text + "]";
}

Dataset::Dataset(std::shared_ptr<const File> file, std::string path, std::size_t keep_bytes)
    : file_(std::move(file)), path_(std::move(path)) {
  DatasetFacts facts;
  try {
    facts = access().dataset(path_);
  } catch (const Error& failed) {
    throw error_in(file_->path(), failed.code(), failed.cause());
  }
  number_ = facts.number;
  others_ = others_of(facts);
  measure(facts);
  using Layout = DatasetFacts::Layout;
  if (facts.layout == Layout::chunked) {
    look_at_chunks(facts);
  } else if (facts.layout == Layout::contiguous) {
    look_at_contiguous(facts);
  } else {
    storage_ = facts.layout == Layout::compact ? "compact" : "virtual";
    go(Hdf5Way::rows, "the library alone knows where " + storage_ + " data lies");
  }
  elsewhere_ = facts.elsewhere || facts.external || facts.layout == Layout::virtual_parts;
  if (facts.elsewhere && way_ != Hdf5Way::rows)
    go(way_ == Hdf5Way::contiguous ? Hdf5Way::rows : Hdf5Way::library, "it lies in another file, behind a link");
  require_library();
  way_unkept_ = way_;
  if (!variable_ && product(rows(), row_bytes_) <= keep_bytes && worth_keeping()) {
    way_ = Hdf5Way::kept;
    reason_.clear();
  }
}

// Returns whether the whole dataset may be read into memory. Reading it asks the library for each chunk. So the number
// of chunks is limited: 1024, plus the number of 8-byte positions for which the file has room.
bool Dataset::worth_keeping() const noexcept { return chunks_ <= most_unwritten_kept + file_->bytes() / 8; }

void Dataset::go(Hdf5Way way, std::string reason) {
  way_ = way;
  reason_ = std::move(reason);
}

// Throws if the library would have to read the dataset, but can't undo its filters, or would need unlimited memory.
void Dataset::require_library() const {
  if (way_ == Hdf5Way::chunks) return;
  // The library does not limit the memory of filters. So a few bytes that several filters have compressed can grow
  // without limit.
  if (std::ranges::count_if(filters_, [](auto& f) { return f.compresses(); }) > 1)
    throw error(Errc::unsupported, "its chunks were compressed more than once (" + storage_ +
                                       "), and the library would have to read it; repack the file with one filter "
                                       "that compresses");
  if (library_lacks_.empty()) return;
  const std::string why = other_filters_.empty() ? "; the library would have to read it, because " + reason_ : "";
  throw error(Errc::unsupported, "its chunks went through the filter " + library_lacks_ + why);
}

void Dataset::read_by_rows() {
  go(Hdf5Way::rows, "the chunks of a row, with those of other fields, hold more than " +
                        std::to_string(largest_block >> 20) + " MiB; repack it with fewer rows a chunk");
  require_library();
  way_unkept_ = way_;
}

bool Dataset::plain_rows() const noexcept {
  return way_ == Hdf5Way::chunks && filters_.empty() && std::equal(dims_.begin() + 1, dims_.end(), chunk_.begin() + 1);
}

void Dataset::measure(const DatasetFacts& facts) {
  if (facts.dims.empty())
    throw error(Errc::schema_mismatch, "it has no dimension that counts records; name other datasets");
  dims_ = facts.dims;
  variable_ = facts.variable;
  element_bytes_ = facts.element_bytes;
  std::uint64_t bytes = element_bytes_;
  for (const std::uint64_t d : std::span(dims_).subspan(1)) bytes = product(bytes, d);
  if (bytes >= largest || product(bytes, rows()) >= largest || element_bytes_ == 0 || dims_.size() > H5S_MAX_RANK ||
      std::ranges::any_of(dims_, [](std::uint64_t d) { return d >= largest; }))
    throw error(Errc::corrupt, "its size " + text_of(dims_) + " is not to be believed");
  row_bytes_ = bytes;
  if (element_bytes_ > DatasetFacts::largest_element)
    throw error(Errc::unsupported, "its elements have " + std::to_string(element_bytes_ >> 20) +
                                       " MiB each, more than the " +
                                       std::to_string(DatasetFacts::largest_element >> 20) + " that are read");
  if (variable_) return;
  fill_ = facts.fill;
  if (!fill_.empty() && fill_.size() != element_bytes_)
    throw error(Errc::corrupt, "its fill value is not one of its elements");
}

void Dataset::fill(std::span<std::byte> elements) const { repeat_over(elements, fill_); }

void Dataset::look_at_contiguous(const DatasetFacts& facts) {
  storage_ = "contiguous";
  if (variable_) return go(Hdf5Way::rows, "its values have no fixed size");
  if (facts.external) {
    storage_ = "in other files";
    return go(Hdf5Way::rows, "the library alone knows where external data lies");
  }
  go(Hdf5Way::contiguous);
  if (facts.elsewhere || !facts.offset) return;
  const std::uint64_t at = *facts.offset, bytes = rows() * row_bytes_;
  if (at > file_->bytes() || bytes > file_->bytes() - at)
    throw error(Errc::corrupt,
                "the file ends before its data: it has " + std::to_string(file_->bytes()) + " bytes, " +
                    std::to_string(bytes) + " are needed from " + std::to_string(at) + " on",
                at);
  offset_ = at;
}

void Dataset::look_at_chunks(const DatasetFacts& facts) {
  if (facts.chunk.size() != dims_.size()) throw error(Errc::corrupt, "its chunks have another rank than its data");
  chunk_ = facts.chunk;
  std::uint64_t chunk_bytes = element_bytes_;
  for (const std::uint64_t c : chunk_) chunk_bytes = product(chunk_bytes, c);
  if (chunk_bytes == 0) throw error(Errc::corrupt, "its chunks have no elements");
  storage_ = "chunks of " + text_of(chunk_);
  const auto chunks_along = [this](std::size_t d) {
    return dims_[d] / chunk_[d] + (dims_[d] % chunk_[d] != 0 ? 1 : 0);
  };
  std::uint64_t chunks_in_row = 1;
  for (std::size_t d = 1; d < dims_.size(); ++d) chunks_in_row = product(chunks_in_row, chunks_along(d));
  chunks_ = product(chunks_in_row, chunks_along(0));
  // The check is left out for data in another file, because that file's size isn't known.
  if (chunks_in_row > std::max(most_unwritten_in_row, file_->bytes()) && !facts.elsewhere)
    throw error(Errc::unsupported, "one of its rows lies in " + std::to_string(chunks_in_row) +
                                       " chunks, more than the file has bytes; make it with larger chunks");
  plain_edges_ = facts.plain_edges;
  look_at_filters(facts);
  if (variable_) return go(Hdf5Way::rows, "its values have no fixed size");
  const std::uint64_t block = product(row_bytes_, chunk_.front());
  if (block > largest_block || chunk_bytes > largest_block)
    return go(Hdf5Way::rows, "chunks that hold a row hold " + std::to_string(block >> 20) +
                                 " MiB of rows, too much to be kept; repack it with fewer rows a chunk");
  chunk_bytes_ = chunk_bytes;
  if (!other_filters_.empty()) return go(Hdf5Way::library, "of the filter " + other_filters_);
  if (!can_undo(filters_)) return go(Hdf5Way::library, "of the order of its filters");
  go(Hdf5Way::chunks);
}

void Dataset::look_at_filters(const DatasetFacts& facts) {
  std::string names;
  for (const FilterFacts& filter : facts.filters) {
    using Kind = ChunkFilter::Kind;
    std::optional<ChunkFilter> known;
    switch (filter.kind) {
      case FilterFacts::Kind::deflate:
        known = ChunkFilter{Kind::deflate};
        break;
      case FilterFacts::Kind::shuffle:
        known = ChunkFilter{Kind::shuffle, filter.values[0] > 0 ? filter.values[0] : element_bytes_};
        break;
      case FilterFacts::Kind::fletcher32:
        known = ChunkFilter{Kind::fletcher32};
        break;
      case FilterFacts::Kind::lzf:
        if (can_unpack()) known = ChunkFilter{Kind::lzf};
        break;
      case FilterFacts::Kind::lz4:
        if (can_unpack()) known = ChunkFilter{Kind::lz4};
        break;
      case FilterFacts::Kind::zstd:
        if (can_unpack()) known = ChunkFilter{Kind::zstd};
        break;
      case FilterFacts::Kind::blosc:
        if (can_unpack()) known = ChunkFilter{Kind::blosc};
        break;
      case FilterFacts::Kind::bitshuffle:
        if (can_unpack()) known = bit_shuffle(filter);
        break;
      case FilterFacts::Kind::other:
        break;
    }
    if (known) filters_.push_back(*known);
    if (!known) other_filters_ = filter.name;
    if (!filter.missing.empty()) library_lacks_ = filter.name + ", " + filter.missing;
    names += (names.empty() ? "" : " + ") + filter.name;
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

Errc Dataset::code_now(Errc code) const noexcept {
  return code == Errc::corrupt && file_->bytes_now() < file_->bytes() ? Errc::io : code;
}

}  // namespace penstock::hdf5
