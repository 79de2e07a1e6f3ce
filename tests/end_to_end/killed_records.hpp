// SPDX-License-Identifier: Apache-2.0
// Stores for processes that are killed: records whose bytes are known, and stages that draw.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include <penstock/penstock.hpp>
#include <penstock/sources/lmdb.hpp>
#include <penstock/sources/lmdb_sink.hpp>
#include <penstock/sources/webdataset.hpp>
#include <penstock/sources/webdataset_sink.hpp>

#include "core/help.hpp"

namespace penstock_test {

constexpr std::uint64_t record_count = 240;

// {image: u8[?], label: i64[]}
struct KnownRecords {
  std::uint64_t size() const { return record_count; }
  penstock::Schema schema() const {
    return {{"image", penstock::DType::u8, {penstock::dynamic}}, {"label", penstock::DType::i64, {}}};
  }
  std::string name() const { return "known records"; }
  std::string key(std::uint64_t i) const {
    char text[32];
    std::snprintf(text, sizeof text, "class%d/%06d", static_cast<int>(i % 3), static_cast<int>(i * 7919 % 100'000));
    return text;
  }
  void read(std::uint64_t i, penstock::SampleBuilder& out) const {
    const auto bytes = static_cast<std::int64_t>(200 + help::mix(i) % 8000);
    std::uint64_t at = i << 20;
    for (std::uint8_t& byte : out.emplace<std::uint8_t, 1>(0, {bytes}).flat())
      byte = static_cast<std::uint8_t>(help::mix(at++));
    out.scalar<std::int64_t>(1, static_cast<std::int64_t>(i));
  }
};

inline void write_lmdb(const std::string& path) {
  penstock::write(penstock::from(KnownRecords{}), penstock::LmdbSink({.path = path, .sync = false}));
}
inline penstock::Pipeline read_lmdb(const std::string& path) { return penstock::from(penstock::Lmdb{.path = path}); }

// Shards in a folder.
inline void write_shards(const std::string& folder) {
  penstock::write(penstock::from(KnownRecords{}),
                  penstock::WebDatasetSink({.path = folder + "/part", .max_samples = 50, .sync = false}));
}
inline penstock::Pipeline read_shards(const std::string& folder) {
  return penstock::from(penstock::WebDataset{.path = folder, .fields = {{"image", "bin"}, {"label", "cls"}}});
}

// Every eleventh record is bad.
inline bool is_bad(std::int64_t label) { return label % 11 == 7; }

// image: `bytes` bytes from a place that is drawn, with noise; of a bad record an error.
struct Cut {
  std::int64_t bytes = 48;
  penstock::Schema schema(const penstock::Schema& in) const { return in.with({"image", penstock::DType::u8, {bytes}}); }
  std::string name() const { return "cut"; }
  void operator()(penstock::Sample& sample, penstock::Context& context) const {
    if (is_bad(sample.scalar<std::int64_t>("label"))) throw penstock::Error(penstock::Errc::corrupt, "planted damage");
    const auto from = sample.view<const std::uint8_t, 1>("image").flat();
    const auto begin = context.rng().below(from.size() - static_cast<std::size_t>(bytes));
    std::size_t i = begin;
    for (std::uint8_t& byte : sample.emplace<std::uint8_t, 1>("image", {bytes}).flat())
      byte = static_cast<std::uint8_t>(from[i++] + context.rng()());
  }
};

// Cuts any record to as many bytes as are drawn, and makes tokens, of another drawn number.
struct CutToAnyLength {
  penstock::Schema schema(const penstock::Schema& in) const {
    return in.with({"tokens", penstock::DType::i32, {penstock::dynamic}});
  }
  std::string name() const { return "cut to any length"; }
  void operator()(penstock::Sample& sample, penstock::Context& context) const {
    const auto from = sample.view<const std::uint8_t, 1>("image").flat();
    const auto bytes = static_cast<std::int64_t>(1 + context.rng().below(100));
    std::size_t i = 0;
    for (std::uint8_t& byte : sample.emplace<std::uint8_t, 1>("image", {bytes}).flat())
      byte = static_cast<std::uint8_t>(from[i++] + context.rng()());
    const auto tokens = static_cast<std::int64_t>(1 + context.rng().below(40));
    for (std::int32_t& token : sample.emplace<std::int32_t, 1>("tokens", {tokens}).flat())
      token = static_cast<std::int32_t>(context.rng().below(50'000));
  }
};

// None to three samples of each record, their number drawn, and their noise.
struct Copies {
  std::string name() const { return "copies"; }
  std::uint32_t count(const penstock::Sample&, penstock::Context& context) const {
    return static_cast<std::uint32_t>(context.rng().below(4));
  }
  void child(const penstock::Sample&, std::uint32_t, penstock::Sample& out, penstock::Context& context) const {
    for (std::uint8_t& byte : out.view<std::uint8_t, 1>("image").flat())
      byte = static_cast<std::uint8_t>(byte + context.rng()());
  }
};

// Noise on the whole image.
struct Noise {
  std::string name() const { return "noise"; }
  void operator()(penstock::Sample& sample, penstock::Context& context) const {
    for (std::uint8_t& byte : sample.view<std::uint8_t, 1>("image").flat())
      byte = static_cast<std::uint8_t>(byte + context.rng()());
  }
};

}  // namespace penstock_test
