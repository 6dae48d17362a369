// The server, talked to over plain sockets: what is sent is what a hostile program could send.
#include "view/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <mutex>
#include <random>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "view/command.h"

namespace barchan {
namespace {

class Plug {
 public:
  explicit Plug(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    const int yes = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }
  ~Plug() { ::close(socket_); }
  Plug(const Plug&) = delete;
  Plug& operator=(const Plug&) = delete;

  bool send(const std::string& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      const ssize_t n = ::send(socket_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
      if (n <= 0) return false;
      at += static_cast<std::size_t>(n);
    }
    return true;
  }
  // Up to `count` bytes; fewer where the other side hangs up or says nothing for a while.
  std::string read(std::size_t count, int patience = 5000) {
    std::string all;
    while (all.size() < count) {
      pollfd look{socket_, POLLIN, 0};
      char part[65536];
      if (::poll(&look, 1, patience) <= 0) break;
      const ssize_t n = ::recv(socket_, part, std::min(sizeof part, count - all.size()), 0);
      if (n <= 0) break;
      all.append(part, static_cast<std::size_t>(n));
    }
    return all;
  }
  std::string read_head() {
    std::string head;
    while (head.find("\r\n\r\n") == std::string::npos) {
      const std::string more = read(1);
      if (more.empty()) break;
      head += more;
    }
    return head;
  }

 private:
  int socket_;
};

struct Message {
  bool text = false;
  std::string body;
};

// A WebSocket of our own making.
class Browser : public Plug {
 public:
  Browser(int port, const std::string& target, const std::string& origin) : Plug(port) {
    send("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
         "\r\nOrigin: " + origin +
         "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    head = read_head();
  }
  bool say(const std::string& body, unsigned char opcode = 1) {
    std::string frame(1, static_cast<char>(0x80 | opcode));
    if (body.size() < 126) {
      frame += static_cast<char>(0x80 | body.size());
    } else {
      const bool longer = body.size() > 65535;
      frame += static_cast<char>(0x80 | (longer ? 127 : 126));
      for (int shift = longer ? 56 : 8; shift >= 0; shift -= 8) {
        frame += static_cast<char>(body.size() >> shift);
      }
    }
    return send(frame + std::string(4, '\0') + body);  // masked by zeros
  }
  Message hear() {
    const std::string start = read(2);
    if (start.size() < 2) return {};
    std::uint64_t size = static_cast<unsigned char>(start[1]) & 127u;
    if (size >= 126) {
      const std::string more = read(size == 126 ? 2 : 8);
      size = 0;
      for (const char c : more) size = size << 8 | static_cast<unsigned char>(c);
    }
    return {(start[0] & 15) == 1, read(size)};
  }
  std::string head;
};

class ViewServerTest : public testing::Test {
 protected:
  ViewServerTest() {
    set_log_quiet(true);
    ViewServerOptions options;
    options.token = "secret";
    options.files["/"] = {"text/html", "<p>the page</p>"};
    ViewServerHandler handler;
    handler.greeting = [] {
      return std::vector<SharedBytes>{std::make_shared<std::string>("welcome")};
    };
    handler.message = [this](const std::string& text) {
      const std::lock_guard lock(mutex_);
      ViewCommand command;
      const std::string why = parse_view_command(text, command);
      if (why.empty()) taken_.push_back(text);
      return why;
    };
    server_ = std::make_unique<ViewServer>(std::move(options), std::move(handler));
  }
  ~ViewServerTest() override { set_log_quiet(false); }

  std::string own(const std::string& scheme = "") const {
    return scheme + "127.0.0.1:" + std::to_string(server_->port());
  }
  std::string get(const std::string& target, const std::string& host,
                  const std::string& more = "") const {
    Plug plug(server_->port());
    plug.send("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n" + more + "\r\n");
    return plug.read(1 << 20);
  }
  bool eventually(const std::function<bool()>& holds) const {
    for (int i = 0; i < 500 && !holds(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return holds();
  }
  std::vector<std::string> taken() {
    const std::lock_guard lock(mutex_);
    return taken_;
  }

  std::mutex mutex_;
  std::vector<std::string> taken_;
  std::unique_ptr<ViewServer> server_;
};

TEST_F(ViewServerTest, PageNeedsTokenAndOwnNames) {
  EXPECT_NE(get("/?token=secret", own()).find("the page"), std::string::npos);
  EXPECT_NE(get("/?token=secret", "localhost:" + std::to_string(server_->port())).find("the page"),
            std::string::npos);
  EXPECT_NE(get("/?token=secret", own(), "Origin: " + own("http://") + "\r\n").find("the page"),
            std::string::npos);
  const std::vector<std::string> wrong = {
      get("/", own()),
      get("/?token=", own()),
      get("/?token=secre", own()),
      get("/?token=secrets", own()),
      get("/?token=secret", "evil.example:" + std::to_string(server_->port())),
      get("/?token=secret", "127.0.0.1"),
      get("/?token=secret", own(), "Host: evil.example\r\n"),
      get("/?token=secret", own(), "Origin: http://evil.example\r\n"),
      get("/?token=secret", own(), "Origin: null\r\n"),
      get("/?token=secret", own(), "Origin: https://" + own() + ".evil.example\r\n"),
  };
  for (const std::string& answer : wrong) {
    EXPECT_EQ(answer.find("the page"), std::string::npos) << answer;
    EXPECT_NE(answer.find("403"), std::string::npos) << answer;
  }
}

TEST_F(ViewServerTest, OnlyListedFiles) {
  for (const char* path : {"/etc/passwd?token=secret", "/../../etc/passwd?token=secret",
                           "/%2e%2e/etc/passwd?token=secret", "//?token=secret"}) {
    EXPECT_NE(get(path, own()).find("404"), std::string::npos) << path;
  }
}

TEST_F(ViewServerTest, WebSocketNeedsTokenAndOrigin) {
  EXPECT_NE(Browser(server_->port(), "/ws", own("http://")).head.find("403"), std::string::npos);
  EXPECT_NE(Browser(server_->port(), "/ws?token=wrong", own("http://")).head.find("403"),
            std::string::npos);
  EXPECT_NE(Browser(server_->port(), "/ws?token=secret", "http://evil.example").head.find("403"),
            std::string::npos);
  Browser viewer(server_->port(), "/ws?token=secret", own("http://"));
  EXPECT_NE(viewer.head.find("101"), std::string::npos);
  const Message hello = viewer.hear();
  EXPECT_TRUE(hello.text);
  EXPECT_EQ(hello.body, "welcome");
}

TEST_F(ViewServerTest, EveryViewerGetsTextsAndTheLastFrame) {
  Browser a(server_->port(), "/ws?token=secret", own("http://"));
  Browser b(server_->port(), "/ws?token=secret", own("http://"));
  EXPECT_EQ(a.hear().body, "welcome");
  EXPECT_EQ(b.hear().body, "welcome");
  server_->tell(std::make_shared<std::string>("news"));
  EXPECT_EQ(a.hear().body, "news");
  EXPECT_EQ(b.hear().body, "news");
  server_->publish(std::make_shared<std::string>("frame"));
  EXPECT_EQ(a.hear().body, "frame");
  EXPECT_FALSE(b.hear().text);
  Browser late(server_->port(), "/ws?token=secret", own("http://"));
  EXPECT_EQ(late.hear().body, "welcome");
  EXPECT_EQ(late.hear().body, "frame");
}

// A viewer that reads nothing must not hold up who publishes, nor the other viewers.
TEST_F(ViewServerTest, SlowViewerDropsFrames) {
  Browser slow(server_->port(), "/ws?token=secret", own("http://"));
  Browser quick(server_->port(), "/ws?token=secret", own("http://"));
  ASSERT_TRUE(eventually([&] { return server_->counts().viewers == 2; }));
  EXPECT_EQ(quick.hear().body, "welcome");
  std::string last;
  for (int k = 0; k < 30; ++k) {
    auto frame = std::make_shared<std::string>(4 << 20, static_cast<char>('a' + k % 26));
    server_->publish(frame);
    last = quick.hear().body;
    ASSERT_EQ(last, *frame);
  }
  EXPECT_GE(server_->counts().frames_dropped, 20u);
  // Once it reads again, it comes to the newest one.
  EXPECT_EQ(slow.hear().body, "welcome");
  std::string heard;
  for (int k = 0; k < 4 && heard != last; ++k) heard = slow.hear().body;
  EXPECT_EQ(heard, last);
}

// A browser's socket takes in more than its page can draw: who reports is not sent ahead of that.
TEST_F(ViewServerTest, WhoReportsGetsWhatItHasSeen) {
  Browser viewer(server_->port(), "/ws?token=secret", own("http://"));
  ASSERT_TRUE(eventually([&] { return server_->counts().viewers == 1; }));
  EXPECT_EQ(viewer.hear().body, "welcome");
  viewer.say("seen");
  ASSERT_TRUE(eventually([&] { return server_->counts().frames_seen == 1; }));
  for (const char* frame : {"one", "two"}) {
    server_->publish(std::make_shared<std::string>(frame));
    EXPECT_EQ(viewer.hear().body, frame);
  }
  for (const char* frame : {"three", "four"})
    server_->publish(std::make_shared<std::string>(frame));
  ASSERT_TRUE(eventually([&] { return server_->counts().frames_dropped == 1; }));
  EXPECT_EQ(server_->counts().frames_sent, 2u);
  viewer.say("seen");
  EXPECT_EQ(viewer.hear().body, "four");
  EXPECT_EQ(server_->counts().refused, 0u);
}

TEST_F(ViewServerTest, HugeMessageEndsTheConnection) {
  Browser viewer(server_->port(), "/ws?token=secret", own("http://"));
  ASSERT_TRUE(eventually([&] { return server_->counts().viewers == 1; }));
  viewer.say(std::string(ViewServer::kLongestMessage + 1, ' '));
  EXPECT_TRUE(eventually([&] { return server_->counts().viewers == 0; }));
  EXPECT_GE(server_->counts().refused, 1u);
  EXPECT_TRUE(taken().empty());
}

TEST_F(ViewServerTest, EndlessHeaderIsRefused) {
  Plug plug(server_->port());
  plug.send("GET /?token=secret HTTP/1.1\r\n");
  for (int k = 0; k < 1000 && plug.send("X-More: " + std::string(1000, 'x') + "\r\n"); ++k) {
  }
  EXPECT_TRUE(eventually([&] { return server_->counts().refused >= 1; }));
}

TEST_F(ViewServerTest, TenThousandRandomMessagesAndRequests) {
  std::mt19937 random(7);
  const auto bytes = [&](std::size_t most) {
    std::string text(random() % most, '\0');
    for (char& c : text) c = static_cast<char>(random());
    return text;
  };
  const std::vector<std::string> near = {R"({"do":"play"})",
                                         R"({"do":"seek","frame":1e99})",
                                         R"({"do":"set","key":"a","value":{}})",
                                         R"({"do":"pour","at":[1,2],"velocity":[0,0,0]})",
                                         R"({"do":["play"]})",
                                         "[[[[[[[["};
  // Whole messages that make no sense, fewer from each viewer than it is let go for
  for (int v = 0; v < 125; ++v) {
    Browser viewer(server_->port(), "/ws?token=secret", own("http://"));
    ASSERT_EQ(viewer.hear().body, "welcome");
    for (int k = 0; k < 80; ++k) {
      std::string text = random() % 2 ? near[random() % near.size()] : bytes(200);
      if (!text.empty() && random() % 3 == 0) text[random() % text.size()] ^= 1 << random() % 7;
      for (char& c : text) c = static_cast<char>(c & 127);  // other bytes are no text
      ASSERT_TRUE(viewer.say(text));
    }
    viewer.say("", 9);  // a ping: once it is answered, all before it was taken
    ASSERT_EQ(viewer.read(2).size(), 2u);
  }
  EXPECT_GT(server_->counts().refused, 5000u);
  // Bytes that are no WebSocket messages, and no requests
  for (int v = 0; v < 500; ++v) {
    Browser viewer(server_->port(), "/ws?token=secret", own("http://"));
    viewer.say(bytes(200), static_cast<unsigned char>(random() % 16));
    viewer.send(bytes(300));
  }
  for (int k = 0; k < 500; ++k) {
    Plug plug(server_->port());
    plug.send(bytes(2000) + "\r\n\r\n");
  }
  // It still serves.
  EXPECT_NE(get("/?token=secret", own()).find("the page"), std::string::npos);
  Browser viewer(server_->port(), "/ws?token=secret", own("http://"));
  EXPECT_EQ(viewer.hear().body, "welcome");
  const std::size_t before = taken().size();
  viewer.say(R"({"do":"pause"})");
  EXPECT_TRUE(eventually([&] { return taken().size() > before; }));
}

TEST(ViewServer, TakenPortAndWrongAddressAreRejected) {
  ViewServerOptions options;
  options.token = "secret";
  ViewServer first(options, {});
  options.port = first.port();
  EXPECT_THROW(ViewServer(options, {}), Error);
  options.host = "not an address";
  EXPECT_THROW(ViewServer(options, {}), Error);
}

TEST(ViewServer, TokensAreLongAndDiffer) {
  EXPECT_EQ(random_token().size(), 32u);
  EXPECT_NE(random_token(), random_token());
}

}  // namespace
}  // namespace barchan
