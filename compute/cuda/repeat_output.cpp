#include "compute/cuda/repeat_output.h"
#include "compute/repeat_report.h"

#include <algorithm>
#include <cstring>

namespace echolux::cuda {

// Initializes the reports, because kernels may write only some of their fields.
RepeatReport* RepeatOutput::begin(cudaStream_t stream, const std::optional<RepeatReports>& wanted, std::int64_t first,
                                  std::int64_t count) {
    to_ = wanted ? wanted->data + (first - wanted->first_b_scan) * b_repeats_ : nullptr;
    if (to_ == nullptr) return nullptr;
    bytes_ = count * b_repeats_ * std::int64_t{sizeof(RepeatReport)};
    on_device_.reserve(bytes_);
    staging_.reserve(bytes_);
    std::fill_n(staging_.as<RepeatReport>(), count * b_repeats_, RepeatReport{});
    checked(cudaMemcpyAsync(on_device_.data(), staging_.data(), static_cast<std::size_t>(bytes_),
                            cudaMemcpyHostToDevice, stream),
            "begin reports of repeats");
    return on_device_.as<RepeatReport>();
}

void RepeatOutput::copy_out(cudaStream_t stream) {
    if (to_ == nullptr) return;
    checked(cudaMemcpyAsync(staging_.data(), on_device_.data(), static_cast<std::size_t>(bytes_),
                            cudaMemcpyDeviceToHost, stream),
            "copy reports of repeats to the host");
}

void RepeatOutput::finish() {
    if (to_ == nullptr) return;
    std::memcpy(to_, staging_.data(), static_cast<std::size_t>(bytes_));
    to_ = nullptr;
}

}  // namespace echolux::cuda
