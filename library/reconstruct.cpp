// A whole volume of a scan's file, as `echolux reconstruct` makes it.
#include "engine/offline/reconstruction.h"
#include "library/call.h"
#include "library/convert.h"

using namespace echolux;
using namespace echolux::library;

namespace {

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

}  // namespace

echolux_status echolux_reconstruct(const echolux_scan* scan, const echolux_device* device, const echolux_part* part,
                                   echolux_volume** structure, echolux_volume** flow, echolux_error* error) {
    return guarded(error, [&] {
        required(structure, "structure") = nullptr;
        if (flow != nullptr) *flow = nullptr;
        const echolux_scan& from = live_handle(scan, "scan");
        if (!from.has_spectra()) {
            throw BadArgument("has no file of spectra", "scan", "submit its blocks to a reconstructor");
        }
        const echolux_part wanted = taken_or_default(part, "part");
        CallerProgress progress(wanted.progress, wanted.user);
        BackendChoice choice = backend_of(device);
        choice.stages = from.stages;
        Reconstruction work(from.scan, choice);
        const ScanPart of_scan{wanted.volume, wanted.b_scan_begin, wanted.b_scan_end};
        FlowedVolume made;
        if (flow != nullptr)
            made = work.run_with_flow(of_scan, progress);
        else
            made.structure = work.run(of_scan, progress);
        if (from.stages) made.structure.provenance["stages"] = names_of(*from.stages);
        if (from.stages && made.flow) made.flow->provenance["stages"] = names_of(*from.stages);
        std::unique_ptr<echolux_volume> flowed;
        if (made.flow) flowed = held(std::move(*made.flow), work, wanted.volume);
        *structure = held(std::move(made.structure), work, wanted.volume).release();
        if (flow != nullptr) *flow = flowed.release();
    });
}
