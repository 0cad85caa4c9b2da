#include "ui/net/access.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "compute/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/file_name.h"
#include "engine/io/json_text.h"
#include "engine/io/regular_file.h"

namespace echolux {
namespace {

// In characters.
constexpr std::size_t shortest_token = 16, shortest_password = 8, longest_secret = 512;

// Letters of base64url (RFC 4648), which need no escape in addresses and cookies.
constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;
Digest digest(std::string_view text) {
    Digest found{};
    SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), found.data());
    return found;
}

// Reads at most `most` lines of a private file. Throws Error{bad_file} if other users may read it.
std::vector<std::string> lines_of(const std::filesystem::path& path, std::size_t most) {
    using std::filesystem::perms;
    std::error_code problem;
    const perms rights = std::filesystem::status(path, problem).permissions();
    if (!problem && (rights & (perms::group_all | perms::others_all)) != perms::none)
        throw Error(ErrorCode::bad_file, "it is readable by others", path.string(), "chmod 600 " + path.string());
    std::ifstream stream = open_file(path);
    std::vector<std::string> lines;
    std::string line;
    while (lines.size() < most && read_line(stream, line, longest_secret, path.string())) {
        while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
        if (!line.empty()) lines.push_back(line);
    }
    return lines;
}

// True if the text needs no escape in addresses and cookies.
bool is_plain(std::string_view text) {
    return text.find_first_not_of(letters) == text.npos;
}

void check_token(const std::string& token, const std::filesystem::path& path) {
    if (token.size() >= shortest_token && is_plain(token)) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("a token needs at least {} of the characters A-Z a-z 0-9 - _", shortest_token),
                path.string(), "delete the file: it is recreated with new tokens");
}

// Returns "host" for "host:8970" and "host", and "[::1]" for "[::1]:8970".
std::string_view without_port(std::string_view host) {
    if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
    return host.substr(0, host.find(':'));
}

// True for IPv4 addresses and for IPv6 addresses in brackets.
bool is_number_address(std::string_view host) {
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
        return host.find(':') != host.npos && host.find_first_not_of("0123456789abcdefABCDEF:.") == host.npos;
    }
    return std::ranges::count(host, '.') == 3 && host.find_first_not_of("0123456789.") == host.npos;
}

}  // namespace

// Encodes 6 bits per letter; the last letter holds the remaining bits.
std::string create_token() {
    std::array<unsigned char, 32> bytes{};
    if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
        throw Error(ErrorCode::device, "the system provides no random numbers", "token");
    std::string token;
    std::uint32_t bits = 0;
    int count = 0;
    for (const unsigned char byte : bytes) {
        bits = bits << 8 | byte;
        for (count += 8; count >= 6; count -= 6) token += letters[bits >> (count - 6) & 63];
    }
    token += letters[bits << (6 - count) & 63];
    return token;
}

// Comparing digests takes the same time for texts of any length and content.
bool is_same_secret(std::string_view given, std::string_view kept) {
    const Digest one = digest(given), other = digest(kept);
    const bool is_same = CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
    return is_same && !kept.empty();
}

Secrets secrets_of(const std::filesystem::path& token_file) {
    std::error_code problem;
    if (!std::filesystem::exists(token_file, problem)) {
        const Secrets made{create_token(), create_token(), {}};
        write_private(token_file, made.steer + "\n" + made.watch + "\n");
        return made;
    }
    const std::vector<std::string> lines = lines_of(token_file, 2);
    if (lines.empty()) check_token("", token_file);
    for (const std::string& line : lines) check_token(line, token_file);
    if (lines.size() == 2 && lines[0] == lines[1])
        throw Error(ErrorCode::bad_setting, "has the same token for control and for viewing", token_file.string(),
                    "delete the second line, or the file");
    return {lines[0], lines.size() == 2 ? lines[1] : create_token(), {}};
}

std::string password_of(const std::filesystem::path& password_file) {
    const std::vector<std::string> lines = lines_of(password_file, 1);
    if (lines.empty() || lines[0].size() < shortest_password)
        throw Error(ErrorCode::bad_setting,
                    fmt::format("the password is shorter than {} characters", shortest_password),
                    password_file.string(), "write a longer one on the first line");
    return lines[0];
}

Access::Access(Secrets secrets, std::vector<std::string> names)
    : secrets_(std::move(secrets)), names_(std::move(names)) {
    names_.emplace_back("localhost");
    for (std::string& name : names_) name = lower_case(name);
}

std::optional<Right> Access::right_of(std::string_view token) const {
    const bool steers = is_same_secret(token, secrets_.steer), watches = is_same_secret(token, secrets_.watch);
    if (steers) return Right::steer;
    return watches ? std::optional(Right::watch) : std::nullopt;
}

bool Access::is_host_ours(std::string_view host) const {
    const std::string_view name = without_port(host);
    return is_number_address(name) || std::ranges::find(names_, lower_case(std::string(name))) != names_.end();
}

bool Access::is_origin_ours(std::string_view origin, std::string_view host, bool is_tls) {
    return lower_case(std::string(origin)) ==
           std::string(is_tls ? "https://" : "http://").append(lower_case(std::string(host)));
}

// ---- Line token

std::string token_of_line(std::string_view line) {
    try {
        const nlohmann::json first = parsed_json(line, "", "");
        if (!first.is_object()) return {};
        const auto token = first.find("token");
        return token != first.end() && token->is_string() ? token->get<std::string>() : std::string();
    } catch (const Error&) {
        return {};
    }
}

// ---- Private file

// A new file is readable by others until its permissions are set, and a reader that opened it then could read on.
// Therefore the file is created in a folder that only its owner can enter.
void write_private(const std::filesystem::path& path, std::string_view text) {
    namespace fs = std::filesystem;
    make_folders_for(path);
    std::random_device random;
    const fs::path folder = path.parent_path() / fmt::format("unfinished-{:08x}{:08x}", random(), random());
    const fs::path file = folder / "text";
    std::error_code problem, ignored;
    fs::create_directory(folder, problem);
    if (!problem) fs::permissions(folder, fs::perms::owner_all, fs::perm_options::replace, problem);
    if (!problem && !(std::ofstream(file, std::ios::binary) << text).flush())
        problem = std::make_error_code(std::errc::io_error);
    if (!problem)
        fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write, fs::perm_options::replace, problem);
    if (!problem) make_durable(file);
    if (!problem) fs::rename(file, path, problem);
    fs::remove_all(folder, ignored);
    if (problem)
        throw Error(ErrorCode::output, "cannot be written with access for its owner only", path.string(),
                    "check folder, permissions and free space");
}

}  // namespace echolux
