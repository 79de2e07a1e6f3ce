// SPDX-License-Identifier: Apache-2.0
#include "source/stores.hpp"

#include <algorithm>

#include <penstock/error.hpp>

#include "common/store_list.hpp"
#include "store/errors.hpp"

namespace penstock {

namespace {

Error error_of_store(Errc code, std::string cause, const std::string& file) {
  Error error(code, std::move(cause));
  return error.with_source(lmdb::source_name).with_file(file);
}

bool same_fields(const Schema& a, const Schema& b) {
  return std::ranges::equal(a, b, [](const Field& x, const Field& y) {
    return x.name == y.name && x.dtype == y.dtype && x.shape == y.shape && x.collate == y.collate &&
           x.classes == y.classes;
  });
}

}  // namespace

std::shared_ptr<const LmdbSource::Stores> LmdbSource::Stores::open(Lmdb options) {
  auto made = std::make_shared<Stores>();
  if (options.path.empty() == options.paths.empty())
    throw error_of_store(Errc::invalid_argument,
                         "`path` names one store, or a list of stores, or `paths` names several", options.path);
  std::vector<std::string> paths = std::exchange(options.paths, {});
  if (paths.empty() && common::names_store_list(options.path)) {
    made->list_ = options.path;
    paths = common::read_store_list(options.path, "lmdb", lmdb::source_name).stores;
  }
  if (paths.empty()) paths.push_back(options.path);
  std::uint64_t records = 0;
  for (const std::string& path : paths) {
    Lmdb one = options;
    one.path = path;
    made->all_.push_back(Impl::open(std::move(one)));
    made->ends_.push_back(records += made->all_.back()->keys.size());
  }
  made->require_alike();
  return made;
}

void LmdbSource::Stores::require_alike() const {
  for (std::size_t i = 1; i < all_.size(); ++i) {
    const Impl& other = *all_[i];
    const auto refuse = [&](Errc code, std::string cause) {
      throw error_of_store(code, std::move(cause), other.environment->file());
    };
    const std::string before = " of the store before it, " + first().environment->file();
    if (other.values != first().values)
      refuse(Errc::schema_mismatch, "its values are of another kind than those" + before);
    if (!same_fields(other.schema, schema()))
      refuse(Errc::schema_mismatch, "its fields are " + other.schema.to_string() + ", and those" + before + " are " +
                                        schema().to_string() +
                                        (other.schema.to_string() == schema().to_string()
                                             ? "; they differ in their classes, or in how they are batched"
                                             : ""));
  }
  std::vector<const void*> maps;
  for (const auto& store : all_) maps.push_back(store->environment.get());
  std::ranges::sort(maps);
  if (std::ranges::adjacent_find(maps) != maps.end())
    throw error_of_store(Errc::invalid_argument, "a store is named twice", file());
}

std::size_t LmdbSource::Stores::store_of(std::uint64_t index) const noexcept {
  return static_cast<std::size_t>(std::ranges::upper_bound(ends_, index) - ends_.begin());
}

}  // namespace penstock
