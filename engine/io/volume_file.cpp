#include "engine/io/volume_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/io/atomic_file.h"
#include "engine/io/file_name.h"
#include "engine/io/image_header.h"
#include "engine/io/regular_file.h"
#include "engine/memory.h"
#include "engine/progress.h"
#include "engine/size_words.h"

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
                path.string(), fmt::format("supported: {}", fmt::join(names, ", ")));
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
                fmt::format("needs {} of disk space, {} are free", size_words(bytes),
                            size_words(static_cast<double>(space.available))),
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
                            header.size[1], header.size[2], plural(header.time_points, "time points")),
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
    throw Error(ErrorCode::bad_setting, format_of(path).name + " stores a single time point", path.string(),
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
    if (std::filesystem::is_regular_file(file, problem) && std::filesystem::file_size(file, problem) == 0)
        throw Error(ErrorCode::bad_file, "is empty", path.string(), "copy or save it again");
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
    if (!inside) throw Error(ErrorCode::bad_setting, "is outside the file", path_.string());
    const std::int64_t slice = grid.b_scan_bytes();
    require_memory((b_scans.end - b_scans.begin) * slice, path_.string(), "crop or convert it first");
    std::vector<std::byte> voxels(index((b_scans.end - b_scans.begin) * slice));
    const std::int64_t max = b_scans_together();
    for (std::int64_t begin = b_scans.begin, end = 0; begin < b_scans.end; begin = end) {
        end = std::min((begin / max + 1) * max, b_scans.end);
        const Interval piece{begin, end};
        const std::vector<std::byte> stored = reader_->read(time_point, piece);
        const auto at = index((begin - b_scans.begin) * slice);
        if (std::ssize(stored) != (end - begin) * slice)
            throw Error(ErrorCode::bad_file, "has a number of voxels that does not match its header", path_.string());
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
    const auto is_inside = [](const Interval& part, std::int64_t size) {
        return part.begin >= 0 && part.begin < part.end && part.end <= size;
    };
    const bool inside = level < levels_.size() && time_point >= 0 && time_point < header_.time_points &&
                        is_inside(box.depth, levels_[level].depth) && is_inside(box.a_scans, levels_[level].a_scans) &&
                        is_inside(box.b_scans, levels_[level].b_scans);
    if (!inside) throw Error(ErrorCode::bad_setting, "is outside the file", path_.string());
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
                                plural(header.time_points, "time points")),
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
                    fmt::format("{} do not form B-scans of {} x {} voxels, or are more than declared",
                                plural(b_scans.size(), "bytes"), grid.depth, grid.a_scans),
                    parts_->path.string());
    }
    const auto max = index(b_scans_a_piece(grid) * slice);
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
        throw Error(
            ErrorCode::output,
            fmt::format("{} of voxels were written, {} were declared", plural(parts_->written, "bytes"), parts_->bytes),
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
    return {
        fmt::format("{}: {} has no field for {}; Echolux restores them from its metadata, other programs do not; {}",
                    path.string(), format.name, fmt::join(hidden, " and "), others)};
}

void write_volume(const std::filesystem::path& path, const Volume& volume) {
    SilentProgress silent;
    write_volume(path, volume, silent);
}

void write_volume(const std::filesystem::path& path, const Volume& volume, Progress& progress) {
    if (std::ssize(volume.voxels) != volume.grid.bytes()) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("{} do not form a volume of {} x {} x {} voxels", plural(volume.voxels.size(), "bytes"),
                                volume.grid.depth, volume.grid.a_scans, volume.grid.b_scans),
                    path.string());
    }
    SeriesWriter writer(path, {.grid = volume.grid, .provenance = volume.provenance});
    const auto b_scan = index(volume.grid.a_scans * volume.grid.depth * bytes_of(volume.grid.type));
    const std::size_t piece = std::max<std::size_t>(1, index(piece_bytes) / b_scan) * b_scan;
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

// ---- conversion -----------------------------------------------------------------------------------------------------

namespace {

const std::string prefix = "echolux_";  // of our keys in files
const std::string provenance_prefix = prefix + "provenance_";
const std::string spacing_known_key = prefix + "spacing_known";
const std::string affine_key = "affine";  // provenance key

constexpr std::array<std::size_t, 3> file_axis{1, 0, 2};  // file axes of depth, A-scan, B-scan

// Escapes line breaks, because a value is one line in most headers.
std::string on_one_line(const std::string& text) {
    std::string line;
    for (const char c : text) {
        if (c == '\n') {
            line += "\\n";
        } else if (c == '\\') {
            line += "\\\\";
        } else if (c != '\r') {
            line += c;
        }
    }
    return line;
}

// Lists the known spacings, one letter per axis: depth, A-scan, B-scan; "-" if none is known.
constexpr std::array<char, 3> axis_letters{'d', 'a', 'b'};

std::string known_spacings(const VolumeGrid& grid) {
    std::string letters;
    for (std::size_t i = 0; i < 3; ++i) {
        if (grid.spacing_um[i] > 0) letters += axis_letters[i];
    }
    return letters.empty() ? "-" : letters;
}

// Returns the texts that describe what most formats have no fields for.
std::map<std::string, std::string> texts_for(const SeriesHeader& series) {
    const VolumeGrid& grid = series.grid;
    std::map<std::string, std::string> texts;
    const auto add = [&](const std::string& key, const std::string& text) {
        if (!text.empty()) texts[key] = on_one_line(text);  // MetaImage has no empty values
    };
    add("description", "Echolux " + grid.quantity + ", " + grid.unit);
    add(spacing_known_key, known_spacings(grid));  // present in each of our files, see has_own_texts()
    add(prefix + "scale", fmt::format("{}", grid.scale));
    add(prefix + "offset", fmt::format("{}", grid.offset));
    add(prefix + "quantity", grid.quantity);
    add(prefix + "unit", grid.unit);
    if (grid.first_depth_um != 0) add(prefix + "first_depth_um", fmt::format("{}", grid.first_depth_um));
    if (grid.v_max > 0) add(prefix + "v_max_mm_s", fmt::format("{}", grid.v_max));
    if (series.time_points > 1 && series.step_s > 0) add(prefix + "time_step_s", fmt::format("{}", series.step_s));
    add(prefix + "times_s", fmt::format("{}", fmt::join(series.times_s, " ")));
    for (const auto& [key, text] : series.provenance) add(provenance_prefix + key, text);
    return texts;
}

// Access to our texts in a header. Missing texts yield std::nullopt, defaults or empty lists.
class EcholuxMetadata {
  public:
    explicit EcholuxMetadata(const ImageHeader& image) : texts_(image.texts) {}

    std::optional<std::string> text(const std::string& key) const {
        const auto found = texts_.find(prefix + key);
        if (found == texts_.end()) return std::nullopt;
        return with_line_breaks(found->second);
    }

    double number(const std::string& key, double otherwise) const {
        const std::vector<double> numbers = numbers_of(key);
        return numbers.size() == 1 ? numbers.front() : otherwise;
    }

    std::vector<double> numbers_of(const std::string& key) const {
        const std::string all = text(key).value_or("");
        std::vector<double> numbers;
        const char* at = all.c_str();
        for (char* end = nullptr;; at = end) {
            const double number = std::strtod(at, &end);
            if (end == at || !std::isfinite(number)) return numbers;
            numbers.push_back(number);
        }
    }

    std::map<std::string, std::string> provenance() const {
        std::map<std::string, std::string> lines;
        for (const auto& [key, line] : texts_) {
            if (key.starts_with(provenance_prefix)) {
                lines[key.substr(provenance_prefix.size())] = with_line_breaks(line);
            }
        }
        return lines;
    }

  private:
    const std::map<std::string, std::string>& texts_;
};

// Works in tiles that fit into the cache.
template <class Voxel>
void transpose_slice(const std::byte* in, std::byte* out, std::int64_t rows, std::int64_t columns) {
    constexpr std::int64_t tile = 32;
    constexpr auto bytes = static_cast<std::int64_t>(sizeof(Voxel));
    for (std::int64_t top = 0; top < rows; top += tile) {
        for (std::int64_t left = 0; left < columns; left += tile) {
            for (std::int64_t row = top; row < std::min(top + tile, rows); ++row) {
                for (std::int64_t column = left; column < std::min(left + tile, columns); ++column) {
                    std::memcpy(out + (column * rows + row) * bytes, in + (row * columns + column) * bytes, bytes);
                }
            }
        }
    }
}

// Foreign files do not list their known spacings: with a unit, all are assumed to be known.
std::array<double, 3> spacings_um(const ImageHeader& image, const EcholuxMetadata& ours) {
    const std::string known = ours.text("spacing_known").value_or(image.has_unit ? "dab" : "-");
    std::array<double, 3> spacings{};
    for (std::size_t i = 0; i < 3; ++i) {
        if (known.find(axis_letters[i]) != std::string::npos) spacings[i] = image.spacing_mm[file_axis[i]] * 1000;
    }
    return spacings;
}

PosedGrid posed_grid(const VolumeGrid& grid) {
    PosedGrid posed{{grid.a_scans, grid.depth, grid.b_scans}};
    for (std::size_t i = 0; i < 3; ++i) posed.spacing_mm[file_axis[i]] = std::max(0.0, grid.spacing_um[i]) / 1000;
    return posed;
}

std::optional<ImagePose> noted_pose(const SeriesHeader& series) {
    const auto text = series.provenance.find(affine_key);
    if (text == series.provenance.end()) return {};
    return pose_in(text->second, posed_grid(series.grid));
}

// Returns the pose of a file, or nothing if it has only straight axes and a first depth, as all our files do.
std::optional<ImagePose> stated_pose(const ImageHeader& image, bool is_ours) {
    std::optional<ImagePose> pose = image.pose;
    if (pose && is_ours && pose->is_straight() && pose->origin[0] == 0 && pose->origin[2] == 0) return {};
    const bool has_origin = std::ranges::any_of(image.origin_mm, [](double origin) { return origin != 0; });
    if (pose || is_ours || !has_origin) return pose;
    ImagePose straight;
    for (std::size_t i = 0; i < 3; ++i) straight.steps.at(i).at(i) = image.spacing_or_one(i);
    straight.origin = image.origin_mm;
    return straight;
}

// Standard fields of a file take precedence over our text, which another program may have copied.
void take_pose(const ImageHeader& image, bool is_ours, SeriesHeader& series) {
    const std::optional<ImagePose> noted = noted_pose(series);
    if (noted && (!image.pose || image.pose->is_close_to(*noted))) return;
    series.provenance.erase(affine_key);
    const std::optional<ImagePose> pose = stated_pose(image, is_ours);
    if (!pose || !is_valid(*pose)) return;
    series.provenance[affine_key] = affine_text(*pose, posed_grid(series.grid));
    const std::string orientation = is_ours ? orientation_of(pose->steps) : "";
    if (!orientation.empty()) series.provenance["orientation"] = orientation;
}

}  // namespace

bool has_pose(const SeriesHeader& series) {
    return noted_pose(series).has_value();
}

bool is_turned(const SeriesHeader& series) {
    const std::optional<ImagePose> pose = noted_pose(series);
    return pose && !pose->is_straight();
}

bool is_shifted(const SeriesHeader& series) {
    const std::optional<ImagePose> pose = noted_pose(series);
    return pose && std::ranges::any_of(pose->origin, [](double origin) { return origin != 0; });
}

ImageHeader image_header(const SeriesHeader& series) {
    const VolumeGrid& grid = series.grid;
    ImageHeader image;
    image.size = {grid.a_scans, grid.depth, grid.b_scans};
    image.type = grid.type;
    image.scale = grid.scale;
    image.offset = grid.offset;
    image.time_points = series.time_points;
    image.time_step_s = series.step_s;
    image.times_s = series.times_s;
    image.texts = texts_for(series);
    for (std::size_t i = 0; i < 3; ++i) image.spacing_mm[file_axis[i]] = std::max(0.0, grid.spacing_um[i]) / 1000;
    image.has_unit = std::ranges::any_of(image.spacing_mm, [](double spacing) { return spacing > 0; });
    if (grid.spacing_um[0] > 0) image.origin_mm[1] = grid.first_depth_um / 1000;
    image.pose = noted_pose(series);
    if (image.pose && image.pose->is_straight()) image.origin_mm = image.pose->origin;
    return image;
}

// Our texts take precedence over fields of the format, which may be less exact.
SeriesHeader series_header(const ImageHeader& image) {
    const EcholuxMetadata ours(image);
    SeriesHeader series;
    VolumeGrid& grid = series.grid;
    grid.a_scans = image.size[0];
    grid.depth = image.size[1];
    grid.b_scans = image.size[2];
    grid.type = image.type;
    grid.spacing_um = spacings_um(image, ours);
    grid.scale = ours.number("scale", image.scale);
    grid.offset = ours.number("offset", image.offset);
    grid.quantity = ours.text("quantity").value_or("");
    grid.unit = ours.text("unit").value_or("");
    grid.v_max = ours.number("v_max_mm_s", 0);
    series.time_points = image.time_points;
    series.step_s = ours.number("time_step_s", image.time_step_s);
    series.times_s = image.times_s.empty() ? ours.numbers_of("times_s") : image.times_s;
    if (std::ssize(series.times_s) != image.time_points) series.times_s.clear();
    series.provenance = ours.provenance();
    const bool is_ours = has_own_texts(image);
    take_pose(image, is_ours, series);
    const bool has_depth = is_ours && grid.spacing_um[0] > 0;  // the origin of other files is arbitrary
    const double origin_um = has_pose(series) ? 0 : image.origin_mm[1] * 1000;  // 0 in formats without an origin
    if (has_depth) grid.first_depth_um = origin_um != 0 ? origin_um : ours.number("first_depth_um", 0);
    return series;
}

bool has_own_texts(const ImageHeader& image) {
    return image.texts.contains(spacing_known_key);
}

void add_provenance(ImageHeader& image, const std::string& key, const std::string& text) {
    if (!text.empty()) image.texts[provenance_prefix + key] = on_one_line(text);
}

VolumeGrid level_grid(const ImageHeader& level, const ImageHeader& finest, const SeriesHeader& series) {
    VolumeGrid grid = series.grid;
    grid.a_scans = level.size[0];
    grid.depth = level.size[1];
    grid.b_scans = level.size[2];
    for (std::size_t i = 0; i < 3; ++i) {
        if (grid.spacing_um[i] > 0) grid.spacing_um[i] = level.spacing_mm[file_axis[i]] * 1000;
    }
    if (grid.spacing_um[0] > 0) grid.first_depth_um += (level.origin_mm[1] - finest.origin_mm[1]) * 1000;
    return grid;
}

void transpose(std::span<const std::byte> in, std::span<std::byte> out, VoxelType type, std::int64_t rows,
               std::int64_t columns) {
    const std::int64_t slice_bytes = rows * columns * bytes_of(type);
    for (std::int64_t at = 0; at + slice_bytes <= std::ssize(in); at += slice_bytes) {
        const std::byte* from = in.data() + at;
        std::byte* to = out.data() + at;
        switch (bytes_of(type)) {
            case 1: transpose_slice<std::uint8_t>(from, to, rows, columns); break;
            case 2: transpose_slice<std::uint16_t>(from, to, rows, columns); break;
            case 4: transpose_slice<std::uint32_t>(from, to, rows, columns); break;
            default: transpose_slice<std::uint64_t>(from, to, rows, columns); break;
        }
    }
}

std::vector<float> finite_values(const Volume& volume) {
    std::vector<float> values(index(volume.grid.voxels()));
    with_voxels(volume, [&](const auto* codes) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double value = static_cast<double>(codes[i]) * volume.grid.scale + volume.grid.offset;
            values[i] = std::isfinite(value) ? static_cast<float>(value) : 0.0F;
        }
    });
    return values;
}

}  // namespace echolux
