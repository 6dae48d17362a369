#include "base/program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/error.h"

extern char** environ;

namespace barchan {

namespace {

struct Outcome {
  int started = 0;     // 0, or why it did not start (errno)
  int status = 0;      // as waitpid() gives it
  std::string output;  // both streams
};

std::string read_all(int file) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(file, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

Outcome run_program(const std::vector<std::string>& arguments) {
  Outcome outcome;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    outcome.started = errno;
    return outcome;
  }
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t child = 0;
  outcome.started = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (outcome.started == 0) {
    outcome.output = read_all(ends[0]);
    while (::waitpid(child, &outcome.status, 0) < 0 && errno == EINTR) {
    }
  }
  ::close(ends[0]);
  return outcome;
}

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.pop_back();
  }
  const std::size_t start = text.find_last_of("\r\n");
  return start == std::string::npos ? text : text.substr(start + 1);
}

}  // namespace

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

std::string run_tool(const std::vector<std::string>& arguments, const std::string& goal,
                     const std::string& package) {
  const Outcome outcome = run_program(arguments);
  const std::string& program = arguments.front();
  if (outcome.started == ENOENT) {
    fail("{}: {} is not installed (apt install {})", goal, program, package);
  }
  if (outcome.started != 0) {
    fail("{}: cannot start {}: {}", goal, program, std::strerror(outcome.started));
  }
  if (!WIFEXITED(outcome.status) || WEXITSTATUS(outcome.status) != 0) {
    const std::string said = last_line(outcome.output);
    fail("{}: {} failed: {}", goal, program, said.empty() ? "no reason given" : said);
  }
  return outcome.output;
}

}  // namespace barchan
