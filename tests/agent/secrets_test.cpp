// Keys and passwords: commands do not get them, and results do not show them.
#include <stdlib.h>

#include <string>

#include "agent/tools_fixture.h"

namespace bough::agent {
namespace {

using SecretsTest = ToolsTest;

TEST_F(SecretsTest, KeysReachNeitherCommandsNorResults) {
  ::setenv("ANTHROPIC_API_KEY", "sk-very-secret-key", 1);
  environment_->secrets = Secrets::fromEnvironment();
  put("work/leak.txt", "the key is sk-very-secret-key\n");
  const std::string variables = run("bash", R"({"command":"env; cat leak.txt"})").text;
  const std::string file = run("read", R"({"path":"leak.txt"})").text;
  ::unsetenv("ANTHROPIC_API_KEY");
  EXPECT_EQ(variables.find("sk-very-secret"), std::string::npos);
  EXPECT_EQ(variables.find("ANTHROPIC_API_KEY"), std::string::npos);
  EXPECT_EQ(file, "the key is [key]\n");
}

TEST_F(SecretsTest, PasswordsOfAddressesReachNeitherCommandsNorResults) {
  ::setenv("BOUGH_STORE", "postgresql://me:short@host/db?password=a-very-long-password&schema=s", 1);
  ::setenv("PGPASSWORD", "another-long-password", 1);
  ::setenv("https_proxy", "me:tiny@proxy:8080", 1);
  ::setenv("HTTP_PROXY", "http://me:third-long-password@proxy:8080", 1);
  ::setenv("OLLAMA_HOST", "http://me:fourth-long-password@host", 1);
  ::setenv("DATABASE_URL", "postgres://app:own@localhost/app", 1);
  environment_->secrets = Secrets::fromEnvironment();
  put("work/leak.txt", "a-very-long-password, another-long-password, third-long-password, fourth-long-password");
  const std::string variables = run("bash", R"({"command":"env; cat leak.txt"})").text;
  for (const char* name : {"BOUGH_STORE", "PGPASSWORD", "https_proxy", "HTTP_PROXY", "OLLAMA_HOST", "DATABASE_URL"}) {
    ::unsetenv(name);
  }
  EXPECT_TRUE(variables.contains("BOUGH_STORE=postgresql://me:@host/db?password=&schema=s\n")) << variables;
  EXPECT_TRUE(variables.contains("https_proxy=me:@proxy:8080\n")) << variables;
  EXPECT_TRUE(variables.contains("HTTP_PROXY=http://me:@proxy:8080\n")) << variables;
  EXPECT_TRUE(variables.contains("OLLAMA_HOST=http://me:@host\n")) << variables;
  EXPECT_TRUE(variables.contains("DATABASE_URL=postgres://app:own@localhost/app\n")) << variables;
  EXPECT_FALSE(variables.contains("PGPASSWORD")) << variables;
  EXPECT_TRUE(variables.contains("[key], [key], [key], [key]")) << variables;
  EXPECT_FALSE(variables.contains("long-password")) << variables;
}

TEST_F(SecretsTest, AKeyThatBeginsWithAnotherOneIsHiddenWhole) {
  for (const bool shortFirst : {true, false}) {
    Secrets secrets;
    secrets.add(shortFirst ? "sk-0123456789abcdef" : "sk-0123456789abcdef-and-more");
    secrets.add(shortFirst ? "sk-0123456789abcdef-and-more" : "sk-0123456789abcdef");
    EXPECT_EQ(secrets.redact("x sk-0123456789abcdef-and-more y sk-0123456789abcdef"), "x [key] y [key]");
  }
}

TEST_F(SecretsTest, AKeyIsFoundHoweverJsonEscapesIt) {
  Secrets secrets;
  secrets.add("n/k-0123456789abcdef\\é");
  for (const char* text :
       {R"("n/k-0123456789abcdef\\é")", R"("n\/k\u002d0123456789abcdef\\\u00E9")",
        R"("\u006e/k-0123456789abcd\u0065f\u005cé")", R"("\\u006e\\/k-0123456789abcdef\\\\\\u00e9")"}) {
    EXPECT_EQ(secrets.redactJson(text), "\"[key]\"") << text;
    EXPECT_EQ(secrets.redact(text), "\"[key]\"") << text;
  }
  // Text that only resembles the beginning of a secret is left unchanged.
  for (const char* text :
       {R"("\n/k-0123456789abcdef\\é")", R"("\\\n/k-0123456789abcdef")", R"("\u00","\ud800","\\")", "\\", "\\\\"}) {
    EXPECT_EQ(secrets.redactJson(text), text);
  }
}

}  // namespace
}  // namespace bough::agent
