// Feeding through the processing stage, for volumes that are processed before they are shown.
#include <utility>

#include "app/live/volume_feeder.h"
#include "compute/error.h"

namespace echolux {

// Returns true if the volume goes to the stage or is skipped there. If the stage has no memory, volumes are shown
// unprocessed.
bool VolumeFeeder::begin_staged(const Block& block) {
    if (stage_.settings().does_nothing()) return false;
    std::optional<DeviceId> gpu;
    if (reconstructor_->processor() == Backend::cuda)
        gpu = pairing_.shares ? live_.renderer.device_id() : recovery_.backend().gpu;
    if (std::exchange(staged_volume_, block.volume) == block.volume) stage_.cancel();  // again, with other settings
    try {
        staged_ = stage_.begin(stamp_, live_.grid, live_.flow_grid, gpu);
        return true;
    } catch (const Error& error) {
        if (error.code() != ErrorCode::out_of_memory) throw;
        TissueDone none{.volume = block.volume,
                        .was_to_be_stabilised = stage_.settings().stabilises,
                        .was_to_be_filtered = stage_.settings().filters,
                        .rows = {},
                        .unsteady = error.line(),
                        .unsmooth = error.line(),
                        .provenance = {}};
        stage_.log().note(none, 0);
        return false;
    }
}

// Runs on the stage's thread while nothing else writes to the ring.
void VolumeFeeder::show(const VolumeStamp& stamp, const TissueOnGpu::Write& write) {
    std::optional<WriteTicket> ticket = live_.ring->acquire_write(stamp);
    if (!ticket) return;  // counted as dropped
    SlotWriter& writer = *live_.slots->writer;
    try {
        writer.begin(ticket->slot, ticket->wait);
        write(writer.places(ticket->slot));
        writer.publish(ticket->slot, ticket->signal, 0, live_.grid.b_scans);
    } catch (...) {
        live_.ring->abandon(*ticket);
        throw;
    }
    live_.ring->hand_over(*ticket, live_.grid.b_scans);
}

void VolumeFeeder::set_tissue(const LiveTissue& tissue) {
    check_tissue(tissue);
    const std::scoped_lock lock(wanting_);
    wanted_tissue_ = tissue;
}

bool VolumeFeeder::take_tissue() {
    const std::scoped_lock lock(wanting_);
    if (!wanted_tissue_) return false;
    stage_.set(*std::exchange(wanted_tissue_, std::nullopt));
    return true;
}

}  // namespace echolux
