// Operation `convert`: converts volumes and series between formats, some B-scans at a time, so that neither has to fit
// into memory.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "app/open/convert_input.h"
#include "app/operations/operation.h"
#include "app/settings/short_texts.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/build.h"
#include "engine/io/file_name.h"
#include "engine/io/image_format.h"
#include "engine/io/picture_file.h"
#include "engine/offline/recoder.h"

namespace echolux {
namespace {

SeriesHeader header_of_output(const SeriesHeader& input, const VolumeGrid& grid, const Interval& time_points) {
    SeriesHeader header = input;
    header.grid = grid;
    header.time_points = time_points.end - time_points.begin;
    const bool part = header.time_points != input.time_points;
    if (part)
        header.provenance["time_points"] =
            fmt::format("{} to {} of {}", time_points.begin, time_points.end - 1, input.time_points);
    if (!input.times_s.empty()) {
        header.times_s.assign(input.times_s.begin() + time_points.begin, input.times_s.begin() + time_points.end);
    } else if (time_points.begin > 0 && input.step_s > 0) {
        for (std::int64_t t = time_points.begin; t < time_points.end; ++t) {
            header.times_s.push_back(static_cast<double>(t) * input.step_s);
        }
    }
    return header;
}

// Reports in whole MiB, regardless of the unit of the work.
class MebibyteProgress {
  public:
    MebibyteProgress(Progress& progress, const std::string& task, double bytes) : progress_(progress) {
        progress.begin(task, static_cast<std::int64_t>(bytes / mebibyte) + 1, "MiB");
    }

    void advance(double bytes) {
        bytes_ += bytes;
        const auto whole = static_cast<std::int64_t>(bytes_ / mebibyte);
        progress_.advance(whole - reported_);
        reported_ = whole;
    }

  private:
    static constexpr double mebibyte = 1048576;

    Progress& progress_;
    double bytes_ = 0;
    std::int64_t reported_ = 0;
};

// A file that is written as it is read, a volume in memory, or both.
class ConvertedVolumes {
  public:
    ConvertedVolumes(const OperationOutput& output, const SeriesHeader& header, const ImageStorage& storage) {
        if (!output.file.empty()) writer_ = std::make_unique<SeriesWriter>(output.file, header, storage);
        if (!output.is_kept) return;
        if (header.time_points > 1) {
            throw Error(ErrorCode::bad_setting, fmt::format("would hold {} time points in memory", header.time_points),
                        "output", "choose one with `time`, or name a file");
        }
        volume_ = std::make_shared<Volume>(Volume{header.grid, {}, header.provenance});
    }

    // Writes whole B-scans, some at a time, since compression is slow and only `done` can cancel it.
    void write(const std::vector<std::byte>& voxels, const VolumeGrid& grid, const std::function<void(double)>& done) {
        constexpr std::int64_t piece_bytes = 1 << 22;
        const auto piece = index(std::max<std::int64_t>(1, piece_bytes / grid.b_scan_bytes()) * grid.b_scan_bytes());
        for (std::size_t begin = 0; begin < voxels.size(); begin += piece) {
            const auto part = std::span(voxels).subspan(begin, std::min(piece, voxels.size() - begin));
            if (writer_) writer_->write(part);
            done(static_cast<double>(part.size()) / static_cast<double>(voxels.size()));
        }
        if (volume_) volume_->voxels.insert(volume_->voxels.end(), voxels.begin(), voxels.end());
    }

    void finish(OperationOutput& output) {
        if (writer_) writer_->finish();
        output.volume = std::move(volume_);
    }

  private:
    std::unique_ptr<SeriesWriter> writer_;
    std::shared_ptr<Volume> volume_;
};

// Gray PNG of a volume that is one picture: pixels are the codes.
void require_picture(const VolumeGrid& grid, std::int64_t time_points) {
    const bool has_type = grid.type == VoxelType::u8 || grid.type == VoxelType::u16;
    if (has_type && grid.b_scans == 1 && time_points == 1) return;
    throw Error(ErrorCode::bad_setting,
                has_type ? "a PNG holds one slice, not " + plural(grid.b_scans * time_points, "B-scans")
                         : std::string("a PNG holds u8 or u16"),
                "output", has_type ? "use `figure` for one B-scan" : "set `type` and `range`, or use `figure`");
}

void write_picture(const std::filesystem::path& path, const Volume& volume) {
    const VolumeGrid& grid = volume.grid;
    std::vector<std::byte> rows(volume.voxels.size());
    transpose(volume.voxels, rows, grid.type, grid.a_scans, grid.depth);
    const int bits = 8 * static_cast<int>(bytes_of(grid.type));
    const auto writer = create_picture(path, {grid.a_scans, grid.depth, 1, bits}, {{text_program, version}});
    writer->write(rows);
    writer->finish();
}

enum class ConvertedType { unchanged, u8, u16, i16, f32 };
enum class OmeVersion { automatic, zarr_2, zarr_3 };

struct Convert {
    VolumeInput input;
    std::string time, range;
    ConvertedType type = ConvertedType::unchanged;
    Compression compression = Compression::automatic;
    OmeVersion ome_version = OmeVersion::automatic;
    OperationOutput output;

    std::int64_t parts = 1;

    static std::vector<std::string> endings() {
        std::vector<std::string> all = written_endings();
        all.emplace_back(".png");
        return all;
    }

    static void describe(OperationParts<Convert>& parts);

    void run(Context& context) {
        ConvertInput from = input.is_in_memory() ? ConvertInput(input.held.front()) : ConvertInput(input.names.front());
        const Interval time_points = chosen_time_points(from.header());
        const SeriesHeader header = from.header(time_points);
        const Recoder recoder(header.grid, voxel_type(header.grid), chosen_range());
        const SeriesHeader written = header_of_output(header, recoder.grid(), time_points);
        const bool is_picture = lower_ending(output.file) == ".png";
        if (is_picture) require_picture(written.grid, written.time_points);
        OperationOutput held{{}, true};
        ConvertedVolumes to(is_picture ? held : output, written, storage());
        const std::int64_t b_scans = header.grid.b_scans, together = std::min(from.b_scans_together(), b_scans);
        MebibyteProgress done(
            context.progress, "convert",
            static_cast<double>(header.grid.bytes()) * static_cast<double>(time_points.end - time_points.begin));
        for (std::int64_t t = time_points.begin; t < time_points.end; ++t) {
            for (std::int64_t begin = 0; begin < b_scans; begin += together) {
                const std::vector<std::byte> voxels = from.read(t, {begin, std::min(begin + together, b_scans)});
                const auto bytes = static_cast<double>(voxels.size());
                to.write(recoder(voxels), written.grid, [&](double share) { done.advance(share * bytes); });
            }
        }
        to.finish(is_picture ? held : output);
        if (is_picture) {
            write_picture(output.file, *held.volume);
            if (output.is_kept) output.volume = held.volume;
        }
        context.progress.end();
        report(context, from, written);
    }

    void report(Context& context, const ConvertInput& from, const SeriesHeader& written) {
        parts = from.parts();
        if (parts > 1) context.say(fmt::format("joined from {} each", plural(parts, "parts")));
        if (output.file.empty()) return;
        context.files.push_back(output.file);
        if (lower_ending(output.file) != ".png") context.warn(lost_in(written, output.file));
    }

    Interval chosen_time_points(const SeriesHeader& header) const {
        Interval chosen;
        if (!time.empty()) std::tie(chosen.begin, chosen.end) = interval_argument(time, "time");
        if (chosen.end == 0) chosen.end = header.time_points;
        if (chosen.begin >= 0 && chosen.begin < chosen.end && chosen.end <= header.time_points) return chosen;
        throw Error(ErrorCode::bad_setting, fmt::format("the series has time points 0 to {}", header.time_points - 1),
                    "time", "give A:B for time points A to B-1");
    }

    VoxelType voxel_type(const VolumeGrid& grid) const {
        switch (type) {
            case ConvertedType::unchanged: return grid.type;
            case ConvertedType::u8: return VoxelType::u8;
            case ConvertedType::u16: return VoxelType::u16;
            case ConvertedType::i16: return VoxelType::i16;
            case ConvertedType::f32: return VoxelType::f32;
        }
        return grid.type;
    }

    std::optional<std::pair<double, double>> chosen_range() const {
        if (range.empty()) return std::nullopt;
        return range_argument(range, "range");
    }

    ImageStorage storage() const {
        if (ome_version == OmeVersion::automatic) return {compression, ""};
        return {compression, ome_version == OmeVersion::zarr_2 ? "0.4" : "0.5"};
    }
};

void Convert::describe(OperationParts<Convert>& parts) {
    parts.info.summary = "Volumes and series from one format into another";
    parts.info.examples = {"input=v.nrrd output=v.nii.gz", "input=v.nrrd output=v.tif type=u8 range=-20:60",
                           "input=part_*.nrrd output=whole.ome.zarr"};
    parts.info.details =
        "Positions, orientations and units are kept where both formats hold them. See docs/formats.md.";
    parts
        .input({.name = "input",
                .help = "volume or series of any format; a folder of volumes or a pattern (\"scan_*.nrrd\") is a "
                        "series, or parts of one volume, which are joined",
                .takes_scans = false,
                .has_stored_as = false},
               &Convert::input)
        .argument(text("time", &Convert::time, Effect::file, "time points A to B-1, counted from 0; default: all")
                      .written_as("A:B"))
        .argument(choice("type", &Convert::type, {"unchanged", "u8", "u16", "i16", "f32"}, Effect::file,
                         "voxels of this type"))
        .argument(text("range", &Convert::range, Effect::file,
                       "values that the integer codes span, from the lowest to the highest")
                      .written_as("LOW:HIGH"))
        .argument(choice("compression", &Convert::compression, {"automatic", "none", "gzip", "zstd", "blosc"},
                         Effect::file, "compression, where the format offers a choice"))
        .argument(choice("ome_version", &Convert::ome_version, {"automatic", "0.4", "0.5"}, Effect::file,
                         "version of OME-Zarr: 0.4 (automatic) uses Zarr 2, 0.5 uses Zarr 3"))
        .output({.name = "output",
                 .kind = OutputKind::volume_or_figure,
                 .help = "volume or series; kept in memory (C, Python): one time point; of one slice also a gray *.png",
                 .is_required = true,
                 .placeholder = "VOLUME",
                 .is_positional = true,
                 .endings = endings()},
                &Convert::output)
        .result("parts", "", "parts that were joined per time point; 1: not joined", &Convert::parts);
}

}  // namespace

ECHOLUX_OPERATION(convert, Convert)

}  // namespace echolux
