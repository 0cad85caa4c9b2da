#include "app/jobs/render_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "app/open/open_volume.h"
#include "app/open/patient_view.h"
#include "app/open/show_opened.h"
#include "app/seconds_since.h"
#include "app/settings/key_frame_file.h"
#include "app/settings/session_text.h"
#include "app/transfer/transfer_file.h"
#include "compute/error.h"
#include "compute/gpu_backend.h"
#include "engine/io/atomic_file.h"
#include "engine/io/output_rule.h"
#include "engine/io/picture_file.h"
#include "engine/io/regular_file.h"
#include "engine/registration/registration.h"
#include "engine/scan/settings.h"
#include "engine/speckle/speckle_filter.h"
#include "render/picture.h"

namespace echolux {

// ---- Processing before display

namespace {

void filter_in_place(Volume& volume, const SpeckleFilter& filter, Progress& progress) {
    filter_volume(volume, filter, progress);
    volume.provenance["filter"] = section_toml("filter", filter);
}

}  // namespace

StabilisedVolume stabilised(const Volume& volume, const Volume* reference, const RegistrationSettings& wanted,
                            Progress& progress) {
    StabilisedVolume done;
    RegistrationSettings settings = wanted;
    if (settings.crosses == 0) settings.crosses = crosses_of(volume.provenance);
    const std::int64_t crosses = reference == nullptr ? settings.crosses : 0;  // crosses stay in place
    const PowerVolume power = power_of(volume);
    PowerVolume of_reference;
    if (reference != nullptr) of_reference = power_of(*reference);
    const VolumeGrid& grid = reference == nullptr ? volume.grid : reference->grid;
    Volume made;
    const auto put = [&](RegisteredMean mean, const auto& moved) {
        if (std::ranges::none_of(rows_of_raster(done.rows, crosses), &RowShift::is_valid)) {
            throw Error(ErrorCode::bad_setting,
                        crosses > 0            ? "no B-scan fits those across"
                        : reference == nullptr ? "no B-scan fits its neighbours"
                                               : "no B-scan fits the reference",
                        "registration", "check that the scan shows tissue; larger ranges may help");
        }
        mean.add(moved, done.rows);
        done.used = mean.b_scans_used() - crosses;
        made = mean.volume();
    };
    const BackendChoice any{.backend = crosses > 0 ? Backend::cpu : Backend::automatic};  // crosses need the CPU
    progress.begin("register", volume.grid.b_scans, "B-scans");
    on_gpu_or_cpu(
        any,
        [&] {
            const PowerCopy there(power, any);
            done.rows = reference == nullptr
                            ? align_neighbours(there.on_gpu(), settings, progress, *required_gpu().registration(any))
                            : Reference(PowerCopy(of_reference, any).on_gpu(), settings, any)
                                  .register_rows(there.on_gpu(), progress);
            put(RegisteredMean(grid, any), there.on_gpu());
        },
        [&] {
            done.rows = reference == nullptr ? align_neighbours(power, settings, progress)
                                             : Reference(of_reference, settings).register_rows(power, progress);
            put(RegisteredMean(grid), power);
        });
    progress.end();
    made.provenance = volume.provenance;
    made.provenance["registration"] = section_toml("registration", settings);
    made.provenance["registration.b_scans_used"] =
        fmt::format("{} of {}", done.used, rows_of_raster(done.rows, crosses).size());
    done.volume = std::make_shared<const Volume>(std::move(made));
    return done;
}

std::shared_ptr<const Volume> filtered_copy(const Volume& volume, const SpeckleFilter& filter, Progress& progress) {
    auto copy = std::make_shared<Volume>(volume);
    filter_in_place(*copy, filter, progress);
    return copy;
}

Volume SourcePostprocessor::of(Volume volume, Progress& progress) {
    if (!changes_volumes()) return volume;
    if (tissue_.registration_display.shown) {
        if (tissue_.registration_display.reference >= 0 && !reference_) {
            VolumeSource source = source_;
            source.part.volume = tissue_.registration_display.reference;
            reference_ = std::make_shared<const Volume>(open_volume(source, progress).volume);
        }
        volume = *stabilised(volume, reference_.get(), tissue_.registration, progress).volume;
    }
    if (tissue_.filter_display.shown) filter_in_place(volume, tissue_.filter, progress);
    return volume;
}

// ---- Job

namespace {

// Returns the job's view at its moment, with the files it names loaded.
View view_of(const RenderJob& job) {
    View view = job.view;
    if (!job.key_frames.empty()) view = read_key_frames(job.key_frames).at(std::move(view), job.at_s);
    load_transfer(view);
    load_channels(view);
    check_view(view);
    return view;
}

void check_names(const RenderJob& job) {
    check_outputs({{job.output, is_own_picture}, {job.save_transfer, {}, {".toml"}}}, files_of_picture(job),
                  job.overwrites);
    if (!job.output.empty()) check_picture_output(job.output);
    if (!job.save_transfer.empty()) {
        check_transfer_name(job.save_transfer);
        check_can_be_written(job.save_transfer);
    }
}

void check_hash(const std::filesystem::path& path, const std::string& hash, const std::string& expected) {
    if (expected.empty() || hash == expected) return;
    throw Error(ErrorCode::bad_file,
                fmt::format("is not what the picture was made from: its fingerprint is {}, not {}", hash, expected),
                path.string(), "name the original as `input`, or make a new picture with `render`");
}

// Fills in what is known before the work. Throws if the input is not the expected one.
PictureRecord record_of(const RenderJob& job, const View& view) {
    PictureRecord record;
    note_input(record, job);
    check_hash(job.input, record.input_hash, job.expected_input);
    check_hash(job.input.string() + " (its spectra)", record.spectra_hash, job.expected_spectra);
    if (!job.flow.empty()) {
        record.flow = std::filesystem::absolute(job.flow).lexically_normal().string();
        record.flow_hash = file_hash(job.flow);
    }
    note_channels(record, view);
    record.bits = static_cast<std::int64_t>(job.bits);
    note_range(record, job.chosen);
    if (!job.session.empty()) record.samples = passes_when_saved(job.view);
    record.backend = job.backend;
    return record;
}

PictureTexts texts_of(const RenderJob& job, const View& view, const OpenedVolume& opened, const PictureRecord& record) {
    if (!job.session.empty()) return texts_of_picture(with_record(job.session, record));
    OpenDocument open{.assignments = text_of_lines(job.settings), .step = job.part.volume};
    if (!job.input.empty()) open.file = std::filesystem::absolute(job.input).lexically_normal().string();
    return texts_of_picture(picture_session(open, record, view, opened.scan ? &*opened.scan : nullptr, job.tissue));
}

// Sets `done` to the time of the picture alone, with the volume already on the device.
void write_picture(Renderer& renderer, const RenderJob& job, const View& view, const PictureTexts& texts,
                   Progress& progress, RenderedFile& done) {
    const auto start = std::chrono::steady_clock::now();
    const auto writer = create_picture(job.output, {view.width, view.height, 4, static_cast<int>(job.bits)}, texts);
    progress.begin("render", view.height, "rows");
    done.pages = renderer.render(view, job.bits, [&](const PictureRows& rows) {
        writer->write(rows.pixels);
        progress.advance(rows.worth);
    });
    progress.end();
    done.seconds = seconds_since(start);
    done.fingerprint = writer->finish();
}

std::optional<Volume> flow_of(const RenderJob& job, const View& view) {
    if (job.flow.empty() && !job.flow_in_memory) return {};
    if (!view.flatten.empty()) {
        throw Error(ErrorCode::bad_setting, "flow cannot be flattened", "flow",
                    "leave it out, or leave out view.flatten");
    }
    if (job.flow_in_memory) return *job.flow_in_memory;
    SeriesFile flows(job.flow);
    return flows.read(flows.time_points() > 1 ? job.part.volume : 0);
}

}  // namespace

FileNames files_of_picture(const RenderJob& job) {
    FileNames inputs = files_read(job);
    inputs.insert(inputs.end(), {job.flow, job.key_frames});
    add_files_of_view(job.view, inputs);
    inputs.insert(inputs.end(), job.made_from.begin(), job.made_from.end());
    return inputs;
}

RenderedFile run(const RenderJob& job, Progress& progress) {
    check_names(job);
    View view = view_of(job);
    if (!job.probes.empty() && view.stereo != Stereo::off) {
        throw Error(ErrorCode::bad_setting, "is not one place in a picture for two eyes", "probe, view.stereo",
                    "probe a picture with view.stereo = off");
    }
    for (const auto& [x, y] : job.probes) check_pixel(view, x, y);
    const std::optional<Volume> flow = flow_of(job, view);
    Renderer renderer(job.device);  // before the reconstruction, to report a missing device early
    PictureRecord record = job.output.empty() ? PictureRecord{} : record_of(job, view);
    OpenedVolume opened = open_volume(job, progress);
    if (SourcePostprocessor tissue(job.tissue, job); tissue.changes_volumes()) {
        opened.flow.reset();
        opened.volume = tissue.of(std::move(opened.volume), progress);
    }
    check_channels_of(view, opened.volume.grid, job.input.string());
    face_patient(view, opened.volume);
    record.device = renderer.device_name();
    if (job.backend.empty()) record.backend = opened.stats.backend;
    record.made_by = text_of_map(opened.volume.provenance);
    const PictureTexts texts = texts_of(job, view, opened, record);
    show_opened(renderer, opened, flow, view, progress);
    RenderedFile done{renderer.device_name(), opened.stats, opened.warnings, {}, 0, {}, {}};
    if (!job.output.empty()) write_picture(renderer, job, view, texts, progress, done);
    for (const auto& [x, y] : job.probes) done.probes.push_back(renderer.probe(view, x, y));
    if (!job.save_transfer.empty()) {
        write_transfer(job.save_transfer, curve_in_use(view, opened.volume.grid, renderer.transfer_function(view)));
    }
    return done;
}

bool has_default_size(const View& view, const std::vector<std::string>& assignments) {
    const View usual;
    const auto is_size = [](const std::string& assignment) {
        return assignment.starts_with("view.width=") || assignment.starts_with("view.height=");
    };
    return view.width == usual.width && view.height == usual.height && std::ranges::none_of(assignments, is_size);
}

}  // namespace echolux
