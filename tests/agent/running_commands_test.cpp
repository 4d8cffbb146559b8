// Commands of allowed programs that run the rest of their arguments: `bundle exec`, `ip netns exec a`.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "agent/rules/command_rules.h"

namespace bough::agent {
namespace {

void expectOfAllowed(const std::vector<std::string>& allowed, const std::vector<std::string>& harmless,
                     const std::vector<std::string>& asked) {
  for (const std::string& each : harmless) EXPECT_TRUE(isAllowedCommand(each, allowed)) << each;
  for (const std::string& each : asked) EXPECT_FALSE(isAllowedCommand(each, allowed)) << each;
}

TEST(RunningCommands, CommandsThatRunWhatTheyAreGivenAreAskedAbout) {
  expectOfAllowed(
      {"bundle exec", "npm exec", "uv run", "poetry run pytest", "git bisect", "git submodule", "A=b conda run", "ip",
       "ip netns", "apt", "terraform", "bazel", "zig", "ldd", "xdg-open", "gh alias", "pnpm -s dlx"},
      {"bundle exec", "poetry run pytest -q", "git bisect start", "git bisect good HEAD", "git submodule status",
       "ip addr", "ip netns list", "apt list", "terraform validate", "bazel test x", "zig build", "gh alias list"},
      {"bundle exec ./x", "npm exec ./x", "uv run ./x", "uv run -q ./x", "git bisect run ./x",
       "git submodule foreach ./x", "git submodule --quiet foreach ./x", "A=b conda run ./x", "ip netns exec a ./x",
       "ip netns -n exec a ./x", "apt install x", "terraform apply", "bazel run x", "zig run x", "ldd ./x",
       "xdg-open x", "gh alias set a b", "pnpm -s dlx x"});
}

TEST(RunningCommands, TheProgramMustBeNamedBehindACommandThatRunsIt) {
  for (const char* allowed : {"git bisect run",
                              "git -C a bisect run",
                              "git submodule foreach",
                              "git submodule foreach --quiet",
                              "git hook run",
                              "ip netns exec",
                              "ip netns exec a",
                              "ip netns e a",
                              "ip net exec a",
                              "ip vrf exec a",
                              "rustup run",
                              "rustup run stable",
                              "direnv exec",
                              "direnv exec .",
                              "conda run -n env",
                              "uv run --with a",
                              "uv --directory run run",
                              "mise exec",
                              "mise exec --",
                              "mise exec node@20 python@3 --",
                              "mise x node@20",
                              "docker run",
                              "docker run alpine",
                              "docker run --rm alpine",
                              "docker run -v /a:/b alpine",
                              "docker exec",
                              "docker exec -it a",
                              "docker compose run a",
                              "docker compose exec a",
                              "docker container exec a",
                              "kubectl exec",
                              "kubectl exec a",
                              "kubectl exec a --",
                              "kubectl -n a exec b -c d --",
                              "go run",
                              "go run a.go",
                              "deno run",
                              "bun run",
                              "zig run",
                              "zig run a.zig",
                              "uv tool run",
                              "hatch env run",
                              "gem exec",
                              "composer exec",
                              "npm init",
                              "npm exe",
                              "yarn node",
                              "yarn workspace a",
                              "rails runner",
                              "rails r",
                              "adb shell",
                              "nix shell",
                              "nix shell a",
                              "nix shell a -c",
                              "gh ext exec",
                              "opam exec --",
                              "bundle exec ruby",
                              "poetry run bash",
                              "uv run python",
                              "uv run --isolated bash",
                              "uv run --isolated env a=b",
                              "ip -all netns exec env a=b",
                              "poetry run bundle exec",
                              "mise exec -- npm exec",
                              "A=b rustup run stable uv run"}) {
    EXPECT_TRUE(isAllowedCommand(allowed, {allowed})) << allowed;
    EXPECT_FALSE(isAllowedCommand(std::string(allowed) + " ./x", {allowed})) << allowed;
  }
  for (const char* allowed : {"git bisect run ./a",
                              "git submodule foreach ls",
                              "ip netns exec a ls",
                              "rustup run stable rustc",
                              "direnv exec . ls",
                              "conda run -n a ls",
                              "uv run --with a pytest",
                              "uv run python a.py",
                              "mise exec node@20 -- npm test",
                              "docker run alpine ls",
                              "docker run --rm alpine ls",
                              "docker compose exec a ls",
                              "kubectl exec a -- ls",
                              "go run ./a",
                              "deno run a.ts",
                              "zig run a.zig -- b",
                              "yarn node a.js",
                              "rails runner a.rb",
                              "adb shell ls",
                              "npm i",
                              "bundle exec ruby a.rb",
                              "poetry run npm run test",
                              "rustup run stable cargo test"}) {
    EXPECT_TRUE(isAllowedCommand(std::string(allowed) + " ./x", {allowed})) << allowed;
  }
}

TEST(RunningCommands, ACommandThatRunsIsFoundWhereItsGroupIsAllowed) {
  expectOfAllowed(
      {"ip netns",
       "ip n",
       "ip netns -n a",
       "git bisect",
       "docker compose",
       "docker container",
       "uv tool",
       "hatch env",
       "gh ext",
       "gh extensions",
       "gh cs",
       "opam",
       "pixi",
       "docker-compose",
       "composer global",
       "rustup run stable cargo",
       "zig",
       "deno",
       "bun",
       "rails"},
      {"ip netns list", "git bisect good x", "docker compose ps", "uv tool list", "hatch env show", "gh ext list",
       "gh cs list", "opam list", "docker-compose ps", "rustup run stable cargo test", "deno check x", "rails routes"},
      {"ip netns e a ./x",
       "ip netns exe a ./x",
       "ip n exec a ./x",
       "ip netns -n a exec b ./x",
       "docker compose run a ./x",
       "docker compose exec a ./x",
       "docker container run a ./x",
       "uv tool run ./x",
       "uv tool install x",
       "hatch env run ./x",
       "gh ext exec x",
       "gh extensions exec x",
       "gh cs ssh ./x",
       "opam exec ./x",
       "pixi run ./x",
       "docker-compose run a ./x",
       "composer global exec x",
       "rustup run stable cargo install x",
       "zig test x",
       "deno test x",
       "bun test ./x",
       "rails test x"});
}

}  // namespace
}  // namespace bough::agent
