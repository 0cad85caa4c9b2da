// What is looked at: a volume, or the part of one that is filled already with the one before it behind, and the flow of
// the same moment.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "render/scan_planes.h"
#include "render/slots/paged_volume.h"
#include "render/slots/volume_texture.h"

namespace echolux {

// A volume that is seen together with the one that is looked at.
struct SceneChannel {
    const VolumeTexture* texture;
    std::size_t place;  // in View::channels
};

struct Scene {
    const VolumeTexture& volume;
    std::int64_t filled_to;  // slices from the first; all of them: the volume alone is shown
    const VolumeTexture* previous = nullptr;
    const VolumeTexture* flow = nullptr;
    const VolumeTexture* previous_flow = nullptr;  // where there is flow and a previous volume
    std::array<std::uint64_t, 3> serials{};        // tell apart what volume and previous hold one after the other
    const gpu::DeviceImage* heights = nullptr;     // where the view's top or bottom is a map
    const ScanField* field = nullptr;              // where the B-scans are planes in it, and no volume
    const PagedVolume* pages = nullptr;            // where `volume` is a pool of pages
    std::vector<SceneChannel> channels{};

    explicit Scene(const VolumeTexture& whole) : volume(whole), filled_to(whole.grid().b_scans) {}
    explicit Scene(const PagedVolume& whole) : Scene(whole.texture()) { pages = &whole; }
    Scene(const VolumeTexture& newest, std::int64_t filled, const VolumeTexture* before)
        : volume(newest), filled_to(filled), previous(before) {}

    // Of what is looked at: size and spacing of the volume, or of the field.
    const VolumeGrid& grid() const { return field != nullptr ? field->grid : volume.grid(); }

    bool is_partial() const { return filled_to < volume.grid().b_scans; }
};

}  // namespace echolux
