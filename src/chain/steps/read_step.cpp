// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "chain/chain_run.hpp"
#include "chain/steps/steps.hpp"

namespace penstock::detail::runtime {

namespace {

class ReadStep final : public Step {
 public:
  ReadStep(const Schema& of, std::string its_label) : Step(std::move(its_label), 0) { schema = of; }

  bool run(ChainRun& run, const StepCall& call) const override {
    SampleBuilder out(run);
    run.branches.reading = &call;
    run.reader->read(call.index, out);
    for (std::size_t slot = 0; slot < fields; ++slot)
      if (!run.given(slot)) run.missing(slot);
    check_sizes(run);
    return true;
  }
  std::string describe(const CheckOptions&) const override { return label + " " + schema.to_string(); }
  bool makes(const Schema&, std::size_t) const override { return true; }
  bool starts_anew(const ChainRun&) const override { return true; }
  bool counts(std::size_t, bool) const override { return true; }
};

}  // namespace

std::unique_ptr<Step> make_read_step(const Schema& schema, std::string label) {
  return std::make_unique<ReadStep>(schema, std::move(label));
}

}  // namespace penstock::detail::runtime
