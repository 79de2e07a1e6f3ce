// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/lmdb.hpp>

#include <algorithm>
#include <new>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>

#include "source/datum.hpp"
#include "source/source_impl.hpp"
#include "source/stores.hpp"
#include "store/bytes.hpp"
#include "store/errors.hpp"
#include "store/files.hpp"
#include "store/hash.hpp"
#include "store/read_txn.hpp"
#include "store/registry.hpp"

namespace penstock {

namespace {

[[noreturn]] void refuse(std::string cause, const std::string& file, Errc code = Errc::invalid_argument) {
  throw lmdb::error_in(file, code, std::move(cause));
}

std::optional<MDB_val> find(MDB_txn* txn, const lmdb::Environment& environment, std::string_view key) {
  MDB_val name = lmdb::value_of(key), value{};
  const int code = mdb_get(txn, environment.table(), &name, &value);
  if (code == MDB_NOTFOUND) return std::nullopt;
  lmdb::check(code, "reading the store", environment.file());
  if (!environment.holds(value)) refuse("a value lies outside of the file", environment.file(), Errc::corrupt);
  return value;
}

lmdb::Manifest parse(std::string_view json, const std::string& file) {
  try {
    return lmdb::parse_manifest(json);
  } catch (Error& error) {
    error.with_source("lmdb").with_file(file);
    throw;
  }
}

std::uint64_t hash_of(std::uint64_t before, std::uint64_t a, std::uint64_t b) noexcept {
  const std::uint64_t numbers[3] = {before, a, b};
  return lmdb::hash_bytes({reinterpret_cast<const char*>(numbers), sizeof numbers}, 0);
}

constexpr const char* unfinished =
    "the store is unfinished: the run that writes it was stopped or is still at work. Run it again, it goes on where "
    "it was; or "
    "set allow_unfinished to read what is there";
constexpr const char* unfinished_cache =
    "the store is a cache that has some of its pipeline's records: a loader with `cache` of this path goes on filling "
    "it. "
    "Set allow_unfinished to read what is there";

}  // namespace

std::shared_ptr<const LmdbSource::Impl> LmdbSource::Impl::open(Lmdb options) {
  const lmdb::StoreFiles files = lmdb::find_store(options.path);
  auto made = std::make_shared<Impl>();
  made->options = std::move(options);
  made->environment = lmdb::share_for_reading(files, made->options.read_ahead, made->options.lock_file);
  const lmdb::Environment& environment = *made->environment;
  if (made->options.access == FileAccess::read && !environment.map_known())
    if (MDB_stat stat{}; mdb_env_stat(environment.handle(), &stat) == 0 && stat.ms_entries != 0)
      refuse("FileAccess::read needs /proc/self/maps, which can't be read here", environment.file(), Errc::unsupported);

  made->revision = file_revision(environment.descriptor()) + (made->options.verify_checksum ? 1 : 0);
  lmdb::ReadTxn txn(made->environment);
  try {
    made->read_manifest(files, txn.get());
    made->keys = lmdb::KeyIndex::of(txn.get(), environment);
    if (made->values == LmdbValues::raw) made->schema = {{made->options.field, DType::u8, {dynamic}}};
    if (made->values == LmdbValues::datum) made->take_datum_schema(txn.get());
  } catch (const Error&) {
    environment.require_unchanged();  // a writer's changes must not be reported as damage
    throw;
  }
  made->addresses = std::make_unique<lmdb::ValueAddresses>(made->keys.size(), txn.snapshot());
  made->advice = std::make_unique<lmdb::ValueAdviser>(made->environment, made->keys, *made->addresses);
  environment.require_unchanged();
  return made;
}

void LmdbSource::Impl::read_manifest(const lmdb::StoreFiles& files, MDB_txn* txn) {
  const std::string& file = environment->file();
  const auto found = find(txn, *environment, lmdb::manifest_key);
  const auto refuse_if_unfinished = [&] {
    if (!options.allow_unfinished && lmdb::facts_of(files.unfinished)) refuse(unfinished, file);
  };
  values = options.values;
  if (values == LmdbValues::automatic) values = found ? LmdbValues::records : LmdbValues::raw;
  if (values == LmdbValues::records) {
    if (!found) refuse_if_unfinished();
    if (!found)
      refuse("the store holds no records of penstock's (it has no manifest); set values to raw or datum", file);
    std::vector<std::byte> room;
    const auto json = environment->settled(lmdb::bytes_of(*found), room);
    const auto manifest = parse({reinterpret_cast<const char*>(json.data()), json.size()}, file);
    if (!manifest.complete && !options.allow_unfinished)
      refuse(manifest.of_cache() ? unfinished_cache : unfinished, file);
    MDB_stat stat{};
    lmdb::check(mdb_stat(txn, environment->table(), &stat), "reading the store", file);
    if (manifest.complete && stat.ms_entries != manifest.count + 1)
      refuse("the store has " + std::to_string(stat.ms_entries - 1) + " records, its manifest says " +
                 std::to_string(manifest.count),
             file, Errc::corrupt);
    schema = manifest.schema;
    layout.emplace(schema);
  } else {
    if (found) refuse("the store holds records of penstock's; leave values at automatic", file);
    refuse_if_unfinished();
  }
}

// Chooses the schema from the first record with an image, so that one bad record does not decide for all. Looks at
// records at the beginning of the store, and at some spread over the rest. If none of these records has an image, the
// first well-formed one decides. If none of them is well-formed, throws the first error.
void LmdbSource::Impl::take_datum_schema(MDB_txn* txn) {
  constexpr std::uint64_t at_beginning = 100, spread = 100;
  schema = {{options.field, DType::u8, {dynamic}}, {options.label, DType::i64, {}}};
  std::optional<Schema> of_empty;
  std::optional<Error> first_error;
  std::vector<std::byte> room;
  const auto decided_by = [&](std::uint64_t index) {
    lmdb::KeyBuffer buffer;
    const std::string_view key = keys.key(index, buffer);
    const auto note = [&](Error error) {
      if (!error.sample_scoped()) throw error;
      if (!first_error)
        first_error = error.with_source("lmdb").with_file(environment->file()).with_key(key).with_index(index);
    };
    std::optional<MDB_val> value;
    try {
      value = find(txn, *environment, key);
      if (!value) return false;
      const auto datum = lmdb::parse_datum(environment->settled(lmdb::bytes_of(*value), room));
      const Schema found = lmdb::schema_of(datum, options.field, options.label);
      if (datum.holds_image()) schema = found;
      if (!of_empty) of_empty = found;
      return datum.holds_image();
    } catch (const lmdb::Damage& damage) {
      Error error(damage.code, damage.what);
      note(error.with_offset(environment->offset_of(value->mv_data) + damage.offset));
    } catch (const Error& error) {
      note(error);
    }
    return false;
  };
  const std::uint64_t records = keys.size();
  for (std::uint64_t index = 0; index < std::min(records, at_beginning); ++index)
    if (decided_by(index)) return;
  for (std::uint64_t part = 0; records > at_beginning && part < spread; ++part) {
    const std::uint64_t after = records - at_beginning;
    if (decided_by(at_beginning + after / spread * part + after % spread * part / spread)) return;
  }
  if (of_empty) {
    schema = *of_empty;
  } else if (first_error) {
    throw *first_error;
  }
}

LmdbSource::LmdbSource(Lmdb options) : stores_(Stores::open(std::move(options))) {}

std::uint64_t LmdbSource::size() const noexcept { return stores_->size(); }
Schema LmdbSource::schema() const { return stores_->schema(); }
LmdbValues LmdbSource::values() const noexcept { return stores_->first().values; }
std::vector<std::string> LmdbSource::notes() const {
  std::vector<std::string> notes;
  if (!stores_->single()) notes.push_back(std::to_string(stores_->all().size()) + " stores, one after the other");
  for (const auto& store : stores_->all())
    if (const std::string why = store->environment->without_lock_file(store->options.lock_file); !why.empty())
      notes.push_back((stores_->single() ? std::string() : store->environment->file() + ": ") +
                      "read without LMDB's lock file, as " + why + ": nobody may write to the store meanwhile");
  return notes;
}
void LmdbSource::require_unchanged() const {
  for (const auto& store : stores_->all()) store->environment->require_unchanged();
}
std::string LmdbSource::file() const { return stores_->file(); }

std::uint64_t LmdbSource::identity() const noexcept {
  if (stores_->single()) return stores_->first().keys.hash();
  std::uint64_t hash = stores_->size();
  for (const auto& store : stores_->all()) hash = hash_of(hash, store->keys.hash(), store->keys.size());
  return hash;
}
std::uint64_t LmdbSource::revision() const noexcept {
  if (stores_->single()) return stores_->first().revision;
  std::uint64_t hash = 0;
  for (const auto& store : stores_->all()) hash = hash_of(hash, store->revision, 0);
  return hash;
}
unsigned LmdbSource::key_passes() const noexcept {
  unsigned most = 0;
  for (const auto& store : stores_->all()) most = std::max(most, store->keys.passes());
  return most;
}
std::uint64_t LmdbSource::values_advised() const noexcept {
  std::uint64_t all = 0;
  for (const auto& store : stores_->all()) all += store->advice->values_advised();
  return all;
}

std::string LmdbSource::key(std::uint64_t index) const {
  if (index >= size()) refuse("there are " + std::to_string(size()) + " records", file(), Errc::not_found);
  const std::size_t store = stores_->store_of(index);
  lmdb::KeyBuffer buffer;
  return std::string(stores_->all()[store]->keys.key(index - stores_->begin(store), buffer));
}
std::string LmdbSource::file_of(std::uint64_t index) const {
  if (index >= size()) refuse("there are " + std::to_string(size()) + " records", file(), Errc::not_found);
  return stores_->all()[stores_->store_of(index)]->environment->file();
}

void LmdbSource::will_need(std::span<const std::uint64_t> indices) const noexcept {
  if (stores_->single()) return stores_->first().advice->will_need(indices);
  try {
    std::vector<std::vector<std::uint64_t>> of_store(stores_->all().size());
    for (const std::uint64_t index : indices) {
      if (index >= size()) continue;
      const std::size_t store = stores_->store_of(index);
      of_store[store].push_back(index - stores_->begin(store));
    }
    for (std::size_t store = 0; store < of_store.size(); ++store)
      if (!of_store[store].empty()) stores_->all()[store]->advice->will_need(of_store[store]);
  } catch (const std::bad_alloc&) {
    // Without memory there is no advice.
  }
}

}  // namespace penstock
