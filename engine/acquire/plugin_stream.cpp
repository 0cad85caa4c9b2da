#include "engine/acquire/plugin_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/error.h"
#include "engine/acquire/block_size.h"

namespace echolux {
namespace {

constexpr std::int64_t max_blocks = 4096;

static_assert(static_cast<int>(SampleFormat::u8) == ECHOLUX_U8 && static_cast<int>(SampleFormat::u16) == ECHOLUX_U16 &&
              static_cast<int>(SampleFormat::u32) == ECHOLUX_U32 &&
              static_cast<int>(SampleFormat::i16) == ECHOLUX_I16 &&
              static_cast<int>(SampleFormat::f32) == ECHOLUX_F32 &&
              static_cast<int>(SampleFormat::packed12) == ECHOLUX_PACKED12);
static_assert(static_cast<int>(ChannelLayout::planar) == ECHOLUX_PLANAR);

class Checks {
  public:
    Checks(const std::string& instrument, const std::string& remedy) : instrument_(instrument), remedy_(remedy) {}

    void range(const char* field, std::int64_t value, std::int64_t low, std::int64_t high) const {
        if (value >= low && value <= high) return;
        throw Error(ErrorCode::device, fmt::format("stream.{} is {}, expected {} to {}", field, value, low, high),
                    instrument_, remedy_);
    }

    // Checks the fields that are keys of scan files, by the same rules.
    void as_scan(const Scan& scan) const {
        try {
            check(scan.format, "stream");
            check(scan.geometry, "stream");
            spectra_layout(scan.file, scan.format, scan.geometry, "stream");
        } catch (const Error& error) {
            throw Error(ErrorCode::device, error.where() + ": " + error.problem(), instrument_, remedy_);
        }
    }

  private:
    const std::string& instrument_;
    const std::string& remedy_;
};

}  // namespace

std::int64_t frame_stride(const Scan& scan) {
    return scan.file.frame_offset_bytes + scan.geometry.lines_per_frame() * line_bytes(scan.format, scan.geometry);
}

echolux_stream wanted_stream(const Scan& scan, const SourceSettings& settings) {
    const RawFormat& format = scan.format;
    const ScanGeometry& geometry = scan.geometry;
    echolux_stream stream{};
    stream.struct_size = sizeof stream;
    stream.sample_format = static_cast<std::int32_t>(format.sample_format);
    stream.big_endian = format.byte_order == ByteOrder::big;
    stream.shift = static_cast<std::int32_t>(format.shift);
    stream.bits = static_cast<std::int32_t>(format.bits);
    stream.channels = static_cast<std::int32_t>(format.channels);
    stream.channel_layout = static_cast<std::int32_t>(format.channel_layout);
    stream.samples = geometry.samples;
    stream.line_bytes = format.line_bytes;
    stream.frame_offset_bytes = scan.file.frame_offset_bytes;
    stream.a_scans = geometry.a_scans;
    stream.b_scans = geometry.b_scans;
    stream.a_repeats = geometry.a_repeats;
    stream.b_repeats = geometry.b_repeats;
    stream.flyback_lines = geometry.flyback_lines;
    stream.flyback_frames = geometry.flyback_frames;
    stream.line_rate_hz = settings.line_rate_hz > 0 ? settings.line_rate_hz : geometry.line_rate_hz;
    stream.exposure_us = settings.exposure_us;
    stream.block_b_scans = block_size(settings, scan, stream.line_rate_hz);
    stream.blocks = std::min(pool_size(settings, scan, stream.block_b_scans), max_blocks);
    return stream;
}

// Enumerations and sizes are checked before conversion, the resulting scan by the rules of scan files.
void accept_stream(const echolux_stream& stream, Scan& scan, const std::string& instrument, const std::string& remedy) {
    const Checks checks(instrument, remedy);
    checks.range("sample_format", stream.sample_format, ECHOLUX_U8, ECHOLUX_PACKED12);
    checks.range("channel_layout", stream.channel_layout, ECHOLUX_INTERLEAVED, ECHOLUX_PLANAR);
    checks.range("buffers", stream.buffers, ECHOLUX_POSTED, ECHOLUX_RING);
    checks.range("memory", stream.memory, ECHOLUX_HOST, ECHOLUX_DEVICE);
    checks.range("samples", stream.samples, 1, std::int64_t{1} << 20);
    checks.range("frame_offset_bytes", stream.frame_offset_bytes, 0, std::int64_t{1} << 32);
    checks.range("blocks", stream.blocks, 1, max_blocks);
    if (!std::isfinite(stream.line_rate_hz)) checks.range("line_rate_hz", -1, 0, 1'000'000'000);

    RawFormat& format = scan.format;
    format.sample_format = static_cast<SampleFormat>(stream.sample_format);
    format.byte_order = stream.big_endian != 0 ? ByteOrder::big : ByteOrder::little;
    format.shift = stream.shift;
    format.bits = stream.bits;
    format.channels = stream.channels;
    format.channel_layout = static_cast<ChannelLayout>(stream.channel_layout);
    format.line_bytes = stream.line_bytes;
    scan.file = {};
    scan.file.frame_offset_bytes = stream.frame_offset_bytes;
    ScanGeometry& geometry = scan.geometry;
    geometry.samples = stream.samples;
    geometry.a_scans = stream.a_scans;
    geometry.b_scans = stream.b_scans;
    geometry.a_repeats = stream.a_repeats;
    geometry.b_repeats = stream.b_repeats;
    geometry.flyback_lines = stream.flyback_lines;
    geometry.flyback_frames = stream.flyback_frames;
    geometry.line_rate_hz = stream.line_rate_hz;
    checks.as_scan(scan);
    checks.range("block_b_scans", stream.block_b_scans, 1, std::max<std::int64_t>(geometry.b_scans, 1));
}

}  // namespace echolux
