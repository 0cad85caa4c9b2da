// Passes an opened volume to a renderer, with the poses, heights and flow required by the view.
#pragma once

#include <optional>

#include "app/open/open_volume.h"
#include "engine/progress.h"
#include "render/renderer.h"

namespace echolux {

// `flow` replaces that of a scan. Flattening changes the volume, and warnings are added to it. Throws what the renderer
// throws, and Error{bad_file} for heights.
void show_opened(Renderer& renderer, OpenedVolume& opened, const std::optional<Volume>& flow, const View& view,
                 Progress& progress);

}  // namespace echolux
