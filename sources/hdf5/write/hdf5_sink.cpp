#include <penstock/sources/hdf5_sink.hpp>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/extend/stream_source.hpp>
#include <penstock/extend/system_error.hpp>

#include "library/errors.hpp"
#include "library/store_names.hpp"
#include "write/rows_in_work.hpp"
#include "write/shard_data.hpp"
#include "write/shard_index.hpp"
#include "write/sink_progress.hpp"
#include "write/stored_dataset.hpp"
#include "write/stored_items.hpp"

namespace penstock {

using hdf5::source_name;

class Hdf5Sink::Impl {
 public:
  Impl(const Hdf5SinkOptions& options, const Schema& schema, std::uint64_t size, std::optional<SinkThreads> threads)
      : options_(checked(options)),
        names_(options.path, options.single_file),
        datasets_(datasets_for(options, schema, size)),
        size_(size),
        threads_(std::move(threads)),
        lock_(names_.mark()),
        rows_(datasets_) {
    job_.fields = escaped(schema.to_string());
    job_.datasets = escaped(text_of(datasets_));
    for (const std::string& name : options.classes) job_.classes += escaped(name) + ", ";
    job_.job = escaped(options.job);
    job_.samples = size;
    job_.max_samples = options.single_file ? 0 : options.max_samples;
    job_.max_bytes = options.single_file ? 0 : options.max_bytes;
    constexpr std::size_t most_attribute_bytes = 60'000, class_bytes = 16;
    if (to_json(job_).size() > most_attribute_bytes || options.classes.size() * class_bytes > most_attribute_bytes)
      refuse(Errc::invalid_argument,
             "fields, classes and job have more text than an HDF5 file's attributes hold, 60,000 bytes; give a hash of "
             "the job, and the classes' names beside the store");
    open_store();
  }

  bool was_finished() const noexcept { return was_finished_; }
  bool has_some() const noexcept { return before_ != 0; }

  bool has(const SinkItem& item) {
    require_unfailed();
    if (before_ == 0) return false;
    const std::string key = key_of(item);
    if (no_items_) return !counted() || item.position < before_;
    if (!counted()) return there_.find(item, key);
    if (item.position >= there_.size()) return false;
    if (!there_.is(item.position, item, key))
      refuse_there("another sample than \"" + printable(key) + "\" stands at " + std::to_string(item.position));
    return true;
  }

  void put(const SinkItem& item, Sample& sample) {
    require_unfailed();
    check_order(item);
    const std::string key = key_of(item);
    std::uint64_t bytes = 0;
    try {
      bytes = rows_.bytes_of(sample, key);
    } catch (Error& error) {
      error.with_source(source_name).with_file(names_.shard(progress_.shard)).with_key(item.key);
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
    ++progress_.samples;
    uncommitted_ = true;
  }

  void commit() {
    require_unfailed();
    if (!uncommitted_) return;
    guarded([&] {
      data_->flush();
      if (options_.sync) data_->sync();
      there_.flush(options_.sync);
      progress_.shard_bytes = data_->bytes();
      progress_.rows_file = 1 - progress_.rows_file;
      replace_text(names_.rows(progress_.rows_file), rows_.text(), options_.sync, source_name);
      mark(options_.sync);
    });
    uncommitted_ = false;
  }

  void finish() {
    require_unfailed();
    if (counted() && progress_.samples != size_)
      refuse(Errc::invalid_argument, "the store holds " + std::to_string(progress_.samples) + " samples of the " +
                                         std::to_string(size_) + " that were announced");
    if (!counted()) require_all_found();
    if (was_finished_) return;
    commit();
    guarded([&] {
      if (data_) {
        end_shard();
        // The mark must not reach the disk before what it marks.
        if (!options_.sync)
          for (std::uint64_t number = 0; number <= progress_.shard; ++number)
            sync_file(names_.partial(number), source_name);
        progress_.finishing = true;
        mark(true);
      }
      for (std::uint64_t number = 0; number <= progress_.shard; ++number)
        if (file_bytes(names_.partial(number), source_name))
          rename_file(names_.partial(number), names_.shard(number), source_name);
      there_.close();
      for (const std::string& file : {names_.items(), names_.rows(0), names_.rows(1)}) remove_file(file, source_name);
      sync_folder_of(names_.mark(), source_name);
      remove_file(names_.mark(), source_name);
      sync_folder_of(names_.mark(), source_name);
    });
  }

 private:
  static const Hdf5SinkOptions& checked(const Hdf5SinkOptions& options) {
    const auto refuse = [&](std::string why) {
      throw hdf5::error_in(options.path, Errc::invalid_argument, std::move(why));
    };
    if (options.path.empty() || options.path.ends_with('/') || options.path.find('\0') != std::string::npos)
      refuse("the path must end in a name: \"out/train\" makes out/train-000000.h5; with `single_file` it is the file");
    for (const std::string& name : options.classes)
      if (name.find('\0') != std::string::npos)
        refuse("the class \"" + printable(name) + "\" has a NUL, where HDF5's strings end");
    if (options.max_samples == 0 || options.max_bytes == 0) refuse("`max_samples` and `max_bytes` must not be 0");
    return options;
  }
  static std::vector<hdf5::StoredDataset> datasets_for(const Hdf5SinkOptions& options, const Schema& schema,
                                                       std::uint64_t size) {
    try {
      return hdf5::plan_datasets(options, schema, size);
    } catch (Error& error) {
      error.with_source(source_name).with_file(options.path);
      throw;
    }
  }

  void mark(bool sync) {
    progress_.job = job_;
    replace_text(names_.mark(), to_json(progress_), sync, source_name);
  }

  [[noreturn]] void refuse(Errc code, std::string cause, std::string_view key = {}) const {
    throw hdf5::error_in(names_.shard(progress_.shard), code, std::move(cause)).with_key(key);
  }
  [[noreturn]] void refuse_there(const std::string& differs) const {
    if (was_finished_)
      refuse(Errc::invalid_argument, "there is a finished store here, and " + differs +
                                         ", so it was made from something else; delete it, or write to another path");
    refuse(Errc::state_mismatch, "there is an unfinished store here that can't be continued, as " + differs +
                                     "; delete the files " + options_.path + "-unfinished* and " + options_.path +
                                     (options_.single_file ? ".partial" : "-*.h5.partial") +
                                     ", or write to another path");
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

  std::string key_of(const SinkItem& item) const { return item.key.empty() ? position_key(item, size_) : item.key; }
  bool counted() const noexcept { return size_ != unknown_size; }

  void check_order(const SinkItem& item) {
    const std::uint64_t next = progress_.samples;
    if (counted()) {
      if (item.position != next || next == size_)
        refuse(Errc::invalid_argument, "sample " + std::to_string(item.position) + " is put, but " +
                                           (next == size_ ? "all that were announced are there"
                                                          : "sample " + std::to_string(next) + " is the next one"));
      return;
    }
    const hdf5::ItemPlace place = hdf5::place_of(item);
    const auto lacks = [&] {
      return "it has no sample of the key \"" + printable(key_of(item)) + "\" where this run has one";
    };
    if (no_items_ || (there_.found() != 0 && place <= there_.last_found())) refuse_there(lacks());
    if (last_ && place <= *last_)
      refuse(Errc::invalid_argument, "sample " + position_key(item, size_) + " is put after one that follows it",
             item.key);
    require_all_found();
    last_ = place;
  }
  void require_all_found() const {
    if (!no_items_ && there_.found() != there_.size())
      refuse_there("this run lacks a sample of it, number " + std::to_string(there_.found()));
  }

  void end_shard() {
    rows_.end(*data_);
    data_->flush();
    const std::string file = names_.partial(progress_.shard);
    hdf5::write_index(file, data_->bytes(), datasets_, data_->blocks(), progress_.shard_rows,
                      {to_json(job_), options_.classes});
    if (options_.sync) sync_file(file, source_name);
  }
  void begin_shard(std::uint64_t committed) {
    data_.emplace(names_.partial(progress_.shard), committed, datasets_, threads_);
  }
  void next_shard() {
    end_shard();
    data_.reset();
    ++progress_.shard;
    progress_.shard_rows = progress_.shard_values = 0;
    begin_shard(0);
    if (options_.sync) sync_folder_of(names_.mark(), source_name);
  }

  // Nothing is looked at before the lock is there, so what is seen stays.
  void open_store() {
    const std::string folder = std::filesystem::path(names_.mark()).parent_path().string();
    if (!folder.empty()) make_folder(folder, source_name);
    std::optional<Error> no_lock;
    try {
      if (!lock_.take(source_name))
        refuse(Errc::invalid_argument,
               lock_holder(lock_.file()) + " has another sink that is writing here; wait until it is done, or stop it");
    } catch (const Error& error) {
      if (error.code() != Errc::io) throw;
      no_lock = error;  // which is no matter where nothing is to be written
    }
    const hdf5::StoreNames::Found found = names_.find();
    const auto text = read_text(names_.mark(), source_name);
    if (!text && !found.finished.empty()) {
      lock_.release();  // these change no more
      return take_finished(found);
    }
    if (no_lock) throw *no_lock;
    if (text) return resume(*text, found);
    if (!found.partial.empty())
      refuse(Errc::invalid_argument,
             "there are files here, *.partial, that were not begun by a run that can be continued; delete them, or "
             "write to another path");
    replace_text(names_.items(), "", options_.sync, source_name);
    there_.open(names_.items(), 0);
    mark(options_.sync);
    begin_shard(0);
  }

  void take_finished(const hdf5::StoreNames::Found& found) {
    was_finished_ = true;
    no_items_ = true;
    if (!found.partial.empty() || found.finished.back() + 1 != found.finished.size())
      refuse_there("some of its files are missing or unfinished");
    for (const std::uint64_t number : found.finished) {
      progress_.shard = number;
      const hdf5::IndexedShard shard = hdf5::read_index(names_.shard(number), datasets_.front().path);
      if (shard.job.empty()) refuse_there("it was not written by this sink");
      const hdf5::SinkJob job = hdf5::parse_job(shard.job);
      if (const std::string differs = difference(job, job_); !differs.empty()) refuse_there(differs);
      progress_.samples += shard.rows;
    }
    before_ = progress_.samples;
    if (counted() && before_ != size_) refuse_there("it holds " + std::to_string(before_) + " samples");
  }

  void resume(const std::string& text, const hdf5::StoreNames::Found& found) {
    try {
      progress_ = hdf5::parse_progress(text);
    } catch (Error& error) {
      error.with_source(source_name).with_file(names_.mark());
      throw;
    }
    if (const std::string differs = difference(progress_.job, job_); !differs.empty()) refuse_there(differs);
    if (!progress_.finishing && !found.finished.empty())
      refuse_there("some of its files have their final names already");
    const auto file_of = [&](std::uint64_t number) {
      const std::string done = names_.shard(number);
      return progress_.finishing && file_bytes(done, source_name) ? done : names_.partial(number);
    };
    for (std::uint64_t number = 0; number < progress_.shard + (progress_.finishing ? 1 : 0); ++number)
      if (!hdf5::is_indexed(file_of(number))) refuse_there(file_of(number) + " is not as it was written");
    before_ = progress_.samples;
    no_items_ = progress_.finishing;
    if (!progress_.finishing) {
      // Nothing is cut off before it is known that the rest is there.
      try {
        continue_shard();
      } catch (const Error& error) {
        if (error.code() != Errc::corrupt) throw;
        refuse_there(error.file() + " is not as it was written (" + error.cause() + ")");
      }
      for (const std::uint64_t number : found.partial)
        if (number > progress_.shard) remove_file(names_.partial(number), source_name);
    }
    if (!options_.sync) return;
    // The run before may have synced nothing, and later commits sync what they have written themselves.
    for (std::uint64_t number = 0; number <= progress_.shard; ++number) sync_file(file_of(number), source_name);
    if (!progress_.finishing) sync_file(names_.items(), source_name);
    if (progress_.shard_bytes != 0 && !progress_.finishing) sync_file(names_.rows(progress_.rows_file), source_name);
    sync_file(names_.mark(), source_name);
    sync_folder_of(names_.mark(), source_name);
  }

  void continue_shard() {
    const std::string file = names_.partial(progress_.shard);
    if (file_bytes(file, source_name).value_or(0) < progress_.shard_bytes)
      throw hdf5::error_in(file, Errc::corrupt, "it is shorter than what was committed");
    if (progress_.shard_bytes != 0) {
      const std::string rows_file = names_.rows(progress_.rows_file);
      try {
        // A chunk of each dataset, and a sequence of any length: no fixed number of bytes is enough.
        constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
        rows_.from_text(read_text(rows_file, source_name, any).value_or(""));
      } catch (Error& error) {
        error.with_file(rows_file);
        throw;
      }
    }
    there_.open(names_.items(), progress_.samples);
    begin_shard(progress_.shard_bytes);
    for (std::size_t i = 0; i < datasets_.size(); ++i)
      if (data_->chunks(i) * datasets_[i].chunk_rows + rows_.rows(i) != progress_.shard_rows)
        throw hdf5::error_in(file, Errc::corrupt, "it holds another number of rows than were committed");
  }

  const Hdf5SinkOptions options_;
  const hdf5::StoreNames names_;
  const std::vector<hdf5::StoredDataset> datasets_;
  const std::uint64_t size_;
  std::optional<SinkThreads> threads_;
  hdf5::SinkJob job_;
  MarkLock lock_;
  bool was_finished_ = false, failed_ = false, uncommitted_ = false;
  bool no_items_ = false;     // it is finished, or all but: which items it holds is not known any more
  std::uint64_t before_ = 0;  // samples of earlier runs
  hdf5::StoredItems there_;
  hdf5::SinkProgress progress_;
  hdf5::RowsInWork rows_;
  std::optional<hdf5::ShardData> data_;
  std::optional<hdf5::ItemPlace> last_;  // put, where the number of samples is not known
};

Hdf5Sink::Hdf5Sink(Hdf5SinkOptions options) : options_(std::move(options)) {}
Hdf5Sink::Hdf5Sink(Hdf5Sink&&) noexcept = default;
Hdf5Sink& Hdf5Sink::operator=(Hdf5Sink&&) noexcept = default;
Hdf5Sink::~Hdf5Sink() = default;

void Hdf5Sink::work_on(SinkThreads threads) { threads_ = std::move(threads); }

void Hdf5Sink::open(const Schema& schema, std::uint64_t size) {
  impl_.reset();
  impl_ = std::make_unique<Impl>(options_, schema, size, threads_);
  was_finished_ = impl_->was_finished();
}

namespace {
template <class Impl>
Impl& opened_hdf5(const std::unique_ptr<Impl>& impl) {
  if (impl == nullptr) throw Error(Errc::invalid_argument, "Hdf5Sink: open() must come first").with_source("hdf5");
  return *impl;
}
}  // namespace

bool Hdf5Sink::has(const SinkItem& item) { return opened_hdf5(impl_).has(item); }
bool Hdf5Sink::has_some() const { return opened_hdf5(impl_).has_some(); }
void Hdf5Sink::put(const SinkItem& item, Sample& sample) { opened_hdf5(impl_).put(item, sample); }
void Hdf5Sink::commit() { opened_hdf5(impl_).commit(); }
void Hdf5Sink::finish() {
  opened_hdf5(impl_).finish();
  impl_.reset();  // lets go of the files
  threads_.reset();
}

}  // namespace penstock
