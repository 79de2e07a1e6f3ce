// SPDX-License-Identifier: Apache-2.0
// "The JPEG job": 4,000 JPEGs in an LMDB -> random-resized-crop 224 -> flip -> batch of 64, u8 NHWC. Both sides of it.
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

// What the pipeline draws for one sample.
struct Drawn {
  Box box;
  bool flip;
};

class JpegJob {
 public:
  static constexpr Size size{224, 224};
  using Decoder = JpegOptions::Decoder;
  static constexpr std::size_t row_bytes = std::size_t{224} * 224 * 3;

  // @throws std::runtime_error when both sides don't make the same batches, bit for bit.
  JpegJob(const Settings& settings, bool noisy) : JpegJob(picture_store(settings, noisy)) {}
  // A job on a store of other files of the same size, with the same keys.
  explicit JpegJob(Store store);

  const Store& store() const noexcept { return store_; }
  // One epoch with this seed. `last`: a stage after the others.
  Pipeline pipeline(std::uint64_t seed, const std::optional<Stage>& last = std::nullopt,
                    Decoder decoder = Decoder::automatic) const;
  Timing ours(unsigned threads, std::uint64_t seed, Decoder decoder = Decoder::automatic) const;
  Timing raw(unsigned threads, std::uint64_t seed, Decoder decoder = Decoder::automatic) const;

  // What the pipeline of that seed does, in its order: the i-th sample is record order[i], of which drawn[i] is kept.
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
  LmdbSource source_;  // stays open between rounds, as the plain one does
  PlainStore plain_;
  Ring ring_;
};

}  // namespace penstock::bench
