// SPDX-License-Identifier: Apache-2.0
#include "join/parts.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <penstock/error.hpp>

#include "base/hash.hpp"
#include "data/class_map.hpp"
#include "data/labels.hpp"
#include "join/lent_blocks.hpp"
#include "join/map_classes.hpp"
#include "order/groups.hpp"

namespace penstock::detail {

namespace {

constexpr std::uint64_t max_records = std::uint64_t{1} << 62;

// Calls f(part, indices in the part) for each part that has any of the records `indices`. The records of a part keep
// their order. Indices past the end are left out.
template <class F>
void by_part(const Parts& parts, std::span<const std::uint64_t> indices, F f) {
  std::vector<PartRecord> records;
  records.reserve(indices.size());
  for (const std::uint64_t index : indices)
    if (index < parts.size()) records.push_back(parts.locate(index));
  std::ranges::stable_sort(records, {}, &PartRecord::part);
  std::vector<std::uint64_t> own;
  for (auto at = records.begin(); at != records.end();) {
    const std::uint64_t part = at->part;
    own.clear();
    for (; at != records.end() && at->part == part; ++at) own.push_back(at->index);
    f(part, own);
  }
}

class PartsReader final : public ReaderModel {
 public:
  PartsReader(const Parts& parts, std::uint64_t branch) : parts_(&parts), branch_(branch), readers_(parts.parts()) {}

  void read(std::uint64_t index, SampleBuilder& out) override {
    const PartRecord record = parts_->find(index);
    std::unique_ptr<ReaderModel>& reader = readers_[record.part];
    if (reader == nullptr) reader = parts_->part(record.part).open_branch(branch_of_part(branch_, record.part));
    if (const auto lent = lent_.take(index)) reader->lend(record.index, lent->blocks, lent->failure);
    reader->read(record.index, out);
  }
  void lend(std::uint64_t index, BlockData blocks, const Error* failure) noexcept override {
    lent_.set(index, blocks, failure);
  }
  // A part that was never read has no reader, so it gets no advice.
  void expect(std::span<const std::uint64_t> indices) noexcept override {
    try {
      by_part(*parts_, indices, [this](std::uint64_t part, std::span<const std::uint64_t> own) {
        if (readers_[part] != nullptr) readers_[part]->expect(own);
      });
    } catch (...) {  // no memory for advice
    }
  }
  void pause() noexcept override {
    lent_.forget();
    for (const auto& reader : readers_)
      if (reader != nullptr) reader->pause();
  }

 private:
  const Parts* parts_;
  std::uint64_t branch_;
  std::vector<std::unique_ptr<ReaderModel>> readers_;
  LentBlocks lent_;
};

std::string to_text(const Field& field) {
  std::string text = std::string(to_string(field.dtype)) + field.shape.to_string();
  if (field.collate.kind == Collate::Kind::ragged) text += ", ragged";
  if (field.collate.kind == Collate::Kind::pad) text += ", padded to " + std::to_string(field.collate.to);
  return text;
}

// Returns the schema without its classes. All parts of a join must have the same schema without classes.
Schema without_classes(const Schema& schema) {
  std::vector<Field> fields(schema.begin(), schema.end());
  for (Field& field : fields) field.classes = {};
  return Schema(std::move(fields));
}

std::string part_text(std::size_t number, const std::string& name, const ClassNames& classes) {
  return (classes.empty() ? "none" : classes.to_string()) + " in part " + std::to_string(number) + " (" + name + ")";
}

// Returns the classes of one field of a join. `of_parts`: the field's classes in each part.
ClassNames classes_of_join(const std::vector<ClassNames>& of_parts, ClassMatching joined, const std::string& field,
                           const std::vector<std::string>& names, const std::string& kind) {
  const ClassNames& first = of_parts.front();
  if (std::ranges::all_of(of_parts, [&](const ClassNames& classes) { return classes == first; })) return first;
  if (joined == ClassMatching::as_numbers) return {};
  for (std::size_t i = 1; i < of_parts.size(); ++i)
    if (of_parts[i].empty() != first.empty())
      throw Error(Errc::schema_mismatch,
                  "field \"" + field + "\" stands for " + part_text(0, names[0], first) + " and for " +
                      part_text(i, names[i], of_parts[i]) +
                      ", so one number may mean two classes; say what the numbers of the other part mean by "
                      "name_classes, or have all taken as they are by `.classes = ClassMatching::as_numbers`")
          .with_stage(kind);
  return joined_classes(of_parts);
}

// Cuts a long name. A join's name includes the names of its parts. Without cuts, names of joins of joins would grow
// without limit.
std::string short_name(const std::string& name) {
  constexpr std::size_t longest = 60;
  if (name.size() <= longest) return name;
  std::size_t end = longest;
  while (end != 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80)
    --end;  // cuts only between UTF-8 characters
  return name.substr(0, end) + "…";
}

std::string difference(const Schema& first, const Schema& other) {
  for (std::size_t i = 0; i < std::min(first.size(), other.size()); ++i) {
    const Field &a = first[i], &b = other[i];
    if (a.name != b.name)
      return "field " + std::to_string(i) + " is \"" + a.name + "\" there and \"" + b.name + "\" here";
    if (!(a == b)) return "field \"" + a.name + "\" is " + to_text(a) + " there and " + to_text(b) + " here";
  }
  const Schema& longer = first.size() > other.size() ? first : other;
  return "field \"" + longer[std::min(first.size(), other.size())].name + "\" is missing " +
         (first.size() > other.size() ? "here" : "there");
}

}  // namespace

std::string joined_name(std::string_view kind, const std::vector<std::string>& names) {
  constexpr std::size_t named = 4;
  std::string out(kind);
  for (std::size_t i = 0; i < std::min(names.size(), named); ++i) out += (i == 0 ? "(" : ", ") + short_name(names[i]);
  if (names.size() > named) out += ", and " + std::to_string(names.size() - named) + " more";
  return out + ")";
}

Error of_record(const Error& inner, const std::string& which) {
  Error out(inner.code(), inner.cause() + which);
  out.with_stage(inner.stage()).with_source(inner.source()).with_file(inner.file()).with_key(inner.key());
  if (inner.offset()) out.with_offset(*inner.offset());
  return out;
}

void require_record(const SourceModel& join, std::uint64_t index) {
  if (index < join.size()) [[likely]]
    return;
  throw Error(Errc::not_found, "there are " + std::to_string(join.size()) + " records")
      .with_source(join.name())
      .with_index(index);
}

Parts::Parts(const std::string& kind, const std::vector<AnySource>& parts, ClassMatching joined) {
  if (parts.empty()) throw Error(Errc::invalid_argument, "give at least one source").with_stage(kind);
  std::vector<std::string> names;
  for (const AnySource& part : parts) names.push_back(part.model()->name());
  take_schema(kind, parts, names, joined);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts_.push_back(joined == ClassMatching::by_name ? with_classes_of(parts[i].model(), schema_, kind)
                                                      : parts[i].model());
    const SourceModel& part = *parts_.back();
    sizes_.push_back(part.size());
    if (sizes_.back() > max_records - size_)
      throw Error(Errc::invalid_argument, "the parts have more than 2^62 records together").with_stage(kind);
    size_ += sizes_.back();
    const BlockModel* const blocks = part.block_model();
    block_ends_.push_back((i == 0 ? 0 : block_ends_.back()) + (blocks == nullptr ? 0 : blocks->blocks()));
    if (blocks != nullptr) blocks_ahead_ = most_ahead(blocks_ahead_, blocks->blocks_ahead());
    has_keys_ = has_keys_ && part.has_keys();
    wants_advice_ = wants_advice_ || part.wants_advice();
    branches_.add(part, kind);
    blocks_vary_ = blocks_vary_ || part.blocks_vary();
  }
  name_ = joined_name(kind, names);
  std::unordered_map<const SourceModel*, std::size_t> known;
  for (const auto& part : parts_) {
    const auto [place, is_new] = known.try_emplace(part.get(), distinct_.size());
    if (is_new) distinct_.push_back(part.get());
    which_.push_back(place->second);
  }
}

void Parts::take_schema(const std::string& kind, const std::vector<AnySource>& parts,
                        const std::vector<std::string>& names, ClassMatching joined) {
  std::vector<Schema> schemas;
  for (const AnySource& part : parts) schemas.push_back(part.schema());
  const Schema first = without_classes(schemas.front());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const Schema own = without_classes(schemas[i]);
    if (own == first) continue;
    throw Error(Errc::schema_mismatch,
                "part " + std::to_string(i) + " has other fields than part 0 (" + names[0] +
                    "): " + difference(first, own) +
                    "; give both the same, for example by `from(...) | select_fields(...)` as each part")
        .with_stage(kind)
        .with_source(names[i])
        .with_file(parts[i].model()->file());
  }
  std::vector<Field> fields(schemas.front().begin(), schemas.front().end());
  for (std::size_t slot = 0; slot < fields.size(); ++slot) {
    std::vector<ClassNames> of_parts;
    for (const Schema& schema : schemas) of_parts.push_back(schema[slot].classes);
    fields[slot].classes = classes_of_join(of_parts, joined, fields[slot].name, names, kind);
  }
  schema_ = Schema(std::move(fields));
}

std::unique_ptr<ReaderModel> Parts::open_branch(std::uint64_t branch) const {
  return std::make_unique<PartsReader>(*this, branch);
}

void Parts::for_each_part(const std::function<void(std::size_t, const SourceModel&)>& visit) const {
  for (std::size_t i = 0; i < parts_.size(); ++i) visit(i, *parts_[i]);
}

std::vector<FetchCounts> Parts::fetched() const {
  std::vector<FetchCounts> all;
  for (const SourceModel* const part : distinct_) add_fetched(all, *part);
  return all;
}

MemoryAhead Parts::take_memory(std::size_t most) const {
  std::vector<const BlockModel*> sources;
  for (const SourceModel* const part : distinct_) sources.push_back(part->block_model());
  return take_memory_of(sources, most);
}

// A join may have thousands of parts, so only the first few notes are given. Each source is asked once.
std::vector<std::string> Parts::notes() const {
  constexpr std::size_t most = 16;
  std::vector<std::string> all;
  std::size_t asked = 0;
  for (std::size_t i = 0; i < parts_.size() && all.size() < most; ++i) {
    if (which_[i] != asked) continue;
    ++asked;
    for (std::string& note : parts_[i]->notes()) all.push_back("part " + std::to_string(i) + ": " + std::move(note));
  }
  if (all.size() > most) all.resize(most);
  return all;
}

PartRecord Parts::find(std::uint64_t index) const {
  require_record(*this, index);
  return locate(index);
}

PartRecord Parts::locate_block(std::uint64_t block) const {
  const auto part = static_cast<std::uint64_t>(std::ranges::upper_bound(block_ends_, block) - block_ends_.begin());
  return {part, block - (part == 0 ? 0 : block_ends_[part - 1])};
}

RecordOrigin Parts::origin(std::uint64_t index) const {
  const PartRecord own = find(index);
  return {*parts_[own.part], own.index};
}

BlockOrigin Parts::block_origin(std::uint64_t block) const {
  const PartRecord own = locate_block(block);
  return {*parts_[own.part]->block_model(), own.index};
}

void Parts::blocks_of(std::uint64_t index, std::vector<std::uint64_t>& ids) const {
  const PartRecord own = find(index);
  const BlockModel* const blocks = parts_[own.part]->block_model();
  if (blocks == nullptr) return;
  const std::size_t before = ids.size();
  blocks->blocks_of(own.index, ids);
  if (own.part != 0)
    for (std::size_t i = before; i < ids.size(); ++i) ids[i] += block_ends_[own.part - 1];
}

void Parts::will_need(std::span<const std::uint64_t> indices) const noexcept {
  try {
    by_part(*this, indices, [this](std::uint64_t part, std::span<const std::uint64_t> own) {
      if (parts_[part]->wants_advice()) parts_[part]->will_need(own);
    });
  } catch (...) {  // no memory for advice
  }
}

// The part may set its own index in the error. `of_record` drops that index, because the error is about a record of the
// join.
template <class F>
void Parts::describe_by(std::uint64_t index, Error& error, F describe_part) const {
  const PartRecord record = find(index);
  Error inner = error;
  try {
    describe_part(*parts_[record.part], record.index, inner);
  } catch (...) {  // the error keeps what is known so far
  }
  error = of_record(inner, "; it is record " + std::to_string(record.index) + " of part " +
                               std::to_string(record.part) + " of " + name_);
}
void Parts::describe(std::uint64_t index, Error& error) const {
  describe_by(index, error,
              [](const SourceModel& part, std::uint64_t own, Error& inner) { part.describe(own, inner); });
}
void Parts::describe_field(std::uint64_t index, std::size_t slot, Error& error) const {
  describe_by(index, error, [slot](const SourceModel& part, std::uint64_t own, Error& inner) {
    part.describe_field(own, slot, inner);
  });
}

// If only some parts know their labels, reads the other parts' labels from their records.
std::optional<std::vector<std::int64_t>> Parts::labels(std::string_view field) const {
  const auto slot = schema_.find(field);
  if (!slot || !is_label(schema_[*slot])) return std::nullopt;
  std::vector<std::optional<std::vector<std::int64_t>>> own;
  bool any = false;
  for (const auto& part : parts_) any = own.emplace_back(part->labels(field)).has_value() || any;
  if (!any) return std::nullopt;
  LabelReader read(*this, field, "labels_of");
  std::vector<std::int64_t> all;
  all.reserve(size_);
  try {
    for (std::uint64_t i = 0; i < size_; ++i) {
      const PartRecord record = locate(i);
      all.push_back(own[record.part] ? own[record.part]->at(record.index) : read(i));
    }
  } catch (const Error& error) {
    if (!error.sample_scoped()) throw;
    return std::nullopt;  // an order after the join may leave this record out
  }
  return all;
}

bool Parts::identified() const noexcept {
  return std::ranges::all_of(distinct_, [](const SourceModel* part) { return part->identified(); });
}
std::uint64_t Parts::revision() const {
  std::vector<std::uint64_t> own;
  for (const SourceModel* part : distinct_) own.push_back(part->revision());
  std::uint64_t hash = 0;
  for (const std::size_t which : which_) hash = hash_mix(hash, own[which]);
  return hash;
}

std::vector<std::vector<Group>> Parts::groups_of_parts(const std::string& stage) const {
  std::vector<std::vector<Group>> all;
  for (const auto& part : parts_) all.push_back(known_groups(*part, stage));
  if (std::ranges::all_of(all, [](const auto& groups) { return groups.empty(); })) return {};
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].empty()) all[i] = groups_of(*parts_[i], stage);
  return all;
}

std::uint64_t Parts::identity_of_parts() const {
  std::vector<std::uint64_t> own;
  for (const SourceModel* part : distinct_) own.push_back(part->identity());
  std::uint64_t hash = hash_text(schema_.to_string());
  for (std::size_t i = 0; i < parts_.size(); ++i) hash = hash_mix(hash_mix(hash, sizes_[i]), own[which_[i]]);
  return hash;
}

}  // namespace penstock::detail
