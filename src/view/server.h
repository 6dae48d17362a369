// HTTP and WebSocket for browsers that watch. One thread of its own does all of the talking; the
// other calls only hand over, and never wait for a browser.
//
// Who may come in: requests must carry the token (?token=...), name this host (a page elsewhere
// that points its own name at this machine gets nothing: DNS rebinding), and have no foreign
// Origin. There are the files of a fixed list, and one WebSocket, /ws. Nothing is looked up on the
// disk.
//
// What a slow browser gets: frames are dropped for it, the newest is kept. One that answers each
// frame it has drawn with the text "seen" has no more than kMostUnseen of them on the way. Texts
// (what has changed) are kept in order; who is kMostTexts of them behind is let go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace barchan {

struct ServedFile {
  std::string type;  // "text/html; charset=utf-8" ...
  std::string body;
};

// Bytes that go out as they are to several viewers.
using SharedBytes = std::shared_ptr<const std::string>;

struct ViewServerOptions {
  std::string host = "127.0.0.1";           // address to listen at
  int port = 0;                             // 0: any that is free
  std::string token;                        // must not be empty
  std::map<std::string, ServedFile> files;  // by path: "/", "/gallery/dam-break.jpg"
};

struct ViewServerCounts {
  std::uint64_t frames_sent = 0;     // whole, to some viewer
  std::uint64_t frames_seen = 0;     // drawn, as some viewer reports
  std::uint64_t frames_dropped = 0;  // for a viewer that was still busy with one before
  std::uint64_t refused = 0;         // requests and messages that were not taken
  int viewers = 0;                   // now
};

// Called by the server's thread; must be quick.
struct ViewServerHandler {
  // What a newcomer is told first.
  std::function<std::vector<SharedBytes>()> greeting = [] { return std::vector<SharedBytes>(); };
  // A text message of a viewer, at most kLongestMessage bytes. Returns "" or why it is refused.
  std::function<std::string(const std::string&)> message = [](const std::string&) {
    return std::string();
  };
};

class ViewServer {
 public:
  static constexpr std::size_t kLongestMessage = 65536;  // bytes
  static constexpr std::size_t kMostTexts = 1024;        // waiting for one viewer
  static constexpr int kMostUnseen = 2;                  // frames on the way to who reports
  static constexpr int kMostViewers = 32;
  static constexpr int kMostRefusals = 100;  // messages of one viewer; then it is let go

  // Rejects an address or port that cannot be had.
  ViewServer(ViewServerOptions options, ViewServerHandler handler);
  ~ViewServer();
  ViewServer(const ViewServer&) = delete;
  ViewServer& operator=(const ViewServer&) = delete;

  int port() const;
  std::string url() const;  // with the token

  // To all viewers, as a binary message; replaces the frame before where that still waits.
  // Newcomers get the last one.
  void publish(SharedBytes frame);
  // To all viewers, as a text message, in order.
  void tell(SharedBytes text);

  ViewServerCounts counts() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// 128 bits from the system's generator, as 32 hexadecimal digits.
std::string random_token();

}  // namespace barchan
