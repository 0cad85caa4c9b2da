#include "ui/net/web_session.h"

#include <fmt/format.h>

#include <array>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/detect_ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/version.hpp>
#include <map>
#include <utility>

#include "compute/error.h"
#include "ui/net/either_stream.h"
#include "ui/net/request_facts.h"
#include "ui/net/socket_session.h"
#include "ui/net/upload.h"
#include "ui/net/web_request.h"

namespace echolux::net {
namespace {

namespace http = beast::http;
using Answer = http::response<http::string_body>;
using Headers = std::map<http::field, std::string>;

constexpr std::size_t form_bytes = 4096, part_bytes = 1 << 16;
constexpr double upload_pause_s = 30;  // maximum pause between parts
// Limits for reading after the last response, see linger().
constexpr double lingers_s = 2;
constexpr std::size_t lingers_bytes = 1 << 20;

// Pages may only load their own files.
constexpr const char* policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

// One HTTP connection on the network's thread. Keeps itself alive through its pending operations.
class WebSession : public Unauthenticated, public std::enable_shared_from_this<WebSession> {
  public:
    WebSession(Hub& hub, asio::ip::tcp::socket&& socket)
        : hub_(hub), peer_(peer_of(socket)), stream_(std::move(socket)) {}

    void start() {
        counted_ = hub_.note_unauthenticated(shared_from_this());
        stream_.plain().expires_after(in_time(hub_.limits().introduction_s));
        if (!hub_.tls) return read_header();
        beast::async_detect_ssl(stream_.plain(), buffer_, [self = shared_from_this()](error_code error, bool is_tls) {
            if (error) return;
            if (is_tls) return self->begin_tls();
            self->keeps_alive_ = false;
            self->answer(400, "this server requires HTTPS: open https://...");
        });
    }

    // Uploads are authenticated and keep running.
    void drop() override {
        if (!place_) stream_.close();
    }

  private:
    void begin_tls() {
        stream_.async_accept_tls(*hub_.tls, buffer_.data(),
                                 [self = shared_from_this()](error_code error, std::size_t used) {
                                     if (error) return;
                                     self->buffer_.consume(used);
                                     self->read_header();
                                 });
    }

    void read_header() {
        parser_.emplace();
        parser_->header_limit(static_cast<std::uint32_t>(hub_.limits().header_bytes));
        parser_->body_limit(hub_.limits().upload_bytes);
        stream_.plain().expires_after(in_time(hub_.limits().introduction_s));
        http::async_read_header(stream_, buffer_, *parser_,
                                [self = shared_from_this()](error_code error, std::size_t) { self->read(error); });
    }

    // Handles the header, or a failure to read it.
    void read(error_code error) {
        keeps_alive_ = false;
        if (error == http::error::header_limit) return answer(431, "the request is too long");
        if (error == http::error::body_limit) return answer(413, "the file is larger than this server takes");
        if (error.category() == http::make_error_code(http::error::bad_method).category() &&
            error != http::error::end_of_stream && error != http::error::partial_message)
            return answer(400, "this is not a request that can be read");
        if (error) return stream_.close();
        const auto& request = parser_->get();
        keeps_alive_ = request.keep_alive() && parser_->is_done();
        act(judge(facts_of(request, stream_.is_tls()), *hub_.access, hub_.web_port));
    }

    void act(const Verdict& verdict) {
        switch (verdict.kind) {
            case Verdict::Kind::refused: return answer(verdict.status, verdict.text);
            case Verdict::Kind::login:
                return send(verdict.status, "text/html; charset=utf-8", std::string(hub_.content.login));
            case Verdict::Kind::check: return read_form();
            case Verdict::Kind::enter: return enter(verdict.token, "/");
            case Verdict::Kind::page: return send_page(verdict.path);
            case Verdict::Kind::socket: return become_socket(*verdict.right);
            case Verdict::Kind::upload: return begin_upload(verdict.path);
        }
    }

    // Moves the token from the address to a cookie, which the browser sends with later requests.
    void enter(const std::string& token, const std::string& to) {
        const std::string cookie = fmt::format("{}={}; HttpOnly; SameSite=Lax; Path=/{}", cookie_name(hub_.web_port),
                                               token, stream_.is_tls() ? "; Secure" : "");
        send(303, "text/plain; charset=utf-8", "", {{http::field::set_cookie, cookie}, {http::field::location, to}});
    }

    void send_page(const std::string& path) {
        for (const WebPage& page : hub_.content.pages) {
            if (page.path == path) return send(200, page.content_type, std::string(page.bytes));
        }
        answer(404, "there is no such page");
    }

    void read_form() {
        auto form = std::make_shared<http::request_parser<http::string_body>>(std::move(*parser_));
        form->body_limit(form_bytes);
        http::async_read(stream_, buffer_, *form, [self = shared_from_this(), form](error_code error, std::size_t) {
            self->keeps_alive_ = false;
            if (error) return self->answer(400, "the form cannot be read");
            self->check_password(form_value(form->get().body(), "password").value_or(""));
        });
    }

    // The rate limit applies per address, so that parallel guessing gains nothing.
    void check_password(const std::string& given) {
        if (!hub_.may_try(peer_)) return answer(429, "too many tries: wait a few seconds");
        if (!hub_.access->is_password(given)) return answer(403, "this is not the password");
        enter(hub_.access->secrets().steer, "/");
    }

    void become_socket(Right right) {
        const std::shared_ptr<void> place = hub_.note_client();
        if (!place) return answer(503, "too many clients are connected: try later, or close another page");
        stream_.plain().expires_never();
        begin_socket_session(hub_, std::move(stream_), parser_->release(), right, peer_, place);
    }

    void begin_upload(const std::string& name) {
        if (hub_.content.upload_folder.empty())
            return answer(403, "this server takes no files: start it with `--uploads FOLDER`");
        if (!parser_->content_length()) return answer(411, "Content-Length is required");
        place_ = hub_.note_client();
        if (!place_) return answer(503, "too many clients are connected");
        counted_.reset();  // no longer counts as unauthenticated, so that it is not dropped
        auto up = std::make_shared<Uploading>(std::move(*parser_), part_bytes);
        up->parser.body_limit(hub_.limits().upload_bytes);
        on_disk(up, [folder = hub_.content.upload_folder, name](Uploading& it) { it.file.emplace(folder, name); });
    }

    // An upload in progress. Parts are written on the disk thread, one at a time.
    struct Uploading {
        template <class Parser>
        Uploading(Parser&& header, std::size_t bytes) : parser(std::move(header)), part(bytes) {}

        http::request_parser<http::buffer_body> parser;
        std::vector<char> part;
        std::optional<Upload> file;
        std::string problem;
        bool is_done = false;
    };

    // Runs `work` on the disk thread, then continues on the network's thread.
    template <class Work>
    void on_disk(const std::shared_ptr<Uploading>& up, Work&& work) {
        asio::post(hub_.disk, [self = shared_from_this(), up, work = std::forward<Work>(work)] {
            try {
                work(*up);
            } catch (const Error& error) {
                up->problem = error.problem();
            } catch (const std::exception& error) {
                up->problem = error.what();
            }
            asio::post(self->hub_.io, [self, up] { self->go_on_uploading(up); });
        });
    }

    void go_on_uploading(const std::shared_ptr<Uploading>& up) {
        keeps_alive_ = false;
        if (!up->problem.empty()) return answer(507, "the file could not be kept: " + up->problem);
        if (up->is_done) return answer(201, up->file->path().filename().string());
        auto& body = up->parser.get().body();
        body.data = up->part.data();
        body.size = up->part.size();
        stream_.plain().expires_after(in_time(upload_pause_s));
        http::async_read(stream_, buffer_, up->parser, [self = shared_from_this(), up](error_code error, std::size_t) {
            self->keep_part(up, error);
        });
    }

    void keep_part(const std::shared_ptr<Uploading>& up, error_code error) {
        if (error == http::error::body_limit) return answer(413, "the file is larger than this server takes");
        if (error && error != http::error::need_buffer) return stream_.close();
        const std::size_t bytes = up->part.size() - up->parser.get().body().size;
        const bool is_last = up->parser.is_done();
        on_disk(up, [bytes, is_last](Uploading& it) {
            it.file->write(std::span(it.part).first(bytes));
            if (is_last) it.file->finish();
            it.is_done = is_last;
        });
    }

    // Closes the connection after an error.
    void answer(int status, const std::string& line) {
        keeps_alive_ = keeps_alive_ && status < 400;
        send(status, "text/plain; charset=utf-8", line + "\n");
    }

    void send(int status, const std::string& type, std::string body, const Headers& more = {}) {
        auto reply = std::make_shared<Answer>(http::int_to_status(static_cast<unsigned>(status)), 11);
        reply->set(http::field::content_type, type);
        reply->set(http::field::cache_control, "no-store");
        reply->set("Content-Security-Policy", policy);
        reply->set("X-Content-Type-Options", "nosniff");
        reply->set("Referrer-Policy", "same-origin");  // otherwise browsers omit the origin of forms
        reply->set("Cross-Origin-Opener-Policy", "same-origin");
        for (const auto& [name, value] : more) reply->set(name, value);
        reply->keep_alive(keeps_alive_);
        reply->body() = std::move(body);
        reply->prepare_payload();
        stream_.plain().expires_after(in_time(hub_.limits().introduction_s));
        http::async_write(stream_, *reply, [self = shared_from_this(), reply](error_code error, std::size_t) {
            if (error) return self->stream_.close();
            self->keeps_alive_ ? self->read_header() : self->linger();
        });
    }

    // Reads and discards data for a short time before closing. Closing with unread data would reset the connection and
    // could lose the response.
    void linger() {
        error_code ignored;
        stream_.plain().socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
        stream_.plain().expires_after(in_time(lingers_s));
        waste_.resize(part_bytes);
        read_waste(lingers_bytes);
    }

    void read_waste(std::size_t most) {
        stream_.plain().async_read_some(asio::buffer(waste_),
                                        [self = shared_from_this(), most](error_code error, std::size_t bytes) {
                                            if (error || bytes >= most) return self->stream_.close();
                                            self->read_waste(most - bytes);
                                        });
    }

    Hub& hub_;
    std::string peer_;
    EitherStream stream_;
    beast::flat_buffer buffer_{1 << 17};
    std::optional<http::request_parser<http::empty_body>> parser_;
    bool keeps_alive_ = false;
    std::vector<char> waste_;
    std::shared_ptr<void> counted_, place_;
};

}  // namespace

void begin_web_session(Hub& hub, asio::ip::tcp::socket&& socket) {
    std::make_shared<WebSession>(hub, std::move(socket))->start();
}

}  // namespace echolux::net
