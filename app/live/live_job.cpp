#include "app/live/live_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <memory>
#include <mutex>
#include <utility>

#include "app/live/live_pipeline.h"
#include "app/live/session_run.h"
#include "app/open/open_volume.h"
#include "app/open/show_opened.h"
#include "app/seconds_since.h"
#include "app/transfer/transfer_file.h"
#include "compute/calibrate/calibrate.h"
#include "compute/error.h"
#include "compute/plan/choices.h"
#include "compute/plan/describe.h"
#include "compute/reconstructor.h"
#include "engine/io/atomic_file.h"
#include "engine/io/file_name.h"
#include "engine/io/output_rule.h"
#include "engine/io/png_file.h"
#include "engine/scan/scan.h"

namespace echolux {

// ---- Pictures

namespace {

constexpr std::chrono::microseconds look_again{200};  // poll interval for a picture in flight

}  // namespace

PictureLoop::PictureLoop(LiveDisplay& display, View view, double max_per_s, std::function<void(std::int64_t)> shown)
    : display_(display), interval_(static_cast<std::int64_t>(1e9 / std::max(max_per_s, 1e-3))),
      shown_(std::move(shown)), view_(std::move(view)), thread_([this](const std::stop_token& stop) { work(stop); }) {}

PictureLoop::~PictureLoop() {
    stop();
}

void PictureLoop::stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
}

void PictureLoop::set_view(const View& view) {
    const std::scoped_lock lock(mutex_);
    view_ = view;
    view_changed_ = true;
}

PictureStats PictureLoop::stats() const {
    const std::scoped_lock lock(mutex_);
    return stats_;
}

std::optional<std::string> PictureLoop::problem() const {
    const std::scoped_lock lock(mutex_);
    return problem_;
}

// Draws at fixed times like a display: a slow picture skips the times it misses.
void PictureLoop::work(const std::stop_token& stop) try {
    std::mutex sleeping;
    std::condition_variable_any woken;
    auto beat = Clock::now();
    while (!stop.stop_requested()) {
        if (redraws()) draw(stop);
        const auto now = Clock::now();
        beat += interval_ * ((now - beat) / interval_ + 1);
        std::unique_lock lock(sleeping);
        woken.wait_until(lock, stop, beat, [] { return false; });
    }
    if (redraws()) draw({});
} catch (const std::exception& error) {
    const std::scoped_lock lock(mutex_);
    problem_ = error.what();
}

bool PictureLoop::redraws() {
    const std::uint64_t news = display_.news();
    const std::scoped_lock lock(mutex_);
    return std::exchange(view_changed_, false) | (std::exchange(news_, news) != news);
}

void PictureLoop::draw(const std::stop_token& stop) {
    View view;
    {
        const std::scoped_lock lock(mutex_);
        view = view_;
    }
    const auto begun = Clock::now();
    const std::optional<LivePicture> picture = display_.picture(view);
    if (!picture) return;
    while (!display_.is_finished(*picture) && !stop.stop_requested()) std::this_thread::sleep_for(look_again);
    display_.wait(*picture);
    note(*picture, seconds_since(begun));
}

void PictureLoop::note(const LivePicture& picture, double seconds) {
    {
        const std::scoped_lock lock(mutex_);
        ++stats_.pictures;
        stats_.drawing.add(seconds);
        busy_s_ += std::max(seconds, std::chrono::duration<double>(interval_).count());
        stats_.pictures_per_s = static_cast<double>(stats_.pictures) / busy_s_;
        if (picture.stamp.volume < last_volume_) ++stats_.out_of_order;
        if (picture.is_whole && picture.stamp.volume != last_volume_) ++stats_.volumes;
        if (picture.is_whole) last_volume_ = picture.stamp.volume;
    }
    if (picture.is_whole) shown_(picture.stamp.volume);
}

// ---- Remote control

static bool concerns_spectra(const std::string& key) {
    return section_of(key) == "calibration" || is_recipe_section(section_of(key));
}

LiveSteering::LiveSteering(const Source& source, Session& session, const ReconstructionSpec& plan, const View& view,
                           std::function<void(const View&)> show)
    : source_(source), session_(session), first_floor_db_(plan.recipe.noise_floor_db), show_(std::move(show)) {
    book_.set_scan(source.scan());
    book_.view() = view;
    book_.view_edited();
}

void LiveSteering::take_tissue(const TissueSettings& tissue, std::function<void(const LiveTissue&)> changed) {
    TissueSettings now = tissue;
    Settings settings;
    bind(settings, now);
    Values values;
    for (const BoundField& field : settings.fields()) values[field.key()] = field.get();
    const std::scoped_lock lock(mutex_);
    book_.apply(values, [](const Change&) {});
    tissue_changed_ = std::move(changed);
}

Value LiveSteering::value(const std::string& key) const {
    const std::scoped_lock lock(mutex_);
    return book_.field(key)->get();
}

void LiveSteering::set(const Values& values) {
    for (const auto& [key, value] : values) {
        if (section_of(key) == "window" || section_of(key) == "source")
            throw Error(ErrorCode::bad_setting, "cannot be changed while it runs", key, "set it at the start");
        const bool is_of_window = section_of(key) == "layers" || key == "registration.reference";
        if (is_of_window || (is_tissue_section(section_of(key)) && !tissue_changed_))
            throw Error(ErrorCode::bad_setting, "applies to volumes in the window", key, "open one there");
    }
    const std::scoped_lock lock(mutex_);
    book_.apply(values, [this](const Change& change) { bring_about(change); });
}

// If the recipe leaves the noise floor open, it is measured from the newest block, as in the window.
void LiveSteering::bring_about(const Change& change) {
    const auto any_of = [&](const auto& is_one) {
        return std::ranges::any_of(change.after, [&](const auto& entry) { return is_one(entry.first); });
    };
    if (any_of(concerns_spectra)) {
        ReconstructionSpec plan = book_.scan()->spec(source_.block_b_scans());
        if (needs_noise_floor(plan.recipe, plan.flow)) {
            const std::optional<Block> block = session_.newest_block();
            plan.recipe.noise_floor_db = block ? noise_floor_for_recipe(plan, *block) : first_floor_db_;
        }
        session_.change(plan);
    }
    if (any_of([](const std::string& key) { return section_of(key) == "view"; })) show_(book_.view());
    if (any_of([](const std::string& key) { return is_tissue_section(section_of(key)); }))
        tissue_changed_(live_tissue(book_.tissue()));
}

// ---- Job

namespace {

// Time to wait for volumes still being processed after the source has ended.
constexpr std::chrono::milliseconds timeout_with_tissue{30'000}, timeout_when_stopped{300};

bool is_own_shifts(const std::filesystem::path& path) {
    return begins_with(path, std::string(registration_heading));
}

// Table of the shifts of B-scans, filled volume by volume on the thread that computes them. A disk error ends only the
// table.
class ShiftTable {
  public:
    explicit ShiftTable(const std::filesystem::path& path) {
        if (path.empty()) return;
        file_.open(path, std::ios::binary);
        file_ << csv_heading();
        name_ = path.string();
    }

    void add(const PostprocessingResult& done, const VolumeGrid& grid) {
        if (!name_.empty() && !done.rows.empty()) file_ << csv_rows(done.volume, done.rows, grid);
    }

    // Call when nothing more will be added. Throws Error{output}.
    void finish() {
        if (name_.empty()) return;
        file_.close();
        if (file_.fail()) throw Error(ErrorCode::output, "could not be written", name_, "is the disk full?");
    }

  private:
    std::ofstream file_;
    std::string name_;
};

// Shows and distributes the volumes that a session reconstructs.
class Display {
  public:
    Display(const LiveJob& job, const ReconstructionSpec& plan)
        : shifts_(job.shifts), path_(plan, job.backend, job.device,
                                     {.publishing = job.publishing,
                                      .keep_bytes = job.source.settings.keep_bytes(),
                                      .tissue = live_tissue(job.tissue),
                                      .postprocessed = [this](const PostprocessingResult& done,
                                                              const VolumeGrid& grid) { shifts_.add(done, grid); }}),
          view_(job.view), max_per_s_(job.pictures_per_s) {
        load_transfer(view_);
        load_channels(view_);
        is_smaller_ = job.may_be_smaller && path_.is_software();
        if (is_smaller_) view_.width = view_.height = software_picture_edge;
        if (!job.processed.empty()) processed_.emplace(job.processed);
    }

    LivePipeline& path() { return path_; }
    const View& view() const { return view_; }

    // States a size that the user did not choose.
    std::optional<LiveEvent> note_on_size() const {
        if (!is_smaller_) return {};
        return LiveEvent{0, false,
                         fmt::format("pictures of {0} x {0} pixels, because software Vulkan is slow: `size` sets "
                                     "another size",
                                     software_picture_edge)};
    }

    // The returned loop shows volumes of `session` and must be destroyed before it and this display.
    std::unique_ptr<PictureLoop> pictures_of(Session& session) {
        return std::make_unique<PictureLoop>(path_.display, view_, max_per_s_, [this, &session](std::int64_t volume) {
            session.shown(volume);
            if (processed_) keep(volume);
            offer_newest();
        });
    }

    // Starts sending volumes to programs as well; nullptr stops it.
    void link_to(igtl::Link* link) {
        const std::scoped_lock lock(link_mutex_);
        link_ = link;
    }

    void report_to(LiveReport& report, const std::filesystem::path& picture) {
        report.backend_description = path_.feeder.describe();
        report.display->ring = path_.feeder.statistics();
        report.devices = path_.feeder.device_work();
        if (report.devices.size() == 1) report.devices.clear();
        const TissueStats tissue = path_.feeder.tissue_log().stats();
        if (tissue.volumes + tissue.skipped > 0) report.tissue = tissue;
        shifts_.finish();
        if (processed_) report.processed = processed_->finish();
        if (!picture.empty()) write_last(picture);
        report.display->bytes_read_back = path_.display.bytes_read_back();
    }

    // Call when nothing is being reconstructed any longer.
    RecentVolumesReport write_recent(const std::filesystem::path& file, Scan scan, Progress& progress) {
        const std::shared_ptr<const RecentHold> hold = path_.display.hold_recent();
        const RecentVolumes kept = path_.display.kept();
        const PlanInUse plan = path_.display.plan_in_use();
        take_recipe(plan.spec, scan);
        const RecentSeries series{kept.volumes, kept.grid, provenance_of(scan, path_.feeder.describe()), plan.number};
        const std::int64_t before = path_.display.bytes_read_back();
        RecentVolumesReport report;
        try {
            if (series.volumes.empty()) {
                throw Error(ErrorCode::output, "no volumes were kept", file.string(),
                            "let it run longer, or raise `source.keep_gb`");
            }
            std::size_t next = 0;
            const auto voxels = [&] {
                return path_.display.begin_reading_recent(*hold, series.volumes[next++].serial).value().voxels();
            };
            echolux::write_recent(file, series, voxels, progress);
            report.volumes = std::ssize(series.volumes);
        } catch (const Error& error) {
            report.problem = error;
        }
        report.bytes_read_back = path_.display.bytes_read_back() - before;
        return report;
    }

  private:
    // Keeps the volume that is shown, or a newer one if it is available.
    void keep(std::int64_t number) {
        if (number <= kept_) return;
        kept_ = number;
        if (!processed_->has_room()) return processed_->leave_out();
        std::optional<VolumeDownload> coming = path_.display.begin_reading_volume();
        if (!coming) return processed_->leave_out();
        const ReadVolume& volume = coming->volume;
        if (volume.stamp.volume != number) processed_->leave_out();
        kept_ = volume.stamp.volume;
        const auto done = path_.feeder.tissue_log().of(kept_);
        processed_->add(kept_, volume.grid, std::move(coming->voxels),
                        done ? done->provenance : std::map<std::string, std::string>{});
    }

    // Sends the newest volume to programs if one of them is ready for it.
    void offer_newest() {
        const std::scoped_lock lock(link_mutex_);
        if (link_ == nullptr || !link_->is_hungry()) return;
        std::optional<VolumeDownload> coming = path_.display.begin_reading_volume();
        if (!coming) return;
        const ReadVolume& volume = coming->volume;
        try {
            link_->offer(
                {volume.grid, {}, volume.stamp.volume, volume.stamp.time_s, [voxels = std::move(coming->voxels)] {
                     return std::make_shared<const igtl::Bytes>(voxels());
                 }});
        } catch (const Error& error) {  // the volume has become one that the protocol cannot describe
            link_->report(error);
        }
    }

    void write_last(const std::filesystem::path& file) {
        const std::optional<LivePicture> picture = path_.display.picture(view_);
        if (!picture) {
            throw Error(ErrorCode::output, "no volume was completed, so there is no image", file.string(),
                        "let it run longer");
        }
        path_.display.wait(*picture);
        write_png(file, picture_of(path_.display.read(*picture)));
    }

    ShiftTable shifts_;
    LivePipeline path_;
    View view_;
    double max_per_s_;
    bool is_smaller_ = false;  // than requested
    std::optional<ProcessedVolumes> processed_;
    std::int64_t kept_ = -1;
    std::mutex link_mutex_;  // guards the members below
    igtl::Link* link_ = nullptr;
};

// Connection to programs for the lifetime of this object.
class LinkedPrograms {
  public:
    LinkedPrograms(const LiveJob& job, Display& display, LiveSteering& steering)
        : display_(display),
          link_(*job.link, [&job, &steering](const std::shared_ptr<igtl::Peer>& from, const igtl::Request& request,
                                             const std::shared_ptr<void>&) {
              const std::string answer = job.answer_program ? job.answer_program(steering, request) : "";
              if (!answer.empty()) from->send(igtl::answer_to(request, igtl::unix_now(), answer));
          }) {
        display_.link_to(&link_);
    }
    ~LinkedPrograms() { display_.link_to(nullptr); }
    LinkedPrograms(const LinkedPrograms&) = delete;
    LinkedPrograms& operator=(const LinkedPrograms&) = delete;

    LiveEvent event() const {
        return {0, false, std::string(link_.wanted().listens ? "OpenIGTLink at " : "OpenIGTLink to ") + link_.place()};
    }
    igtl::LinkStats stats() const { return link_.stats(); }

  private:
    Display& display_;
    igtl::Link link_;
};

// A user who ends the session still wants the kept volumes. Only a second request stops writing them.
class UncancelledProgress : public Progress {
  public:
    explicit UncancelledProgress(Progress& progress) : progress_(progress) {}
    void begin(const std::string& task, std::int64_t total, const std::string& unit) override {
        unless_cancelled([&] { progress_.begin(task, total, unit); });
    }
    void advance(std::int64_t count) override {
        unless_cancelled([&] { progress_.advance(count); });
    }
    void end() override {
        unless_cancelled([&] { progress_.end(); });
    }

  private:
    static void unless_cancelled(const std::function<void()>& work) {
        try {
            work();
        } catch (const Error& error) {
            if (error.code() != ErrorCode::cancelled) throw;
        }
    }

    Progress& progress_;
};

void check_recent(const LiveJob& job) {
    if (job.kept.empty() || job.source.settings.keep_bytes() > 0) return;
    throw Error(ErrorCode::bad_setting, "needs kept volumes", "kept",
                "set `source.keep_gb` to the memory for kept volumes");
}

// Checks early that the volumes can be written to the requested file, or sent to programs.
void check_can_go_out(const LiveJob& job, const VolumeGrid& grid) {
    if (job.link) igtl::check_image(grid);
    if (job.kept.empty()) return;
    check_series_name(job.kept, grid.type);
    check_volume_output(job.kept, grid.type);
}

void check(const LiveJob& job) {
    require_backend(job.backend);
    if (job.publishing == Publishing::rolling && !job.processed.empty()) {
        throw Error(ErrorCode::bad_setting, "needs whole volumes", "processed", "remove `rolling`");
    }
    if (job.publishing == Publishing::rolling && job.link)
        throw Error(ErrorCode::bad_setting, "needs whole volumes", "igtl", "remove `rolling`");
    if (!job.shifts.empty() && !job.tissue.registration_display.shown && !job.link) {
        throw Error(ErrorCode::bad_setting, "needs stabilised volumes", "shifts", "set `registration.shown` to true");
    }
    FileNames inputs = job.made_from;
    add_files_of_view(job.view, inputs);
    check_session_outputs(
        job, {{job.picture, is_own_picture}, {job.shifts, is_own_shifts, {".csv"}}, {job.kept, is_own_volume}}, inputs);
    check_recent(job);
    if (!job.shifts.empty()) check_can_be_written(job.shifts);
    if (job.picture.empty()) return;
    if (lower_ending(job.picture) != ".png") {
        throw Error(ErrorCode::bad_setting, "images are written as PNG", job.picture.string(), "name it *.png");
    }
    check_can_be_written(job.picture);
}

}  // namespace

LiveReport run(const LiveJob& job, Progress& progress, const EventCallback& on_event) {
    check(job);
    LiveReport report;
    const std::unique_ptr<Source> source = opened_source(job, progress);
    report.source = source->name();
    const ReconstructionSpec plan = live_plan(*source, progress);
    check_can_go_out(job, planned_grid(plan));
    Display display(job, plan);
    Session session(*source, display.path().feeder);
    const std::unique_ptr<PictureLoop> pictures = display.pictures_of(session);
    LiveSteering steering(*source, session, plan, display.view(), [&](const View& view) { pictures->set_view(view); });
    steering.take_tissue(job.tissue, [&](const LiveTissue& tissue) { display.path().feeder.set_tissue(tissue); });
    const auto note = [&](const LiveEvent& event) {
        report.events.push_back(event);
        if (on_event) on_event(event);
    };
    if (const auto event = display.note_on_size()) note(*event);
    std::optional<LinkedPrograms> linked;
    if (job.link) {
        linked.emplace(job, display, steering);
        note(linked->event());
    }
    run_session(job, *source, session, report, progress, on_event, [&] { return pictures->problem(); });
    display.path().feeder.finish_tissue(report.was_cut_short ? timeout_when_stopped : timeout_with_tissue);
    pictures->stop();  // the last picture shows the newest volume
    if (linked) report.linked = linked->stats();
    linked.reset();
    report.display = DisplayReport{{}, pictures->stats(), 0};
    display.report_to(report, job.picture);
    if (!job.kept.empty()) {
        UncancelledProgress uncancelled(progress);
        report.kept = display.write_recent(job.kept, source->scan(), uncancelled);
    }
    report.session = session.stats();
    return report;
}

}  // namespace echolux
