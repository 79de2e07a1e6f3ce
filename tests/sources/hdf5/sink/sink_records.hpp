// SPDX-License-Identifier: Apache-2.0
// Records of any schema for the sink of HDF5 files: the same on every call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/schema.hpp>
#include <penstock/sources/hdf5_sink.hpp>

#include "sources/hdf5/random.hpp"

namespace penstock_test {

// The value of a field of record `index`, of whatever shape.
struct DrawnValue {
  penstock::Shape shape;
  std::vector<std::byte> bytes;
};

class DrawnRecords {
 public:
  DrawnRecords(penstock::Schema schema, std::uint64_t count, std::uint64_t seed)
      : schema_(std::move(schema)), count_(count), seed_(seed) {}

  std::uint64_t size() const noexcept { return count_; }
  penstock::Schema schema() const { return schema_; }
  DrawnValue value(std::uint64_t index, std::size_t slot) const;
  void read(std::uint64_t index, penstock::SampleBuilder& out) const;
  std::string key(std::uint64_t index) const { return "slide/" + std::to_string(index * 7919 % 100'003); }
  std::string name() const { return "drawn"; }
  std::uint64_t identity() const noexcept { return seed_; }

 private:
  penstock::Schema schema_;
  std::uint64_t count_, seed_;
};

// One to four fields of any dtype, of fixed shape or sequences.
penstock::Schema drawn_schema(H5Draw& draw);
// Chunks, filters and shards for it; not the path.
penstock::Hdf5SinkOptions drawn_options(const penstock::Schema& schema, H5Draw& draw);

// What `write` does with a sink, without threads; true when it reached the end. Commits after each `commit_every`.
bool run(penstock::Hdf5Sink& sink, const DrawnRecords& records, std::uint64_t commit_every,
         std::uint64_t stop_after = ~std::uint64_t{0}, bool commits_at_stop = true);
void put(penstock::Hdf5Sink& sink, const DrawnRecords& records, std::uint64_t index);
// Finished files "PATH-*.h5", in order.
std::vector<std::string> shards_of(const std::string& path);
// The first difference between the files and the records, or nothing.
std::string difference(const std::vector<std::string>& files, const DrawnRecords& records,
                       const penstock::Hdf5SinkOptions& options);

}  // namespace penstock_test
