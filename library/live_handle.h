// The struct behind a live session of the C interface.
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

// Members are destroyed in reverse order: the session, which writes to the sink, then the sink, which writes to the
// queue.
struct echolux_live : echolux::library::Handle<echolux::library::Kind::live> {
    // Cached provenance. Computing it reads files, and it is the same for all volumes of a spec.
    struct Description {
        std::shared_ptr<const echolux::ReconstructionSpec> spec;
        std::string backend;
        std::map<std::string, std::string> lines;
    };

    ~echolux_live() { queue.close(); }  // ends a wait for room in the queue

    std::unique_ptr<echolux::Source> source;
    echolux::PushedSource* pushed = nullptr;        // the same source, if the caller pushes blocks
    std::mutex changing;                            // guards scan, tissue and events
    echolux::Scan scan;                             // with the current settings
    echolux::TissueSettings tissue;                 // settings of filter and registration
    std::string events;                             // not yet taken by the caller
    std::shared_ptr<const echolux::Stages> stages;  // may be null
    echolux::library::VolumeQueue queue;
    echolux::library::KeptVolumes kept;
    echolux_volume_callback finished = nullptr;
    void* user = nullptr;
    std::atomic<std::thread::id> delivers;  // the thread that runs the callback
    std::atomic<bool> was_started = false;
    std::string recording;  // latest requested recording
    std::mutex describing;  // guards `description`
    Description description;
    std::optional<echolux::HostVolumes> sink;
    std::optional<echolux::Session> session;
};

namespace echolux::library {

// Creates new handles that the caller owns. `flow` may be null.
void give_handles(const FinishedVolume& made, echolux_volume** structure, echolux_volume** flow);

}  // namespace echolux::library
