// Who may connect: one token to steer and one to watch, made from the system's random source, and a password for those
// who type. A token is as good as a key to the instrument, so it is compared in constant time and never told in a
// message. Host and Origin are looked at because a page elsewhere can make a browser on this machine ask us (DNS
// rebinding, cross-site WebSockets), with whatever cookies it has.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace echolux {

enum class Right { watch, steer };

// Empty: there is none, and nothing equals it.
struct Secrets {
    std::string steer, watch, password;
};

// 32 random bytes in the letters of addresses (base64url, RFC 4648). Throws Error{device}.
std::string made_token();

// In a time that does not depend on what they have in common, nor on their lengths.
bool is_same_secret(std::string_view given, std::string_view kept);

// The tokens of a file: its first line to steer, its second, where there is one, to watch. A file that is not there is
// made, for its owner alone. Throws Error{bad_setting, bad_file, output}.
Secrets secrets_of(const std::filesystem::path& token_file);

// The first line of a file. Throws Error{bad_setting, bad_file}: shorter than 8 characters, no text.
std::string password_of(const std::filesystem::path& password_file);

class Access {
  public:
    // `names`: host names that browsers may call this machine by, besides localhost and addresses in digits.
    explicit Access(Secrets secrets, std::vector<std::string> names = {});

    std::optional<Right> right_of(std::string_view token) const;
    bool is_password(std::string_view given) const { return is_same_secret(given, secrets_.password); }
    bool has_password() const { return !secrets_.password.empty(); }
    const Secrets& secrets() const { return secrets_; }

    // Of the header Host, with or without a port: a name of ours, or an address in digits, which no foreign name server
    // can point elsewhere.
    bool is_host_ours(std::string_view host) const;
    // Of the header Origin: the page that asks is the one that this server sent under this name.
    static bool is_origin_ours(std::string_view origin, std::string_view host, bool is_tls);

  private:
    Secrets secrets_;
    std::vector<std::string> names_;
};

}  // namespace echolux
