// Results of the renderer: pictures in memory, or on the device and possibly unfinished; values under a pixel; and
// statistics.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compute/plan/describe.h"
#include "compute/types.h"
#include "render/view/view.h"

namespace echolux {

namespace gpu {
class DeviceImage;
}

// Max number of pictures in flight. A live ring has two more slots: one being written, and the newest.
inline constexpr std::size_t pictures_in_flight = 2;

// Completeness of a picture of a paged volume: pages with visible values, and those of them shown from the coarse
// level.
struct PageCoverage {
    std::int64_t needed = 0;
    std::int64_t coarse = 0;
};

struct Image {
    std::int64_t width = 0;
    std::int64_t height = 0;
    std::vector<std::uint8_t> pixels;  // RGBA, straight alpha, row by row from the top
    PageCoverage pages = {};           // for paged volumes
};

enum class PictureBits { eight = 8, sixteen = 16 };  // per channel

// Whole rows of a picture that is delivered in pieces, from the top: RGBA with straight alpha, native byte order.
struct PictureRows {
    std::int64_t count = 0;
    std::span<const std::byte> pixels;  // valid during the callback only
    std::int64_t worth = count;         // progress since the last call, in rows; adds up to the number of rows
};

// A picture on the device, submitted and possibly unfinished.
struct Drawing {
    const gpu::DeviceImage* image = nullptr;
    // Queue value of its completion.
    std::uint64_t value = 0;
};

// A picture in a window, with its quality.
struct PanePicture {
    Drawing drawing;
    double pitch = 0;         // in pixels, between rays
    std::int64_t passes = 0;  // rays per pixel
    bool is_final = false;    // no more work until something changes
};

// ---- A rectangle of a picture, in pixels from its top left corner.

struct Region {
    std::int64_t left = 0, top = 0, width = 0, height = 0;
};

// ---- Statistics and timings of rendering.

// Histogram of a volume's values.
struct Histogram {
    double low = 0;   // start of the first bin
    double high = 0;  // end of the last bin
    std::vector<std::uint32_t> counts;
    std::uint64_t serial = 0;  // changes with each new count
};

// Histogram of a volume over both axes of a transfer function. Values outside are counted in the outermost bins.
struct PlaneHistogram {
    ValueRange values, seconds;         // ranges of the axes, with the same number of bins
    std::vector<std::uint32_t> counts;  // [second][value]
    std::uint64_t serial = 0;           // changes with each new count
};

// Device time of ray casting.
struct CastStats {
    std::int64_t timed = 0;  // number of casts; a pass may take several
    double seconds = 0;      // their total, including bricks of new volumes
};

// ---- Values under a pixel: the measurement of a ray by the shader, and the description of the voxel that it hit.

// Statistics of the light paths through a pixel, as means over its paths.
struct PathCounts {
    float above_majorant = 0;  // lookups above the brick's majorant: each is an error
    float scatterings = 0;
    float looks = 0;     // volume lookups
    float given_up = 0;  // abandoned paths
};

// Exact result of a pixel's ray. The shader writes it in this order.
struct RayMeasure {
    float value;          // mip: max value; isosurface: isovalue if hit
    float transmittance;  // composite: fraction of the background light; 0: opaque
    // Length along the ray to the hit (composite: to where a quarter of the light is blocked); negative: none.
    float distance;
    float path;                     // length inside the unclipped volume
    float voxel_value;              // of the voxel at the hit
    float samples;                  // number of volume samples
    std::array<float, 3> gradient;  // at the hit, along depth, A-scans, B-scans: texture values per smallest voxel edge
    std::array<float, 3> voxel;
    float velocity;       // of the flow at the hit, in the unit of its colours
    float is_flow_known;  // 0: no flow, or noise there
    std::array<float, 2> unused;
};

// The first visible voxel under a pixel. Triples are along depth, A-scans, B-scans.
struct Probe {
    double value = 0;  // stored value of the voxel
    std::string unit;
    std::array<std::int64_t, 3> voxel{};  // zero-based
    std::array<double, 3> index{};        // hit position in voxels from the centre of the first voxel
    std::array<double, 3> place_um{};     // the same in um, or in voxels without a spacing
    bool has_spacing = false;
    std::array<double, 3> normal{};  // unit vector towards lower values; 0 if the gradient is zero
    double distance_um = 0;          // from the eye along the ray, or in voxels
    std::optional<double> velocity;  // of the flow shown there; std::nullopt: none
    std::string velocity_unit;       // such as "mm/s"
};

// Returns the view for a probe's ray: the finest steps, deterministic.
View view_for_probe(View view);

// Throws Error{bad_setting} for a pixel outside of the picture.
void check_pixel(const View& view, std::int64_t x, std::int64_t y);

// Returns the probe of a pixel. Empty if its ray hit nothing.
std::optional<Probe> probe_of(const RayMeasure& measure, const View& view, const VolumeGrid& grid, std::int64_t x,
                              std::int64_t y);

}  // namespace echolux
