// SPDX-License-Identifier: Apache-2.0
#include "sink/partial_chunks.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include <penstock/error.hpp>

namespace penstock::hdf5 {

namespace {

void append_count(std::string& text, std::uint64_t number) {
  text.append(reinterpret_cast<const char*>(&number), sizeof number);
}
void append_bytes(std::string& text, std::span<const std::byte> bytes) {
  append_count(text, bytes.size());
  text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

class TextReader {
 public:
  explicit TextReader(std::string_view text) : left_(text) {}
  std::uint64_t count() {
    std::uint64_t number = 0;
    std::memcpy(&number, take(sizeof number).data(), sizeof number);
    return number;
  }
  std::vector<std::byte> bytes() {
    const std::string_view found = take(count());
    const auto* const begin = reinterpret_cast<const std::byte*>(found.data());
    return {begin, begin + found.size()};
  }
  bool at_end() const noexcept { return left_.empty(); }

 private:
  std::string_view take(std::uint64_t bytes) {
    if (bytes > left_.size()) throw Error(Errc::corrupt, "the rows of unfinished chunks are not as they were written");
    const std::string_view found = left_.substr(0, bytes);
    left_.remove_prefix(bytes);
    return found;
  }
  std::string_view left_;
};

std::span<const std::byte> bytes_of_value(const StoredDataset& dataset, const Sample& sample, std::string_view key) {
  if (!dataset.slot) return std::as_bytes(std::span(key));
  const TensorView tensor = sample.tensor(*dataset.slot);
  return {tensor.data, tensor.bytes()};
}

std::size_t element_of(const StoredDataset& dataset) {
  return dataset.kind == StoredDataset::Kind::texts ? 1 : size_of(dataset.dtype);
}

}  // namespace

PartialChunks::PartialChunks(const std::vector<StoredDataset>& datasets)
    : datasets_(datasets), work_(datasets.size()) {}

std::uint64_t PartialChunks::bytes_of(const Sample& sample, std::string_view key) const {
  std::uint64_t bytes = 0;
  for (const StoredDataset& dataset : datasets_) {
    if (!dataset.slot && key.find('\0') != std::string_view::npos)
      throw Error(Errc::invalid_argument, "the key has a NUL, where HDF5's strings end; leave `keys` empty");
    const std::size_t value = bytes_of_value(dataset, sample, key).size();
    if (dataset.varies() && value / element_of(dataset) > std::numeric_limits<std::uint32_t>::max())
      throw Error(Errc::limit_exceeded, "the dataset '" + dataset.path + "' would get a sequence of " +
                                            std::to_string(value / element_of(dataset)) +
                                            " elements; HDF5 counts them in 32 bits");
    bytes += value + (dataset.varies() ? reference_bytes : 0);
  }
  return bytes;
}

void PartialChunks::add(const Sample& sample, std::string_view key, ShardData& data) {
  for (std::size_t i = 0; i < datasets_.size(); ++i) {
    const StoredDataset& dataset = datasets_[i];
    const std::span<const std::byte> value = bytes_of_value(dataset, sample, key);
    std::vector<std::byte>& rows = work_[i].rows;
    if (rows.empty()) rows.reserve(dataset.chunk_bytes());
    if (dataset.varies())
      add_value(i, value, element_of(dataset), data);
    else
      rows.insert(rows.end(), value.begin(), value.end());
    if (rows.size() == dataset.chunk_bytes()) give_chunk(i, data);
  }
}

void PartialChunks::add_value(std::size_t dataset, std::span<const std::byte> value, std::size_t element,
                              ShardData& data) {
  Work& work = work_[dataset];
  std::array<std::byte, reference_bytes> reference{};
  if (!value.empty()) {
    if (work.heap.full_for(value.size())) data.add_heap(dataset, work.heap.take());
    const std::uint32_t object = work.heap.add(value);
    put_reference(reference, static_cast<std::uint32_t>(value.size() / element), data.heaps(dataset), object);
  }
  work.rows.insert(work.rows.end(), reference.begin(), reference.end());
}

void PartialChunks::give_chunk(std::size_t dataset, ShardData& data) {
  Work& work = work_[dataset];
  // The chunk's references name the collection in `work.heap`, so this collection must be added before the chunk.
  if (!work.heap.empty()) data.add_heap(dataset, work.heap.take());
  data.add_chunk(dataset, std::exchange(work.rows, {}));
}

void PartialChunks::end(ShardData& data) {
  for (std::size_t i = 0; i < datasets_.size(); ++i) {
    if (work_[i].rows.empty()) continue;
    work_[i].rows.resize(datasets_[i].chunk_bytes());
    give_chunk(i, data);
  }
}

std::uint64_t PartialChunks::rows(std::size_t dataset) const {
  return work_[dataset].rows.size() / datasets_[dataset].row_bytes;
}

std::string PartialChunks::text() const {
  std::string text;
  for (const Work& work : work_) {
    append_bytes(text, work.rows);
    append_count(text, work.heap.objects());
    append_bytes(text, work.heap.image());
  }
  append_count(text, XXH3_64bits(text.data(), text.size()));
  return text;
}

void PartialChunks::from_text(std::string_view text) {
  const auto damaged = [] {
    return Error(Errc::corrupt, "the rows of unfinished chunks are not as they were written");
  };
  std::uint64_t hash = 0;
  if (text.size() < sizeof hash) throw damaged();
  std::memcpy(&hash, text.data() + text.size() - sizeof hash, sizeof hash);
  text.remove_suffix(sizeof hash);
  if (hash != XXH3_64bits(text.data(), text.size())) throw damaged();
  TextReader in(text);
  for (std::size_t i = 0; i < work_.size(); ++i) {
    work_[i].rows = in.bytes();
    const auto objects = static_cast<std::uint32_t>(in.count());
    work_[i].heap = GlobalHeap(in.bytes(), objects);
    if (work_[i].rows.size() % datasets_[i].row_bytes != 0 || work_[i].rows.size() >= datasets_[i].chunk_bytes())
      throw damaged();
  }
  if (!in.at_end()) throw damaged();
}

}  // namespace penstock::hdf5
