// Operation `page`: a web page of a volume that opens without a network: a turntable, sections, and where the data come
// from.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>

#include "app/movie/movie_job.h"
#include "app/operations/operation.h"
#include "assets/assets.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/analysis/figures.h"
#include "engine/build.h"
#include "engine/io/png_file.h"
#include "engine/io/scratch_folder.h"
#include "engine/memory.h"

namespace echolux {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view page_mark = "<meta name=\"generator\" content=\"Echolux ";
constexpr double mebibyte = 1048576;

std::string base64(std::span<const std::byte> bytes) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; ++k)
            group = group << 8 | (k < count ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0);
        for (std::size_t k = 0; k < 4; ++k) text += k <= count ? digits[group >> (18 - 6 * k) & 63] : '=';
    }
    return text;
}

std::string png_uri(std::span<const std::uint8_t> rgba, std::int64_t width, std::int64_t height) {
    constexpr int small = 9;
    return "data:image/png;base64," + base64(png_bytes(rgba, width, height, Alpha::dropped, small));
}

// For texts in HTML.
std::string escaped(const std::string& text) {
    std::string safe;
    for (const char c : text) {
        switch (c) {
            case '&': safe += "&amp;"; break;
            case '<': safe += "&lt;"; break;
            case '>': safe += "&gt;"; break;
            case '"': safe += "&quot;"; break;
            default: safe += c;
        }
    }
    return safe;
}

// A volume in gray, averaged over boxes of voxels so that no side is longer than a limit. x: A-scans, y: B-scans, z:
// depth.
class GrayBlocks {
  public:
    GrayBlocks(const Volume& volume, std::int64_t max_side) : grid_(volume.grid) {
        const std::array<std::int64_t, 3> full{grid_.a_scans, grid_.b_scans, grid_.depth};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            size.at(axis) = std::min(full.at(axis), max_side);
            step.at(axis) = static_cast<double>(full.at(axis)) / static_cast<double>(size.at(axis));
        }
        constexpr std::int64_t bytes_per_voxel = 32;  // two doubles, the picture and its text
        require_memory(bytes_per_voxel * size[0] * size[1] * size[2], "section_size", "choose a smaller one");
        average(volume);
    }

    std::array<std::int64_t, 3> size{};
    std::array<double, 3> step{};  // voxels per box
    std::int64_t across = 1;       // B-scans beside each other in the picture

    // All B-scans in a grid that is about square.
    std::string picture_uri() {
        const double aspect = static_cast<double>(size[2]) / static_cast<double>(size[0]);
        across = std::clamp<std::int64_t>(std::lround(std::sqrt(static_cast<double>(size[1]) * aspect)), 1, size[1]);
        const std::int64_t down = (size[1] + across - 1) / across, width = across * size[0], height = down * size[2];
        std::vector<std::uint8_t> rgba(index(4 * width * height), 255);
        for (std::int64_t y = 0; y < size[1]; ++y) {
            for (std::int64_t x = 0; x < size[0]; ++x) {
                for (std::int64_t z = 0; z < size[2]; ++z) {
                    const auto level = levels_[index((y * size[0] + x) * size[2] + z)];
                    const std::int64_t row = y / across * size[2] + z, column = y % across * size[0] + x;
                    std::fill_n(rgba.begin() + 4 * (row * width + column), 3, level);
                }
            }
        }
        return png_uri(rgba, width, height);
    }

  private:
    // In dB that of the middle B-scan, as in figures. Else the range without 0.3 % of the values on each side, from at
    // most a million voxels.
    GrayRange gray_range(const Volume& volume) const {
        if (grid_.quantity == "db") return percentile_range(b_scan_figure(volume, grid_.b_scans / 2));
        constexpr std::int64_t enough = 1'000'000;
        const std::int64_t stride = grid_.voxels() / enough + 1;
        Figure sample;
        with_voxels(volume, [&](const auto* codes) {
            for (std::int64_t i = 0; i < grid_.voxels(); i += stride)
                sample.values.push_back(static_cast<float>(value_of(static_cast<double>(codes[i]))));
        });
        sample.width = std::ssize(sample.values);
        sample.height = 1;
        return percentile_range(sample);
    }

    // Reflectivities are shown as their fourth root.
    double value_of(double code) const {
        const double value = code * grid_.scale + grid_.offset;
        return grid_.quantity == "reflectivity" ? std::sqrt(std::sqrt(std::max(value, 0.0))) : value;
    }

    // Unknown voxels are black.
    void average(const Volume& volume) {
        const GrayRange range = gray_range(volume);
        levels_.resize(index(size[0] * size[1] * size[2]));
        std::vector<double> sums(levels_.size()), counts = sums;
        with_voxels(volume, [&](const auto* codes) {
            for (std::int64_t b = 0; b < grid_.b_scans; ++b) {
                for (std::int64_t a = 0; a < grid_.a_scans; ++a) {
                    const std::int64_t line = box(1, b) * size[0] + box(0, a);
                    for (std::int64_t z = 0; z < grid_.depth; ++z) {
                        const double value = value_of(static_cast<double>(*codes++));
                        if (!std::isfinite(value)) continue;
                        const auto at = index(line * size[2] + box(2, z));
                        sums[at] += std::clamp(value, range.black, range.white);
                        ++counts[at];
                    }
                }
            }
        });
        for (std::size_t i = 0; i < levels_.size(); ++i) {
            if (counts[i] == 0) continue;
            const double share = (sums[i] / counts[i] - range.black) / (range.white - range.black);
            levels_[i] = static_cast<std::uint8_t>(std::lround(255 * std::clamp(share, 0.0, 1.0)));
        }
    }

    std::int64_t box(std::size_t axis, std::int64_t at) const {
        return std::min(static_cast<std::int64_t>(static_cast<double>(at) / step.at(axis)), size.at(axis) - 1);
    }

    VolumeGrid grid_;
    std::vector<std::uint8_t> levels_;
};

struct Page {
    VolumeInput input;
    std::string title, device, view_file;
    std::int64_t frames = 36, frame_size = 480, section_size = 160;
    double limit = 64;
    bool provenance = true;
    View view;
    OperationOutput output;

    double mib = 0;
    std::string used_device;

    static void describe(OperationParts<Page>& parts);

    void run(Context& context) {
        const std::shared_ptr<const Volume> volume = context.volume(input);
        if (volume->grid.type == VoxelType::complex64) {
            throw Error(ErrorCode::bad_setting, "complex voxels have no brightness", input.name(),
                        "reconstruct db, intensity or amplitude");
        }
        const std::vector<std::string> turn = turntable(volume, context);
        const std::string page = filled(*volume, turn);
        mib = static_cast<double>(page.size()) / mebibyte;
        if (mib > limit) {
            throw Error(ErrorCode::bad_setting, fmt::format("the page would have {:.3g} MiB", mib), "limit",
                        "use fewer `frames`, or smaller `frame_size` and `section_size`");
        }
        context.write(output, page);
        context.say(fmt::format("{} and sections, {:.1f} MiB", plural(std::ssize(turn), "pictures"), mib));
    }

    // Draws a movie into a temporary folder. The pictures are encoded again without the session that movies carry,
    // which names files of this computer.
    std::vector<std::string> turntable(const std::shared_ptr<const Volume>& volume, Context& context) {
        std::vector<std::string> uris;
        if (frames == 0) return uris;
        const ScratchFolder folder;
        MovieJob job;
        job.shown = [volume] { return volume; };
        job.view = view;
        job.view.width = job.view.height = frame_size;
        job.device.name = device;
        job.spec.frames = frames;
        job.codec = MovieCodec::png;
        job.output = folder.path() / "frame_%04d.png";
        const MovieResult made = echolux::run(job, context.progress);
        context.warn(made.warnings);
        used_device = made.device;
        std::vector<std::filesystem::path> files;
        for (const auto& file : std::filesystem::directory_iterator(folder.path())) files.push_back(file.path());
        std::ranges::sort(files);
        for (const std::filesystem::path& file : files) {
            if (file.extension() == ".png") uris.push_back(uri_of(read_png(file)));
        }
        return uris;
    }

    static std::string uri_of(const Picture& picture) {
        std::vector<std::uint8_t> rgba;
        const auto channels = static_cast<std::size_t>(picture.channels);
        for (std::size_t i = 0; i + channels <= picture.pixels.size(); i += channels) {
            const bool is_gray = channels == 1;
            for (std::size_t k = 0; k < 3; ++k) rgba.push_back(picture.pixels[i + (is_gray ? 0 : k)]);
            rgba.push_back(255);
        }
        return png_uri(rgba, picture.width, picture.height);
    }

    // ---- Text

    std::string shown_title() const { return title.empty() ? input.name() : title; }

    std::string filled(const Volume& volume, const std::vector<std::string>& turn) const {
        const std::map<std::string, std::string> texts{{"version", version},
                                                       {"title", escaped(shown_title())},
                                                       {"facts", facts(volume)},
                                                       {"sections", sections(volume).dump()},
                                                       {"frames", Json(turn).dump()}};
        const std::string page(shipped_file("page/template.html"));
        std::string result;
        std::size_t from = 0;
        for (std::size_t at = page.find("{{"); at != std::string::npos; at = page.find("{{", from)) {
            const std::size_t end = page.find("}}", at);
            result += page.substr(from, at - from) + texts.at(page.substr(at + 2, end - at - 2));
            from = end + 2;
        }
        return result + page.substr(from);
    }

    Json sections(const Volume& volume) const {
        const VolumeGrid& grid = volume.grid;
        GrayBlocks blocks(volume, section_size);
        const std::array<double, 3> um{grid.spacing_um[1], grid.spacing_um[2], grid.spacing_um[0]};
        const bool is_known = std::ranges::min(um) > 0;
        Json mm = nullptr, first = Json::array();
        if (is_known) mm = Json::array();
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const double middle = (blocks.step.at(axis) - 1) / 2;  // of the first box, in voxels
            const double origin_um = axis == 2 ? grid.first_depth_um : 0;
            first.push_back(is_known ? (origin_um + middle * um.at(axis)) / 1000 : middle);
            if (is_known) mm.push_back(um.at(axis) * blocks.step.at(axis) / 1000);
        }
        const std::string image = blocks.picture_uri();
        return {{"size", blocks.size}, {"step", blocks.step},     {"mm", mm},
                {"first", first},      {"across", blocks.across}, {"image", image}};
    }

    std::string facts(const Volume& volume) const {
        const VolumeGrid& grid = volume.grid;
        std::string rows;
        const auto add = [&rows](const std::string& name, const std::string& value) {
            if (!value.empty()) rows += fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", escaped(name), escaped(value));
        };
        const auto length = [](double um) { return um > 0 ? fmt::format("{:.4g} µm", um) : std::string("unknown"); };
        add("Volume", input.name());
        add("Size", fmt::format("{}, {}, {}", plural(grid.a_scans, "A-scans"), plural(grid.b_scans, "B-scans"),
                                plural(grid.depth, "depth rows")));
        add("Spacing", fmt::format("{} along the A-scans, {} across the B-scans, {} in depth",
                                   length(grid.spacing_um[1]), length(grid.spacing_um[2]), length(grid.spacing_um[0])));
        add("Values", grid.quantity + (grid.unit.empty() ? "" : " (" + grid.unit + ")"));
        add("Made by", std::string("Echolux ") + version);
        if (!provenance) return rows;
        for (const auto& [key, value] : volume.provenance) add(key, value);
        return rows;
    }

    static bool is_own_page(const std::filesystem::path& path) { return holds_near_an_end(path, page_mark); }
};

void Page::describe(OperationParts<Page>& parts) {
    using P = Page;
    constexpr Effect effect = Effect::file;
    parts.info.summary = "A web page of a volume, in one file that opens without a network";
    parts.info.examples = {"input=v.nrrd output=v.html", "input=v.nrrd frames=0 output=v.html"};
    parts.info.details =
        "A turntable to drag, three sections with sliders and scale bars, and where the data come from. See "
        "docs/share.md.";
    parts.input({.name = "input", .help = "volume file or scan"}, &P::input)
        .output({.name = "output",
                 .kind = OutputKind::file,
                 .help = "page",
                 .is_required = true,
                 .placeholder = "PAGE.html",
                 .is_own = &P::is_own_page,
                 .endings = {".html", ".htm"}},
                &P::output)
        .argument(text("title", &P::title, effect, "title [the name of the file]"))
        .argument(integer("frames", &P::frames, 0, 360, "", effect, "number of pictures of a turn; 0: no turntable"))
        .argument(integer("frame_size", &P::frame_size, 16, 2048, "", effect, "width and height of these pictures"))
        .argument(integer("section_size", &P::section_size, 2, 512, "", effect,
                          "largest number of voxels along each side of the sections; longer sides are averaged"))
        .argument(number("limit", &P::limit, 0.01, 1024, "MiB", effect, "largest page"))
        .argument(flag("provenance", &P::provenance, effect, "list the texts that the volume stores"))
        .preset_argument(text("view", &P::view_file, effect, "a file with a section [view], for the turntable")
                             .written_as("FILE.toml")
                             .file({".toml"}),
                         [](const P& one, Settings& settings) {
                             if (!one.view_file.empty()) settings.read_toml(one.view_file);
                         })
        .argument(text("device", &P::device, effect, "part of the Vulkan device's name [the fastest kind]")
                      .written_as("NAME"))
        .section("view", "", &P::view)
        .result("mib", "MiB", "size of the page", &P::mib)
        .result("device", "", "Vulkan device that rendered", [](const P& one) { return one.used_device; });
}

}  // namespace

ECHOLUX_OPERATION(page, Page)

}  // namespace echolux
