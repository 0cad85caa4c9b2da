// Annotations of a picture.
#include "render/annotations/annotations.h"
#include "render/frame/parts.h"

namespace echolux {

Sheet sheet_of(const Shot& shot) {
    const VolumeTexture& volume = shot.scene.volume;
    const TransferFunction function = transfer_function(shot.view, shot.scene.grid(), volume.range(shot.view.range));
    return annotations_of(shot.view, shot.scene.grid(), function, flow_scale(shot), channel_legends(shot));
}

}  // namespace echolux
