// Reconstruction: whole scans, many scans, blocks.
#ifndef ECHOLUX_RECONSTRUCT_HPP
#define ECHOLUX_RECONSTRUCT_HPP

#include <cstdint>
#include <string>

#include "reconstruct.h"
#include "scan.hpp"
#include "volume.hpp"

namespace echolux::api {

// `part` may leave progress to `progress`.
inline Volumes reconstruct(const Scan& scan, const echolux_device& device = make<echolux_device>(),
                           echolux_part part = make<echolux_part>(), Progress progress = {}) {
    if (progress) {
        part.progress = detail::tell;
        part.user = &progress;
    }
    echolux_volume *structure = nullptr, *flow = nullptr;
    checked([&](auto* error) { return echolux_reconstruct(scan.get(), &device, &part, &structure, &flow, error); });
    return detail::volumes(structure, flow);
}

// Many scans of one protocol, or many parts of them, one after the other.
class Batch {
  public:
    explicit Batch(const echolux_device& device = make<echolux_device>()) {
        echolux_batch* handle = nullptr;
        checked([&](auto* error) { return echolux_batch_create(&device, &handle, error); });
        handle_.reset(handle);
    }

    // As echolux::api::reconstruct().
    Volumes reconstruct(const Scan& scan, echolux_part part = make<echolux_part>(), Progress progress = {}) {
        if (progress) {
            part.progress = detail::tell;
            part.user = &progress;
        }
        echolux_volume *structure = nullptr, *flow = nullptr;
        checked(
            [&](auto* error) { return echolux_batch_reconstruct(get(), scan.get(), &part, &structure, &flow, error); });
        return detail::volumes(structure, flow);
    }
    std::int64_t plans() const {
        std::int64_t plans = 0;
        checked([&](auto* error) { return echolux_batch_plans(get(), &plans, error); });
        return plans;
    }

    echolux_batch* get() const { return handle_.get(); }

  private:
    detail::Owned<echolux_batch, echolux_batch_free> handle_;
};

class Reconstructor {
  public:
    explicit Reconstructor(const Scan& scan, const echolux_device& device = make<echolux_device>(),
                           std::int64_t block_b_scans = 0) {
        echolux_reconstructor* handle = nullptr;
        checked([&](auto* error) {
            return echolux_reconstructor_create(scan.get(), &device, block_b_scans, &handle, error);
        });
        handle_.reset(handle);
    }

    echolux_grid grid() const {
        auto grid = make<echolux_grid>();
        checked([&](auto* error) { return echolux_reconstructor_grid(get(), &grid, nullptr, error); });
        return grid;
    }
    std::string device() const {
        return detail::text([&](auto... to) { return echolux_reconstructor_device(get(), to...); });
    }
    std::string provenance() const {
        return detail::text([&](auto... to) { return echolux_reconstructor_provenance(get(), to...); });
    }
    std::uint64_t submit(const echolux_block& block, const echolux_place& structure,
                         const echolux_place* flow = nullptr) {
        std::uint64_t completion = 0;
        checked([&](auto* error) {
            return echolux_reconstructor_submit(get(), &block, &structure, flow, &completion, error);
        });
        return completion;
    }
    void prime(const echolux_block& block) {
        checked([&](auto* error) { return echolux_reconstructor_prime(get(), &block, error); });
    }
    void wait(std::uint64_t completion) {
        checked([&](auto* error) { return echolux_reconstructor_wait(get(), completion, error); });
    }
    void collect() {
        checked([&](auto* error) { return echolux_reconstructor_collect(get(), error); });
    }

    echolux_reconstructor* get() const { return handle_.get(); }

  private:
    detail::Owned<echolux_reconstructor, echolux_reconstructor_free> handle_;
};

}  // namespace echolux::api

#endif
