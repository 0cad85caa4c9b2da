// TLS client connection. OpenSSL reads from and writes to memory buffers, so that the connection alone decides how long
// to wait.
#include "ui/net/client_connection.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <cctype>

#include "compute/error.h"
#include "compute/indexing.h"
#include "ui/net/certificate.h"

namespace echolux {
namespace {

using namespace std::chrono_literals;
using Milliseconds = std::chrono::milliseconds;
using Deadline = std::chrono::steady_clock::time_point;

std::string openssl_reason() {
    const unsigned long code = ERR_get_error();
    const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
    ERR_clear_error();
    return reason == nullptr ? "the handshake failed" : reason;
}

// Normalizes a fingerprint: "ab:CD 01" becomes "ABCD01".
std::string digits_of(std::string_view fingerprint) {
    std::string digits;
    for (const char c : fingerprint) {
        if (c != ':' && c != ' ') digits += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    return digits;
}

}  // namespace

struct ClientConnection::Tls {
    Released<SSL_CTX, SSL_CTX_free> context;
    Released<SSL, SSL_free> ssl;
    BIO* from_server = nullptr;  // owned by ssl
    // owned by ssl
    BIO* to_server = nullptr;

    Tls(const std::string& host, const TlsTrust& trust) {
        context.reset(SSL_CTX_new(TLS_client_method()));
        SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
        // With a fingerprint the certificate is compared after the handshake, so no authority is needed.
        if (trust.fingerprint.empty()) require_authority(trust.authorities);
        ssl.reset(SSL_new(context.get()));
        from_server = BIO_new(BIO_s_mem());
        to_server = BIO_new(BIO_s_mem());
        SSL_set_bio(ssl.get(), from_server, to_server);
        // a numeric address has no name to verify
        if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl.get()), host.c_str()) == 1) return;
        ERR_clear_error();
        SSL_set1_host(ssl.get(), host.c_str());
        std::string name = host;
        SSL_ctrl(ssl.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, name.data());
    }

    // Requires a certificate signed by these authorities, or by those of the system.
    void require_authority(const std::filesystem::path& authorities) {
        SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
        const int loaded = authorities.empty()
                               ? SSL_CTX_set_default_verify_paths(context.get())
                               : SSL_CTX_load_verify_locations(context.get(), authorities.c_str(), nullptr);
        if (loaded != 1)
            throw Error(ErrorCode::bad_file, "contains no PEM certificate", authorities.string(),
                        "use the certificate of the server, or of its authority");
    }

    // Sends the encrypted bytes that OpenSSL has produced. Returns false if the connection has ended.
    bool flush(TcpConnection& connection) const {
        std::array<std::byte, 16384> some{};
        for (int bytes = BIO_read(to_server, some.data(), some.size()); bytes > 0;
             bytes = BIO_read(to_server, some.data(), some.size())) {
            std::span<const std::byte> left(some.data(), index(bytes));
            while (!left.empty()) {
                const std::optional<std::size_t> sent = connection.send(left, 1s);
                if (!sent) return false;
                left = left.subspan(*sent);
            }
        }
        return true;
    }

    // Passes received bytes to OpenSSL. Returns their number, 0 on timeout, nullopt if the connection has ended.
    std::optional<std::size_t> fill(TcpConnection& connection, Milliseconds timeout) const {
        std::array<std::byte, 65536> some{};
        const std::optional<std::size_t> bytes = connection.receive(some, timeout);
        if (bytes && *bytes > 0) BIO_write(from_server, some.data(), static_cast<int>(*bytes));
        return bytes;
    }

    bool needs_more(int result) const { return SSL_get_error(ssl.get(), result) == SSL_ERROR_WANT_READ; }

    // Throws Error if the handshake fails or is not complete at `until`.
    void shake_hands(TcpConnection& connection, const NetAddress& address, Deadline until) {
        for (int result = SSL_connect(ssl.get()); result != 1; result = SSL_connect(ssl.get())) {
            const bool waits = needs_more(result);
            if (!waits) throw refused(address);
            const bool is_sent = flush(connection);
            const std::optional<std::size_t> came = is_sent ? fill(connection, 100ms) : std::nullopt;
            if (!came || std::chrono::steady_clock::now() > until)
                throw Error(ErrorCode::device, "does not answer with TLS", address.text(),
                            "check that a server with `--tls` uses this port");
        }
        flush(connection);
    }

    Error refused(const NetAddress& address) const {
        const long verified = SSL_get_verify_result(ssl.get());
        if (verified != X509_V_OK)
            return {ErrorCode::bad_setting,
                    std::string("its certificate is not accepted: ") + X509_verify_cert_error_string(verified),
                    address.text(), "compare its fingerprint with the one that the server printed, and pass that one"};
        return {ErrorCode::device, "no TLS: " + openssl_reason(), address.text(),
                "check that a server with `--tls` uses this port"};
    }

    std::string fingerprint() const {
        const Released<X509, X509_free> certificate(SSL_get1_peer_certificate(ssl.get()));
        const Released<BIO, BIO_free> pem(BIO_new(BIO_s_mem()));
        if (!certificate || PEM_write_bio_X509(pem.get(), certificate.get()) != 1) return {};
        char* text = nullptr;
        const long size = BIO_get_mem_data(pem.get(), &text);
        return fingerprint_of({std::string(text, index(size)), ""});
    }
};

ClientConnection::ClientConnection(const NetAddress& address, const std::optional<TlsTrust>& trust,
                                   Milliseconds timeout)
    : connection_(connect_to(address, timeout, address.text())) {
    if (!trust) return;
    tls_ = std::make_unique<Tls>(address.host, *trust);
    tls_->shake_hands(connection_, address, std::chrono::steady_clock::now() + timeout);
    if (trust->fingerprint.empty() || digits_of(trust->fingerprint) == digits_of(tls_->fingerprint())) return;
    throw Error(ErrorCode::bad_setting, "its certificate has the fingerprint " + tls_->fingerprint(), address.text(),
                "compare it with the one that the server printed");
}

ClientConnection::~ClientConnection() = default;
ClientConnection::ClientConnection(ClientConnection&&) noexcept = default;

std::optional<std::size_t> ClientConnection::receive(std::span<std::byte> to, Milliseconds timeout) {
    if (!tls_) return connection_.receive(to, timeout);
    for (bool is_first = true;; is_first = false) {
        std::size_t bytes = 0;
        const int result = SSL_read_ex(tls_->ssl.get(), to.data(), to.size(), &bytes);
        if (result == 1) return bytes;
        if (!tls_->needs_more(result)) return std::nullopt;
        // After one refill, return 0 rather than wait longer than `timeout`.
        if (!is_first) return 0;
        if (!tls_->flush(connection_) || !tls_->fill(connection_, timeout)) return std::nullopt;
    }
}

bool ClientConnection::send(std::string_view text) {
    if (tls_) {
        std::size_t sent = 0;
        const bool is_taken = text.empty() || SSL_write_ex(tls_->ssl.get(), text.data(), text.size(), &sent) == 1;
        return is_taken && tls_->flush(connection_);
    }
    while (!text.empty()) {
        const std::optional<std::size_t> sent = connection_.send(std::as_bytes(std::span(text)), 1s);
        if (!sent) return false;
        text.remove_prefix(*sent);
    }
    return true;
}

}  // namespace echolux
