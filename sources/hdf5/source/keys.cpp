// SPDX-License-Identifier: Apache-2.0
#include "source/keys.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "source/chunk_block.hpp"
#include "source/field_list.hpp"
#include "source/rows.hpp"

namespace penstock::hdf5 {

namespace {

constexpr std::uint64_t usual_page_rows = 1024, most_page_rows = 1u << 16;
constexpr std::uint64_t usual_page_bytes = 1u << 20, most_text_bytes = 1u << 26, most_key_bytes = 1u << 16;

std::uint64_t rows_of_page(const Dataset& dataset, bool by_chunks) {
  const std::uint64_t row = std::max<std::size_t>(dataset.row_bytes(), 1);
  const std::uint64_t most_rows = std::clamp<std::uint64_t>(most_text_bytes / row, 1, most_page_rows);
  if (dataset.chunk().empty()) {
    if (dataset.way() != Hdf5Way::contiguous) return std::min(usual_page_rows, most_rows);
    return std::clamp<std::uint64_t>(usual_page_bytes / row, 1, usual_page_rows);
  }
  const std::uint64_t chunk = dataset.chunk().front(), chunks = (usual_page_rows + chunk - 1) / chunk;
  // If possible, a page has whole chunks, because the library would decode a chunk again for each page that has rows of
  // it.
  if (!by_chunks) return std::min(chunks * chunk, most_rows);
  return std::clamp<std::uint64_t>(most_rows / chunk, 1, chunks) * chunk;
}

}  // namespace

Hdf5Field find_keys(const std::shared_ptr<const File>& file, const std::string& name) {
  std::optional<Error> none;
  for (std::size_t slash = name.size(); slash != std::string::npos && slash != 0; slash = name.rfind('/', slash - 1)) {
    Hdf5Field field{.dataset = name.substr(0, slash),
                    .member = slash == name.size() ? std::string() : name.substr(slash + 1),
                    .squeeze = true};
    try {
      const Dataset dataset(file, field.dataset, 0);
      return field;
    } catch (const Error& failed) {
      if (failed.code() != Errc::not_found) throw;
      if (!none) none = failed;
    }
  }
  if (none) throw Error(*none);
  throw Error(Errc::invalid_argument, "`key` is no dataset's name");
}

Keys::Keys(std::shared_ptr<const File> file, const Hdf5Field& where)
    : name_(field_name(where)), dataset_(std::move(file), where.dataset, 0), column_(dataset_, where, name_) {
  if (!column_.gives_keys())
    throw dataset_.error(Errc::unsupported, "its values are " + std::string(to_string(column_.field().dtype)) +
                                                column_.field().shape.to_string() +
                                                "; keys are strings or whole numbers, one a record");
  page_rows_ = rows_of_page(dataset_, by_chunks());
}

std::string Keys::describe() const {
  return "keys: " + name_ + ", " + dataset_.storage() + "; read " +
         std::to_string(std::min(page_rows_, dataset_.rows())) + " at a time when they are asked for" +
         (dataset_.way() == Hdf5Way::rows ? ", by the HDF5 library" : "");
}

std::string Keys::get(std::uint64_t row, bool verify_checksum, Workspaces& workspaces, KeyPages& pages,
                      std::uint64_t first_page) const {
  dataset_.file().require_own_process();
  const std::uint64_t page = row / page_rows_, first = page * page_rows_;
  KeyPages::Page found = pages.find(first_page + page);
  // If a page is one chunk, reading one key takes as long as reading the page.
  const bool one_chunk = by_chunks() && page_rows_ == dataset_.chunk().front();
  if (found == nullptr && (pages.wants(first_page + page) || one_chunk)) {
    auto read_now = std::make_shared<Texts>();
    try {
      *read_now = read(first, std::min(page_rows_, dataset_.rows() - first), verify_checksum, workspaces);
    } catch (const Error&) {  // keys are read one by one instead, so that only bad keys fail
    }
    found = std::move(read_now);
    pages.keep(first_page + page, found);
  }
  if (found != nullptr && !found->ends.empty())
    if (const std::string_view key = (*found)[row - first]; key.size() <= most_key_bytes) return std::string(key);
  Texts alone = read(row, 1, verify_checksum, workspaces);
  if (alone.bytes.size() > most_key_bytes)
    throw dataset_.error(Errc::limit_exceeded, "row " + std::to_string(row) + ": the key has " +
                                                   std::to_string(alone.bytes.size()) + " bytes, more than the " +
                                                   std::to_string(most_key_bytes) + " that a key may have");
  return std::move(alone.bytes);
}

Texts Keys::read(std::uint64_t first, std::uint64_t rows, bool verify_checksum, Workspaces& workspaces) const {
  const ElementFacts& element = column_.element();
  if (column_.variable()) {
    const std::uint64_t most = rows == 1 ? most_key_bytes : most_text_bytes;
    return read_texts_of_rows(dataset_, element.number, first, rows, verify_checksum, most);
  }
  Texts texts;
  const auto add = [&](const std::byte* value) {
    column_.append_key(value, texts.bytes);
    texts.ends.push_back(texts.bytes.size());
  };
  if (by_chunks()) {
    const std::uint64_t chunk = dataset_.chunk().front();
    std::vector<std::byte> block(block_bytes(dataset_));
    for (std::uint64_t row = first; row < first + rows;) {
      load_block(dataset_, row / chunk, verify_checksum, workspaces, block);
      const std::uint64_t after = std::min(first + rows, (row / chunk + 1) * chunk);
      for (; row < after; ++row) add(block.data() + row % chunk * dataset_.row_bytes() + element.offset);
    }
    return texts;
  }
  if (dataset_.way() == Hdf5Way::contiguous) {
    std::vector<std::byte> stored(rows * dataset_.row_bytes());
    if (dataset_.offset())
      dataset_.read_stored(*dataset_.offset() + first * dataset_.row_bytes(), stored);
    else
      dataset_.fill(stored);
    for (std::uint64_t row = 0; row < rows; ++row) add(stored.data() + row * dataset_.row_bytes() + element.offset);
    return texts;
  }
  std::vector<std::byte> values(rows * element.bytes);
  read_column_of_rows(dataset_, element.number, first, rows, verify_checksum, values);
  for (std::uint64_t row = 0; row < rows; ++row) add(values.data() + row * element.bytes);
  return texts;
}

}  // namespace penstock::hdf5
