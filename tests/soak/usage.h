// Resources that must not grow during a soak, and the detection of growth from samples.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace echolux::soak {

struct Usage {
    double time_s = 0, resident_mb = 0, load = 0;
    std::int64_t files = 0, threads = 0;
};

enum class Growth { none, some, too_few_samples };

// The first third is warm-up: shaders, pools, plans. The medians of the other two thirds are compared.
class UsageInThirds {
  public:
    static constexpr std::size_t min_samples = 9;  // three per third

    explicit UsageInThirds(const std::vector<Usage>& samples) : samples_(samples) {}

    // Median over third 1 or 2, counted from 0.
    template <class Field>
    double median(Field field, std::size_t third) const {
        const std::size_t count = samples_.size() / 3;
        std::vector<double> values;
        for (std::size_t i = third * count; i < (third + 1) * count; ++i)
            values.push_back(static_cast<double>(samples_[i].*field));
        std::ranges::sort(values);
        return values.empty() ? 0 : values[values.size() / 2];
    }

    Growth growth() const {
        if (samples_.size() < min_samples) return Growth::too_few_samples;
        const bool is_flat = median(&Usage::resident_mb, 2) < 1.05 * median(&Usage::resident_mb, 1) + 32 &&
                             median(&Usage::files, 2) <= median(&Usage::files, 1) + 2 &&
                             median(&Usage::threads, 2) <= median(&Usage::threads, 1) + 2;
        return is_flat ? Growth::none : Growth::some;
    }

  private:
    const std::vector<Usage>& samples_;
};

}  // namespace echolux::soak
