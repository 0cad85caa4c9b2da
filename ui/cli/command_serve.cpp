// `echolux serve [FILE|--source ...]`: shows the window in browsers. The same window runs without a screen; its
// pictures are streamed to browsers, and their input is passed to it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "app/open/open_volume.h"
#include "app/seconds_since.h"
#include "assets/assets.h"
#include "compute/error.h"
#include "engine/io/file_name.h"
#include "engine/net/tcp.h"
#include "engine/scan/settings.h"
#include "ui/cli/command_record.h"
#include "ui/cli/command_view.h"
#include "ui/cli/options.h"
#include "ui/cli/output.h"
#include "ui/cli/program.h"
#include "ui/control/control.h"
#include "ui/control/control_server.h"
#include "ui/net/net_server.h"
#include "ui/web/serving.h"
#include "ui/window/window.h"

namespace echolux {
namespace {

constexpr int usual_port = 8970;

struct ServeOptions {
    SourceOptions source;
    Backend backend = Backend::automatic;
    std::string file, device, size;
    double scale = 1;
    bool discards_all = false;

    // Connection options. Only this machine can connect by default.
    std::string host = "127.0.0.1", token_file, password_file, certificate, key, uploads;
    std::vector<std::string> names, folders;
    int port = usual_port, control = -1;
    int clients = Limits{}.clients;
    double upload_gb = 1e-9 * static_cast<double>(Limits{}.upload_bytes);
    bool speaks_tls = false;
    IgtlOptions igtl;
};

// True for addresses that accept connections from every network interface.
bool is_for_all(const std::string& host) {
    return host == "0.0.0.0" || host == "::";
}

bool is_this_machine_alone(const std::string& host) {
    return NetAddress{host}.is_this_machine_alone();
}

// Returns the host names that requests may carry and that the certificate covers.
std::vector<std::string> names_of(const ServeOptions& options) {
    std::vector<std::string> names = options.names;
    if (!is_this_machine_alone(options.host)) {
        if (!is_for_all(options.host)) names.push_back(options.host);
        if (const std::string own = host_name(); !own.empty()) names.push_back(own);
    }
    return names;
}

// Returns nullopt without TLS. A generated certificate is kept in the state folder, so that browsers need to accept it
// once.
std::optional<Certificate> certificate_of(const ServeOptions& options) {
    if (!options.certificate.empty()) return read_certificate(options.certificate, options.key);
    if (!options.speaks_tls) return std::nullopt;
    std::vector<std::string> names = names_of(options);
    if (is_for_all(options.host)) {
        for (const std::string& address : own_addresses()) names.push_back(address);
    }
    // an empty path keeps nothing
    return own_certificate(options.discards_all ? std::filesystem::path() : state_folder() / "tls", names);
}

NetOptions net_options(const ServeOptions& options) {
    NetOptions net;
    net.host = options.host;
    net.limits.clients = options.clients;
    net.limits.upload_bytes = static_cast<std::uint64_t>(1e9 * options.upload_gb);
    net.tls = certificate_of(options);
    return net;
}

// Without a token file, new tokens are generated for each run.
Secrets wanted_secrets(const ServeOptions& options) {
    Secrets secrets = options.token_file.empty() ? Secrets{create_token(), create_token(), {}}
                                                 : secrets_of(std::filesystem::path(options.token_file));
    if (!options.password_file.empty()) secrets.password = password_of(options.password_file);
    return secrets;
}

std::string address_of(const std::string& host, int port, bool is_tls) {
    return fmt::format("{}://{}/", is_tls ? "https" : "http",
                       NetAddress{host, static_cast<std::uint16_t>(port)}.text());
}

// Prints one address per reachable interface, with the tokens to steer and to watch.
void print_addresses(const ServeOptions& options, const NetOptions& net, const Secrets& secrets, int port,
                     int control) {
    std::vector<std::string> hosts{options.host};
    if (is_for_all(options.host)) {
        hosts = own_addresses();
        hosts.insert(hosts.begin(), "localhost");
    }
    nlohmann::ordered_json addresses = nlohmann::ordered_json::array();
    for (const std::string& host : hosts) {
        const std::string address = address_of(host, port, net.tls.has_value());
        answer("to steer: {}?token={}\n", address, secrets.steer);
        answer("to watch: {}?token={}\n", address, secrets.watch);
        addresses.push_back(
            {{"steer", address + "?token=" + secrets.steer}, {"watch", address + "?token=" + secrets.watch}});
    }
    if (control >= 0) answer("control:  {} port {}, with the same tokens\n", options.host, control);
    if (net.tls) close_with("certificate (SHA-256): {}\n", fingerprint_of(*net.tls));
    if (!net.tls && !is_this_machine_alone(options.host))
        print_warnings(
            {"`serve`: traffic is not encrypted: anybody on the network can read the token; use `--tls`, or an ssh "
             "tunnel"});
    nlohmann::ordered_json object{{"addresses", addresses}, {"port", port}};
    if (control >= 0) object["control"] = control;
    print_json(object);
    std::fflush(stdout);  // a script that waits for the addresses reads them through a pipe
}

// Returns the folders that clients may read: those given by --folder, else the current one, plus the folder of FILE and
// the upload folder.
std::shared_ptr<const AllowedFolders> allowed_folders(const ServeOptions& options) {
    std::vector<std::filesystem::path> folders(options.folders.begin(), options.folders.end());
    if (folders.empty()) folders.emplace_back(".");
    if (!options.uploads.empty()) folders.emplace_back(options.uploads);
    std::error_code problem;
    const std::filesystem::path file = std::filesystem::absolute(options.file, problem);
    if (!options.file.empty())
        folders.push_back(std::filesystem::is_directory(file, problem) ? file : file.parent_path());
    return std::make_shared<const AllowedFolders>(std::move(folders));
}

WorkspaceOptions workspace_options(const ServeOptions& options) {
    WorkspaceOptions wanted;
    wanted.device.name = options.device;
    wanted.backend.backend = options.backend;
    if (!options.discards_all) wanted.state_folder = state_folder();
    wanted.assignments = options.source.assignments;
    return wanted;
}

// Passes one message of a JSON-RPC client to the control interface.
void pass_on(Control& control, const Incoming& arrival) {
    if (arrival.kind == Incoming::Kind::text) control.handle(arrival.from, arrival.bytes, arrival.waiting);
    if (arrival.kind == Incoming::Kind::closed) control.gone(arrival.from->id());
}

// Called before addresses are printed, so that a missing source is an error of the command. A slow source may take
// longer than the limit and is shown when it arrives.
void wait_for_source(Workspace& work, const InterruptScope& listening) {
    constexpr double timeout_s = 10;
    const auto begin = std::chrono::steady_clock::now();
    while (!work.jobs().is_idle() && seconds_since(begin) < timeout_s && !listening.is_interrupted()) {
        work.update(seconds_since(begin));
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    require_opened(work);
}

void serve(const ServeOptions& options) {
    const InterruptScope listening;
    if (options.certificate.empty() != options.key.empty())
        throw Error(ErrorCode::bad_setting, "a certificate and its key are needed together", "--certificate",
                    "give --certificate and --key, or --tls for one that is made");
    const WindowSettings first;
    const auto [width, height] =
        options.size.empty() ? std::pair(first.width, first.height) : parsed_size(options.size, "--size");
    std::error_code problem;
    if (!options.file.empty() && !std::filesystem::exists(options.file, problem))
        throw Error(ErrorCode::bad_file, "does not exist", options.file, "check the name");
    if (!options.uploads.empty() && !std::filesystem::is_directory(options.uploads, problem))
        throw Error(ErrorCode::bad_setting, "is not a folder", options.uploads, "create it, or name another folder");
    Inbox inbox;
    // Video codecs need even sizes.
    ServedWindow native(inbox, width & ~1, height & ~1, options.scale);
    const std::shared_ptr<const AllowedFolders> folders = allowed_folders(options);
    Workspace work(workspace_options(options));
    MainWindow window(native, work);
    if (!options.source.name.empty())
        work.open_source(source_request(options.source, {"view.", "window.", "filter.", "layers.", "registration."}));
    // Files named on the command line stay readable even outside the allowed folders.
    std::vector<std::filesystem::path> named = files_read(options.file);
    std::ranges::move(files_read(options.source.scan), std::back_inserter(named));
    work.limit_to(folders, options.source.name, named);
    if (!options.source.name.empty()) wait_for_source(work, listening);
    if (!options.file.empty()) work.open(options.file);
    Control control(work, {folders, [&window] { return window.picture(); }});

    const Secrets secrets = wanted_secrets(options);
    const NetOptions net = net_options(options);
    NetServer server(net, std::make_shared<Access>(secrets, names_of(options)), inbox);
    WebContent content = web_pages();
    content.upload_folder = options.uploads;
    const int port = server.serve_web(options.port, content);
    const int control_port = options.control < 0 ? -1 : server.serve_lines(options.control);
    Serving serving(native, work, window, {options.uploads, secrets.watch, options.size.empty()},
                    [&control](const Incoming& arrival) { pass_on(control, arrival); });
    print_addresses(options, net, secrets, port, control_port);

    // The loop runs on this thread, which also owns the window and the workspace.
    const std::unique_ptr<LinkServer> link = linked_window(work, options.igtl);
    while (serving.turn(link ? std::min(link->timeout_s(), control.timeout_s()) : control.timeout_s())) {
        control.update();
        if (link) link->update();
        if (control.is_shut_down()) break;
        if (listening.is_interrupted()) throw Error(ErrorCode::cancelled, "ended by an interrupt", "serve");
    }
}

void add_net_options(CLI::App& command, ServeOptions& options) {
    const std::string group = "Connections";
    const auto add = [&](const char* name, auto& value, const char* help, const char* type) {
        return command.add_option(name, value, help)->type_name(type)->group(group);
    };
    add("--port", options.port, "port of the page; 0: any free port [8970]", "N")->check(between(0, 65535));
    add("--host", options.host, "address to listen on; 0.0.0.0: reachable from other machines [127.0.0.1]", "ADDRESS");
    add("--name", options.names, "another name under which browsers may reach this machine; may be repeated", "NAME")
        ->take_all()
        ->allow_extra_args(false);
    add("--token-file", options.token_file,
        "tokens to steer (first line) and to watch (second); created if missing [new ones each time]", "FILE");
    add("--password-file", options.password_file, "file whose first line is a password accepted in place of the token",
        "FILE");
    command.add_flag("--tls", options.speaks_tls, "use HTTPS, with a self-signed certificate")->group(group);
    add("--certificate", options.certificate, "certificate chain for HTTPS (PEM)", "FILE");
    add("--key", options.key, "private key of the certificate (PEM)", "FILE");
    add("--clients", options.clients, "maximum number of simultaneous clients [16]", "N")->check(between(1, 1000));
    add("--control", options.control, "also accept JSON-RPC on this TCP port; 0: any free port [off]", "N")
        ->check(between(0, 65535));
    add("--folder", options.folders,
        "folder whose files browsers and programs may open and write; may be repeated [the current one]", "FOLDER")
        ->take_all()
        ->allow_extra_args(false);
    add("--uploads", options.uploads, "folder for files that are dropped on the page [uploads are refused]", "FOLDER");
    add("--upload-gb", options.upload_gb, "maximum size of an uploaded file in GB [17.2]", "GB")->check(positive());
}

}  // namespace

void add_serve(CLI::App& program) {
    auto options = std::make_shared<ServeOptions>();
    CLI::App* command = program.add_subcommand("serve", "Show the window in browsers, here or on other machines");
    command->footer(examples_text({"echolux serve v.nrrd", "echolux serve --source sim --port 8080"}));
    CLI::Option* file =
        command->add_option("FILE", options->file, "volume, folder of volumes, scan, raw spectra, or session")
            ->type_name("");
    add_source_options(*command, options->source)->excludes(file);
    add_backend_option(*command, options->backend);
    command->add_option("--device", options->device, "part of the Vulkan device's name")->type_name("NAME");
    command->add_option("--size", options->size, "size of the picture [that of the browser that steers]")
        ->type_name("WxH");
    command->add_option("--scale", options->scale, "scale of text and controls until a browser sends its own [1]")
        ->check(between(0.5, 4))
        ->type_name("FACTOR");
    command->add_flag("--fresh", options->discards_all, "start fresh: restore no earlier state and save none");
    add_data_folder_option(*command);
    add_net_options(*command, *options);
    add_igtl_options(*command, options->igtl);
    command->callback([options] { serve(*options); });
}

}  // namespace echolux
