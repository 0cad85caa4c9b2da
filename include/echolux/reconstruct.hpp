// Reconstruction of whole scans, of many scans, and of blocks.
#ifndef ECHOLUX_RECONSTRUCT_HPP
#define ECHOLUX_RECONSTRUCT_HPP

#include <cstdint>
#include <string>

#include "reconstruct.h"
#include "scan.hpp"
#include "volume.hpp"

namespace echolux::api {

// Reads and reconstructs one volume. A non-empty `progress` replaces the callback of `part`.
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

// Reconstructs many scans of one protocol, or many parts of them, one after another, with one plan.
class Batch {
  public:
    explicit Batch(const echolux_device& device = make<echolux_device>()) {
        echolux_batch* handle = nullptr;
        checked([&](auto* error) { return echolux_batch_create(&device, &handle, error); });
        handle_.reset(handle);
    }

    // Same as echolux::api::reconstruct(), with identical results.
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
    // Number of plans made.
    std::int64_t plans() const {
        std::int64_t plans = 0;
        checked([&](auto* error) { return echolux_batch_plans(get(), &plans, error); });
        return plans;
    }

    echolux_batch* get() const { return handle_.get(); }

  private:
    detail::Owned<echolux_batch, echolux_batch_free> handle_;
};

// Reconstructs blocks into memory of the caller. Use it from one thread.
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

    // Grid of the structure volumes that it produces.
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
    // Updates the running background from a block that is not reconstructed.
    void prime(const echolux_block& block) {
        checked([&](auto* error) { return echolux_reconstructor_prime(get(), &block, error); });
    }
    void wait(std::uint64_t completion) {
        checked([&](auto* error) { return echolux_reconstructor_wait(get(), completion, error); });
    }
    // Releases completed blocks without blocking.
    void collect() {
        checked([&](auto* error) { return echolux_reconstructor_collect(get(), error); });
    }

    echolux_reconstructor* get() const { return handle_.get(); }

  private:
    detail::Owned<echolux_reconstructor, echolux_reconstructor_free> handle_;
};

}  // namespace echolux::api

#endif
