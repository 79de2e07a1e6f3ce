// SPDX-License-Identifier: Apache-2.0
#include "look/store_findings.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/transforms/decode_image.hpp>
#include <penstock/transforms/decode_jpeg.hpp>

#include "console/progress.hpp"
#include "stores/encoded_image.hpp"
#include "stores/sampled_records.hpp"

namespace penstock::cli {

namespace {

class Looking {
 public:
  Looking(const InputStore& store, const LookOptions& options)
      : store_(store),
        options_(options),
        schema_(store.schema()),
        encoded_(holds_encoded(schema_, options.image_field)),
        reader_(store.reader()),
        decoding_(any_image_decoder(options_for_any_image())->start()) {
    const auto label = schema_.find("label");
    labels_ = label && schema_[*label].dtype == DType::i64 && schema_[*label].shape.rank() == 0;
    found_.bytes.resize(schema_.size());
  }

  Findings run() {
    if (options_.all) {
      Progress progress("reading", store_.size(), options_.quiet);
      for (std::uint64_t i = 0; i < store_.size(); ++i) {
        if (i % sample_size == 0) reader_.expect(i, std::min(store_.size(), i + sample_size));
        look_at(i), progress.set(i);
      }
    } else {
      const auto records = sampled_records(store_.size(), store_.block_ends(), {sample_size, records_worth_reading()});
      Progress progress("reading", records.size(), options_.quiet);
      reader_.expect(records);
      for (const std::uint64_t record : records) look_at(record), progress.set(found_.looked_at);
    }
    return std::move(found_);
  }

 private:
  static constexpr std::uint64_t sample_size = 10'000, sample_bytes = std::uint64_t{1} << 30;

  // Returns how many records can be read in reasonable time, estimated from the sizes of some of them.
  std::uint64_t records_worth_reading() {
    std::uint64_t bytes = 0, count = 0;
    for (const std::uint64_t record : sampled_records(store_.size(), {}, {.most = 4})) {
      try {
        Sample& sample = reader_.read(record);
        for (std::size_t slot = 0; slot < schema_.size(); ++slot) bytes += bytes_of(sample, schema_, slot).size();
        ++count;
      } catch (const Error& error) {
        if (!error.sample_scoped()) throw;
      }
    }
    return bytes == 0 ? store_.size() : sample_bytes / std::max<std::uint64_t>(1, bytes / count);
  }

  void look_at(std::uint64_t index) {
    ++found_.looked_at;
    try {
      Sample& sample = reader_.read(index);
      for (std::size_t slot = 0; slot < schema_.size(); ++slot)
        found_.bytes[slot].push_back(bytes_of(sample, schema_, slot).size());
      if (labels_) ++found_.labels[sample.scalar<std::int64_t>("label")];
      if (encoded_) look_at_image(sample.bytes(options_.image_field));
    } catch (Error& error) {
      if (!error.sample_scoped()) throw;
      if (found_.unreadable++ != 0) return;
      if (!error.index())
        error.with_index(index).with_key(readable_key(store_, index)).with_file(store_.file_of(index));
      found_.first_unreadable = error.what();
    }
  }

  void look_at_image(std::span<const std::byte> encoded) {
    const std::string kind = image_kind(encoded);
    ++found_.kinds[encoded.empty() ? "empty" : kind.empty() ? "unknown" : kind];
    if (kind.empty() || lacking_.contains(kind)) return;
    try {
      const ImageShape shape = decoding_->open(encoded);
      found_.heights.push_back(static_cast<std::uint64_t>(shape.height));
      found_.widths.push_back(static_cast<std::uint64_t>(shape.width));
      if (kind == "jpeg") look_at_orientation(encoded);
    } catch (const Error& error) {
      if (error.code() != Errc::unsupported || !lacks_decoder(*decoding_, encoded)) throw;
      lacking_.insert(kind);
    }
  }

  // Counts the orientation if the image must be turned or mirrored. If the orientation can't be read, the image does
  // not count as unreadable, because decoding may not need the damaged part.
  void look_at_orientation(std::span<const std::byte> jpeg) {
    try {
      if (const int orientation = jpeg_orientation(jpeg); orientation != 1) ++found_.orientations[orientation];
    } catch (const Error& error) {
      if (!error.sample_scoped()) throw;
    }
  }

  const InputStore& store_;
  const LookOptions& options_;
  const Schema schema_;
  const bool encoded_;
  bool labels_ = false;
  InputStore::Reader reader_;
  std::unique_ptr<ImageDecoding> decoding_;
  std::set<std::string> lacking_;  ///< kinds of images that the library can't decode
  Findings found_;
};

}  // namespace

Findings look_at_records(const InputStore& store, const LookOptions& options) { return Looking(store, options).run(); }

std::string readable_key(const InputStore& store, std::uint64_t index) {
  try {
    return store.key(index);
  } catch (const Error& error) {
    if (!error.sample_scoped()) throw;
    return "?";
  }
}

}  // namespace penstock::cli
