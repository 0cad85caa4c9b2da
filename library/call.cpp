#include "library/call.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <new>

#include "compute/plan/tables.h"

namespace echolux::library {

// ---- Errors, arguments, structs and texts

namespace {

// Codes of the interface are fixed numbers, so ErrorCode may change its order.
echolux_status status_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::bad_setting: return ECHOLUX_BAD_SETTING;
        case ErrorCode::bad_file: return ECHOLUX_BAD_FILE;
        case ErrorCode::output: return ECHOLUX_OUTPUT;
        case ErrorCode::out_of_memory: return ECHOLUX_OUT_OF_MEMORY;
        case ErrorCode::device: return ECHOLUX_DEVICE;
        case ErrorCode::cancelled: return ECHOLUX_CANCELLED;
    }
    return ECHOLUX_INTERNAL;
}

// An error struct of another size was not initialised and must not be written.
echolux_status fill(echolux_error* error, echolux_status status, std::string_view what, std::string_view where,
                    std::string_view remedy) noexcept {
    if (error == nullptr || error->size != sizeof(echolux_error)) return status;
    error->code = status;
    put_text(what, error->what);
    put_text(where, error->where);
    put_text(remedy, error->remedy);
    return status;
}

echolux_status fill(echolux_error* error, echolux_status status, const Error& problem) noexcept {
    return fill(error, status, problem.problem(), problem.where(), problem.remedy());
}

}  // namespace

void put_text(std::string_view text, std::span<char> to) noexcept {
    std::size_t length = std::min(text.size(), to.size() - 1);
    const auto is_continued = [&](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80; };
    while (length > 0 && length < text.size() && is_continued(length)) --length;  // do not split a UTF-8 character
    std::copy_n(text.begin(), length, to.begin());
    std::fill(to.begin() + static_cast<std::ptrdiff_t>(length), to.end(), '\0');
}

// Called in a catch clause: exceptions must not leave functions of the C interface.
echolux_status status_of(echolux_error* error) noexcept {
    try {
        throw;  // again, to tell the types apart
    } catch (const BadArgument& problem) {
        return fill(error, ECHOLUX_BAD_ARGUMENT, problem);
    } catch (const Unsupported& problem) {
        return fill(error, ECHOLUX_UNSUPPORTED, problem);
    } catch (const Error& problem) {
        return fill(error, status_of(problem.code()), problem);
    } catch (const std::bad_alloc&) {
        return fill(error, ECHOLUX_OUT_OF_MEMORY, "there is not enough memory", "", "close something else first");
    } catch (const std::exception& problem) {
        return fill(error, ECHOLUX_INTERNAL, problem.what(), "", "");
    } catch (...) {
        return fill(error, ECHOLUX_INTERNAL, "an unknown error", "", "");
    }
}

void clear(echolux_error* error) noexcept {
    fill(error, ECHOLUX_OK, "", "", "");
}

echolux_status set_status(echolux_error* error, echolux_status status, const char* what) noexcept {
    return fill(error, status, what, "", "");
}

std::string text_argument(const char* text, const char* name) {
    return &required(text, name);
}

std::vector<std::string> texts_argument(const char* const* texts, std::size_t count, const char* name) {
    std::vector<std::string> all;
    if (count == 0) return all;
    required(texts, name);
    for (std::size_t i = 0; i < count; ++i) all.push_back(text_argument(texts[i], name));
    return all;
}

void copy_text_out(std::string_view text, char* buffer, std::size_t size, std::size_t* needed) {
    if (needed != nullptr) *needed = text.size() + 1;
    if (size == 0) return;
    required(buffer, "buffer");
    put_text(text, {buffer, std::min(size, text.size() + 1)});
    if (text.size() < size) return;
    throw BadArgument("is too small", "buffer", "give it " + std::to_string(text.size() + 1) + " bytes");
}

void copy_numbers_out(std::span<const double> numbers, double* values, std::size_t capacity, std::size_t* count) {
    if (count != nullptr) *count = numbers.size();
    if (capacity == 0) return;
    std::copy_n(numbers.begin(), std::min(capacity, numbers.size()), &required(values, "values"));
}

std::span<const double> numbers_argument(const double* values, std::size_t count, const char* name) {
    if (count == 0) return {};
    const std::span<const double> numbers(&required(values, name), count);
    if (!std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); })) {
        throw Error(ErrorCode::bad_setting, "contains a value that is not finite", name);
    }
    return numbers;
}

std::string lines_of(const std::vector<std::string>& lines) {
    std::string all;
    for (const std::string& line : lines) all += line + "\n";
    return all;
}

std::string lines_of(const std::map<std::string, std::string>& provenance) {
    std::string all;
    for (const auto& [key, value] : provenance) all += key + " = " + on_one_line(value) + "\n";
    return all;
}

// Escapes line ends and backslashes. off_one_line() restores the value.
std::string on_one_line(std::string_view value) {
    std::string line;
    for (const char c : value) {
        if (c == '\n')
            line += "\\n";
        else
            line += c == '\\' ? std::string("\\\\") : std::string(1, c);
    }
    return line;
}

std::string off_one_line(std::string_view line) {
    std::string value;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const bool is_escape = line[i] == '\\' && i + 1 < line.size() && (line[i + 1] == 'n' || line[i + 1] == '\\');
        if (is_escape) ++i;
        value += is_escape && line[i] == 'n' ? '\n' : line[i];
    }
    return value;
}

// ---- Conversions

constexpr std::int64_t max_bytes = std::int64_t{1} << 47;  // exceeds any address space; products fit 64 bits

static void require_within(std::int64_t number, std::int64_t most, const char* what, const char* name) {
    if (number >= 0 && number <= most) return;
    throw BadArgument(std::string("its ") + what + " cannot be " + std::to_string(number), name);
}

std::int64_t bytes_argument(std::int64_t bytes, const char* name) {
    require_within(bytes, max_bytes, "size or place", name);
    return bytes;
}

// An event must exist, whereas a NULL stream is CUDA's default stream.
CallerOrder order_of(std::int32_t sync, void* handle, const char* name) {
    switch (sync) {
        case ECHOLUX_SYNC_NONE: return {};
        case ECHOLUX_SYNC_STREAM: return {CallerOrder::Kind::stream, handle};
        case ECHOLUX_SYNC_EVENT:
            if (handle == nullptr) throw BadArgument("its event is NULL", name);
            return {CallerOrder::Kind::event, handle};
        default: throw BadArgument("is not one of ECHOLUX_SYNC_...", name);
    }
}

// Division instead of multiplication, so that large strides cannot overflow.
bool fits(std::int64_t count, std::int64_t piece, std::int64_t stride, std::int64_t all) {
    return stride >= piece && piece <= all && (count == 1 || stride <= (all - piece) / (count - 1));
}

MemoryKind memory_of(std::int32_t memory, const char* name) {
    if (memory < ECHOLUX_HOST || memory > ECHOLUX_ON_DEVICE)
        throw BadArgument("is not one of the known kinds of memory", name);
    return static_cast<MemoryKind>(memory);  // same order as ECHOLUX_HOST ...
}

echolux_grid grid_of(const VolumeGrid& grid) {
    echolux_grid out{};
    out.depth = grid.depth;
    out.a_scans = grid.a_scans;
    out.b_scans = grid.b_scans;
    out.voxel = static_cast<std::int32_t>(grid.type);  // same order as ECHOLUX_U8 ...
    out.voxel_bytes = static_cast<std::int32_t>(bytes_of(grid.type));
    out.bytes = grid.bytes();
    std::ranges::copy(grid.spacing_um, out.spacing_um);
    out.first_depth_um = grid.first_depth_um;
    out.scale = grid.scale;
    out.offset = grid.offset;
    out.v_max_mm_s = grid.v_max;
    put_text(grid.quantity, out.quantity);
    put_text(grid.unit, out.unit);
    return out;
}

// `gpus` of the interface: 0 is one GPU, so that a zeroed struct is valid, and -1 is all. BackendChoice uses 1 and 0.
BackendChoice backend_of(const echolux_device* device) {
    const echolux_device wanted = copy_in_or_default(device, "device");
    if (wanted.kind < ECHOLUX_DEVICE_AUTO || wanted.kind > ECHOLUX_DEVICE_CUDA)
        throw BadArgument("is not a known kind", "device");
    require_within(wanted.streams, 16, "streams", "device");  // no more are used, see compute/cuda/runner.cpp
    if (wanted.gpus < -1) throw BadArgument("gpus must be -1, 0 or more", "device");
    BackendChoice choice;
    choice.backend = static_cast<Backend>(wanted.kind);
    std::ranges::copy(wanted.gpu_id, choice.gpu.begin());
    if (wanted.streams > 0) choice.streams = wanted.streams;
    choice.gpus = wanted.gpus == 0 ? 1 : std::max(wanted.gpus, 0);
    if (wanted.reads_pinned_directly != 0) choice.spectra = SpectraPath::direct;
    return choice;
}

// Limits sizes so that no sum or product of them overflows. check_block() later compares them with the scan.
Block block_of(const echolux_block* block, const char* name) {
    const echolux_block given = copy_in(block, name);
    require_within(given.bytes, max_bytes, "bytes", name);
    require_within(given.frame_offset_bytes, given.bytes, "frame_offset_bytes", name);
    require_within(given.frame_stride_bytes, given.bytes, "frame_stride_bytes", name);
    Block one;
    one.data = static_cast<const std::byte*>(given.data);
    one.bytes = given.bytes;
    one.frames = {given.frame_offset_bytes, given.frame_stride_bytes};
    one.memory = memory_of(given.memory, name);
    one.order = order_of(given.sync, given.cuda, name);
    one.volume = given.volume;
    one.first_b_scan = given.first_b_scan;
    one.b_scans = given.b_scans;
    return one;
}

Block host_block_of(const echolux_block* block, ReconstructionSpec& spec) {
    const Block one = block_of(block, "block");
    if (one.memory == MemoryKind::device) throw BadArgument("must be in host memory", "block", "copy it");
    if (one.order.kind != CallerOrder::Kind::none) {
        throw BadArgument("is read immediately, without waiting for a GPU stream or event", "block",
                          "wait until its spectra are complete, and set sync to ECHOLUX_SYNC_NONE");
    }
    // The block may have any size up to a volume, and the work is then planned for its size.
    spec.block_b_scans = spec.geometry.b_scans;
    check_block(one, spec);
    spec.block_b_scans = one.b_scans;
    return one;
}

VoxelType voxel_type_of(std::int32_t voxel) {
    if (voxel < ECHOLUX_U8 || voxel > ECHOLUX_PHASOR8) throw BadArgument("is not one of ECHOLUX_U8 ...", "voxel");
    return static_cast<VoxelType>(voxel);
}

void CallerProgress::begin(const std::string& task, std::int64_t total, const std::string& unit) {
    task_ = task;
    unit_ = unit;
    total_ = total;
    done_ = 0;
    advance(0);
}

// A result other than 0 stops the work, which releases what it holds as after any other error.
void CallerProgress::advance(std::int64_t count) {
    done_ += count;
    if (progress_ == nullptr || progress_(user_, task_.c_str(), done_, total_, unit_.c_str()) == 0) return;
    throw Error(ErrorCode::cancelled, "was stopped", task_);
}

echolux_volume* new_volume(Volume volume) {
    return new echolux_volume(std::make_shared<const Volume>(std::move(volume)));
}

// Voxels change, but when and where they were acquired does not.
echolux_volume* derived_volume(const echolux_volume& from, std::shared_ptr<const Volume> volume) {
    auto made = std::make_unique<echolux_volume>(std::move(volume));
    made->time_s = from.time_s;
    made->number = from.number;
    made->warnings = from.warnings;
    made->geometry = from.geometry;
    return made.release();
}

}  // namespace echolux::library
