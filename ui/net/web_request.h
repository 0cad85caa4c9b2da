// What a request asks for, and whether it is answered: pure functions of its headers, whatever library read them. Each
// refusal is one line that says what helps, and no secret.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "ui/net/access.h"

namespace echolux {

struct WebRequest {
    enum class Method { get, put, post, other };

    Method method = Method::get;
    std::string target;  // as it came: "/?token=…"
    std::string host, origin, cookie, authorization;
    bool is_upgrade = false;  // to a WebSocket
    bool is_tls = false;
    int header_hosts = 1;  // how many Host headers there are
};

struct Target {
    std::string path;
    std::map<std::string, std::string> query;
};

// Decoded; nothing: no path, broken escapes, or control characters.
std::optional<Target> parsed_target(std::string_view target);

// "a%20b+c" -> "a b c", as forms are sent. Nothing: a broken escape.
std::optional<std::string> decoded(std::string_view text, bool plus_is_space);

// The value of a field of a form, as POST sends it.
std::optional<std::string> form_value(std::string_view form, std::string_view name);

// The value of a cookie in the header's "a=1; b=2"; nothing: it is not there.
std::optional<std::string> cookie_value(std::string_view header, std::string_view name);

// A name that a dropped file may be kept under: no folder, no hidden file, nothing that a terminal would obey. Nothing:
// there is no such name in it.
std::optional<std::string> plain_file_name(std::string_view name);

// Of the cookie that keeps a browser in: other servers of this machine have others.
std::string cookie_name(int port);

struct Verdict {
    enum class Kind {
        refused,  // status and text
        page,     // a file of the page: path
        login,    // the password's form
        enter,    // the token came with the address: the page, and a cookie
        check,    // a password was posted: check it
        socket,   // become a WebSocket
        upload,   // path: "/upload/NAME"
    };

    Kind kind = Kind::refused;
    int status = 403;
    std::string text;
    std::string path;
    std::string token;
    std::optional<Right> right;
};

Verdict judge(const WebRequest& request, const Access& access, int port);

}  // namespace echolux
