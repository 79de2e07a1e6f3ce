// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/sources/webdataset.hpp>

#include "errors.hpp"
#include "member_name.hpp"
#include "members_apart.hpp"
#include "npy.hpp"
#include "source_impl.hpp"
#include "tar_scan.hpp"

namespace penstock {

namespace {

using webdataset::Entry;

[[noreturn]] void corrupt(std::string cause) { throw Error(Errc::corrupt, std::move(cause)); }

std::int64_t whole_number(std::span<const std::byte> bytes) {
  constexpr std::string_view space = " \t\r\n";
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t begin = all.find_first_not_of(space);
  if (begin == std::string_view::npos) corrupt("a whole number should stand here, but there is none");
  std::string_view text = all.substr(begin, all.find_last_not_of(space) + 1 - begin);
  if (text.front() == '+' && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  std::int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size())
    corrupt("\"" + printable(text.substr(0, 40)) + "\" is not a whole number of 64 bits");
  return number;
}

}  // namespace

class WebDatasetReader::Impl {
 public:
  using Store = WebDatasetSource::Impl;

  explicit Impl(std::shared_ptr<const Store> store) : store_(std::move(store)) {}

  void read(std::uint64_t index, SampleBuilder& out) {
    const Store& store = *store_;
    if (index >= store.size()) [[unlikely]]
      throw webdataset::error_in(store.options.path, Errc::not_found,
                                 "there are " + std::to_string(store.size()) + " samples")
          .with_index(index);
    Store::Location location;
    if (next_ < count_ && expected_[next_].index == index) {
      location = expected_[next_++].location;
      fetch_next();
    } else {
      location = store.location_of(index);
      next_ = count_ = 0;
    }
    for (std::size_t slot = 0; slot < store.fields.size(); ++slot) {
      try {
        give(slot, location, store.entry(location, slot), out);
      } catch (Error& error) {
        explain(error, index, location, slot);
        throw;
      }
    }
  }

  void expect(std::span<const std::uint64_t> indices) noexcept {
    next_ = count_ = 0;
    if (store_->options.access == FileAccess::read) return;
    for (const std::uint64_t index : indices.first(std::min(indices.size(), expected_.size()))) {
      if (index >= store_->size()) break;  // `read` will report the bad index
      const Store::Location location = store_->location_of(index);
      __builtin_prefetch(store_->entries_of(location).data());
      expected_[count_++] = {index, location};
    }
    fetch_next();
  }

 private:
  void give(std::size_t slot, Store::Location location, Entry entry, SampleBuilder& out) {
    const webdataset::PlannedField& field = store_->fields[slot];
    const std::size_t shard = location.shard;
    if (!entry.readable()) [[unlikely]]
      refuse(entry, field, store_->indices[shard], location.sample);
    switch (field.kind) {
      case WebDatasetKind::automatic:
      case WebDatasetKind::bytes:
        if (store_->options.access == FileAccess::read) {
          const TensorView to = out.emplace(slot, Shape{static_cast<std::int64_t>(entry.size)});
          read_file(shard, entry.offset, {to.data, static_cast<std::size_t>(entry.size)});
        } else {
          out.view(slot, store_->mapped(shard, entry));
        }
        return;
      case WebDatasetKind::integer:
        out.scalar<std::int64_t>(slot, whole_number(beginning(shard, entry, longest_number_text)));
        return;
      case WebDatasetKind::array:
        give_array(slot, shard, entry, out);
        return;
    }
  }

  void give_array(std::size_t slot, std::size_t shard, Entry entry, SampleBuilder& out) {
    const auto bytes = static_cast<std::size_t>(entry.size);
    const Field& wanted = store_->schema[slot];
    webdataset::Npy npy;
    try {
      const std::size_t header = webdataset::npy_header_bytes(
          beginning(shard, {entry.offset, std::min<std::uint64_t>(bytes, webdataset::npy_preamble_bytes)}));
      npy = webdataset::parse_npy(beginning(shard, {entry.offset, std::min(bytes, header)}), bytes);
    } catch (const webdataset::NpyFault& damage) {
      throw Error(damage.code, damage.what);
    }
    if (npy.dtype != wanted.dtype || !wanted.shape.admits(npy.shape))
      corrupt("the array is " + std::string(to_string(npy.dtype)) + npy.shape.to_string() +
              ", those of the first samples are " + std::string(to_string(wanted.dtype)) + wanted.shape.to_string());
    const Entry elements{entry.offset + npy.data, bytes - npy.data};
    std::span<const std::byte> data;
    if (store_->options.access == FileAccess::read) {
      const TensorView to = out.emplace(slot, npy.shape);
      data = {to.data, static_cast<std::size_t>(elements.size)};
      read_file(shard, elements.offset, {to.data, data.size()});
    } else {
      data = store_->mapped(shard, elements);
      if (reinterpret_cast<std::uintptr_t>(data.data()) % size_of(npy.dtype) == 0) {
        out.view(slot, data.data(), npy.shape);
      } else if (const TensorView to = out.emplace(slot, npy.shape); !data.empty()) {
        std::memcpy(to.data, data.data(), data.size());
      }
    }
    if (npy.dtype == DType::boolean &&
        std::any_of(data.begin(), data.end(), [](std::byte b) { return std::to_integer<unsigned>(b) > 1; }))
      corrupt("the array's elements should be true or false, but some are neither 1 nor 0");
  }

  // Returns the bytes of `entry`, which is a member or only its beginning. The bytes are valid until the next call.
  // @throws Error(corrupt) if there are more than `most`.
  std::span<const std::byte> beginning(std::size_t shard, Entry entry,
                                       std::size_t most = webdataset::max_npy_header_bytes) {
    if (entry.size > most)
      corrupt("the member has " + std::to_string(entry.size) + " bytes, too many for what it should hold");
    if (store_->options.access == FileAccess::map) return store_->mapped(shard, entry);
    buffer_.resize(static_cast<std::size_t>(entry.size));
    read_file(shard, entry.offset, buffer_);
    return buffer_;
  }

  void read_file(std::size_t shard, std::uint64_t offset, std::span<std::byte> to) {
    if (!file_ || open_shard_ != shard) {
      file_.reset();
      file_.emplace(store_->shards[shard]);
      open_shard_ = shard;
      try {
        webdataset::require_same(*file_, store_->indices[shard]);
      } catch (const Error&) {
        file_.reset();
        throw;
      }
    }
    file_->read(reinterpret_cast<char*>(to.data()), to.size(), offset);
  }

  // Prefetches the beginning of each member of the next sample. The processor does not prefetch it by itself, and may
  // first have to look up the address of its page.
  void fetch_next() const noexcept {
    constexpr std::size_t line = 64, lines = 4;
    if (next_ == count_) return;
    const Store::Location location = expected_[next_].location;
    for (const Entry entry : store_->entries_of(location)) {
      if (!entry.readable()) continue;
      const std::span<const std::byte> bytes = store_->mapped(location.shard, entry);
      for (std::size_t at = 0; at < std::min(bytes.size(), line * lines); at += line)
        __builtin_prefetch(bytes.data() + at);
    }
  }

  [[noreturn]] static void refuse(Entry entry, const webdataset::PlannedField& field,
                                  const webdataset::ShardIndex& index, std::uint64_t sample) {
    const std::string extensions = webdataset::extensions_in_words(field);
    if (entry.offset == 0 && std::ranges::binary_search(index.apart, sample))
      corrupt("the sample has no member with " + extensions +
              " beside its others, and one elsewhere in the shard: " + std::string(webdataset::way_to_put_together));
    if (entry.offset == 0) corrupt("the sample has no member with " + extensions);
    if (entry.size == Entry::twice) corrupt("the sample has two members with " + extensions);
    const std::string member = "the sample's member with " + extensions + " ";
    if (entry.size == Entry::long_name)
      throw Error(Errc::limit_exceeded,
                  member + "has a name of more than 65536 bytes; make the shard with shorter ones");
    throw Error(Errc::unsupported, member + why_unsupported(entry, index.key(sample)));
  }
  static std::string why_unsupported(Entry entry, std::string_view key) {
    switch (entry.size) {
      case Entry::bad_name: {
        // If the key is good, the extension holds control characters.
        const char* const danger = webdataset::danger_of(key);
        return "has a name that " + std::string(danger != nullptr ? danger : "holds control characters") +
               "; make the shard with names that stay below one folder";
      }
      case Entry::sparse:
        return "is sparse, so its bytes don't lie in the shard as they are; make the shard without --sparse";
      case Entry::unknown_type:
        return "is of a type that is not known; make the shard of files alone";
      default:
        return "is a link or a device, without data of its own; make the shard with tar --dereference "
               "--hard-dereference";
    }
  }

  void explain(Error& error, std::uint64_t index, Store::Location location, std::size_t slot) const {
    const webdataset::ShardIndex& shard = store_->indices[location.shard];
    const Entry entry = store_->entry(location, slot);
    const std::string_view key = shard.key(location.sample);
    const webdataset::PlannedField& field = store_->fields[slot];
    const std::string what = field.extensions.size() == 1
                                 ? "member \"" + printable(key) + "." + field.extensions.front()
                                 : "field \"" + printable(field.name);
    Error full(error.code(), what + "\": " + error.cause());
    full.with_source("webdataset").with_file(store_->shards[location.shard]).with_index(index).with_key(key);
    if (error.offset()) full.with_offset(*error.offset());
    if (entry.offset != 0) full.with_offset(entry.offset);
    error = full;
  }

  static constexpr std::size_t longest_number_text = 64;

  std::shared_ptr<const Store> store_;
  std::vector<std::byte> buffer_;
  std::optional<webdataset::InputFile> file_;
  std::size_t open_shard_ = 0;
  struct Expected {
    std::uint64_t index = 0;
    Store::Location location;
  };
  std::array<Expected, 16> expected_{};  // only the elements from next_ to count_ are valid
  std::size_t next_ = 0, count_ = 0;
};

WebDatasetReader::WebDatasetReader(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
WebDatasetReader::~WebDatasetReader() = default;
void WebDatasetReader::read(std::uint64_t index, SampleBuilder& out) { impl_->read(index, out); }
void WebDatasetReader::expect(std::span<const std::uint64_t> indices) noexcept { impl_->expect(indices); }

std::unique_ptr<WebDatasetReader> WebDatasetSource::open_reader() const {
  return std::unique_ptr<WebDatasetReader>(new WebDatasetReader(std::make_unique<WebDatasetReader::Impl>(impl_)));
}

}  // namespace penstock
