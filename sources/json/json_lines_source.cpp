// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/json_lines.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <optional>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/listing.hpp>

#include "common/lines/record_text.hpp"
#include "errors.hpp"
#include "line_scan.hpp"
#include "member_tree.hpp"
#include "source_impl.hpp"

namespace penstock {

namespace {

std::uint64_t hash_text(std::string_view text, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(text.data(), text.size(), seed + text.size());
}

}  // namespace

JsonLinesSource::Impl::Impl(JsonLines json_options) : options(std::move(json_options)) {
  std::vector<std::string> files = files_of_pattern(options.path, json::source_name);
  for (const std::string& file : files) indices.push_back(json::index_lines(file, options.max_record_bytes));
  if (!options.key.empty()) key_member_.add(options.key);
  plan = json::plan_fields(options, files, indices);
  std::vector<const common::LineIndex*> lines;
  for (const common::LineIndex& index : indices) lines.push_back(&index);
  records = common::RecordFiles(json::source_name, options.path, std::move(files), std::move(lines), options.access);
  identify();
}

void JsonLinesSource::Impl::identify() {
  std::uint64_t hash = indices.size();
  for (const common::LineIndex& index : indices) hash = XXH3_64bits_withSeed(&index.hash, sizeof index.hash, hash);
  for (const JsonField& field : plan.fields) {
    hash = hash_text(field.member, hash + static_cast<std::uint64_t>(field.type));
    for (const std::string& name : field.classes) hash = hash_text(name, hash + 3);
  }
  if (!options.key.empty()) hash = hash_text(options.key, hash + 2);
  if (options.missing_value) hash = XXH3_64bits_withSeed(&*options.missing_value, sizeof(double), hash + 1);
  identity = hash;
}

std::string JsonLinesSource::Impl::key(std::uint64_t index) const {
  const common::RecordFiles::Location location = records.location_of(index);
  if (options.key.empty()) return records.location_key(location);
  const auto refuse = [&](const std::string& why, std::optional<std::uint64_t> offset = {}) {
    Error error(Errc::corrupt, "member \"" + json::printable(options.key) + "\", which has the keys, " + why);
    throw offset ? error.with_offset(*offset) : error;
  };
  common::RecordText text;
  try {
    std::optional<std::string> key;
    json::MemberWalk walk(key_member_);
    walk.go(text.read(records, location), [&](std::size_t, json::Cursor& cursor) {
      const json::Kind kind = cursor.peek();
      const std::uint64_t offset = cursor.offset();
      if (kind == json::Kind::text) {
        std::string buffer;
        const json::Text value = cursor.text();
        try {
          key = json::characters(value, buffer);
        } catch (const Error& error) {
          refuse("has a text that is not UTF-8: " + error.cause(), offset);
        }
      } else if (kind == json::Kind::number) {
        key = cursor.number();
        if (key->find_first_of(".eE") != std::string::npos) refuse("is " + *key + ", not a whole number", offset);
      } else {
        refuse("is " + std::string(json::to_words(kind)) + ", not a text or a whole number", offset);
      }
    });
    if (!key) refuse("is not there");
    return *std::move(key);
  } catch (const Error& error) {
    throw records.error_of(location, index, error);
  }
}

JsonLinesSource::JsonLinesSource(JsonLines options) : impl_(std::make_shared<const Impl>(std::move(options))) {}

std::uint64_t JsonLinesSource::size() const noexcept { return impl_->records.size(); }
Schema JsonLinesSource::schema() const { return impl_->plan.schema; }
const std::vector<JsonField>& JsonLinesSource::fields() const noexcept { return impl_->plan.fields; }
std::string JsonLinesSource::file() const { return impl_->options.path; }
std::string JsonLinesSource::key(std::uint64_t index) const { return impl_->key(index); }
std::vector<std::string> JsonLinesSource::notes() const { return impl_->plan.notes; }
std::uint64_t JsonLinesSource::identity() const noexcept { return impl_->identity; }
std::uint64_t JsonLinesSource::revision() const noexcept { return impl_->records.revision(); }
std::vector<std::uint64_t> JsonLinesSource::block_ends() const { return impl_->records.block_ends(); }

}  // namespace penstock
