// Operation `figure`: draws B-scans and projections with axes, or writes tables of A-scans.
#include "app/figure/figure_job.h"

#include <string>
#include <tuple>

#include "app/operations/operation.h"
#include "app/settings/settings_book.h"
#include "app/settings/short_texts.h"
#include "compute/error.h"
#include "engine/scan/settings.h"

namespace echolux {
namespace {

struct DrawFigure {
    VolumeInput input;
    std::string layout, en_face, a_scan, rows, view_file, size, device;
    std::int64_t b_scan = -1;  // negative: the middle one of a figure, all of a table
    bool from_surface = false, psf = false;
    OperationOutput output;
    FigureStyle style;
    View view;

    static void describe(OperationParts<DrawFigure>& parts);

    bool makes_table() const { return psf || !a_scan.empty(); }

    void run(Context& context) {
        const auto write = [&](auto job, const std::string& ending) {
            static_cast<VolumeSource&>(job) = source_of(input);
            job.overwrites = context.overwrites;
            std::vector<std::string> warnings;
            context.write(output, ending, [&](const std::filesystem::path& path) {
                job.output = path;
                warnings = echolux::run(job, context.progress);
            });
            context.warn(warnings);
        };
        if (makes_table())
            write(table(), ".csv");
        else
            write(figure(), ".png");
    }

    std::optional<std::int64_t> chosen_b_scan() const { return b_scan < 0 ? std::nullopt : std::optional(b_scan); }

    FigureJob figure() const {
        FigureJob job;
        if (const std::string shown = shown_layout(); !shown.empty()) job.content.layout = parsed_layout(shown);
        job.content.b_scan = chosen_b_scan();
        job.content.from_surface = from_surface;
        if (!en_face.empty())
            std::tie(job.content.en_face.begin, job.content.en_face.end) = interval_argument(en_face, "en_face");
        job.style = style;
        job.view = view;
        set_size(job.view, size);
        job.device.name = device;
        job.made_from = {view_file};
        return job;
    }

    // Returns the layout that the arguments imply, empty if they imply none.
    std::string shown_layout() const {
        if (!layout.empty()) return layout;
        const bool has_en_face = !en_face.empty() || from_surface;
        if (b_scan >= 0) return has_en_face ? "bscan+enface" : "bscan";
        return has_en_face ? "enface" : "";
    }

    TableJob table() const {
        if (psf && !a_scan.empty()) {
            throw Error(ErrorCode::bad_setting, "a table holds one A-scan, or the strongest echoes of all", "psf",
                        "leave out `a_scan` or `psf`");
        }
        TableJob job;
        if (!a_scan.empty())
            job.a_scan = pixel_argument(a_scan, "a_scan", "X,Y: A-scan and B-scan, counted from 0, e.g. 120,64");
        job.b_scan = chosen_b_scan();
        if (!rows.empty()) std::tie(job.rows.begin, job.rows.end) = interval_argument(rows, "rows");
        return job;
    }

    static std::string streamed(const Settings& settings) {
        const bool is_table = settings.field("figure.psf")->get() == Value(true) ||
                              settings.field("figure.a_scan")->get() != Value(std::string());
        return is_table ? ".csv" : ".png";
    }
};

void DrawFigure::describe(OperationParts<DrawFigure>& parts) {
    constexpr Effect effect = Effect::file;
    using D = DrawFigure;
    parts.info.summary = "B-scans and projections with axes, or tables of A-scans";
    parts.info.examples = {"input=v.nrrd output=figure.pdf", "input=v.nrrd b_scan=64 output=b-scan.png",
                           "input=v.nrrd a_scan=120,64 output=a-scan.csv"};
    parts.info.details = "From C or Python, a figure kept in memory is a PNG and a table is CSV.";
    parts.input({.name = "input", .help = "volume file or scan"}, &D::input)
        .output({.name = "output",
                 .kind = OutputKind::figure,
                 .help = "a figure, or, with `a_scan` or `psf`, a table",
                 .is_required = true,
                 .placeholder = "FILE.pdf|.svg|.png|.csv",
                 .is_checked_by_run = true,
                 .streamed = &D::streamed},
                &D::output)
        .argument(text("layout", &D::layout, effect,
                       "parts, side by side with + and below each other with /: volume+bscan/enface [as the options "
                       "below imply]")
                      .written_as("volume+bscan+enface"))
        .argument(integer("b_scan", &D::b_scan, -1, 1'000'000'000, "", effect, "B-scan to show, counted from 0")
                      .special(-1, "the middle one")
                      .written_as("N"))
        .argument(text("en_face", &D::en_face, effect, "en-face mean over these depth rows [all]").written_as("Z0:Z1"))
        .argument(flag("from_surface", &D::from_surface, effect, "count those rows from the surface of the tissue"))
        .argument(text("a_scan", &D::a_scan, effect, "one A-scan as a table: A-scan and B-scan, counted from 0")
                      .written_as("X,Y"))
        .argument(flag("psf", &D::psf, effect,
                       "depth, height, width and side lobe of the strongest echo of each A-scan as a table"))
        .argument(text("rows", &D::rows, effect, "depth rows in which `psf` searches [all]").written_as("Z0:Z1"))
        .preset_argument(text("view", &D::view_file, effect, "a file with a section [view], for the part volume")
                             .written_as("FILE.toml")
                             .file({".toml"}),
                         [](const D& one, Settings& settings) {
                             if (!one.view_file.empty()) settings.read_toml(one.view_file);
                         })
        .argument(text("size", &D::size, effect, "size of the part volume in pixels [1024x1024]").written_as("WxH"))
        .argument(text("device", &D::device, effect, "part of the Vulkan device's name [the fastest kind]")
                      .written_as("NAME"))
        .section("figure", "Looks", &D::style)
        .section("view", "", &D::view);
}

}  // namespace

ECHOLUX_OPERATION(figure, DrawFigure)

}  // namespace echolux
