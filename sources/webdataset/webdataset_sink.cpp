// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/webdataset_sink.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/extend/stream_source.hpp>
#include <penstock/extend/system_error.hpp>

#include "class_names.hpp"
#include "common/on_threads.hpp"
#include "common/sinks/journal.hpp"
#include "common/sinks/key_as_file_name.hpp"
#include "common/sinks/opened_sink.hpp"
#include "common/sinks/sharded_sink.hpp"
#include "errors.hpp"
#include "index_file.hpp"
#include "member_name.hpp"
#include "sample_encoder.hpp"
#include "sample_index.hpp"
#include "shard_paths.hpp"
#include "stored_samples.hpp"
#include "tar_header.hpp"
#include "tar_scan.hpp"

namespace penstock {

using webdataset::source_name;

namespace {

constexpr std::size_t end_bytes = 2 * webdataset::tar_block_bytes;

// Calls `make`, which only checks options. Adds the path of the options to its Errors.
template <class Make>
auto made_for(const WebDatasetSinkOptions& options, const Make& make) {
  try {
    return make();
  } catch (Error& error) {
    error.with_source(source_name).with_file(options.path);
    throw;
  }
}

const WebDatasetSinkOptions& checked(const WebDatasetSinkOptions& options) {
  const auto refuse = [&](std::string why) {
    throw webdataset::error_in(options.path, Errc::invalid_argument, std::move(why));
  };
  if (options.path.empty() || options.path.ends_with('/') || options.path.find('\0') != std::string::npos)
    refuse("the path must end in the shards' name: \"out/train\" makes out/train-000000.tar");
  if (options.max_samples == 0 || options.max_bytes == 0) refuse("`max_samples` and `max_bytes` must not be 0");
  return options;
}

struct ClassFile {
  std::string field, file, text;  // empty text: the file must be missing or empty
};

// Returns the files with class names that readers will look for, one per field that may have classes.
std::vector<ClassFile> class_files(const std::string& path, const Schema& schema) {
  std::vector<ClassFile> files;
  for (const Field& field : schema)
    if (webdataset::may_have_classes(field))
      files.push_back(
          {field.name, webdataset::classes_file(path, field.name), webdataset::classes_text(field.classes)});
  return files;
}

}  // namespace

class WebDatasetSink::Impl final : public common::ShardedSink {
 public:
  static constexpr std::string_view sink_name = "WebDatasetSink", sink_source = webdataset::source_name;

  Impl(const WebDatasetSinkOptions& options, const SinkJob& job)
      : ShardedSink(source_name, {checked(options).path, webdataset::shard_extension}, job.size, options.sync),
        options_(options),
        encoder_(made_for(options, [&] { return webdataset::SampleEncoder(job.schema, options.extensions); })),
        classes_(made_for(options, [&] { return class_files(options.path, job.schema); })) {
    std::vector<JobFact> facts{{"fields", job.schema.to_string()},
                               {"extensions", encoder_.text()},
                               {"keys", options.keys == WebDatasetKeys::position ? "position" : "automatic"}};
    for (const ClassFile& classes : classes_)
      if (!classes.text.empty()) facts.push_back({"classes of " + classes.field, classes.text});
    facts.push_back(common::samples_fact(job.size));
    facts.push_back({"samples of a shard, at most", std::to_string(options.max_samples)});
    facts.push_back({"bytes of a shard, at most", std::to_string(options.max_bytes)});
    open(common::store_facts(std::move(facts), options.job, job));
  }

  bool has_some() const noexcept { return there_.size() != 0; }

  bool has(const SinkItem& item) {
    require_unfailed();
    const std::string name = key_of(item);
    if (!counted()) return find(item, [&](std::uint64_t number) { return there_.key(number) == name; });
    if (item.position >= there_.size()) return false;
    const std::string_view there = there_.key(item.position);
    if (there != name)
      refuse_there("its sample " + std::to_string(item.position) + " has the key \"" + printable(there) + "\"");
    return true;
  }

  void put(const SinkItem& item, Sample& sample) {
    check_put(item);
    const std::string name = key_of(item);
    if (name.size() > max_key_bytes)
      refuse(Errc::invalid_argument,
             "the key has " + std::to_string(name.size()) + " bytes as a file's name; it may have " +
                 std::to_string(max_key_bytes) + "; set keys to position",
             item.key);
    if (options_.index && name.find(' ') != std::string::npos)
      refuse(Errc::invalid_argument, "the key has a space, which index files can't hold; set keys to position",
             item.key);
    const std::uint64_t bytes = encoder_.encode(name, sample);
    const bool full = !names_in_shard_.empty() && (names_in_shard_.size() >= options_.max_samples ||
                                                   file_->bytes() + bytes + end_bytes > options_.max_bytes);
    if (!full && names_in_shard_.contains(name))
      refuse(Errc::invalid_argument,
             "two samples of one shard have the key \"" + printable(name) + "\"; set keys to position", item.key);
    guarded([&] {
      if (full) next_shard();
      for (const auto piece : encoder_.pieces()) file_->append(piece);
    });
    names_in_shard_.insert(name);
    count_put();
  }

 private:
  std::string key_of(const SinkItem& item) const override {
    if (options_.keys == WebDatasetKeys::automatic && !item.key.empty()) return webdataset_key(item.key);
    return position_key(item, size_);
  }

  void begin_store() override {
    // Refuses a file with other class names, because readers would use it for these shards.
    for (const ClassFile& classes : classes_)
      if (const auto there = read_text(classes.file, source_name); there && *there != classes.text)
        throw webdataset::error_in(classes.file, Errc::invalid_argument,
                                   "the file names other classes than those of these shards; delete it, or write to "
                                   "another path");
    const std::string common = webdataset::common_classes_file(options_.path);
    const auto unnamed_label = [](const ClassFile& classes) {
      return classes.field == "label" && classes.text.empty();
    };
    if (std::ranges::any_of(classes_, unnamed_label) && read_text(common, source_name))
      throw webdataset::error_in(common, Errc::invalid_argument,
                                 "the file names classes, and nobody says those of these shards, so readers would take "
                                 "it for theirs; write to another folder, or say what the numbers mean (name_classes)");
  }

  void take_finished(const common::ShardNames::Found& found) override {
    for (const ClassFile& classes : classes_)
      if (read_text(classes.file, source_name).value_or("") != classes.text)
        refuse_there("the classes of the field \"" + classes.field + "\" named beside it are others");
    shard_ = found.finished.back();
    std::uint64_t samples = 0, bytes = 0;  // those of the previous shard
    for (const std::uint64_t number : found.finished) {
      const std::string file = names_.shard(number);
      const std::uint64_t first_sample = take(file, true);
      const webdataset::ShardIndex& shard = there_.last_shard();
      if (number != 0 && samples < options_.max_samples && bytes + first_sample + end_bytes <= options_.max_bytes)
        refuse_there("the shard before " + file + " is smaller than it would be now");
      samples = shard.samples();
      bytes = shard.end;
      if (samples > options_.max_samples || (samples > 1 && bytes + end_bytes > options_.max_bytes))
        refuse_there(file + " is larger than it would be now");
    }
  }

  // Returns the offset where the shard's first sample ends. A sample's members follow one another.
  std::uint64_t first_sample_bytes(const webdataset::ShardIndex& shard) const {
    std::uint64_t end = 0;
    if (shard.samples() == 0) return end;
    for (std::size_t field = 0; field < encoder_.fields().size(); ++field) {
      const webdataset::Entry member = shard.entries.at(0, field);
      constexpr std::uint64_t block = webdataset::tar_block_bytes;
      end = std::max(end, member.offset + (member.size + block - 1) / block * block);
    }
    return end;
  }

  std::map<std::string, std::uint64_t> numbers(bool finishing) const override {
    return {{"shard_bytes", finishing || !file_ ? 0 : file_->bytes()}};
  }
  void take_numbers(const common::Journal& journal) override { committed_bytes_ = journal.number("shard_bytes"); }

  void take_whole(const std::string& file) override { take(file, true); }
  void continue_shard() override {
    const std::string file = names_.partial(shard_);
    // The file is cut only after this check, so that nothing is lost if committed bytes are missing.
    if (file_bytes(file, source_name).value_or(0) < committed_bytes_)
      refuse_there("shard " + std::to_string(shard_) + " is shorter than what was committed");
    file_.emplace(file, committed_bytes_, source_name);
    if (committed_bytes_ == 0) return;
    take(file, false);
    const webdataset::ShardIndex& last = there_.last_shard();
    if (last.end != committed_bytes_ || committed_bytes_ % webdataset::tar_block_bytes != 0)
      refuse_there("what was committed of shard " + std::to_string(shard_) + " doesn't end after a sample");
    for (std::uint64_t sample = 0; sample < last.samples(); ++sample) names_in_shard_.emplace(last.key(sample));
  }
  void begin_shard() override {
    names_in_shard_.clear();
    file_.emplace(names_.partial(shard_), 0, source_name);
  }
  void end_shard() override {
    file_->append_zeros(end_bytes);
    file_->close();
  }

  void write_commit() override {
    file_->flush();
    if (sync_) file_->sync();
  }
  void write_beside_finished() override {
    for (const ClassFile& classes : classes_)
      if (!classes.text.empty()) replace_text(classes.file, classes.text, true, source_name);
    if (!options_.index || samples_ == 0) return;
    common::for_each_on_threads(shard_ + 1, 0, [&](std::size_t number) {
      const std::string shard = names_.shard(number), partial = names_.partial(number);
      // A run that was killed here may have given some shards their final names.
      const bool is_partial = file_bytes(partial, source_name).has_value();
      webdataset::write_index_file(is_partial ? partial : shard, webdataset::index_path(shard).value());
    });
  }

  std::uint64_t samples_before() const override { return there_.size(); }
  std::string describe_before(std::uint64_t number) const override {
    return "of the key \"" + printable(there_.key(number)) + "\"";
  }

  // Reads which samples a shard has, and refuses the store if this sink can't have written them. Returns the size of
  // the shard's first sample in bytes.
  std::uint64_t take(const std::string& file, bool ended) {
    webdataset::ShardIndex index;
    try {
      index = webdataset::index_shard(webdataset::InputFile(file), encoder_.fields());
    } catch (const Error& error) {
      refuse_there(file + " is not as it was written (" + error.cause() + ")");
    }
    if (!index.entries.all_readable() || index.has_end != ended) refuse_there(file + " holds samples of other fields");
    const std::uint64_t first_sample = first_sample_bytes(index);
    there_.add(std::move(index));
    return first_sample;
  }

  const WebDatasetSinkOptions options_;
  webdataset::SampleEncoder encoder_;
  const std::vector<ClassFile> classes_;
  webdataset::StoredSamples there_;
  std::optional<OutputFile> file_;  // file of the shard that is being written
  std::uint64_t committed_bytes_ = 0;
  std::unordered_set<std::string> names_in_shard_;
};

std::string webdataset_key(std::string_view key) {
  return common::key_as_file_name(key, common::KeyDots::none_in_base_name);
}
std::string webdataset_field(std::string_view name) {
  return webdataset::lower_case(webdataset::name_as_extension(name));
}

WebDatasetSink::WebDatasetSink(WebDatasetSinkOptions options) : options_(std::move(options)) {}
WebDatasetSink::WebDatasetSink(WebDatasetSink&&) noexcept = default;
WebDatasetSink& WebDatasetSink::operator=(WebDatasetSink&&) noexcept = default;
WebDatasetSink::~WebDatasetSink() = default;

void WebDatasetSink::open(const SinkJob& job) {
  impl_.reset();
  impl_ = std::make_unique<Impl>(options_, job);
  was_finished_ = impl_->was_finished();
}

bool WebDatasetSink::has(const SinkItem& item) { return common::opened(impl_).has(item); }
bool WebDatasetSink::has_some() const { return common::opened(impl_).has_some(); }
void WebDatasetSink::put(const SinkItem& item, Sample& sample) { common::opened(impl_).put(item, sample); }
void WebDatasetSink::commit() { common::opened(impl_).commit(); }
void WebDatasetSink::finish() {
  common::opened(impl_).finish();
  impl_.reset();  // releases the shards and the lock
}

}  // namespace penstock
