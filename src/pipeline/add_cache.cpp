// SPDX-License-Identifier: Apache-2.0
#include "pipeline/add_cache.hpp"

#include <optional>
#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>
#include <penstock/version.hpp>

#include "base/hash.hpp"
#include "data/class_map.hpp"
#include "join/cached_source.hpp"
#include "pipeline/nested_branches.hpp"

namespace penstock::detail {

namespace {

[[noreturn]] void refuse(const CacheMaker& maker, std::string cause) {
  throw Error(Errc::invalid_argument, std::move(cause)).with_stage(maker.label());
}

[[noreturn]] void refuse_unversioned(const CacheMaker& maker, const std::string& stage) {
  refuse(maker, "the callable of the stage " + stage +
                    " doesn't say which version it is, so values kept before it was changed could not be told from "
                    "new ones; say a version that you raise with each change (MapOptions::version, or a member "
                    "version()), or set allows.unversioned and delete the cache yourself");
}

// Returns whether a resize after these stages may decide at which size the field's images are decoded.
bool awaits_resize(const PipelineData& data, std::string field) {
  for (auto stage = data.stages.rbegin(); stage != data.stages.rend(); ++stage) {
    if (const std::optional<bool> awaits = stage->work->awaits_resize(field)) return *awaits;
    field = std::string(stage->work->name_before(field));
  }
  return false;
}

void check(const PipelineData& data, const CacheMaker& maker, const CacheAllows& allows) {
  for (const Field& field : data.schema)
    if (awaits_resize(data, field.name))
      refuse(maker, "the images of \"" + field.name +
                        "\" are decoded at a size that the resize after them decides, and the cache would keep them in "
                        "full: put the resize before the cache, or decode at a fixed size");
  if (data.cache) refuse(maker, "the pipeline has a cache already, " + data.cache->label + "; one is enough");
  if (data.source->is_stream())
    refuse(maker, "a stream's records have no numbers to keep them by, and come in its own order in any case");
  if (data.source->draws() && !allows.random)
    refuse(maker, "a part of " + data.source->name() +
                      " draws at random, and from a cache every epoch would get the same draw; put the stages that "
                      "draw after the cache, or set allows.random to have them drawn once for each record");
  if (!allows.unversioned)
    for_each_nested_branch(*data.source, [&](const Branch& branch) {
      for (const BoundStage& stage : branch.pipeline->stages)
        if (!stage.work->versioned()) refuse_unversioned(maker, stage.label + " of " + branch.name);
    });
  for (const BoundStage& stage : data.stages) {
    if (stage.work->changes_count())
      refuse(maker, "it keeps one sample for each record, so the stage " + stage.label +
                        ", which changes their number, can't stand before it; put the cache before that: what it does "
                        "to samples that are there is cheap");
    if (stage.work->draws() && !allows.random)
      refuse(maker, "the stage " + stage.label +
                        " draws at random, and from a cache every epoch would get the same draw; put it after the "
                        "cache, or set allows.random to have it drawn once for each record");
    if (!stage.work->versioned() && !allows.unversioned) refuse_unversioned(maker, stage.label);
  }
}

CacheKey key_of(const PipelineData& data, const CacheAllows& allows) {
  CacheKey key;
  key.schema = data.schema;
  key.records = data.source_size;
  key.identified = data.source->identified();
  std::uint64_t hash = hash_text("penstock cache 1");
  const auto add = [&hash](std::uint64_t value) { hash = hash_mix(hash, value); };
  const auto say = [&](const std::string& name, const std::string& words) {
    add(hash_text(name));
    add(hash_text(words));
    key.made_by.push_back({escaped(name), escaped(words)});
  };
  say("penstock", version());
  say("source", data.source->name() + ", " + std::to_string(data.source_size) + " records of " +
                    data.source_schema.to_string() + ", identity " + std::to_string(data.source->identity()) +
                    ", revision " + std::to_string(data.source->revision()));
  for (const Field& field : data.source_schema)
    if (!field.classes.empty())
      say("classes of " + field.name, field.classes.to_string() + ", hash " + std::to_string(hash_of(field.classes)));
  for (const BoundStage& stage : data.stages)
    say("stage " + stage.label, (stage.options.empty() ? "" : stage.options + ", ") + "version " +
                                    std::to_string(stage.version) + " -> " + stage.out.to_string());
  // The check decides which samples are bad, and the cache does not keep bad samples. So a check that differs from the
  // default belongs to the key.
  const CheckOptions check = data.check_value(), usual;
  if (check.verify != usual.verify || check.max_sample_bytes != usual.max_sample_bytes)
    say("check", std::string(check.verify ? "verifies" : "does not verify") + ", fields of at most " +
                     std::to_string(check.max_sample_bytes) + " bytes");
  if (allows.random) {
    say("seed of the draws", std::to_string(data.seed_value()));
    for (const BoundStage& stage : data.stages) add(stage.key);
  }
  key.fingerprint = hash;
  return key;
}

}  // namespace

void add_cache(PipelineData& data, std::shared_ptr<const CacheMaker> maker, const CacheAllows& allows) {
  check(data, *maker, allows);
  CacheKey key = key_of(data, allows);
  std::string label = maker->label();
  try {
    maker->check(key);
  } catch (Error& error) {
    throw error.with_stage(label);
  }
  auto cache = std::make_shared<const LazyCache>(std::move(maker), std::move(key));
  data.source = make_cached_source(data.source, cache);
  data.cache = BoundCache{std::move(label), data.stages.size(), allows, std::move(cache)};
}

}  // namespace penstock::detail
