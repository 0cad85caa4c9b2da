#include "engine/acquire/genicam/genicam_setup.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/acquire/block_size.h"

namespace echolux {
namespace {

// The camera determines the pixel format. It also determines the samples per line, unless the scan specifies them.
void agree_on_lines(GenicamCamera& camera, Scan& scan) {
    camera.pixel_format().describe_to(scan.format);
    scan.file = {};
    if (scan.geometry.samples > 0) camera.set_width(scan.geometry.samples * scan.format.channels);
    const std::int64_t width = camera.width();
    const std::int64_t bits = width * camera.pixel_format().sent_bits;
    if (width % scan.format.channels != 0 || bits % 8 != 0) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("a line of {} pixels {} does not divide into whole {}", width,
                                camera.pixel_format().name, bits % 8 != 0 ? "bytes" : "samples for each channel"),
                    camera.name() + ", scan.samples", "choose another number of samples");
    }
    scan.geometry.samples = width / scan.format.channels;
}

// Returns the line rate from the settings or the scan. 0: the camera's own rate, which may depend on the image height.
double wanted_line_rate_hz(const SourceSettings& settings, const ScanGeometry& geometry) {
    return settings.line_rate_hz > 0 ? settings.line_rate_hz : geometry.line_rate_hz;
}

// Sets exposure and line rate, and records the line rate that the camera actually uses.
void agree_on_speed(GenicamCamera& camera, const SourceSettings& settings, ScanGeometry& geometry,
                    std::int64_t image_lines) {
    const auto refuse = [&](const char* what, const char* key) {
        throw Error(ErrorCode::bad_setting, fmt::format("the {} of this camera cannot be set", what),
                    camera.name() + ", source." + key, "leave it out, or set it in the camera");
    };
    if (settings.exposure_us > 0) {
        if (!camera.sets_exposure()) refuse("exposure", "exposure_us");
        camera.set_exposure(settings.exposure_us);
    }
    if (settings.line_rate_hz > 0 && !camera.sets_line_rate()) refuse("line rate", "line_rate_hz");
    if (!camera.sets_line_rate()) return;
    const double wanted = wanted_line_rate_hz(settings, geometry);
    if (wanted > 0) camera.set_line_rate(wanted, image_lines);
    geometry.line_rate_hz = camera.line_rate(image_lines);
}

// Returns the bytes per image. A smaller payload than the pixels need indicates compression.
std::int64_t payload_of(const GenicamCamera& camera, std::int64_t pixels) {
    const std::int64_t needed = pixels * camera.pixel_format().sent_bits / 8;
    const std::int64_t sent = camera.payload_bytes();
    if (sent >= needed) return sent;
    throw Error(ErrorCode::device, fmt::format("sends {} per image, expected {}", counted(sent, "bytes"), needed),
                camera.name() + ", PayloadSize", "is a compressing or a region mode switched on?");
}

}  // namespace

bool GenicamSetup::sends_the_same(const GenicamSetup& other) const {
    return format == other.format && image_pixels == other.image_pixels && plan.lines == other.plan.lines &&
           plan.block_b_scans == other.plan.block_b_scans && payload_bytes == other.payload_bytes;
}

// The order matters: the pixel format determines the block size, which determines the image height, which may limit the
// line rate.
GenicamSetup set_up(GenicamCamera& camera, const SourceWanted& wanted) {
    GenicamSetup setup;
    setup.scan = describe_scan(wanted.scan, wanted.assignments, [&](Scan& scan) { agree_on_lines(camera, scan); });
    setup.format = &camera.pixel_format();
    ScanGeometry& geometry = setup.scan.geometry;
    const double line_rate_hz = wanted_line_rate_hz(wanted.settings, geometry);
    const std::int64_t b_scans = block_size(wanted.settings, setup.scan, line_rate_hz);
    setup.plan = plan_images(geometry, b_scans, camera.heights(), camera.name());
    setup.pool_blocks = pool_size(wanted.settings, setup.scan, setup.plan.block_b_scans);
    camera.set_height(setup.plan.lines);
    agree_on_speed(camera, wanted.settings, geometry, setup.plan.lines);
    setup.capabilities.sets_line_rate = camera.sets_line_rate();
    setup.capabilities.sets_exposure = camera.sets_exposure();
    setup.capabilities.sets_samples = camera.sets_width();
    setup.image_pixels = camera.width() * setup.plan.lines;
    setup.payload_bytes = payload_of(camera, setup.image_pixels);
    const std::int64_t frame_bytes = geometry.lines_per_frame() * line_bytes(setup.scan.format, geometry);
    setup.block_bytes = setup.plan.block_b_scans * geometry.b_repeats * frame_bytes;
    if (geometry.flyback_lines > 0) setup.frames.stride_bytes = frame_bytes;
    return setup;
}

}  // namespace echolux
