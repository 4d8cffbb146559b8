#include "base/text/address.h"

#include <gtest/gtest.h>

namespace bough::text {
namespace {

using Passwords = std::vector<std::string_view>;

TEST(Address, PasswordsAreAfterTheNameAndInTheQuery) {
  EXPECT_EQ(passwordsIn("postgresql://me:secret@host:5432/db"), Passwords{"secret"});
  EXPECT_EQ(passwordsIn("postgresql://me:se@cr?et@host/db"), Passwords{"se@cr?et"});
  EXPECT_EQ(passwordsIn("postgresql://me:a:b@[::1]:5/db?sslmode=require&password=c&sslpassword=d"),
            (Passwords{"a:b", "c", "d"}));
  EXPECT_EQ(passwordsIn("postgresql:///db?password=c"), Passwords{"c"});
  EXPECT_EQ(passwordsIn("postgresql://me@host?password=p@ss"), Passwords{"p@ss"});
  EXPECT_EQ(passwordsIn("postgresql://me:a@host?sslmode=require&password=p@ss"), (Passwords{"a", "p@ss"}));
  EXPECT_EQ(passwordsIn("postgresql://me:a?b=c@host"), Passwords{"a?b=c"});
  EXPECT_EQ(passwordsIn("--store=postgresql://me:secret@host"), Passwords{"secret"});
  EXPECT_EQ(passwordsIn("me:secret@proxy:8080"), Passwords{"secret"});
  for (const char* const without : {"", "/folder:a/b", "postgresql://me@host:5/db", "postgresql://host:5/db?user=a:b@c",
                                    "postgresql://me:@host/db?password=", "https://host:8080/a:b@c"}) {
    EXPECT_EQ(passwordsIn(without), Passwords{}) << without;
  }
}

TEST(Address, PasswordsAreLeftOutOrHidden) {
  std::string address = "BOUGH_STORE=postgresql://me:secret@host/db?password=other&schema=s";
  EXPECT_EQ(withoutPasswords(address), "BOUGH_STORE=postgresql://me:@host/db?password=&schema=s");
  hidePasswords(address.data());
  EXPECT_EQ(address, "BOUGH_STORE=postgresql://me:xxxxxx@host/db?password=xxxxx&schema=s");
  EXPECT_EQ(withoutPasswords("/a/folder"), "/a/folder");
}

}  // namespace
}  // namespace bough::text
