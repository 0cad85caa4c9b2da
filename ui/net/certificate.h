// The certificate of a server that speaks TLS: given, or made by itself for the names of this machine. A browser warns
// of one that was made so, once; its fingerprint tells whether it is ours.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace echolux {

struct Certificate {
    std::string chain, key;  // PEM
};

// Throws Error{bad_file}: not readable, no PEM, or a key of another certificate.
Certificate read_certificate(const std::filesystem::path& chain, const std::filesystem::path& key);

// Kept in `folder` for the next time, and made again when it is about to expire. Elliptic curve P-256, a year. Empty
// folder: made for this time alone. Throws Error{device, output}.
Certificate own_certificate(const std::filesystem::path& folder, const std::vector<std::string>& names);

// "AB:CD:…", SHA-256, as browsers show it.
std::string fingerprint_of(const Certificate& certificate);

}  // namespace echolux
