// TLS certificate of the server: provided by the user, or self-signed for the names of this machine. Browsers warn once
// about a self-signed certificate; its fingerprint shows that it is the right one.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace echolux {

struct Certificate {
    std::string chain, key;  // PEM
};

// Reads a certificate chain and its key. Throws Error{bad_file} if a file is unreadable or not PEM, or if the key does
// not match.
Certificate read_certificate(const std::filesystem::path& chain, const std::filesystem::path& key);

// Returns a self-signed certificate for `names`, valid for one year (elliptic curve P-256). It is stored in `folder`,
// reused, and renewed shortly before it expires. With an empty folder it is not stored. Throws Error{device, output}.
Certificate own_certificate(const std::filesystem::path& folder, const std::vector<std::string>& names);

// Returns the SHA-256 fingerprint in the form that browsers show: "AB:CD:...".
std::string fingerprint_of(const Certificate& certificate);

// ---- Smart pointers for OpenSSL objects with their release functions.

template <auto release>
struct Release {
    template <class Object>
    void operator()(Object* object) const {
        release(object);
    }
};
template <class Object, auto release>
using Released = std::unique_ptr<Object, Release<release>>;

}  // namespace echolux
