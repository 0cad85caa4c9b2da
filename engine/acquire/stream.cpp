#include "engine/acquire/stream.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "compute/error.h"
#include "compute/plural.h"
#include "engine/memory.h"

namespace echolux {

namespace {

constexpr double max_bytes = 16 << 20;
constexpr double max_s = 1.0 / 60;
constexpr std::int64_t few_blocks = 4;     // minimum, however little memory is free
constexpr std::int64_t usual_blocks = 16;  // minimum if there is enough memory, for small volumes

// As double, since sizes are unchecked. Returns 1 or more.
double position_lines(const ScanGeometry& geometry) {
    return std::max(static_cast<double>(geometry.lines_per_frame()) * static_cast<double>(geometry.b_repeats), 1.0);
}

// Returns the bytes of a B-scan position, including frame headers.
double position_bytes(const Scan& scan) {
    const double headers =
        static_cast<double>(scan.file.frame_offset_bytes) * static_cast<double>(scan.geometry.b_repeats);
    return position_lines(scan.geometry) * std::max<double>(line_bytes(scan.format, scan.geometry), 1) + headers;
}

}  // namespace

std::int64_t block_size(const SourceSettings& settings, const Scan& scan, double line_rate_hz) {
    const double max = static_cast<double>(std::max<std::int64_t>(scan.geometry.b_scans, 1));
    double b_scans = static_cast<double>(settings.block_b_scans);
    if (settings.block_b_scans == 0) {
        b_scans = max_bytes / position_bytes(scan);
        if (line_rate_hz > 0) b_scans = std::min(b_scans, max_s * line_rate_hz / position_lines(scan.geometry));
    }
    return static_cast<std::int64_t>(std::clamp(b_scans, 1.0, max));
}

std::int64_t pool_size(const SourceSettings& settings, const Scan& scan, std::int64_t block_b_scans) {
    if (settings.pool_blocks > 0) return settings.pool_blocks;
    const std::int64_t blocks_a_volume = (scan.geometry.b_scans + block_b_scans - 1) / block_b_scans;
    const std::int64_t wanted = std::max(volumes_in_use * (blocks_a_volume + 1), usual_blocks);
    const double affordable =
        static_cast<double>(available_memory_bytes() / 2) / (position_bytes(scan) * static_cast<double>(block_b_scans));
    if (affordable >= static_cast<double>(wanted)) return wanted;
    return std::max(static_cast<std::int64_t>(affordable), few_blocks);
}

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

echolux_push_stream parsed_greeting(std::span<const std::byte, sizeof(PushGreeting)> bytes, const std::string& where) {
    PushGreeting greeting;
    std::memcpy(&greeting, bytes.data(), sizeof greeting);
    if (std::memcmp(greeting.magic, "ECHOPUSH", 8) != 0)
        throw Error(ErrorCode::device, "received data other than spectra", where, "see docs/push.md");
    if (greeting.version != ECHOLUX_PUSH_VERSION || greeting.stream_bytes != sizeof greeting.stream) {
        throw Error(ErrorCode::device,
                    fmt::format("received version {} with {}, this program reads version {} with {}", greeting.version,
                                plural(greeting.stream_bytes, "bytes"), ECHOLUX_PUSH_VERSION, sizeof greeting.stream),
                    where, "see docs/push.md");
    }
    return greeting.stream;
}

ParsedHead parsed_head(std::span<const std::byte, sizeof(PushHead)> bytes, const std::string& where) {
    PushHead head;
    std::memcpy(&head, bytes.data(), sizeof head);
    const bool is_end = std::memcmp(head.magic, "ENDS", 4) == 0;
    if (!is_end && (std::memcmp(head.magic, "BLCK", 4) != 0 || head.bytes != sizeof head.block)) {
        throw Error(ErrorCode::device, "out of sync: no block header where one was expected", where,
                    "check how many bytes the acquisition program sends, see docs/push.md");
    }
    return {is_end, head.block};
}

constexpr const char* remedy = "correct the header that the acquisition program sends, see docs/push.md";
constexpr std::int64_t max_slots = 4096;

// Enumerations have the same values in all three interfaces.
static_assert(ECHOLUX_PUSH_U8 == static_cast<int>(ECHOLUX_U8) && ECHOLUX_PUSH_U16 == static_cast<int>(ECHOLUX_U16) &&
              ECHOLUX_PUSH_U32 == static_cast<int>(ECHOLUX_U32) && ECHOLUX_PUSH_I16 == static_cast<int>(ECHOLUX_I16) &&
              ECHOLUX_PUSH_F32 == static_cast<int>(ECHOLUX_F32) &&
              ECHOLUX_PUSH_PACKED12 == static_cast<int>(ECHOLUX_PACKED12) &&
              ECHOLUX_PUSH_PLANAR == static_cast<int>(ECHOLUX_PLANAR));

static echolux_stream as_plugin_stream(const echolux_push_stream& pushed, const Scan& scan,
                                       const SourceSettings& settings) {
    echolux_stream stream{};
    stream.struct_size = sizeof stream;
    stream.sample_format = pushed.sample_format;
    stream.big_endian = pushed.big_endian;
    stream.shift = pushed.shift;
    stream.bits = pushed.bits;
    stream.channels = pushed.channels;
    stream.channel_layout = pushed.channel_layout;
    stream.samples = pushed.samples;
    stream.line_bytes = pushed.line_bytes;
    stream.frame_offset_bytes = pushed.frame_offset_bytes;
    stream.a_scans = pushed.a_scans;
    stream.b_scans = pushed.b_scans;
    stream.a_repeats = pushed.a_repeats;
    stream.b_repeats = pushed.b_repeats;
    stream.flyback_lines = pushed.flyback_lines;
    stream.flyback_frames = pushed.flyback_frames;
    stream.line_rate_hz = pushed.line_rate_hz;
    if (stream.line_rate_hz == 0)
        stream.line_rate_hz = settings.line_rate_hz > 0 ? settings.line_rate_hz : scan.geometry.line_rate_hz;
    stream.block_b_scans = pushed.block_b_scans;
    stream.blocks = std::clamp<std::int64_t>(pushed.slots, 1, max_slots);
    stream.buffers = ECHOLUX_POSTED;
    return stream;
}

static Scan scan_of(const SourceRequest& wanted, const echolux_push_stream& stream, const std::string& where) {
    return describe_scan(wanted.scan, wanted.assignments, [&](Scan& scan) {
        accept_stream(as_plugin_stream(stream, scan, wanted.settings), scan, where, remedy);
    });
}

static std::int64_t checked_position_bytes(const Scan& scan, const echolux_push_stream& stream,
                                           const std::string& where) {
    const std::int64_t bytes = frame_stride(scan) * scan.geometry.b_repeats;
    require_memory(bytes * stream.block_b_scans, "a block of " + where,
                   "configure the acquisition program to send smaller blocks");
    return bytes;
}

bool is_alike(const echolux_push_stream& one, const echolux_push_stream& other) {
    const auto plain = [](echolux_push_stream stream) {
        stream.slots = 0;
        std::memset(stream.name, 0, sizeof stream.name);
        return stream;
    };
    const echolux_push_stream a = plain(one), b = plain(other);
    return std::memcmp(&a, &b, sizeof a) == 0;
}

std::string name_of(const echolux_push_stream& stream) {
    std::string name(stream.name, strnlen(stream.name, sizeof stream.name));
    std::ranges::replace_if(
        name, [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; }, ' ');
    return name;
}

PushedStream::PushedStream(const SourceRequest& wanted, const echolux_push_stream& stream, std::string where)
    : where_(std::move(where)), stream_(stream), scan_(scan_of(wanted, stream, where_)),
      position_bytes_(checked_position_bytes(scan_, stream, where_)),
      pool_blocks_(pool_size(wanted.settings, scan_, stream.block_b_scans)), pool_(block_bytes(), wanted.memory) {}

void PushedStream::require_alike(const echolux_push_stream& other) const {
    if (is_alike(stream_, other)) return;
    throw Error(
        ErrorCode::device,
        fmt::format("the layout of the stream changed: {} of {} x {} A-scans now, {} of {} x {} before, or another "
                    "format, number of repeats or line rate",
                    plural(other.samples, "samples"), other.a_scans, other.b_scans, plural(stream_.samples, "samples"),
                    stream_.a_scans, stream_.b_scans),
        where_, "open the source again");
}

void PushedStream::refuse(const echolux_push_block& sent, const std::string& problem) const {
    throw Error(ErrorCode::device, fmt::format("block {}: {}", sent.sequence, problem), where_, remedy);
}

// Rejects sizes and positions outside of the scan, and numbers that run backwards.
void PushedStream::check(const echolux_push_block& sent) const {
    constexpr std::int64_t max_volume = std::int64_t{1} << 40;  // far beyond any session, far from overflow
    constexpr std::uint64_t most_lost = std::uint64_t{1} << 40;
    const std::int64_t b_scans = scan_.geometry.b_scans;
    if (sent.b_scans < 1 || sent.b_scans > stream_.block_b_scans)
        refuse(sent, fmt::format("has {}, expected 1 to {}", plural(sent.b_scans, "B-scans"), stream_.block_b_scans));
    if (sent.bytes != static_cast<std::uint64_t>(sent.b_scans * position_bytes_))
        refuse(sent, fmt::format("has {}, expected {}", plural(sent.bytes, "bytes"), sent.b_scans * position_bytes_));
    if (sent.volume < 0 || sent.volume > max_volume || sent.first_b_scan < 0 ||
        sent.first_b_scan > b_scans - sent.b_scans)
        refuse(sent, fmt::format("B-scan {} of volume {} is not a valid position", sent.first_b_scan, sent.volume));
    if (!std::isfinite(sent.time_s)) refuse(sent, "its time stamp is not a finite number");
    if (sent.lost > most_lost)
        refuse(sent, fmt::format("reports an impossible loss of {}", plural(sent.lost, "blocks")));
    if (!first_) return;
    const echolux_push_block& last = *last_;
    if (sent.sequence <= last.sequence || sent.sequence - last.sequence > most_lost)
        refuse(sent, fmt::format("arrived after block {}", last.sequence));
    if (sent.volume < first_->volume)
        refuse(sent, fmt::format("belongs to volume {}, the first one was {}", sent.volume, first_->volume));
    if (sent.lost < last.lost)
        refuse(sent, fmt::format("the number of lost blocks decreases from {} to {}", last.lost, sent.lost));
}

// Skips the rest of a volume that began before the start. Then numbers and times are relative to the first block.
std::optional<Block> PushedStream::placed(const echolux_push_block& sent, const BlockMemory& memory) {
    check(sent);
    if (!first_) {
        if (sent.first_b_scan > 0 && left_out_.value_or(sent.volume) == sent.volume) {
            left_out_ = sent.volume;
            return std::nullopt;
        }
        first_ = last_ = sent;
        last_->sequence = sent.sequence - 1;
        sequence_ = 0;
    }
    Block block;
    block.data = memory.data;
    block.bytes = static_cast<std::int64_t>(sent.bytes);
    block.memory = memory.kind;
    block.keeper = memory.keeper;
    block.frames.offset_bytes = stream_.frame_offset_bytes;
    if (stream_.frame_offset_bytes > 0 || stream_.flyback_lines > 0) block.frames.stride_bytes = frame_stride(scan_);
    block.volume = sent.volume - first_->volume;
    block.first_b_scan = sent.first_b_scan;
    block.b_scans = sent.b_scans;
    block.sequence = sequence_++;
    block.lost_before = static_cast<std::int64_t>(sent.sequence - last_->sequence - 1) +
                        static_cast<std::int64_t>(sent.lost - last_->lost);
    block.time_s = sent.time_s - first_->time_s;
    last_ = sent;
    return block;
}

}  // namespace echolux
