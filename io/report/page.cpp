// SPDX-License-Identifier: Apache-2.0
#include "io/report/page.hpp"

#include "engine/core/markup.hpp"

#include <fmt/format.h>

namespace lodestone::io::report {

void Page::figure(const Canvas& canvas, const std::string& name, const std::string& caption) {
  png(canvas, name);
  html(fmt::format("<figure>\n{}<figcaption>{}</figcaption>\n</figure>\n", canvas.svg(),
                   core::escaped(caption)));
}

}  // namespace lodestone::io::report
