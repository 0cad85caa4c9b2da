#include "engine/acquire/pushed_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/acquire/block_size.h"
#include "engine/acquire/plugin_stream.h"
#include "engine/memory_budget.h"

namespace echolux {
namespace {

constexpr const char* remedy = "correct what the acquisition program says of its spectra, see docs/push.md";
constexpr std::int64_t max_slots = 4096;

// Enumerations have the same values in all three interfaces.
static_assert(ECHOLUX_PUSH_U8 == static_cast<int>(ECHOLUX_U8) && ECHOLUX_PUSH_U16 == static_cast<int>(ECHOLUX_U16) &&
              ECHOLUX_PUSH_U32 == static_cast<int>(ECHOLUX_U32) && ECHOLUX_PUSH_I16 == static_cast<int>(ECHOLUX_I16) &&
              ECHOLUX_PUSH_F32 == static_cast<int>(ECHOLUX_F32) &&
              ECHOLUX_PUSH_PACKED12 == static_cast<int>(ECHOLUX_PACKED12) &&
              ECHOLUX_PUSH_PLANAR == static_cast<int>(ECHOLUX_PLANAR));

echolux_stream as_plugin_stream(const echolux_push_stream& pushed, const Scan& scan, const SourceSettings& settings) {
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

Scan scan_of(const SourceWanted& wanted, const echolux_push_stream& stream, const std::string& where) {
    return describe_scan(wanted.scan, wanted.assignments, [&](Scan& scan) {
        accept_stream(as_plugin_stream(stream, scan, wanted.settings), scan, where, remedy);
    });
}

std::int64_t checked_position_bytes(const Scan& scan, const echolux_push_stream& stream, const std::string& where) {
    const std::int64_t bytes = frame_stride(scan) * scan.geometry.b_repeats;
    require_memory(bytes * stream.block_b_scans, "a block of " + where,
                   "let the acquisition program send smaller ones");
    return bytes;
}

}  // namespace

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

PushedStream::PushedStream(const SourceWanted& wanted, const echolux_push_stream& stream, std::string where)
    : where_(std::move(where)), stream_(stream), scan_(scan_of(wanted, stream, where_)),
      position_bytes_(checked_position_bytes(scan_, stream, where_)),
      pool_blocks_(pool_size(wanted.settings, scan_, stream.block_b_scans)), pool_(block_bytes(), wanted.memory) {}

void PushedStream::require_alike(const echolux_push_stream& other) const {
    if (is_alike(stream_, other)) return;
    throw Error(
        ErrorCode::device,
        fmt::format("the layout of the stream changed: {} of {} x {} A-scans now, {} of {} x {} before, or another "
                    "format, number of repeats or line rate",
                    counted(other.samples, "samples"), other.a_scans, other.b_scans,
                    counted(stream_.samples, "samples"), stream_.a_scans, stream_.b_scans),
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
        refuse(sent, fmt::format("has {}, expected 1 to {}", counted(sent.b_scans, "B-scans"), stream_.block_b_scans));
    if (sent.bytes != static_cast<std::uint64_t>(sent.b_scans * position_bytes_))
        refuse(sent, fmt::format("has {}, expected {}", counted(sent.bytes, "bytes"), sent.b_scans * position_bytes_));
    if (sent.volume < 0 || sent.volume > max_volume || sent.first_b_scan < 0 ||
        sent.first_b_scan > b_scans - sent.b_scans)
        refuse(sent, fmt::format("B-scan {} of volume {} is not a valid position", sent.first_b_scan, sent.volume));
    if (!std::isfinite(sent.time_s)) refuse(sent, "its time stamp is not a finite number");
    if (sent.lost > most_lost) refuse(sent, fmt::format("cannot have lost {}", counted(sent.lost, "blocks")));
    if (!first_) return;
    const echolux_push_block& last = *last_;
    if (sent.sequence <= last.sequence || sent.sequence - last.sequence > most_lost)
        refuse(sent, fmt::format("came after block {}", last.sequence));
    if (sent.volume < first_->volume)
        refuse(sent, fmt::format("belongs to volume {}, the first one was {}", sent.volume, first_->volume));
    if (sent.lost < last.lost)
        refuse(sent, fmt::format("the losses run backwards, from {} to {}", last.lost, sent.lost));
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
