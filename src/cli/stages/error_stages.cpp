// SPDX-License-Identifier: Apache-2.0
#include "stages/stage_lists.hpp"

#include <array>

#include <penstock/stages/check.hpp>
#include <penstock/stages/on_error.hpp>

namespace penstock::cli {

namespace {

Stage make_on_error(const Arguments& a) {
  ErrorPolicy policy;
  policy.policy = std::array{OnError::fail, OnError::replace, OnError::mask,
                             OnError::drop}[a.choice("policy", {"fail", "replace", "mask", "drop"})];
  policy.max_count = a.count("max_count", policy.max_count);
  policy.max_share = a.number("max_share", policy.max_share);
  policy.max_in_row = a.count("max_in_row", policy.max_in_row);
  return on_error(policy);
}

Stage make_check(const Arguments& a) {
  CheckOptions options;
  options.verify = a.flag("verify", options.verify);
  options.fold = a.flag("fold", options.fold);
  options.max_sample_bytes = a.count("max_sample_bytes", options.max_sample_bytes);
  return check(options);
}

}  // namespace

std::vector<StageSyntax> error_stages() {
  return {
      {"on_error",
       false,
       {{"policy", "fail|replace|mask|drop", true}, {"max_count", "N"}, {"max_share", "0..1"}, {"max_in_row", "N"}},
       make_on_error},
      {"check", false, {{"verify", "true|false"}, {"fold", "true|false"}, {"max_sample_bytes", "N"}}, make_check},
  };
}

}  // namespace penstock::cli
