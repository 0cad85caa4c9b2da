// What stands behind a live session of the interface.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/session/tissue_settings.h"
#include "engine/acquire/pushed_source.h"
#include "engine/live/host_volumes.h"
#include "engine/live/session.h"
#include "library/handles.h"
#include "library/kept_volumes.h"
#include "library/volume_queue.h"

// The last members go first: the session writes to the sink, the sink to the queue.
struct echolux_live : echolux::library::Handle<echolux::library::Kind::live> {
    // What volumes were made of. It takes reading files, and is the same for all of a spec.
    struct Description {
        std::shared_ptr<const echolux::ReconstructionSpec> spec;
        std::string backend;
        std::map<std::string, std::string> lines;
    };

    ~echolux_live() { queue.close(); }  // whoever waits for room there gives up

    std::unique_ptr<echolux::Source> source;
    echolux::PushedSource* pushed = nullptr;        // the source, where the caller pushes
    std::mutex changing;                            // of the next three
    echolux::Scan scan;                             // with the settings in use
    echolux::TissueSettings tissue;                 // what is done to volumes
    std::string events;                             // that the caller has not taken
    std::shared_ptr<const echolux::Stages> stages;  // may be null
    echolux::library::VolumeQueue queue;
    echolux::library::KeptVolumes kept;
    echolux_volume_callback finished = nullptr;
    void* user = nullptr;
    std::atomic<std::thread::id> delivers;  // the thread that calls back
    std::atomic<bool> was_started = false;
    std::string recording;  // what was asked for last
    std::mutex describing;  // of the next one
    Description description;
    std::optional<echolux::HostVolumes> sink;
    std::optional<echolux::Session> session;
};

namespace echolux::library {

// New ones of a volume, the caller's; `flow` may be null.
void give_handles(const FinishedVolume& made, echolux_volume** structure, echolux_volume** flow);

}  // namespace echolux::library
