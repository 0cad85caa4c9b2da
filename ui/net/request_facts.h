// Extracts from a Boost.Beast request the facts that judge() needs. Shared by the server and the request fuzzer.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <string>

#include "ui/net/web_request.h"

namespace echolux::net {

inline WebRequest::Method method_of(boost::beast::http::verb verb) {
    switch (verb) {
        case boost::beast::http::verb::get: return WebRequest::Method::get;
        case boost::beast::http::verb::put: return WebRequest::Method::put;
        case boost::beast::http::verb::post: return WebRequest::Method::post;
        default: return WebRequest::Method::other;
    }
}

template <class Request>
WebRequest facts_of(const Request& request, bool is_tls) {
    namespace http = boost::beast::http;
    const auto text_of = [](boost::beast::string_view text) { return std::string(text.data(), text.size()); };
    const auto field = [&](http::field name) { return text_of(request[name]); };
    WebRequest facts;
    facts.method = method_of(request.method());
    facts.target = text_of(request.target());
    facts.host = field(http::field::host);
    facts.origin = field(http::field::origin);
    facts.cookie = field(http::field::cookie);
    facts.authorization = field(http::field::authorization);
    facts.is_upgrade = boost::beast::websocket::is_upgrade(request);
    facts.is_tls = is_tls;
    facts.header_hosts = static_cast<int>(request.count(http::field::host));
    return facts;
}

}  // namespace echolux::net
