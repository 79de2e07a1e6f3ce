// SPDX-License-Identifier: Apache-2.0
// A plain perceptron with one hidden layer: features -> hidden (ReLU) -> classes (softmax). It is trained by stochastic
// gradient descent with momentum. It uses no library and no intrinsics; the compiler vectorises the inner loops.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

class Mlp {
 public:
  Mlp(std::size_t features, std::size_t hidden, std::size_t classes)
      : features_(features),
        hidden_(hidden),
        classes_(classes),
        w1_(features * hidden),
        b1_(hidden),
        w2_(hidden * classes),
        b2_(classes) {
    std::mt19937 random(1);
    const auto fill = [&](std::vector<float>& weights, std::size_t inputs) {
      const float width = std::sqrt(6.0f / static_cast<float>(inputs));
      for (float& w : weights) w = width * (static_cast<float>(random()) / 2147483648.0f - 1.0f);
    };
    fill(w1_.value, features);
    fill(w2_.value, hidden);
  }

  struct Result {
    double loss = 0;        // sum over the rows
    std::size_t right = 0;  // number of rows whose largest output belongs to their label
  };

  // Makes one training step with `labels.size()` rows, each of `features` numbers.
  Result train(std::span<const float> rows, std::span<const std::int64_t> labels, float rate) {
    Result result;
    for (std::size_t n = 0; n < labels.size(); ++n) {
      const float* const x = rows.data() + n * features_;
      result.loss += forward(x, labels[n], result.right);
      backward(x, static_cast<std::size_t>(labels[n]));
    }
    const float scale = 1.0f / static_cast<float>(labels.size());
    for (Parameters* p : {&w1_, &b1_, &w2_, &b2_}) p->step(rate, scale);
    return result;
  }

  Result test(std::span<const float> rows, std::span<const std::int64_t> labels) {
    Result result;
    for (std::size_t n = 0; n < labels.size(); ++n)
      result.loss += forward(rows.data() + n * features_, labels[n], result.right);
    return result;
  }

 private:
  struct Parameters {
    explicit Parameters(std::size_t n) : value(n), gradient(n), velocity(n) {}
    void step(float rate, float scale) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        velocity[i] = 0.9f * velocity[i] + scale * gradient[i];
        value[i] -= rate * velocity[i];
        gradient[i] = 0;
      }
    }
    std::vector<float> value, gradient, velocity;
  };

  // Computes the hidden layer `h_` and the probabilities `p_`. Returns the loss.
  double forward(const float* x, std::int64_t label, std::size_t& right) {
    h_ = b1_.value;
    for (std::size_t i = 0; i < features_; ++i) {
      const float* const w = w1_.value.data() + i * hidden_;
      for (std::size_t j = 0; j < hidden_; ++j) h_[j] += x[i] * w[j];
    }
    for (float& h : h_) h = std::max(h, 0.0f);
    p_ = b2_.value;
    for (std::size_t j = 0; j < hidden_; ++j)
      for (std::size_t k = 0; k < classes_; ++k) p_[k] += h_[j] * w2_.value[j * classes_ + k];
    const auto largest = std::max_element(p_.begin(), p_.end());
    right += (largest - p_.begin() == label) ? 1 : 0;
    const float most = *largest;
    float sum = 0;
    for (float& p : p_) sum += p = std::exp(p - most);
    for (float& p : p_) p /= sum;
    return -std::log(std::max(p_[static_cast<std::size_t>(label)], 1e-12f));
  }

  void backward(const float* x, std::size_t label) {
    p_[label] -= 1;  // the gradient of softmax and cross-entropy together
    d_.assign(hidden_, 0.0f);
    for (std::size_t j = 0; j < hidden_; ++j) {
      for (std::size_t k = 0; k < classes_; ++k) {
        w2_.gradient[j * classes_ + k] += h_[j] * p_[k];
        d_[j] += w2_.value[j * classes_ + k] * p_[k];
      }
      if (h_[j] <= 0) d_[j] = 0;
      b1_.gradient[j] += d_[j];
    }
    for (std::size_t k = 0; k < classes_; ++k) b2_.gradient[k] += p_[k];
    for (std::size_t i = 0; i < features_; ++i) {
      float* const g = w1_.gradient.data() + i * hidden_;
      for (std::size_t j = 0; j < hidden_; ++j) g[j] += x[i] * d_[j];
    }
  }

  std::size_t features_, hidden_, classes_;
  Parameters w1_, b1_, w2_, b2_;
  std::vector<float> h_, p_, d_;
};
