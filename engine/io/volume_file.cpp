#include "engine/io/volume_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/file_name.h"
#include "engine/memory.h"
#include "engine/progress.h"

namespace echolux {
namespace {

constexpr std::int64_t piece_bytes = 16 << 20;  // size of pieces for transposing

bool ends_with_one_of(const std::filesystem::path& path, const std::vector<std::string>& endings) {
    const std::string name = lower_case(path.filename().string());
    return std::ranges::any_of(endings, [&](const std::string& ending) { return name.ends_with(ending); });
}

// Returns how many B-scans to transpose at a time.
std::int64_t b_scans_a_piece(const VolumeGrid& grid) {
    return std::max<std::int64_t>(1, piece_bytes / std::max<std::int64_t>(1, grid.b_scan_bytes()));
}

// Rejects storage options that the format does not support.
void check_storage(const ImageFormat& format, const ImageStorage& storage, const std::filesystem::path& path) {
    if (!storage.ome_version.empty() && !format.has_versions) {
        throw Error(ErrorCode::bad_setting, format.name + " has no OME version", path.string(),
                    "leave `ome_version` out, or name it *.ome.zarr");
    }
    const auto& known = format.compressions;
    if (storage.compression == Compression::automatic || std::ranges::count(known, storage.compression) > 0) return;
    std::vector<std::string> names;
    for (const Compression compression : known) names.emplace_back(name_of(compression));
    throw Error(ErrorCode::bad_setting,
                fmt::format("{} cannot be written with compression {}", format.name, name_of(storage.compression)),
                path.string(), fmt::format("choose among {}", fmt::join(names, ", ")));
}

bool is_compressed(const ImageFormat& format, const ImageStorage& storage, const std::filesystem::path& path) {
    const bool automatic = storage.compression == Compression::automatic;
    const Compression chosen = automatic ? format.compressions.front() : storage.compression;
    return chosen != Compression::none || ends_with_one_of(path, {".gz"});
}

// Fails before the write begins. Some libraries would only report the error after minutes of writing.
void check_free_space(const std::filesystem::path& place, double bytes, const std::filesystem::path& path) {
    std::error_code problem;
    const std::filesystem::space_info space = std::filesystem::space(place, problem);
    if (problem || static_cast<double>(space.available) >= bytes) return;
    throw Error(ErrorCode::output,
                fmt::format("needs {:.0f} MiB of disk space, {} MiB are free", bytes / 1048576, space.available >> 20),
                path.string(), "free some space, or write a compressed format");
}

bool is_volume_folder(const std::filesystem::path& path) {
    try {
        const ImageFormat& format = format_of(path);
        if (!format.is_folder) return false;
        format.open(path);
        return true;
    } catch (const Error&) {
        return false;
    }
}

// Temporary path of a result: a file or a folder.
class Unfinished {
  public:
    Unfinished(const std::filesystem::path& path, bool is_folder) {
        if (is_folder) {
            folder_.emplace(path, is_volume_folder);
        } else {
            file_.emplace(path);
        }
    }

    const std::filesystem::path& path() const { return folder_ ? folder_->temporary() : file_->temporary(); }

    void commit() {
        if (folder_) folder_->commit();
        if (file_) file_->commit();
    }

  private:
    std::optional<AtomicFile> file_;
    std::optional<AtomicFolder> folder_;
};

// Sparse formats can claim any size. Limits the product of all sizes so that it fits into 64 bits.
void check_size(const ImageHeader& header, const std::filesystem::path& path) {
    constexpr double max = 0x1p60;
    const bool has_sides = std::ranges::all_of(header.size, [](std::int64_t side) { return side >= 1; });
    if (has_sides && header.time_points >= 1 && 8 * claimed_bytes(header, StoredType::u8) < max) return;
    throw Error(ErrorCode::bad_file,
                fmt::format("claims {} x {} x {} voxels at {}, more than any memory holds", header.size[0],
                            header.size[1], header.size[2], counted(header.time_points, "time points")),
                path.string());
}

}  // namespace

// ---- names ----------------------------------------------------------------------------------------------------------

bool is_volume_name(const std::filesystem::path& path) {
    return image_format_of(path) != nullptr;
}

void check_volume_name(const std::filesystem::path& path, VoxelType type) {
    const ImageFormat& format = format_of(path);
    if (type == VoxelType::f16 || type == VoxelType::phasor8) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("voxels of type {} are for display only and cannot be stored",
                                type == VoxelType::f16 ? "f16" : "phasor"),
                    path.string(), "set recipe.voxel=f32");
    }
    if (format.create == nullptr) {
        throw Error(ErrorCode::bad_setting, "has a format that can only be read: " + format.name, path.string(),
                    "use " + endings_written());
    }
    if (ends_with_one_of(path, format.unwritten)) {
        throw Error(ErrorCode::bad_setting, format.name + " is not written with this ending", path.string(),
                    "use " + format.endings.front());
    }
    if (type == VoxelType::complex64 && !format.holds_complex) {
        throw Error(ErrorCode::bad_setting, format.name + " cannot hold complex voxels", path.string(),
                    "use " + endings_written([](const ImageFormat& other) { return other.holds_complex; }));
    }
}

void check_volume_output(const std::filesystem::path& path, VoxelType type) {
    check_volume_name(path, type);
    const Unfinished trial(path, format_of(path).is_folder);
}

bool holds_time_points(const std::filesystem::path& path) {
    return format_of(path).holds_time;
}

void check_series_name(const std::filesystem::path& path, VoxelType type) {
    check_volume_name(path, type);
    if (holds_time_points(path)) return;
    throw Error(ErrorCode::bad_setting, format_of(path).name + " holds one time point", path.string(),
                "use " + endings_written([](const ImageFormat& other) { return other.holds_time; }));
}

// ---- reading --------------------------------------------------------------------------------------------------------

// Checks the sizes of all levels before they are used.
SeriesFile::SeriesFile(const std::filesystem::path& path) : path_(path) {
    const ImageFormat& format = format_of(path);
    std::error_code problem;
    const std::filesystem::path file = file_part(path).file;
    const bool may_be_folder = format.is_folder || format.owns != nullptr;
    const bool is_there =
        may_be_folder ? std::filesystem::exists(file, problem) : std::filesystem::is_regular_file(file, problem);
    if (!is_there) throw Error(ErrorCode::bad_file, "does not exist or is not a file", path.string(), "check the name");
    reader_ = format.open(path);
    for (const ImageHeader& level : reader_->levels()) check_size(level, path);
    header_ = series_header(reader_->header());
    const std::vector<ImageHeader> levels = reader_->levels();
    for (const ImageHeader& level : levels) levels_.push_back(level_grid(level, levels.front(), header_));
    levels_.front() = header_.grid;
}

SeriesFile::~SeriesFile() = default;

bool SeriesFile::reads_boxes() const {
    return reader_->reads_boxes();
}

std::int64_t SeriesFile::b_scans_together() const {
    const std::int64_t together = std::max<std::int64_t>(1, reader_->slices_together());
    return together * std::max<std::int64_t>(1, b_scans_a_piece(header_.grid) / together);
}

// Reads pieces aligned to the format's slices_together() and transposes each.
std::vector<std::byte> SeriesFile::read(std::int64_t time_point, Interval b_scans) {
    const VolumeGrid& grid = header_.grid;
    const bool inside = time_point >= 0 && time_point < header_.time_points && b_scans.begin >= 0 &&
                        b_scans.begin <= b_scans.end && b_scans.end <= grid.b_scans;
    if (!inside) throw Error(ErrorCode::bad_setting, "lies outside of the file", path_.string());
    const std::int64_t slice = grid.b_scan_bytes();
    require_memory((b_scans.end - b_scans.begin) * slice, path_.string(), "crop or convert it first");
    std::vector<std::byte> voxels(static_cast<std::size_t>((b_scans.end - b_scans.begin) * slice));
    const std::int64_t max = b_scans_together();
    for (std::int64_t begin = b_scans.begin, end = 0; begin < b_scans.end; begin = end) {
        end = std::min((begin / max + 1) * max, b_scans.end);
        const Interval piece{begin, end};
        const std::vector<std::byte> stored = reader_->read(time_point, piece);
        const auto at = static_cast<std::size_t>((begin - b_scans.begin) * slice);
        if (std::ssize(stored) != (end - begin) * slice)
            throw Error(ErrorCode::bad_file, "holds fewer or more voxels than it claims", path_.string());
        transpose(stored, std::span(voxels).subspan(at, stored.size()), grid.type, grid.depth, grid.a_scans);
    }
    return voxels;
}

Volume SeriesFile::read(std::int64_t time_point) {
    Volume volume{header_.grid, read(time_point, {0, header_.grid.b_scans}), header_.provenance};
    if (header_.time_points > 1) {
        const std::string number = time_point == 0 ? "first" : fmt::format("{}", time_point + 1);
        volume.provenance["time_points"] = fmt::format("{} of {}", number, header_.time_points);
    }
    return volume;
}

std::vector<std::byte> SeriesFile::read_box(std::int64_t time_point, std::size_t level, const VolumeBox& box) {
    const auto lies_in = [](const Interval& part, std::int64_t size) {
        return part.begin >= 0 && part.begin < part.end && part.end <= size;
    };
    const bool inside = level < levels_.size() && time_point >= 0 && time_point < header_.time_points &&
                        lies_in(box.depth, levels_[level].depth) && lies_in(box.a_scans, levels_[level].a_scans) &&
                        lies_in(box.b_scans, levels_[level].b_scans);
    if (!inside) throw Error(ErrorCode::bad_setting, "lies outside of the file", path_.string());
    const std::vector<std::byte> stored = reader_->read_box(time_point, level, {box.a_scans, box.depth, box.b_scans});
    std::vector<std::byte> voxels(stored.size());
    transpose(stored, voxels, header_.grid.type, box.depth.end - box.depth.begin, box.a_scans.end - box.a_scans.begin);
    return voxels;
}

Volume read_volume(const std::filesystem::path& path) {
    return SeriesFile(path).read(0);
}

// ---- writing --------------------------------------------------------------------------------------------------------

struct SeriesWriter::Parts {
    Parts(const std::filesystem::path& final_path, SeriesHeader series, const ImageStorage& storage)
        : path(final_path), header(std::move(series)), format(format_of(path)), unfinished(path, format.is_folder) {
        const VolumeGrid& grid = header.grid;
        bytes = grid.bytes() * header.time_points;
        if (!is_compressed(format, storage, path)) {
            check_free_space(unfinished.path(), static_cast<double>(bytes), path);
        }
        writer = format.create(unfinished.path(), image_header(header), storage, path.string());
    }

    std::filesystem::path path;
    SeriesHeader header;
    const ImageFormat& format;
    Unfinished unfinished;
    std::unique_ptr<ImageWriter> writer;
    std::int64_t bytes = 0;  // of all time points
    std::int64_t written = 0;
    std::vector<std::byte> transposed;
};

SeriesWriter::SeriesWriter(const std::filesystem::path& path, SeriesHeader header, const ImageStorage& storage) {
    const VolumeGrid& grid = header.grid;
    check_volume_name(path, grid.type);
    check_storage(format_of(path), storage, path);
    if (grid.depth <= 0 || grid.a_scans <= 0 || grid.b_scans <= 0 || header.time_points <= 0) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("there are no voxels in {} x {} x {} and {}", grid.depth, grid.a_scans, grid.b_scans,
                                counted(header.time_points, "time points")),
                    path.string());
    }
    if (header.time_points > 1) check_series_name(path, grid.type);
    parts_ = std::make_unique<Parts>(path, std::move(header), storage);
}

SeriesWriter::~SeriesWriter() = default;

// Transposes pieces of limited size, which bounds the additional memory.
void SeriesWriter::write(std::span<const std::byte> b_scans) {
    const VolumeGrid& grid = parts_->header.grid;
    const std::int64_t slice = grid.b_scan_bytes();
    parts_->written += std::ssize(b_scans);
    if (std::ssize(b_scans) % slice != 0 || parts_->written > parts_->bytes) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("{} do not make B-scans of {} x {} voxels, or are more than announced",
                                counted(b_scans.size(), "bytes"), grid.depth, grid.a_scans),
                    parts_->path.string());
    }
    const auto max = static_cast<std::size_t>(b_scans_a_piece(grid) * slice);
    while (!b_scans.empty()) {
        const std::span<const std::byte> piece = b_scans.first(std::min(max, b_scans.size()));
        parts_->transposed.resize(piece.size());
        transpose(piece, parts_->transposed, grid.type, grid.a_scans, grid.depth);
        parts_->writer->write(parts_->transposed);
        b_scans = b_scans.subspan(piece.size());
    }
}

void SeriesWriter::finish() {
    if (parts_->written != parts_->bytes) {
        throw Error(ErrorCode::output,
                    fmt::format("{} of voxels were written, {} were announced", counted(parts_->written, "bytes"),
                                parts_->bytes),
                    parts_->path.string());
    }
    parts_->writer->finish();
    parts_->writer.reset();
    parts_->unfinished.commit();
}

std::vector<std::string> lost_in(const SeriesHeader& header, const std::filesystem::path& path) {
    const ImageFormat& format = format_of(path);
    const bool needs_orientation = is_turned(header), needs_origin = is_shifted(header);
    const std::string others =
        endings_written([](const ImageFormat& other) { return other.holds_orientation; }) + " keep them";
    if (!format.holds_texts) {
        const VolumeGrid& grid = header.grid;
        const bool has_spacing = std::ranges::any_of(grid.spacing_um, [](double spacing) { return spacing > 0; });
        std::vector<std::string> lost;
        if (has_spacing) lost.emplace_back("spacings and their unit");
        if (has_pose(header)) lost.emplace_back("position and orientation");
        if (grid.scale != 1 || grid.offset != 0) lost.emplace_back("the scale of the values");
        if (header.step_s > 0 || !header.times_s.empty()) lost.emplace_back("times");
        if (lost.empty()) return {};
        return {fmt::format("{}: {} cannot hold {}, which are lost; {}", path.string(), format.name,
                            fmt::join(lost, ", "), others)};
    }
    std::vector<std::string> hidden;
    if (needs_origin && !format.holds_origin) hidden.emplace_back("position");
    if (needs_orientation && !format.holds_orientation) {
        hidden.emplace_back("orientation");
        if (needs_origin && format.holds_origin) hidden.insert(hidden.begin(), "position");
    }
    if (hidden.empty()) return {};
    return {fmt::format("{}: {} has no field for {}; Echolux finds them in its own notes, other programs do not; {}",
                        path.string(), format.name, fmt::join(hidden, " and "), others)};
}

void write_volume(const std::filesystem::path& path, const Volume& volume) {
    SilentProgress silent;
    write_volume(path, volume, silent);
}

void write_volume(const std::filesystem::path& path, const Volume& volume, Progress& progress) {
    if (std::ssize(volume.voxels) != volume.grid.bytes()) {
        throw Error(
            ErrorCode::bad_setting,
            fmt::format("{} do not make a volume of {} x {} x {} voxels", counted(volume.voxels.size(), "bytes"),
                        volume.grid.depth, volume.grid.a_scans, volume.grid.b_scans),
            path.string());
    }
    SeriesWriter writer(path, {.grid = volume.grid, .provenance = volume.provenance});
    const auto b_scan = static_cast<std::size_t>(volume.grid.a_scans * volume.grid.depth * bytes_of(volume.grid.type));
    const std::size_t piece = std::max<std::size_t>(1, static_cast<std::size_t>(piece_bytes) / b_scan) * b_scan;
    progress.begin("write " + path.filename().string(), std::ssize(volume.voxels), "bytes");
    for (std::span<const std::byte> left = volume.voxels; !left.empty();) {
        const std::size_t next = std::min(piece, left.size());
        writer.write(left.first(next));
        left = left.subspan(next);
        progress.advance(static_cast<std::int64_t>(next));
    }
    writer.finish();
    progress.end();
}

}  // namespace echolux
