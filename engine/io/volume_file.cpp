// Volumes in files: see volume_file.h. What a format has no field for (unit, which spacings are known, provenance)
// travels in key and value pairs (NRRD, MetaImage, a comment extension of NIfTI); TIFF keeps voxels and the spacing of
// columns and rows only.
#include "engine/io/volume_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/itk_image.h"
#include "engine/io/nifti_file.h"

namespace echolux {
namespace {

const std::string prefix = "echolux_";  // of our keys in files
const std::string provenance_prefix = prefix + "provenance_";

enum class Format { nrrd, nifti, tiff, meta };

std::optional<Format> format_named(const std::filesystem::path& path) {
    std::string name = path.filename().string();
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (name.ends_with(".nrrd")) return Format::nrrd;
    if (name.ends_with(".nii") || name.ends_with(".nii.gz")) return Format::nifti;
    if (name.ends_with(".tif") || name.ends_with(".tiff")) return Format::tiff;
    if (name.ends_with(".mha") || name.ends_with(".mhd")) return Format::meta;
    return std::nullopt;
}

Format format_of(const std::filesystem::path& path) {
    if (const auto format = format_named(path)) return *format;
    throw Error(ErrorCode::bad_setting, "is no name of a volume", path.string(),
                "use .nrrd, .nii, .nii.gz, .tif or .mha");
}

// ---- the turn -------------------------------------------------------------------------------------------------------

// out[column][row] = in[row][column] of one slice, in tiles that fit the cache.
template <class Voxel>
void transpose(const std::byte* in, std::byte* out, std::int64_t rows, std::int64_t columns) {
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

std::vector<std::byte> turned(const std::vector<std::byte>& in, VoxelType type, std::int64_t slices, std::int64_t rows,
                              std::int64_t columns) {
    std::vector<std::byte> out(in.size());
    const std::int64_t slice_bytes = rows * columns * bytes_of(type);
    for (std::int64_t slice = 0; slice < slices; ++slice) {
        const std::byte* from = in.data() + slice * slice_bytes;
        std::byte* to = out.data() + slice * slice_bytes;
        switch (bytes_of(type)) {
            case 1: transpose<std::uint8_t>(from, to, rows, columns); break;
            case 2: transpose<std::uint16_t>(from, to, rows, columns); break;
            case 4: transpose<std::uint32_t>(from, to, rows, columns); break;
            default: transpose<std::uint64_t>(from, to, rows, columns); break;
        }
    }
    return out;
}

// ---- texts ----------------------------------------------------------------------------------------------------------

// Line breaks would end a value in most headers, so that texts stand on one line in all of them.
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

std::string with_line_breaks(const std::string& line) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const bool escape = line[i] == '\\' && i + 1 < line.size();
        if (escape) ++i;
        text += escape && line[i] == 'n' ? '\n' : line[i];
    }
    return text;
}

// One letter for each spacing that is known: depth, A-scan, B-scan; "-" for none.
constexpr std::array<char, 3> axis_letters{'d', 'a', 'b'};

std::string known_spacings(const VolumeGrid& grid) {
    std::string letters;
    for (std::size_t i = 0; i < 3; ++i) {
        if (grid.spacing_um[i] > 0) letters += axis_letters[i];
    }
    return letters.empty() ? "-" : letters;
}

std::map<std::string, std::string> texts_for(const Volume& volume) {
    const VolumeGrid& grid = volume.grid;
    std::map<std::string, std::string> texts;
    const auto add = [&](const std::string& key, const std::string& text) {
        if (!text.empty()) texts[key] = on_one_line(text);  // MetaImage has no empty values
    };
    add("description", "Echolux " + grid.quantity + ", " + grid.unit);
    add(prefix + "spacing_known", known_spacings(grid));
    add(prefix + "scale", fmt::format("{}", grid.scale));
    add(prefix + "offset", fmt::format("{}", grid.offset));
    add(prefix + "quantity", grid.quantity);
    add(prefix + "unit", grid.unit);
    for (const auto& [key, text] : volume.provenance) add(provenance_prefix + key, text);
    return texts;
}

void apply_texts(const ImageHeader& header, Volume& volume) {
    const auto text = [&](const std::string& key) {
        const auto found = header.texts.find(key);
        return found == header.texts.end() ? std::string() : with_line_breaks(found->second);
    };
    const auto number = [&](const std::string& key, double otherwise) {
        const std::string digits = text(key);
        char* end = nullptr;
        const double value = std::strtod(digits.c_str(), &end);
        return end != digits.c_str() && std::isfinite(value) ? value : otherwise;
    };
    volume.grid.scale = number(prefix + "scale", header.scale);
    volume.grid.offset = number(prefix + "offset", header.offset);
    volume.grid.quantity = text(prefix + "quantity");
    volume.grid.unit = text(prefix + "unit");
    for (const auto& [key, ignored] : header.texts) {
        if (key.starts_with(provenance_prefix)) volume.provenance[key.substr(provenance_prefix.size())] = text(key);
    }
}

// ---- geometry -------------------------------------------------------------------------------------------------------

constexpr std::array<std::size_t, 3> file_axis{1, 0, 2};  // of depth, A-scan, B-scan

ImageHeader header_for(Format format, const Volume& volume) {
    const VolumeGrid& grid = volume.grid;
    ImageHeader header;
    header.size = {grid.a_scans, grid.depth, grid.b_scans};
    header.type = grid.type;
    header.scale = grid.scale;
    header.offset = grid.offset;
    header.texts = texts_for(volume);
    for (std::size_t i = 0; i < 3; ++i) {
        if (grid.spacing_um[i] > 0) header.spacing_mm[file_axis[i]] = grid.spacing_um[i] / 1000;
    }
    const bool any_known = known_spacings(grid) != "-";
    const bool plane_known = grid.spacing_um[0] > 0 && grid.spacing_um[1] > 0;
    header.has_unit = format == Format::tiff ? plane_known : any_known;
    if (grid.spacing_um[0] > 0) header.origin_mm[1] = grid.first_depth_um / 1000;
    return header;
}

// Files of others do not say which spacings they know: all of them where there is a unit, TIFF never the third.
VolumeGrid grid_of(Format format, const ImageHeader& header) {
    VolumeGrid grid;
    grid.a_scans = header.size[0];
    grid.depth = header.size[1];
    grid.b_scans = header.size[2];
    grid.type = header.type;
    const auto ours = header.texts.find(prefix + "spacing_known");
    const std::string others = !header.has_unit ? "-" : format == Format::tiff ? "da" : "dab";
    const std::string known = ours == header.texts.end() ? others : ours->second;
    for (std::size_t i = 0; i < 3; ++i) {
        const bool is_known = known.find(axis_letters[i]) != std::string::npos;
        if (is_known) grid.spacing_um[i] = header.spacing_mm[file_axis[i]] * 1000;
    }
    const bool has_depth = ours != header.texts.end() && grid.spacing_um[0] > 0;
    if (has_depth) grid.first_depth_um = header.origin_mm[1] * 1000;
    return grid;
}

// Fails early and quietly where some libraries would write for minutes and then complain line by line.
void check_free_space(const std::filesystem::path& path, const AtomicFile& file, std::int64_t bytes) {
    if (path.extension() == ".gz") return;  // nobody knows how small it becomes
    std::error_code problem;
    const std::filesystem::space_info space = std::filesystem::space(file.temporary(), problem);
    if (problem || space.available >= static_cast<std::uintmax_t>(bytes)) return;
    throw Error(ErrorCode::output,
                fmt::format("needs {} MiB of disk space, {} MiB are free", (bytes >> 20) + 1, space.available >> 20),
                path.string(), "free some space, or write .nii.gz");
}

ItkFormat itk_format(Format format) {
    if (format == Format::tiff) return ItkFormat::tiff;
    return format == Format::nrrd ? ItkFormat::nrrd : ItkFormat::meta;
}

}  // namespace

bool is_volume_name(const std::filesystem::path& path) {
    return format_named(path).has_value();
}

void check_volume_name(const std::filesystem::path& path, VoxelType type) {
    const Format format = format_of(path);
    if (type == VoxelType::f16) {
        throw Error(ErrorCode::bad_setting, "f16 voxels are for the screen, no file format holds them", path.string(),
                    "set recipe.voxel=f32");
    }
    if (format == Format::meta && !path.extension().string().ends_with('a')) {
        throw Error(ErrorCode::bad_setting, "would be two files", path.string(), "use .mha: header and voxels in one");
    }
    if (format == Format::tiff && type == VoxelType::complex64) {
        throw Error(ErrorCode::bad_setting, "TIFF cannot hold complex voxels", path.string(),
                    "use .nrrd, .nii, .nii.gz or .mha");
    }
}

void write_volume(const std::filesystem::path& path, const Volume& volume) {
    const VolumeGrid& grid = volume.grid;
    check_volume_name(path, grid.type);
    if (grid.voxels() <= 0 || static_cast<std::int64_t>(volume.voxels.size()) != grid.bytes()) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("{} bytes are no volume of {} x {} x {} voxels", volume.voxels.size(), grid.depth,
                                grid.a_scans, grid.b_scans),
                    path.string());
    }
    const Format format = format_of(path);
    const ImageHeader header = header_for(format, volume);
    AtomicFile file(path);
    check_free_space(path, file, grid.bytes());
    const std::vector<std::byte> voxels = turned(volume.voxels, grid.type, grid.b_scans, grid.a_scans, grid.depth);
    if (format == Format::nifti) {
        write_nifti(file.temporary(), header, voxels, path.string());
    } else {
        write_itk(file.temporary(), itk_format(format), header, voxels, path.string());
    }
    file.commit();
}

SeriesFile::SeriesFile(const std::filesystem::path& path) : path_(path) {
    const Format format = format_of(path);
    std::error_code problem;
    if (!std::filesystem::is_regular_file(path, problem)) {
        throw Error(ErrorCode::bad_file, "does not exist or is not a file", path.string(), "check the name");
    }
    if (format == Format::nifti) nifti_ = std::make_unique<NiftiReader>(path);
}

SeriesFile::~SeriesFile() = default;

std::int64_t SeriesFile::time_points() const {
    return nifti_ ? nifti_->header().time_points : 1;
}

double SeriesFile::step_s() const {
    return nifti_ ? nifti_->header().time_step_s : 0;
}

Volume SeriesFile::read(std::int64_t time_point) {
    const Format format = format_of(path_);
    std::vector<std::byte> voxels;
    if (nifti_) voxels = nifti_->read(time_point);
    const ImageHeader header = nifti_ ? nifti_->header() : read_itk(path_, itk_format(format), voxels);
    Volume volume;
    volume.grid = grid_of(format, header);
    apply_texts(header, volume);
    if (header.time_points > 1) {
        const std::string number = time_point == 0 ? "first" : fmt::format("{}", time_point + 1);
        volume.provenance["time_points"] = fmt::format("{} of {}", number, header.time_points);
    }
    volume.voxels = turned(voxels, header.type, header.size[2], header.size[1], header.size[0]);
    return volume;
}

Volume read_volume(const std::filesystem::path& path) {
    return SeriesFile(path).read(0);
}

}  // namespace echolux
