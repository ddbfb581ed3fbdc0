# Quartz with all it needs:
#   docker build -t quartz .
#   docker run --rm --cap-add=SYS_PTRACE -v "$PWD:/work" quartz run -- ./prog
# What works in a container, and with which rights: docs/guide/containers.md
FROM node:20-bookworm AS build
WORKDIR /quartz
COPY . .
RUN npm ci && bash scripts/packages.sh "$(uname -m)"

FROM node:20-bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends libdw1 libelf1 libstdc++6 \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /quartz/build/packages/*.tgz /tmp/
RUN npm install -g /tmp/*.tgz && rm /tmp/*.tgz
WORKDIR /work
ENTRYPOINT ["quartz"]
