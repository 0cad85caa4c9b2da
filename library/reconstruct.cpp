// Whole volumes of a scan's file, like `echolux reconstruct`: single, or one after another with a plan that is reused.
#include "engine/offline/reconstruction.h"
#include "library/call.h"
#include "library/convert.h"

using namespace echolux;
using namespace echolux::library;

struct echolux_batch : Handle<Kind::batch> {
    BackendChoice choice;
    std::optional<Reconstruction> work;
    std::int64_t earlier_plans = 0;  // plans made before `work` was created
};

namespace {

// The time is that of the volume's first line, computed from the line rate.
std::unique_ptr<echolux_volume> held(Volume volume, const Reconstruction& made_by, std::int64_t number) {
    auto one = std::make_unique<echolux_volume>(std::make_shared<const Volume>(std::move(volume)));
    const ScanGeometry& geometry = made_by.scan().geometry;
    one->number = number;
    one->geometry = geometry;
    one->warnings = made_by.warnings();
    const std::int64_t lines = geometry.lines_per_frame() * (geometry.frames_per_volume() + geometry.flyback_frames);
    if (geometry.line_rate_hz > 0) one->time_s = static_cast<double>(number * lines) / geometry.line_rate_hz;
    return one;
}

const echolux_scan& scan_with_file(const echolux_scan* scan) {
    const echolux_scan& from = live_handle(scan, "scan");
    if (from.has_spectra()) return from;
    throw BadArgument("has no file of spectra", "scan", "submit its blocks to a reconstructor");
}

// `work` reconstructs the scan `from`.
void give_volumes(Reconstruction& work, const echolux_scan& from, const echolux_part* part, echolux_volume** structure,
                  echolux_volume** flow) {
    const echolux_part wanted = taken_or_default(part, "part");
    CallerProgress progress(wanted.progress, wanted.user);
    const ScanPart of_scan{wanted.volume, wanted.b_scan_begin, wanted.b_scan_end};
    FlowedVolume made;
    if (flow != nullptr)
        made = work.run_with_flow(of_scan, progress);
    else
        // Without a place for it, flow is not computed.
        made.structure = work.run(of_scan, progress);
    if (from.stages) made.structure.provenance["stages"] = names_of(*from.stages);
    if (from.stages && made.flow) made.flow->provenance["stages"] = names_of(*from.stages);
    std::unique_ptr<echolux_volume> flowed;
    if (made.flow) flowed = held(std::move(*made.flow), work, wanted.volume);
    // Set the results last, so that an exception leaves none behind.
    *structure = held(std::move(made.structure), work, wanted.volume).release();
    if (flow != nullptr) *flow = flowed.release();
}

// Stages are part of the backend, so changed stages need a new Reconstruction.
void take(echolux_batch& batch, const echolux_scan& from) {
    if (batch.work && batch.choice.stages == from.stages) return batch.work->take(from.scan);
    if (batch.work) batch.earlier_plans += batch.work->stats().plans;
    batch.work.reset();
    batch.choice.stages = from.stages;
    batch.work.emplace(from.scan, batch.choice);
}

}  // namespace

echolux_status echolux_reconstruct(const echolux_scan* scan, const echolux_device* device, const echolux_part* part,
                                   echolux_volume** structure, echolux_volume** flow, echolux_error* error) {
    return guarded(error, [&] {
        required(structure, "structure") = nullptr;
        if (flow != nullptr) *flow = nullptr;
        const echolux_scan& from = scan_with_file(scan);
        BackendChoice choice = backend_of(device);
        choice.stages = from.stages;
        Reconstruction work(from.scan, choice);
        give_volumes(work, from, part, structure, flow);
    });
}

echolux_status echolux_batch_create(const echolux_device* device, echolux_batch** batch, echolux_error* error) {
    return guarded(error, [&] {
        required(batch, "batch") = nullptr;
        auto one = std::make_unique<echolux_batch>();
        one->choice = backend_of(device);
        require_backend(one->choice);
        *batch = one.release();
    });
}

echolux_status echolux_batch_free(echolux_batch* batch) {
    return free_handle(batch);
}

echolux_status echolux_batch_reconstruct(echolux_batch* batch, const echolux_scan* scan, const echolux_part* part,
                                         echolux_volume** structure, echolux_volume** flow, echolux_error* error) {
    return guarded(error, [&] {
        required(structure, "structure") = nullptr;
        if (flow != nullptr) *flow = nullptr;
        echolux_batch& one = live_handle(batch, "batch");
        const echolux_scan& from = scan_with_file(scan);
        take(one, from);
        give_volumes(*one.work, from, part, structure, flow);
    });
}

echolux_status echolux_batch_plans(const echolux_batch* batch, int64_t* plans, echolux_error* error) {
    return guarded(error, [&] {
        const echolux_batch& one = live_handle(batch, "batch");
        required(plans, "plans") = one.earlier_plans + (one.work ? one.work->stats().plans : 0);
    });
}
