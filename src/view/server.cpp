#include "view/server.h"

#include <fmt/core.h>
#include <sys/random.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <chrono>
#include <deque>
#include <optional>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "base/thread_priority.h"

namespace barchan {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using tcp = asio::ip::tcp;
using ErrorCode = beast::error_code;

namespace {

constexpr auto kPatience = std::chrono::seconds(30);  // for a request, and for an answer to a ping
constexpr std::uint32_t kLongestHeader = 8192;        // bytes
constexpr std::uint64_t kMostRefusalsLogged = 20;

const char* const kPolicy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

// Takes as long for a wrong guess whatever part of it is right.
bool same_token(const std::string& a, const std::string& b) {
  unsigned differs = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    differs |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return differs == 0;
}

struct Target {
  std::string path, token;
};

Target parse_target(const std::string& text) {
  const std::size_t question = text.find('?');
  Target target{text.substr(0, question), ""};
  if (question == std::string::npos) return target;
  std::string query = text.substr(question + 1);
  for (std::size_t at = 0; at <= query.size();) {
    const std::size_t end = std::min(query.find('&', at), query.size());
    const std::string pair = query.substr(at, end - at);
    if (pair.rfind("token=", 0) == 0) target.token = pair.substr(6);
    at = end + 1;
  }
  return target;
}

}  // namespace

std::string random_token() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) {
    fail("the system gives no random numbers for a token");
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

// ---- What all connections share; but for `counts`, only the server's thread looks at it

namespace {

class Viewer;

struct Shared {
  ViewServerOptions options;
  ViewServerHandler handler;
  int port = 0;
  std::set<std::shared_ptr<Viewer>> viewers;
  SharedBytes last_frame;
  std::atomic<std::uint64_t> sent{0}, seen{0}, dropped{0}, refused{0};
  std::atomic<int> viewer_count{0};

  // The names under which a browser may reach this server.
  bool is_own_host(const std::string& host) const {
    const std::string end = ":" + std::to_string(port);
    if (host.size() <= end.size() || !host.ends_with(end)) return false;
    std::string name = host.substr(0, host.size() - end.size());
    if (name == options.host || name == "127.0.0.1" || name == "localhost") return true;
    if (name.front() == '[' && name.back() == ']') name = name.substr(1, name.size() - 2);
    ErrorCode no_address;
    const auto listening = asio::ip::make_address(options.host, no_address);
    const auto asked = asio::ip::make_address(name, no_address);
    // A number is no name that somebody could point here.
    return !no_address && (listening.is_unspecified() || asked == listening);
  }
  bool is_own_origin(const std::string& origin) const {
    return origin.rfind("http://", 0) == 0 && is_own_host(origin.substr(7));
  }
  void refuse(const std::string& why) {
    const std::uint64_t before = refused.fetch_add(1);
    if (before < kMostRefusalsLogged) warn("view: {}", why);
    if (before + 1 == kMostRefusalsLogged) warn("view: others like it are not mentioned");
  }
};

// ---- A browser that watches

class Viewer : public std::enable_shared_from_this<Viewer> {
 public:
  Viewer(beast::tcp_stream stream, Shared& shared) : socket_(std::move(stream)), shared_(shared) {}

  void start(const http::request<http::empty_body>& request) {
    websocket::stream_base::timeout timeout{kPatience, kPatience, true};
    socket_.set_option(timeout);
    socket_.read_message_max(ViewServer::kLongestMessage);
    socket_.auto_fragment(false);
    socket_.async_accept(request, [self = shared_from_this()](ErrorCode error) {
      if (error) return;
      self->join();
    });
  }

  void show(const SharedBytes& frame) {
    if (next_frame_) ++shared_.dropped;
    next_frame_ = frame;
    write_next();
  }

  void tell(const SharedBytes& text) {
    texts_.push_back(text);
    if (texts_.size() > ViewServer::kMostTexts) return leave();
    write_next();
  }

  // Whatever is under way ends with an error, and lets go of this.
  void close() { beast::get_lowest_layer(socket_).close(); }

 private:
  void join() {
    shared_.viewers.insert(shared_from_this());
    shared_.viewer_count = static_cast<int>(shared_.viewers.size());
    for (const SharedBytes& text : shared_.handler.greeting()) texts_.push_back(text);
    next_frame_ = shared_.last_frame;
    write_next();
    read_next();
  }

  void leave() {
    shared_.viewers.erase(shared_from_this());
    shared_.viewer_count = static_cast<int>(shared_.viewers.size());
    close();
  }

  void read_next() {
    socket_.async_read(incoming_, [self = shared_from_this()](ErrorCode error, std::size_t) {
      self->take(error);
    });
  }

  void take(ErrorCode error) {
    if (error) {
      if (error == websocket::error::message_too_big) {
        shared_.refuse(fmt::format("a message of more than {} bytes: the viewer is let go",
                                   ViewServer::kLongestMessage));
      }
      return leave();
    }
    const std::string text = beast::buffers_to_string(incoming_.data());
    incoming_.consume(incoming_.size());
    const bool seen = text == "seen" && socket_.got_text();
    if (seen) count_seen();
    const std::string why = seen                 ? ""
                            : socket_.got_text() ? shared_.handler.message(text)
                                                 : "not a text";
    if (!why.empty()) {
      shared_.refuse("a message was refused: " + why);
      if (++refusals_ > ViewServer::kMostRefusals) return leave();
    }
    read_next();
  }

  // Browsers take in more than they can draw; who says "seen" after each frame that was drawn is
  // sent no more than it can.
  void count_seen() {
    reports_ = true;
    ++shared_.seen;
    unseen_ = std::max(0, unseen_ - 1);
    write_next();
  }

  // Texts go before frames: a frame may need what they say.
  void write_next() {
    if (writing_) return;
    if (!texts_.empty()) {
      outgoing_ = texts_.front();
      texts_.pop_front();
      return write(true);
    }
    if (next_frame_ && !(reports_ && unseen_ >= ViewServer::kMostUnseen)) {
      ++unseen_;
      outgoing_ = std::move(next_frame_);
      next_frame_ = nullptr;
      write(false);
    }
  }

  void write(bool text) {
    writing_ = true;
    socket_.text(text);
    socket_.async_write(asio::buffer(*outgoing_),
                        [self = shared_from_this(), text](ErrorCode error, std::size_t) {
                          self->writing_ = false;
                          self->outgoing_ = nullptr;
                          if (error) return self->leave();
                          if (!text) ++self->shared_.sent;
                          self->write_next();
                        });
  }

  websocket::stream<beast::tcp_stream> socket_;
  Shared& shared_;
  beast::flat_buffer incoming_;
  std::deque<SharedBytes> texts_;  // to be sent
  SharedBytes next_frame_;         // to be sent after them
  SharedBytes outgoing_;           // being sent
  bool writing_ = false;
  bool reports_ = false;  // says which frames it has seen
  int unseen_ = 0;        // frames sent, and not reported
  int refusals_ = 0;
};

// ---- A connection, until it is answered or becomes a viewer

class Visit : public std::enable_shared_from_this<Visit> {
 public:
  Visit(tcp::socket socket, Shared& shared) : stream_(std::move(socket)), shared_(shared) {}

  void start() {
    stream_.expires_after(kPatience);
    parser_.emplace();
    parser_->header_limit(kLongestHeader);
    parser_->body_limit(std::uint64_t{0});
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](ErrorCode error, std::size_t) {
                       if (!error) return self->answer();
                       if (error != http::error::end_of_stream) {
                         self->shared_.refuse("a request was not understood: " + error.message());
                       }
                       self->hang_up();
                     });
  }

 private:
  using Request = http::request<http::empty_body>;

  // "" or why it gets nothing.
  std::string fault(const Request& request, const Target& target) const {
    if (request.count(http::field::host) != 1 ||
        !shared_.is_own_host(std::string(request[http::field::host]))) {
      return "it names another host";
    }
    const auto origin = request.find(http::field::origin);
    if (origin != request.end() && !shared_.is_own_origin(std::string(origin->value()))) {
      return "it comes from another page";
    }
    if (!same_token(target.token, shared_.options.token)) return "it has no token, or a wrong one";
    return "";
  }

  void answer() {
    const Request& request = parser_->get();
    const Target target = parse_target(std::string(request.target()));
    const std::string why = fault(request, target);
    if (!why.empty()) {
      shared_.refuse("a request was refused: " + why);
      return send(http::status::forbidden, {"text/plain", "Not for you.\n"}, false);
    }
    if (request.method() != http::verb::get && request.method() != http::verb::head) {
      return send(http::status::method_not_allowed, {"text/plain", "GET only.\n"}, false);
    }
    const bool head = request.method() == http::verb::head;
    if (target.path == "/ws") return upgrade(request);
    const auto file = shared_.options.files.find(target.path);
    if (file == shared_.options.files.end()) {
      return send(http::status::not_found, {"text/plain", "No such page.\n"}, head);
    }
    send(http::status::ok, file->second, head);
  }

  // Browsers always say where a WebSocket comes from.
  void upgrade(const Request& request) {
    if (!websocket::is_upgrade(request)) {
      return send(http::status::upgrade_required, {"text/plain", "A WebSocket is here.\n"}, false);
    }
    if (shared_.viewer_count >= ViewServer::kMostViewers) {
      shared_.refuse("there are too many viewers");
      return send(http::status::service_unavailable, {"text/plain", "Too many.\n"}, false);
    }
    stream_.expires_never();
    std::make_shared<Viewer>(std::move(stream_), shared_)->start(request);
  }

  void send(http::status status, const ServedFile& file, bool head) {
    reply_ = {status, 11};
    reply_.set(http::field::content_type, file.type);
    reply_.set(http::field::cache_control, "no-store");
    reply_.set("Content-Security-Policy", kPolicy);
    reply_.set("X-Content-Type-Options", "nosniff");
    reply_.set("Referrer-Policy", "no-referrer");
    reply_.set("Cross-Origin-Resource-Policy", "same-origin");
    reply_.keep_alive(false);
    reply_.content_length(file.body.size());
    if (!head) reply_.body() = file.body;
    http::async_write(stream_, reply_,
                      [self = shared_from_this()](ErrorCode, std::size_t) { self->hang_up(); });
  }

  void hang_up() {
    ErrorCode ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
  }

  beast::tcp_stream stream_;
  Shared& shared_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::empty_body>> parser_;
  http::response<http::string_body> reply_;
};

}  // namespace

// ---- The server

struct ViewServer::Parts {
  Parts(ViewServerOptions options, ViewServerHandler handler) : acceptor(context) {
    shared.options = std::move(options);
    shared.handler = std::move(handler);
  }

  void listen() {
    ErrorCode error;
    const auto address = asio::ip::make_address(shared.options.host, error);
    if (error) reject("--host {}: not an address, such as 127.0.0.1", shared.options.host);
    const tcp::endpoint end(address, static_cast<std::uint16_t>(shared.options.port));
    acceptor.open(end.protocol(), error);
    if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor.bind(end, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
      reject("cannot listen at {} port {}: {}; --port names another one", shared.options.host,
             shared.options.port, error.message());
    }
    shared.port = acceptor.local_endpoint().port();
  }

  void accept_next() {
    acceptor.async_accept([this](ErrorCode error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (!error) {
        ErrorCode ignored;
        socket.set_option(tcp::no_delay(true), ignored);
        std::make_shared<Visit>(std::move(socket), shared)->start();
      }
      accept_next();
    });
  }

  // A fault of one connection must not take the others along.
  void serve() {
    give_way();
    for (;;) {
      try {
        context.run();
        return;
      } catch (const std::exception& error) {
        shared.refuse(std::string("a connection failed: ") + error.what());
      }
    }
  }

  asio::io_context context{1};
  Shared shared;
  tcp::acceptor acceptor;
  std::thread thread;
};

ViewServer::ViewServer(ViewServerOptions options, ViewServerHandler handler)
    : parts_(std::make_unique<Parts>(std::move(options), std::move(handler))) {
  if (parts_->shared.options.token.empty()) fail("the view needs a token");
  parts_->listen();
  parts_->accept_next();
  parts_->thread = std::thread([this] { parts_->serve(); });
}

ViewServer::~ViewServer() {
  parts_->context.stop();
  parts_->thread.join();
  parts_->shared.viewers.clear();
}

int ViewServer::port() const {
  return parts_->shared.port;
}

std::string ViewServer::url() const {
  const ViewServerOptions& options = parts_->shared.options;
  const bool six = options.host.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}/?token={}", six ? "[" : "", options.host, six ? "]" : "",
                     port(), options.token);
}

void ViewServer::publish(SharedBytes frame) {
  asio::post(parts_->context, [shared = &parts_->shared, frame = std::move(frame)] {
    shared->last_frame = frame;
    for (const auto& viewer : std::set(shared->viewers)) viewer->show(frame);
  });
}

void ViewServer::tell(SharedBytes text) {
  asio::post(parts_->context, [shared = &parts_->shared, text = std::move(text)] {
    for (const auto& viewer : std::set(shared->viewers)) viewer->tell(text);
  });
}

ViewServerCounts ViewServer::counts() const {
  const Shared& shared = parts_->shared;
  return {shared.sent, shared.seen, shared.dropped, shared.refused, shared.viewer_count};
}

}  // namespace barchan
