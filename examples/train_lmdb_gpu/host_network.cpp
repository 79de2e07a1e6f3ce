// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <utility>

#include "network.hpp"

namespace ps = penstock;

Weights::Weights(const Sizes& sizes)
    : w1(sizes.features * sizes.hidden), b1(sizes.hidden), w2(sizes.hidden * sizes.classes), b2(sizes.classes) {
  std::mt19937 random(1);
  const auto fill = [&](std::vector<float>& weights, std::size_t inputs) {
    const float width = std::sqrt(6.0f / static_cast<float>(inputs));
    for (float& w : weights) w = width * (static_cast<float>(random()) / 2147483648.0f - 1.0f);
  };
  fill(w1, sizes.features);
  fill(w2, sizes.hidden);
}

namespace {

class HostNetwork final : public Network {
 public:
  explicit HostNetwork(const Sizes& sizes)
      : sizes_(sizes), value_(sizes), gradient_(sizes), velocity_(sizes), h_(sizes.hidden), p_(sizes.classes) {
    for (Weights* zeros : {&gradient_, &velocity_})
      for (std::vector<float>* v : {&zeros->w1, &zeros->w2}) std::fill(v->begin(), v->end(), 0.0f);
  }

  ps::Device device() const override { return ps::host(); }
  ps::StreamRef stream() const override { return {}; }

  void train(const ps::Batch& batch, float rate) override {
    const std::span<const float> rows = rows_of(batch);
    const std::span<const std::int64_t> labels = labels_of(batch);
    for (std::size_t n = 0; n < labels.size(); ++n) {
      const float* const x = rows.data() + n * sizes_.features;
      forward(x, labels[n]);
      backward(x, static_cast<std::size_t>(labels[n]));
    }
    const float scale = 1.0f / static_cast<float>(labels.size());
    step(value_.w1, gradient_.w1, velocity_.w1, rate, scale);
    step(value_.b1, gradient_.b1, velocity_.b1, rate, scale);
    step(value_.w2, gradient_.w2, velocity_.w2, rate, scale);
    step(value_.b2, gradient_.b2, velocity_.b2, rate, scale);
  }

  void test(const ps::Batch& batch) override {
    const std::span<const float> rows = rows_of(batch);
    const std::span<const std::int64_t> labels = labels_of(batch);
    for (std::size_t n = 0; n < labels.size(); ++n) forward(rows.data() + n * sizes_.features, labels[n]);
  }

  Result result() override { return std::exchange(sum_, {}); }

 private:
  static std::span<const float> rows_of(const ps::Batch& batch) {
    const ps::TensorView images = batch["image"];
    return {reinterpret_cast<const float*>(images.data), images.bytes() / sizeof(float)};
  }
  static std::span<const std::int64_t> labels_of(const ps::Batch& batch) {
    return batch.view<const std::int64_t, 1>("label").flat();
  }

  // Computes the hidden layer `h_` and the probabilities `p_`.
  void forward(const float* x, std::int64_t label) {
    h_ = value_.b1;
    for (std::size_t i = 0; i < sizes_.features; ++i) {
      const float* const w = value_.w1.data() + i * sizes_.hidden;
      for (std::size_t j = 0; j < sizes_.hidden; ++j) h_[j] += x[i] * w[j];
    }
    for (float& h : h_) h = std::max(h, 0.0f);
    p_ = value_.b2;
    for (std::size_t j = 0; j < sizes_.hidden; ++j)
      for (std::size_t k = 0; k < sizes_.classes; ++k) p_[k] += h_[j] * value_.w2[j * sizes_.classes + k];
    const auto largest = std::max_element(p_.begin(), p_.end());
    sum_.right += largest - p_.begin() == label ? 1u : 0u;
    ++sum_.rows;
    const float most = *largest;
    float all = 0;
    for (float& p : p_) all += p = std::exp(p - most);
    for (float& p : p_) p /= all;
    sum_.loss -= static_cast<double>(std::log(std::max(p_[static_cast<std::size_t>(label)], 1e-12f)));
  }

  void backward(const float* x, std::size_t label) {
    p_[label] -= 1;  // the gradient of softmax and cross-entropy together
    d_.assign(sizes_.hidden, 0.0f);
    for (std::size_t j = 0; j < sizes_.hidden; ++j) {
      for (std::size_t k = 0; k < sizes_.classes; ++k) {
        gradient_.w2[j * sizes_.classes + k] += h_[j] * p_[k];
        d_[j] += value_.w2[j * sizes_.classes + k] * p_[k];
      }
      if (h_[j] <= 0) d_[j] = 0;
      gradient_.b1[j] += d_[j];
    }
    for (std::size_t k = 0; k < sizes_.classes; ++k) gradient_.b2[k] += p_[k];
    for (std::size_t i = 0; i < sizes_.features; ++i) {
      float* const g = gradient_.w1.data() + i * sizes_.hidden;
      for (std::size_t j = 0; j < sizes_.hidden; ++j) g[j] += x[i] * d_[j];
    }
  }

  static void step(std::vector<float>& value, std::vector<float>& gradient, std::vector<float>& velocity, float rate,
                   float scale) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      velocity[i] = momentum * velocity[i] + scale * gradient[i];
      value[i] -= rate * velocity[i];
      gradient[i] = 0;
    }
  }

  const Sizes sizes_;
  Weights value_, gradient_, velocity_;
  std::vector<float> h_, p_, d_;
  Result sum_;
};

}  // namespace

std::unique_ptr<Network> host_network(const Sizes& sizes) { return std::make_unique<HostNetwork>(sizes); }
