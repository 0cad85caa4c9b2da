// Interprets HTTP requests, decides about their authorization, and receives files. The interpretation consists of pure
// functions of the headers, independent of the HTTP library. A refusal is one line with a remedy and without secrets.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/io/atomic_file.h"
#include "ui/net/access.h"

namespace echolux {

struct WebRequest {
    enum class Method { get, put, post, other };

    Method method = Method::get;
    std::string target;  // as received: "/?token=..."
    std::string host, origin, cookie, authorization;
    bool is_upgrade = false;  // upgrade to a WebSocket
    bool is_tls = false;
    int header_hosts = 1;  // number of Host headers
};

// Decoded path and query of an address.
struct Target {
    std::string path;
    std::map<std::string, std::string> query;
};

// Parses and decodes the target. Returns nullopt for a missing path, broken escapes or control characters.
std::optional<Target> parsed_target(std::string_view target);

// Decodes percent escapes: "a%20b+c" becomes "a b c" with `plus_is_space`, as in forms. Returns nullopt for a broken
// escape.
std::optional<std::string> decoded(std::string_view text, bool plus_is_space);

// Returns the value of a form field from the body of a POST request.
std::optional<std::string> form_value(std::string_view form, std::string_view name);

// Returns the value of a cookie in a header such as "a=1; b=2", or nullopt.
std::optional<std::string> cookie_value(std::string_view header, std::string_view name);

// Returns the name if a dropped file may be stored under it: no folders, no hidden files, no control characters.
// Otherwise returns nullopt.
std::optional<std::string> plain_file_name(std::string_view name);

// Returns the name of the session cookie. It contains the port, because cookies are shared by all ports of a host.
std::string cookie_name(int port);

// Decision about one request, with the data to act on it.
struct Verdict {
    enum class Kind {
        refused,  // send status and text
        page,     // send the file `path`
        login,    // send the password form
        enter,    // the address contains the token: set a cookie and redirect to the page
        check,    // a password was posted: check it
        socket,   // upgrade to a WebSocket
        upload,   // store the body as file `path`
    };

    Kind kind = Kind::refused;
    int status = 403;
    std::string text;
    std::string path;
    std::string token;
    std::optional<Right> right;
    bool is_page = false;  // refused: a person reads it in a browser
};

// Decides about a request. `port` is the port of the server, for the name of its cookie.
Verdict judge(const WebRequest& request, const Access& access, int port);

// ---- Receives an uploaded file into the upload folder under an unused name. The file appears only when complete. For
// use by one thread.

class Upload {
  public:
    // `name` must come from plain_file_name(). If it is in use, the file is named "name-2.ext" and so on.
    Upload(const std::filesystem::path& folder, const std::string& name);
    ~Upload();
    Upload(const Upload&) = delete;
    Upload& operator=(const Upload&) = delete;

    void write(std::span<const char> bytes);  // throws Error{output}
    void finish();                            // throws Error{output}
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
    std::unique_ptr<AtomicFile> file_;
    std::ofstream stream_;
};

}  // namespace echolux
