// SPDX-License-Identifier: Apache-2.0
#include "common/sinks/sharded_sink.hpp"

#include <filesystem>

#include <penstock/extend/system_error.hpp>

namespace penstock::common {

void ShardedSink::refuse(Errc code, std::string cause, std::string_view key) const {
  throw file_error(source_, names_.shard(shard_), code, std::move(cause)).with_key(key);
}

void ShardedSink::refuse_there(const std::string& differs) const {
  if (was_finished_)
    refuse(Errc::invalid_argument,
           "there is a finished store here, and " + differs + "; delete it, or write to another path");
  refuse(Errc::state_mismatch, "there is an unfinished store here that can't be continued, as " + differs +
                                   "; delete " + unfinished_files() + ", or write to another path");
}

void ShardedSink::require_same(const std::vector<JobFact>& there) const {
  if (const std::string differs = job_difference(there, made_by_); !differs.empty())
    refuse_there("another job made it (" + differs + ")");
}

void ShardedSink::require_unfailed() const {
  if (failed_) refuse(Errc::closed, "writing failed before; run it again to go on");
}

void ShardedSink::require_all_found() const {
  if (items_known_ && found_ != samples_before())
    refuse_there("this run has no sample " + describe_before(found_) + " where it has one");
}

void ShardedSink::check_put(const SinkItem& item) {
  require_unfailed();
  if (counted()) {
    if (item.position != samples_ || samples_ == size_)
      refuse(Errc::invalid_argument,
             "sample " + std::to_string(item.position) + " is put, but " +
                 (samples_ == size_ ? "all that were announced are there"
                                    : "sample " + std::to_string(samples_) + " is the next one"));
    return;
  }
  const auto lacks = [&] {
    return "it has no sample of the key \"" + printable(key_of(item)) + "\" where this run has one";
  };
  const ItemPlace place = place_of(item);
  if (!items_known_ || (found_ != 0 && place <= last_found_)) refuse_there(lacks());
  if (last_put_ && place <= *last_put_)
    refuse(Errc::invalid_argument, "sample " + position_key(item, size_) + " is put after one that follows it",
           item.key);
  require_all_found();
  if (was_finished_ || finishing_) refuse_there(lacks());
  last_put_ = place;
}

void ShardedSink::write_mark(bool finishing, bool sync) const {
  Journal journal{made_by_, numbers(finishing), finishing};
  journal.committed["samples"] = samples_;
  journal.committed["shard"] = shard_;
  replace_text(names_.mark(), to_json(journal), sync, source_);
}

void ShardedSink::next_shard() {
  end_shard();
  if (sync_) sync_file(names_.partial(shard_), source_);
  ++shard_;
  begin_shard();
  if (sync_) sync_folder_of(names_.mark(), source_);
}

void ShardedSink::commit() {
  require_unfailed();
  if (!uncommitted_) return;
  guarded([&] {
    write_commit();
    write_mark(false, sync_);
  });
  uncommitted_ = false;
}

void ShardedSink::finish() {
  require_unfailed();
  if (counted() && samples_ != size_)
    refuse(Errc::invalid_argument, "the store holds " + std::to_string(samples_) + " samples of the " +
                                       std::to_string(size_) + " that were announced");
  if (!counted()) require_all_found();
  if (was_finished_) return;
  commit();
  guarded([&] {
    if (!finishing_) {
      end_shard();
      // The mark says that everything is written, so the shards must reach the disk before the mark.
      for (std::uint64_t number = sync_ ? shard_ : 0; number <= shard_; ++number)
        sync_file(names_.partial(number), source_);
      write_mark(true, true);
    }
    write_beside_finished();
    replace_text(names_.made_by(), to_json(Journal{made_by_, {}, false}), true, source_);
    for (std::uint64_t number = 0; number <= shard_; ++number)
      if (file_bytes(names_.partial(number), source_))
        rename_file(names_.partial(number), names_.shard(number), source_);
    remove_beside();
    sync_folder_of(names_.mark(), source_);
    remove_file(names_.mark(), source_);
    sync_folder_of(names_.mark(), source_);
  });
}

void ShardedSink::take_lock(std::optional<Error>& no_lock) {
  try {
    if (!lock_.take(source_))
      refuse(Errc::invalid_argument,
             lock_holder(lock_.file()) + " has another sink that is writing here; wait until it is done, or stop it");
  } catch (const Error& error) {
    if (error.code() != Errc::io) throw;
    no_lock = error;
  }
}

// Takes the lock before it looks at any file, so that no other sink changes the files after that.
void ShardedSink::open(std::vector<JobFact> made_by) {
  made_by_ = std::move(made_by);
  const std::string folder = std::filesystem::path(names_.mark()).parent_path().string();
  if (!folder.empty()) make_folder(folder, source_);
  std::optional<Error> no_lock;  // set if no lock could be taken; a finished store needs no lock
  take_lock(no_lock);
  const ShardNames::Found found = names_.find(source_);
  const auto mark = read_text(names_.mark(), source_);
  if (!mark && !found.finished.empty()) return take_finished_store(found);
  if (no_lock) throw *no_lock;
  if (mark) return resume(*mark, found);
  if (!found.partial.empty())
    refuse(
        Errc::invalid_argument,
        "there are files here, *.partial, that were not begun by a run that can be continued; delete them, or write to "
        "another path");
  begin_store();
  write_mark(false, sync_);
  begin_shard();
  if (sync_) sync_folder_of(names_.mark(), source_);
}

void ShardedSink::take_finished_store(const ShardNames::Found& found) {
  lock_.release();  // the files of a finished store don't change
  was_finished_ = true;
  if (!found.partial.empty() || found.finished.back() + 1 != found.finished.size())
    refuse_there("some of its shards are missing or unfinished");
  const auto text = read_text(names_.made_by(), source_);
  if (!text) refuse_there("what made it is not known, as the file " + names_.made_by() + " is missing");
  require_same(read_journal(names_.made_by(), *text).made_by);
  take_finished(found);
  samples_ = samples_before();
  if (counted() && samples_ != size_)
    refuse_there("it holds " + std::to_string(samples_) + " samples, not " + std::to_string(size_));
}

Journal ShardedSink::read_journal(const std::string& file, const std::string& text) const {
  try {
    return parse_journal(text);
  } catch (Error& error) {
    throw error.with_source(source_).with_file(file);
  }
}

void ShardedSink::resume(const std::string& text, const ShardNames::Found& found) {
  const Journal journal = read_journal(names_.mark(), text);
  finishing_ = journal.finishing;
  require_same(journal.made_by);
  try {
    samples_ = journal.number("samples");
    shard_ = journal.number("shard");
    take_numbers(journal);
  } catch (Error& error) {
    throw error.with_source(source_).with_file(names_.mark());
  }
  if (shard_ > found.partial.size() + found.finished.size())
    refuse_there("it has fewer shards than the " + std::to_string(shard_) + " that were begun");
  if (finishing_ && counted() && samples_ != size_)
    refuse_there("all is said to be written, of which it has " + std::to_string(samples_) + " samples of " +
                 std::to_string(size_));
  if (!finishing_ && !found.finished.empty()) refuse_there("some of its shards have their final names already");
  const auto file_of = [&](std::uint64_t number) {
    const std::string done = names_.shard(number);
    return finishing_ && file_bytes(done, source_) ? done : names_.partial(number);
  };
  for (std::uint64_t number = 0; number < shard_ + (finishing_ ? 1 : 0); ++number) take_whole(file_of(number));
  if (!finishing_) continue_shard();
  if (samples_before() != samples_)
    refuse_there("it holds " + std::to_string(samples_before()) + " samples instead of the " +
                 std::to_string(samples_) + " that were committed");
  for (const std::uint64_t number : found.partial)
    if (!finishing_ && number > shard_) remove_file(names_.partial(number), source_);
  if (!sync_) return;
  // Syncs all that is there, because the run before may have synced nothing. Each later commit syncs only what it has
  // written.
  for (std::uint64_t number = 0; number <= shard_; ++number) sync_file(file_of(number), source_);
  sync_beside();
  sync_file(names_.mark(), source_);
  sync_folder_of(names_.mark(), source_);
}

}  // namespace penstock::common
