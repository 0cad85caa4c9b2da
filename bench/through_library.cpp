#include "bench/through_library.h"

#include <algorithm>
#include <deque>
#include <memory>

#include "echolux/echolux.hpp"
#include "engine/scan/scan.h"

namespace echolux {
namespace {

constexpr std::size_t in_flight = 3;  // as many as the reconstructor has streams: each wait is for its own block

// Settings of the spec other than sizes and vectors.
api::Assignments assignments_of(const ReconstructionSpec& spec) {
    Scan scan;
    take_recipe(spec, scan);
    Settings settings;
    bind_recipe(settings, scan);
    api::Assignments all;
    for (const BoundField& field : settings.fields()) {
        if (field.get() != field.default_value) all.push_back(assignment_of(field.key(), field.get()));
    }
    return all;
}

api::Scan described(const BenchSize& size) {
    const ReconstructionSpec spec = chain_spec(size);
    api::Scan scan = api::Scan::create(size.samples, size.a_scans, size.b_scans, "u16", assignments_of(spec));
    scan.set_calibration("k_positions", spec.calibration.k_positions);
    scan.set_calibration("background", spec.calibration.background);
    return scan;
}

}  // namespace

std::vector<double> library_rates(BenchBook& book, const BenchSize& size, const BenchProcessor& processor) {
    BenchSize whole = size;
    whole.block_b_scans = size.b_scans;
    const BenchSpectra spectra(whole, SampleFormat::u16, MemoryKind::device, processor.choice.gpu);
    auto device = api::make<echolux_device>();
    device.kind = ECHOLUX_DEVICE_CUDA;
    device.streams = static_cast<int>(in_flight);
    std::ranges::copy(processor.choice.gpu, device.gpu_id);
    const std::shared_ptr<void> stream = device_stream(processor.choice.gpu);
    api::Reconstructor work(described(size), device);
    const BlockMemory voxels = device_memory(work.grid().bytes, processor.choice.gpu);

    auto block = api::make<echolux_block>();
    block.data = spectra.blocks().front().data;
    block.bytes = spectra.bytes();
    block.memory = ECHOLUX_ON_DEVICE;
    block.b_scans = size.b_scans;
    auto place = api::make<echolux_place>();
    place.data = voxels.data;
    place.bytes = voxels.bytes;
    place.memory = ECHOLUX_ON_DEVICE;
    place.sync = ECHOLUX_SYNC_STREAM;
    place.cuda = stream.get();

    std::deque<std::uint64_t> submitted;
    const auto wait_until = [&](std::size_t left) {
        for (; submitted.size() > left; submitted.pop_front()) work.wait(submitted.front());
    };
    const auto volume = [&] {
        book.poll();
        wait_until(in_flight - 1);
        submitted.push_back(work.submit(block, place));
    };
    return rates_of(static_cast<double>(size.lines()), book.effort(), volume, [&] { wait_until(0); });
}

}  // namespace echolux
