// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/hdf5_sink.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/extend/stream_source.hpp>
#include <penstock/extend/system_error.hpp>

#include "common/sinks/journal.hpp"
#include "common/sinks/opened_sink.hpp"
#include "common/sinks/sharded_sink.hpp"
#include "library/errors.hpp"
#include "sink/partial_chunks.hpp"
#include "sink/shard_data.hpp"
#include "sink/shard_index.hpp"
#include "sink/stored_dataset.hpp"
#include "sink/stored_items.hpp"

namespace penstock {

using hdf5::source_name;

namespace {

const Hdf5SinkOptions& checked(const Hdf5SinkOptions& options) {
  const auto refuse = [&](std::string why) {
    throw hdf5::error_in(options.path, Errc::invalid_argument, std::move(why));
  };
  if (options.path.empty() || options.path.ends_with('/') || options.path.find('\0') != std::string::npos)
    refuse("the path must end in a name: \"out/train\" makes out/train-000000.h5; with `single_file` it is the file");
  if (options.max_samples == 0 || options.max_bytes == 0) refuse("`max_samples` and `max_bytes` must not be 0");
  return options;
}

std::vector<hdf5::StoredDataset> datasets_for(const Hdf5SinkOptions& options, const Schema& schema,
                                              std::uint64_t size) {
  try {
    return hdf5::plan_datasets(options, schema, size);
  } catch (Error& error) {
    error.with_source(source_name).with_file(options.path);
    throw;
  }
}

// Describes the classes of a field's numbers.
std::string classes_text(const Field& field) {
  std::string text;
  for (std::size_t i = 0; i < field.classes.size(); ++i) text += (i == 0 ? "" : ", ") + in_list(field.classes[i]);
  return text;
}

}  // namespace

class Hdf5Sink::Impl final : public common::ShardedSink {
 public:
  static constexpr std::string_view sink_name = "Hdf5Sink", sink_source = hdf5::source_name;

  Impl(const Hdf5SinkOptions& options, const SinkJob& job, std::optional<SinkThreads> threads)
      : ShardedSink(source_name, {checked(options).path, hdf5::shard_extension, options.single_file}, job.size,
                    options.sync),
        options_(options),
        datasets_(datasets_for(options, job.schema, job.size)),
        threads_(std::move(threads)),
        rows_(datasets_) {
    std::vector<JobFact> facts{{"fields", job.schema.to_string()}, {"datasets", text_of(datasets_)}};
    for (const Field& field : job.schema)
      if (!field.classes.empty()) facts.push_back({"classes of " + field.name, classes_text(field)});
    facts.push_back(common::samples_fact(job.size));
    if (options.single_file) {
      facts.push_back({"files", "one"});
    } else {
      facts.push_back({"samples of a shard, at most", std::to_string(options.max_samples)});
      facts.push_back({"bytes of a shard, at most", std::to_string(options.max_bytes)});
    }
    constexpr std::size_t max_attribute_bytes = 60'000, class_bytes = 16;
    const bool many_classes = std::ranges::any_of(
        job.schema, [](const Field& field) { return field.classes.size() * class_bytes > max_attribute_bytes; });
    if (many_classes)
      refuse(Errc::invalid_argument,
             "a field has more names of classes than an HDF5 file's attributes hold, 60,000 bytes; give it none "
             "(name_classes)");
    open(common::store_facts(std::move(facts), options.job, job));
  }

  bool has_some() const noexcept { return before_ != 0; }

  bool has(const SinkItem& item) {
    require_unfailed();
    if (before_ == 0) return false;
    if (!items_known_) return !counted() || item.position < before_;
    const std::string key = key_of(item);
    if (!counted()) return find(item, [&](std::uint64_t number) { return there_.is(number, item, key); });
    if (item.position >= there_.size()) return false;
    if (!there_.is(item.position, item, key))
      refuse_there("another sample than \"" + printable(key) + "\" stands at " + std::to_string(item.position));
    return true;
  }

  void put(const SinkItem& item, Sample& sample) {
    check_put(item);
    const std::string key = key_of(item);
    std::uint64_t bytes = 0;
    try {
      bytes = rows_.bytes_of(sample, key);
    } catch (Error& error) {
      error.with_source(source_name).with_file(names_.shard(shard_)).with_key(item.key);
      throw;
    }
    const bool full = !options_.single_file && progress_.shard_rows != 0 &&
                      (progress_.shard_rows >= options_.max_samples ||
                       progress_.shard_values > options_.max_bytes - std::min(options_.max_bytes, bytes));
    guarded([&] {
      if (full) next_shard();
      rows_.add(sample, key, *data_);
      there_.add(item, key);
    });
    ++progress_.shard_rows;
    progress_.shard_values += bytes;
    count_put();
  }

 private:
  std::string items_file() const { return names_.beside("items"); }
  std::string rows_file(unsigned which) const { return names_.beside("rows" + std::to_string(which)); }
  std::string key_of(const SinkItem& item) const override {
    return item.key.empty() ? position_key(item, size_) : item.key;
  }

  void begin_store() override {
    replace_text(items_file(), "", sync_, source_name);
    there_.open(items_file(), 0);
  }

  // Finished shards don't store which items they have, so only rows are counted.
  void take_finished(const common::ShardNames::Found& found) override {
    items_known_ = false;
    for (const std::uint64_t number : found.finished) {
      shard_ = number;
      before_ += hdf5::rows_of_shard(names_.shard(number), datasets_.front().path);
    }
  }

  std::map<std::string, std::uint64_t> numbers(bool) const override {
    return {{"shard_bytes", progress_.shard_bytes},
            {"shard_rows", progress_.shard_rows},
            {"shard_values", progress_.shard_values},
            {"rows_file", progress_.rows_file}};
  }
  void take_numbers(const common::Journal& journal) override {
    progress_.shard_bytes = journal.number("shard_bytes");
    progress_.shard_rows = journal.number("shard_rows");
    progress_.shard_values = journal.number("shard_values");
    progress_.rows_file = journal.number("rows_file") == 0 ? 0 : 1;
    items_known_ = !journal.finishing;
  }

  void take_whole(const std::string& file) override {
    if (!hdf5::is_indexed(file)) refuse_there(file + " is not as it was written");
    before_ += hdf5::rows_of_shard(file, datasets_.front().path);
  }
  // The file is cut only after its committed bytes are known to be intact.
  void continue_shard() override try { open_committed(); } catch (const Error& error) {
    if (error.code() != Errc::corrupt) throw;
    refuse_there(error.file() + " is not as it was written (" + error.cause() + ")");
  }
  void open_committed() {
    const std::string file = names_.partial(shard_);
    if (file_bytes(file, source_name).value_or(0) < progress_.shard_bytes)
      throw hdf5::error_in(file, Errc::corrupt, "it is shorter than what was committed");
    if (progress_.shard_bytes != 0) read_rows(rows_file(progress_.rows_file));
    before_ += progress_.shard_rows;
    there_.open(items_file(), before_);
    data_.emplace(file, progress_.shard_bytes, datasets_, threads_);
    for (std::size_t i = 0; i < datasets_.size(); ++i)
      if (data_->chunks(i) * datasets_[i].chunk_rows + rows_.rows(i) != progress_.shard_rows)
        throw hdf5::error_in(file, Errc::corrupt, "it holds another number of rows than were committed");
    if (!can_be_bytes_of_values())
      throw hdf5::error_in(file, Errc::corrupt, "its rows have another number of bytes than were committed");
  }
  // Returns whether the committed `shard_values` can be right. If rows differ in size, only bounds are known without
  // reading them.
  bool can_be_bytes_of_values() const {
    std::uint64_t least = 0;
    bool varies = false;
    for (const hdf5::StoredDataset& dataset : datasets_) {
      least += progress_.shard_rows * dataset.row_bytes;
      varies = varies || dataset.varies();
    }
    if (!varies) return progress_.shard_values == least;
    return progress_.shard_values >= least &&
           (options_.single_file || progress_.shard_rows <= 1 || progress_.shard_values <= options_.max_bytes);
  }
  void read_rows(const std::string& file) {
    try {
      // The text has up to a chunk of each dataset, with sequences of any length, so its size has no limit.
      constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
      rows_.from_text(read_text(file, source_name, any).value_or(""));
    } catch (Error& error) {
      error.with_file(file);
      throw;
    }
  }
  void begin_shard() override {
    progress_.shard_rows = progress_.shard_values = 0;
    data_.reset();  // closes the previous shard's file before the next one is created
    data_.emplace(names_.partial(shard_), 0, datasets_, threads_);
  }
  void end_shard() override {
    rows_.end(*data_);
    data_->close();
    hdf5::write_index(names_.partial(shard_), data_->bytes(), datasets_, data_->blocks(), progress_.shard_rows,
                      options_.keys);
  }

  void write_commit() override {
    data_->flush();
    if (sync_) data_->sync();
    there_.flush(sync_);
    progress_.shard_bytes = data_->bytes();
    progress_.rows_file = 1 - progress_.rows_file;
    replace_text(rows_file(progress_.rows_file), rows_.text(), sync_, source_name);
  }
  void sync_beside() override {
    if (!items_known_) return;
    sync_file(items_file(), source_name);
    if (progress_.shard_bytes != 0) sync_file(rows_file(progress_.rows_file), source_name);
  }
  void remove_beside() override {
    there_.close();
    for (const std::string& file : {items_file(), rows_file(0), rows_file(1)}) remove_file(file, source_name);
  }

  std::uint64_t samples_before() const override { return before_; }
  std::string describe_before(std::uint64_t number) const override { return "number " + std::to_string(number); }

  const Hdf5SinkOptions options_;
  const std::vector<hdf5::StoredDataset> datasets_;
  std::optional<SinkThreads> threads_;
  std::uint64_t before_ = 0;  // number of samples that earlier runs have written
  hdf5::StoredItems there_;
  // How much of the current shard is written. Rows that don't fill a chunk are in one of two files next to the shard.
  struct {
    std::uint64_t shard_bytes = 0;  // 0: nothing is written
    std::uint64_t shard_rows = 0;
    std::uint64_t shard_values = 0;  // sum of the results of `rows_.bytes_of`
    unsigned rows_file = 0;
  } progress_;
  hdf5::PartialChunks rows_;
  std::optional<hdf5::ShardData> data_;
};

Hdf5Sink::Hdf5Sink(Hdf5SinkOptions options) : options_(std::move(options)) {}
Hdf5Sink::Hdf5Sink(Hdf5Sink&&) noexcept = default;
Hdf5Sink& Hdf5Sink::operator=(Hdf5Sink&&) noexcept = default;
Hdf5Sink::~Hdf5Sink() = default;

void Hdf5Sink::work_on(SinkThreads threads) { threads_ = std::move(threads); }

void Hdf5Sink::open(const SinkJob& job) {
  impl_.reset();
  impl_ = std::make_unique<Impl>(options_, job, threads_);
  was_finished_ = impl_->was_finished();
}

bool Hdf5Sink::has(const SinkItem& item) { return common::opened(impl_).has(item); }
bool Hdf5Sink::has_some() const { return common::opened(impl_).has_some(); }
void Hdf5Sink::put(const SinkItem& item, Sample& sample) { common::opened(impl_).put(item, sample); }
void Hdf5Sink::commit() { common::opened(impl_).commit(); }
void Hdf5Sink::finish() {
  common::opened(impl_).finish();
  impl_.reset();  // releases the files
  threads_.reset();
}

}  // namespace penstock
