// The scene of a picture: a volume, possibly only partially filled with the previous one behind it, and the flow of the
// same time point.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "render/scan_planes.h"
#include "render/slots/paged_volume.h"
#include "render/slots/volume_texture.h"

namespace echolux {

// A channel shown together with the volume.
struct SceneChannel {
    const VolumeTexture* texture;
    std::size_t place;  // index in View::channels
};

// References textures, which must outlive it.
struct Scene {
    const VolumeTexture& volume;
    std::int64_t filled_to;  // slices from the first one; all of them: complete
    const VolumeTexture* previous = nullptr;
    const VolumeTexture* flow = nullptr;
    const VolumeTexture* previous_flow = nullptr;  // only with flow and a previous volume
    std::array<std::uint64_t, 3> serials{};        // distinguish the successive contents of volume and previous
    const gpu::DeviceImage* heights = nullptr;     // only if top or bottom of the view is a map
    const ScanField* field = nullptr;              // only if the B-scans are separate planes
    const PagedVolume* pages = nullptr;            // only if `volume` is a pool of pages
    std::vector<SceneChannel> channels{};

    explicit Scene(const VolumeTexture& whole) : volume(whole), filled_to(whole.grid().b_scans) {}
    explicit Scene(const PagedVolume& whole) : Scene(whole.texture()) { pages = &whole; }
    Scene(const VolumeTexture& newest, std::int64_t filled, const VolumeTexture* before)
        : volume(newest), filled_to(filled), previous(before) {}

    // Size and spacing of the volume or the field.
    const VolumeGrid& grid() const { return field != nullptr ? field->grid : volume.grid(); }

    bool is_partial() const { return filled_to < volume.grid().b_scans; }
};

}  // namespace echolux
