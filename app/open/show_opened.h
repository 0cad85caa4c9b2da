// Prepares an opened volume for a view and passes it to a renderer: reference heights, poses of B-scans, files of
// channels, flow.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/open/open_volume.h"
#include "compute/plan/params.h"
#include "engine/io/png_file.h"
#include "engine/io/volume_file.h"
#include "engine/progress.h"
#include "render/renderer.h"
#include "render/scan_geometry.h"
#include "render/view/view.h"

namespace echolux {

// ---- Reference heights of a view for one volume: maps from files, or the tissue's surface.

// Flattens `volume` in place if the view requests it. The maps refer to the flattened volume. Throws Error{bad_file,
// bad_setting}.
HeightMaps prepared_heights(const Cut& cut, Volume& volume);

// ---- Poses: positions of B-scans in space

// Returns poses for a scan of a few planes (cross, four slices) whose volume has `slices` of them. Empty for a volume.
std::vector<BScanPose> poses_of(const ScanGeometry& geometry, std::int64_t slices);

// ---- Channels of a view: the files that they name (volumes, transfer functions, labels).

// Reads the files named by the view's channels. Volumes already read for this view or `before` are reused. Throws
// Error{bad_file, bad_setting, out_of_memory}.
void load_channels(View& view, const View* before = nullptr);

// Adds another file, optionally with a curve after a colon ("octa.nrrd:angiogram"), to the first free channel of the
// view. Throws Error{bad_setting} if there is none.
void add_channel(Channels& channels, const std::string& text);

// Returns the same as settings: "view.channel_2_file=octa.nrrd".
std::vector<std::string> channel_assignments(const std::vector<std::string>& texts);

// Throws Error{bad_setting} if volumes shown together cannot be flattened or do not fit `grid` of `name`.
void check_channels_of(const View& view, const VolumeGrid& grid, const std::string& name);

// ---- Showing

// `flow` replaces that of a scan. Flattening changes the volume, and warnings are added to it. Throws what the renderer
// throws, and Error{bad_file} for heights.
void show_opened(Renderer& renderer, OpenedVolume& opened, const std::optional<Volume>& flow, const View& view,
                 Progress& progress);

// Converts the renderer's image to a picture for writing.
inline Picture picture_of(Image image) {
    return {image.width, image.height, 4, std::move(image.pixels), {}};
}

}  // namespace echolux
