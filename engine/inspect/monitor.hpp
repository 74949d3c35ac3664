// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>
#include <thread>

namespace lodestone::engine {

/// Answers questions about this process while it runs, on a Unix socket that its user alone may open. A
/// client sends a line and gets a text, after which the connection is closed: `echo status | nc -U PATH`.
///
///     status     time since the start, threads, the last step, sums of the timed regions
///     memory     memory of the process and of the arenas
///     trace N    the next N steps (of a training, or iterations of an inversion) as Chrome trace JSON
///
/// Nothing is recorded until someone asks for it, so that a step pays a look at the switch of the time line.
class Monitor {
 public:
  /// Opens the monitor of this process where LODESTONE_MONITOR names a path, once; rank r > 0 adds ".r".
  /// errors: FileError where a socket cannot be made, or another process answers there.
  static void open_if_asked(int rank = 0);

  /// Opens the socket, mode 0600. One that a process has left behind is replaced. errors: FileError.
  Monitor(std::string path, int rank);
  /// Ends a question that is under way, and removes the socket.
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

 private:
  void serve();
  /// Reads the question of a client and returns the answer.
  [[nodiscard]] std::string answer(int client) const;

  std::string path_;
  int rank_;
  int socket_ = -1;
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

}  // namespace lodestone::engine
