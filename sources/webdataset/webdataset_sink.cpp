#include <penstock/sources/webdataset_sink.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/extend/stream_source.hpp>
#include <penstock/extend/system_error.hpp>

#include "class_names.hpp"
#include "errors.hpp"
#include "member_name.hpp"
#include "progress.hpp"
#include "sample_encoder.hpp"
#include "sample_index.hpp"
#include "stored_samples.hpp"
#include "tar_header.hpp"
#include "unfinished.hpp"

namespace penstock {

namespace {

constexpr std::size_t end_bytes = 2 * webdataset::tar_block_bytes;
constexpr std::string_view partial = ".partial";

// The shards of a path that are there, by number; finished ones and others.
struct Found {
  std::vector<std::uint64_t> finished, partial;
};

Found find_shards(const std::string& path) {
  namespace fs = std::filesystem;
  Found found;
  const fs::path prefix(path + "-");
  const fs::path folder = prefix.has_parent_path() ? prefix.parent_path() : fs::path(".");
  const std::string begin = prefix.filename().string();
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(begin)) continue;
    const std::size_t digits = name.find_first_not_of("0123456789", begin.size());
    if (digits == std::string::npos || digits == begin.size() || digits - begin.size() > 18) continue;
    const std::uint64_t number = std::stoull(name.substr(begin.size(), digits - begin.size()));
    const std::string expected = fs::path(webdataset::shard_name(path, number)).filename().string();
    if (name == expected) found.finished.push_back(number);
    if (name == expected + std::string(partial)) found.partial.push_back(number);
  }
  if (failed) throw webdataset::system_error(failed.value(), "listing the folder", folder.string());
  std::sort(found.finished.begin(), found.finished.end());
  std::sort(found.partial.begin(), found.partial.end());
  return found;
}

}  // namespace

class WebDatasetSink::Impl {
 public:
  Impl(const WebDatasetSinkOptions& options, const Schema& schema, std::uint64_t size)
      : options_(checked(options)), encoder_(encoder_for(options, schema)), size_(size), lock_(mark_file()) {
    job_.fields = escaped(schema.to_string());
    job_.extensions = escaped(encoder_.text());
    job_.keys = options.keys == WebDatasetKeys::position ? "position" : "automatic";
    job_.job = escaped(options.job);
    classes_ = classes_of(options);
    job_.classes = escaped(classes_);
    job_.samples = size;
    job_.max_samples = options.max_samples;
    job_.max_bytes = options.max_bytes;
    open_store();
    next_ = there_.size();
  }

  bool was_finished() const noexcept { return was_finished_; }

  bool has_some() const noexcept { return there_.size() != 0; }

  bool has(const SinkItem& item) {
    require_unfailed();
    if (!counted()) return there_.find(place_of(item), name_of(item));
    if (item.position >= there_.size()) return false;
    const std::string_view there = there_.key(item.position);
    if (there != name_of(item))
      refuse_there("its sample " + std::to_string(item.position) + " has the key \"" + printable(there) + "\"");
    return true;
  }

  void put(const SinkItem& item, Sample& sample) {
    require_unfailed();
    check_order(item);
    const std::string name = name_of(item);
    if (name.size() > max_key_bytes)
      refuse(Errc::invalid_argument,
             "the key has " + std::to_string(name.size()) + " bytes as a file's name; it may have " +
                 std::to_string(max_key_bytes) + "; set keys to position",
             item.key);
    const std::uint64_t bytes = encoder_.encode(name, sample);
    const bool full = !names_.empty() && (names_.size() >= options_.max_samples ||
                                          shard_->bytes() + bytes + end_bytes > options_.max_bytes);
    if (!full && names_.contains(name))
      refuse(Errc::invalid_argument,
             "two samples of one shard have the key \"" + printable(name) + "\"; set keys to position", item.key);
    guarded([&] {
      if (full) next_shard();
      for (const auto piece : encoder_.pieces()) shard_->append(piece);
    });
    names_.insert(name);
    ++next_;
    uncommitted_ = true;
  }

  void commit() {
    require_unfailed();
    if (!uncommitted_) return;
    guarded([&] {
      shard_->flush();
      if (options_.sync) shard_->sync();
      mark({job_, next_, number_, shard_->bytes(), false}, options_.sync);
    });
    uncommitted_ = false;
  }

  void finish() {
    require_unfailed();
    if (counted() && next_ != size_)
      refuse(Errc::invalid_argument, "the shards hold " + std::to_string(next_) + " samples of the " +
                                         std::to_string(size_) + " that were announced");
    if (!counted()) require_all_found();
    if (was_finished_) return;
    commit();
    guarded([&] {
      if (shard_) {
        end_shard();
        // The mark must not reach the disk before what it marks.
        if (!options_.sync)
          for (std::uint64_t number = 0; number <= number_; ++number)
            sync_file(partial_name(number), webdataset::source_name);
        mark({job_, next_, number_, 0, true}, true);
      }
      if (!classes_.empty())
        replace_text(webdataset::classes_file(options_.path), classes_, true, webdataset::source_name);
      for (std::uint64_t number = 0; number <= number_; ++number)
        if (file_bytes(partial_name(number), webdataset::source_name))
          rename_file(partial_name(number), webdataset::shard_name(options_.path, number), webdataset::source_name);
      sync_folder_of(mark_file(), webdataset::source_name);
      remove_file(mark_file(), webdataset::source_name);
      sync_folder_of(mark_file(), webdataset::source_name);
    });
  }

 private:
  static const WebDatasetSinkOptions& checked(const WebDatasetSinkOptions& options) {
    const auto refuse = [&](std::string why) {
      throw webdataset::error_in(options.path, Errc::invalid_argument, std::move(why));
    };
    if (options.path.empty() || options.path.ends_with('/') || options.path.find('\0') != std::string::npos)
      refuse("the path must end in the shards' name: \"out/train\" makes out/train-000000.tar");
    if (options.max_samples == 0 || options.max_bytes == 0) refuse("`max_samples` and `max_bytes` must not be 0");
    return options;
  }
  static webdataset::SampleEncoder encoder_for(const WebDatasetSinkOptions& options, const Schema& schema) {
    try {
      return {schema, options.extensions};
    } catch (Error& error) {
      error.with_source("webdataset").with_file(options.path);
      throw;
    }
  }

  static std::string classes_of(const WebDatasetSinkOptions& options) {
    try {
      return webdataset::classes_text(options.classes);
    } catch (Error& error) {
      error.with_source("webdataset").with_file(options.path);
      throw;
    }
  }

  std::string mark_file() const { return webdataset::mark_of(options_.path); }
  std::string partial_name(std::uint64_t number) const {
    return webdataset::shard_name(options_.path, number) + std::string(partial);
  }
  void mark(const webdataset::Progress& progress, bool sync) const {
    replace_text(mark_file(), to_json(progress), sync, webdataset::source_name);
  }

  [[noreturn]] void refuse(Errc code, std::string cause, std::string_view key = {}) const {
    throw webdataset::error_in(webdataset::shard_name(options_.path, number_), code, std::move(cause)).with_key(key);
  }
  [[noreturn]] void refuse_there(const std::string& differs) const {
    if (was_finished_)
      refuse(Errc::invalid_argument, "there are finished shards here, and " + differs +
                                         ", so they were made from something else; delete them, or write to another "
                                         "path");
    refuse(Errc::state_mismatch, "there are unfinished shards here that can't be continued, as " + differs +
                                     "; delete them and " + mark_file() + ", or write to another path");
  }

  // What a failure left after the last commit is not known: another run cuts it off.
  template <class Act>
  void guarded(const Act& act) {
    failed_ = true;
    act();
    failed_ = false;
  }
  void require_unfailed() const {
    if (failed_) refuse(Errc::closed, "writing failed before; run it again to go on");
  }

  std::string name_of(const SinkItem& item) const {
    if (options_.keys == WebDatasetKeys::automatic && !item.key.empty()) return webdataset::fit_key(item.key);
    return position_key(item, size_);
  }

  // A sample stands where its position says; or, where not every position has one, after the one before it.
  static webdataset::ItemPlace place_of(const SinkItem& item) { return {item.position, item.child.value_or(0)}; }
  bool counted() const noexcept { return size_ != unknown_size; }
  void check_order(const SinkItem& item) {
    if (counted()) {
      if (item.position != next_ || was_finished_ || next_ == size_)
        refuse(Errc::invalid_argument, "sample " + std::to_string(item.position) + " is put, but " +
                                           (next_ == size_ ? "all that were announced are there"
                                                           : "sample " + std::to_string(next_) + " is the next one"));
      return;
    }
    const webdataset::ItemPlace place = place_of(item);
    if (there_.found() != 0 && place <= there_.last_found())
      refuse_there("they have no sample of the key \"" + printable(name_of(item)) + "\" where this run has one");
    if (last_ && place <= *last_)
      refuse(Errc::invalid_argument, "sample " + position_key(item, size_) + " is put after one that follows it",
             item.key);
    require_all_found();
    if (was_finished_) refuse_there("they have no sample of the key \"" + printable(name_of(item)) + "\"");
    last_ = place;
  }
  void require_all_found() const {
    if (there_.found() != there_.size())
      refuse_there("this run has no sample of the key \"" + printable(there_.key(there_.found())) +
                   "\" where they have one");
  }

  void end_shard() {
    shard_->append_zeros(end_bytes);
    shard_->flush();
    if (options_.sync) shard_->sync();
  }
  void next_shard() {
    end_shard();
    names_.clear();
    shard_.emplace(partial_name(++number_), 0, webdataset::source_name);
    if (options_.sync) sync_folder_of(mark_file(), webdataset::source_name);
  }

  // Nothing is looked at before the lock is there, so what is seen stays.
  void open_store() {
    const std::string folder = std::filesystem::path(mark_file()).parent_path().string();
    if (!folder.empty()) make_folder(folder, webdataset::source_name);
    std::optional<Error> no_lock;
    try {
      if (!lock_.take(webdataset::source_name))
        refuse(Errc::invalid_argument, lock_holder(lock_.file()) +
                                           " has another sink that is writing these shards; wait until it is done, or "
                                           "stop it");
    } catch (const Error& error) {
      if (error.code() != Errc::io) throw;
      no_lock = error;  // which is no matter where nothing is to be written
    }
    const Found found = find_shards(options_.path);
    const auto mark_text = read_text(mark_file(), webdataset::source_name);
    if (!mark_text && !found.finished.empty()) {
      lock_.release();  // these change no more
      was_finished_ = true;
      take_finished(found);
      return;
    }
    if (no_lock) throw *no_lock;
    if (mark_text) {
      resume(*mark_text, found);
      return;
    }
    if (!found.partial.empty())
      refuse(Errc::invalid_argument, "there are shards here, *" + std::string(partial) +
                                         ", that were not begun by a run "
                                         "that can be continued; delete them, or write to another path");
    // Readers would take it for that of these shards.
    if (const auto there = read_text(webdataset::classes_file(options_.path), webdataset::source_name);
        there && *there != classes_)
      throw webdataset::error_in(webdataset::classes_file(options_.path), Errc::invalid_argument,
                                 "the file names other classes than those of these shards; delete it, or write to "
                                 "another path");
    mark({job_, 0, 0, 0, false}, options_.sync);
    shard_.emplace(partial_name(0), 0, webdataset::source_name);
    if (options_.sync) sync_folder_of(mark_file(), webdataset::source_name);
  }

  void take_finished(const Found& found) {
    if (!found.partial.empty() || found.finished.back() + 1 != found.finished.size())
      refuse_there("some of them are missing or unfinished");
    if (read_text(webdataset::classes_file(options_.path), webdataset::source_name).value_or("") != classes_)
      refuse_there("the classes named beside them are others");
    number_ = found.finished.back();
    std::uint64_t samples = 0, bytes = 0;  // of the shard before
    for (const std::uint64_t number : found.finished) {
      const std::string file = webdataset::shard_name(options_.path, number);
      take(file, true);
      const webdataset::ShardIndex& shard = there_.last_shard();
      if (number != 0 && samples < options_.max_samples &&
          bytes + first_sample_bytes(shard) + end_bytes <= options_.max_bytes)
        refuse_there("the shard before " + file + " is smaller than it would be now");
      samples = shard.samples();
      bytes = shard.end;
      if (samples > options_.max_samples || (samples > 1 && bytes + end_bytes > options_.max_bytes))
        refuse_there(file + " is larger than it would be now");
    }
    if (counted() && there_.size() != size_)
      refuse_there("they hold " + std::to_string(there_.size()) + " samples, not " + std::to_string(size_));
  }

  // The members stand there one after the other.
  std::uint64_t first_sample_bytes(const webdataset::ShardIndex& shard) const {
    std::uint64_t end = 0;
    if (shard.samples() == 0) return end;
    for (std::size_t field = 0; field < encoder_.fields().size(); ++field) {
      const webdataset::Entry& member = shard.entries[field];
      constexpr std::uint64_t block = webdataset::tar_block_bytes;
      end = std::max(end, member.offset + (member.size + block - 1) / block * block);
    }
    return end;
  }

  void resume(const std::string& text, const Found& found) {
    webdataset::Progress progress;
    try {
      progress = webdataset::parse_progress(text);
    } catch (Error& error) {
      error.with_source("webdataset").with_file(mark_file());
      throw;
    }
    if (const std::string differs = difference(progress.job, job_); !differs.empty()) refuse_there(differs);
    if (!progress.finishing && !found.finished.empty()) refuse_there("some of them have their final names already");
    number_ = progress.shard;
    const auto file_of = [&](std::uint64_t number) {
      const std::string done = webdataset::shard_name(options_.path, number);
      return progress.finishing && file_bytes(done, webdataset::source_name) ? done : partial_name(number);
    };
    for (std::uint64_t number = 0; number < progress.shard + (progress.finishing ? 1 : 0); ++number)
      take(file_of(number), true);
    if (!progress.finishing) {
      // Nothing is cut off before it is known that the rest is there.
      if (file_bytes(partial_name(number_), webdataset::source_name).value_or(0) < progress.shard_bytes)
        refuse_there("shard " + std::to_string(number_) + " is shorter than what was committed");
      for (const std::uint64_t number : found.partial)
        if (number > number_) remove_file(partial_name(number), webdataset::source_name);
      shard_.emplace(partial_name(number_), progress.shard_bytes, webdataset::source_name);
      if (progress.shard_bytes != 0) {
        take(partial_name(number_), false);
        const webdataset::ShardIndex& last = there_.last_shard();
        for (std::uint64_t sample = 0; sample < last.samples(); ++sample) names_.emplace(last.key(sample));
      }
    }
    if (there_.size() != progress.samples)
      refuse_there("they hold " + std::to_string(there_.size()) + " samples instead of the " +
                   std::to_string(progress.samples) + " that were committed");
    if (!options_.sync) return;
    // The run before may have synced nothing, and later commits sync what they have written themselves.
    for (std::uint64_t number = 0; number <= number_; ++number) sync_file(file_of(number), webdataset::source_name);
    sync_file(mark_file(), webdataset::source_name);
    sync_folder_of(mark_file(), webdataset::source_name);
  }

  // Learns what a shard holds, which must be what this sink writes.
  void take(const std::string& file, bool ended) {
    webdataset::ShardIndex index;
    try {
      index = webdataset::index_shard(file, encoder_.fields());
    } catch (const Error& error) {
      refuse_there(file + " is not as it was written (" + error.cause() + ")");
    }
    const bool whole = std::all_of(index.entries.begin(), index.entries.end(), [](auto e) { return e.readable(); });
    if (!whole || index.has_end != ended) refuse_there(file + " holds samples of other fields");
    there_.add(std::move(index));
  }

  const WebDatasetSinkOptions options_;
  webdataset::SampleEncoder encoder_;
  const std::uint64_t size_;
  webdataset::SinkJob job_;
  std::string classes_;  // as their file has them
  MarkLock lock_;
  bool was_finished_ = false, failed_ = false, uncommitted_ = false;
  webdataset::StoredSamples there_;
  std::optional<OutputFile> shard_;
  std::uint64_t number_ = 0;               // of the shard that is being written
  std::unordered_set<std::string> names_;  // of the samples in it
  std::uint64_t next_ = 0;
  std::optional<webdataset::ItemPlace> last_;  // put, where the number of samples is not known
};

std::string webdataset_key(std::string_view key) { return webdataset::fit_key(key); }
std::string webdataset_field(std::string_view name) {
  return webdataset::lower_case(webdataset::name_as_extension(name));
}

WebDatasetSink::WebDatasetSink(WebDatasetSinkOptions options) : options_(std::move(options)) {}
WebDatasetSink::WebDatasetSink(WebDatasetSink&&) noexcept = default;
WebDatasetSink& WebDatasetSink::operator=(WebDatasetSink&&) noexcept = default;
WebDatasetSink::~WebDatasetSink() = default;

void WebDatasetSink::open(const Schema& schema, std::uint64_t size) {
  impl_.reset();
  impl_ = std::make_unique<Impl>(options_, schema, size);
  was_finished_ = impl_->was_finished();
}

namespace {
template <class Impl>
Impl& opened(const std::unique_ptr<Impl>& impl) {
  if (impl == nullptr)
    throw Error(Errc::invalid_argument, "WebDatasetSink: open() must come first").with_source("webdataset");
  return *impl;
}
}  // namespace

bool WebDatasetSink::has(const SinkItem& item) { return opened(impl_).has(item); }
bool WebDatasetSink::has_some() const { return opened(impl_).has_some(); }
void WebDatasetSink::put(const SinkItem& item, Sample& sample) { opened(impl_).put(item, sample); }
void WebDatasetSink::commit() { opened(impl_).commit(); }
void WebDatasetSink::finish() {
  opened(impl_).finish();
  impl_.reset();  // lets go of the shards
}

}  // namespace penstock
