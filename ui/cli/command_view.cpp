// `echolux view [FILE|--source ...]`: opens the window. --picture, --screenshot, --measure and --off-screen run it
// without a screen: for documentation, tests and servers.
#include "ui/cli/command_view.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "app/open/open_volume.h"
#include "app/open/show_opened.h"
#include "app/seconds_since.h"
#include "assets/assets.h"
#include "compute/error.h"
#include "engine/io/output_rule.h"
#include "engine/io/png_file.h"
#include "engine/net/tcp.h"
#include "engine/scan/settings.h"
#include "ui/cli/command_record.h"
#include "ui/cli/options.h"
#include "ui/cli/output.h"
#include "ui/cli/program.h"
#include "ui/window/window.h"
#include "ui/workspace/exporting.h"
#include "ui/workspace/workspace.h"

#ifdef ECHOLUX_NET
#include "ui/control/control_server.h"
#endif

namespace echolux {

// ---- control by other programs --------------------------------------------------------------------------------------

#ifdef ECHOLUX_NET

void add_igtl_options(CLI::App& command, IgtlOptions& wanted) {
    const std::string group = "3D Slicer and other programs that speak OpenIGTLink";
    command
        .add_option("--igtl", wanted.address,
                    "send volumes and B-scans to programs that connect to this port; HOST:PORT: to one that listens "
                    "there; listen:ADDRESS:PORT: other machines may connect, too; 18944 is usual")
        ->type_name("PORT")
        ->group(group);
    command
        .add_flag("--igtl-steer", wanted.may_steer,
                  "allow clients to change settings; there is no password, so this includes everyone who can connect")
        ->group(group);
}

std::optional<igtl::LinkOptions> link_of(const IgtlOptions& wanted) {
    if (wanted.address.empty()) return std::nullopt;
    igtl::LinkOptions link = igtl::parsed_link(wanted.address, "--igtl");
    link.may_steer = wanted.may_steer;
    return link;
}

std::unique_ptr<LinkServer> linked_window(Workspace& work, const IgtlOptions& wanted) {
    const std::optional<igtl::LinkOptions> link = link_of(wanted);
    if (!link) return nullptr;
    auto server = std::make_unique<LinkServer>(work, *link);
    print_answer(fmt::format("OpenIGTLink {} {}\n", link->listens ? "at" : "to", server->place()));
    std::fflush(stdout);  // a script that waits for this line reads it through a pipe
    return server;
}

void add_control_options(CLI::App& command, ControlRequest& wanted) {
    command
        .add_option("--control", wanted.address,
                    "let programs control this window: line-delimited JSON-RPC on this port; 0: any free port")
        ->type_name("[HOST:]PORT");
    command
        .add_option("--control-token", wanted.token_file,
                    "file with the token that clients must present; created if missing [a new one, which is printed]")
        ->type_name("FILE");
    command
        .add_option("--control-folder", wanted.folders,
                    "folder that clients may read and write; may be repeated [the current one]")
        ->type_name("FOLDER")
        ->take_all()
        ->allow_extra_args(false);
    add_igtl_options(command, wanted.igtl);
}

// Both servers are null unless requested.
struct SteeredWindow::Parts {
    MainWindow& window;
    std::unique_ptr<LinkServer> link;
    std::unique_ptr<ControlServer> server;
};

SteeredWindow::SteeredWindow(MainWindow& window, Workspace& work, const ControlRequest& wanted)
    : parts_(std::make_unique<Parts>(Parts{window, linked_window(work, wanted.igtl), nullptr})) {
    if (wanted.address.empty()) return;
    ControlServerOptions options;
    const NetAddress address = parsed_address(wanted.address, "--control");
    options.host = address.host;
    options.port = address.port;
    options.token_file = wanted.token_file;
    options.folders.assign(wanted.folders.begin(), wanted.folders.end());
    if (options.folders.empty()) options.folders.emplace_back(".");
    options.window_picture = [&window] { return window.picture(); };
    options.wake = [&window] { window.wake(); };
    parts_->server = std::make_unique<ControlServer>(work, options);
    const std::string place = NetAddress{address.host, static_cast<std::uint16_t>(parts_->server->port())}.text();
    const std::string token =
        wanted.token_file.empty() ? "token " + parts_->server->token() : "token in " + wanted.token_file;
    print_answer(fmt::format("control at {}, {}\n", place, token));
    std::fflush(stdout);  // a script that waits for this line reads it through a pipe
    if (!address.is_this_machine_alone())
        print_warnings(
            {"--control: traffic is not encrypted: anybody on the network can read the token; use an ssh "
             "tunnel"});
}

SteeredWindow::~SteeredWindow() = default;

bool SteeredWindow::is_steered() const {
    return parts_->server != nullptr || parts_->link != nullptr;
}

// Waits no longer than the servers allow, so that an idle window does not delay their work.
bool SteeredWindow::turn(double max_wait_s) {
    ControlServer* server = parts_->server.get();
    LinkServer* link = parts_->link.get();
    if (server != nullptr) max_wait_s = std::min(max_wait_s, server->timeout_s());
    if (link != nullptr) max_wait_s = std::min(max_wait_s, link->timeout_s());
    const bool continues = parts_->window.turn(max_wait_s);
    if (link != nullptr) link->update();
    if (server != nullptr) server->update();
    return continues && (server == nullptr || !server->control().is_shut_down());
}

#else

void add_control_options(CLI::App&, ControlRequest&) {}

struct SteeredWindow::Parts {
    MainWindow& window;
};

SteeredWindow::SteeredWindow(MainWindow& window, Workspace&, const ControlRequest&)
    : parts_(std::make_unique<Parts>(Parts{window})) {}
SteeredWindow::~SteeredWindow() = default;

bool SteeredWindow::is_steered() const {
    return false;
}

bool SteeredWindow::turn(double max_wait_s) {
    return parts_->window.turn(max_wait_s);
}

#endif

void require_opened(Workspace& work) {
    if (work.viewer().is_open()) return;
    for (const Notice& notice : work.notices().all()) {
        if (notice.is_problem && notice.stands) throw Error(ErrorCode::output, notice.line);
    }
}

// ---- the command ----------------------------------------------------------------------------------------------------

namespace {

struct ViewOptions {
    SourceOptions source;
    BackendChoice backend;
    std::string file, device, size, picture, screenshot;
    double scale = 0, after_s = 3;
    bool overwrites = false, off_screen = false, discards_all = false, measures = false;
    std::vector<std::string> presses, channels;
    ControlRequest control;
};

bool is_off_screen(const ViewOptions& options) {
    return options.off_screen || options.measures || !options.picture.empty() || !options.screenshot.empty();
}

std::unique_ptr<NativeWindow> opened_window(const ViewOptions& options) {
    const WindowSettings first;
    const auto [width, height] =
        options.size.empty() ? std::pair(first.width, first.height) : parsed_size(options.size, "--size");
    if (is_off_screen(options)) return open_offscreen_window(width, height, options.scale > 0 ? options.scale : 1);
    return open_glfw_window(width, height, "Echolux");
}

// Runs without a screen do not restore or save the state of the window.
WorkspaceOptions workspace_options(const ViewOptions& options, NativeWindow& native) {
    WorkspaceOptions wanted;
    wanted.device.name = options.device;
    wanted.device.surface = native.surface();
    wanted.backend = options.backend;
    if (!is_off_screen(options) && !options.discards_all) wanted.state_folder = state_folder();
    wanted.assignments = options.source.assignments;
    for (std::string& assignment : channel_assignments(options.channels))
        wanted.assignments.push_back(std::move(assignment));
    if (options.scale > 0) wanted.assignments.push_back(fmt::format("window.scale={}", options.scale));
    return wanted;
}

void open_inputs(const ViewOptions& options, Workspace& work) {
    if (!options.source.name.empty())
        work.open_source(source_request(options.source, {"view.", "window.", "filter.", "layers.", "registration."}));
    if (!options.file.empty()) work.open(options.file);
}

// Types a combination such as "Ctrl+K": presses the keys in order, releases them in reverse, then runs four frames. A
// trailing "+" counts as a key.
void press(OffscreenWindow& native, MainWindow& window, const std::string& keys) {
    std::vector<std::string> parts;
    std::size_t from = 0;
    for (std::size_t plus = keys.find('+'); plus != std::string::npos && plus + 1 < keys.size();
         plus = keys.find('+', from)) {
        parts.push_back(keys.substr(from, plus - from));
        from = plus + 1;
    }
    parts.push_back(keys.substr(from));
    for (const std::string& key : parts) native.push(KeyPressed{key, true, false});
    if (keys.size() == 1) native.push(TextTyped{static_cast<std::uint32_t>(keys[0])});
    for (auto key = parts.rbegin(); key != parts.rend(); ++key) native.push(KeyPressed{*key, false, false});
    for (int i = 0; i < 4; ++i) window.turn(0.02);
}

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::ranges::nth_element(values, middle);
    return *middle;
}

// Redraws the interface for each picture, as if the pointer were moving, and reports the cost.
void measure(const ViewOptions& options, OffscreenWindow& native, Workspace& work, MainWindow& window) {
    const auto begin = std::chrono::steady_clock::now();
    const auto seconds = [begin] { return seconds_since(begin); };
    std::vector<double> cpu_ms, gpu_ms;
    const std::int64_t shown = window.stats().shown;
    const CastStats before = work.viewer().renderer().cast_stats();
    for (int i = 0; seconds() < options.after_s; ++i) {
        native.push(PointerMoved{static_cast<double>(20 + i % 40), 200});
        if (!window.turn(0.05)) break;
        const WindowStats stats = window.stats();
        cpu_ms.push_back(1e3 * stats.interface_cpu_s);
        if (stats.interface_gpu_s) gpu_ms.push_back(1e3 * *stats.interface_gpu_s);
    }
    const double spent = seconds();
    const CastStats casts = work.viewer().renderer().cast_stats();
    answer("{:.1f} pictures per second of {} x {} pixels, drawn by {}\n",
           static_cast<double>(window.stats().shown - shown) / spent, native.width(), native.height(),
           work.viewer().renderer().device_name());
    answer("interface: laid out in {:.2f} ms, drawn in {} (medians)\n", median(cpu_ms),
           gpu_ms.empty() ? "a time that this device does not report" : fmt::format("{:.3f} ms", median(gpu_ms)));
    answer("rays: {:.0f} % of the device's time, {} casts\n", 100 * (casts.seconds - before.seconds) / spent,
           casts.timed - before.timed);
}

// Writes the view at full quality. Slow with a software renderer, therefore with progress.
void take_screenshot(const ViewOptions& options, Workspace& work, MainWindow& window) {
    if (!options.size.empty()) {
        const auto [width, height] = parsed_size(options.size, "--size");
        work.change_together("view", {{"view.width", width}, {"view.height", height}});
    }
    work.exporting().save_picture(options.screenshot);
    constexpr std::int64_t parts = 100;  // progress in percent
    std::int64_t done = 0;
    TerminalProgress progress;
    progress.begin("screenshot", parts, "parts");
    while (const auto share = work.exporting().share_of_picture()) {
        const auto now = static_cast<std::int64_t>(*share * static_cast<double>(parts));
        progress.advance(now - std::exchange(done, now));
        if (!window.turn(0.05)) return;
    }
    progress.end();
}

void require_no_interrupt(const InterruptScope& listening) {
    if (listening.is_interrupted()) throw Error(ErrorCode::cancelled, "ended by an interrupt", "view");
}

// Runs for the time of --after, or until a controlling program ends the session. Then waits at most 120 s for pending
// jobs.
void run_off_screen(const ViewOptions& options, const InterruptScope& listening, OffscreenWindow& native,
                    Workspace& work, MainWindow& window, SteeredWindow& steered) {
    const auto begin = std::chrono::steady_clock::now();
    const auto seconds = [begin] { return seconds_since(begin); };
    const auto continues = [&] {
        require_no_interrupt(listening);
        return steered.turn(0.05);
    };
    // An open file or source counts as ready when its jobs are done.
    while (!work.jobs().is_idle() && seconds() < 120 && continues()) {
    }
    if (!options.source.name.empty() && !steered.is_steered()) require_opened(work);
    const double ready = seconds();
    for (const std::string& keys : options.presses) press(native, window, keys);
    if (options.measures) measure(options, native, work, window);
    while ((steered.is_steered() || seconds() < ready + options.after_s) && continues()) {
    }
    if (!options.screenshot.empty()) take_screenshot(options, work, window);
    while (work.is_busy() && seconds() < ready + options.after_s + 120 && continues()) {
    }
    if (!options.picture.empty()) {
        write_png(options.picture, picture_of(window.picture()));
        close_with("{}\n", options.picture);
    }
    print_json({{"files", names_of({options.picture, options.screenshot})}});
    // Reports the pending errors of the window as warnings; the last one becomes the error of the command.
    std::vector<std::string> troubles;
    for (const Notice& notice : work.notices().all()) {
        if (notice.is_problem && notice.stands) troubles.push_back(notice.line);
    }
    if (troubles.empty()) return;
    print_warnings({troubles.begin(), std::prev(troubles.end())});
    throw Error(ErrorCode::output, troubles.back());
}

// An interrupt ends the loop as if the window had been closed: recordings are completed and settings are saved.
void run_until_closed(const InterruptScope& listening, SteeredWindow& window) {
    constexpr double timeout_s = 0.25;
    while (window.turn(timeout_s)) require_no_interrupt(listening);
}

void view(const ViewOptions& options) {
    const InterruptScope listening;
    check_outputs({{options.picture, is_own_picture, {".png"}}, {options.screenshot, is_own_picture, {".png"}}},
                  files_read(options.file, options.source.assignments), options.overwrites);
    const std::unique_ptr<NativeWindow> native = opened_window(options);
    Workspace work(workspace_options(options, *native));
    if (options.size.empty()) native->set_size(work.settings().window().width, work.settings().window().height);
    MainWindow window(*native, work);
    SteeredWindow steered(window, work, options.control);
    open_inputs(options, work);
    if (is_off_screen(options)) {
        run_off_screen(options, listening, dynamic_cast<OffscreenWindow&>(*native), work, window, steered);
    } else {
        run_until_closed(listening, steered);
    }
}

// Adds the commands that work without a window to the error. Never returns.
[[noreturn]] void advise_headless(const Error& error) {
    const std::string without = "without a window: `echolux render` for files, `echolux live --headless` for sources";
    const bool names_headless = error.remedy().find("--headless") != std::string::npos;
    const std::string remedy = error.remedy().empty() ? without : error.remedy() + "; " + without;
    throw Error(error.code(), error.problem(), error.where(), names_headless ? error.remedy() : remedy);
}

}  // namespace

void add_view(CLI::App& program) {
    auto options = std::make_shared<ViewOptions>();
    CLI::App* command =
        program.add_subcommand("view", "Open the window: files, recordings, instruments, the simulator");
    command->footer(examples_text({"echolux view", "echolux view v.nrrd", "echolux view --source sim"}));
    CLI::Option* file =
        command
            ->add_option("FILE", options->file,
                         "volume, folder of volumes, scan, raw spectra, session, or a picture saved by Echolux")
            ->type_name("");
    add_source_options(*command, options->source)->excludes(file);
    add_backend_option(*command, options->backend.backend);
    add_gpus_option(*command, options->backend);
    command
        ->add_option("--channel", options->channels,
                     "volume of the same voxels to overlay, and its curve: a preset, labels, "
                     "or a file of a transfer function or of labels; up to three")
        ->type_name("VOLUME[:CURVE]")
        ->take_all()
        ->allow_extra_args(false);
    command->add_option("--device", options->device, "part of the Vulkan device's name [the one of the screen]")
        ->type_name("NAME");
    command->add_option("--size", options->size, "size of the window and of --screenshot [1280x800; that of the view]")
        ->type_name("WxH");
    command->add_option("--scale", options->scale, "scale of text and controls [that of the screen]")
        ->check(between(0.5, 4))
        ->type_name("FACTOR");
    command->add_flag("--fresh", options->discards_all, "start fresh: restore no earlier state and save none");
    command->add_flag(
        "--off-screen", options->off_screen,
        "run without a screen: for the time of --after, or with --control or --igtl until `shutdown` or Ctrl-C");
    command->add_flag("--measure", options->measures,
                      "draw without pause for the time of --after and report the cost, without a screen");
    command->add_option("--picture", options->picture, "write a picture of the whole window, without a screen")
        ->type_name("PICTURE.png");
    command->add_option("--screenshot", options->screenshot, "write the view at full quality, without a screen")
        ->type_name("PICTURE.png");
    add_control_options(*command, options->control);
    add_data_folder_option(*command);
    add_overwrite_option(*command, options->overwrites);
    command->add_option("--after", options->after_s, "seconds to run without a screen once everything is open [3]")
        ->check(not_negative())
        ->type_name("S");
    command
        ->add_option("--press", options->presses,
                     "key to press in a window without a screen, e.g. Ctrl+K; may be repeated")
        ->type_name("KEYS")
        ->take_all()
        ->allow_extra_args(false);
    command->callback([options] {
        try {
            view(*options);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::device) throw;
            advise_headless(error);
        }
    });
}

}  // namespace echolux
