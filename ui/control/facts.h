// Content of responses and notifications: open documents, the state of their sources, and voxels.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "app/viewer/view_source.h"
#include "compute/types.h"
#include "ui/net/connection.h"
#include "ui/workspace/workspace.h"

namespace echolux {

// Returns the open document. Throws Error{bad_setting} if nothing is open.
ViewSource& shown(Workspace& work);

// Describes type, shape and scaling of voxels. Order of axes: B-scans, A-scans, depth, as in the memory layout.
nlohmann::ordered_json grid_object(const VolumeGrid& grid);

// Describes the open document, its source, jobs and troubles. `of` is the client that asks; without one
// (notifications), its rights are omitted.
nlohmann::ordered_json state_object(Workspace& work, const Connection* of);

// Returns the same keys as `echolux live --json`, without those that describe a complete run.
nlohmann::ordered_json statistics_object(Workspace& work);

// JSON, and binary data that follows it.
struct ResponseContent {
    nlohmann::ordered_json json;
    std::shared_ptr<const std::vector<std::byte>> data{};  // nullptr without data
};

// Starts a job that waits for the displayed volume, packs a part of it, and stores the result. Returns false if there
// is no volume yet.
bool begin_reading(Workspace& work, const std::function<ResponseContent(const Volume&)>& part,
                   const std::shared_ptr<ResponseContent>& result);

}  // namespace echolux
