// The client's side of TLS, against a server of the test: accepted certificates, and the messages for refused ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <thread>

#include "compute/error.h"
#include "temporary_folder.h"
#include "ui/net/client_connection.h"
#include "ui/net/net_server.h"

namespace echolux::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
constexpr const char* token_line = "{\"token\": \"steering-token-1234\"}\n";

class ClientTls : public testing::Test {
  protected:
    void SetUp() override {
        NetOptions options;
        options.tls = certificate_;
        secret_ = std::make_unique<NetServer>(options, access_, inbox_);
        plain_ = std::make_unique<NetServer>(NetOptions{}, access_, inbox_);
        std::ofstream(folder_ / "certificate.pem") << certificate_.chain;
        std::ofstream(folder_ / "other.pem") << own_certificate({}, {}).chain;
    }

    NetAddress at(NetServer& server, const std::string& host = "127.0.0.1") {
        return {host, static_cast<std::uint16_t>(server.serve_lines(0))};
    }
    NetAddress secret() { return at(*secret_); }

    static std::string first_line(ClientConnection& connection) {
        EXPECT_TRUE(connection.send(token_line));
        std::string text;
        std::array<std::byte, 4096> some{};
        for (int i = 0; i < 200 && text.find('\n') == text.npos; ++i) {
            const std::optional<std::size_t> bytes = connection.receive(some, 100ms);
            if (!bytes) break;
            text.append(reinterpret_cast<const char*>(some.data()), *bytes);
        }
        return text;
    }
    static std::string refusal(const NetAddress& address, const std::optional<TlsTrust>& trust) {
        try {
            ClientConnection connection(address, trust, 5s);
            return "accepted";
        } catch (const Error& error) {
            return error.line();
        }
    }

    const TemporaryFolder folder_;
    const Certificate certificate_ = own_certificate({}, {"scope.lab.example"});
    const std::shared_ptr<const Access> access_ =
        std::make_shared<Access>(Secrets{"steering-token-1234", "watching-token-1234", {}});
    Inbox inbox_;
    std::unique_ptr<NetServer> secret_, plain_;
};

TEST_F(ClientTls, AcceptsCertificateByFileOrFingerprint) {
    std::string spelled = fingerprint_of(certificate_);
    std::ranges::replace(spelled, ':', ' ');
    for (const TlsTrust& trust : {TlsTrust{folder_ / "certificate.pem", ""}, TlsTrust{{}, fingerprint_of(certificate_)},
                                  TlsTrust{{}, spelled}}) {
        ClientConnection connection(secret(), trust, 10s);
        EXPECT_THAT(first_line(connection), HasSubstr("welcome"));
    }
    ClientConnection without(at(*plain_), std::nullopt, 10s);
    EXPECT_THAT(first_line(without), HasSubstr("welcome"));
}

TEST_F(ClientTls, RejectsOtherCertificates) {
    EXPECT_THAT(refusal(secret(), TlsTrust{}), HasSubstr("not accepted"));  // not signed by an authority
    EXPECT_THAT(refusal(secret(), TlsTrust{folder_ / "other.pem", ""}), HasSubstr("not accepted"));
    EXPECT_THAT(refusal(secret(), TlsTrust{{}, std::string(95, 'A')}),
                HasSubstr("fingerprint " + fingerprint_of(certificate_)));
    EXPECT_THAT(refusal(at(*secret_, "127.0.0.2"), TlsTrust{folder_ / "certificate.pem", ""}),
                testing::AnyOf(HasSubstr("not accepted"), HasSubstr("cannot connect")));  // issued for another address
    EXPECT_THAT(refusal(secret(), TlsTrust{folder_ / "none.pem", ""}), HasSubstr("none.pem"));
    EXPECT_THAT(refusal(at(*plain_), TlsTrust{{}, fingerprint_of(certificate_)}), HasSubstr("TLS"));
}

// Both sides send more than the system's buffers hold, at the same time.
TEST_F(ClientTls, TransfersMoreThanBuffersHold) {
    ClientConnection connection(secret(), TlsTrust{{}, fingerprint_of(certificate_)}, 10s);
    EXPECT_THAT(first_line(connection), HasSubstr("welcome"));
    ConnectionPtr to;
    while (to == nullptr) {
        for (const Incoming& incoming : inbox_.take(5)) {
            if (incoming.kind == Incoming::Kind::opened) to = incoming.from;
        }
    }
    to->send_binary(std::make_shared<const std::vector<std::byte>>(std::size_t{20} << 20, std::byte{'x'}));
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(connection.send(std::string(500'000, 'y') + "\n"));
    std::size_t received = 0, heard = 0;
    std::vector<std::byte> some(1 << 16);
    for (int i = 0; i < 5000 && (received < (std::size_t{20} << 20) || heard < 20); ++i) {
        const std::optional<std::size_t> bytes = connection.receive(some, 10ms);
        ASSERT_TRUE(bytes);
        received += *bytes;
        for (const Incoming& incoming : inbox_.take(0)) {
            heard += incoming.kind == Incoming::Kind::text && incoming.bytes.size() == 500'000 ? 1 : 0;
        }
    }
    EXPECT_EQ(heard, 20U);
    EXPECT_GE(received, std::size_t{20} << 20);
}

}  // namespace
}  // namespace echolux::test
