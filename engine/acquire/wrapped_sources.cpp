#include "engine/acquire/wrapped_sources.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plan/describe.h"
#include "engine/acquire/stream.h"
#include "engine/io/regular_file.h"

namespace echolux {

SeveralSources::SeveralSources(std::vector<std::unique_ptr<Source>> parts,
                               Scan (*scan_of_all)(const std::vector<std::unique_ptr<Source>>&))
    : scan_(scan_of_all(parts)) {
    for (auto& part : parts) parts_.push_back({std::move(part), {}});
    const auto all = [this](bool SourceCapabilities::*is_so) {
        return std::ranges::all_of(parts_, [is_so](const Part& part) { return part.source->capabilities().*is_so; });
    };
    capabilities_.sends_when_asked = all(&SourceCapabilities::sends_when_asked);
    capabilities_.replays = all(&SourceCapabilities::replays);
}

std::string SeveralSources::name() const {
    std::string names;
    for (const Part& part : parts_) names += (names.empty() ? "" : " + ") + part.source->name();
    return names;
}

double SeveralSources::line_rate_hz() const {
    double all = 0;
    for (const Part& part : parts_) all += part.source->line_rate_hz();
    return all;
}

std::vector<std::filesystem::path> SeveralSources::played_files() const {
    std::vector<std::filesystem::path> files;
    for (const Part& part : parts_) {
        for (std::filesystem::path& file : part.source->played_files()) files.push_back(std::move(file));
    }
    return files;
}

void SeveralSources::start() {
    try {
        for (Part& part : parts_) {
            part.waits.reset();
            part.source->start();
        }
    } catch (...) {
        SeveralSources::stop();
        throw;
    }
}

void SeveralSources::stop() noexcept {
    for (Part& part : parts_) part.source->stop();
}

Arrival SeveralSources::next(std::chrono::milliseconds timeout) {
    try {
        Arrival arrival = next_of_all(Clock::now() + timeout);
        if (arrival.kind == Arrival::Kind::ended) stop();
        return arrival;
    } catch (...) {  // volumes need all of them
        stop();
        throw;
    }
}

std::optional<Arrival> SeveralSources::anything_but_a_block(Part& part, Clock::time_point until) {
    if (part.waits) return {};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    Arrival arrival = part.source->next(std::max(left, std::chrono::milliseconds(0)));
    if (arrival.kind != Arrival::Kind::block) return arrival;
    part.waits = std::move(arrival.block);
    return {};
}

namespace {

// The properties of the first source are used for the blocks of all.
void require_alike(const Source& first, const Source& other) {
    const auto refuse = [&](std::string_view what, const char* remedy = "set both instruments to the same scan") {
        throw Error(ErrorCode::bad_setting, fmt::format("differs from {} in {}", first.name(), what), other.name(),
                    remedy);
    };
    const ScanGeometry &a = first.scan().geometry, &b = other.scan().geometry;
    if (a.samples != b.samples) refuse("samples per line");
    if (a.a_scans != b.a_scans || a.a_repeats != b.a_repeats) refuse("lines per B-scan");
    if (a.b_scans != b.b_scans || a.b_repeats != b.b_repeats) refuse("B-scans per volume");
    if (a.flyback_lines != b.flyback_lines) refuse("flyback lines");
    if (a.flyback_frames + b.flyback_frames > 0) {
        throw Error(ErrorCode::bad_setting, "flyback frames cannot be joined", other.name(),
                    "record the flyback as lines, or do not record it");
    }
    if (a.line_rate_hz != b.line_rate_hz) refuse("line rate");
    if (first.scan().file.frame_offset_bytes != other.scan().file.frame_offset_bytes)
        refuse("the size of B-scan headers");
    if (!has_same_settings(first.scan().format, other.scan().format)) refuse("sample format");
    if (first.block_b_scans() != other.block_b_scans()) refuse("B-scans per block");
    for (const Field<ScanGeometry>& field : describe<ScanGeometry>()) {
        if (field.name != "volumes" && field.get(a) != field.get(b)) refuse(fmt::format("scan.{}", field.name));
    }
    if (first.scan().calibration != other.scan().calibration)
        refuse("its calibration", "use the same calibration files for both");
}

// Checks instruments that record the same volumes together: their B-scans must have the same layout and calibration.
// Throws Error{bad_setting} naming the first property that differs.
void require_alike(const std::vector<std::unique_ptr<Source>>& parts) {
    for (const auto& part : parts) require_alike(*parts.front(), *part);
}

// A combined volume has the B-scans of all parts, at the sum of their line rates.
Scan joined_scan(const std::vector<std::unique_ptr<Source>>& parts) {
    require_alike(parts);
    const auto count = std::ssize(parts);
    Scan scan = parts.front()->scan();
    scan.geometry.b_scans *= count;
    scan.geometry.line_rate_hz *= static_cast<double>(count);
    return scan;
}

}  // namespace

JoinedSource::JoinedSource(std::vector<std::unique_ptr<Source>> parts) : SeveralSources(std::move(parts), joined_scan) {
    const ScanGeometry& geometry = scan_.geometry;
    const std::int64_t block = block_b_scans();
    const std::int64_t lines = block * geometry.b_repeats * geometry.lines_per_frame();
    blocks_ = (parts_.front().source->scan().geometry.b_scans + block - 1) / block;
    if (geometry.line_rate_hz > 0) turn_s_ = static_cast<double>(lines) / geometry.line_rate_hz;
}

// Unlimited if one of the parts is.
std::int64_t JoinedSource::pool_blocks() const {
    std::int64_t all = 0;
    for (const Part& part : parts_) {
        if (part.source->pool_blocks() == 0) return 0;
        all += part.source->pool_blocks();
    }
    return all;
}

void JoinedSource::start() {
    next_ = 0;
    SeveralSources::start();
}

// Converts block k of part i to block k * parts + i of the whole. The last block of a volume may be shorter, for all
// parts alike. The sequence number follows from the position, because some instruments count lost blocks and some do
// not.
Block JoinedSource::as_one(Block block, std::size_t part) const {
    const auto count = std::ssize(parts_), index = static_cast<std::int64_t>(part);
    const std::int64_t own = block.volume * blocks_ + block.first_b_scan / block_b_scans();
    block.sequence = static_cast<std::uint64_t>(own * count + index);
    block.first_b_scan = block.first_b_scan * count + index * block.b_scans;
    block.time_s += static_cast<double>(index) * turn_s_;
    block.lost_before = 0;
    return block;
}

// Queries only the part whose turn it is. A later number than expected means that blocks were lost.
Arrival JoinedSource::next_of_all(Clock::time_point until) {
    const auto turn = static_cast<std::size_t>(next_ % parts_.size());
    Part& part = parts_[turn];
    if (!part.waits) {
        if (std::optional<Arrival> other = anything_but_a_block(part, until)) return *std::move(other);
        part.waits = as_one(*std::move(part.waits), turn);
    }
    if (part.waits->sequence > next_) {  // lost: continue with the next instrument
        ++next_;
        return {};
    }
    Arrival arrival{Arrival::Kind::block, *std::exchange(part.waits, std::nullopt)};
    next_ = std::max(next_, arrival.block.sequence + 1);
    return arrival;
}

constexpr std::int64_t misfit_volumes = 2, min_misfits = 16;  // consecutive blocks: more than an instrument loses

// Per-line calibration would have to be split and merged.
static void require_plain_lines(const Source& part) {
    const Scan& scan = part.scan();
    const auto refuse = [&](const char* what, const char* remedy) {
        throw Error(ErrorCode::bad_setting, what, part.name(), remedy);
    };
    if (scan.geometry.a_repeats > 1) refuse("repeated lines cannot be interleaved", "set scan.a_repeats = 1");
    if (!scan.calibration.fast_axis.empty() || !scan.calibration.k_jitter.empty())
        refuse("per-line calibration cannot be interleaved", "remove fast_axis and k_jitter");
}

// A combined B-scan has the A-scans and flyback lines of all parts, at the sum of their line rates.
static Scan interleaved_scan(const std::vector<std::unique_ptr<Source>>& parts) {
    for (const auto& part : parts) require_plain_lines(*part);
    require_alike(parts);
    Scan scan = parts.front()->scan();
    const auto count = std::ssize(parts);
    scan.file.frame_offset_bytes = 0;
    scan.geometry.a_scans *= count;
    scan.geometry.flyback_lines *= count;
    scan.geometry.line_rate_hz *= static_cast<double>(count);
    return scan;
}

static SpectraLayout layout_of(const Scan& scan) {
    return spectra_layout(scan.file, scan.format, scan.geometry, scan.path.string());
}

InterleavedSource::InterleavedSource(std::vector<std::unique_ptr<Source>> parts, const SourceSettings& settings,
                                     MemoryKind memory)
    : SeveralSources(std::move(parts), interleaved_scan), of_part_(layout_of(parts_.front().source->scan())),
      of_all_(layout_of(scan_)), pool_blocks_(pool_size(settings, scan_, block_b_scans())),
      blocks_((scan_.geometry.b_scans + block_b_scans() - 1) / block_b_scans()),
      pool_(block_b_scans() * scan_.geometry.b_repeats * of_all_.frame_stride(), memory) {}

std::string InterleavedSource::name() const {
    return SeveralSources::name() + ", line by line";
}

void InterleavedSource::start() {
    misfits_ = 0;
    SeveralSources::start();
}

// Waits for one block of each part, drops unmatched blocks, and merges the matching ones.
Arrival InterleavedSource::next_of_all(Clock::time_point until) {
    for (Part& part : parts_) {
        if (std::optional<Arrival> other = anything_but_a_block(part, until)) return *std::move(other);
    }
    if (drop_blocks_lost_elsewhere()) return {};
    Arrival arrival;
    if (const Part* part = cut_short()) {
        count_misfit(*part, "are truncated, or not in host memory");
    } else {
        misfits_ = 0;
        arrival = together();
    }
    for (Part& part : parts_) part.waits.reset();
    return arrival;
}

// Computed from the position, because some instruments count lost blocks and some do not.
std::uint64_t InterleavedSource::number_of(const Part& part) const {
    const Block& block = *part.waits;
    return static_cast<std::uint64_t>(block.volume * blocks_ + block.first_b_scan / block_b_scans());
}

// Drops blocks that other instruments have lost. Returns whether there were any.
bool InterleavedSource::drop_blocks_lost_elsewhere() {
    const auto number = [this](const Part& part) { return number_of(part); };
    const Part& newest = *std::ranges::max_element(parts_, {}, number);
    bool dropped = false;
    for (Part& part : parts_) {
        if (number(part) == number(newest)) continue;
        count_misfit(part, fmt::format("lag behind those of {}: volume {} instead of {}", newest.source->name(),
                                       part.waits->volume, newest.waits->volume));
        part.waits.reset();
        dropped = true;
    }
    return dropped;
}

// Returns the first part whose block does not have the expected lines, or null.
const InterleavedSource::Part* InterleavedSource::cut_short() const {
    const std::int64_t b_scans = parts_.front().waits->b_scans;
    const std::int64_t frames = b_scans * scan_.geometry.b_repeats;
    const std::int64_t lines = of_part_.frame_bytes + of_part_.flyback_bytes;
    const auto fits = [&](const Part& part) {
        const Block& block = *part.waits;
        const std::int64_t last = frame_offset(block.frames, frames - 1, of_part_.frame_bytes);
        return b_scans >= 1 && b_scans <= block_b_scans() && block.memory != MemoryKind::device &&
               block.b_scans == b_scans && block.frames.offset_bytes >= 0 && block.frames.stride_bytes >= 0 &&
               last + lines <= block.bytes;
    };
    const auto found = std::ranges::find_if_not(parts_, fits);
    return found == parts_.end() ? nullptr : &*found;
}

// Single misfits are normal losses; only a long run is an error.
void InterleavedSource::count_misfit(const Part& part, const std::string& why) {
    if (++misfits_ < std::max(misfit_volumes * blocks_, min_misfits)) return;
    throw Error(ErrorCode::device, fmt::format("{} of its blocks in a row {}", misfits_, why), part.source->name(),
                "check what resets its counter or truncates its blocks");
}

// Merges the waiting blocks. Without free memory, they are lost.
Arrival InterleavedSource::together() {
    Arrival arrival;
    if (std::optional<BlockMemory> memory = pool_.take_below(pool_blocks_)) {
        copy_lines(memory->data);
        Block block = *parts_.front().waits;
        block.sequence = number_of(parts_.front());
        block.lost_before = 0;
        block.data = memory->data;
        block.bytes = block.b_scans * scan_.geometry.b_repeats * of_all_.frame_stride();
        block.frames = {0, of_all_.frame_stride()};
        block.memory = memory->kind;
        block.near_gpu = {};  // describes the parts' memory, not this one
        block.keeper = std::move(memory->keeper);
        arrival = {Arrival::Kind::block, std::move(block)};
    }
    return arrival;
}

// Line i of the combined frame is line i / N of part i mod N.
void InterleavedSource::copy_lines(std::byte* to) const {
    const auto count = std::ssize(parts_);
    const std::int64_t lines = scan_.geometry.lines_per_frame() / count, bytes = of_all_.line_bytes;
    const std::int64_t frames = parts_.front().waits->b_scans * scan_.geometry.b_repeats;
    parallel_for(0, frames, [&](std::int64_t frame) {
        std::byte* line = to + frame * of_all_.frame_stride();
        for (std::int64_t i = 0; i < lines; ++i) {
            for (const Part& part : parts_) {
                const std::int64_t begin = frame_offset(part.waits->frames, frame, of_part_.frame_bytes);
                std::memcpy(line, part.waits->data + begin + i * bytes, index(bytes));
                line += bytes;
            }
        }
    });
}

NearGpu near_gpu(std::int64_t number, const GpuSurvey& gpus, const std::filesystem::path& system) {
    if (gpus.usable.empty()) {
        throw Error(ErrorCode::device, "no usable GPU" + (gpus.refusal.empty() ? "" : ": " + gpus.refusal),
                    "source.near_gpu", "leave it out");
    }
    const auto index = static_cast<std::size_t>(number) % gpus.usable.size();
    const Gpu& gpu = gpus.usable[index];
    const std::vector<int> nodes = memory_nodes(system);
    if (nodes.size() < 2) return {gpu.id, {}, "source.near_gpu has no effect: this machine has a single memory node"};
    const std::optional<int> node = memory_node_of(gpu.pci_address, system);
    if (!node || std::ranges::find(nodes, *node) == nodes.end())
        return {gpu.id, {}, fmt::format("source.near_gpu has no effect: the memory node of GPU {} is unknown", index)};
    return {gpu.id, node, fmt::format("near GPU {} on memory node {}", index, *node)};
}

void NumaSource::start() {
    const OnMemoryNode here(where_.node);
    source_->start();
}

Arrival NumaSource::next(std::chrono::milliseconds timeout) {
    const OnMemoryNode here(where_.node);
    Arrival arrival = source_->next(timeout);
    if (where_.node) arrival.block.near_gpu = where_.gpu;
    return arrival;
}

// These threads are shared by the whole program. Starting them first prevents them from inheriting the placement
// policy.
void NumaSource::start_threads_of_loops() {
    parallel_for(0, 4 * std::int64_t{thread_count()}, [](std::int64_t) {});
}

void NumaSource::refuse() {
    where_.node.reset();
    where_.remark = "source.near_gpu has no effect: the system does not allow memory placement";
}

constexpr int preferred = 1;  // MPOL_PREFERRED in <linux/mempolicy.h>
constexpr int max_nodes = 1024;
constexpr unsigned long max_node_bits = max_nodes + 1;  // the kernel expects one more

// Returns the first line, or "" if there is none.
static std::string line_of(const std::filesystem::path& path) {
    std::ifstream file = regular_stream(path);
    std::string line;
    std::getline(file, line);
    return line;
}

// Parses a list such as "0-1,3".
std::vector<int> memory_nodes(const std::filesystem::path& system) {
    const std::string list = line_of(system / "devices/system/node/has_memory");
    std::vector<int> nodes;
    const char *at = list.data(), *const end = at + list.size();
    while (at < end) {
        int first = 0;
        const auto [behind, problem] = std::from_chars(at, end, first);
        if (problem != std::errc() || first < 0) break;
        int last = first;
        at = behind;
        if (at < end && *at == '-') at = std::from_chars(at + 1, end, last).ptr;
        for (int node = first; node <= last && node < max_nodes; ++node) nodes.push_back(node);
        if (at < end && *at != ',') break;
        ++at;
    }
    return nodes.empty() ? std::vector{0} : nodes;
}

std::optional<int> memory_node_of(const std::string& pci_address, const std::filesystem::path& system) {
    if (pci_address.empty()) return {};
    const std::string text = line_of(system / "bus/pci/devices" / pci_address / "numa_node");
    int node = -1;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), node);
    if (problem != std::errc() || node < 0) return {};
    return node;
}

// Uses system calls directly to avoid a dependency on libnuma.
OnMemoryNode::OnMemoryNode(std::optional<int> node) {
    if (!node || *node < 0 || *node >= max_nodes) return;
    if (syscall(SYS_get_mempolicy, &mode_before_, nodes_before_.data(), max_node_bits, nullptr, 0) != 0) return;
    Nodes wanted{};
    wanted[index(*node / 64)] = std::uint64_t{1} << *node % 64;
    is_in_force_ = syscall(SYS_set_mempolicy, preferred, wanted.data(), max_node_bits) == 0;
}

OnMemoryNode::~OnMemoryNode() {
    if (is_in_force_) syscall(SYS_set_mempolicy, mode_before_, nodes_before_.data(), max_node_bits);
}

}  // namespace echolux
