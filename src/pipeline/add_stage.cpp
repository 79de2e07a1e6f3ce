#include "pipeline/add_stage.hpp"

#include <algorithm>
#include <utility>

#include <penstock/error.hpp>

#include "base/failure.hpp"
#include "base/hash.hpp"
#include "data/labels.hpp"
#include "data/row_layout.hpp"
#include "order/block_shuffle.hpp"
#include "order/orders.hpp"
#include "order/splits.hpp"
#include "pipeline/add_cache.hpp"
#include "pipeline/add_device_stage.hpp"
#include "pipeline/batch_bounds.hpp"
#include "pipeline/field_map_result.hpp"

namespace penstock::detail {

namespace {

// Adds one stage to a copy of the pipeline, checking it against what stands before.
class AddStage {
 public:
  AddStage(PipelineData& data, const Stage& stage) : data_(data), stage_(stage) {}

  void operator()(const OrderItem& item) {
    if (item.per_record) refuse_changing_orders(item.model->name());
    if (item.seed) set_seed(*item.seed, item.model->name());
    add_order(item.model);
  }
  void operator()(const BlockShuffleItem& item) {
    if (data_.source->is_stream())
      throw Error(Errc::invalid_argument,
                  "a stream has no blocks that could be read in another order; say `.window` alone")
          .with_stage("shuffle");
    if (item.options.seed) set_seed(*item.options.seed, "shuffle");
    const std::uint64_t window = item.options.window;
    refuse_changing_orders("shuffle");
    Blocks blocks(*data_.source, item.options.block_size);
    if (!data_.orders.empty())
      blocks = blocks.after(
          data_.size,
          [this](std::uint64_t position, std::span<std::uint64_t> records) { data_.fill(0, position, records); },
          *data_.source, data_.orders.back().label);
    const BlockShuffle order(std::move(blocks), window == 0 ? BlockShuffle::default_window : window);
    add_order(std::make_shared<const OrderOf<BlockShuffle>>(order));
  }
  void operator()(const SplitByKeyItem& item) {
    if (data_.source->is_stream())
      throw Error(Errc::invalid_argument,
                  "a stream can't be split by key: its records can't be read one by one; filter it")
          .with_stage("split");
    if (!data_.orders.empty())
      throw Error(Errc::invalid_argument,
                  "a split by key must stand directly after the source: an order that changes between "
                  "epochs would change its parts")
          .with_stage("split");
    std::vector<std::uint64_t> members = split_members(item.options, *data_.source);
    add_order(select_order(std::move(members)), "split " + describe_split(item.options));
  }
  void operator()(const StratifiedSplitItem& item) {
    const std::vector<std::int64_t> labels = labels_of_positions(item.options.stratify, "split");
    add_order(select_order(stratified_members(item.options, labels)), "split " + describe_split(item.options));
  }
  void operator()(const BalancedItem& item) {
    BalancedOptions options = item.options;
    options.labels = labels_of_positions(item.field, "draw_balanced");
    if (options.labels.empty())
      throw Error(Errc::invalid_argument, "no record is left here, so none can be drawn").with_stage("draw_balanced");
    const Stage drawn = draw_balanced(options);
    (*this)(std::get<OrderItem>(drawn.model().item));
  }
  void operator()(const ShuffleItem& item) {
    if (item.options.seed) set_seed(*item.options.seed, "shuffle");
    if (!data_.source->is_stream()) {
      if (item.options.window != 0)
        throw Error(Errc::invalid_argument,
                    "`.window` is for streams, or belongs to `.blocks = true`; records that can be read in any order "
                    "are shuffled whole without it")
            .with_stage("shuffle");
      return add_order(shuffle_order());
    }
    refuse_after_batch("shuffle");
    if (data_.stream_window != 0)
      throw Error(Errc::invalid_argument, "the stream is shuffled already").with_stage("shuffle");
    if (item.options.window < 2 || item.options.window > most_stream_window)
      throw Error(
          Errc::invalid_argument,
          "a stream is shuffled inside blocks of consecutive records: say how many, from 2 to 2^20, with `.window`")
          .with_stage("shuffle");
    data_.stream_window = item.options.window;
    data_.stream_key = next_key("shuffle");
  }
  void operator()(const SeedItem& item) { set_seed(item.seed, "seed"); }

  void operator()(const MapItem& item) {
    const std::string name = item.model->name();
    add_stage(name, name, item.model->describe(), item.model->version(), item.model->schema(data_.schema));
  }

  void operator()(const FieldMapItem& item) {
    const std::string label = item.options.name + "(" + item.field + ")";
    FieldMapResult result = result_of(item, at(item.field, label), data_.schema, label);
    Schema out = result.field ? data_.delivered().with(std::move(*result.field)) : data_.delivered();
    const MapOptions& o = item.options;
    if (data_.batch && item.on_batches != nullptr)
      return add_device_stage(o.name, label, std::move(result.options), o.version, std::move(out));
    add_stage(o.name, label, std::move(result.options), o.version, std::move(out));
  }

  void operator()(const CacheItem& item) {
    refuse_after_batch(item.maker->label());
    add_cache(data_, item);
  }

  void operator()(const DecodeItem& item) {
    const std::string name = item.decoder->name(), label = name + "(" + item.field + ")";
    const Field& in = at(item.field, label);
    if (in.dtype != DType::u8 || in.shape.rank() != 1)
      throw Error(Errc::schema_mismatch,
                  "field \"" + item.field + "\" is " + describe(in) + ", not encoded bytes u8[?]")
          .with_stage(label);
    add_stage(
        name, label, item.decoder->describe(), 0,
        data_.schema.with({item.field, item.decoder->dtype(), Shape{dynamic, dynamic, item.decoder->channels()}}));
  }

  void operator()(const ImageItem& item) {
    const std::string name = item.model->name(), label = name + "(" + item.fields.names() + ")";
    std::string options = item.model->describe();
    Schema out = data_.delivered();
    const Field& first = at(item.fields[0].name, label);
    for (const ImageField& field : item.fields) {
      const Field& in = at(field.name, label);
      if ((in.dtype != DType::u8 && (in.dtype != DType::u16 || data_.batch)) || in.shape.rank() != 3)
        throw Error(Errc::schema_mismatch, "field \"" + field.name + "\" is " + describe(in) +
                                               ", but image stages take u8[H, W, C]" +
                                               (data_.batch ? " after batch" : " or u16[H, W, C]") +
                                               "; decode before it, convert or normalise after it")
            .with_stage(label);
      if (in.dtype == DType::u16 && item.model->resamples() && field.filter != Filter::nearest)
        throw Error(Errc::schema_mismatch,
                    "field \"" + field.name + "\" is " + describe(in) +
                        ", but values of 16 bits are resampled by nearest only: crop it to size, name it with "
                        "Filter::nearest, or decode it to 8 bits")
            .with_stage(label);
      for (const std::size_t side : {0u, 1u})
        if (in.shape[side] != first.shape[side] && in.shape[side] != dynamic && first.shape[side] != dynamic)
          throw Error(Errc::schema_mismatch, "field \"" + first.name + "\" is " + describe(first) + ", but \"" +
                                                 field.name + "\" is " + describe(in) +
                                                 ": fields of one image stage agree in height and width")
              .with_stage(label);
      DType dtype = in.dtype;
      const Shape shape = item.model->schema(in.shape, dtype);
      out = out.with({field.name, dtype, shape});
      if (field.filter == Filter::nearest) options += (options.empty() ? "" : ", ") + field.name + " by nearest";
    }
    if (data_.batch) return add_device_stage(name, label, std::move(options), item.model->version(), std::move(out));
    add_stage(name, label, std::move(options), item.model->version(), std::move(out));
  }
  void operator()(const DeviceStageItem& item) {
    const std::string name = item.model->name();
    if (!data_.batch)
      throw Error(Errc::invalid_argument, "a stage on whole batches stands after batch").with_stage(name);
    Schema out;
    try {
      out = item.model->schema(data_.delivered());
    } catch (...) {
      throw current_error().with_stage(name);
    }
    add_device_stage(name, name, item.model->describe(), item.model->version(), std::move(out));
  }

  void operator()(const FilterItem& item) {
    const std::string& name = item.options.name;
    const std::string label = item.field.empty() ? name : name + "(" + item.field + ")";
    if (!item.field.empty()) {
      const Field& in = at(item.field, label);
      if (in.dtype != item.dtype || in.shape.rank() != item.rank)
        throw Error(Errc::schema_mismatch, "field \"" + item.field + "\" is " + describe(in) +
                                               ", but the predicate takes a View<const " +
                                               std::string(to_string(item.dtype)) + ", " + std::to_string(item.rank) +
                                               ">; the fields are " + data_.schema.to_string())
            .with_stage(label);
    }
    add_stage(name, label, "filter", item.options.version, data_.schema);
    data_.filters = true;
  }

  void operator()(const FlatMapItem& item) {
    const std::string name = item.model->name();
    if (data_.flat_maps)
      throw Error(Errc::invalid_argument,
                  "a pipeline has one flat_map: let this one's children be counted through both of them")
          .with_stage(name);
    add_stage(name, name, "flat_map", item.model->version(), item.model->schema(data_.schema));
    data_.flat_maps = true;
  }

  void operator()(const SelectFieldsItem& item) {
    std::vector<Field> fields;
    std::string names;
    for (const std::string& n : item.names) {
      fields.push_back(at(n, "select_fields"));
      names += (names.empty() ? "" : ", ") + n;
    }
    keep_fields("select_fields", std::move(names), Schema(std::move(fields)));
  }
  void operator()(const DropFieldsItem& item) {
    Schema left = data_.delivered();
    std::string names;
    for (const std::string& n : item.names) {
      at(n, "drop_fields");
      if (left.find(n)) left = left.without(n);
      names += (names.empty() ? "" : ", ") + n;
    }
    if (left.size() == 0)
      throw Error(Errc::invalid_argument, "no field would be left of " + data_.delivered().to_string())
          .with_stage("drop_fields");
    keep_fields("drop_fields", std::move(names), std::move(left));
  }
  void operator()(const RenameItem& item) {
    const std::string label = "rename(" + item.from + ")";
    at(item.from, label);
    if (data_.delivered().find(item.to))
      throw Error(Errc::invalid_argument,
                  "there is a field \"" + item.to + "\" already; the fields are " + data_.delivered().to_string())
          .with_stage(label);
    std::vector<Field> fields(data_.delivered().begin(), data_.delivered().end());
    for (Field& field : fields)
      if (field.name == item.from) field.name = item.to;
    add_stage("rename", label, "to " + item.to, 0, Schema(std::move(fields)));
    if (auto said = data_.collates.extract(item.from)) {
      said.key() = item.to;
      data_.collates.insert(std::move(said));
    }
    if (data_.bucket && data_.bucket->field == item.from) data_.bucket->field = item.to;
  }

  void operator()(const CollateItem& item) {
    const std::string label = (item.collate.kind == Collate::Kind::ragged ? "ragged(" : "pad(") + item.field + ")";
    refuse_after_batch(label);
    Field field = at(item.field, label);
    if (data_.collates.contains(item.field))
      throw Error(Errc::invalid_argument, "it is said already how rows of this field are put together")
          .with_stage(label);
    field.collate = item.collate;
    check(field, label);
    data_.collates[item.field] = item.collate;
  }
  void operator()(const BucketItem& item) {
    const std::string label = "bucket(" + item.field + ")";
    refuse_after_batch(label);
    if (data_.bucket) throw Error(Errc::invalid_argument, "the pipeline has buckets already").with_stage(label);
    check_length(at(item.field, label), label);
    data_.bucket = item;
  }

  void operator()(const BatchItem& item) {
    refuse_after_batch("batch");
    std::vector<Field> fields(data_.schema.begin(), data_.schema.end());
    for (Field& f : fields) {
      if (const auto said = data_.collates.find(f.name); said != data_.collates.end()) f.collate = said->second;
      check(f, "batch");
      if (!f.shape.fixed() && f.collate.kind == Collate::Kind::dense)
        throw Error(
            Errc::schema_mismatch,
            "field \"" + f.name + "\" is " + describe(f) +
                ", which varies from sample to sample; give it a fixed shape (decode, crop, resize, map), say how its "
                "rows are put together (ragged, pad), or leave it out with drop_fields; the fields are " +
                data_.schema.to_string())
            .with_stage("batch");
      if (f.shape.rank() == Shape::max_rank)
        throw Error(Errc::schema_mismatch, "field \"" + f.name +
                                               "\" has 8 dimensions, the most there are; its batch "
                                               "would have one more")
            .with_stage("batch");
    }
    data_.schema = Schema(std::move(fields));
    try {
      const BatchBounds bounds(data_.schema, item);
      data_.batch = item;
      data_.batch->rows = bounds.rows();
      data_.bounded = bounds.by_size();
    } catch (Error& error) {
      throw error.with_stage("batch");
    }
    if (data_.bucket) join_bucket(*data_.bucket);
  }
  void operator()(const ErrorPolicy& policy) {
    if (data_.policy)
      throw Error(Errc::invalid_argument, "the pipeline already says what happens to bad samples")
          .with_stage("on_error");
    if (policy.policy == OnError::replace && data_.source->is_stream())
      throw Error(Errc::invalid_argument,
                  "a stream's record can't be replaced, as no other can be read in its place; use mask or drop")
          .with_stage("on_error");
    data_.policy = policy;
  }
  void operator()(const CheckOptions& options) {
    if (data_.check) throw Error(Errc::invalid_argument, "the pipeline already has a check stage").with_stage("check");
    if (const CheckOptions usual;
        data_.cache && (options.verify != usual.verify || options.max_sample_bytes != usual.max_sample_bytes))
      throw Error(Errc::invalid_argument,
                  "what " + data_.cache->label + " keeps was not looked at like that; put this stage before it")
          .with_stage("check");
    data_.check = options;
  }
  void operator()(const Shard& shard) {
    if (data_.shard) throw Error(Errc::invalid_argument, "the pipeline has a shard already").with_stage("shard");
    data_.shard = shard;
  }

 private:
  static std::string describe(const Field& f) { return std::string(to_string(f.dtype)) + f.shape.to_string(); }

  static void check(const Field& field, const std::string& label) {
    try {
      check_collate(field);
      if (field.collate.kind == Collate::Kind::pad) element_of(field.dtype, field.collate.value);
    } catch (Error& error) {
      throw error.with_stage(label);
    }
  }
  static void check_length(const Field& field, const std::string& label) {
    const bool integer = field.dtype != DType::f16 && field.dtype != DType::f32 && field.dtype != DType::f64 &&
                         field.dtype != DType::boolean;
    if (field.shape.rank() == 0 && !integer)
      throw Error(Errc::schema_mismatch, "field \"" + field.name + "\" is " + describe(field) +
                                             "; a length is the first dimension of a field, or an integer")
          .with_stage(label);
  }
  void join_bucket(BucketItem& item) const {
    const std::string label = "bucket(" + item.field + ")";
    check_length(at(item.field, label), label);
    const std::uint64_t rows = data_.batch->rows, most = most_bucket_window;
    std::uint64_t& window = item.options.window;
    if (window == 0)
      window = data_.bounded ? std::min(16 * rows, most) : std::min<std::uint64_t>(16, most / rows) * rows;
    if (window == 0 || (!data_.bounded && window % rows != 0))
      throw Error(Errc::invalid_argument, "batches of " + std::to_string(rows) + " rows can't be cut from windows of " +
                                              std::to_string(window) + " samples: give it a multiple, at most " +
                                              std::to_string(most))
          .with_stage(label);
  }

  const Field& at(const std::string& field, const std::string& label) const {
    const Schema& schema = data_.delivered();
    if (const auto slot = schema.find(field)) return schema[*slot];
    throw Error(Errc::schema_mismatch, "there is no field \"" + field + "\"; the fields are " + schema.to_string())
        .with_stage(label);
  }
  void refuse_after_batch(const std::string& stage) const {
    if (data_.batch)
      throw Error(Errc::invalid_argument,
                  "per-sample stages and orders stand before batch; after it stand image stages that do not "
                  "resample, changes of colour, and device stages")
          .with_stage(stage);
  }
  // True for a stage that is known to give the field other values. What a map of whole samples does is not known.
  static bool makes(const BoundStage& stage, const std::string& field) {
    const auto& item = stage.stage.model().item;
    if (const auto* const renamed = std::get_if<RenameItem>(&item)) return renamed->to == field;
    if (const auto* const mapped = std::get_if<FieldMapItem>(&item))
      return (mapped->options.out.empty() ? mapped->field : mapped->options.out) == field;
    return false;
  }
  // The values of a field of the source, one for each position.
  std::vector<std::int64_t> labels_of_positions(const std::string& field, const std::string& stage) const {
    refuse_order(stage);
    refuse_changing_orders(stage);
    if (!data_.source_schema.find(field) && data_.schema.find(field))
      throw Error(Errc::schema_mismatch, "field \"" + field +
                                             "\" is made by a stage; records are drawn and split before any stage is "
                                             "run, by the source's own fields: " +
                                             data_.source_schema.to_string())
          .with_stage(stage);
    for (const BoundStage& before : data_.stages)
      if (makes(before, field))
        throw Error(Errc::schema_mismatch, "field \"" + field + "\" is not the source's here, since " + before.label +
                                               " made it; records are drawn and split by the source's own fields, so "
                                               "put this stage before that one")
            .with_stage(stage);
    std::vector<std::int64_t> labels = labels_of(*data_.source, field, stage);
    if (data_.orders.empty()) return labels;
    std::vector<std::int64_t> of_positions;
    of_positions.reserve(data_.size);
    std::vector<std::uint64_t> indices;
    for (std::uint64_t first = 0; first < data_.size; first += indices.size()) {
      indices.resize(std::min<std::uint64_t>(4096, data_.size - first));
      data_.fill(0, first, indices);
      for (const std::uint64_t index : indices) of_positions.push_back(labels[index]);
    }
    return of_positions;
  }
  // Where a stage knows something of records by their positions.
  void refuse_changing_orders(const std::string& stage) const {
    for (const BoundOrder& order : data_.orders)
      if (!order.model->fixed())
        throw Error(Errc::invalid_argument,
                    "it knows the records by their positions, but after \"" + order.label +
                        "\" a position has another record in each epoch; put it directly after the source, or "
                        "after take, skip, select, split or repeat")
            .with_stage(stage);
  }
  void set_seed(std::uint64_t seed, const std::string& stage) {
    if (data_.seed && *data_.seed != seed)
      throw Error(Errc::invalid_argument, "a pipeline has one seed: " + std::to_string(*data_.seed) +
                                              " was set before, and here " + std::to_string(seed))
          .with_stage(stage);
    if (data_.cache && data_.cache->allows.random && data_.seed_value() != seed)
      throw Error(Errc::invalid_argument, "what the cache keeps was drawn with the seed " +
                                              std::to_string(data_.seed_value()) + "; say another one before the cache")
          .with_stage(stage);
    data_.seed = seed;
  }
  // What was said of the rows of a field that goes, goes with it.
  void keep_fields(const std::string& name, std::string names, Schema left) {
    add_stage(name, name, std::move(names), 0, std::move(left));
    std::erase_if(data_.collates, [this](const auto& said) { return !data_.schema.find(said.first); });
  }
  std::uint64_t next_key(const std::string& name) { return hash_text(name, data_.occurrences[name]++); }

  static constexpr std::uint64_t most_stream_window = 1u << 20;

  void refuse_order(const std::string& name) const {
    refuse_after_batch(name);
    if (data_.source->is_stream())
      throw Error(Errc::invalid_argument,
                  "a stream comes in its own order: of orders it has only shuffle with `.window`")
          .with_stage(name);
    if (data_.filters || data_.flat_maps)
      throw Error(Errc::invalid_argument,
                  "orders stand before filter and flat_map: after them it is not known yet how many samples there are")
          .with_stage(name);
  }
  void add_order(std::shared_ptr<const OrderModel> model, std::string label = {}) {
    const std::string name = model->name();
    refuse_order(name);
    const std::uint64_t input = data_.size;
    try {
      data_.size = model->size(input);
    } catch (Error& error) {
      throw error.with_stage(name);
    }
    if (label.empty()) label = model->describe().empty() ? name : name + " " + model->describe();
    data_.orders.push_back({std::move(model), std::move(label), next_key(name), input});
  }
  void add_stage(const std::string& name, const std::string& label, std::string options, std::uint64_t version,
                 Schema out) {
    refuse_after_batch(label);
    data_.stages.push_back({stage_, name, label, std::move(options), next_key(name), version, data_.schema, out});
    data_.schema = std::move(out);
  }

  void add_device_stage(const std::string& name, const std::string& label, std::string options, std::uint64_t version,
                        Schema out) {
    detail::add_device_stage(
        data_, {stage_, name, label, std::move(options), next_key(name), version, data_.delivered(), std::move(out)});
  }

  PipelineData& data_;
  const Stage& stage_;
};

// Asked after each stage, as the shard may stand anywhere.
void check_shard(const PipelineData& data) {
  const Shard shard = data.shard_value();
  if (shard.steps_per_epoch != 0 && data.source->is_stream())
    throw Error(Errc::unsupported,
                "a stream has no positions on which an epoch could go on, or that ranks could share; give each rank a "
                "stream of its own, leave shard away, and call next() equally often on all ranks")
        .with_stage("shard");
  if (shard.world == 1) return;
  const std::string ranks = std::to_string(shard.world) + " ranks";
  if (data.reordered() && shard.steps_per_epoch == 0)
    throw Error(Errc::unsupported,
                "batches of a filter, a flat_map, the policy `drop`, a stream, buckets or bounds by the sizes of "
                "samples can't be shared by " +
                    ranks +
                    " as they are: how many there are is known only after the epoch, and ranks would not agree; say "
                    "how many there shall be, shard({.rank, .world, .steps_per_epoch}), or, of a stream, give each "
                    "rank one of its own without shard")
        .with_stage("shard");
  if (data.bounded)
    throw Error(Errc::unsupported,
                "batches that end by the sizes of samples can't be shared by " + ranks +
                    ": none knows how many rows another has; give each rank records of its own (select), and this "
                    "pipeline without a shard of several ranks")
        .with_stage("shard");
  if (data.batch && data.batch->rows < static_cast<std::uint64_t>(shard.world))
    throw Error(Errc::invalid_argument, "a batch of " + std::to_string(data.batch->rows) + " rows can't be shared by " +
                                            ranks +
                                            "; batch(n) is the batch of all ranks together: give it at least "
                                            "one row for each")
        .with_stage("shard");
}

}  // namespace

void add_stage(PipelineData& data, const Stage& stage) {
  std::visit(AddStage(data, stage), stage.model().item);
  check_shard(data);
}

}  // namespace penstock::detail
