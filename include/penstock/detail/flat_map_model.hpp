// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <penstock/detail/callable_adapter.hpp>
#include <penstock/detail/export.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/transform.hpp>
#include <penstock/schema.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock::detail {

class PENSTOCK_API FlatMapModel {
 public:
  virtual ~FlatMapModel() = default;
  virtual std::uint32_t count(const Sample& parent, Context& context) const = 0;
  virtual void child(const Sample& parent, std::uint32_t number, Sample& out, Context& context) const = 0;
  virtual Schema schema(const Schema& in) const { return in; }
  virtual std::string name() const { return "flat_map"; }
  virtual std::uint64_t version() const { return 0; }
};

template <class F>
class FlatMapOf final : public CallableOf<F, FlatMapModel> {
 public:
  using CallableOf<F, FlatMapModel>::CallableOf;
  std::uint32_t count(const Sample& parent, Context& context) const override { return this->f_.count(parent, context); }
  void child(const Sample& parent, std::uint32_t number, Sample& out, Context& context) const override {
    this->f_.child(parent, number, out, context);
  }
};

PENSTOCK_API Stage make_flat_map(std::shared_ptr<const FlatMapModel> model);

}  // namespace penstock::detail
