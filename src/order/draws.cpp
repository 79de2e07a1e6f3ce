// SPDX-License-Identifier: Apache-2.0
#include "order/draws.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <penstock/detail/order_model.hpp>
#include <penstock/error.hpp>
#include <penstock/extend/float_mode.hpp>
#include <penstock/extend/order.hpp>
#include <penstock/extend/rng.hpp>
#include <penstock/stages/order.hpp>

#include "base/hash.hpp"
#include "base/number_text.hpp"
#include "order/alias_table.hpp"
#include "order/epoch_tables.hpp"
#include "order/rotation.hpp"
#include "order/successive_draws.hpp"
#include "order/weights.hpp"

namespace penstock {

namespace {

constexpr std::uint64_t draw_key = 0x64726177;
constexpr unsigned alias_bits = 60, share_bits = 53;

void check_count(std::uint64_t count, const char* stage) {
  if (count > std::uint64_t{1} << 62)
    throw Error(Errc::invalid_argument, "an epoch has at most 2^62 draws").with_stage(stage);
}

void check_records(std::uint64_t n, std::uint64_t known, const char* what) {
  if (n != known)
    throw Error(Errc::invalid_argument, "there are " + std::to_string(known) + " " + what + " for " +
                                            std::to_string(n) + " records; give one for each");
}

template <class T>
std::string hash_of_values(const std::vector<T>& values) {
  return std::to_string(detail::hash_bytes(values.data(), values.size() * sizeof(T)));
}

// Makes a model of an order. Copies of an order share its tables.
template <class O>
std::shared_ptr<const detail::OrderModel> model_of(O order) {
  return std::make_shared<const detail::OrderOf<O>>(std::move(order));
}

struct WeightedDraws {
  std::shared_ptr<const detail::AliasTable> table;
  std::uint64_t records, count;
  std::string description;

  std::uint64_t size(std::uint64_t n) const { return check_records(n, records, "weights"), count; }
  void fill(std::uint64_t seed, std::uint64_t, std::span<OrderPoint> points) const {
    for (OrderPoint& point : points) {
      Rng rng(seed, draw_key, Place{point.epoch, point.position, 0, 0});
      point.position = (*table)(rng);
    }
  }
  std::string name() const { return "draw_weighted"; }
  std::string describe() const { return description; }
};

struct DistinctDraws {
  struct Table {
    std::vector<std::uint64_t> records;
    std::size_t bytes() const noexcept { return records.size() * sizeof(std::uint64_t); }
  };
  std::shared_ptr<const std::vector<double>> weights;
  std::uint64_t count;
  std::string description;
  std::shared_ptr<detail::EpochTables<Table>> tables = std::make_shared<detail::EpochTables<Table>>();

  std::uint64_t size(std::uint64_t n) const { return check_records(n, weights->size(), "weights"), count; }
  void fill(std::uint64_t seed, std::uint64_t, std::span<OrderPoint> points) const {
    for (std::size_t i = 0; i < points.size();) {
      const std::uint64_t epoch = points[i].epoch;
      const auto table = tables->get({seed, epoch}, [&] {
        return Table{detail::successive_draws(*weights, count, detail::hash_mix(seed, epoch))};
      });
      for (; i < points.size() && points[i].epoch == epoch; ++i)
        points[i].position = table->records[points[i].position];
    }
  }
  std::string name() const { return "draw_weighted"; }
  std::string describe() const { return description; }
};

// The records of each class. `members` has all records, sorted by class. `ends` has, for each class, the index in
// `members` after its last record.
struct Classes {
  std::vector<std::uint64_t> members, ends;
};

struct BalancedDraws {
  struct Shared {
    detail::AliasTable table;
    Classes classes;
  };
  std::shared_ptr<const Shared> shared;
  std::uint64_t count;
  std::string description;

  std::uint64_t size(std::uint64_t n) const {
    return check_records(n, shared->classes.members.size(), "labels"), count;
  }
  void fill(std::uint64_t seed, std::uint64_t, std::span<OrderPoint> points) const {
    const Classes& classes = shared->classes;
    for (OrderPoint& point : points) {
      Rng rng(seed, draw_key, Place{point.epoch, point.position, 0, 0});
      const std::uint64_t which = shared->table(rng), begin = which == 0 ? 0 : classes.ends[which - 1];
      point.position = classes.members[begin + rng.below(classes.ends[which] - begin)];
    }
  }
  std::string name() const { return "draw_balanced"; }
  std::string describe() const { return description; }
};

Classes group(const std::vector<std::int64_t>& labels, const std::map<std::int64_t, std::uint64_t>& sizes) {
  Classes out;
  std::map<std::int64_t, std::uint64_t> next;
  std::uint64_t end = 0;
  for (const auto& [label, size] : sizes) {
    next[label] = end;
    out.ends.push_back(end += size);
  }
  out.members.resize(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) out.members[next[labels[i]]++] = i;
  return out;
}

std::vector<double> weights_of(const std::map<std::int64_t, std::uint64_t>& sizes,
                               const std::vector<std::pair<std::int64_t, double>>& class_weights) {
  for (const auto& [label, weight] : class_weights)
    if (!sizes.contains(label))
      throw Error(Errc::invalid_argument,
                  "`class_weights` names class " + std::to_string(label) + ", which no record has")
          .with_stage("draw_balanced");
  std::vector<double> weights;
  for (const auto& [label, size] : sizes) {
    const auto given = std::ranges::find(class_weights, label, &std::pair<std::int64_t, double>::first);
    weights.push_back(given == class_weights.end() ? 1.0 : given->second);
  }
  detail::check_weights(weights, "draw_balanced");
  return weights;
}

}  // namespace

std::shared_ptr<const detail::OrderModel> detail::weighted_draws(WeightedOptions options) {
  detail::check_weights(options.weights, "draw_weighted");
  const auto drawable =
      static_cast<std::uint64_t>(std::ranges::count_if(options.weights, [](double weight) { return weight > 0; }));
  const std::uint64_t all = options.replacement ? options.weights.size() : drawable;
  const std::uint64_t count = options.count == 0 ? all : options.count;
  check_count(count, "draw_weighted");
  if (!options.replacement && count > drawable)
    throw Error(Errc::invalid_argument, "only " + std::to_string(drawable) + " weights are above 0, so " +
                                            std::to_string(count) +
                                            " records can't be drawn without replacement; draw fewer, or set "
                                            "`.replacement`")
        .with_stage("draw_weighted");
  std::string description = std::to_string(count) + " of " + std::to_string(options.weights.size()) +
                            (options.replacement ? ", with" : ", without") + " replacement, hash " +
                            hash_of_values(options.weights);
  if (options.replacement) {
    const auto integers = detail::integer_weights(options.weights, alias_bits);
    return model_of(WeightedDraws{std::make_shared<const detail::AliasTable>(integers), options.weights.size(), count,
                                  std::move(description)});
  }
  const FloatMode standard;
  const double largest = *std::ranges::max_element(options.weights);
  for (double& weight : options.weights) {
    const bool drawn = weight > 0;
    weight /= largest;
    if (drawn && weight == 0) weight = 0x1p-1000;
  }
  return model_of(DistinctDraws{std::make_shared<const std::vector<double>>(std::move(options.weights)), count,
                                std::move(description)});
}

std::shared_ptr<const detail::OrderModel> detail::balanced_draws(const BalancedOptions& options) {
  const std::uint64_t count = options.count == 0 ? options.labels.size() : options.count;
  check_count(count, "draw_balanced");
  if (options.labels.empty())
    throw Error(Errc::invalid_argument, "give each record's class in `.labels`").with_stage("draw_balanced");
  std::map<std::int64_t, std::uint64_t> sizes;
  for (const std::int64_t label : options.labels) ++sizes[label];
  const std::vector<double> weights = weights_of(sizes, options.class_weights);
  std::string description = std::to_string(count) + " of " + std::to_string(options.labels.size()) + " in " +
                            std::to_string(sizes.size()) + " classes" + (options.replacement ? ", with" : ", without") +
                            " replacement, hash " + hash_of_values(options.labels);
  if (!options.class_weights.empty()) description += ", class weights' hash " + hash_of_values(weights);
  Classes classes = group(options.labels, sizes);
  if (options.replacement) {
    const detail::AliasTable table(detail::integer_weights(weights, alias_bits));
    return model_of(
        BalancedDraws{std::make_shared<const BalancedDraws::Shared>(BalancedDraws::Shared{table, std::move(classes)}),
                      count, std::move(description)});
  }
  return model_of(detail::Rotation({.name = "draw_balanced",
                                    .description = std::move(description),
                                    .weights = detail::integer_weights(weights, share_bits),
                                    .ends = std::move(classes.ends),
                                    .members = std::move(classes.members),
                                    .count = count}));
}

}  // namespace penstock
