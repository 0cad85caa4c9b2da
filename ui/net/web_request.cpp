#include "ui/net/web_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "compute/error.h"

namespace echolux {
namespace {

int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool has_controls(std::string_view text) {
    return std::ranges::any_of(text, [](char c) { return (c >= 0 && c < ' ') || c == '\x7F'; });
}

// Calls `take` with each part of the text.
template <class Take>
void split(std::string_view text, char separator, const Take& take) {
    while (!text.empty()) {
        const std::size_t end = text.find(separator);
        take(text.substr(0, end));
        if (end == text.npos) return;
        text.remove_prefix(end + 1);
    }
}

Verdict refused(int status, std::string text) {
    Verdict verdict;
    verdict.status = status;
    verdict.text = std::move(text);
    return verdict;
}

// Returns the token from the address, the Authorization header of a program, or the cookie.
std::string shown_token(const WebRequest& request, const Target& target, int port) {
    if (const auto found = target.query.find("token"); found != target.query.end()) return found->second;
    constexpr std::string_view bearer = "Bearer ";
    if (request.authorization.starts_with(bearer)) return request.authorization.substr(bearer.size());
    return cookie_value(request.cookie, cookie_name(port)).value_or("");
}

constexpr const char* no_token = "missing or expired token: open the complete address printed by `echolux serve`";

// Without a valid token, only the password form and its submission are available, and only if a password is set.
Verdict judge_unauthenticated(const WebRequest& request, const Target& target, const Access& access) {
    const bool is_page = request.method == WebRequest::Method::get && target.path == "/" && !request.is_upgrade;
    if (!access.has_password()) {
        Verdict verdict = refused(403, no_token);
        verdict.is_page = is_page;
        return verdict;
    }
    if (request.method == WebRequest::Method::post && target.path == "/login") {
        Verdict verdict;
        verdict.kind = Verdict::Kind::check;
        return verdict;
    }
    if (!is_page) return refused(403, no_token);
    Verdict verdict;
    verdict.kind = Verdict::Kind::login;
    verdict.status = 401;
    return verdict;
}

}  // namespace

std::optional<std::string> decoded(std::string_view text, bool plus_is_space) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+' && plus_is_space) {
            plain += ' ';
        } else if (text[i] != '%') {
            plain += text[i];
        } else {
            const int high = i + 2 < text.size() ? digit_of(text[i + 1]) : -1;
            const int low = i + 2 < text.size() ? digit_of(text[i + 2]) : -1;
            if (high < 0 || low < 0) return std::nullopt;
            plain += static_cast<char>(high << 4 | low);
            i += 2;
        }
    }
    return plain;
}

std::optional<Target> parsed_target(std::string_view target) {
    if (!target.starts_with('/')) return std::nullopt;
    const std::size_t mark = target.find('?');
    const auto path = decoded(target.substr(0, mark), false);
    if (!path || has_controls(*path)) return std::nullopt;
    Target parsed{*path, {}};
    bool is_right = true;
    if (mark != target.npos) {
        split(target.substr(mark + 1), '&', [&](std::string_view part) {
            const std::size_t equal = part.find('=');
            const auto name = decoded(part.substr(0, equal), true);
            const auto value = decoded(equal == part.npos ? std::string_view() : part.substr(equal + 1), true);
            is_right = is_right && name && value && !has_controls(*name) && !has_controls(*value);
            if (is_right) parsed.query.emplace(*name, *value);  // the first value of a name counts
        });
    }
    return is_right ? std::optional(parsed) : std::nullopt;
}

std::optional<std::string> form_value(std::string_view form, std::string_view name) {
    std::optional<std::string> found;
    split(form, '&', [&](std::string_view part) {
        const std::size_t equal = part.find('=');
        if (!found && equal != part.npos && part.substr(0, equal) == name)
            found = decoded(part.substr(equal + 1), true);
    });
    return found;
}

std::optional<std::string> cookie_value(std::string_view header, std::string_view name) {
    std::optional<std::string> found;
    split(header, ';', [&](std::string_view part) {
        while (part.starts_with(' ')) part.remove_prefix(1);
        const std::size_t equal = part.find('=');
        if (!found && equal != part.npos && part.substr(0, equal) == name) found = std::string(part.substr(equal + 1));
    });
    return found;
}

std::optional<std::string> plain_file_name(std::string_view name) {
    constexpr std::size_t longest = 200;
    // Reserved characters of Windows and path separators.
    const bool has_signs = name.find_first_of("/\\:*?\"<>|") != name.npos;
    if (name.empty() || name.size() > longest || name.starts_with('.') || has_signs || has_controls(name))
        return std::nullopt;
    return std::string(name);
}

std::string cookie_name(int port) {
    return fmt::format("echolux-{}", port);
}

// Checks in this order: host, origin, syntax, method, token, path.
Verdict judge(const WebRequest& request, const Access& access, int port) {
    if (request.header_hosts != 1 || !access.is_host_ours(request.host))
        return refused(421, "unknown host name in the request; `echolux serve --name NAME` allows it");
    const bool changes = request.is_upgrade || request.method != WebRequest::Method::get;
    const bool is_foreign =
        !request.origin.empty() && !Access::is_origin_ours(request.origin, request.host, request.is_tls);
    if (is_foreign && changes) return refused(403, "cross-origin request refused");
    const std::optional<Target> target = parsed_target(request.target);
    if (!target) return refused(400, "the address is malformed");
    if (request.method == WebRequest::Method::other) return refused(405, "this server supports GET, PUT and POST only");

    const std::string token = shown_token(request, *target, port);
    const std::optional<Right> right = access.right_of(token);
    if (!right) return judge_unauthenticated(request, *target, access);

    Verdict verdict;
    verdict.status = 200;
    verdict.right = right;
    verdict.path = target->path;
    if (request.is_upgrade) {
        if (target->path != "/ws") return refused(404, "WebSocket connections use /ws");
        verdict.kind = Verdict::Kind::socket;
    } else if (request.method == WebRequest::Method::put) {
        if (right != Right::steer) return refused(403, "this token is view-only: uploads are refused");
        if (!target->path.starts_with("/upload/")) return refused(404, "upload with PUT /upload/NAME");
        const auto name = plain_file_name(std::string_view(target->path).substr(8));
        if (!name) return refused(400, "invalid file name");
        verdict.kind = Verdict::Kind::upload;
        verdict.path = *name;
    } else if (request.method == WebRequest::Method::post) {
        return refused(404, "not found");
    } else {
        // A token in the address is moved to a cookie, so that it does not stay in the history.
        const bool came_with_address = target->path == "/" && target->query.contains("token");
        verdict.kind = came_with_address ? Verdict::Kind::enter : Verdict::Kind::page;
        verdict.token = came_with_address ? token : "";
    }
    return verdict;
}

// ---- Upload

namespace {

// Names of uploads in progress. Two uploads of the same name may run at once.
struct UploadNames {
    std::mutex mutex;
    std::set<std::filesystem::path> paths;
};
UploadNames& upload_names() {
    static UploadNames all;
    return all;
}

// Reserves a name that no file or other upload uses. Symbolic links count as files.
std::filesystem::path free_name(const std::filesystem::path& folder, const std::string& name) {
    std::error_code problem;
    const std::lock_guard lock(upload_names().mutex);
    std::filesystem::path path = folder / name;
    const auto is_used = [&] {
        return upload_names().paths.contains(path) ||
               std::filesystem::exists(std::filesystem::symlink_status(path, problem));
    };
    for (int number = 2; is_used(); ++number) {
        const std::filesystem::path given(name);
        path = folder / fmt::format("{}-{}{}", given.stem().string(), number, given.extension().string());
    }
    upload_names().paths.insert(path);
    return path;
}

}  // namespace

Upload::Upload(const std::filesystem::path& folder, const std::string& name)
    : path_(free_name(folder, name)), file_(std::make_unique<AtomicFile>(path_)),
      stream_(file_->temporary(), std::ios::binary) {}

Upload::~Upload() {
    const std::lock_guard lock(upload_names().mutex);
    upload_names().paths.erase(path_);
}

void Upload::write(std::span<const char> bytes) {
    stream_.write(bytes.data(), std::ssize(bytes));
    if (!stream_)
        throw Error(ErrorCode::output, "cannot be written", path_.filename().string(), "check folder and free space");
}

void Upload::finish() {
    stream_.close();
    write({});  // reports a failure of close()
    file_->commit();
}

}  // namespace echolux
