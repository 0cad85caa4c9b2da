#include "ui/net/certificate.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <array>

#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/io/regular_file.h"
#include "ui/net/access.h"

namespace echolux {
namespace {

using Bio = Released<BIO, BIO_free>;
using Key = Released<EVP_PKEY, EVP_PKEY_free>;
using X509Ptr = Released<X509, X509_free>;

// Lifetime of a certificate, and time of renewal before its end.
constexpr long lasts_s = 365L * 24 * 3600, renewed_before_s = 7L * 24 * 3600;
// of a PEM file
constexpr std::uintmax_t max_bytes = 1 << 20;

Bio reading(const std::string& text) {
    return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string text_of(BIO* bio) {
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(bio, &bytes);
    return {bytes, index(size)};
}

X509Ptr x509_of(const std::string& pem) {
    return X509Ptr(PEM_read_bio_X509(reading(pem).get(), nullptr, nullptr, nullptr));
}

Key key_of(const std::string& pem) {
    std::string no_password;  // otherwise OpenSSL asks at the terminal
    return Key(PEM_read_bio_PrivateKey(reading(pem).get(), nullptr, nullptr, no_password.data()));
}

// True if the key belongs to the certificate.
bool fit(const Certificate& certificate) {
    const X509Ptr x509 = x509_of(certificate.chain);
    const Key key = key_of(certificate.key);
    return x509 && key && X509_check_private_key(x509.get(), key.get()) == 1;
}

// True if the certificate is still valid in a week.
bool lasts(const Certificate& certificate) {
    const X509Ptr x509 = x509_of(certificate.chain);
    std::time_t soon = std::time(nullptr) + renewed_before_s;
    return x509 && X509_cmp_time(X509_get0_notAfter(x509.get()), &soon) > 0;
}

// Subject alternative names in the notation of OpenSSL.
std::string alternative_names(const std::vector<std::string>& names) {
    std::string text = "DNS:localhost,IP:127.0.0.1,IP:::1";
    for (const std::string& name : names) {
        const bool is_number = name.find_first_not_of("0123456789.") == name.npos || name.find(':') != name.npos;
        text += fmt::format(",{}:{}", is_number ? "IP" : "DNS", name);
    }
    return text;
}

void add_extension(X509* x509, int kind, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, x509, x509, nullptr, nullptr, 0);
    const Released<X509_EXTENSION, X509_EXTENSION_free> extension(
        X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
    if (!extension || X509_add_ext(x509, extension.get(), -1) != 1)
        throw Error(ErrorCode::device, fmt::format("cannot create a certificate for {}", value), "tls");
}

// Creates a self-signed certificate. Its validity starts one hour ago, for clients with slow clocks.
Certificate made(const std::vector<std::string>& names) {
    const Key key(EVP_EC_gen("P-256"));
    const X509Ptr x509(X509_new());
    std::array<unsigned char, 16> serial{};
    if (!key || !x509 || RAND_bytes(serial.data(), static_cast<int>(serial.size())) != 1)
        throw Error(ErrorCode::device, "OpenSSL failed to generate a key", "tls");
    // A serial number must be positive.
    serial[0] &= 0x7F;
    const Released<BIGNUM, BN_free> number(BN_bin2bn(serial.data(), static_cast<int>(serial.size()), nullptr));
    BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(x509.get()));
    // X.509 version 3, counted from 0
    X509_set_version(x509.get(), 2);
    X509_gmtime_adj(X509_getm_notBefore(x509.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(x509.get()), lasts_s);
    X509_set_pubkey(x509.get(), key.get());
    X509_NAME* name = X509_get_subject_name(x509.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("Echolux"), -1, -1, 0);
    X509_set_issuer_name(x509.get(), name);
    add_extension(x509.get(), NID_basic_constraints, "critical,CA:FALSE");
    add_extension(x509.get(), NID_ext_key_usage, "serverAuth");
    add_extension(x509.get(), NID_subject_alt_name, alternative_names(names));
    const Bio chain(BIO_new(BIO_s_mem())), secret(BIO_new(BIO_s_mem()));
    const bool is_made = X509_sign(x509.get(), key.get(), EVP_sha256()) > 0 &&
                         PEM_write_bio_X509(chain.get(), x509.get()) == 1 &&
                         PEM_write_bio_PrivateKey(secret.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1;
    if (!is_made) throw Error(ErrorCode::device, "OpenSSL failed to create a certificate", "tls");
    return {text_of(chain.get()), text_of(secret.get())};
}

std::string whole(const std::filesystem::path& path) {
    return whole_file(path, max_bytes, "is not a PEM file of at most 1 MiB");
}

}  // namespace

Certificate read_certificate(const std::filesystem::path& chain, const std::filesystem::path& key) {
    const Certificate read{whole(chain), whole(key)};
    if (!x509_of(read.chain))
        throw Error(ErrorCode::bad_file, "contains no PEM certificate", chain.string(), "use the chain in PEM format");
    if (!fit(read))
        throw Error(ErrorCode::bad_file, "is not the key of the certificate in PEM format without a password",
                    key.string(), "use the key of the certificate");
    return read;
}

Certificate own_certificate(const std::filesystem::path& folder, const std::vector<std::string>& names) {
    if (folder.empty()) return made(names);
    // Reuse the certificate for the same names, so that users accept it in the browser only once.
    const std::filesystem::path chain = folder / "certificate.pem", key = folder / "key.pem", kept = folder / "names";
    std::error_code problem;
    const std::string wanted = alternative_names(names) + "\n";
    if (std::filesystem::exists(chain, problem) && std::filesystem::exists(key, problem) &&
        std::filesystem::exists(kept, problem) && whole(kept) == wanted) {
        const Certificate old{whole(chain), whole(key)};
        if (fit(old) && lasts(old)) return old;
    }
    Certificate fresh = made(names);
    write_private(key, fresh.key);
    write_private(chain, fresh.chain);
    write_private(kept, wanted);
    return fresh;
}

std::string fingerprint_of(const Certificate& certificate) {
    const X509Ptr x509 = x509_of(certificate.chain);
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (!x509 || X509_digest(x509.get(), EVP_sha256(), digest.data(), &size) != 1) return {};
    std::string text;
    for (unsigned i = 0; i < size; ++i) text += fmt::format("{}{:02X}", i > 0 ? ":" : "", digest.at(i));
    return text;
}

}  // namespace echolux
