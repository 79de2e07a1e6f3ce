// SPDX-License-Identifier: Apache-2.0
// Both sides of "the JPEG job": 4,000 JPEGs in an LMDB store -> random_resized_crop to 224 -> random_flip -> batches of
// 64, u8 NHWC.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <penstock/extend/image_op.hpp>
#include <penstock/loader.hpp>
#include <penstock/pipeline.hpp>
#include <penstock/sources/lmdb.hpp>
#include <penstock/transforms/decode_jpeg.hpp>

#include "../data.hpp"
#include "../plain_lmdb.hpp"
#include "../raw_loop.hpp"

namespace penstock::bench {

// The random draws of the pipeline for one sample.
struct Drawn {
  Box box;
  bool flip;
};

class JpegJob {
 public:
  static constexpr Size size{224, 224};
  using Decoder = JpegOptions::Decoder;
  static constexpr std::size_t row_bytes = std::size_t{224} * 224 * 3;

  // @throws std::runtime_error if both sides don't make the same batches, bit for bit.
  JpegJob(const Settings& settings, bool noisy) : JpegJob(picture_store(settings, noisy)) {}
  // Makes a job on a store that has other files for pictures of the same size, with the same keys.
  explicit JpegJob(Store store);

  const Store& store() const noexcept { return store_; }
  // Returns the pipeline for one epoch with this seed. `last`: a stage after the others, before `batch`.
  Pipeline pipeline(std::uint64_t seed, const std::optional<Stage>& last = std::nullopt,
                    Decoder decoder = Decoder::automatic) const;
  Timing ours(unsigned threads, std::uint64_t seed, Decoder decoder = Decoder::automatic) const;
  Timing raw(unsigned threads, std::uint64_t seed, Decoder decoder = Decoder::automatic) const;

  // What the pipeline with one seed does: the i-th sample is made from record order[i] with the draws drawn[i].
  struct Work {
    std::vector<std::uint64_t> order;
    std::vector<Drawn> drawn;
  };
  Work work(std::uint64_t seed) const;
  const LmdbSource& source() const noexcept { return source_; }
  const PlainStore& plain() const noexcept { return plain_; }

 private:
  Timing raw(unsigned threads, const Work& work, Decoder decoder = Decoder::automatic) const;
  void compare_bits() const;

  Store store_;
  LmdbSource source_;  // stays open between rounds, like `plain_`
  PlainStore plain_;
  Ring ring_;
};

}  // namespace penstock::bench
