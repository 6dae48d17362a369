// In place of server.cpp in a build without the view.
#include "base/error.h"
#include "view/server.h"

namespace barchan {

struct ViewServer::Parts {};

ViewServer::ViewServer(ViewServerOptions, ViewServerHandler) {
  reject("this program was built without the view (-DBARCHAN_VIEW=OFF)");
}
ViewServer::~ViewServer() = default;
int ViewServer::port() const {
  return 0;
}
std::string ViewServer::url() const {
  return "";
}
void ViewServer::publish(SharedBytes) {}
void ViewServer::tell(SharedBytes) {}
ViewServerCounts ViewServer::counts() const {
  return {};
}
std::string random_token() {
  return "";
}

}  // namespace barchan
