// Access control of the server: a token to steer, a token to watch, and optionally a password that users type.
//
// A token grants control of the instrument, so it comes from the system's random source, is compared in constant time
// and never appears in a message. The headers Host and Origin are checked because a foreign page can make a browser on
// this machine send requests with its cookies (DNS rebinding, cross-site WebSockets).
#pragma once

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace echolux {

// Rights granted by a token.
enum class Right { watch, steer };

// An empty secret is unset and equals nothing.
struct Secrets {
    std::string steer, watch, password;
};

// Returns 32 random bytes as base64url (RFC 4648). Throws Error{device}.
std::string create_token();

// Compares in constant time, independent of content and length.
bool is_same_secret(std::string_view given, std::string_view kept);

// Reads the tokens of a file: the first line to steer, the optional second line to watch. A missing file is created
// with new tokens, readable by its owner only. Throws Error{bad_setting, bad_file, output}.
Secrets secrets_of(const std::filesystem::path& token_file);

// Reads a password from the first line of a file. Throws Error{bad_setting, bad_file} if it has fewer than 8 characters
// or the file cannot be read.
std::string password_of(const std::filesystem::path& password_file);

// Checks secrets and request headers. Immutable, so any thread may use it.
class Access {
  public:
    // `names` are host names of this machine that requests may carry in addition to localhost and numeric addresses.
    explicit Access(Secrets secrets, std::vector<std::string> names = {});

    // Returns nullopt for an unknown token.
    std::optional<Right> right_of(std::string_view token) const;
    bool is_password(std::string_view given) const { return is_same_secret(given, secrets_.password); }
    bool has_password() const { return !secrets_.password.empty(); }
    const Secrets& secrets() const { return secrets_; }

    // Checks the header Host, with or without a port. Accepts our names and numeric addresses, which a foreign name
    // server cannot redirect.
    bool is_host_ours(std::string_view host) const;
    // Checks the header Origin: the requesting page must come from this server under the same name.
    static bool is_origin_ours(std::string_view origin, std::string_view host, bool is_tls);

  private:
    Secrets secrets_;
    std::vector<std::string> names_;
};

// ---- Parser of the first line that a program sends: {"token": "..."}.

// Returns the token, or an empty string if the line has another form.
std::string token_of_line(std::string_view line);

// ---- Small files that only their owner may read: tokens and keys.

// Writes text atomically and creates missing folders. The file is never readable by others. Throws Error{output}.
void write_private(const std::filesystem::path& path, std::string_view text);

// ---- Token bucket with a burst of one second. Times are passed by the caller.

class Rate {
  public:
    Rate(double per_s, double now_s) : per_s_(per_s), has_(std::max(per_s, 1.0)), at_s_(now_s) {}

    // Takes one token and returns the time in s to wait for it; 0 if it was available.
    double take(double now_s) {
        has_ = std::min(std::max(per_s_, 1.0), has_ + (now_s - at_s_) * per_s_);
        at_s_ = now_s;
        has_ -= 1;
        return has_ >= 0 ? 0 : -has_ / per_s_;
    }

    // Takes one token if it is available now. Otherwise changes nothing and returns false.
    bool try_take(double now_s) {
        const Rate before = *this;
        if (take(now_s) <= 0) return true;
        *this = before;
        return false;
    }

  private:
    double per_s_, has_, at_s_;
};

}  // namespace echolux
