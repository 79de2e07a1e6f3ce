#include "compare_finished.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/sink.hpp>
#include <penstock/sources/webdataset_sink.hpp>
#include <penstock/stages/order.hpp>
#include <penstock/write.hpp>

#include "input_store.hpp"
#include "output.hpp"
#include "sampled_records.hpp"

namespace penstock::cli {

namespace {

class Comparing {
 public:
  Comparing(const OutputStore& store, std::vector<std::uint64_t> positions, std::uint64_t records)
      : store_(store),
        positions_(std::move(positions)),
        records_(records),
        there_(store.to.name(), {.checksums = false, .values = store.bare_values ? "raw" : "automatic"}),
        there_schema_(there_.schema()),
        reader_(there_.reader()) {}

  void open(const Schema& schema, std::uint64_t) {
    schema_ = schema;
    // Shards without a record name no fields.
    if (tar() && there_.size() != 0 && there_schema_.size() != schema.size())
      throw Error(Errc::invalid_argument,
                  "there is a finished store here, of other fields than this command makes, so it was made from "
                  "something else, or with other options; delete it, or write to another path")
          .with_file(store_.to.name());
  }
  static bool has(const SinkItem&) { return false; }
  void put(const SinkItem& item, Sample& sample) {
    const std::string key = key_of(item);
    const auto number = number_of(positions_.at(item.position), key);
    if (!number) return;
    Sample& there = reader_.read(*number);
    for (const Field& field : schema_) {
      const std::string name = tar() ? webdataset_field(field.name) : field.name;
      const auto slot = there_schema_.find(name);
      if (!slot || there_schema_[*slot].dtype != field.dtype) continue;
      if (std::ranges::equal(sample.bytes(field.name), there.bytes(name))) continue;
      throw Error(
          Errc::invalid_argument,
          "there is a finished store here, and this command makes another " + printable(field.name) +
              " of its record " + printable_key(key) +
              ", so it was made from something else, or with other options; delete it, or write to another path")
          .with_file(store_.to.name());
    }
  }
  static void commit() {}
  static void finish() {}
  std::string name() const { return there_.kind(); }

 private:
  bool tar() const noexcept { return store_.to.form == StoreForm::shards; }
  std::string key_of(const SinkItem& item) const {
    if (store_.number_keys || item.key.empty()) {
      const SinkItem whole{.position = positions_.at(item.position), .index = item.index, .key = {}};
      return position_key(whole, records_);
    }
    return tar() ? webdataset_key(item.key) : item.key;
  }

  // Number in the finished store of the record with that key; none where two records have it.
  std::optional<std::uint64_t> number_of(std::uint64_t position, const std::string& key) {
    if (there_.size() == records_ && there_.key(position) == key) return position;
    if (numbers_.empty())
      for (std::uint64_t i = 0; i < there_.size(); ++i)
        if (const auto [at, first] = numbers_.emplace(there_.key(i), i); !first) at->second = std::nullopt;
    const auto found = numbers_.find(key);
    return found == numbers_.end() ? std::nullopt : found->second;
  }

  const OutputStore& store_;
  const std::vector<std::uint64_t> positions_;
  const std::uint64_t records_;
  const InputStore there_;
  const Schema there_schema_;
  InputStore::Reader reader_;
  Schema schema_;
  std::unordered_map<std::string, std::optional<std::uint64_t>> numbers_;
};

}  // namespace

void compare_finished(const Pipeline& records, const OutputStore& store, unsigned threads) {
  if (store.to.form != StoreForm::shards && !store.bare_values) return;
  // A pattern of several shards can't be opened where its name has a brace itself.
  if (store.to.form == StoreForm::shards && store.to.path.find_first_of("{}") != std::string::npos) return;
  constexpr std::uint64_t most = 1000;
  const std::uint64_t size = records.size();
  std::vector<std::uint64_t> positions = sampled_records(size, {}, {.most = most});
  Comparing comparing(store, positions, size);
  write(records | select(std::move(positions)), comparing, {.threads = threads});
}

}  // namespace penstock::cli
