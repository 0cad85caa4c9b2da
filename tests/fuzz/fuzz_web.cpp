// Untrusted input to `echolux serve`: requests, forms, file names, and the messages of the page.
#include <boost/beast/core/multi_buffer.hpp>
#include <boost/beast/http.hpp>

#include "fuzz_target.h"
#include "ui/net/access.h"
#include "ui/net/request_facts.h"
#include "ui/web/page_message.h"

namespace echolux::fuzz {
namespace {

constexpr int port = 8970;

std::string_view text_of(Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

const Access& access() {
    static const Access kept({"steering-token", "watching-token", "open sesame"}, {"scope.example.org"});
    return kept;
}

// Without a token, a request gets no further than the password form.
void require_right(const Verdict& verdict) {
    using Kind = Verdict::Kind;
    const bool is_let_in = verdict.kind != Kind::refused && verdict.kind != Kind::login && verdict.kind != Kind::check;
    if (is_let_in && !verdict.right) std::abort();
    if (verdict.kind == Kind::upload && (*verdict.right != Right::steer || verdict.path.find('/') != std::string::npos))
        std::abort();
    const bool is_told =
        verdict.text.find("-token\n") == std::string::npos && verdict.text.find('\n') == std::string::npos;
    if (verdict.kind == Kind::refused && (verdict.text.empty() || verdict.status < 400 || !is_told)) std::abort();
}

void read_web_request(Bytes bytes) {
    namespace http = boost::beast::http;
    http::request_parser<http::empty_body> parser;
    parser.header_limit(8192);
    parser.body_limit(std::uint64_t{1} << 30);
    boost::system::error_code error;
    parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
    if (parser.is_header_done()) {
        for (const bool is_tls : {false, true})
            require_right(judge(net::facts_of(parser.get(), is_tls), access(), port));
    }
    form_value(text_of(bytes), "password");
    cookie_value(text_of(bytes), cookie_name(port));
    if (const auto name = plain_file_name(text_of(bytes)); name && name->find('/') != std::string::npos) std::abort();
    access().right_of(token_of_line(text_of(bytes)));
}

void read_page_message(Bytes bytes) {
    is_for_control(text_of(bytes));
    const PageMessage message = parsed_page_message(text_of(bytes));  // may throw an Error
    if (const auto* size = std::get_if<PageSize>(&message);
        size != nullptr && (size->width % 2 != 0 || size->width > 8192))
        std::abort();
}

const Registration registrations[] = {{"web_request", read_web_request}, {"page_message", read_page_message}};

}  // namespace
}  // namespace echolux::fuzz
