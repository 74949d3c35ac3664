# SPDX-License-Identifier: Apache-2.0
# mt_invert in a container, from this source tree:
#   docker build -t lodestone .
#   docker run --rm -v "$PWD:/data" lodestone invert /data/config.toml -o /data/out
# More ranks: docker run --rm -v "$PWD:/data" --entrypoint mpirun lodestone -n 4 mt_invert invert /data/config.toml -o /data/out
FROM debian:12 AS build
COPY scripts/setup.sh /source/scripts/setup.sh
RUN /source/scripts/setup.sh && rm -rf /var/lib/apt/lists/*
COPY . /source
WORKDIR /source
RUN cmake --preset release -DLODESTONE_BUILD_TESTS=OFF -DLODESTONE_BUILD_EXAMPLES=OFF -DLODESTONE_BUILD_BENCHMARKS=OFF \
 && cmake --build --preset release --target mt_invert \
 && install -D build/release/bin/mt_invert /install/bin/mt_invert \
 && install -d /install/share/lodestone && cp -r data/benchmarks /install/share/lodestone/ \
 && strip /install/bin/mt_invert \
 # The packages that own the shared libraries the program loads, by the linker's own account.
 && ldd /install/bin/mt_invert | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p' | xargs -n1 readlink -f | xargs -n1 dpkg-query -S | cut -d: -f1 | sort -u >/install/packages

FROM debian:12-slim
COPY --from=build /install/ /usr/local/
RUN apt-get update \
 && xargs apt-get install -y --no-install-recommends openmpi-bin proj-data fonts-dejavu-core </usr/local/packages \
 && rm -rf /var/lib/apt/lists/* /usr/local/packages \
 && mt_invert --version
RUN useradd --create-home lodestone
USER lodestone
WORKDIR /data
ENTRYPOINT ["mt_invert"]
CMD ["--help"]
