// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/mpi/control.hpp"

#include "engine/core/mpi/communicator.hpp"

#include <chrono>
#include <list>
#include <thread>
#include <utility>
#include <vector>

namespace lodestone::engine {
namespace {

constexpr int told = 1, asked = 2, answered = 3;  // kinds of texts, tags of their messages

/// Texts on their way. They outlive the world, since nothing says when a failed rank has read them.
std::list<std::pair<std::string, MPI_Request>>& texts_sent() {
  static auto* texts = new std::list<std::pair<std::string, MPI_Request>>();
  return *texts;
}

std::string text_of(const Failure& failure) {
  return fmt::format("{}\n{}\n{}", static_cast<int>(failure.code), failure.place, failure.text);
}
Failure failure_from(const std::string& text) {
  const auto first = text.find('\n'), second = text.find('\n', first + 1);
  return {static_cast<core::ExitCode>(std::stoi(text.substr(0, first))), text.substr(second + 1),
          text.substr(first + 1, second - first - 1)};
}

}  // namespace

MpiControl::MpiControl(MPI_Comm comm) : rank_(core::rank_of(comm)), size_(core::size_of(comm)) {
  MPI_Comm_dup(comm, &comm_);
}

MpiControl::~MpiControl() {
  int is_over = 0;
  MPI_Finalized(&is_over);
  if (is_over == 0 && !failure_) MPI_Comm_free(&comm_);
}

void MpiControl::send(int peer, int kind, const std::string& text) noexcept {
  auto& sent = texts_sent();
  std::erase_if(sent, [](auto& each) {
    int done = 0;
    MPI_Test(&each.second, &done, MPI_STATUS_IGNORE);
    return done != 0;
  });
  auto& [letters, request] = sent.emplace_back(text, MPI_REQUEST_NULL);
  MPI_Isend(letters.data(), static_cast<int>(text.size()), MPI_CHAR, peer, kind, comm_, &request);
}

std::optional<std::string> MpiControl::take(int kind, int& source) {
  int found = 0, n = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  MPI_Improbe(MPI_ANY_SOURCE, kind, comm_, &found, &message, &status);
  if (found == 0) return {};
  MPI_Get_count(&status, MPI_CHAR, &n);
  std::string text(static_cast<std::size_t>(n), ' ');
  MPI_Mrecv(text.data(), n, MPI_CHAR, &message, MPI_STATUS_IGNORE);
  source = status.MPI_SOURCE;
  return text;
}

void MpiControl::tell(const Failure& failure) noexcept {
  failure_ = failure;
  for (int peer = 0; peer < size_; ++peer) {
    if (peer != rank_) send(peer, told, text_of(failure));
  }
}

void MpiControl::listen(const std::function<std::string()>& state) {
  int source = 0;
  if (const auto text = take(told, source); text && !failure_) failure_ = failure_from(*text);
  while (take(asked, source)) {
    if (source < rank_) lower_asked_ = Clock::now();
    send(source, answered, state());
  }
}

void MpiControl::listen_until(Clock::time_point end, const std::string& own,
                              const std::function<bool()>& is_enough) {
  while (!is_enough() && Clock::now() < end) {
    listen([&] { return own; });
    if (failure_) throw_failure(*failure_);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::string MpiControl::ask(double seconds, const std::string& own) {
  const auto wait = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  std::vector<std::string> answers(static_cast<std::size_t>(size_));
  answers[static_cast<std::size_t>(rank_)] = own;
  for (int peer = 0; peer < size_; ++peer) {
    if (peer != rank_) send(peer, asked, "");
  }
  const auto begin = Clock::now();
  int n_missing = size_ - 1;
  listen_until(begin + wait, own, [&] {
    int source = 0;
    while (const auto text = take(answered, source)) {
      answers[static_cast<std::size_t>(source)] = text->empty() ? "waits for nobody" : *text;
      --n_missing;
    }
    return n_missing <= 0;
  });
  if (lower_asked_ > begin - wait) listen_until(lower_asked_ + 2 * wait, own, [] { return false; });
  std::string result;
  for (int peer = 0; peer < size_; ++peer) {
    const std::string& answer = answers[static_cast<std::size_t>(peer)];
    result += fmt::format("{}rank {} {}", peer == 0 ? "" : ", ", peer,
                          answer.empty() ? fmt::format("did not answer in {:.3g} s", seconds) : answer);
  }
  return result;
}

}  // namespace lodestone::engine
